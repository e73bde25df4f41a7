package umwelt

import (
	"fmt"
	"strings"

	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/registry"
)

// Check reports whether a property of an entity admits what is wanted: an exact property
// has to be it, a bound has to leave room for it, the set that is allowed has to hold all of
// it, each set of which one is needed has to hold some of it, and one of the patterns has
// to fit it, or none of those that refuse. A property without a value admits anything as a
// bound, a set or a pattern, which then demand nothing, and nothing as an exact one.
//
// want is one value as a view would write it, or the members of a list. For patterns, each
// is a call, see Call, which asks all properties at once.
func (p *Policy) Check(s Subject, property string, want ...string) (bool, error) {
	problem, _, err := p.check(s, property, want)
	return problem == "" && err == nil, err
}

// Require is nil where Check holds, and else a *DeniedError.
func (p *Policy) Require(s Subject, property string, want ...string) error {
	problem, prop, err := p.check(s, property, want)
	switch {
	case err != nil:
		return err
	case problem == "":
		return nil
	}
	proof := p.prove(s, prop)
	return &DeniedError{
		Type: s.Entity.Type.Name, ID: s.Entity.ID, Property: prop.Name, Want: strings.Join(want, ", "),
		Answer: answerOf(s, prop, &proof.Effective), Why: problem, Proof: proof,
	}
}

// DeniedError says that the policy does not admit what was required.
type DeniedError struct {
	Type, ID string // of the entity
	Property string
	Want     string
	Answer   Answer // what the policy says instead
	Why      string // how that does not admit what was wanted, one plain sentence without a stop
	Pattern  string // of a call, the pattern that refuses it, where one does
	Proof    Proof
}

func (e *DeniedError) Error() string {
	text := fmt.Sprintf("%s %s: %s", e.Type, diag.Quote(e.ID), diag.Escape(e.Why))
	if e.Answer.From.IsValid() {
		text += ", by " + e.Answer.From.String()
	}
	if e.Answer.Because != "" {
		text += ", because " + diag.Escape(e.Answer.Because)
	}
	return text
}

// check says how a property does not admit what is wanted, "" where it does.
func (p *Policy) check(s Subject, property string, want []string) (problem string, prop *registry.Property, err error) {
	prop, err = p.propertyOf(s, property)
	if err != nil {
		return "", nil, err
	}
	if prop.Secret {
		return "", nil, question(diag.BadOption, "", "the value of %s is a secret, so it is not compared", prop.Name)
	}
	if prop.Comparison == registry.Pattern {
		if len(want) == 0 {
			return "", nil, question(diag.BadValue, "", "%s cannot be that: there is nothing to fit a pattern", prop.Name)
		}
		e := p.effective(s, prop)
		return cascade.BreaksPatterns(prop, &e, want), prop, nil
	}
	v, fault := p.wanted(prop, want)
	if fault != "" {
		return "", nil, question(diag.BadValue, "", "%s cannot be that: %s", prop.Name, fault)
	}
	fact := cascade.Measured{Members: append([]string{}, v.List...), Number: v.Num, IsNumber: true}
	if prop.Type.Shape == registry.One {
		fact.Members = []string{v.Text}
	}
	e := p.effective(s, prop)
	return cascade.Breaks(prop, &e, fact), prop, nil
}

// wanted is what is wanted as a value of the property.
func (p *Policy) wanted(prop *registry.Property, want []string) (*registry.Value, string) {
	switch {
	case prop.Type.Shape != registry.One:
		return p.Registry.TypeList(prop.Type, want)
	case len(want) != 1:
		return nil, "one value is wanted"
	}
	t := prop.Type
	t.HasRange = false // what is out of range is compared, and found to be too much
	return p.Registry.TypeText(t, want[0])
}
