package cascade_test

import (
	gocmp "cmp"
	"slices"
	"testing"

	"umwelt/ast"
	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/parser"
	"umwelt/registry"
	"umwelt/sandbox"
	"umwelt/world"
)

// sandboxRegistry is a registry of the vocabulary that ships with the tool.
func sandboxRegistry(t testing.TB) *registry.Registry {
	t.Helper()
	reg := registry.New()
	if list := reg.Load(registry.Options{}, parse(t, sandbox.Vocabulary().Name, string(sandbox.Vocabulary().Text))); list.HasErrors() {
		t.Fatal(list.Err())
	}
	if err := sandbox.Register(reg); err != nil {
		t.Fatal(err)
	}
	return reg
}

func parse(t testing.TB, name, text string) *ast.View {
	t.Helper()
	view, list := parser.Parse(&diag.Source{Name: name, Text: []byte(text)})
	if list.HasErrors() {
		t.Fatalf("%v in:\n%s", list.Err(), text)
	}
	return view
}

func bind(t testing.TB, reg *registry.Registry, text string) *registry.Bound {
	t.Helper()
	b := reg.Bind(registry.Options{}, parse(t, "view.umw", text))
	if b.Diagnostics.HasErrors() {
		t.Fatalf("%v in:\n%s", b.Diagnostics.Err(), text)
	}
	return b
}

func loadWorld(t testing.TB, reg *registry.Registry, text string) *world.World {
	t.Helper()
	w, list := world.LoadText(&diag.Source{Name: "test.world.yml", Text: []byte(text)}, "", world.Options{Registry: reg})
	if list.HasErrors() {
		t.Fatalf("%v in:\n%s", list.Err(), text)
	}
	return w
}

func resolve(t testing.TB, e *cascade.Engine, refs ...cascade.Ref) *cascade.Resolution {
	t.Helper()
	r, list := e.Resolve(refs)
	if list.HasErrors() {
		t.Fatal(list.Err())
	}
	return r
}

// get is the effective value of a property of an entity of the world.
func get(t testing.TB, r *cascade.Resolution, typ, id, property string) cascade.Effective {
	t.Helper()
	et := r.Registry().Type(typ)
	if et == nil {
		t.Fatalf("no type %s", typ)
	}
	p := et.Property(property)
	i := r.World().Find(et, id)
	if p == nil || i < 0 {
		t.Fatalf("no %s %s with a property %s", typ, id, property)
	}
	return r.Get(i, p)
}

// sortRules sorts rules of one layer by specificity and order, the strongest first.
func sortRules(rules []*registry.Rule) {
	slices.SortStableFunc(rules, func(a, b *registry.Rule) int {
		return gocmp.Or(b.Selector.Specificity.Compare(a.Selector.Specificity), gocmp.Compare(b.Index, a.Index))
	})
}
