package cascade

import (
	"errors"
	"fmt"
	"slices"

	"umwelt/diag"
	"umwelt/registry"
	"umwelt/world"
)

// Step is one step of a proof: After is what the property is once it is taken. The other
// fields are what it rests on, by Kind.
type Step struct {
	Kind     StepKind
	After    Effective
	Property *registry.Property // another property of the entity: of StepImplied, StepFollows and StepGate
	Premise  Effective          // what that property is
	Others   []Other            // of StepOthers and StepThrough
	Fixed    FixedStep          // of StepFixed
	Fact     Measured           // of StepGate: what the entity's attribute says
}

// StepKind is how a step makes a value.
type StepKind uint8

// The kinds of step. A proof begins with exactly one of the first five.
const (
	StepRules   StepKind = iota // what the rules resolve
	StepInitial                 // no rule sets it, so that the registered initial value holds
	StepImplied                 // no rule sets it, but one sets a property that implies it
	StepFollows                 // no rule sets it, so that it is what another property is
	StepOthers                  // no rule sets it, so that it is what other entities have
	StepThrough                 // other entities restrict it
	StepFixed                   // a fixed constraint clamps it
	StepGate                    // the entity's attribute is held against another property
)

func (k StepKind) String() string {
	return [...]string{"rules", "initial", "implied", "follows", "others", "through", "fixed", "gate"}[k]
}

// trace is the steps by which p of an entity that the selectors in set fit comes about.
func (r *Resolution) trace(ent *world.Entity, p *registry.Property, set []int32) []Step {
	if p.Entity != ent.Type {
		return nil
	}
	v := &evaluation{r: r, peers: &peers{r: r, phantoms: map[phantom][]*Effective{}}, traced: p}
	v.begin(&r.engine.types[ent.Type.Index], ent, set)
	v.final(p.Index)
	return v.steps
}

// Replay takes the steps of the proof again, from nothing but what the proof itself holds:
// it combines the candidates, looks at why each loser is said to have lost, and applies
// what follows. It is an error where a step does not come out as the proof says, or the
// last is not the proof's value.
func (p *Proof) Replay() error {
	switch {
	case p.Property.Entity != p.Entity.Type:
		return p.expect(&Effective{}, &p.Effective, "a property of another type")
	case len(p.Steps) == 0:
		return errors.New("cascade: a proof has no steps")
	}
	for i := range p.Losers {
		if l := &p.Losers[i]; !l.holds(p.Property) {
			return fmt.Errorf("cascade: %s did not lose by %s", l.Candidate.Declaration.At, l.Why)
		}
	}
	var e *Effective
	for i := range p.Steps {
		s := &p.Steps[i]
		if first := s.Kind <= StepOthers; first != (i == 0) {
			return fmt.Errorf("cascade: step %d of a proof is %s", i+1, s.Kind)
		}
		if e = s.Apply(p, e); e == nil {
			return fmt.Errorf("cascade: nothing follows from step %d of a proof, %s", i+1, s.Kind)
		}
		if err := p.expect(e, &s.After, fmt.Sprintf("step %d, %s", i+1, s.Kind)); err != nil {
			return err
		}
	}
	return p.expect(e, &p.Effective, "the last step")
}

// expect compares what was worked out with what the proof says.
func (p *Proof) expect(got, said *Effective, where string) error {
	same := func(a, b *registry.Value) bool { return a == b || a.Equal(b) }
	if got.Origin == said.Origin && same(got.Value, said.Value) && same(got.Resolved, said.Resolved) &&
		slices.EqualFunc(got.Sets, said.Sets, slices.Equal) {
		return nil
	}
	show := func(v *registry.Value) string {
		if v == nil {
			return "nothing"
		}
		return diag.Quote(printed(p.Property, v))
	}
	return fmt.Errorf("cascade: %s gives %s by %s where the proof has %s by %s", where, show(got.Value), got.Origin, show(said.Value), said.Origin)
}

// Apply is what the property of a proof is after a step; e is what it was before, nil for the
// first. The result is nil where the step is not what the rules of the language allow.
func (s *Step) Apply(p *Proof, e *Effective) *Effective {
	prop := p.Property
	switch s.Kind {
	case StepRules:
		return p.combine()
	case StepInitial:
		if p.combine() != nil {
			return nil
		}
		if prop.Initial == nil {
			return &Effective{}
		}
		return &Effective{Value: prop.Initial, Origin: Initial}
	case StepImplied:
		if s.Premise.Resolved == nil || !slices.Contains(prop.ImpliedBy, s.Property.Name) {
			return nil
		}
		return implied(prop, s.Property)
	case StepFollows:
		return follow(prop, s.Property, &s.Premise)
	case StepOthers:
		return followOthers(prop, s.Others)
	case StepThrough:
		return restrictByOthers(prop, e, s.Others)
	case StepFixed:
		return clampOne(prop, e, s.Fixed.Value, s.Fixed.Constraint)
	}
	return gate(prop, e, s.Property, &s.Premise, s.Fact)
}

// combine is what the candidates of the proof that apply make of the property; nil where
// there are none.
func (p *Proof) combine() *Effective {
	var all []Candidate
	add := func(c *Candidate) {
		all = append(all, *c)
	}
	for _, c := range p.Effective.From {
		add(c)
	}
	for _, l := range p.Losers {
		if l.Why != ContextNotHeld {
			add(l.Candidate)
		}
	}
	slices.SortStableFunc(all, func(a, b Candidate) int { return precedence(&a, &b) })
	r := &ranking{candidates: all}
	list := make([]int32, len(all))
	for i := range all {
		list[i] = int32(i)
		r.locks = r.locks || all[i].Declaration.Locked
	}
	return r.combine(p.Property, list, nil)
}

// holds reports whether a candidate lost for the reason that is given.
func (l *Loser) holds(p *registry.Property) bool {
	if l.Against == nil {
		return l.Why == ContextNotHeld
	}
	by, order := compareBy(l.Against, l.Candidate)
	switch l.Why {
	case NotImportant:
		return by == byImportance && order < 0
	case WeakerLayer:
		return by == byLayer && order < 0
	case LowerSpecificity:
		return by == bySpecificity && order < 0
	case Earlier:
		return by == byOrder && order < 0
	case CountedOnce:
		return p.Repeatable && l.Against.Declaration.Order == l.Candidate.Declaration.Order
	case LooserBound:
		if p.Comparison == registry.AtLeast {
			return l.Candidate.Value.Num <= l.Against.Value.Num
		}
		return p.Comparison == registry.AtMost && l.Candidate.Value.Num >= l.Against.Value.Num
	case LockedOut:
		return l.Against.Declaration.Locked && (&ranking{}).loosens(p, l.Candidate, l.Against)
	}
	return false
}
