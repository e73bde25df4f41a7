package bwrap

import (
	"fmt"
	"strings"
	"testing"

	"umwelt/compilers"
	"umwelt/compilers/confine/confinetest"
	"umwelt/registry"
	"umwelt/world"
)

// A rule about names over 15,000 files makes each of them a mount, unless new files are
// read as usual: then it is one mount for each file that it fits.
func TestNewFilesOption(t *testing.T) {
	res := confinetest.ResolveFound(t, "file { visible: true; }\nfile:glob(\"**/.env\") { visible: false; }\n", "/project", func(reg *registry.Registry) []world.Entity {
		var out []world.Entity
		add := func(typ, path string, parent int32) {
			t := reg.Type(typ)
			out = append(out, world.Entity{Type: t, ID: path, Attributes: world.Complete(t, path, []world.Attribute{{Name: "path", Text: path}}), Parent: parent, Listed: typ == "dir"})
		}
		for i := range 150 {
			at := int32(len(out))
			add("dir", fmt.Sprintf("d%03d", i), world.NoParent)
			add("file", fmt.Sprintf("d%03d/.env", i), at)
			for j := range 99 {
				add("file", fmt.Sprintf("d%03d/f%02d", i, j), at)
			}
		}
		return out
	})
	for _, form := range []string{"json", "lines", "nul", "sh"} {
		out := Compiler.Compile(compilers.Input{Resolution: res, Set: map[string]string{"form": form}})
		if out.Text != nil || !out.Diagnostics.HasErrors() {
			t.Fatalf("%s: a plan that bubblewrap cannot take has a text", form)
		}
		if hint := out.Diagnostics[0].Hint; !strings.Contains(hint, `file:glob("**/.env") (v.umw:2)`) || !strings.Contains(hint, "new-files=usual") {
			t.Errorf("%s: hint %q", form, hint)
		}
		out = Compiler.Compile(compilers.Input{Resolution: res, Set: map[string]string{"form": form, "new-files": "usual"}})
		if out.Diagnostics.HasErrors() || strings.Count(string(out.Text), "/dev/null") != 150 {
			t.Errorf("%s: %v", form, out.Diagnostics)
		}
		c := compilers.Cover(Info, res, out.Notes)
		if got := c.Rules[1]; got.Level() != compilers.Partial || !strings.Contains(got.Declarations[0].Why, "treated like its neighbours, in ., d000, d001 and 148 more") {
			t.Errorf("%s: coverage %s: %s", form, got.Level(), got.Declarations[0].Why)
		}
		if got := c.Rules[0]; got.Level() != compilers.Enforced {
			t.Errorf("%s: coverage of the other rule %s: %s", form, got.Level(), got.Declarations[0].Why)
		}
	}
}
