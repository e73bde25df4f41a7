package cascade_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"umwelt/ast"
	"umwelt/cascade"
	"umwelt/registry"
	"umwelt/world"
)

// stage is what one step of an extension adds.
type stage struct {
	entities []int // of the model
	view     mView
}

// stages deals a case out to a base and two steps. Parents come no later than their
// children, and what the context names belongs to the base.
func (d *drawer) stages() [3]stage {
	var out [3]stage
	when := make([]int, len(d.c.entities))
	for i, e := range d.c.entities {
		if d.chance(40) && !slices.Contains(d.c.context, i) {
			when[i] = 1 + d.n(1)
		}
		if e.parent >= 0 {
			when[i] = max(when[i], when[e.parent])
		}
		out[when[i]].entities = append(out[when[i]].entities, i)
	}
	rules := d.c.view.rules
	a := d.n(len(rules))
	b := a + d.n(len(rules)-a)
	out[0].view, out[1].view, out[2].view = mView{d.c.view.layers, rules[:a]}, mView{nil, rules[a:b]}, mView{nil, rules[b:]}
	if d.chance(20) {
		out[1].view.layers = []string{"l2", "l9", "l1.inner"}
	}
	return out
}

// staged is one case made in steps: what[k] is all of it up to step k, resolved anew.
type staged struct {
	c       *mCase
	steps   []*cascade.Resolution
	rebuilt []*cascade.Resolution
	views   []*ast.View
}

func makeStaged(t *rapid.T, c *mCase, stages [3]stage) staged {
	order := slices.Concat(stages[0].entities, stages[1].entities, stages[2].entities)
	reg, entities, fixed := buildWorld(t, c, order)
	out := staged{c: c}
	n := 0
	for k, s := range stages {
		from := n
		n += len(s.entities)
		out.views = append(out.views, mustParse(t, fmt.Sprintf("view%d.umw", k), s.view.text()))
		w, err := world.New(reg, "test", "", slices.Clone(entities[:n]), fixed)
		if err != nil {
			t.Fatalf("%v\n%s", err, c)
		}
		bound := reg.Bind(registry.Options{}, out.views...)
		if bound.Diagnostics.HasErrors() {
			t.Fatal(bound.Diagnostics.Err())
		}
		r, list := cascade.New(w, bound).Resolve(c.refs())
		if list.HasErrors() {
			// The context may name an entity by a name that is no longer the only one.
			t.Skip(list.Err())
		}
		out.rebuilt = append(out.rebuilt, r)
		if k == 0 {
			out.steps = append(out.steps, r)
			continue
		}
		prev := out.steps[k-1]
		r, list = prev.Extend(entities[from:n], prev.Bound().Extend(registry.Options{}, out.views[k]))
		if list.HasErrors() {
			t.Fatalf("%v\n%s", list.Err(), c)
		}
		out.steps = append(out.steps, r)
	}
	return out
}

// everything prints all that a resolution says of entities that exist and of one that
// does not, below each of those.
func everything(r *cascade.Resolution) string {
	var b strings.Builder
	fmt.Fprintf(&b, "context %v\n", r.Context())
	for i := range r.Len() {
		ent := r.Entity(i)
		fmt.Fprintf(&b, "%s %s in %d:", ent.Type.Name, ent.ID, ent.Parent)
		for _, rule := range r.Rules(i) {
			fmt.Fprintf(&b, " %s(%v %v)", rule.At, r.Holds(rule), r.Open(rule))
		}
		b.WriteByte('\n')
		for _, p := range ent.Type.Properties {
			writeProof(&b, r.Explain(i, p))
		}
		copied := *ent
		copied.ID += "-new"
		copied.Parent = int32(i)
		b.WriteString("new below\n")
		for k, p := range copied.Type.Properties {
			writeProof(&b, r.ExplainEntity(&copied, p))
			if got := r.ResolveEntity(&copied)[k]; got.Origin != r.ExplainEntity(&copied, p).Effective.Origin {
				fmt.Fprintf(&b, "unlike its proof\n")
			}
		}
	}
	return b.String()
}

func writeProof(b *strings.Builder, p cascade.Proof) {
	e := p.Effective
	fmt.Fprintf(b, "  %s: %s %s / %s %q %q\n", p.Property.Name, e.Origin, printValue(e.Value), printValue(e.Resolved), e.Sets, p.Derived)
	for _, c := range e.From {
		fmt.Fprintf(b, "    from %s %s\n", c.Declaration.At, printValue(c.Value))
	}
	for _, l := range p.Losers {
		fmt.Fprintf(b, "    lost %s %s: %s\n", l.Candidate.Declaration.At, l.Why, l.Text)
	}
	for _, f := range p.Fixed {
		fmt.Fprintf(b, "    fixed %s %s\n", f.Constraint.Selector.Text, printValue(f.Value))
	}
	for _, h := range p.Context {
		fmt.Fprintf(b, "    held %s %d\n", h.Qualifier, h.Entity)
	}
}

// TestExtendIsRebuild holds every step of random extensions to a resolution that is made
// anew, and earlier steps to what they said before.
func TestExtendIsRebuild(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCase(t)
		d := &drawer{t: t, c: c}
		s := makeStaged(t, c, d.stages())
		// The last is asked first, so that it works out what the one before it did not.
		for k := len(s.steps) - 1; k >= 0; k-- {
			if got, want := everything(s.steps[k]), everything(s.rebuilt[k]); got != want {
				t.Fatalf("%s\nstep %d:\n%s\n%s\n%s\n%s", c, k, s.views[0].Source.Text, s.views[1].Source.Text, s.views[2].Source.Text, firstDifferences(got, want))
			}
			if got, want := everything(s.steps[k].Complete()), everything(s.rebuilt[k]); got != want {
				t.Fatalf("%s\nstep %d made anew:\n%s", c, k, firstDifferences(got, want))
			}
		}
	})
}

// TestExtensionsBranch makes many extensions of one resolution, asks them all at once, and
// holds each to its own answers and the original to what it said.
func TestExtensionsBranch(t *testing.T) {
	reg := sandboxRegistry(t)
	w, err := world.New(reg, "dev", "", bigEntities(reg, 400), nil)
	if err != nil {
		t.Fatal(err)
	}
	base := resolve(t, cascade.New(w, bind(t, reg, "file { editable: false; visible: true; }\ndir:has(> file.fresh) > file { visible: false; }")))
	file := reg.Type("file")
	editable, visible := file.Property("editable"), file.Property("visible")
	before := everything(base)
	var wg sync.WaitGroup
	for k := range 8 {
		wg.Go(func() {
			unit := fmt.Sprintf("pkg0/part0/unit%d", k)
			view := parse(t, "more.umw", fmt.Sprintf("dir#%q file { editable: true; }", unit))
			id := unit + "/new.go"
			ent := world.Entity{
				Type: file, ID: id, Parent: int32(base.Find(reg.Type("dir"), unit)), Classes: []string{"fresh"},
				Attributes: world.Complete(file, id, []world.Attribute{{Name: "path", Text: id}}),
			}
			r, list := base.Extend([]world.Entity{ent}, base.Bound().Extend(registry.Options{}, view))
			if list.HasErrors() {
				t.Error(list.Err())
				return
			}
			var readers sync.WaitGroup
			for range 3 {
				readers.Go(func() {
					for i := range r.Len() {
						e := r.Entity(i)
						if e.Type != file {
							continue
						}
						in := strings.HasPrefix(e.ID, unit+"/")
						if got := r.Get(i, editable).Value.Bool(); got != in {
							t.Errorf("%s: editable %v beside %s", e.ID, got, unit)
						}
						if got := r.Get(i, visible).Value.Bool(); got == in {
							t.Errorf("%s: visible %v beside %s", e.ID, got, unit)
						}
					}
					r.Explain(r.Find(file, id), editable)
					r.ResolveEntity(&ent)
					r.World()
				})
			}
			readers.Wait()
		})
	}
	wg.Wait()
	if got := everything(base); got != before {
		t.Errorf("the original has changed:\n%s", firstDifferences(got, before))
	}
}

// TestExtendRefuses lists what an extension may not hold.
func TestExtendRefuses(t *testing.T) {
	reg := sandboxRegistry(t)
	w, err := world.New(reg, "dev", "", bigEntities(reg, 10), nil)
	if err != nil {
		t.Fatal(err)
	}
	base := resolve(t, cascade.New(w, bind(t, reg, "file { editable: false; }")))
	file := reg.Type("file")
	other := sandboxRegistry(t)
	for name, c := range map[string]struct {
		entities []world.Entity
		rules    *registry.Extension
		want     string
	}{
		"known":      {entities: []world.Entity{{Type: file, ID: "pkg0/part0/unit0/file0.go"}}, want: "two entities"},
		"twice":      {entities: []world.Entity{{Type: file, ID: "a"}, {Type: file, ID: "a"}}, want: "two entities"},
		"untyped":    {entities: []world.Entity{{ID: "a"}}, want: "not of this vocabulary"},
		"foreign":    {entities: []world.Entity{{Type: other.Type("file"), ID: "a"}}, want: "not of this vocabulary"},
		"parent":     {entities: []world.Entity{{Type: file, ID: "a", Parent: 1000}}, want: "comes before it"},
		"itself":     {entities: []world.Entity{{Type: file, ID: "a", Parent: int32(base.Len())}}, want: "comes before it"},
		"root":       {entities: []world.Entity{{Type: reg.Type("world"), ID: "other", Parent: world.NoParent}}, want: "two roots"},
		"vocabulary": {rules: base.Bound().Extend(registry.Options{}, parse(t, "v.umw", `@taxon more { description: "More."; axis: 9; }`)), want: "vocabulary"},
		"other view": {rules: bind(t, reg, "").Extend(registry.Options{}, parse(t, "v.umw", "")), want: "another view"},
		"bad value":  {rules: base.Bound().Extend(registry.Options{}, parse(t, "v.umw", "file { editable: perhaps; }")), want: "editable"},
	} {
		t.Run(name, func(t *testing.T) {
			r, list := base.Extend(c.entities, c.rules)
			if err := list.Err(); r != nil || err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, %v", r, err)
			}
		})
	}
}

// TestExtendInCircle extends a view whose types follow one another in a circle.
func TestExtendInCircle(t *testing.T) {
	reg := registry.New()
	if list := reg.Load(registry.Options{}, parse(t, "vocabulary.umw", `
@taxon t { axis: 1; description: d; }
@entity left { taxon: t; description: d; }
@entity right { taxon: t; description: d; }
@attribute left.to { type: string; description: d; }
@attribute right.to { type: string; description: d; }
@property left.on { type: boolean; restrictive: false; follows: right.on; through: to; description: d; }
@property right.on { type: boolean; restrictive: false; description: d; }
@property right.off { type: boolean; restrictive: false; follows: left.on; through: to; description: d; }
`)); list.HasErrors() {
		t.Fatal(list.Err())
	}
	thing := func(typ, id, to string) world.Entity {
		return world.Entity{Type: reg.Type(typ), ID: id, Parent: world.NoParent, Attributes: []world.Attribute{{Name: "to", Text: to}}}
	}
	w, err := world.New(reg, "w", "", []world.Entity{thing("left", "a", "b"), thing("right", "b", "a")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	views := []*ast.View{parse(t, "v.umw", `right { on: true; }`), parse(t, "more.umw", `right#b { on: false; }`)}
	base := resolve(t, cascade.New(w, reg.Bind(registry.Options{}, views[0])))
	got, list := base.Extend([]world.Entity{thing("left", "c", "b")}, base.Bound().Extend(registry.Options{}, views[1]))
	if list.HasErrors() {
		t.Fatal(list.Err())
	}
	if whole, err := world.New(reg, "w", "", []world.Entity{thing("left", "a", "b"), thing("right", "b", "a"), thing("left", "c", "b")}, nil); err != nil {
		t.Fatal(err)
	} else if want := everything(resolve(t, cascade.New(whole, reg.Bind(registry.Options{}, views...)))); everything(got) != want {
		t.Errorf("%s", firstDifferences(everything(got), want))
	}
}
