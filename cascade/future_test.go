package cascade_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"umwelt/cascade"
	"umwelt/registry"
	"umwelt/world"
)

// TestFutureHolds makes random files below random directories and checks that what they
// turn out to be was foreseen.
func TestFutureHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCase(t, "file")
		d := &drawer{t: t, c: c}
		e, refs := build(t, c, identity(len(c.entities)))
		r, list := e.Resolve(refs)
		if list.HasErrors() {
			t.Fatalf("%v", list.Err())
		}
		var dirs []int
		for i, ent := range c.entities {
			if ent.typ.root || ent.typ.name == "dir" {
				dirs = append(dirs, i)
			}
		}
		dir := pick(d, dirs)
		path, parent := "", dir
		if !c.entities[dir].typ.root {
			path = c.entities[dir].id + "/"
		}
		grown := *c
		grown.entities = slices.Clone(c.entities)
		for range d.n(2) {
			name := pick(d, []string{"src", "lib", "a.py", "new", "py"})
			if !taken(&grown, path+name) {
				grown.entities = append(grown.entities, newEntity(d, "dir", path+name, parent))
				parent, path = len(grown.entities)-1, path+name+"/"
			}
		}
		name := pick(d, []string{"a.py", "b.md", "m-x", "src", "other", "A.PY"})
		if taken(&grown, path+name) {
			return
		}
		made := newEntity(d, "file", path+name, parent)
		for key, values := range map[string][]string{"level": levels, "kit": kits} {
			if d.chance(50) {
				made.attrs[key] = mAttr{text: pick(d, values)}
			}
		}
		grown.entities = append(grown.entities, made)
		later, refs := build(t, &grown, identity(len(grown.entities)))
		after, list := later.Resolve(refs)
		if list.HasErrors() {
			t.Fatalf("%v", list.Err())
		}
		typ, typAfter := r.Registry().Type("file"), after.Registry().Type("file")
		for k, p := range typ.Properties {
			if slices.Contains([]registry.Comparison{registry.In, registry.Overlap, registry.Pattern}, p.Comparison) || p.Repeatable {
				continue // not every combination of sets is listed
			}
			got := after.Get(len(grown.entities)-1, typAfter.Properties[k])
			f := r.Future(dir, typ, p)
			if !slices.ContainsFunc(f.Values, func(v *registry.Value) bool { return printValue(v) == printValue(got.Value) }) {
				t.Fatalf("%s\n%s: %s of %s is %s (%s), and only %s was foreseen below %q", c, made.id, p.Name, made.id, printValue(got.Value), got.Origin, printAll(f), c.entities[dir].id)
			}
		}
	})
}

func taken(c *mCase, path string) bool {
	return slices.ContainsFunc(c.entities, func(e mEntity) bool { return e.typ.path && e.id == path })
}

func newEntity(d *drawer, typ, path string, parent int) mEntity {
	return mEntity{typ: d.typeNamed(typ), id: path, parent: parent, attrs: map[string]mAttr{"path": {text: path}}}
}

func printAll(f cascade.FutureValue) string {
	var out []string
	for _, v := range f.Values {
		out = append(out, printValue(v))
	}
	return strings.Join(out, " or ")
}

func TestFuture(t *testing.T) {
	const tree = `
entities:
  - { type: dir, id: src, attributes: { path: src } }
  - { type: dir, id: src/auth, parent: src, attributes: { path: src/auth } }
  - { type: dir, id: src/lib, parent: src, attributes: { path: src/lib } }
  - { type: dir, id: docs, attributes: { path: docs } }
  - { type: file, id: src/auth/login.py, parent: src/auth, attributes: { path: src/auth/login.py } }
  - { type: source, id: plugins, attributes: { name: plugins, root: src/plugins } }
  - { type: source, id: tools, attributes: { name: tools, root: tools } }
  - { type: source, id: auth, attributes: { name: auth, root: src/auth } }
fixed:
  "file:glob('**/.env')": { visible: false }
  "file:glob('docs/**')": { editable: false }
`
	reg := sandboxRegistry(t)
	w := loadWorld(t, reg, tree)
	cases := []struct {
		view, dir, property string
		want                string
	}{
		{`file { editable: true; }`, "src", "editable", `"true"`},
		{``, "src", "editable", `"false"`},
		{`file[path^="src/auth/"] { editable: true; }`, "src/auth", "editable", `"true"`},
		{`file[path^="src/auth/"] { editable: true; }`, "src", "editable", `"false"`},
		{`file[path^="src/auth/"] { editable: true; }`, "", "editable", `"false"`},
		{`file[path^="src/auth/"] { editable: true; }`, "docs", "editable", `"false"`},
		{`file[path^="src/a"] { editable: true; }`, "src", "editable", `"true" or "false"`},
		{`file[path^="src/a"] { editable: true; }`, "src/auth", "editable", `"true"`},
		{`file[path^="lib/"] { editable: true; }`, "", "editable", `"true" or "false"`},
		{`file[path$=".py"] { editable: true; }`, "src", "editable", `"true" or "false"`},
		{`file[path*="auth"] { editable: true; }`, "src/auth", "editable", `"true"`},
		{`file[name="x"] { editable: true; }`, "src", "editable", `"true" or "false"`},
		{`file[path="src/auth/login.py"] { editable: true; }`, "src/auth", "editable", `"false"`},
		{`file#"src/auth/login.py" { editable: true; }`, "src", "editable", `"false"`},
		{`file[path="src/auth/new.py"] { editable: true; }`, "src/auth", "editable", `"true" or "false"`},
		{`file[path="src/auth/new.py"] { editable: true; }`, "src", "editable", `"false"`},
		{`file:glob("src/*.py") { editable: true; }`, "src/auth", "editable", `"false"`},
		{`file:glob("src/*.py") { editable: true; }`, "src", "editable", `"true" or "false"`},
		{`file:glob("src/**") { editable: true; }`, "src/auth", "editable", `"true"`},
		{`file:glob("src/**/*") { editable: true; }`, "src", "editable", `"true"`},
		{`file:glob("src/auth/**") { editable: true; }`, "src", "editable", `"false"`},
		{`file:glob("**/auth/**") { editable: true; }`, "src/auth", "editable", `"true"`},
		{`file:glob("**/*.py") { editable: true; }`, "src", "editable", `"true" or "false"`},
		{`file:glob("{src,lib}/**") { editable: true; }`, "src", "editable", `"true"`},
		{`file:not(.secret) { editable: true; }`, "src", "editable", `"true"`},
		{`file.secret { editable: true; }`, "src", "editable", `"false"`},
		{`dir[path="src/auth"] file { editable: true; }`, "src/auth", "editable", `"true"`},
		{`dir[path="src/auth"] file { editable: true; }`, "src", "editable", `"false"`},
		{`dir#src file { editable: true; }`, "src/auth", "editable", `"true"`},
		{`dir#src file { editable: true; }`, "", "editable", `"true" or "false"`},
		{`dir[path="src"] > file { editable: true; }`, "src", "editable", `"true" or "false"`},
		{`dir[path^="src/a"] file { editable: true; }`, "src", "editable", `"true" or "false"`},
		{`dir[path^="src/a"] file { editable: true; }`, "src/auth", "editable", `"true"`},
		{`dir[path^="src/a"] file { editable: true; }`, "src/lib", "editable", `"false"`},
		{`dir[path="src"]:has(file[name="new.py"]) file { editable: true; }`, "src", "editable", `"true" or "false"`},
		{`dir[path="src"]:has(file[name="new.py"]) > file { editable: true; }`, "src", "editable", `"true" or "false"`},
		{`dir[path="src"]:has(file[name="login.py"]) file { editable: true; }`, "src/lib", "editable", `"true"`},
		{`dir[path="src"] dir file { editable: true; }`, "src/lib", "editable", `"true"`},
		{`dir[path="src"] dir file { editable: true; }`, "src", "editable", `"true" or "false"`},
		{`dir[path="src"] > dir > file { editable: true; }`, "src/lib", "editable", `"true" or "false"`},
		{`dir > file { editable: true; }`, "src", "editable", `"true"`},
		{`world > file { editable: true; }`, "src", "editable", `"false"`},
		{`world file { editable: true; }`, "src", "editable", `"true"`},
		{`source[name="auth"] file { editable: true; }`, "src/auth", "editable", `"true"`},
		{`source[name="auth"] file { editable: true; }`, "src", "editable", `"false"`},
		{`source[name="plugins"] file { editable: true; }`, "src", "editable", `"true" or "false"`},
		{`source[name="tools"] file { editable: true; }`, "", "editable", `"true" or "false"`},
		{`source[name="tools"] dir file { editable: true; }`, "", "editable", `"true" or "false"`},
		{`source[name="tools"] file { editable: true; }`, "src", "editable", `"false"`},
		{`mode#review file { editable: true; }`, "src", "editable", `"false"`},
		{`file { editable: true; } file[path$=".lock"] { editable: false; }`, "src", "editable", `"false" or "true"`},
		{`file[path$=".lock"] { editable: false; } file { editable: true !important; }`, "src", "editable", `"true"`},
		{`file { editable: true; }`, "docs", "editable", `"false"`},
		{`file { visible: true; }`, "src", "visible", `"true" or "false"`},
		{`file[path^="src/"] { editable: false; }`, "src", "visible", `"true" or "false"`},
	}
	for _, c := range cases {
		r := resolve(t, cascade.New(w, bind(t, reg, c.view)))
		file := reg.Type("file")
		dir := w.RootEntity()
		if c.dir != "" {
			dir = w.Find(reg.Type("dir"), c.dir)
		}
		if got := printAll(r.Future(dir, file, file.Property(c.property))); got != c.want {
			t.Errorf("%s below %q: %s is %s, want %s", c.view, c.dir, c.property, got, c.want)
		}
	}
}

// TestFutureOfMisplacedDirectory has a directory whose path does not lie where its parent
// does: what its parent settled must not be taken over.
func TestFutureOfMisplacedDirectory(t *testing.T) {
	reg := sandboxRegistry(t)
	dir, file := reg.Type("dir"), reg.Type("file")
	at := func(path string) []world.Attribute { return []world.Attribute{{Name: "path", Text: path}} }
	w, err := world.New(reg, "dev", "", []world.Entity{
		{Type: reg.Type("world"), ID: "dev", Parent: world.NoParent},
		{Type: dir, ID: "src", Parent: 0, Attributes: at("src")},
		{Type: dir, ID: "lost", Parent: 1, Attributes: at("lib/lost")},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]string{
		`file[path^="src/"] { editable: true; }`:   `"false"`,
		`file[path^="lib/"] { editable: true; }`:   `"true"`,
		`dir[path="src"] file { editable: true; }`: `"true"`,
	}
	for view, want := range cases {
		r := resolve(t, cascade.New(w, bind(t, reg, view)))
		if got := printAll(r.Future(2, file, file.Property("editable"))); got != want {
			t.Errorf("%s: %s, want %s", view, got, want)
		}
	}
}
