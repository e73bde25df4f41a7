package confine_test

import (
	"fmt"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	. "umwelt/compilers/confine"
	"umwelt/compilers/confine/confinetest"
	"umwelt/registry"
	"umwelt/world"
)

// paths makes a world file of paths, which is all that there is: directories end in "/",
// links are "path -> target".
func paths(list ...string) string {
	s := "meta: { level: full }\nname: w\nentities:\n  - { type: world, id: w, listed: true }\n"
	for _, p := range list {
		p, target, link := strings.Cut(p, " -> ")
		typ, more, listed := "file", "", ""
		if strings.HasSuffix(p, "/") {
			typ, p, listed = "dir", strings.TrimSuffix(p, "/"), "listed: true, "
		}
		if link {
			more = fmt.Sprintf(", kind: symlink, target: %q", target)
		}
		s += fmt.Sprintf("  - { type: %s, id: %q, %sattributes: { path: %q, name: %q%s } }\n", typ, p, listed, p, path.Base(p), more)
	}
	return s
}

var project = paths("README.md", ".env", "docs/", "docs/a.md", "out/", "src/", "src/a.py", "src/deep/", "src/deep/b.py", "src/deep/c.md")

func TestPlanOfPolicy(t *testing.T) {
	for _, tt := range []struct {
		name, facts, view string
		want              []string
		notes             []string
	}{
		{"no rule", project, ``, []string{". hidden"}, nil},
		{"everything is visible", project, `file { visible: true }`, []string{". ro"}, nil},
		{"everything is writable", project, `file { editable: true }`, []string{". rw"}, nil},
		{"a prefix", project, `file[path^="src/"] { editable: true }`, []string{". hidden", "src rw"}, nil},
		{"a prefix beside the rest", project, `file { visible: true } file[path^="out/"] { editable: true }`, []string{". ro", "out rw"}, nil},
		{"a protected prefix", project, `file { editable: true } file[path^="src/deep/"] { editable: false }`, []string{". rw", "src rw pin", "src/deep ro"}, nil},
		{"a hidden file", project, `file { editable: true } file[path=".env"] { visible: false }`, []string{". rw", ".env hidden"}, nil},
		{"a descendant", project, `dir[path="src"] file { visible: true }`, []string{". hidden", "src ro"}, nil},
		{"show makes visible", project, `file[path^="src/"] { show: outline }`, []string{". hidden", "src ro"}, nil},
		{"visible beats editable", project, `file { visible: false; editable: true }`, []string{". hidden"}, nil},
		{"a suffix depends on the name", project, `file[path$=".md"] { visible: true }`,
			[]string{". hidden", "README.md ro", "docs/a.md ro", "src/deep/c.md ro"},
			[]string{"which new files it fits depends on their names, so the tightest reading holds for files created later in ., docs, out and 2 more"}},
		{"a suffix that protects", project, `file[path^="src/"] { editable: true } file[path$=".md"] { editable: false }`,
			[]string{". hidden", "README.md ro", "docs/a.md ro", "src ro", "src/a.py rw", "src/deep/b.py rw"},
			[]string{"which new files it fits depends on their names, so the tightest reading holds for files created later in ., docs, out and 2 more"}},
		{"a directory may not be added to", project, `file { editable: true } dir[path="src"] { editable: false }`,
			[]string{". rw", "src ro", "src/a.py rw", "src/deep rw"}, nil},
		{"a directory is hidden", project, `file { visible: true } dir[path="src"] { visible: false }`,
			[]string{". ro", "src hidden", "src/a.py ro", "src/deep ro"}, nil},
		{"a directory appears empty", project, `dir[path="src/deep"] { visible: true }`, []string{". hidden", "src/deep hidden shown"}, nil},
		{"the world's own word", project + "fixed:\n  \"file[path='.env']\": { visible: false }\n  \"file[path^='docs/']\": { editable: false }\n",
			`file { editable: true !important }`, []string{". rw", ".env hidden", "docs ro"}, nil},
		{"the world's own word about names", project + "fixed:\n  \"file[name='.env']\": { visible: false }\n", `file[path^="src/"] { visible: true }`,
			[]string{". hidden", "src/a.py ro", "src/deep/b.py ro", "src/deep/c.md ro"},
			[]string{"which new files a fixed constraint fits depends on their names, so the tightest reading holds for files created later in src, src/deep"}},
		{"a projection of one mode", project + "projections:\n  - { type: dir, id: node_modules, attributes: { path: node_modules/ } }\n",
			`file[path^="src/"] { editable: true } file[path^="node_modules/"] { visible: true }`, []string{". hidden", "node_modules ro", "src rw"}, nil},
		{"a projection of several modes", project + "projections:\n  - { type: dir, id: node_modules, attributes: { path: node_modules/ } }\n",
			`file { visible: true } file:glob("node_modules/**/*.key") { visible: false }`, []string{". ro", "node_modules hidden"},
			[]string{"which new files it fits depends on their names, so the tightest reading holds for files created later in node_modules"}},
		{"directories that the world does not name", paths("a/b/c.py", "a/b/d.py"), `file[path="a/b/c.py"] { visible: true }`, []string{". hidden", "a/b/c.py ro"},
			[]string{"which new files it fits depends on their names, so the tightest reading holds for files created later in ."}},
		{"links", paths("d/", "d/f", "d/in -> f", "d/out -> ../../etc/passwd", "e/", "e/abs -> /etc/passwd", "g/", "g/up -> ../d/f"), `file { visible: true }`,
			[]string{". ro", "d hidden shown", "d/f ro", "d/in ro -> f", "e hidden shown"},
			[]string{
				"a hidden symbolic link cannot be covered by a mount, so its directory is rebuilt from its visible entries and no file can be added to it: d, e",
				"the symbolic link leads out of the root, so it does not appear: d/out, e/abs",
			}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := from(t, tt.view, tt.facts)
			if d := cmp.Diff(tt.want, show(c.Plan)); d != "" {
				t.Errorf("plan (-want +got):\n%s", d)
			}
			if d := cmp.Diff(tt.notes, whys(c)); d != "" {
				t.Errorf("notes (-want +got):\n%s", d)
			}
		})
	}
}

func TestUses(t *testing.T) {
	use := func(attrs string) string {
		return project + "  - { type: use, id: u, attributes: { " + attrs + " } }\n"
	}
	const writable = `file { editable: true } `
	for _, tt := range []struct {
		name, attrs, view string
		want              []string
	}{
		{"no rule about it", `of: "file#src/a.py"`, ``, []string{". rw"}},
		{"a rule that grants", `of: "file#src/a.py"`, `use { editable: true }`, []string{". rw"}},
		{"of a selector", `of: 'file[path="src/a.py"]'`, `use { editable: false }`, []string{". rw", "src rw pin", "src/a.py ro"}},
		{"of a path", `of: src/a.py`, `use { editable: false }`, []string{". rw", "src rw pin", "src/a.py ro"}},
		{"of a directory", `of: src/deep`, `use { editable: false }`, []string{". rw", "src rw pin", "src/deep ro"}},
		{"of what begins so", `of-like: src/`, `use { editable: false }`, []string{". rw", "src ro"}},
		{"of what begins so in the middle of a name", `of-like: src/d`, `use { editable: false }`, []string{". rw", "src ro", "src/a.py rw"}},
		{"of a kind", `of-kind: file`, `use { editable: false }`, []string{". ro"}},
		{"of a kind and a beginning", `of-kind: file, of-like: src/`, `use { editable: false }`, []string{". rw", "src ro"}},
		{"of another kind", `of-kind: tool`, `use { editable: false }`, []string{". rw"}},
		{"a rule that leaves writing out", `of-like: src/`, `use { visible: true }`, []string{". rw", "src ro"}},
		{"hidden", `of-like: src/`, `use { visible: false }`, []string{". rw", "src hidden"}},
		{"a selector by name", `of: 'file[name="a.py"]'`, `use { editable: false }`, []string{". ro", ".env rw", "README.md rw", "docs/a.md rw", "src/deep/b.py rw", "src/deep/c.md rw"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, show(from(t, writable+tt.view, use(tt.attrs)).Plan)); d != "" {
				t.Errorf("plan (-want +got):\n%s", d)
			}
		})
	}
}

// What exists and is not in the world must not shine through a directory that is.
func TestWithheld(t *testing.T) {
	res := confinetest.Resolve(t, `file { editable: true }`, project, "/project")
	w := res.World()
	file, dir := w.Registry.Type("file"), w.Registry.Type("dir")
	at := func(typ *registry.EntityType, path, kind string) world.Entity {
		return world.Entity{Type: typ, ID: path, Parent: world.NoParent, Attributes: []world.Attribute{{Name: "path", Text: path}, {Name: "kind", Text: kind}}}
	}
	w.Withheld = []world.Entity{at(file, "src/secret", ""), at(dir, "src/deep/cache", ""), at(file, "docs/link", "symlink"), at(file, "out/pipe", "fifo")}
	c, problems := From(res)
	if problems.HasErrors() {
		t.Fatal(problems.Err())
	}
	want := []string{". rw", "docs hidden shown", "docs/a.md rw", "out rw pin", "out/pipe hidden", "src rw pin", "src/deep rw pin", "src/deep/cache hidden", "src/secret hidden"}
	if d := cmp.Diff(want, show(c.Plan)); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// Where the world contradicts itself, nothing shows, and nothing that lies in it.
func TestContradictions(t *testing.T) {
	entity := func(typ, path, more string) string {
		return fmt.Sprintf("  - { type: %s, id: %q, attributes: { path: %q%s } }\n", typ, typ+path, path, more)
	}
	const link = ", kind: symlink, target: /etc"
	for _, tt := range []struct{ name, facts string }{
		{"a file in a link", entity("file", "l", link) + entity("file", "l/x", "")},
		{"a file deep in a link", entity("file", "l", link) + entity("dir", "l/d", "") + entity("file", "l/d/x", "")},
		{"a file in a file", entity("file", "l", "") + entity("file", "l/x", "")},
		{"a directory and a link", entity("dir", "l", "") + entity("file", "l", link) + entity("file", "l/x", "")},
		{"a directory and a file", entity("file", "l", "") + entity("dir", "l", "")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := from(t, `* { editable: true }`, "meta: { level: full }\nname: w\nentities:\n"+tt.facts)
			if got := strings.Join(show(c.Plan), ", "); strings.Contains(got, "r") {
				t.Error(got)
			}
		})
	}
}

// Of a directory that is not known completely only what the world names in it shows; of a
// projection, everything.
func TestIncompleteDirectories(t *testing.T) {
	const found = "meta: { level: full }\nname: w\nentities:\n"
	const root = "  - { type: world, id: w, listed: true }\n"
	dir := func(path, more string) string {
		return fmt.Sprintf("  - { type: dir, id: %q%s, attributes: { path: %q } }\n", path, more, path)
	}
	file := func(path string) string {
		return fmt.Sprintf("  - { type: file, id: %q, attributes: { path: %q } }\n", path, path)
	}
	const listed, projected = ", listed: true", ", from: { origin: projected }"
	for _, tt := range []struct {
		name, facts, view string
		want              []string
		notes             []string
	}{
		{"a few files and nothing else", file("a") + file("d/b"), `file { visible: true }`, []string{". hidden", "a ro", "d/b ro"}, []string{whyUnknown + " ."}},
		{"a directory by itself", root + dir("d", "") + file("d/a"), `file { editable: true }`, []string{". rw", "d hidden", "d/a rw"}, []string{whyUnknown + " d"}},
		{"it can be seen", root + dir("d", ""), `dir { visible: true } file { editable: true }`, []string{". rw", "d hidden shown"}, []string{whyUnknown + " d"}},
		{"no rule would open it", root + dir("d", "") + file("a"), `file[path="a"] { visible: true }`, []string{". hidden", "a ro"}, nil},
		{"a listed one in one that is not", dir("d", "") + dir("d/e", listed) + file("d/e/a"), `file { visible: true }`, []string{". hidden", "d/e ro"}, []string{whyUnknown + " ., d"}},
		{"an implied one", root + file("d/e/a"), `file { editable: true }`, []string{". rw", "d hidden", "d/e/a rw"}, nil},
		{"a projection", dir("d", projected), `file { editable: true }`, []string{". hidden", "d rw"}, []string{whyUnknown + " ."}},
		{"in a projection", dir("d", projected) + dir("d/e", "") + file("d/f/g/a"), `file { editable: true } file[path^="d/e/"] { editable: false; visible: true }`,
			[]string{". hidden", "d rw", "d/e ro"}, []string{whyUnknown + " ."}},
		{"a listed one in a projection", dir("d", projected) + dir("d/e", listed) + dir("d/e/f", ""), `file { visible: true }`, []string{". hidden", "d ro", "d/e/f hidden"}, []string{whyUnknown + " ., d/e/f"}},
		{"left out of a projection", dir("d", projected) + "withheld:\n" + file("d/x/key") + dir("d/y", ""), `file { visible: true }`,
			[]string{". hidden", "d ro", "d/x/key hidden", "d/y hidden"}, []string{whyUnknown + " .", "not in the world, so hidden: d/x/key, d/y"}},
		{"left out and yet something named in it", root + dir("d", listed) + file("d/x/a") + "withheld:\n" + dir("d/x", ""), `file { editable: true }`,
			[]string{". rw", "d rw pin", "d/x hidden", "d/x/a rw"}, []string{"not in the world, so hidden: d/x"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := from(t, tt.view, found+tt.facts)
			if d := cmp.Diff(tt.want, show(c.Plan)); d != "" {
				t.Errorf("plan (-want +got):\n%s", d)
			}
			if d := cmp.Diff(tt.notes, whys(c)); d != "" {
				t.Errorf("notes (-want +got):\n%s", d)
			}
		})
	}
}

const (
	whyUnknown = "the world does not list all that lies there, so only what it names appears and nothing can be added:"
	byName     = "which new files it fits depends on their names, so the tightest reading holds for files created later in "
)

// The usual reading leaves rules that go by names aside for files created later, and for
// nothing else.
func TestUsual(t *testing.T) {
	const root = "meta: { level: full }\nname: w\n"
	tree := "entities:\n  - { type: world, id: w, listed: true }\n"
	for _, d := range []string{"a", "b", "b/c"} {
		tree += fmt.Sprintf("  - { type: dir, id: %s, listed: true }\n  - { type: file, id: %s/.env }\n  - { type: file, id: %s/x.py }\n", d, d, d)
	}
	const aside = "a file created later whose name it fits is treated like its neighbours, in "
	const asideFixed = "a file created later whose name a fixed constraint fits is treated like its neighbours, in "
	for _, tt := range []struct {
		name, facts, view string
		want, notes       []string
	}{
		{"a glob that hides", tree, `file { visible: true } file:glob("**/.env") { visible: false }`,
			[]string{". ro", "a/.env hidden", "b/.env hidden", "b/c/.env hidden"}, []string{aside + "., a, b and 1 more"}},
		{"a name that protects", tree, `file { editable: true } file[name=".env"] { editable: false }`,
			[]string{". rw", "a rw pin", "a/.env ro", "b rw pin", "b/.env ro", "b/c rw pin", "b/c/.env ro"}, []string{aside + "., a, b and 1 more"}},
		{"a suffix that opens", tree, `file[name$=".py"] { editable: true }`, []string{". hidden", "a/x.py rw", "b/c/x.py rw", "b/x.py rw"}, []string{aside + "., a, b and 1 more"}},
		{"both", tree, `file[path^="b/"] { visible: true } file[name$=".py"] { editable: true } file[name=".env"] { visible: false }`,
			[]string{". hidden", "a/x.py rw", "b ro", "b/.env hidden", "b/c/.env hidden", "b/c/x.py rw", "b/x.py rw"},
			[]string{aside + "., a, b and 1 more", aside + "., a, b and 1 more"}},
		{"a fixed constraint", tree + "fixed: { \"file:glob('**/.env')\": { visible: false }, \"file[path^='b/']\": { editable: false } }\n", `file { editable: true }`,
			[]string{". rw", "a rw pin", "a/.env hidden", "b ro", "b/.env hidden", "b/c/.env hidden"}, []string{asideFixed + "., a, b and 1 more"}},
		{"a projection holds files already", tree + "projections: [{ type: dir, id: p }]\n", `file { visible: true } file:glob("**/.env") { visible: false }`,
			[]string{". ro", "a/.env hidden", "b/.env hidden", "b/c/.env hidden", "p hidden"}, []string{byName + "p", aside + "., a, b and 1 more"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, problems := FromWith(confinetest.Resolve(t, tt.view, root+tt.facts, "/project"), Options{Usual: true})
			if problems.HasErrors() {
				t.Fatal(problems.Err())
			}
			if d := cmp.Diff(tt.want, show(c.Plan)); d != "" {
				t.Errorf("plan (-want +got):\n%s", d)
			}
			if d := cmp.Diff(tt.notes, whys(c)); d != "" {
				t.Errorf("notes (-want +got):\n%s", d)
			}
			if len(c.ByName) == 0 || !c.Usual {
				t.Error("nothing goes by names")
			}
		})
	}
}

func TestRefusedPaths(t *testing.T) {
	for _, p := range []string{strings.Repeat("n", 256), strings.Repeat("d/", 3000) + "f"} {
		_, problems := From(confinetest.Resolve(t, `file { visible: true }`, paths(p), "/project"))
		if !problems.HasErrors() {
			t.Errorf("%.40q... is accepted", p)
		}
	}
}
