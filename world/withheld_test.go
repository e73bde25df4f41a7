package world_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"umwelt/diag"
	"umwelt/world"
)

// known says what is listed completely and what is withheld, one text each.
func known(w *world.World) (listed, withheld string) {
	var a, b []string
	for i := range w.Entities {
		if e := &w.Entities[i]; e.Listed && e.Type.Root {
			a = append(a, ".")
		} else if e.Listed {
			a = append(a, e.Path())
		}
	}
	for i := range w.Withheld {
		e := &w.Withheld[i]
		if e.Parent != world.NoParent {
			b = append(b, "PARENT")
		}
		s := e.Type.Name + " " + e.Path()
		if kind, ok := e.Attr("kind"); ok {
			s += " " + kind
		}
		b = append(b, s)
	}
	return strings.Join(a, ", "), strings.Join(b, ", ")
}

func TestWhatIsKnownCompletely(t *testing.T) {
	tree := map[string]string{
		"README.md": "", ".env": "", "link": "-> README.md", "src/a.py": "", "src/b.txt": "", "src/deep/c.py": "", "src/deep/d.txt": "",
		"docs/x.md": "", "docs/img/y.png": "", "nm/p/q.js": "", "empty/": "",
	}
	for _, tt := range []struct{ name, world, listed, withheld string }{
		{"everything", `discover: [{matcher: filesystem}]`, "., docs, docs/img, empty, nm, nm/p, src, src/deep", ""},
		{"no recipe", `entities: [{type: file, id: src/a.py}, {type: dir, id: src}]`, "", ""},
		{"exclude", `discover: [{matcher: filesystem, exclude: ["**/*.txt", "nm/**", link]}]`, "., docs, docs/img, empty, src, src/deep", "file link symlink, dir nm, file src/b.txt, file src/deep/d.txt"},
		{"exclude what a directory holds", `discover: [{matcher: filesystem, include: ["src/**"], exclude: ["src/deep/*"]}]`, "., src, src/deep",
			"file .env, file README.md, dir docs, dir empty, file link symlink, dir nm, file src/deep/c.py, file src/deep/d.txt"},
		{"include", `discover: [{matcher: filesystem, include: ["src/**/*.py"]}]`, "., src, src/deep", "file .env, file README.md, dir docs, dir empty, file link symlink, dir nm, file src/b.txt, file src/deep/d.txt"},
		{"include nothing", `discover: [{matcher: filesystem, include: ["src/**/*.go"]}]`, ".", "file .env, file README.md, dir docs, dir empty, file link symlink, dir nm, dir src"},
		{"max-depth", `discover: [{matcher: filesystem, max-depth: 1}]`, ".", ""},
		{"max-depth 2", `discover: [{matcher: filesystem, max-depth: 2}]`, "., docs, empty, nm, src", ""},
		{"hidden", `discover: [{matcher: filesystem, hidden: false}]`, "., docs, docs/img, empty, nm, nm/p, src, src/deep", "file .env"},
		{"a root below", `discover: [{matcher: filesystem, root: src/deep}]`, "src/deep", ""},
		{"two roots", `discover: [{matcher: filesystem, root: src, exclude: ["*.txt"]}, {matcher: filesystem, root: docs, max-depth: 1}]`, "src, src/deep, docs", "file src/b.txt"},
		{"two that complete one another", `discover: [{matcher: filesystem, include: ["src/**"]}, {matcher: filesystem, exclude: ["src/**", nm]}]`,
			"., src, src/deep, docs, docs/img, empty", "dir nm"},
		{"one within what another leaves out", `discover: [{matcher: filesystem, exclude: [src]}, {matcher: filesystem, root: src/deep, include: ["*.py"]}]`,
			"., docs, docs/img, empty, nm, nm/p, src/deep", "file src/deep/d.txt"},
		{"explicit in spite of the recipe", `
discover: [{matcher: filesystem, exclude: ["src/**", "*.md"]}]
entities: [{type: file, id: src/a.py}, {type: file, id: the-readme, attributes: {path: README.md}}]`, "., docs, docs/img, empty, nm, nm/p", "dir src"},
		{"explicit by the name of another", `
discover: [{matcher: filesystem}]
entities: [{type: file, id: README.md, attributes: {path: src/a.py}}]`, "., docs, docs/img, empty, nm, nm/p, src, src/deep", "file README.md"},
		{"a projection", `
discover: [{matcher: filesystem}]
projections: [{type: dir, id: nm}]`, "., docs, docs/img, empty, src, src/deep", ""},
		{"a projection of what is no directory", `
discover: [{matcher: filesystem}]
projections: [{type: dir, id: link}, {type: file, id: docs}]`, "., docs, docs/img, empty, nm, nm/p, src, src/deep", ""},
		{"exclude entities", `
discover: [{matcher: filesystem}]
projections: [{type: dir, id: nm}]
exclude: ["file[name$='.txt']", "dir[path='docs']", "dir#nm"]`, "., empty, src, src/deep", "dir docs, dir nm, file src/b.txt, file src/deep/d.txt"},
		{"not available", `
discover: [{matcher: filesystem}]
fixed: {"dir#src > file, dir#src > dir": {available: false}}`, "., docs, docs/img, empty, nm, nm/p, src", "file src/a.py, file src/b.txt, dir src/deep"},
		{"exclude what has another place than its parent", `
discover: [{matcher: filesystem}]
entities: [{type: file, id: b, parent: docs, attributes: {path: src/b.txt}}]
exclude: ["dir#docs"]`, "., empty, nm, nm/p, src, src/deep", "dir docs, file src/b.txt"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := writeTree(t, tree)
			w, l := world.LoadText(&diag.Source{Name: "w.world.yml", Text: []byte(tt.world)}, "", options(t, root))
			if err := l.Err(); err != nil {
				t.Fatal(err)
			}
			listed, withheld := known(w)
			if d := cmp.Diff(tt.listed, listed); d != "" {
				t.Errorf("listed (-want +got):\n%s", d)
			}
			if d := cmp.Diff(tt.withheld, withheld); d != "" {
				t.Errorf("withheld (-want +got):\n%s", d)
			}
			for _, json := range []bool{false, true} {
				again := reload(t, w, json)
				sameWorld(t, w, again)
				if a, b := known(again); a != listed || b != withheld {
					t.Errorf("after a snapshot: listed %s, withheld %s", a, b)
				}
			}
		})
	}
}

// The facts of what is named in spite of a recipe are not lost with it.
func TestNamedLinkKeepsItsFacts(t *testing.T) {
	root := writeTree(t, map[string]string{"out": "-> /etc/passwd"})
	w, l := world.LoadText(&diag.Source{Name: "w.world.yml", Text: []byte(`{discover: [{matcher: filesystem, exclude: [out]}], entities: [{type: file, id: out}]}`)}, "", options(t, root))
	if err := l.Err(); err != nil {
		t.Fatal(err)
	}
	e := &w.Entities[w.Find(w.Registry.Type("file"), "out")]
	if target, _ := e.Attr("target"); target != "/etc/passwd" || !e.HasClass("escapes") {
		t.Errorf("%+v", e)
	}
}

// What stands on the disk where a file declares something counts, whatever the recipes.
func TestDeclaredPathsAreLookedAt(t *testing.T) {
	root := writeTree(t, map[string]string{"dir/f": "", "file": "", "out": "-> /etc", "in": "-> file", "up": "-> dir"})
	for _, tt := range []struct{ declared, facts, withheld string }{
		{"entities: [{type: file, id: file}, {type: dir, id: dir}, {type: file, id: dir/f}]", "", ""},
		{"entities: [{type: file, id: gone}, {type: file, id: gone/too}]", "", ""},
		{"entities: [{type: file, id: x, attributes: {path: out}}]", "symlink to /etc, escapes", ""},
		{"entities: [{type: file, id: in}]", "symlink to file", ""},
		{"entities: [{type: file, id: dir}]", "", "dir dir"},
		{"entities: [{type: dir, id: file}]", "", "file file"},
		{"entities: [{type: file, id: up/f}]", "", "file up symlink"},
		{"entities: [{type: file, id: out/passwd}]", "", "file out symlink"},
		{"entities: [{type: file, id: file/x}]", "", "file file"},
		{"projections: [{type: dir, id: out}]", "", "file out symlink"},
	} {
		w, l := world.LoadText(&diag.Source{Name: "w.world.yml", Text: []byte(tt.declared)}, "", options(t, root))
		if err := l.Err(); err != nil {
			t.Fatal(err)
		}
		var facts []string
		for i := range w.Entities {
			e := &w.Entities[i]
			if kind, ok := e.Attr("kind"); ok {
				target, _ := e.Attr("target")
				facts = append(facts, strings.Join(append([]string{kind + " to " + target}, e.Classes...), ", "))
			}
			if _, ok := e.Attr("language"); ok {
				t.Errorf("%s: %s has more than was declared", tt.declared, e.ID)
			}
		}
		listed, withheld := known(w)
		if got := strings.Join(facts, "; "); got != tt.facts || withheld != tt.withheld || listed != "" {
			t.Errorf("%s: %q, withheld %q, listed %q", tt.declared, got, withheld, listed)
		}
		sameWorld(t, w, reload(t, w, false))
	}
}

func TestGitWithholds(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		if os.Getenv("UMWELT_REQUIRE_TOOLS") == "1" {
			t.Fatal("the program git is missing")
		}
		t.Skip("the program git is missing")
	}
	root := writeTree(t, map[string]string{".gitignore": "*.log\nbuild/\n", "a.py": "", "run.log": "", "build/x": "", "src/b.py": "", "src/new.py": "", "new/n.py": ""})
	for _, args := range [][]string{{"init", "-q"}, {"add", ".gitignore", "a.py", "src/b.py"}} {
		if out, err := exec.Command(git, append([]string{"-C", root}, args...)...).CombinedOutput(); err != nil {
			t.Fatal(err, string(out))
		}
	}
	for _, tt := range []struct{ recipe, listed, withheld string }{
		{"{matcher: git}", "., src", "dir .git, dir build, dir new, file run.log, file src/new.py"},
		{"{matcher: git, ignored: false}", "., new, src", "dir .git, dir build, file run.log"},
	} {
		w, l := world.LoadText(&diag.Source{Name: "w.world.yml", Text: []byte("discover: [" + tt.recipe + "]")}, "", options(t, root))
		if err := l.Err(); err != nil {
			t.Fatal(err)
		}
		if listed, withheld := known(w); listed != tt.listed || withheld != tt.withheld {
			t.Errorf("%s: listed %s, withheld %s", tt.recipe, listed, withheld)
		}
	}
}

func TestUnreadableIsNotListed(t *testing.T) {
	// A name that is too long to open stands for what cannot be read, for root, too.
	root := t.TempDir()
	o := options(t, root)
	t.Chdir(root)
	for range 17 {
		name := strings.Repeat("d", 250)
		if err := os.Mkdir(name, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chdir(name); err != nil {
			t.Fatal(err)
		}
	}
	w, l := world.Implicit(o)
	if err := l.Err(); err != nil {
		t.Fatal(err)
	}
	unreadable := 0
	for i := range w.Entities {
		if e := &w.Entities[i]; e.HasClass("unreadable") {
			unreadable++
			if e.Listed {
				t.Error("a directory that cannot be read is listed")
			}
		}
	}
	if unreadable != 1 {
		t.Errorf("%d directories are unreadable", unreadable)
	}
}

// A part of a snapshot, or a file that only looks like one, makes nothing complete.
func TestListedByHand(t *testing.T) {
	const snap = "meta: {level: full}\nname: s\nentities:\n- {type: world, id: s, listed: true}\n- {type: dir, id: src, listed: true}\nwithheld:\n- {type: file, id: src/x}\n"
	dir := writeTree(t, map[string]string{"snap.yml": snap})
	for _, tt := range []struct{ text, listed, withheld, problem string }{
		{snap, "., src", "file src/x", ""},
		{"include: [snap.yml]", "src", "file src/x", ""},
		{"include: [\"snap.yml#entities\"]", "", "", ""},
		{"include: [\"snap.yml#withheld\"]", "", "file src/x", ""},
		{"include: [snap.yml]\nentities: [{type: file, id: src/x}]", "src", "", ""},
		{"entities: [{type: dir, id: src, listed: true}]", "", "", "has no key"},
		{"withheld: [{type: file, id: x}]", "", "", "has no key"},
		{"meta: {level: full}\nwithheld: [{type: tool, id: x}]", "", "", "cannot be withheld"},
		{"meta: {level: full}\nentities: [{type: dir, id: d, listed: maybe}]", "", "", "is true or false"},
	} {
		w, l := world.LoadText(&diag.Source{Name: filepath.Join(dir, "w.world.yml"), Text: []byte(tt.text)}, dir, options(t, dir))
		if tt.problem != "" {
			if w != nil || !strings.Contains(fmt.Sprint(l), tt.problem) {
				t.Errorf("%s: %v", tt.text, l)
			}
			continue
		}
		if err := l.Err(); err != nil {
			t.Fatalf("%s: %v", tt.text, err)
		}
		if listed, withheld := known(w); listed != tt.listed || withheld != tt.withheld {
			t.Errorf("%s: listed %q, withheld %q", tt.text, listed, withheld)
		}
	}
}

// What changes what may be granted changes the digest, and is a difference.
func TestDigestCoversWhatIsKnown(t *testing.T) {
	load := func(text string) *world.World {
		w, l := world.LoadText(&diag.Source{Name: "w.world.yml", Text: []byte("meta: {level: full}\nname: w\n" + text)}, "", options(t, ""))
		if err := l.Err(); err != nil {
			t.Fatal(err)
		}
		return w
	}
	const dir = "entities: [{type: dir, id: d"
	worlds := []*world.World{
		load(dir + "}]"), load(dir + ", listed: true}]"), load(dir + ", listed: true}]\nwithheld: [{type: file, id: d/x}]"),
		load(dir + ", listed: true}]\nwithheld: [{type: file, id: d/y}]"), load(dir + ", listed: true}]\nwithheld: [{type: dir, id: d/x}]"),
		load(dir + ", from: {origin: projected}}]"),
	}
	for i, a := range worlds {
		for j, b := range worlds {
			if (a.Digest() == b.Digest()) != (i == j) || (len(world.Diff(a, b)) == 0) != (i == j) {
				t.Errorf("worlds %d and %d: digests alike %v, %v", i, j, a.Digest() == b.Digest(), world.Diff(a, b))
			}
		}
	}
}
