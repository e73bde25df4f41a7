package main

import (
	"fmt"
	"strings"

	"umwelt"
	"umwelt/diag"
	"umwelt/explain"
)

// callAnswer is what the policy says of a call.
type callAnswer struct {
	Call    string     `json:"call"`
	Allowed bool       `json:"allowed"`
	Why     string     `json:"why,omitempty"` // why it is refused
	Steps   []callStep `json:"steps"`
}

// callStep is what one property says of it. The first that does not hold refuses it.
type callStep struct {
	Property string `json:"property"`
	Holds    bool   `json:"holds"`
	Pattern  string `json:"pattern,omitempty"` // the one that fits
	*place
	Why string `json:"why"`
}

// callAnswerOf judges a call of one entity, with the proofs of the properties that it was
// held against.
func callAnswerOf(p *umwelt.Policy, s umwelt.Subject, call string) (answer, error) {
	t := s.Entity.Type
	out := answer{Taxon: t.Taxon.Name, Type: t.Name, ID: utf8Text(s.Entity.ID), Properties: []explain.Property{}}
	proof, err := p.ExplainCall(s, call)
	if err != nil {
		return out, asProblem(err)
	}
	out.Call = &callAnswer{Call: utf8Text(call), Allowed: proof.Allowed, Why: utf8Text(proof.Why), Steps: []callStep{}}
	for _, step := range proof.Steps {
		out.Call.Steps = append(out.Call.Steps, callStep{step.Property, step.Holds, utf8Text(step.Pattern), placeOf(step.From), utf8Text(step.Why)})
		out.Properties = append(out.Properties, step.Proof.Document())
	}
	return out, nil
}

// text is the verdict for people, and what each property says.
func (c *callAnswer) text() string {
	var b strings.Builder
	verdict := "allowed"
	if !c.Allowed {
		verdict = "refused: " + diag.Escape(c.Why)
	}
	fmt.Fprintf(&b, "  call     %s\n  %s\n", diag.Escape(c.Call), verdict)
	for _, s := range c.Steps {
		mark := "holds"
		if !s.Holds {
			mark = "fails"
		}
		at := ""
		if s.place != nil {
			at = "  (" + s.place.String() + ")"
		}
		fmt.Fprintf(&b, "    %-8s %s%s\n", mark, diag.Escape(s.Why), at)
	}
	return b.String()
}
