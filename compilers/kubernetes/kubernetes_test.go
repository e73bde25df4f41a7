package kubernetes

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"umwelt/compilers"
	"umwelt/compilers/confine"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func num(n int64) *int64       { return &n }
func cores(n float64) *float64 { return &n }

// hostile are names that would break out of a text that does not quote.
var hostile = []string{
	`it's "quoted"`, "new\nline", "tab\tand\rreturn", "$(PATH) $HOME `id` %s", "-rf", "project[1]", "*?{a,b}",
	"no", "~", "null", "1e3", "010", " blank ", "#hash", "- item", "{{ .Values }}", "päth\u202e", "\u0085\u2028\ufeff\uffff", "back\\slash", "\x1b[31m",
}

func hostilePlan() []confine.Entry {
	plan := []confine.Entry{{Path: ".", Mode: confine.ReadOnly, Kind: confine.Dir}}
	for i, n := range hostile {
		plan = append(plan, confine.Entry{Path: n, Mode: confine.Mode(2 * (i % 2)), Kind: confine.Kind(i / 2 % 2)})
	}
	return plan
}

var cases = []struct {
	name string
	c    confine.Confinement
	set  map[string]string
}{
	{name: "empty", c: confine.Confinement{Plan: []confine.Entry{{Path: ".", Kind: confine.Dir}}}},
	{
		name: "auth-fix",
		c: confine.Confinement{
			Root: "/home/me/project",
			System: []confine.Mount{
				{Path: "/usr", Source: "/usr", Type: "bind", ReadOnly: true},
				{Path: "/bin", Source: "usr/bin", Type: "symlink"},
				{Path: "/proc", Type: "proc"},
				{Path: "/dev", Type: "dev"},
				{Path: "/tmp", Type: "tmpfs"},
			},
			Plan: []confine.Entry{
				{Path: ".", Kind: confine.Dir},
				{Path: "README.md", Mode: confine.ReadOnly},
				{Path: "src", Mode: confine.ReadOnly, Kind: confine.Dir},
				{Path: "src/auth", Mode: confine.ReadWrite, Kind: confine.Dir},
				{Path: "src/auth/keys", Kind: confine.Dir},
				{Path: "src/auth/keys/public", Mode: confine.ReadOnly, Kind: confine.Dir},
				{Path: "src/auth/keys/test.pem", Mode: confine.ReadOnly},
				{Path: "src/auth/secret.txt"},
				{Path: "src/cache", Kind: confine.Dir},
			},
			Env:        []confine.Env{{Name: "CI"}, {Name: "TOKEN", Set: true}, {Name: "bad name"}},
			SearchPath: "/usr/local/bin:/usr/bin:$HOME",
			Network: confine.Network{Allow: []confine.Endpoint{
				{Host: "api.github.com", Port: 443},
				{CIDR: "10.0.0.0/8", Port: 5432, Protocol: "tcp"},
				{Host: "192.0.2.7"},
				{CIDR: "2001:db8::/32", Port: 53},
			}, Deny: []string{"10.9.0.0/16"}},
			Limits: confine.Limits{Memory: num(512 << 20), Tmpfs: num(64 << 20), WallTime: num(90_500_000_000), CPU: cores(1.5), Disk: num(1_000_000_000)},
		},
		set: map[string]string{"claim": "project", "namespace": "agents", "name": "Auth Fix", "command": `pytest "$TESTS"`, "image": "python:3.13"},
	},
	{
		name: "open",
		c: confine.Confinement{
			Plan:    []confine.Entry{{Path: ".", Mode: confine.ReadWrite, Kind: confine.Dir}},
			Network: confine.Network{Open: true, Deny: []string{"169.254.169.254", "fd00::/8", "10.0.0.0/8"}},
		},
		set: map[string]string{"kind": "pod", "name": "open"},
	},
	{name: "hostile", c: confine.Confinement{Plan: hostilePlan()}, set: map[string]string{"name": "\x1b]0;--- evil\n", "command": "echo '\n---\nkind: Secret' $(HOME) $$"}},
}

// TestGolden compares with reviewed manifests, which the module in check decodes.
func TestGolden(t *testing.T) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			out := Render(&c.c, compilers.Input{Set: c.set, Version: "1.0"})
			if err := out.Diagnostics.Err(); err != nil {
				t.Fatal(err)
			}
			var notes bytes.Buffer
			for _, n := range out.Notes {
				notes.WriteString(n.Level.String() + ": " + n.Why + "\n")
			}
			golden(t, c.name+".yaml", out.Text)
			golden(t, c.name+".notes", notes.Bytes())
			if again := Render(&c.c, compilers.Input{Set: c.set, Version: "1.0"}); !bytes.Equal(again.Text, out.Text) {
				t.Error("a second run gives other bytes")
			}
		})
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (go test -update rewrites it):\n%s", file, got)
	}
}

func TestRefused(t *testing.T) {
	root := confine.Entry{Path: ".", Mode: confine.ReadOnly, Kind: confine.Dir}
	plan := func(e ...confine.Entry) confine.Confinement {
		return confine.Confinement{Plan: append([]confine.Entry{root}, e...)}
	}
	for _, c := range []struct {
		name, want string
		c          confine.Confinement
		set        map[string]string
	}{
		{name: "hidden name that is not UTF-8", c: plan(confine.Entry{Path: "a\xff"}), want: "UTF-8"},
		{name: "hidden name with a colon", c: plan(confine.Entry{Path: "a:b"}), want: "colon"},
		{name: "hidden link", c: plan(confine.Entry{Path: "a", Kind: confine.Symlink}), want: "symbolic link"},
		{name: "dots", c: plan(confine.Entry{Path: "../a"}), want: "below the root"},
		{name: "absolute", c: plan(confine.Entry{Path: "/a"}), want: "from the root"},
		{name: "twice", c: plan(root), want: "twice"},
		{name: "no memory", c: confine.Confinement{Limits: confine.Limits{Memory: num(0)}}, want: "no limit"},
		{name: "no processor", c: confine.Confinement{Limits: confine.Limits{CPU: cores(0)}}, want: "no limit"},
		{name: "search path", c: confine.Confinement{SearchPath: "\xff"}, want: "search path"},
		{name: "claim", set: map[string]string{"claim": "a/b"}, want: "claim"},
		{name: "namespace", set: map[string]string{"namespace": "A"}, want: "namespace"},
		{name: "secret", set: map[string]string{"env-secret": "a\nb"}, want: "Secret"},
		{name: "image", set: map[string]string{"image": "a b"}, want: "image"},
		{name: "command", set: map[string]string{"command": "\xff"}, want: "command"},
		{name: "workdir", set: map[string]string{"workdir": "/a/../b"}, want: "workdir"},
		{name: "root workdir", set: map[string]string{"workdir": "/"}, want: "workdir"},
		{name: "user", set: map[string]string{"user": "0"}, want: "user"},
		{name: "kind", set: map[string]string{"kind": "CronJob"}, want: "kind"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := Render(&c.c, compilers.Input{Set: c.set}).Diagnostics.Err()
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one about %q", err, c.want)
			}
		})
	}
}

// TestLeftOut checks that what cannot be granted stays as closed as its surroundings, and
// is said.
func TestLeftOut(t *testing.T) {
	for _, e := range []confine.Entry{
		{Path: "a\xff", Mode: confine.ReadWrite},
		{Path: "a:b", Mode: confine.ReadOnly, Kind: confine.Dir},
		{Path: "link", Mode: confine.ReadOnly, Kind: confine.Symlink, Target: "x"},
	} {
		out := Render(&confine.Confinement{Plan: []confine.Entry{{Path: ".", Kind: confine.Dir}, e}}, compilers.Input{})
		if err := out.Diagnostics.Err(); err != nil {
			t.Errorf("%q: %v", e.Path, err)
		}
		if len(out.Notes) != 1 || out.Notes[0].Level != compilers.Partial {
			t.Errorf("%q: notes %v, want one that is partial", e.Path, out.Notes)
		}
		if bytes.Contains(out.Text, []byte("persistentVolumeClaim")) {
			t.Errorf("%q is mounted:\n%s", e.Path, out.Text)
		}
	}
}

func TestLimits(t *testing.T) {
	for _, c := range []struct {
		limits confine.Limits
		want   string
	}{
		{confine.Limits{Memory: num(64 << 20)}, `memory: "64Mi"`},
		{confine.Limits{Memory: num(1000)}, `memory: "1000"`},
		{confine.Limits{CPU: cores(0.29)}, `cpu: "290m"`},
		{confine.Limits{CPU: cores(0.0015)}, `cpu: "1m"`},
		{confine.Limits{CPU: cores(0.0001)}, `cpu: "1m"`},
		{confine.Limits{WallTime: num(1)}, "activeDeadlineSeconds: 1\n"},
		{confine.Limits{WallTime: num(0)}, "activeDeadlineSeconds: 1\n"},
		{confine.Limits{WallTime: num(60e9)}, "activeDeadlineSeconds: 60\n"},
		{confine.Limits{WallTime: num(60e9 + 1)}, "activeDeadlineSeconds: 61\n"},
		{confine.Limits{WallTime: num(1<<63 - 1)}, "activeDeadlineSeconds: 2147483647\n"},
		{confine.Limits{Tmpfs: num(1 << 20)}, `sizeLimit: "1Mi"`},
	} {
		out := Render(&confine.Confinement{Limits: c.limits}, compilers.Input{})
		if !bytes.Contains(out.Text, []byte(c.want)) {
			t.Errorf("no %q in\n%s", c.want, out.Text)
		}
	}
}

func TestDNSLabel(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"ci", "ci"},
		{"CI", "ci-fe8ee15b"},
		{"", "umwelt-e3b0c442"},
		{"***", "umwelt-"},
		{strings.Repeat("a", 63), strings.Repeat("a", 63)},
		{strings.Repeat("a", 64), strings.Repeat("a", 54) + "-"},
		{strings.Repeat("a", 53) + "." + strings.Repeat("a", 20), strings.Repeat("a", 53) + "-"},
	} {
		got := dnsLabel(c.in)
		if !isLabel(got) || !strings.HasPrefix(got, c.want) {
			t.Errorf("dnsLabel(%q) = %q, want %q", c.in, got, c.want)
		}
	}
	if dnsLabel("a b") == dnsLabel("a.b") {
		t.Error("two names become one")
	}
}

// TestDocs finds the manifests' excerpts of the documentation in a golden file.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/targets/kubernetes.md")
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile("testdata/auth-fix.yaml")
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(page), "```yaml\n")[1:]
	if len(parts) == 0 {
		t.Fatal("no excerpt")
	}
	for _, part := range parts {
		excerpt, _, _ := strings.Cut(part, "```")
		if !strings.Contains(string(whole), excerpt) {
			t.Errorf("the golden file does not hold\n%s", excerpt)
		}
	}
	for _, o := range targetOptions() {
		if !strings.Contains(string(page), "| `"+o.Key+"` |") {
			t.Errorf("the option %s is not documented", o.Key)
		}
	}
}
