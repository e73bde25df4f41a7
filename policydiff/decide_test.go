package policydiff_test

import (
	"testing"

	"umwelt/ast"
	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/parser"
	"umwelt/policydiff"
	"umwelt/registry"
	"umwelt/world"
)

func TestDecide(t *testing.T) {
	for _, tt := range []struct {
		name, old, now string
		equivalent     bool
	}{
		{"order of disjoint rules", `file[path="a"] { editable: true } file[path="b"] { editable: false }`, `file[path="b"] { editable: false } file[path="a"] { editable: true }`, true},
		{"order of rules that may meet", `file.x { editable: true } file.y { editable: false }`, `file.y { editable: false } file.x { editable: true }`, false},
		{"order of rules that say the same", `file.x { editable: true } file.y { editable: true }`, `file.y { editable: true } file.x { editable: true }`, true},
		{"a more general rule says the same", `file { editable: true } file.x { editable: true }`, `file { editable: true }`, true},
		{"but another stands between", `file { editable: true } file.y { editable: false } file.x.z { editable: true }`, `file { editable: true } file.y { editable: false }`, false},
		{"order of tests", `file.x[name="a"] { editable: true }`, `file[name="a"].x { editable: true }`, true},
		{"one rule or two", `file { editable: true; visible: true }`, `file { editable: true } file { visible: true }`, true},
		{"a list or two rules", `file.x, file.y { editable: true }`, `file.x { editable: true } file.y { editable: true }`, true},
		{"nesting", `mode#review { file { editable: true } }`, `mode#review file { editable: true }`, true},
		{"a layer that decides nothing", `@layer a { file { editable: true } }`, `file { editable: true }`, true},
		{"importance that decides", `file { editable: true !important } file.x { editable: false }`, `file { editable: true } file.x { editable: false }`, false},
		{"importance that makes a rule dead", `file { editable: true !important } file.x { editable: false }`, `file { editable: true }`, true},
		{"caps in any order", `tool { max-level: 3 } tool { max-level: 2 }`, `tool { max-level: 2 } tool { max-level: 3 }`, true},
		{"a cap that never binds", `tool { max-level: 2 } tool.x { max-level: 3 }`, `tool { max-level: 2 }`, true},
		{"a cap that binds", `tool { max-level: 2 } tool.x { max-level: 1 }`, `tool { max-level: 2 }`, false},
		{"sets that only narrow", `tool { only-kits: a } tool.x { only-kits: a, b }`, `tool { only-kits: a }`, true},
		{"patterns in another order", `tool { deny-pattern: "a" } tool { deny-pattern: "b" }`, `tool { deny-pattern: "b" } tool { deny-pattern: "a" }`, false},
		{"a lock", `@layer a, b; @layer a { file { editable: false !locked } } @layer b { file { editable: true } }`, `file { editable: false }`, false},
		{"another entity is named", `tool { allow: true } tool#Bash { allow: true }`, `tool { allow: true }`, false},
		{"a type that has the property or any", `file { editable: true } dir { editable: true } node { editable: true } use { editable: true }`, `* { editable: true }`, true},
		{"a dotted id of any type", `*#a.b { editable: true }`, `*#a.b { editable: true } file#a.b { editable: true }`, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, b := bind(t, "a.umw", tt.old), bind(t, "b.umw", tt.now)
			for _, views := range [][2]*registry.Bound{{a, b}, {b, a}} {
				d := policydiff.Decide(views[0], views[1])
				if (d.Verdict == policydiff.Equivalent) != tt.equivalent {
					t.Errorf("%s: %s", d.Verdict, d.Why)
				}
			}
		})
	}
}

// TestExistingGrants has a vocabulary in which something gives by being there.
func TestExistingGrants(t *testing.T) {
	const vocabulary = `
@taxon things { description: "Things."; axis: 1; }
@entity door { taxon: things; description: "A way out."; }
@property door.width { type: integer; restrictive: min; description: "How wide it opens."; }
`
	reg := registry.New()
	var engines []*cascade.Engine
	var bounds []*registry.Bound
	for i, text := range []string{vocabulary, `door#left { width: 3; }`} {
		v, list := parser.Parse(&diag.Source{Name: "v.umw", Text: []byte(text)})
		if i == 0 {
			list = append(list, reg.Load(registry.Options{}, v)...)
		}
		b := reg.Bind(registry.Options{}, []*ast.View{v}...)
		if list = append(list, b.Diagnostics...); list.HasErrors() {
			t.Fatal(list.Err())
		}
		bounds = append(bounds, b)
	}
	w, list := world.Implicit(world.Options{Registry: reg, Named: bounds[1].Pins()})
	if list.HasErrors() {
		t.Fatal(list.Err())
	}
	for _, b := range bounds {
		engines = append(engines, cascade.New(w, b))
	}
	for i, want := range []string{"widening door absent -> : left\n", "narrowing door  -> absent: left\n"} {
		r, list := policydiff.Compare([]policydiff.Pair{{Old: engines[i], New: engines[1-i]}}, policydiff.Options{})
		if list.HasErrors() {
			t.Fatal(list.Err())
		}
		if got := print(r); got != want {
			t.Errorf("got %swant %s", got, want)
		}
	}
}
