package umwelt

import (
	"slices"
	"strings"

	"umwelt/ast"
	"umwelt/diag"
	"umwelt/parser"
	"umwelt/registry"
	"umwelt/world"
)

// Entity is an entity to add to a world.
type Entity struct {
	Type, ID   string
	Classes    []string
	Attributes []world.Attribute // Text as a world file would say it, or List
	// Parent is the entity that it lies in. Without one that is the nearest that its path
	// lies in, or the root.
	Parent Ref
}

// Addition is what a policy is extended with.
type Addition struct {
	Entities []Entity
	Views    []*Source // they count after those that there are; they may import nothing
}

// Extend is the policy with more entities and more rules. The policy itself does not change,
// and many may extend it at once. The answers are those of a policy loaded with everything.
//
// It takes time that depends on what is added: an answer is worked out when it is first
// asked for. Select, Type, In and Compile, and whatever else looks at the whole world, load
// the whole of it once on first use.
//
// Views that are added bring nothing into being by naming it, and cannot define
// vocabulary; the context stays what it was. The Diagnostics of the result are those of the
// policy and of what is added, but for warnings about locks that keep something out, which
// are not looked for.
func (p *Policy) Extend(a Addition) (*Policy, error) {
	if err := p.usable(); err != nil {
		return nil, err
	}
	var list diag.List
	entities := p.entities(a.Entities, &list)
	var rules *registry.Extension
	var views []*ast.View
	if len(a.Views) > 0 {
		for _, src := range a.Views {
			own := Source{Name: src.Name, Text: src.Text, Private: secretsOf(p.Registry).hides}
			v, l := parser.Parse(&own)
			views, list = append(views, v), append(list, l...)
		}
		if list.HasErrors() {
			return nil, &QuestionError{list}
		}
		rules = p.Resolution.Bound().Extend(registry.Options{}, views...)
		for _, e := range rules.Entities {
			list.Errorf(diag.BadEntity, e.At, "an added view cannot bring %s %s into being; add it as an entity", e.Type, diag.Quote(e.ID))
		}
	}
	if list.HasErrors() {
		return nil, &QuestionError{list}
	}
	r, more := p.Resolution.Extend(entities, rules)
	if list = append(list, more...); list.HasErrors() {
		return nil, &QuestionError{list}
	}
	out := *p
	out.Resolution = r
	out.Views = slices.Concat(p.Views, views)
	out.Bound = r.Bound()
	if len(entities) > 0 {
		out.World = nil
	}
	if r.Complete() == r {
		out.answerBy(r)
		out.World = r.World()
	}
	out.Diagnostics = slices.Concat(p.Diagnostics, list)
	return &out, nil
}

// entities reads what is to be added.
func (p *Policy) entities(given []Entity, list *diag.List) []world.Entity {
	var out []world.Entity
	fault := func(err error) {
		if q, ok := err.(*QuestionError); ok {
			*list = append(*list, q.Problems...)
		}
	}
	for _, g := range given {
		t, err := p.typeNamed(g.Type)
		if err != nil {
			fault(err)
			continue
		}
		e := world.Entity{Type: t, ID: g.ID, Classes: slices.Clone(g.Classes), Parent: world.NoParent}
		if g.ID == "" {
			list.Errorf(diag.BadEntity, diag.Span{}, "a %s has no id", t.Name)
			continue
		}
		for _, a := range world.Complete(t, g.ID, slices.Clone(g.Attributes)) {
			typed, problem := p.attribute(t, a)
			if problem != "" {
				list.Errorf(diag.BadEntity, diag.Span{}, "%s %s: the attribute %s: %s", t.Name, diag.Quote(g.ID), diag.Quote(a.Name), problem)
			}
			e.Attributes = append(e.Attributes, typed)
		}
		if slices.Contains(strings.Split(e.Path(), "/"), "..") {
			list.Errorf(diag.BadPath, diag.Span{}, "the path %s has a .. in it", diag.Quote(e.Path()))
		}
		for _, a := range t.Attributes {
			if a.Required && e.Attribute(a.Name) == nil {
				list.Errorf(diag.BadEntity, diag.Span{}, "%s %s lacks the attribute %s", t.Name, diag.Quote(g.ID), a.Name)
			}
		}
		if e.Parent, err = p.parentOf(&e, g.Parent, out); err != nil {
			fault(err)
		}
		out = append(out, e)
	}
	return out
}

// attribute brings a fact to its canonical text.
func (p *Policy) attribute(t *registry.EntityType, a world.Attribute) (world.Attribute, string) {
	registered := t.Attribute(a.Name)
	switch {
	case registered == nil:
		return world.Attribute{Name: a.Name, Text: a.Text, List: slices.Clone(a.List)}, ""
	case registered.Type.Shape != registry.One:
		members := a.List
		if members == nil {
			members = []string{a.Text}
		}
		v, problem := p.Registry.TypeList(registered.Type, members)
		if problem != "" {
			return a, problem
		}
		return world.Attribute{Name: registered.Name, Text: v.Text, List: v.List}, ""
	case a.List != nil:
		return a, "one value is wanted, not a list"
	}
	v, problem := p.Registry.TypeText(registered.Type, a.Text)
	if problem != "" {
		return a, problem
	}
	return world.Attribute{Name: registered.Name, Text: v.Text}, ""
}

// parentOf is the index of an entity's parent, among those that there are and those that
// are added before it.
func (p *Policy) parentOf(e *world.Entity, parent Ref, before []world.Entity) (int32, error) {
	if parent == (Ref{}) {
		if e.Path() == "" {
			return world.NoParent, nil
		}
		return p.holderAmong(e.Type, clean(e.Path()), before), nil
	}
	t, err := p.typeNamed(parent.Type)
	if err != nil {
		return world.NoParent, err
	}
	if i := p.Resolution.Find(t, parent.ID); i >= 0 {
		return int32(i), nil
	}
	for i := range before {
		if before[i].Type == t && before[i].ID == parent.ID {
			return int32(p.Resolution.Len() + i), nil
		}
	}
	return world.NoParent, question(diag.BadEntity, "", "there is no %s %s to be the parent of %s %s", t.Name, diag.Quote(parent.ID), e.Type.Name, diag.Quote(e.ID))
}

// Complete is the policy with the same answers where nothing is left to be worked out on
// first use: p itself, unless it was extended.
func (p *Policy) Complete() *Policy {
	if p.Resolution == nil || p.Resolution.Complete() == p.Resolution {
		return p
	}
	out := *p
	out.answerBy(p.Resolution.Complete())
	out.World, out.Bound = out.Resolution.World(), out.Resolution.Bound()
	return &out
}
