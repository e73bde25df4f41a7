package lint

import (
	"slices"
	"strconv"

	"umwelt/ast"
	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/parser"
	"umwelt/registry"
	"umwelt/world"
)

// Facts are an input together with what several detectors want to know of it. They are
// worked out once.
type Facts struct {
	Input
	Registry *registry.Registry
	Bound    *registry.Bound
	World    *world.World
	Engine   *cascade.Engine

	Cohorts  []cascade.Cohort
	Size     []int               // how many entities are in each cohort
	CohortOf []int               // of each entity, an index into Cohorts
	Contests [][]cascade.Contest // of each cohort

	// Texts are the files that findings can be about: the views, what they import and the
	// vocabularies, in order of name.
	Texts []*ast.View

	duels []duel
	lives map[life]*living
	items map[*diag.Source]map[int32]placedNode
}

func newFacts(in Input) *Facts {
	r := in.Resolution
	f := &Facts{Input: in, Registry: r.Registry(), Bound: r.Bound(), World: r.World(), Engine: r.Engine()}
	f.Cohorts = f.Engine.Cohorts()
	f.CohortOf = make([]int, len(f.World.Entities))
	for i := range f.World.Entities {
		f.CohortOf[i] = f.Engine.Cohort(i)
	}
	f.Contests = make([][]cascade.Contest, len(f.Cohorts))
	for i := range f.Cohorts {
		f.Contests[i] = f.Engine.Contests(i)
	}
	f.complete()
	return f
}

// complete works out what follows from cohorts and contests.
func (f *Facts) complete() {
	f.Size = make([]int, len(f.Cohorts))
	for _, c := range f.CohortOf {
		f.Size[c]++
	}
	f.readTexts()
	f.findDuels()
	f.findLives()
}

// readTexts takes the trees of the views and reads again what else has been bound.
func (f *Facts) readTexts() {
	known := map[*diag.Source]bool{}
	for _, v := range f.Views {
		known[v.Source] = true
		f.Texts = append(f.Texts, v)
	}
	add := func(at diag.Span) {
		if at.Source == nil || known[at.Source] {
			return
		}
		known[at.Source] = true
		v, _ := parser.Parse(at.Source)
		f.Texts = append(f.Texts, v)
	}
	for _, r := range f.Bound.Rules {
		add(r.At)
	}
	for _, t := range f.Registry.Types() {
		add(t.At)
		for _, p := range t.Properties {
			add(p.At)
		}
	}
	slices.SortStableFunc(f.Texts, func(a, b *ast.View) int {
		switch {
		case a.Source.Name < b.Source.Name:
			return -1
		case a.Source.Name > b.Source.Name:
			return 1
		}
		return 0
	})
}

// own reports whether a place is in one of the views that are asked about.
func (f *Facts) own(at diag.Span) bool {
	return slices.ContainsFunc(f.Views, func(v *ast.View) bool { return v.Source == at.Source })
}

// placedNode is a rule or declaration of a tree, and what holds it. Plain says that no
// at-rule rewrites what stands in it.
type placedNode struct {
	node   ast.Node
	parent ast.Node // nil at the top
	text   *ast.View
	plain  bool
}

// nodeAt is the rule of which a selector begins there, or the declaration that does.
func (f *Facts) nodeAt(at diag.Span) (placedNode, bool) {
	if f.items == nil {
		f.items = map[*diag.Source]map[int32]placedNode{}
		for _, text := range f.Texts {
			places := map[int32]placedNode{}
			f.items[text.Source] = places
			var visit func(items []ast.Node, parent ast.Node, plain bool)
			visit = func(items []ast.Node, parent ast.Node, plain bool) {
				for _, n := range items {
					x := placedNode{n, parent, text, plain}
					inner := plain
					switch n := n.(type) {
					case *ast.Declaration:
						places[n.At.Start.Offset] = x
					case *ast.Rule:
						for _, s := range n.Selectors {
							places[s.At.Start.Offset] = x
						}
					case *ast.AtRule:
						inner = plain && f.keepsRules(n.Name)
					}
					if b := ast.BlockOf(n); b != nil {
						visit(b.Items, n, inner)
					}
				}
			}
			visit(text.Statements, nil, true)
		}
	}
	x, ok := f.items[at.Source][at.Start.Offset]
	return x, ok
}

// keepsRules reports whether what stands in an at-rule is bound as it is written.
func (f *Facts) keepsRules(name string) bool { return name == "layer" || f.Registry.Taxon(name) != nil }

// countFits says how many entities fit each compound, whatever stands around it. They are
// found as the targets of rules are.
func (f *Facts) countFits(compounds []*registry.Compound) map[*registry.Compound]int {
	out := map[*registry.Compound]int{}
	if len(compounds) == 0 {
		return out
	}
	b := &registry.Bound{Registry: f.Registry}
	for i, c := range compounds {
		s := &registry.Selector{Text: c.Text, Target: c}
		if c.Type != nil {
			s.Taxon = c.Type.Taxon
		}
		b.Rules = append(b.Rules, &registry.Rule{Index: i, Layer: registry.Unlayered, Selector: s})
	}
	r, list := cascade.New(f.World, b).Resolve(nil)
	if list.HasErrors() {
		return out
	}
	for _, rule := range b.Rules {
		out[rule.Selector.Target] = r.Matched(rule)
	}
	return out
}

// entity names an entity for a message.
func (f *Facts) entity(i int) string { return entityName(&f.World.Entities[i]) }

func entityName(e *world.Entity) string { return e.Type.Name + " " + diag.Quote(e.ID) }

// entities names one entity of several for a message.
func (f *Facts) entities(example, count int) string {
	text := f.entity(example)
	if count > 1 {
		text += " and " + strconv.Itoa(count-1) + " more"
	}
	return text
}

// Shown is a value as a message may give it.
func Shown(p *registry.Property, v *registry.Value) string {
	switch {
	case v == nil:
		return "nothing"
	case p.Secret:
		return "a value that is not shown"
	case v.Text == "":
		return "none"
	}
	return v.Text
}

// said is a declaration for a message: property and value.
func said(p *registry.Property, v *registry.Value) string { return p.Name + ": " + Shown(p, v) }

// directed reports whether one value of p can be more restrictive than another.
func directed(p *registry.Property) bool { return p.Restrictive != registry.NoDirection }

// looser reports whether a lets through what b does not.
func looser(p *registry.Property, a, b *registry.Value) bool {
	return directed(p) && a != nil && b != nil && !p.AsTight(a, b)
}

// restricts reports whether a value takes something away: one on the restrictive side of
// a boolean, any bound, any set that is asked for or that leaves something out.
func restricts(p *registry.Property, v *registry.Value) bool {
	switch p.Restrictive {
	case registry.NoDirection:
		return false
	case registry.False, registry.True:
		return v.Equal(p.RestrictiveBool())
	case registry.Superset:
		return len(v.List) > 0
	}
	return true
}

// single reports whether the values of p compete: one wins and the others count for
// nothing.
func single(p *registry.Property) bool { return p.Comparison == registry.Exact && !p.Repeatable }

// whenever reports whether a holds in every context in which b does: b asks for
// everything that a asks for.
func whenever(a, b *registry.Rule) bool {
	for _, q := range a.Selector.Qualifiers {
		if !slices.ContainsFunc(b.Selector.Qualifiers, func(r *registry.Compound) bool { return r.Text == q.Text && r.Type == q.Type }) {
			return false
		}
	}
	return true
}

// related points at another declaration.
func related(c *cascade.Candidate, message string) []diag.Related {
	return []diag.Related{{Span: c.Declaration.At, Message: message}}
}

func finding(s diag.Severity, at diag.Span, message, hint string, also ...diag.Related) Finding {
	return Finding{Diagnostic: diag.Diagnostic{Severity: s, Span: at, Message: message, Hint: hint, Related: also}}
}
