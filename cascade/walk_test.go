package cascade

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"umwelt/diag"
	"umwelt/parser"
	"umwelt/registry"
	"umwelt/world"
)

// TestRoundsWrap holds that a walker which has gone through all its rounds still tells
// entities apart.
func TestRoundsWrap(t *testing.T) {
	parse := func(text string) *registry.Bound {
		reg := registry.New()
		view, list := parser.Parse(&diag.Source{Name: "v", Text: []byte(text)})
		if list = append(list, reg.Load(registry.Options{}, view)...); list.HasErrors() {
			t.Fatal(list.Err())
		}
		return reg.Bind(registry.Options{}, view)
	}
	b := parse(`
@taxon t { axis: 1; description: d; }
@entity thing { taxon: t; description: d; }
@property thing.on { type: boolean; description: d; }
thing.x { on: true; }
thing.y { on: false; }`)
	typ := b.Registry.Type("thing")
	entities := []world.Entity{
		{Type: typ, ID: "a", Parent: world.NoParent, Classes: []string{"x"}}, {Type: typ, ID: "b", Parent: world.NoParent, Classes: []string{"x", "y"}},
		{Type: typ, ID: "c", Parent: world.NoParent},
	}
	w, err := world.New(b.Registry, "w", "", entities, nil)
	if err != nil {
		t.Fatal(err)
	}
	e := New(w, b)
	walk := newWalker(e.plan, w, e.matcher.Fork())
	fits := func(i, want int) {
		t.Helper()
		walk.match(&w.Entities[i], i, nothing)
		if len(walk.whole) != want {
			t.Errorf("in round %d, chains %v fit %s", walk.round, walk.whole, w.Entities[i].ID)
		}
	}
	fits(0, 1)
	fits(1, 2)
	walk.round = math.MaxUint32 - 5 // even, as every round is
	for range 3 {
		fits(2, 0)
	}
	for range 3 {
		fits(0, 1)
		fits(1, 2)
	}
}

// TestAlikeRulesAreMatchedOnce counts the work of matching: rules under one selector are
// one test, and are kept as one.
func TestAlikeRulesAreMatchedOnce(t *testing.T) {
	view, list := parser.Parse(&diag.Source{Name: "v.umw", Text: []byte(`
@taxon t { axis: 1; description: d; }
@entity thing { taxon: t; description: d; }
@property thing.on { type: boolean; description: d; }
` + strings.Repeat("thing { on: true; }\n", 1000))})
	reg := registry.New()
	if list = append(list, reg.Load(registry.Options{}, view)...); list.HasErrors() {
		t.Fatal(list.Err())
	}
	b := reg.Bind(registry.Options{}, view)
	entities := make([]world.Entity, 1000)
	for i := range entities {
		entities[i] = world.Entity{Type: b.Registry.Type("thing"), ID: strconv.Itoa(i), Parent: world.NoParent}
	}
	w, err := world.New(b.Registry, "w", "", entities, nil)
	if err != nil {
		t.Fatal(err)
	}
	limits := newBudget()
	e := newEngine(w, b, limits)
	if tests, kept := limits.tests.Load(), limits.kept.Load(); tests > 2100 || kept > 2 {
		t.Errorf("%d tests, %d kept", tests, kept)
	}
	if len(e.sets) > 2 || e.Usable().HasErrors() {
		t.Errorf("%d sets: %v", len(e.sets), e.Usable().Err())
	}
}
