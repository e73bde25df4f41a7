package umwelt

import (
	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/explain"
	"umwelt/registry"
)

// Proof is why a property of an entity has its value: the candidates and why each won or
// lost, and the steps by which the value comes about. Replay takes the steps again.
type Proof struct {
	cascade.Proof

	of *cascade.Resolution
}

// Explain is the proof of Property's answer.
func (p *Policy) Explain(s Subject, property string) (Proof, error) {
	prop, err := p.propertyOf(s, property)
	if err != nil {
		return Proof{}, err
	}
	return p.prove(s, prop), nil
}

func (p *Policy) prove(s Subject, prop *registry.Property) Proof {
	if s.Exists() {
		return Proof{p.Resolution.Explain(s.Index, prop), p.Resolution}
	}
	return Proof{p.Resolution.ExplainEntity(s.Entity, prop), p.Resolution}
}

// Document is the proof as plain data, for JSON.
func (p Proof) Document() explain.Property { return explain.Of(p.of, p.Proof) }

// String is the proof as text for people, safe to print. A secret value is not in it.
func (p Proof) String() string { return p.Document().Text() }

// WhyNot says why the property does not have another value, and what would have to change
// for it to have it.
func (p Proof) WhyNot(value string) (*explain.WhyNot, error) {
	out, problem := explain.Not(p.of, p.Proof, value)
	if problem != "" {
		return nil, question(diag.BadValue, "", "%s", problem)
	}
	return out, nil
}
