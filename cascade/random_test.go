package cascade_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"umwelt/ast"
	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/parser"
	"umwelt/registry"
	"umwelt/world"
)

// TestAgainstNaive compares the engine with the naive evaluator on random vocabularies,
// worlds, views and contexts. More cases: go test ./cascade -run Naive -rapid.checks=100000
func TestAgainstNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCase(t)
		e, refs := build(t, c, identity(len(c.entities)))
		r, list := e.Resolve(refs)
		if list.HasErrors() {
			t.Fatalf("%v\n%s", list.Err(), c)
		}
		want := expected(c)
		if got := answers(r, c); got != want {
			t.Fatalf("%s\nengine and naive evaluator differ:\n%s", c, firstDifferences(got, want))
		}
	})
}

// TestAgreesWithItself checks on random cases that the ways of asking agree: the index and
// the plain matcher on which rules fit, a copy of an entity outside the world with the one
// inside, and proofs with the answers that they prove.
func TestAgreesWithItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCase(t)
		e, refs := build(t, c, identity(len(c.entities)))
		r, list := e.Resolve(refs)
		if list.HasErrors() {
			t.Fatalf("%v\n%s", list.Err(), c)
		}
		w, m := r.World(), world.NewMatcher(r.World())
		counts := map[*registry.Rule]int{}
		for i := range w.Entities {
			ent := &w.Entities[i]
			rules := r.Rules(i)
			for _, rule := range r.Bound().Rules {
				fits := m.Matches(rule.Selector, i)
				if fits != slices.Contains(rules, rule) {
					t.Fatalf("%s\n%s on %s %s: the matcher says %v, the index does not", c, rule.Selector.Text, ent.Type.Name, ent.ID, fits)
				}
				if fits {
					counts[rule]++
				}
			}
			leaf := !slices.ContainsFunc(w.Entities, func(o world.Entity) bool { return o.Parent == int32(i) }) && ent.Type.GroupAttr == ""
			var outside []*cascade.Effective
			if leaf {
				copied := *ent
				outside = r.ResolveEntity(&copied)
			}
			for k, p := range ent.Type.Properties {
				got := r.Get(i, p)
				if leaf && (printValue(outside[k].Value) != printValue(got.Value) || outside[k].Origin != got.Origin) {
					t.Fatalf("%s\n%s of %s is %s outside the world and %s inside", c, p.Name, ent.ID, printValue(outside[k].Value), printValue(got.Value))
				}
				checkProof(t, c, r, r.Explain(i, p), i)
			}
		}
		for _, rule := range r.Bound().Rules {
			if r.Matched(rule) != counts[rule] {
				t.Fatalf("%s\n%s fits %d entities, not %d", c, rule.Selector.Text, counts[rule], r.Matched(rule))
			}
		}
	})
}

// checkProof accounts for every declaration that speaks of the property: it makes the
// value, or it lost and the reason is true.
func checkProof(t *rapid.T, c *mCase, r *cascade.Resolution, proof cascade.Proof, entity int) {
	var all []*registry.Declaration
	for _, rule := range r.Rules(entity) {
		for _, d := range rule.Declarations {
			for _, v := range d.Typed {
				if v.Property == proof.Property {
					all = append(all, d)
				}
			}
		}
	}
	seen := map[*registry.Declaration]bool{}
	for _, from := range proof.Effective.From {
		seen[from.Declaration] = true
		if !r.Holds(from.Rule) {
			t.Fatalf("%s\na rule that does not hold makes %s", c, proof.Property.Name)
		}
	}
	for _, l := range proof.Losers {
		seen[l.Candidate.Declaration] = true
		if (l.Why == cascade.ContextNotHeld) == r.Holds(l.Candidate.Rule) || l.Text == "" {
			t.Fatalf("%s\n%s lost by %s (%q)", c, l.Candidate.Rule.Selector.Text, l.Why, l.Text)
		}
		if l.Why == cascade.LowerSpecificity && l.Candidate.Rule.Selector.Specificity.Compare(l.Against.Rule.Selector.Specificity) >= 0 {
			t.Fatalf("%s\n%s did not lose by specificity", c, l.Candidate.Rule.Selector.Text)
		}
	}
	for _, d := range all {
		if !seen[d] {
			t.Fatalf("%s\nthe proof of %s says nothing of line %d", c, proof.Property.Name, d.At.Start.Line)
		}
	}
}

// TestOrderDoesNotMatter shuffles the world and changes the number of processors.
func TestOrderDoesNotMatter(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	rapid.Check(t, func(t *rapid.T) {
		c := drawCase(t)
		var first string
		for k := range 3 {
			runtime.GOMAXPROCS(1 + k)
			order := identity(len(c.entities))
			if k > 0 {
				rand.New(rand.NewPCG(uint64(k), 1)).Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
			}
			e, refs := build(t, c, order)
			if k > 0 {
				slices.Reverse(refs)
			}
			r, list := e.Resolve(refs)
			if list.HasErrors() {
				t.Fatalf("%v\n%s", list.Err(), c)
			}
			got := answers(r, c) + fmt.Sprint(list)
			if first == "" {
				first = got
			}
			if got != first {
				t.Fatalf("%s\n%s", c, firstDifferences(got, first))
			}
		}
	})
}

func identity(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

type tester interface {
	Fatalf(format string, args ...any)
	Helper()
}

func mustParse(t tester, name, text string) *ast.View {
	t.Helper()
	view, list := parser.Parse(&diag.Source{Name: name, Text: []byte(text)})
	if list.HasErrors() {
		t.Fatalf("%v in:\n%s", list.Err(), text)
	}
	return view
}

// build hands a model case to the tool; order is the order of its entities.
func build(t tester, c *mCase, order []int) (*cascade.Engine, []cascade.Ref) {
	t.Helper()
	reg, entities, fixed := buildWorld(t, c, order)
	w, err := world.New(reg, "test", "", entities, fixed)
	if err != nil {
		t.Fatalf("%v\n%s", err, c)
	}
	b := reg.Bind(registry.Options{}, mustParse(t, "view.umw", c.view.text()))
	if b.Diagnostics.HasErrors() {
		t.Fatalf("%v in:\n%s", b.Diagnostics.Err(), c)
	}
	return cascade.New(w, b), c.refs()
}

// refs are the entities that the caller names as active.
func (c *mCase) refs() []cascade.Ref {
	var refs []cascade.Ref
	for _, i := range c.context {
		refs = append(refs, cascade.Ref{Type: c.entities[i].typ.ref(), ID: c.entities[i].id})
	}
	return refs
}

// buildWorld makes the vocabulary and what a world holds.
func buildWorld(t tester, c *mCase, order []int) (*registry.Registry, []world.Entity, []world.Fixed) {
	t.Helper()
	reg := registry.New()
	if list := reg.Load(registry.Options{}, mustParse(t, "vocabulary.umw", c.vocabulary.text())); list.HasErrors() {
		t.Fatalf("%v in:\n%s", list.Err(), c)
	}
	typeOf := func(m *mType) *registry.EntityType {
		for _, et := range reg.TypesNamed(m.name) {
			if et.Taxon.Name == m.taxon.name {
				return et
			}
		}
		t.Fatalf("no type %s", m.ref())
		return nil
	}
	place := make([]int32, len(order))
	for to, from := range order {
		place[from] = int32(to)
	}
	entities := make([]world.Entity, len(order))
	for from, e := range c.entities {
		out := world.Entity{Type: typeOf(e.typ), ID: e.id, Classes: e.classes, Parent: world.NoParent}
		for _, name := range slices.Sorted(mapKeys(e.attrs)) {
			a := world.Attribute{Name: name, Text: e.attrs[name].text, List: e.attrs[name].list}
			out.Attributes = append(out.Attributes, a)
		}
		if e.parent >= 0 {
			out.Parent = place[e.parent]
		}
		entities[place[from]] = out
	}
	var fixed []world.Fixed
	for _, f := range c.fixed {
		view := mustParse(t, "fixed.umw", f.selector.text()+" {}")
		sels, list := reg.BindSelectors(view.Statements[0].(*ast.Rule).Selectors)
		if list.HasErrors() {
			t.Fatalf("%v in fixed of:\n%s", list.Err(), c)
		}
		for _, sel := range sels {
			values, list := reg.TypeFixed(sel, f.prop, f.values, diag.Span{})
			if list.HasErrors() {
				t.Fatalf("%v in fixed of:\n%s", list.Err(), c)
			}
			fixed = append(fixed, world.Fixed{Selector: sel, Values: values})
		}
	}
	return reg, entities, fixed
}

// answers prints everything the engine says, by the order of the model.
func answers(r *cascade.Resolution, c *mCase) string {
	var b strings.Builder
	w := r.World()
	for _, e := range c.entities {
		for i := range w.Entities {
			ent := &w.Entities[i]
			if ent.ID != e.id || ent.Type.Name != e.typ.name || ent.Type.Taxon.Name != e.typ.taxon.name {
				continue
			}
			for _, p := range e.typ.props {
				got := r.Get(i, ent.Type.Property(p.name))
				fmt.Fprintf(&b, "%s %s %s:", e.typ.ref(), e.id, p.name)
				fmt.Fprintf(&b, " %s %s / %s %q\n", got.Origin, printValue(got.Value), printValue(got.Resolved), got.Sets)
			}
		}
	}
	return b.String()
}

func printValue(v *registry.Value) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%q", v.Text)
}

// expected prints everything the naive evaluator says.
func expected(c *mCase) string {
	var b strings.Builder
	n := newNaive(c)
	for i, e := range c.entities {
		for _, p := range e.typ.props {
			a := n.answer(p, i)
			show := func(has bool, v []string) string {
				if !has {
					return "-"
				}
				return fmt.Sprintf("%q", strings.Join(v, ", "))
			}
			fmt.Fprintf(&b, "%s %s %s: %s %s / %s %q\n", e.typ.ref(), e.id, p.name, a.origin, show(a.has, a.value), show(a.ruled, a.resolved), a.sets)
		}
	}
	return b.String()
}

func firstDifferences(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	var b strings.Builder
	for i := 0; i < min(len(g), len(w)); i++ {
		if g[i] != w[i] {
			fmt.Fprintf(&b, "  got  %s\n  want %s\n", g[i], w[i])
		}
	}
	return b.String()
}
