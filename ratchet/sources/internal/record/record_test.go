package record

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"umwelt/ratchet"
)

func TestAbsolute(t *testing.T) {
	tests := []struct {
		dir, path, want string
		ok              bool
	}{
		{"/w", "a//b/../c", "/w/a/c", true},
		{"", "/a/./b/", "/a/b", true},
		{"/w", "../../../x", "/x", true},
		{"", "a", "", false},
		{"w", "a", "", false},
		{"/w", "", "", false},
		{"/w", "a\x00b", "", false},
	}
	for _, tt := range tests {
		got, ok := Absolute(tt.dir, tt.path)
		if got != tt.want || ok != tt.ok {
			t.Errorf("Absolute(%q, %q) = %q, %v", tt.dir, tt.path, got, ok)
		}
	}
}

func TestEndpoint(t *testing.T) {
	tests := []struct {
		host string
		port int64
		want string
		ok   bool
	}{
		{"PyPI.org", 443, "pypi.org:443", true},
		{"[::1]", 80, "[::1]:80", true},
		{"::1", 80, "[::1]:80", true},
		{"", 80, "", false},
		{"a", 0, "", false},
		{"a", 65536, "", false},
		{"a b", 80, "", false},
		{"*", 80, "", false},
		{"*.org", 80, "", false},
		{"a\x1b[1m", 80, "", false},
		{"fe80::1%eth0", 80, "[fe80::1%eth0]:80", true},
	}
	for _, tt := range tests {
		got, ok := Endpoint(tt.host, tt.port)
		if got != tt.want || ok != tt.ok {
			t.Errorf("Endpoint(%q, %d) = %q, %v", tt.host, tt.port, got, ok)
		}
	}
}

func TestCommandHoldsNoSecret(t *testing.T) {
	const secret = "hunter2hunter2"
	tests := []struct {
		words []string
		want  string
	}{
		{[]string{"git", "log", "-n", "3"}, `["git","log","-n","3"]`},
		{[]string{"curl", "-H", "Authorization: Bearer " + secret}, `["curl","-H","Authorization: REDACTED"]`},
		{[]string{"aws", "x", "--secret-key=" + secret, "--auth-key", secret}, `["aws","x","--secret-key=REDACTED","--auth-key","REDACTED"]`},
		{[]string{"/usr/bin/curl", "-u", "me:" + secret, "https://h/"}, `["/usr/bin/curl","-u","REDACTED","https://h/"]`},
		{[]string{"sudo", "curl", "--user=me:" + secret, "-ume:" + secret}, `["sudo","curl","--user=REDACTED","-uREDACTED"]`},
		{[]string{"mysql", "-u", "me", "-p" + secret, "db"}, `["mysql","-u","me","-pREDACTED","db"]`},
		{[]string{"mysql", "-p", "db"}, `["mysql","-p","db"]`},
		{[]string{"sshpass", "-p", secret, "ssh", "h", "-p", "22"}, `["sshpass","-p","REDACTED","ssh","h","-p","REDACTED"]`},
		{[]string{"sh", "-c", "mysql -p" + secret + " db; curl -s -u me:" + secret + " https://h/; mkdir -p a; docker run -u 1:1 x"}, `["sh","-c","mysql -pREDACTED db; curl -s -u REDACTED https://h/; mkdir -p a; docker run -u 1:1 x"]`},
		{[]string{"sh", "-c", "echo " + secret + " | docker login --password-stdin"}, `["sh","-c","echo REDACTED | docker login --password-stdin"]`},
		{[]string{"login", "--token", secret, "x"}, `["login","--token","REDACTED","x"]`},
		{[]string{"login", "--api-key=" + secret}, `["login","--api-key=REDACTED"]`},
		{[]string{"login", "--password", "-x" + secret}, `["login","--password","REDACTED"]`},
		{[]string{"FOO=" + secret, "make", "CC=gcc"}, `["FOO=REDACTED","make","CC=gcc"]`},
		{[]string{"/usr/bin/env", "-i", "A=" + secret, "sh"}, `["/usr/bin/env","-i","A=REDACTED","sh"]`},
		{[]string{"git", "clone", "https://me:" + secret + "@host/x"}, `["git","clone","https://REDACTED@host/x"]`},
		{[]string{"sh", "-c", "GH_TOKEN=" + secret + " gh pr list"}, `["sh","-c","GH_TOKEN=REDACTED gh pr list"]`},
		{[]string{"sh", "-c", `login --secret "` + secret + `" --all`}, `["sh","-c","login --secret REDACTED --all"]`},
		{[]string{"curl", "https://h/?a=1&access_token=" + secret + "&b=2"}, `["curl","https://h/?a=1&access_token=REDACTED&b=2"]`},
		{[]string{"sudo", "env", "-i", "A=" + secret, "make", "B=1"}, `["sudo","env","-i","A=REDACTED","make","B=1"]`},
		{[]string{"sh", "-c", "A=" + secret + " B='x " + secret + "' make CC=gcc; C=\"" + secret + "\"y ls && env D=" + secret + " id"}, `["sh","-c","A=REDACTED B=REDACTED make CC=gcc; C=REDACTED ls && env D=REDACTED id"]`},
		{[]string{"sh", "-c", "echo x=y; dd if=a of=b"}, `["sh","-c","echo x=y; dd if=a of=b"]`},
		{[]string{"x", "ghp_0123456789abcdefABCDEF0123456789abcd"}, `["x","REDACTED"]`},
	}
	for _, tt := range tests {
		got := Command(tt.words)
		got = strings.NewReplacer(`\u0026`, "&").Replace(got)
		if got != tt.want {
			t.Errorf("Command(%q)\n got %s\nwant %s", tt.words, got, tt.want)
		}
		if strings.Contains(got, secret) {
			t.Errorf("Command(%q) holds the secret: %s", tt.words, got)
		}
	}
}

func TestAsked(t *testing.T) {
	tests := []struct {
		arguments, want string
		ok              bool
	}{
		{"", "", true},
		{"make test", "make test", true},
		{`{"command":"A=1 make"}`, "A=REDACTED make", true},
		{`{"path":"a","command":"b"}`, "b", true},
		{`{"inputs":{"kwargs":"{\"url\":\"https://u:p@h/\"}"}}`, "https://REDACTED@h/", true},
		{`{"command":["ls","--token","x"]}`, `["ls","--token","REDACTED"]`, true},
		{`{"location":"SF"}`, "", true},
		{`{"command":"a","command":"b"}`, "", true},
		{`[1,2]`, "", true},
		{`[ 1 ]`, "", true},
		{`[ -f x ] && A=1 make`, "[ -f x ] && A=REDACTED make", true},
		{`{ echo a; } > b`, "{ echo a; } > b", true},
		{`{"content": "cut`, "", true},
		{`{"command":`, "", true},
		{`{"command":"` + strings.Repeat("x", maxCall) + `"}`, strings.Repeat("x", maxCall), true},
		{`{"command":"` + strings.Repeat("x", maxCall+1) + `"}`, "", false},
		{strings.Repeat(`{"input":`, 5000) + "1" + strings.Repeat("}", 5000), "", true},
	}
	for _, tt := range tests {
		got, ok := Asked(tt.arguments)
		if got != tt.want || ok != tt.ok {
			t.Errorf("Asked(%.60q) = %.60q, %v", tt.arguments, got, ok)
		}
	}
}

// TestOpenReadsTheStandardInput holds what "-" means, and what does not open.
func TestOpenReadsTheStandardInput(t *testing.T) {
	name := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(name, []byte("said"), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	stdin := os.Stdin
	os.Stdin = in
	t.Cleanup(func() { os.Stdin = stdin })
	f, err := Open("-")
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(f)
	if err != nil || string(text) != "said" || f.Close() != nil {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		t.Error("closing what was opened closed the standard input")
	}
	for _, name := range []string{t.TempDir(), filepath.Join(t.TempDir(), "missing")} {
		if _, err := Open(name); err == nil {
			t.Errorf("%s opens", name)
		}
	}
}

type seen struct {
	Line  int64
	Name  string
	Inner bool
}

func walk(t *testing.T, r io.Reader) ([]seen, ratchet.Tally, error) {
	t.Helper()
	sink := &Sink{File: "f"}
	var out []seen
	err := Walk(r, sink, []string{"list"}, func(line int64, o Object, inner bool) error {
		out = append(out, seen{line, o.Text("n"), inner})
		return nil
	})
	return out, sink.Tally, err
}

func TestWalk(t *testing.T) {
	tests := []struct {
		name, text string
		want       []seen
		missed     int64
		partial    bool
	}{
		{"lines", "{\"n\":\"a\"}\n{\"n\":\"b\"}\n", []seen{{1, "a", false}, {2, "b", false}}, 0, false},
		{"list", "[\n {\"n\":\"a\"},\n\n {\"n\":\n\"b\"}\n]", []seen{{2, "a", false}, {4, "b", false}}, 0, false},
		{"containers", "{\"n\":\"out\",\n\"list\":[{\"n\":\"a\"},\n{\"list\":{\"n\":\"b\"}}]}", []seen{{2, "a", false}, {3, "b", false}, {3, "", true}, {1, "out", true}}, 0, false},
		{"empty", " \n\n", nil, 0, false},
		{"a broken line", "{\"n\":\"a\"}\n{\"n\":\"b\n{\"n\":\"c\"}\n", []seen{{1, "a", false}, {3, "c", false}}, 1, false},
		{"broken lines first", "hello\nworld {\n{\"n\":\"c\"}\n", []seen{{3, "c", false}}, 2, false},
		{"a broken document", "{\n\"list\":[\n{\"n\":\"a\"},\n{\"n\" \"b\"},\n{\"n\":\"c\"}]}", []seen{{3, "a", false}}, 1, true},
		{"cut", "{\"n\":\"a\"}\n{\"n\":\"b", []seen{{1, "a", false}}, 1, true},
		{"cut in a list", "[{\"n\":\"a\"},", []seen{{1, "a", false}}, 1, true},
		{"no objects", "1\n\"x\"\n[2]\n{\"n\":\"a\"}", []seen{{4, "a", false}}, 3, false},
		{"a name twice", "{\"n\":\"a\",\"n\":\"b\"}\n{\"n\":\"c\"}", []seen{{2, "c", false}}, 1, false},
		{"deep", strings.Repeat("[", 100) + "\n{\"n\":\"a\"}", []seen{{2, "a", false}}, 1, false},
		{"deeper", strings.Repeat(`{"x":`, 20000) + "\n{\"n\":\"a\"}", []seen{{2, "a", false}}, 1, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, tally, err := walk(t, strings.NewReader(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if tally.Missed() != tt.missed || tally.Partial != tt.partial {
				t.Errorf("%d missed, partial %v: %+v", tally.Missed(), tally.Partial, tally)
			}
		})
	}
}

func TestWalkStopsAtAnError(t *testing.T) {
	stop := errors.New("stop")
	n := 0
	err := Walk(strings.NewReader("[{},{},{}]"), &Sink{}, nil, func(int64, Object, bool) error { n++; return stop })
	if !errors.Is(err, stop) || n != 1 {
		t.Errorf("%v after %d", err, n)
	}
	if _, _, err := walk(t, io.MultiReader(strings.NewReader("{"), broken{})); !errors.Is(err, errRead) {
		t.Errorf("an error of reading is %v", err)
	}
}

var errRead = errors.New("cannot read")

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errRead }

// endless gives a text again and again, n bytes in all.
type endless struct {
	head, text string
	n, at      int
}

func (e *endless) Read(p []byte) (int, error) {
	if e.n <= 0 {
		return 0, io.EOF
	}
	n := copy(p, e.head)
	e.head = e.head[n:]
	for n < len(p) && n < e.n {
		c := copy(p[n:min(len(p), e.n)], e.text[e.at:])
		e.at = (e.at + c) % len(e.text)
		n += c
	}
	e.n -= n
	return n, nil
}

// TestWalkIsBounded reads one list of 24 MB, and hostile values of 40 MB, in little memory.
func TestWalkIsBounded(t *testing.T) {
	tests := []struct {
		name       string
		head, text string
		n          int
		limit      uint64 // bytes
		missed     bool
	}{
		{"one list", "[", `{"n":"a","x":"` + strings.Repeat("y", 1000) + `"},`, 24 << 20, 8 << 20, true},
		{"one string", `{"n":"`, "abcdefgh", 40 << 20, 160 << 20, true},
		{"members", `{`, `"list":[],"x":"` + strings.Repeat("y", 4000) + `",`, 40 << 20, 160 << 20, true},
		{"blank lines", "", "\n", 40 << 20, 16 << 20, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			peak := uint64(0)
			sink := &Sink{}
			n := 0
			err := Walk(&endless{head: tt.head, text: tt.text, n: tt.n}, sink, []string{"list"}, func(int64, Object, bool) error {
				if n++; n%4096 == 0 {
					runtime.GC()
					runtime.ReadMemStats(&after)
					peak = max(peak, after.HeapAlloc)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			peak = max(peak, after.HeapAlloc)
			if peak > before.HeapAlloc+tt.limit {
				t.Errorf("%d MB", (peak-before.HeapAlloc)>>20)
			}
			if (sink.Tally.Missed() > 0) != tt.missed {
				t.Errorf("%+v", sink.Tally)
			}
		})
	}
}

func FuzzWalk(f *testing.F) {
	for _, s := range []string{"{}\n[{}]", `{"list":[{"n":"a"}]}`, "x\n{\n", `{"n":"a","n":1}`, "[[[[{\"list\":1}]]]]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		lines := int64(strings.Count(s, "\n") + 1)
		sink := &Sink{}
		err := Walk(strings.NewReader(s), sink, []string{"list"}, func(line int64, _ Object, _ bool) error {
			if line < 1 || line > lines {
				return fmt.Errorf("line %d of %d", line, lines)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		for _, g := range sink.Tally.Gaps {
			for _, p := range g.First {
				if p.Line < 1 || p.Line > lines {
					t.Errorf("%s at line %d of %d", g.What, p.Line, lines)
				}
			}
		}
	})
}

func FuzzRedact(f *testing.F) {
	f.Add("--token x Authorization: y https://a:b@c sk-0123456789abcdef0")
	f.Fuzz(func(t *testing.T, s string) {
		once := Redact(s)
		if len(once) > 4*len(s)+64 {
			t.Errorf("%d bytes become %d", len(s), len(once))
		}
	})
}
