package umwelt

import (
	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/registry"
)

// CallProof is what the policy says of one call, with everything that was asked.
type CallProof struct {
	Type, ID string // of the entity
	Call     string
	Allowed  bool
	Why      string // why it is not, one plain sentence without a stop; "" where it is
	Steps    []CallStep
}

// CallStep is what one property says of a call: the permissions first, then the patterns
// that refuse, then those that allow. The first that does not hold refuses the call.
type CallStep struct {
	Property string
	Holds    bool
	Pattern  string    // the pattern that fits, where one does and the property is no secret
	From     diag.Span // the declaration with the pattern, or that decides, where there is one
	Why      string    // one plain sentence without a stop
	Proof    Proof     // of the property's value
}

// Call is nil where the policy lets an entity be called in this way, and else a
// *DeniedError. The call is one text, such as a command or an address.
//
// Every permission of the entity has to be given. None of the patterns that refuse may fit
// the call or something in it, whatever allows it; of each property of patterns that allow,
// where it has a value, one has to fit it. Which is which follows from the direction in
// which a property is more restrictive. docs/views.md says when a pattern fits.
//
// Conditions that are no patterns, such as an approval that is to be asked for, are left
// to who makes the call.
func (p *Policy) Call(s Subject, call string) error {
	v, err := p.judge(s, call)
	if err != nil {
		return err
	}
	step := v.Decisive()
	if step == nil {
		return nil
	}
	proof := p.prove(s, step.Property)
	out := &DeniedError{
		Type: s.Entity.Type.Name, ID: s.Entity.ID, Property: step.Property.Name, Want: call,
		Answer: answerOf(s, step.Property, &proof.Effective), Why: step.Why, Pattern: step.Pattern, Proof: proof,
	}
	if step.From != nil {
		out.Answer.From = step.From.Declaration.At
	}
	return out
}

// ExplainCall says what the policy makes of a call, and why.
func (p *Policy) ExplainCall(s Subject, call string) (CallProof, error) {
	v, err := p.judge(s, call)
	if err != nil {
		return CallProof{}, err
	}
	out := CallProof{Type: s.Entity.Type.Name, ID: s.Entity.ID, Call: call, Allowed: v.Allowed()}
	if d := v.Decisive(); d != nil {
		out.Why = d.Why
	}
	for _, step := range v.Steps {
		j := CallStep{Property: step.Property.Name, Holds: step.Holds, Pattern: step.Pattern, Why: step.Why, Proof: p.prove(s, step.Property)}
		if step.From != nil {
			j.From = step.From.Declaration.At
		}
		out.Steps = append(out.Steps, j)
	}
	return out, nil
}

func (p *Policy) judge(s Subject, call string) (cascade.Verdict, error) {
	if err := p.asked(s); err != nil {
		return cascade.Verdict{}, err
	}
	t := s.Entity.Type
	if !cascade.Callable(t) {
		return cascade.Verdict{}, question(diag.BadValue, "", "%s %s is nothing that is called: no property of it has patterns for calls", t.Name, diag.Quote(s.Entity.ID))
	}
	return cascade.Judge(t, func(prop *registry.Property) *cascade.Effective {
		e := p.effective(s, prop)
		return &e
	}, registry.ReadCall(call)), nil
}
