package registry

import (
	"slices"
	"strings"

	"umwelt/ast"
	"umwelt/diag"
)

// BindSelectors binds selectors that stand outside a view, such as the keys of a world
// file. A selector with a context qualifier is an error there: facts have no context.
func (r *Registry) BindSelectors(selectors []*ast.Selector) ([]*Selector, diag.List) {
	b := &binder{reg: r}
	var out []*Selector
	for _, sel := range selectors {
		for _, bound := range b.selector(sel, nil) {
			if len(bound.Qualifiers) > 0 {
				b.Errorf(diag.BadSelector, sel.At, "%s depends on the context, which cannot decide what exists", bound.Text)
			}
			out = append(out, bound)
		}
	}
	return out, b.List
}

// selector binds one complex selector. It gives one bound selector, or one per taxon
// where the target names no type and what stands left of it does: what is structure and
// what is context then depends on the taxon of the entity.
func (b *binder) selector(sel *ast.Selector, within *Taxon) []*Selector {
	parts := b.compounds(sel, within)
	last := len(parts) - 1
	if b.entity != nil && parts[last].Type != nil && parts[last].Type.Taxon != b.entity.Taxon {
		b.Errorf(diag.BadSelector, sel.At, "%s is of another taxon than %s, so what is in parentheses cannot test it", parts[last].Text, b.entity.Name).Hint =
			"a condition on what is active stands left of the selector, outside parentheses"
	}
	target := parts[last].Type
	switch {
	case target != nil:
		return []*Selector{b.split(sel, parts, target.Taxon)}
	case within != nil:
		return []*Selector{b.split(sel, parts, within)}
	case !slices.ContainsFunc(parts[:last], func(c *Compound) bool { return c.Type != nil }):
		return []*Selector{b.split(sel, parts, nil)}
	}
	var out []*Selector
	for _, t := range b.reg.taxa {
		out = append(out, b.split(sel, parts, t))
	}
	return out
}

func (b *binder) compounds(sel *ast.Selector, within *Taxon) []*Compound {
	parts := make([]*Compound, len(sel.Compounds))
	for i, c := range sel.Compounds {
		parts[i] = b.compound(c, within, i == len(parts)-1)
	}
	return parts
}

// split sorts the compounds left of the target into structure (of the target's own
// taxon, or of no named type) and context qualifiers.
func (b *binder) split(sel *ast.Selector, parts []*Compound, taxon *Taxon) *Selector {
	last := len(parts) - 1
	out := &Selector{Text: ast.FormatSelector(sel), At: sel.At, Taxon: taxon, Target: parts[last]}
	for i := last - 1; i >= 0; i-- {
		c, joint := parts[i], sel.Combinators[i+1]
		if c.Type != nil && c.Type.Taxon != taxon {
			out.Qualifiers = append(out.Qualifiers, c)
			continue
		}
		out.Structure = append(out.Structure, Link{Compound: c, Child: joint == ast.Child})
	}
	slices.Reverse(out.Qualifiers)
	for i, joint := range sel.Combinators {
		if i > 0 && (joint == ast.NextSib || joint == ast.LaterSib) {
			b.doubt = true
			b.Warnf(diag.SiblingSelector, sel.At, "a world has no sibling order, so %s never matches", out.Text)
			out.Never = true
			break
		}
	}
	if len(sel.Combinators) > 0 && sel.Combinators[0] != ast.None && !b.relative {
		b.Errorf(diag.BadSelector, sel.At, "%s begins with a combinator", out.Text)
		out.Never = true
	}
	for _, c := range parts {
		out.Never = out.Never || slices.ContainsFunc(c.Tests, func(t Test) bool { return t.Kind == TestNever })
	}
	out.Specificity = b.reg.specificity(parts, taxon)
	return out
}

// compound binds one compound; target says that it is the last of its selector. Where its
// type is unknown it gets a test that nothing fits.
func (b *binder) compound(c *ast.Compound, within *Taxon, target bool) *Compound {
	out := &Compound{At: c.At, Text: ast.FormatSelector(&ast.Selector{Compounds: []*ast.Compound{c}, Combinators: []ast.Combinator{ast.None}})}
	if b.parts += 1 + len(c.Simples); b.parts > maxParts {
		if !b.stopped {
			b.tooLarge(c.At, "more than %d parts of selectors", maxParts)
		}
		out.Tests = append(out.Tests, Test{Kind: TestNever})
		return out
	}
	if c.Parent {
		b.Errorf(diag.BadSelector, c.At, "& stands outside a nested rule")
		out.Tests = append(out.Tests, Test{Kind: TestNever})
	}
	if c.Type != "" && c.Type != "*" {
		name := c.Type
		if c.Taxon != "" {
			name = c.Taxon + "|" + c.Type
		}
		t, problem := b.reg.typeNamed(name, within)
		if problem != nil {
			problem.Span = c.TypeAt
			b.List = append(b.List, *problem)
			b.doubt = true
			out.Tests = append(out.Tests, Test{Kind: TestNever})
		}
		out.Type = t
	} else if c.Taxon != "" && c.Taxon != "*" {
		b.taxonWildcard(c, out)
	}
	// A compound in parentheses tests an entity whose type is written outside them.
	typ := out.Type
	if typ == nil && target && c.Type == "" && !b.relative {
		typ = b.entity
	}
	if typ != nil {
		within = typ.Taxon
	}
	for i := 0; i < len(c.Simples); i++ {
		s := c.Simples[i]
		switch s.Kind {
		case ast.ID:
			i += b.id(c, i, typ, out)
		case ast.Class:
			out.Tests = append(out.Tests, Test{Kind: TestClass, Value: s.Name})
		case ast.Attribute:
			out.Tests = append(out.Tests, b.attribute(s, typ))
		case ast.Pseudo:
			out.Tests = append(out.Tests, b.pseudo(s, typ, within))
		}
	}
	return out
}

// taxonWildcard binds "taxon|*": an entity of any type of that taxon.
func (b *binder) taxonWildcard(c *ast.Compound, out *Compound) {
	taxon := b.reg.Taxon(c.Taxon)
	if taxon == nil {
		b.doubt = true
		b.Warnf(diag.UnknownTaxon, c.TypeAt, "no taxon %s is registered", c.Taxon).Hint = diag.DidYouMean(c.Taxon, b.reg.taxonNames())
		out.Tests = append(out.Tests, Test{Kind: TestNever})
		return
	}
	any := Test{Kind: TestIs, Bare: true}
	for _, t := range b.reg.types {
		if t.Taxon == taxon {
			any.Selectors = append(any.Selectors, &Selector{Text: t.Name, At: c.At, Taxon: taxon, Target: &Compound{Type: t, At: c.At, Text: t.Name}})
		}
	}
	out.Tests = append(out.Tests, any)
}

// id binds the id at c.Simples[i] and returns how many simples after it belong to it:
// for types with dotted ids "#a.b" is one id.
func (b *binder) id(c *ast.Compound, i int, typ *EntityType, out *Compound) int {
	s := c.Simples[i]
	test := Test{Kind: TestID, Value: s.Name}
	if typ != nil && typ.PathAttr != "" {
		test.Value = strings.TrimSuffix(b.path(s.At, s.Name), "/")
	}
	if s.Quoted {
		out.Tests = append(out.Tests, test)
		return 0
	}
	dotted, n := s.Name, 0
	for _, next := range c.Simples[i+1:] {
		if next.Kind != ast.Class {
			break
		}
		dotted += "." + next.Name
		n++
	}
	switch {
	case n == 0:
	case typ != nil && typ.Dotted:
		test.Value = dotted
		out.Tests = append(out.Tests, test)
		return n
	case typ == nil:
		test.Dotted, test.Classes = dotted, n
	}
	out.Tests = append(out.Tests, test)
	return 0
}

// attribute binds an attribute test. A value compared with a typed attribute is brought
// to its canonical text, as the world's is.
func (b *binder) attribute(s ast.Simple, t *EntityType) Test {
	test := Test{Kind: TestAttr, Attr: s.Name, Op: s.Op, Value: s.Value, Fold: s.Flag == 'i'}
	var a *Attribute
	if t != nil {
		a = t.Attribute(s.Name)
	}
	if a == nil && s.Name != "name" {
		b.unknownAttribute(s, t)
	}
	if a != nil {
		test.Attr = a.Name
	}
	switch {
	case a == nil:
	case t.PathAttr == a.Name && s.Op == "^=":
		test.Value = b.path(s.At, s.Value)
	case t.PathAttr == a.Name && s.Op == "=":
		test.Value = strings.TrimSuffix(b.path(s.At, s.Value), "/")
	case s.Op == "=" && a.Type.Shape == One && a.Type.Kind != Boolean:
		v, problem := b.reg.TypeText(a.Type, s.Value)
		if problem != "" {
			b.doubt = true
			b.Warnf(diag.BadValue, s.At, "%s: %s, so the selector matches nothing", a.Name, problem)
			break
		}
		test.Value = v.Text
	}
	if test.Fold {
		test.Value = strings.ToLower(test.Value)
	}
	return test
}

// unknownAttribute reports an attribute that the type, or where that is nil every type,
// does not register.
func (b *binder) unknownAttribute(s ast.Simple, t *EntityType) {
	types := b.reg.types
	if t != nil {
		types = []*EntityType{t}
	}
	var names []string
	for _, t := range types {
		if t.Attribute(s.Name) != nil {
			return
		}
		for _, a := range t.Attributes {
			names = append(names, a.Name)
		}
	}
	// A world may give an entity attributes that no vocabulary knows, so only a name
	// that looks like a slip is a warning.
	if hint := diag.DidYouMean(s.Name, names); hint != "" {
		b.doubt = true
		b.Warnf(diag.UnknownAttribute, s.At, "%s", unregistered(t, s.Name)).Hint = hint
	} else {
		b.Notef(diag.UnknownAttribute, s.At, "%s", unregistered(t, s.Name))
	}
}

func unregistered(t *EntityType, attr string) string {
	if t == nil {
		return "no entity type registers an attribute " + attr
	}
	return t.Name + " registers no attribute " + attr
}

// path is a path as the world writes it. One that climbs can fit nothing and is an error:
// a restriction would be lost.
func (b *binder) path(at diag.Span, text string) string {
	switch {
	case hasDotDot(text):
		b.Errorf(diag.BadPath, at, "%s has a .. in it", diag.Quote(text))
	case strings.HasPrefix(text, "/"):
		b.Warnf(diag.BadPath, at, "%s begins at the host's root, where only what a recipe brings in from outside the project can lie", diag.Quote(text)).
			Hint = "paths of the project are relative to its root, without a leading slash"
	}
	return cleanPath(text)
}

func (b *binder) pseudo(s ast.Simple, t *EntityType, within *Taxon) Test {
	never := Test{Kind: TestNever}
	switch s.Name {
	case "not", "is", "where", "has":
		return b.selectorTest(s, t, within)
	case "glob":
		v, problem := b.reg.typeOne(ValueType{Kind: Glob}, s.Arg)
		switch {
		case problem != "":
			b.Errorf(diag.BadValue, s.At, ":glob: %s", problem)
			return never
		case t != nil && t.PathAttr == "":
			b.doubt = true
			b.Warnf(diag.BadSelector, s.At, "%s has no path for :glob to read, so the selector matches nothing", t.Name)
			return never
		}
		return Test{Kind: TestGlob, Value: v.Text}
	}
	p := b.reg.pseudos[s.Name]
	switch {
	case p == nil:
		b.doubt = true
		b.Warnf(diag.UnknownPseudo, s.At, "no vocabulary registers :%s, so the selector matches nothing", s.Name).Hint =
			diag.DidYouMean(s.Name, b.pseudoNames())
		return never
	case t != nil && len(p.Types) > 0 && !slices.Contains(p.Types, t.Name):
		b.doubt = true
		b.Warnf(diag.UnknownPseudo, s.At, ":%s is for %s, so the selector matches nothing", s.Name, joinWords(p.Types))
		return never
	}
	if p.Check != nil {
		if problem := p.Check(s.Arg); problem != "" {
			b.Errorf(diag.BadValue, s.At, ":%s: %s", s.Name, problem)
			return never
		}
	}
	return Test{Kind: TestPseudo, Pseudo: p, Value: s.Arg}
}

func (b *binder) pseudoNames() []string {
	out := make([]string, 0, len(b.reg.pseudos))
	for name := range b.reg.pseudos {
		out = append(out, name)
	}
	slices.Sort(out)
	return append(slices.Clone(corePseudos), out...)
}

// selectorTest binds :not, :is, :where and :has. A selector inside that needs a context
// is an error: what is in parentheses speaks of the entity alone.
func (b *binder) selectorTest(s ast.Simple, t *EntityType, within *Taxon) Test {
	kind := map[string]TestKind{"not": TestNot, "is": TestIs, "where": TestIs, "has": TestHas}[s.Name]
	out := Test{Kind: kind, Bare: s.Name == "where"}
	if len(s.Selectors) == 0 {
		b.Errorf(diag.BadSelector, s.At, ":%s needs a selector in parentheses", s.Name)
		return Test{Kind: TestNever}
	}
	inner := binder{reg: b.reg, relative: kind == TestHas, entity: t}
	for _, sel := range s.Selectors {
		for _, bound := range inner.selector(sel, within) {
			if len(bound.Qualifiers) > 0 {
				inner.Errorf(diag.BadSelector, sel.At, ":%s cannot hold %s, which is of another taxon", s.Name, bound.Qualifiers[0].Text)
			}
			out.Selectors = append(out.Selectors, bound)
			out.RelativeChild = append(out.RelativeChild, kind == TestHas && sel.Combinators[0] == ast.Child)
		}
		if kind == TestHas && (sel.Combinators[0] == ast.NextSib || sel.Combinators[0] == ast.LaterSib) {
			inner.doubt = true
			inner.Warnf(diag.SiblingSelector, sel.At, "a world has no sibling order, so this never matches")
			out.Kind = TestNever
		}
	}
	b.List = append(b.List, inner.List...)
	b.doubt = b.doubt || inner.doubt
	// Inside :not, a name or value that is wrong must not turn "nothing is excluded" into
	// "everything fits": the whole test then fits nothing.
	if kind == TestNot && inner.doubt {
		return Test{Kind: TestNever}
	}
	return out
}

// Mentions reports whether any selector of b tests the attribute.
func (b *Bound) Mentions(attr string) bool {
	for _, rule := range b.Rules {
		if rule.Selector.mentions(attr) {
			return true
		}
	}
	return false
}

func (s *Selector) mentions(attr string) bool {
	return s.testsAttribute(func(_ *Compound, name string) bool { return name == attr })
}

// TestsUnknown reports whether s tests an attribute that its type does not register and that
// is not among those known.
func (s *Selector) TestsUnknown(known map[string]bool) bool {
	return s.testsAttribute(func(c *Compound, name string) bool {
		return name != "name" && !known[name] && (c.Type == nil || c.Type.Attribute(name) == nil)
	})
}

// testsAttribute reports whether s tests an attribute for which is holds, in parentheses or
// outside.
func (s *Selector) testsAttribute(is func(in *Compound, name string) bool) bool {
	in := func(c *Compound) bool {
		return slices.ContainsFunc(c.Tests, func(t Test) bool {
			return t.Kind == TestAttr && is(c, t.Attr) || slices.ContainsFunc(t.Selectors, func(inner *Selector) bool { return inner.testsAttribute(is) })
		})
	}
	return in(s.Target) || slices.ContainsFunc(s.Qualifiers, in) ||
		slices.ContainsFunc(s.Structure, func(l Link) bool { return in(l.Compound) })
}
