package vfs_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"umwelt/compilers/vfs"
	"umwelt/diag"
	"umwelt/registry"
	"umwelt/simulation/roster"
	"umwelt/world"
)

// views are policies over the classes that drawn variables may have.
var views = []string{
	"",
	hidden,
	shown,
	hidden + `variable.shown { readable-by: engine, agent; exposed-to: agent; normalize: minmax -1 1.5 clip; }`,
	hidden + `variable.shown { readable-by: engine, agent; exposed-to: agent; normalize: cyclical_sin_cos 24; }
	variable[scope="pair"], variable[scope="zone"], variable[scope="agent_private"], variable[type="bool"] { exposed-to: none; normalize: none; }
	variable.sealed { writable-by: none; }`,
}

func hostileText() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.StringN(0, 12, 40),
		rapid.StringOfN(rapid.RuneFrom([]rune("ab:#-?!&*{}[],'\"\\%@`|> \t\n\r\u0085\u2028\u202e\ufeff\x1b.=<")), 1, 10, -1),
		rapid.SampledFrom([]string{"tick", "null", "true", "no", "1.0", "- a", "a: b", "a # b", "}, evil: {", "\"", "\xff\xfe", "a\n    - id: b"}),
	)
}

// entities draws variables, most of them sound and some not, with hostile names.
func entities(t *rapid.T, reg *registry.Registry) []world.Entity {
	var out []world.Entity
	add := func(typ, id string, classes []string, attrs ...world.Attribute) {
		e := world.Entity{Type: reg.Type(typ), ID: id, Classes: classes, Parent: world.NoParent}
		e.Attributes = world.Complete(e.Type, id, attrs)
		out = append(out, e)
	}
	text := func(name, value string) world.Attribute { return world.Attribute{Name: name, Text: value} }
	profiles := rapid.SliceOfNDistinct(hostileText(), 0, 2, rapid.ID).Draw(t, "profiles")
	for _, p := range profiles {
		add("item-profile", p, nil)
	}
	if rapid.Bool().Draw(t, "zones") {
		add("extent", "zone", nil, text("count", rapid.SampledFrom([]string{"1", "12", "0", "x"}).Draw(t, "count")))
	}
	scalar := [][2]string{{"scalar", "0.25"}, {"scalar", "3"}, {"bool", "true"}, {"agent_ref", "null"}, {"item_ref", "-1"}}
	any := append(slices.Clone(scalar), [2]string{"vec2f", "[0, 1.5]"}, [2]string{"vec3i", "[1, 2, 3]"}, [2]string{"tensor2d", "[[1, 0], [0, 1e3]]"},
		[2]string{"scalar", "a lot"}, [2]string{"vec2f", "[1]"}, [2]string{"", "1"})
	for _, id := range rapid.SliceOfNDistinct(hostileText(), 0, 5, rapid.ID).Draw(t, "ids") {
		scope := rapid.SampledFrom([]string{"global", "agent", "agent_private", "pair", "zone", "item"}).Draw(t, "scope")
		form := rapid.SampledFrom(any)
		attrs := []world.Attribute{text("scope", scope), text("lifetime", "episode"), text("semantic-type", "bars"), text("description", hostileText().Draw(t, "description"))}
		if scope == "item" {
			form = rapid.SampledFrom(scalar)
			attrs = append(attrs, text("profile", rapid.SampledFrom(append([]string{"other"}, profiles...)).Draw(t, "profile")))
		}
		f := form.Draw(t, "form")
		attrs = append(attrs, text("type", f[0]), world.Attribute{Name: "initial", Text: f[1], List: []string{f[1]}})
		if f[0] == "tensor2d" {
			attrs = append(attrs, world.Attribute{Name: "shape", Text: "2, 2", List: []string{"2", "2"}})
		}
		if rapid.Bool().Draw(t, "computed") && (scope == "agent" || scope == "global") {
			attrs = append(attrs, text("expression", hostileText().Draw(t, "expression")))
		}
		add("variable", id, rapid.SliceOfDistinct(rapid.SampledFrom([]string{"shown", "sealed"}), rapid.ID).Draw(t, "classes"), attrs...)
	}
	return out
}

// TestWhatIsCompiledIsValid holds that whatever the compiler writes, a strict reader
// accepts, every rule of the format holds, nothing is lost or added, and it writes the
// same bytes again; and that it writes nothing where it reports an error.
func TestWhatIsCompiledIsValid(t *testing.T) {
	reg := vocabulary(t)
	written := 0
	rapid.Check(t, func(rt *rapid.T) {
		w, err := world.New(reg, "w", "", entities(rt, reg), nil)
		if err != nil {
			rt.Fatal(err)
		}
		in := inputOf(t, reg, rapid.SampledFrom(views).Draw(rt, "view"), w, nil)
		out := vfs.Compiler().Compile(in)
		if out.Diagnostics.HasErrors() {
			if out.Text != nil {
				rt.Fatalf("text in spite of errors: %v", out.Diagnostics)
			}
			return
		}
		written++
		if again := vfs.Compiler().Compile(in); !bytes.Equal(out.Text, again.Text) {
			rt.Fatal("compiled twice, it differs")
		}
		r, list := roster.Read(&diag.Source{Name: "roster.yaml", Text: out.Text})
		if list.HasErrors() {
			rt.Fatalf("%v\n%s", list, out.Text)
		}
		if list := append(roster.Validate(r), roster.Publishable(r)...); list.HasErrors() {
			rt.Fatalf("%v\n%s", list, out.Text)
		}
		var ids []string
		for i := range w.Entities {
			if w.Entities[i].Type.Name == "variable" {
				ids = append(ids, w.Entities[i].ID)
			}
		}
		var got []string
		for _, d := range r.Declarations {
			got = append(got, d.ID)
		}
		if d := cmp.Diff(ids, got, cmpopts.EquateEmpty()); d != "" {
			rt.Fatalf("ids differ: %s", d)
		}
		if _, body, _ := strings.Cut(string(out.Text), "\n"); body != string(roster.Write(r)) {
			rt.Fatalf("written again, it differs:\n%s", out.Text)
		}
	})
	t.Logf("%d rosters were written", written)
	if written == 0 {
		t.Error("no drawn policy was sound")
	}
}
