package cascade_test

import (
	"testing"

	"umwelt/cascade"
)

// TestFutureUsual: what goes by a name is left aside, and what holds for all is not.
func TestFutureUsual(t *testing.T) {
	const tree = `
entities:
  - { type: dir, id: src, attributes: { path: src } }
  - { type: dir, id: docs, attributes: { path: docs } }
fixed:
  "file:glob('**/.env')": { visible: false }
  "file:glob('docs/**')": { editable: false }
`
	reg := sandboxRegistry(t)
	w := loadWorld(t, reg, tree)
	file := reg.Type("file")
	for _, c := range []struct{ view, dir, property, want string }{
		{`file { editable: true; }`, "src", "editable", `"true"`},
		{`file { editable: true; }`, "src", "visible", `"true"`},
		{`file { editable: true; }`, "docs", "editable", `"false"`},
		{``, "src", "visible", `"false"`},
		{`file { visible: true; } file:glob("**/*.key") { visible: false; }`, "src", "visible", `"true"`},
		{`file { visible: true; } file[name="x"] { visible: false !important; }`, "src", "visible", `"true"`},
		{`file[name$=".py"] { editable: true; }`, "src", "editable", `"false"`},
		{`file[name$=".py"] { editable: true; }`, "src", "visible", `"false"`},
		{`file[path^="src/"] { show: outline; }`, "src", "visible", `"true"`},
		{`file[path^="src/a"] { editable: true; } file[path^="src/"] { editable: false; }`, "src", "editable", `"false"`},
		{`file.generated { editable: true; }`, "src", "editable", `"false"`},
		{`dir[name="gen"] file { editable: true; }`, "src", "editable", `"false"`},
	} {
		r := resolve(t, cascade.New(w, bind(t, reg, c.view)))
		dir := w.Find(reg.Type("dir"), c.dir)
		f := r.FutureUsual(dir, file, file.Property(c.property))
		if got := printAll(f); got != c.want || !f.Decided() {
			t.Errorf("%s below %q: %s is %s, want %s", c.view, c.dir, c.property, got, c.want)
		}
		all := r.Future(dir, file, file.Property(c.property))
		if len(f.Depends) != len(all.Depends) {
			t.Errorf("%s: %d rules depend on names, want %d", c.view, len(f.Depends), len(all.Depends))
		}
	}
}
