package world

import (
	"slices"
	"strings"

	"umwelt/ast"
	"umwelt/diag"
	"umwelt/parser"
	"umwelt/registry"
)

// rule is one entry of "overrides", "fixed" or "exclude" with its selectors bound.
type rule struct {
	text   string
	at     diag.Span
	groups [][]*registry.Selector // one group per selector as written
	value  *node                  // nil for "exclude"
	fixed  []Fixed                // of "fixed": the constraints
	gone   bool                   // of "fixed": what fits leaves the world
}

// rules are those of a world, included ones first.
type rules struct {
	overrides, fixed, excludes []*rule
}

func (a *assembly) readRules() *rules {
	out := &rules{}
	for _, p := range a.overrides {
		out.overrides = a.readRule(out.overrides, p.key, p.keyAt, p.value)
	}
	before := len(a.List)
	for _, p := range a.fixed {
		out.fixed = a.readRule(out.fixed, p.key, p.keyAt, p.value)
	}
	for _, r := range out.overrides {
		a.checkOverride(r)
	}
	for _, r := range out.fixed {
		a.fix(r)
	}
	for _, n := range a.excludes {
		text, _ := n.scalar()
		out.excludes = a.readRule(out.excludes, text, n.at, nil)
	}
	a.refuseSlips(before, slices.Concat(out.fixed, out.excludes))
	return out
}

// refuseSlips makes errors of the warnings, from the given one on, that an attribute looks
// like a slip: the constraint would fit nothing. An attribute that the world itself knows is
// none.
func (a *assembly) refuseSlips(from int, rules []*rule) {
	known := map[string]bool{}
	for i := from; i < len(a.List); i++ {
		d := &a.List[i]
		if d.Code != diag.UnknownAttribute || d.Severity != diag.Warning {
			continue
		}
		if len(known) == 0 {
			for i := range a.entities {
				for _, x := range a.entities[i].Attributes {
					known[x.Name] = true
				}
			}
		}
		// The diagnostic stands where its key does.
		for _, r := range rules {
			if r.at == d.Span && slices.ContainsFunc(slices.Concat(r.groups...), func(s *registry.Selector) bool { return s.TestsUnknown(known) }) {
				d.Severity = diag.Error
				break
			}
		}
	}
}

// readRule binds a key. One that can never match is an error: it would silently drop a
// constraint.
func (a *assembly) readRule(to []*rule, text string, at diag.Span, value *node) []*rule {
	r := &rule{text: text, at: at, value: value}
	parsed, found := parser.ParseSelectors(&diag.Source{Name: at.File(), Text: []byte(text)})
	for _, sel := range parsed {
		group, more := a.o.Registry.BindSelectors([]*ast.Selector{sel})
		if !slices.ContainsFunc(group, func(s *registry.Selector) bool { return !s.Never }) {
			more = more.Strict()
			if !more.HasErrors() {
				more.Errorf(diag.BadSelector, at, "this can never match anything")
			}
		}
		found = append(found, more...)
		for _, s := range group {
			s.At = at
		}
		r.groups = append(r.groups, group)
	}
	for _, d := range found {
		// Places in the key's own text mean nothing to the reader of the file.
		d.Span, d.Related = at, nil
		d.Message = diag.Quote(text) + ": " + d.Message
		a.List = append(a.List, d)
	}
	return append(to, r)
}

// bare is the type of a selector that is nothing but a type, or nil.
func bare(s *registry.Selector) *registry.EntityType {
	if len(s.Structure) > 0 || len(s.Qualifiers) > 0 || len(s.Target.Tests) > 0 {
		return nil
	}
	return s.Target.Type
}

// bare reports whether a rule speaks of types alone, which says nothing about whether the
// world has any.
func (r *rule) bare() bool {
	for _, group := range r.groups {
		if !slices.ContainsFunc(group, func(s *registry.Selector) bool { return bare(s) != nil }) {
			return false
		}
	}
	return true
}

// matching are the entities that a rule's selectors fit, by index.
func (r *rule) matching(m *Matcher) []int {
	var out []int
	for i := range m.w.Entities {
		for _, group := range r.groups {
			if slices.ContainsFunc(group, func(s *registry.Selector) bool { return m.Matches(s, i) }) {
				out = append(out, i)
				break
			}
		}
	}
	return out
}

// adjust applies overrides, then exclusions and fixed constraints. Every override sees the
// world as it was merged; what follows sees the overridden one.
func (a *assembly) adjust(w *World, rs *rules) *World {
	matched := make([][]int, len(rs.overrides))
	m := NewMatcher(w)
	for i, r := range rs.overrides {
		if matched[i] = r.matching(m); len(matched[i]) == 0 {
			a.Warnf(diag.NoMatch, r.at, "the override %s fits no entity of this world", diag.Quote(r.text))
		}
	}
	for i, r := range rs.overrides {
		a.override(w, r, matched[i])
	}
	gone := make([]bool, len(w.Entities))
	m = NewMatcher(w) // the overrides may have changed what fits
	for _, r := range rs.excludes {
		hits := r.matching(m)
		if len(hits) == 0 {
			a.Warnf(diag.NoMatch, r.at, "the exclusion %s fits no entity of this world", diag.Quote(r.text))
		}
		a.take(w, r, hits, gone)
	}
	var fixed []Fixed
	for _, r := range rs.fixed {
		hits := r.matching(m)
		if len(hits) == 0 && !r.bare() {
			a.Warnf(diag.NoMatch, r.at, "the fixed constraint %s fits no entity of this world", diag.Quote(r.text))
		}
		if r.gone {
			a.take(w, r, hits, gone)
		}
		fixed = append(fixed, r.fixed...)
	}
	if a.HasErrors() {
		return nil
	}
	w.Fixed = fixed
	if !slices.Contains(gone, true) {
		return w
	}
	a.remove(w, gone)
	return a.make(fixed)
}

// take marks entities that leave the world.
func (a *assembly) take(w *World, r *rule, hits []int, gone []bool) {
	for _, i := range hits {
		if w.Entities[i].Type.Root {
			a.Errorf(diag.BadEntity, r.at, "%s takes out the %s itself", diag.Quote(r.text), w.Entities[i].Type.Name)
			return
		}
		gone[i] = true
	}
}

// remove drops the marked entities and all below them: what is left may not lose the
// ancestors that rules know it by.
func (a *assembly) remove(w *World, gone []bool) {
	var walk []int32
	clear := make([]bool, len(gone)) // known to stay
	for i := range w.Entities {
		walk = walk[:0]
		at := int32(i)
		for at != NoParent && !gone[at] && !clear[at] {
			walk = append(walk, at)
			at = w.Entities[at].Parent
		}
		lost := at != NoParent && gone[at]
		for _, j := range walk {
			gone[j], clear[j] = lost, !lost
		}
	}
	moved := make([]int32, len(gone))
	kept := make([]Entity, 0, len(gone))
	for i := range w.Entities {
		e := &w.Entities[i]
		if !gone[i] {
			moved[i] = int32(len(kept))
			kept = append(kept, *e)
		} else if e.Path() != "" && underRoot(e.Type, a.o.Registry) && !liesInGone(w, e, gone) {
			// It is still on the disk, where a directory that is granted whole would show it.
			a.withhold([]Entity{*e}, finder{})
		}
	}
	for i := range kept {
		if p := kept[i].Parent; p != NoParent {
			kept[i].Parent = moved[p]
		}
	}
	a.entities = kept
}

// liesInGone reports whether an entity lies on the disk in a parent that leaves the world.
func liesInGone(w *World, e *Entity, gone []bool) bool {
	if e.Parent == NoParent || !gone[e.Parent] {
		return false
	}
	in := w.Entities[e.Parent].Path()
	return in != "" && strings.HasPrefix(e.Path(), in+"/")
}

func (a *assembly) checkOverride(r *rule) {
	if r.value.kind != mapNode {
		a.Errorf(diag.YAML, r.value.at, "an override is a map with the keys classes and attributes, not %s", r.value.kind)
		return
	}
	checkKeys(r.value, "an override", []string{"classes", "attributes"}, &a.List)
}

// override sets facts of the matched entities. Classes are added: taking one away could
// lift a constraint that names it.
func (a *assembly) override(w *World, r *rule, hits []int) {
	var classes []string
	if n := r.value.get("classes"); n != nil {
		classes = textsOf(n, "classes", &a.List)
	}
	typed := map[*registry.EntityType][]Attribute{}
	for _, i := range hits {
		e := &w.Entities[i]
		attrs, ok := typed[e.Type]
		if !ok {
			attrs = a.overrideAttributes(e.Type, r.value.get("attributes"))
			typed[e.Type] = attrs
		}
		e.Classes = union(e.Classes, classes)
		if len(attrs) > 0 {
			e.Attributes = slices.Clone(e.Attributes)
			for _, x := range attrs {
				if old := e.Attribute(x.Name); old != nil {
					*old = x
				} else {
					e.Attributes = append(e.Attributes, x)
				}
			}
			e.Attributes = Complete(e.Type, e.ID, e.Attributes)
		}
		e.Provenance.Overridden = true
	}
}

func (a *assembly) overrideAttributes(t *registry.EntityType, n *node) []Attribute {
	var out []Attribute
	n.eachPair("attributes", &a.List, func(p pair) {
		x, ok := a.readAttribute(t, p)
		if ok && (x.Name == t.PathAttr || x.Name == t.GroupAttr) {
			a.Errorf(diag.BadEntity, p.keyAt, "an override cannot move a %s: %s says where it lies", t.Name, x.Name)
			return
		}
		if ok {
			out = append(out, x)
		}
	})
	return out
}

// fix reads a fixed constraint. It stays in force where it matches nothing now.
func (a *assembly) fix(r *rule) {
	if r.value.kind != mapNode {
		a.Errorf(diag.YAML, r.value.at, "a fixed constraint is a map of properties, not %s", r.value.kind)
		return
	}
	if n := r.value.get("available"); n != nil {
		r.gone = true
		if n.kind != scalarNode || !strings.EqualFold(n.text, "false") {
			a.Errorf(diag.BadValue, n.at, "available can only be false: what exists is available")
		}
	}
	for _, group := range r.groups {
		values := make([][]registry.TypedValue, len(group))
		for _, p := range r.value.pairs {
			if p.key != "available" {
				a.fixOne(group, values, p)
			}
		}
		for i, sel := range group {
			if len(values[i]) > 0 {
				r.fixed = append(r.fixed, Fixed{Selector: sel, Values: values[i], At: r.at})
			}
		}
	}
}

// fixOne types one property for every selector of a group (one selector as written, bound
// once per taxon that it may mean). It must fit at least one of them.
func (a *assembly) fixOne(group []*registry.Selector, values [][]registry.TypedValue, p pair) {
	var members []string
	if p.value.kind == listNode {
		members = textsOf(p.value, p.key, &a.List)
	} else if text, ok := p.value.scalar(); ok {
		members = []string{text}
	} else {
		a.Errorf(diag.BadValue, p.value.at, "%s needs a value", diag.Quote(p.key))
		return
	}
	var problems diag.List
	fits := false
	for i, sel := range group {
		typed, l := a.o.Registry.TypeFixed(sel, p.key, members, p.keyAt)
		if l.HasErrors() {
			problems = append(problems, l...)
			continue
		}
		fits = true
		values[i] = append(values[i], typed...)
		if slices.ContainsFunc(typed, func(v registry.TypedValue) bool { return v.Property.Secret }) {
			a.Errorf(diag.Secret, p.keyAt, "%s is never printed, so it cannot stand in a world file", diag.Quote(p.key)).Private = true
			return
		}
	}
	if !fits {
		a.List = append(a.List, problems[:min(1, len(problems))]...)
	}
}
