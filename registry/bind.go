package registry

import (
	"fmt"
	"slices"
	"strings"

	"umwelt/ast"
	"umwelt/diag"
)

// Bind binds views, in the order in which they count, to the vocabulary. It reports
// everything it finds; where Diagnostics holds an error the rules are not to be used.
func (r *Registry) Bind(o Options, views ...*ast.View) *Bound {
	b := &binder{reg: r, root: &layerNode{}}
	b.options = o
	for _, v := range views {
		b.statements(v.Statements, scope{layer: b.root, stack: []string{v.Source.Name}})
	}
	out := &Bound{Registry: r, Entities: b.entities}
	b.root.number(&out.Layers)
	out.Rules = b.place(0)
	out.Diagnostics, out.lastOrder = b.diagnostics(), b.order
	return out
}

// keepPrivate marks the new diagnostics where the target of a rule has a property whose value
// is never printed: the value may stand where they point, under a wrong name too.
func (b *binder) keepPrivate(sel *Selector) {
	if len(b.List) > b.told && b.reg.holdsSecret(sel) {
		for i := range b.List[b.told:] {
			b.List[b.told+i].Private = true
		}
	}
}

// holdsSecret reports whether a selector's target may have a property whose value is never
// printed.
func (r *Registry) holdsSecret(sel *Selector) bool {
	return slices.ContainsFunc(r.types, func(t *EntityType) bool {
		return (sel.Target.Type == nil || sel.Target.Type == t) && slices.ContainsFunc(t.Properties, func(p *Property) bool { return p.Secret })
	})
}

// maxDiagnostics bounds the diagnostics of one binding. One more counts the rest.
const maxDiagnostics = 1000

// untold are the diagnostics over the bound.
type untold struct {
	number int
	worst  diag.Severity
	last   diag.Span
}

// complaint is what makes two diagnostics the same one.
type complaint struct {
	code    diag.Code
	at      diag.Span
	message string
}

// tidy looks through the new diagnostics: each is said once for a place, and what is over
// the bound is only counted. The bound keeps hostile text from taking memory and, once one
// of those over it is an error, time; whether the result may be used does not depend on it.
func (b *binder) tidy() {
	kept := b.List[:b.told]
	for _, d := range b.List[b.told:] {
		c := complaint{d.Code, d.Span, d.Message}
		switch {
		case b.said[c]:
		case len(kept) >= maxDiagnostics:
			b.untold.number++
			b.untold.worst, b.untold.last = max(b.untold.worst, d.Severity), d.Span
			b.stopped = b.stopped || d.Severity == diag.Error
		default:
			if b.said == nil {
				b.said = map[complaint]bool{}
			}
			b.said[c] = true
			kept = append(kept, d)
		}
	}
	b.List, b.told = kept, len(kept)
}

// diagnostics are what was found.
func (b *binder) diagnostics() diag.List {
	b.tidy()
	if n := b.untold.number; n > 0 {
		d := diag.Diagnostic{
			Severity: b.untold.worst, Code: diag.TooLarge, Span: b.untold.last,
			Message: fmt.Sprintf("%d more problems are not listed; the last is here", n),
		}
		if b.stopped {
			d.Message = fmt.Sprintf("more than %d problems; the rest is not read", maxDiagnostics)
		}
		b.List = append(b.List, d)
	}
	return b.List
}

// tooLarge reports that a bound is passed, and reads no further.
func (b *binder) tooLarge(at diag.Span, format string, args ...any) {
	b.Errorf(diag.TooLarge, at, format, args...)
	b.stopped = true
}

// place gives the rules their layers and their indices, from the given one on.
func (b *binder) place(from int) []*Rule {
	var out []*Rule
	for _, p := range b.rules {
		if p.wraps && len(p.rule.Declarations) == 0 {
			continue // it only holds other rules, which carry its selector
		}
		p.rule.Layer = Unlayered
		if p.layer != b.root {
			p.rule.Layer = p.layer.index
		}
		p.rule.Index = from + len(out)
		out = append(out, p.rule)
	}
	return out
}

type binder struct {
	expander
	reg      *Registry
	root     *layerNode
	rules    []placed
	entities []Entity
	order    int
	closed   bool        // the vocabulary is complete, so nothing may add to it
	unfolded int         // compounds made by nesting so far
	relative bool        // a selector may begin with a combinator
	entity   *EntityType // of the compound around the parentheses that a selector stands in
	doubt    bool        // something in a selector is unknown, or can match nothing
	locked   int         // locked declarations so far
	declared int         // declarations so far
	parts    int         // compounds and simple selectors bound so far
	stopped  bool        // the view is refused, and reading on would only cost
	told     int         // diagnostics that tidy has seen
	said     map[complaint]bool
	untold   untold
}

// placed is a rule with what its place in the text says of it.
type placed struct {
	rule  *Rule
	layer *layerNode
	wraps bool // nothing but other rules and at-rules stands in its block
}

// scope is what surrounds a statement.
type scope struct {
	layer   *layerNode
	taxon   *Taxon          // of an enclosing @taxonname block
	parents []*ast.Selector // of the enclosing rule, nesting undone; nil outside rules
	rules   []*Rule         // the enclosing rule, one per selector
	stack   []string        // open files
	sugar   int             // how deep sugar has been rewritten
}

func (b *binder) statements(nodes []ast.Node, s scope) {
	for _, n := range nodes {
		if b.stopped {
			return
		}
		switch n := n.(type) {
		case *ast.Rule:
			b.rule(n, s)
		case *ast.AtRule:
			b.atRule(n, s)
		case *ast.Declaration:
			if s.rules == nil {
				b.Errorf(diag.Syntax, n.At, "a declaration stands outside a rule").Hint = "put it in a rule: selector { " + n.Property + ": …; }"
				continue
			}
			b.order++
			for i := range s.rules {
				if b.stopped {
					return
				}
				b.declaration(i, n, s)
				b.keepPrivate(s.rules[i].Selector)
				b.tidy()
			}
		}
		b.tidy()
	}
	for _, rule := range s.rules {
		rule.Declarations = lastOfEach(rule.Declarations)
	}
}

// rule binds a rule's selectors, then what stands in its block in order.
func (b *binder) rule(n *ast.Rule, s scope) {
	selectors := n.Selectors
	if s.parents != nil {
		selectors = b.unnest(n, s.parents)
	}
	inner := s
	inner.parents, inner.rules = selectors, []*Rule{}
	for _, sel := range selectors {
		bounds := b.selector(sel, s.taxon)
		b.tidy()
		for _, bound := range bounds {
			if len(b.rules) >= maxRules {
				b.tooLarge(n.At, "more than %d rules", maxRules)
			}
			if b.stopped {
				return
			}
			rule := &Rule{Selector: bound, At: sel.At}
			b.rules = append(b.rules, placed{rule, s.layer, wraps(n.Block)})
			inner.rules = append(inner.rules, rule)
		}
	}
	b.statements(n.Block.Items, inner)
}

// wraps reports whether a block holds rules or at-rules and no declaration.
func wraps(block *ast.Block) bool {
	inner := false
	for _, n := range block.Items {
		switch n.(type) {
		case *ast.Declaration:
			return false
		case *ast.Rule, *ast.AtRule:
			inner = true
		}
	}
	return inner
}

func (b *binder) atRule(at *ast.AtRule, s scope) {
	name := strings.ToLower(at.Name)
	switch {
	case name == "import":
		b.importRule(at, s)
	case name == "layer":
		b.layerRule(at, s)
	case isVocabularyRule(name):
		switch {
		case s.rules != nil:
			b.Errorf(diag.BadVocabulary, at.At, "@%s cannot stand inside a rule", at.Name)
		case b.closed:
			b.Errorf(diag.BadVocabulary, at.At, "@%s would change the vocabulary, which an extension cannot", at.Name)
		}
	case b.reg.Taxon(name) != nil:
		inner := s
		inner.taxon = b.reg.Taxon(name)
		if at.Block == nil || at.Prelude.Raw != "" {
			b.Errorf(diag.Syntax, at.At, "@%s takes a block and nothing before it", at.Name)
			return
		}
		b.statements(at.Block.Items, inner)
	case b.reg.sugar[name] != nil:
		if s.sugar >= maxSugarDepth {
			b.Errorf(diag.TooDeep, at.At, "@%s is nested more than %d deep", at.Name, maxSugarDepth)
			return
		}
		if n := countValues(at.Block); n > maxRules {
			b.Errorf(diag.TooLarge, at.At, "@%s holds %d values, and %d rules are the most", at.Name, n, maxRules)
			return
		}
		var out SugarOutput
		b.reg.sugar[name].Rewrite(at, &out)
		b.List = append(b.List, out.Diagnostics...)
		b.entities = append(b.entities, out.Entities...)
		inner := s
		inner.sugar++
		b.statements(out.Nodes, inner)
	default:
		d := b.Warnf(diag.UnknownAtRule, at.NameAt, "no vocabulary registers @%s, so it has no effect", at.Name)
		if b.told < maxDiagnostics { // else nobody sees a hint
			d.Hint = diag.DidYouMean(name, b.atRuleNames())
		}
	}
}

// countValues is how many values stand in a block, each of which sugar may make a rule of.
func countValues(block *ast.Block) int {
	if block == nil {
		return 0
	}
	n := 0
	for _, item := range block.Items {
		if d, ok := item.(*ast.Declaration); ok {
			n += len(d.Values)
		}
	}
	return n
}

func (b *binder) importRule(at *ast.AtRule, s scope) {
	if s.rules != nil {
		b.Errorf(diag.Import, at.At, "@import cannot stand inside a rule")
		return
	}
	v := b.open(at, s.stack)
	if v == nil {
		return
	}
	inner := s
	inner.stack = append(slices.Clip(s.stack), v.Source.Name)
	if _, layer, _ := importPrelude(at); layer != "" {
		if inner.layer = b.layer(s.layer, layer, at); inner.layer == nil {
			return
		}
	}
	b.statements(v.Statements, inner)
}

func (b *binder) layerRule(at *ast.AtRule, s scope) {
	var names []string
	for _, v := range at.Prelude.Values {
		names = append(names, partText(v))
		if !validLayer(partText(v)) {
			b.Errorf(diag.Syntax, at.Prelude.At, "%s is not a layer name", diag.Quote(partText(v)))
			return
		}
	}
	switch {
	case at.Block == nil && len(names) == 0:
		b.Errorf(diag.Syntax, at.At, "@layer needs names or a block")
	case at.Block == nil:
		for _, name := range names {
			b.layer(s.layer, name, at)
		}
	case len(names) > 1:
		b.Errorf(diag.Syntax, at.At, "@layer with a block takes one name")
	default:
		inner := s
		if inner.layer = b.layer(s.layer, strings.Join(names, ""), at); inner.layer == nil {
			return
		}
		if s.rules == nil {
			b.statements(at.Block.Items, inner)
			return
		}
		// Declarations of a layer inside a rule belong to that rule in that layer.
		inner.rules = nil
		b.rule(&ast.Rule{At: at.At, Selectors: []*ast.Selector{parentSelector(at.At)}, Block: at.Block}, inner)
	}
}

// layer finds or makes the layer below another that a name leads to, or reports why there is
// none. Every use of one costs a look at all that there are.
func (b *binder) layer(in *layerNode, name string, at *ast.AtRule) *layerNode {
	dots := strings.Count(name, ".")
	switch {
	case dots >= maxLayerDepth:
		b.Errorf(diag.TooDeep, at.At, "the layer name has more than %d parts", maxLayerDepth)
		return nil
	case b.root.count()+dots+1 > maxLayers && in.find(name) == nil:
		b.Errorf(diag.TooLarge, at.At, "more than %d layers", maxLayers)
		return nil
	}
	return in.child(name)
}

func (b *binder) atRuleNames() []string {
	out := append([]string{"import", "layer"}, vocabularyRules...)
	out = append(out, b.reg.taxonNames()...)
	sugar := make([]string, 0, len(b.reg.sugar))
	for name := range b.reg.sugar {
		sugar = append(sugar, name)
	}
	slices.Sort(sugar)
	return append(out, sugar...)
}

// declaration types a declaration of s.rules[i] for every property that its target may have.
func (b *binder) declaration(i int, n *ast.Declaration, s scope) {
	rule := s.rules[i]
	if n.Flag != "" && n.Flag != "important" && n.Flag != "locked" {
		if i == 0 {
			b.Errorf(diag.UnknownFlag, n.FlagAt, "!%s is not a flag", n.Flag).Hint = diag.DidYouMean(n.Flag, []string{"important", "locked"})
		}
		return
	}
	if rule.Selector.Target.Type == nil && rule.Selector.Never {
		return // the type is unknown and has been reported
	}
	properties := b.reg.propertiesOf(rule.Selector, n.Property)
	if len(properties) == 0 {
		b.noProperty(i, n, s)
		return
	}
	d := &Declaration{
		Name: properties[0].Name, Important: n.Flag == "important", Locked: n.Flag == "locked", Label: n.Label, Order: b.order, At: n.At,
	}
	problem := ""
	for _, p := range properties {
		v, why := b.reg.typeDeclaration(p.Type, n)
		if why != "" {
			problem = why
			continue
		}
		if d.Locked && p.Restrictive == NoDirection {
			b.Errorf(diag.NotLockable, n.FlagAt, "%s.%s has no restrictive direction, so it cannot be locked", p.Entity.Name, p.Name)
			return
		}
		d.Typed = append(d.Typed, TypedValue{Property: p, Value: v})
	}
	if d.Locked {
		if b.locked++; b.locked > maxLocked {
			b.tooLarge(n.FlagAt, "more than %d locked declarations, counted once for each selector", maxLocked)
			return
		}
	}
	if len(d.Typed) == 0 {
		b.Errorf(diag.BadValue, n.ValueAt, "%s: %s", d.Name, problem)
		return
	}
	if b.declared += len(d.Typed); b.declared > maxDeclared {
		b.tooLarge(n.At, "more than %d values are declared, counted once for each selector and entity type", maxDeclared)
		return
	}
	rule.Declarations = append(rule.Declarations, d)
}

// noProperty warns that the target of s.rules[i] has no such property. A selector that was
// bound once per taxon is one to its author: it has the property where one of them has, and
// else there is one warning.
func (b *binder) noProperty(i int, n *ast.Declaration, s scope) {
	sel := s.rules[i].Selector
	if sel.Target.Type != nil {
		b.unknownProperty(sel, n)
		return
	}
	first, end := i, i+1
	for first > 0 && s.rules[first-1].At == s.rules[i].At {
		first--
	}
	for end < len(s.rules) && s.rules[end].At == s.rules[i].At {
		end++
	}
	if i > first {
		return
	}
	for _, other := range s.rules[first:end] {
		if len(b.reg.propertiesOf(other.Selector, n.Property)) > 0 {
			return
		}
	}
	if end > first+1 {
		any := *sel
		any.Taxon, sel = nil, &any
	}
	b.unknownProperty(sel, n)
}

// unknownProperty warns that a selector's target has no property of that name.
func (b *binder) unknownProperty(sel *Selector, n *ast.Declaration) {
	who := "no entity type"
	types := b.reg.types
	switch target := sel.Target.Type; {
	case target != nil:
		who, types = target.Name, []*EntityType{target}
	case sel.Taxon != nil:
		who += " of " + sel.Taxon.Name
	}
	has := " has a property "
	if sel.Target.Type != nil {
		has = " has no property "
	}
	d := b.Warnf(diag.UnknownProperty, n.PropertyAt, "%s, so the declaration has no effect", who+has+diag.Quote(n.Property))
	if b.told >= maxDiagnostics {
		return // nobody sees a hint
	}
	var names []string
	seen := map[string]bool{}
	for _, t := range types {
		if sel.Taxon != nil && t.Taxon != sel.Taxon {
			continue
		}
		for _, p := range t.Properties {
			if !seen[p.Name] {
				seen[p.Name] = true
				names = append(names, p.Name)
			}
		}
	}
	d.Hint = diag.DidYouMean(n.Property, names)
}

// propertiesOf are the properties of that name that a selector's target may have.
func (r *Registry) propertiesOf(sel *Selector, name string) []*Property {
	if t := sel.Target.Type; t != nil {
		if p := t.Property(name); p != nil {
			return []*Property{p}
		}
		return nil
	}
	var out []*Property
	for _, t := range r.types {
		if sel.Taxon != nil && t.Taxon != sel.Taxon {
			continue
		}
		if p := t.Property(name); p != nil {
			out = append(out, p)
		}
	}
	return out
}

// lastOfEach keeps, of several declarations of one property in one block, the last one
// per flag, unless the property is repeatable.
func lastOfEach(ds []*Declaration) []*Declaration {
	out := ds[:0]
	for i, d := range ds {
		repeated := slices.ContainsFunc(ds[i+1:], func(later *Declaration) bool {
			return later.Name == d.Name && later.Important == d.Important && later.Locked == d.Locked
		})
		if !repeated || d.Typed[0].Property.Repeatable {
			out = append(out, d)
		}
	}
	return out
}

// TypeFixed types one value of a fixed constraint for every property that the selector's
// target may have. An unknown property or a value that does not fit is an error.
func (r *Registry) TypeFixed(sel *Selector, name string, members []string, at diag.Span) ([]TypedValue, diag.List) {
	var l diag.List
	properties := r.propertiesOf(sel, name)
	if len(properties) == 0 {
		b := binder{reg: r}
		b.unknownProperty(sel, &ast.Declaration{Property: name, PropertyAt: at})
		d := b.List[0]
		d.Severity, d.Private = diag.Error, r.holdsSecret(sel)
		return nil, diag.List{d}
	}
	var out []TypedValue
	problem := ""
	for _, p := range properties {
		var v *Value
		var why string
		switch {
		case p.Type.Shape != One && len(members) == 1 && strings.EqualFold(members[0], "none"):
			v = NewList(p.Type.Shape, nil)
		case p.Type.Shape != One:
			v, why = r.TypeList(p.Type, members)
		case len(members) == 1:
			v, why = r.TypeText(p.Type, members[0])
		default:
			why = "one value is wanted, not a list"
		}
		if why != "" {
			problem = why
			continue
		}
		out = append(out, TypedValue{Property: p, Value: v})
	}
	if len(out) == 0 {
		l.Errorf(diag.BadValue, at, "%s: %s", name, problem).Private = r.holdsSecret(sel)
	}
	return out, l
}
