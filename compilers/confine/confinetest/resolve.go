package confinetest

import (
	"testing"

	"umwelt/ast"
	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/parser"
	"umwelt/registry"
	"umwelt/sandbox"
	"umwelt/world"
	"umwelt/world/discover"
)

// Resolve is a view over a world file in a context, with the sandbox vocabulary. Root is
// the project's directory on disk. Any error ends the test.
func Resolve(t testing.TB, view, worldFile, root string, context ...cascade.Ref) *cascade.Resolution {
	t.Helper()
	return resolve(t, view, worldFile, root, discover.Matchers(discover.Host{}), context)
}

// ResolveFound is a view over a world in which a matcher finds what find gives, and nothing
// else in the root.
func ResolveFound(t testing.TB, view, root string, find func(*registry.Registry) []world.Entity) *cascade.Resolution {
	t.Helper()
	matcher := world.Discoverer{Name: "given", Run: func(req world.Request) world.Result {
		return world.Result{Entities: find(req.Registry), RootListed: true}
	}}
	return resolve(t, view, "name: w\ndiscover:\n  - { matcher: given }\n", root, []world.Discoverer{matcher}, nil)
}

func resolve(t testing.TB, view, worldFile, root string, matchers []world.Discoverer, context []cascade.Ref) *cascade.Resolution {
	t.Helper()
	fail := func(list diag.List) {
		t.Helper()
		if list.HasErrors() {
			t.Fatal(list.Err())
		}
	}
	vocabulary, list := parser.Parse(sandbox.Vocabulary())
	fail(list)
	reg := registry.New()
	fail(reg.Load(registry.Options{}, vocabulary))
	if err := sandbox.Register(reg); err != nil {
		t.Fatal(err)
	}
	parsed, list := parser.Parse(&diag.Source{Name: "v.umw", Text: []byte(view)})
	fail(list)
	bound := reg.Bind(registry.Options{}, []*ast.View{parsed}...)
	fail(bound.Diagnostics)
	w, list := world.LoadText(&diag.Source{Name: "w.world.yml", Text: []byte(worldFile)}, t.TempDir(), world.Options{
		Registry: reg, Root: root, Matchers: matchers, Collections: sandbox.Collection, Named: bound.Pins(), Declared: bound.Entities,
	})
	fail(list)
	res, list := cascade.New(w, bound).Resolve(context)
	fail(list)
	return res
}
