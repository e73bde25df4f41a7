package umwelt

import (
	"slices"

	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/registry"
	"umwelt/report"
)

// Answer is what the policy says of one property of one entity. Where the property is a
// secret, its value is not told; Policy.Resolution has it.
type Answer struct {
	Type, ID string
	Exists   bool // false: this is what would hold if the entity were made
	Property string
	Value    string     // canonical text, "" where Source is "none"
	Number   float64    // of a number, a size in bytes, or a duration in nanoseconds
	Values   []string   // the members of a list or set
	Sets     [][]string // where several sets must each be met: all of them
	Source   string     // "cascade", "fixed", "initial", "derived" or "none"
	Because  string     // why, where the rules alone did not decide
	From     diag.Span  // the winning declaration, where there is one
	Secret   bool
}

// Bool reports whether the value is the boolean true.
func (a Answer) Bool() bool { return a.Value == "true" && !a.Secret }

func answerOf(s Subject, p *registry.Property, e *cascade.Effective) Answer {
	out := Answer{
		Type: s.Entity.Type.Name, ID: s.Entity.ID, Exists: s.Exists(), Property: p.Name, Source: e.Origin.String(), Secret: p.Secret,
	}
	if e.Reason != nil {
		out.Because = e.Reason.Text
	}
	if e.Winner != nil {
		out.From = e.Winner.Declaration.At
	}
	switch {
	case e.Value == nil:
	case p.Secret:
		out.Value = report.Hidden
	default:
		out.Value, out.Number = e.Value.Text, e.Value.Num
		out.Values, out.Sets = slices.Clone(e.Value.List), e.Sets
	}
	return out
}

// Property is the answer for one property of an entity.
func (p *Policy) Property(s Subject, name string) (Answer, error) {
	prop, err := p.propertyOf(s, name)
	if err != nil {
		return Answer{}, err
	}
	e := p.effective(s, prop)
	return answerOf(s, prop, &e), nil
}

// Properties are the answers for every property that an entity's type has, in vocabulary
// order.
func (p *Policy) Properties(s Subject) ([]Answer, error) {
	if err := p.asked(s); err != nil {
		return nil, err
	}
	list := s.Entity.Type.Properties
	out := make([]Answer, len(list))
	if s.Exists() {
		for i, prop := range list {
			e := p.Resolution.Get(s.Index, prop)
			out[i] = answerOf(s, prop, &e)
		}
		return out, nil
	}
	for i, e := range p.Resolution.ResolveEntity(s.Entity) {
		out[i] = answerOf(s, list[i], e)
	}
	return out, nil
}

// Type is the answers for every property of every entity of a type, in order of the
// entities' ids and then of the vocabulary.
func (p *Policy) Type(name string) ([]Answer, error) {
	if err := p.usable(); err != nil {
		return nil, err
	}
	t, err := p.typeNamed(name)
	if err != nil {
		return nil, err
	}
	r := p.Resolution.Complete()
	var out []Answer
	for _, i := range r.Order() {
		s := Subject{r.Entity(int(i)), int(i)}
		if s.Entity.Type != t {
			continue
		}
		for _, prop := range t.Properties {
			e := r.Get(s.Index, prop)
			out = append(out, answerOf(s, prop, &e))
		}
	}
	return out, nil
}

// In is the policy while other entities are active: those that are named, and of the types
// of which only one can be active the only one there is.
func (p *Policy) In(context ...Ref) (*Policy, error) {
	if err := p.usable(); err != nil {
		return nil, err
	}
	r, list := p.Resolution.Engine().Resolve(context)
	if list.HasErrors() {
		return nil, &QuestionError{list}
	}
	out := *p
	out.answerBy(r)
	out.World = r.World()
	return &out, nil
}

// asked refuses a subject that the policy cannot answer for.
func (p *Policy) asked(s Subject) error {
	if err := p.usable(); err != nil {
		return err
	}
	switch {
	case s.Entity == nil:
		return question(diag.UnknownEntity, "Find and Select make subjects", "the question is about nothing")
	case s.Index >= p.Resolution.Len(), s.Exists() && p.Resolution.Entity(s.Index).ID != s.Entity.ID,
		s.Entity.Type.Index >= len(p.Registry.Types()) || p.Registry.Types()[s.Entity.Type.Index] != s.Entity.Type:
		return question(diag.UnknownEntity, "", "%s %s comes from another policy", s.Entity.Type.Name, diag.Quote(s.Entity.ID))
	}
	return nil
}

func (p *Policy) propertyOf(s Subject, name string) (*registry.Property, error) {
	if err := p.asked(s); err != nil {
		return nil, err
	}
	if prop := s.Entity.Type.Property(name); prop != nil {
		return prop, nil
	}
	var names []string
	for _, prop := range s.Entity.Type.Properties {
		names = append(names, prop.Name)
	}
	return nil, question(diag.UnknownProperty, diag.DidYouMean(name, names), "%s has no property %s", s.Entity.Type.Name, diag.Quote(name))
}

func (p *Policy) effective(s Subject, prop *registry.Property) cascade.Effective {
	if s.Exists() {
		return p.Resolution.Get(s.Index, prop)
	}
	return *p.Resolution.ResolveEntity(s.Entity)[prop.Index]
}
