package narrow

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"umwelt/compilers/confine"
)

func steps(list ...Step) []Step { return append([]Step{Exact}, list...) }

// Each step of the ladder, alone and among the others.
func TestLadder(t *testing.T) {
	read := func(paths ...string) string {
		var b strings.Builder
		for _, p := range paths {
			b.WriteString("read file " + p + "\n")
		}
		return b.String()
	}
	for _, tt := range []struct {
		name  string
		known []string
		seen  string
		steps []Step
		slack int
		want  string
	}{
		{"exact", []string{"a/x.go", "a/y.go"}, read("a/x.go", "a/y.go"), steps(), 0, "file[path=\"a/x.go\"] { visible: true; }\nfile[path=\"a/y.go\"] { visible: true; }"},
		{"numbers", []string{"log/app-1.txt", "log/app-2.txt", "log/app-x.txt"}, read("log/app-1.txt", "log/app-2.txt"), nil, 0, `file:glob("log/app-[0-9].txt") { visible: true; }`},
		{"numbers of two lengths", []string{"log/1.txt", "log/22.txt", "log/x.txt"}, read("log/1.txt", "log/22.txt"), nil, 0, `file:glob("log/{[0-9],[0-9][0-9]}.txt") { visible: true; }`},
		{"dates", []string{"d/2026-11-30.csv", "d/2026-12-01.csv", "d/all.csv"}, read("d/2026-11-30.csv", "d/2026-12-01.csv"), steps(Pattern), 0,
			`file:glob("d/[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9].csv") { visible: true; }`},
		{"hashes", []string{"o/obj-a0b1c2d.o", "o/obj-ff00ee1.o", "o/obj-main.o"}, read("o/obj-a0b1c2d.o", "o/obj-ff00ee1.o"), steps(Pattern), 0,
			`file:glob("o/obj-` + strings.Repeat("[0-9a-f]", 7) + `.o") { visible: true; }`},
		{"random suffixes", []string{"t/tmpA3bX9z", "t/tmpQ7rT2k", "t/tmp"}, read("t/tmpA3bX9z", "t/tmpQ7rT2k"), steps(Pattern), 0,
			`file:glob("t/` + strings.Repeat("[0-9A-Za-z]", 9) + `") { visible: true; }`},
		{"a pattern that would admit another", []string{"log/1.txt", "log/2.txt", "log/3.txt"}, read("log/1.txt", "log/2.txt"), steps(Pattern), 0,
			"file[path=\"log/1.txt\"] { visible: true; }\nfile[path=\"log/2.txt\"] { visible: true; }"},
		{"an ending", []string{"a/x.go", "a/y.go", "a/z.md"}, read("a/x.go", "a/y.go"), nil, 0, `file:glob("a/*.go") { visible: true; }`},
		{"an ending, not of a name that is all ending", []string{"a/x.go", "a/y.go", "a/.go"}, read("a/x.go", "a/y.go"), nil, 0, "file[path=\"a/x.go\"] { visible: true; }\nfile[path=\"a/y.go\"] { visible: true; }"},
		{"an ending below", []string{"a/x.go", "a/b/y.go", "a/b/z.md", "w.go"}, read("a/x.go", "a/b/y.go"), nil, 0, `file:glob("a/**/*.go") { visible: true; }`},
		{"a directory", []string{"a/x.go", "a/y.md", "a/b/z.md"}, read("a/x.go", "a/y.md"), nil, 0, `file:glob("a/*") { visible: true; }`},
		{"a subtree", []string{"a/x.go", "a/b/z.md", "w"}, read("a/x.go", "a/b/z.md"), nil, 0, `file[path^="a/"] { visible: true; }`},
		{"no subtree", []string{"a/x.go", "a/b/z.md", "w"}, read("a/x.go", "a/b/z.md"), steps(Pattern, Suffix, Directory), 0, "file[path=\"a/b/z.md\"] { visible: true; }\nfile[path=\"a/x.go\"] { visible: true; }"},
		{"everything", []string{"a/x.go", "w"}, read("a/x.go", "w"), nil, 0, `file { visible: true; }`},
		{"slack", []string{"a/x.go", "a/y.go", "a/z.go"}, read("a/x.go", "a/y.go"), nil, 1, `file:glob("a/*.go") { visible: true; }`},
		{"what is changed is seen", []string{"a/x.go", "a/y.go", "b/z"}, "write file a/x.go\nread file a/y.go\nread file a/x.go", nil, 0, "file[path=\"a/x.go\"] { editable: true; }\nfile[path=\"a/y.go\"] { visible: true; }"},
		{"new names", []string{"o/keep", "o/was", "o/sub/k", "p"}, "create file o/n1\ndelete file o/n1\nwrite file o/was", nil, 0, `file[path^="o/"]:not([path^="o/sub/"], [path="o/keep"]) { editable: true; }`},
		{"new names in an empty directory", []string{"o/", "p"}, "create file o/n1", nil, 0, `file[path^="o/"] { editable: true; }`},
		{"new names, the step switched off", []string{"o/keep"}, "create file o/n1", steps(Subtree), 0, `file[path="o/n1"] { editable: true; }`},
		{"names that mean something", []string{"a/[1].go", `a/"q".go`, "a/{b,c}", "a/*", "a/\\x", "a/é\n"}, read("a/[1].go", `a/"q".go`), nil, 0, `file:glob("a/*.go") { visible: true; }`},
		{"a directory that means something", []string{"[a]/1.go", "[a]/2.go", "a/3.go", "[a]/n"}, read("[a]/1.go", "[a]/2.go"), steps(Suffix), 0, `file:glob("\\[a\\]/*.go") { visible: true; }`},
		{"an empty directory that was listed", []string{"e/", "f"}, "list dir e", nil, 0, `dir[path="e"] { visible: true; }`},
		{"a directory that appears anyway", []string{"e/x", "f"}, "list dir e\nread file e/x", nil, 0, `file[path="e/x"] { visible: true; }`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := propose(t, Input{World: loadWorld(t, snapshot(tt.known)), Options: Options{Steps: tt.steps, Slack: tt.slack}}, seen(t, tt.seen))
			if d := cmp.Diff(tt.want, bodyOf(p)); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

// The mount plan of a proposal lets new names come and go, and keeps everything else.
func TestNewNamesAreMounted(t *testing.T) {
	w := loadWorld(t, snapshot([]string{"o/keep", "o/was", "o/sub/k", "p", "top"}))
	p := propose(t, Input{World: w}, seen(t, "create file o/n1\ndelete file o/n1\nwrite file o/was\nread file o/keep\ncreate file n2\nwrite file top"))
	in := Input{World: w}
	v, err := parse("p.umw", p.Text)
	if err != nil {
		t.Fatal(err)
	}
	b, err := in.bind(v)
	if err != nil {
		t.Fatal(err)
	}
	trial, err := in.resolve(v, b, w, knownOf(w))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]confine.Mode{
		".": confine.ReadWrite, "o": confine.ReadWrite, "o/was": confine.ReadWrite, "o/keep": confine.ReadOnly, "o/sub": confine.Hidden, "o/sub/k": confine.Hidden,
		"p": confine.Hidden, "top": confine.ReadWrite,
	} {
		if got := trial.tree[path]; got != want {
			t.Errorf("%s is %s, not %s, by\n%s", path, got, want, p.Text)
		}
	}
	if p.Report.Check.Unmounted > 0 {
		t.Error(p.Report.Notes)
	}
}

// No name is too odd to come back out of the proposal as it went in.
func TestHostileNames(t *testing.T) {
	odd := []string{"b c", "new\nline", `dou"ble`, "sin'gle", "co:lon", "com,ma", "$HOME", "*", "?", `back\slash`, "[1]", "{a,b}", "tab\t", "\x1b[31m", "é", "#", "*/", "/*x", "\u202e", "!", "}"}
	for _, name := range odd {
		p := Input{World: loadWorld(t, "meta: { level: full }\nname: w\nentities: [{ type: world, id: w, listed: true }]\n"), Options: Options{Root: "/project"}}
		name = strings.ReplaceAll(name, "/", "_")
		runs := seen(t, "read file x")
		runs[0][0].ID = "d/" + name
		out := propose(t, p, runs)
		if out.Report.Check.Needs != 1 || len(out.Report.Rules) != 1 {
			t.Errorf("%q: %+v", name, out.Report)
		}
	}
	runs := seen(t, "read file x\nread file y")
	runs[0][0].ID = "d/\xff"
	out := propose(t, Input{World: loadWorld(t, snapshot([]string{"y", "z"}))}, runs)
	if len(out.Report.Unexpressed) != 1 || bodyOf(out) != `file[path="y"] { visible: true; }` {
		t.Errorf("%s %+v", out.Text, out.Report.Unexpressed)
	}
}
