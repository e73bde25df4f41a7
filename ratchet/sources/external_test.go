//go:build unix

package sources

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"umwelt/ratchet"
	"umwelt/ratchet/sources/internal/sourcetest"
)

// program writes a shell script that stands for an outside source.
func program(t *testing.T, name, body string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), prefix+name)
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+body), 0o755); err != nil {
		t.Fatal(err)
	}
	return file
}

const good = `{"type":"file","id":"a","verb":"read","outcome":"allowed"}`

func TestOutsideSource(t *testing.T) {
	tests := []struct {
		name, body string
		ids        []string
		missed     int64
		partial    bool
		err        []string // what the error holds; none where there is no error
		chatter    string   // what is passed on
	}{
		{name: "lines", body: "echo '" + good + "'\n", ids: []string{"a"}},
		{name: "its argument and environment", body: `printf '{"type":"exec","id":"%s|%s|%s","verb":"exec","outcome":"allowed"}\n' "$1" "$#" "$UMWELT_OBSERVE_DIR"` + "\n",
			ids: []string{"-x $(y).log|1|/work/project"}},
		{name: "broken lines", body: "echo nonsense; echo '" + good + "'\n", ids: []string{"a"}, missed: 1},
		{name: "no end", body: "printf '" + good + "'\n", ids: []string{"a"}, partial: true},
		{name: "nothing to read", body: "cat; echo '" + good + "'\n", ids: []string{"a"}},
		{name: "chatter", body: `printf 'hello \033[31mred\n' >&2`, chatter: "umwelt-observe-x: hello \\x1b[31mred\n"},
		{name: "fails", body: "echo '" + good + "'; for i in 1 2 3 4 5 6 7; do echo line $i >&2; done; exit 3\n", ids: []string{"a"}, err: []string{"exit status 3", "line 3; line 4; line 5; line 6; line 7"}},
		{name: "a signal", body: "kill -TERM $$\n", err: []string{"signal: terminated"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var ids []string
			var chatter bytes.Buffer
			tally, err := run(program(t, "x", tt.body), ratchet.Input{Name: "-x $(y).log", Dir: "/work/project"}, func(o ratchet.Observation) error {
				ids = append(ids, o.ID)
				return sourcetest.Sound(&o, 0)
			}, &chatter, time.Minute)
			if (err != nil) != (tt.err != nil) {
				t.Fatal(err)
			}
			for _, want := range tt.err {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v, want %q in it", err, want)
				}
			}
			if !slices.Equal(ids, tt.ids) || tally.Missed() != tt.missed || tally.Partial != tt.partial {
				t.Errorf("%q, %+v", ids, tally)
			}
			if tt.chatter != "" && chatter.String() != tt.chatter {
				t.Errorf("passed on is %q", chatter.String())
			}
		})
	}
}

// gone waits until a process is no more.
func gone(pid int) bool {
	for range 100 {
		if errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
			return true
		}
		// A process that nobody has waited for is over, too.
		if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil && bytes.Contains(text, []byte(") Z ")) {
			return true
		}
		time.Sleep(20 * time.Millisecond)
	}
	return false
}

// TestNothingIsLeftBehind holds that a program and what it started are ended: when it
// takes too long, when the caller wants no more, and when it is done.
func TestNothingIsLeftBehind(t *testing.T) {
	stop := errors.New("stop")
	tests := []struct {
		name, tail string
		emit       error
		limit      time.Duration
		err        string
	}{
		{"too long", "wait\n", nil, 300 * time.Millisecond, "was ended after 300ms"},
		{"no more is wanted", "while :; do echo '" + good + "'; done\n", stop, time.Minute, "stop"},
		{"done", "exit 0\n", nil, time.Minute, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			pids := filepath.Join(t.TempDir(), "pids")
			body := "sleep 600 >/dev/null 2>&1 & echo $! $$ > '" + pids + "'\necho '" + good + "'\n" + tt.tail
			start := time.Now()
			_, err := run(program(t, "x", body), ratchet.Input{Name: "y"}, func(ratchet.Observation) error { return tt.emit }, &bytes.Buffer{}, tt.limit)
			if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Errorf("%v", err)
			}
			if time.Since(start) > 20*time.Second {
				t.Errorf("it took %s", time.Since(start))
			}
			text, err := os.ReadFile(pids)
			if err != nil {
				t.Fatal(err)
			}
			for _, word := range strings.Fields(string(text)) {
				pid, err := strconv.Atoi(word)
				if err != nil {
					t.Fatal(err)
				}
				if !gone(pid) {
					t.Errorf("process %d goes on", pid)
				}
			}
		})
	}
}

// TestChatterIsBounded holds that what a program says is bounded, and so is the memory for
// a line of it that never ends.
func TestChatterIsBounded(t *testing.T) {
	var out bytes.Buffer
	_, err := run(program(t, "x", "head -c 50000000 /dev/zero | tr '\\0' x >&2; echo >&2; yes no | head -n 100000 >&2; exit 1\n"), ratchet.Input{Name: "y"}, nil, &out, time.Minute)
	if err == nil || len(err.Error()) > 1<<10 {
		t.Errorf("%v", err)
	}
	if out.Len() > 3*maxChatter {
		t.Errorf("%d bytes are passed on", out.Len())
	}
}

func TestOpen(t *testing.T) {
	dir := filepath.Dir(program(t, "mine", "echo '"+good+"'\n"))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	tests := []struct{ arg, name, rest, err string }{
		{"jsonl://events.jsonl", "jsonl", "events.jsonl", ""},
		{"jsonl://-", "jsonl", "-", ""},
		{"audit:///var/log/audit/audit.log", "audit", "/var/log/audit/audit.log", ""},
		{"otel://a%20b://c", "otel", "a%20b://c", ""},
		{"ratchet-detect://x", "ratchet-detect", "x", ""},
		{"mine://--help", "mine", "--help", ""},
		{"trace.log", "", "", "names no source"},
		{"", "", "", "names no source"},
		{"jsonl://", "", "", "nothing to read"},
		{"jsnl://x", "", "", `did you mean "jsonl"?`},
		{"nothing://x", "", "", `"umwelt-observe-nothing" is not on the path; sources: audit, `},
		{"../x://y", "", "", "no name of a source"},
		{"JSONL://y", "", "", "no name of a source"},
		{"://y", "", "", "no name of a source"},
		{"a\x1b[31m://y", "", "", `"a\x1b[31m"`},
		{"jsonl://a\x00b", "", "", "NUL"},
	}
	for _, tt := range tests {
		s, in, err := Open(tt.arg)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("Open(%q): %v, want %q in it", tt.arg, err, tt.err)
			}
			continue
		}
		if err != nil || s.Name != tt.name || in.Name != tt.rest {
			t.Errorf("Open(%q) = %q, %q, %v", tt.arg, s.Name, in.Name, err)
		}
	}

	// A program in the working directory is not one of the path.
	t.Chdir(dir)
	t.Setenv("PATH", ".")
	if _, _, err := Open("mine://x"); err == nil {
		t.Error("a program of the working directory is a source")
	}
}

func TestSourcesAreDescribed(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range All() {
		if !named.MatchString(s.Name) || seen[s.Name] || s.Summary == "" || strings.Contains(s.Summary, "\n") || s.Read == nil || !strings.HasPrefix(s.Example, s.Name+"://") {
			t.Errorf("%+v", s)
		}
		seen[s.Name] = true
	}
	table, err := os.ReadFile("../../docs/ratchet/sources.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range All() {
		if !strings.Contains(string(table), "| `"+s.Name+"://") {
			t.Errorf("docs/ratchet/sources.md has no %s in its table", s.Name)
		}
	}
}

// fences are the blocks of a language in a document.
var fences = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$")

// TestTheDocumentsProgramsRun takes the outside sources of the document as they stand
// there and reads through them what it shows.
func TestTheDocumentsProgramsRun(t *testing.T) {
	text, err := os.ReadFile("../../docs/ratchet/lines.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := map[string][]string{}
	for _, m := range fences.FindAllStringSubmatch(string(text), -1) {
		blocks[m[1]] = append(blocks[m[1]], m[2])
	}
	if len(blocks["csv"]) != 1 || len(blocks["jsonl"]) == 0 {
		t.Fatalf("%d records and %d results", len(blocks["csv"]), len(blocks["jsonl"]))
	}
	want := blocks["jsonl"][len(blocks["jsonl"])-1]
	for _, lang := range []string{"python", "sh"} {
		t.Run(lang, func(t *testing.T) {
			i := slices.IndexFunc(blocks[lang], func(b string) bool { return strings.HasPrefix(b, "#!") })
			if i < 0 {
				t.Fatal("no program")
			}
			body := blocks[lang][i]
			if n := strings.Count(body, "\n"); n > 25 {
				t.Errorf("it has %d lines", n)
			}
			interpreter := map[string]string{"python": "python3", "sh": "awk"}[lang]
			if _, err := exec.LookPath(interpreter); err != nil {
				if os.Getenv("UMWELT_REQUIRE_TOOLS") == "1" {
					t.Fatalf("%s is not installed", interpreter)
				}
				t.Skipf("%s is not installed", interpreter)
			}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, prefix+"doors"), []byte(body), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "doors.csv"), []byte(blocks["csv"][0]), 0o600); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
			t.Chdir(dir)
			s, in, err := Open("doors://doors.csv")
			if err != nil {
				t.Fatal(err)
			}
			var got []byte
			tally, err := s.Read(in, func(o ratchet.Observation) error {
				got, err = ratchet.Append(got, &o)
				return err
			})
			if err != nil || string(got) != want || tally.Missed() > 0 || tally.Partial {
				t.Errorf("%v, %+v\n got %s\nwant %s", err, tally, got, want)
			}
		})
	}
}

// TestOutsideSourceIsBounded reads 20 MB through a program in little memory.
func TestOutsideSourceIsBounded(t *testing.T) {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	before, peak, n := m.HeapAlloc, uint64(0), 0
	_, err := run(program(t, "x", "yes '"+good+"' | head -n 360000\n"), ratchet.Input{Name: "y"}, func(ratchet.Observation) error {
		if n++; n%20000 == 0 {
			runtime.GC()
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapAlloc)
		}
		return nil
	}, &bytes.Buffer{}, time.Minute)
	if err != nil || n != 360000 {
		t.Fatalf("%d, %v", n, err)
	}
	if peak > before+(16<<20) {
		t.Errorf("%d MB are held", (peak-before)>>20)
	}
}
