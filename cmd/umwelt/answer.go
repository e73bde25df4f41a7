package main

import (
	"umwelt"
	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/registry"
	"umwelt/report"
	"umwelt/world"
)

// explainDocument is the proof of answers in JSON.
type explainDocument struct {
	Schema       string       `json:"schema"`
	Selector     string       `json:"selector"`
	Matched      int          `json:"matched"` // entities; Answers may hold fewer
	Hypothetical bool         `json:"hypothetical,omitempty"`
	Context      []entityRef  `json:"context"`
	Answers      []answer     `json:"answers"`
	Diagnostics  []diagnostic `json:"diagnostics"`
}

type entityRef struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}

type answer struct {
	Taxon      string   `json:"taxon"`
	Type       string   `json:"type"`
	ID         string   `json:"id"`
	Properties []proven `json:"properties"`
}

// proven is one property with its proof. A property without a value has source "none".
type proven struct {
	Property string      `json:"property"`
	Value    string      `json:"value"`
	Values   []string    `json:"values,omitempty"`
	Sets     [][]string  `json:"sets,omitempty"` // every set that must be met
	Source   string      `json:"source"`
	Cascade  *string     `json:"cascade,omitempty"` // what the rules resolved, where that is not the value
	Because  string      `json:"because,omitempty"`
	From     []candidate `json:"from,omitempty"` // the declarations that make what the rules resolved
	Losers   []loser     `json:"losers,omitempty"`
	Held     []held      `json:"held,omitempty"` // qualifiers, and who met them
	Fixed    []fixedStep `json:"fixed,omitempty"`
	WhyNot   *whyNot     `json:"why-not,omitempty"`
}

type candidate struct {
	*place
	Selector    string `json:"selector"`
	Value       string `json:"value"`
	Important   bool   `json:"important,omitempty"`
	Locked      bool   `json:"locked,omitempty"`
	Layer       string `json:"layer,omitempty"`
	Specificity string `json:"specificity"`
}

type loser struct {
	candidate
	Why     string `json:"why"` // importance, layer, specificity, order, comparison, locked or context
	Reason  string `json:"reason"`
	Against *place `json:"against,omitempty"`
}

type held struct {
	Qualifier string    `json:"qualifier"`
	By        entityRef `json:"by"`
}

type fixedStep struct {
	*place
	Selector string `json:"selector"`
	Value    string `json:"value"`
}

func contextOf(p *umwelt.Policy) []entityRef {
	out := []entityRef{}
	for _, i := range p.Resolution.Context() {
		out = append(out, refOf(&p.World.Entities[i]))
	}
	return out
}

func refOf(e *world.Entity) entityRef { return entityRef{e.Type.Name, utf8Text(e.ID)} }

// answerOf proves one property of an entity, or all of them.
func answerOf(p *umwelt.Policy, e pickedEntity, property, instead string) (answer, error) {
	t := e.entity.Type
	out := answer{Taxon: t.Taxon.Name, Type: t.Name, ID: utf8Text(e.entity.ID), Properties: []proven{}}
	for _, prop := range t.Properties {
		if property != "" && t.Property(property) != prop {
			continue
		}
		var proof cascade.Proof
		if e.index >= 0 {
			proof = p.Resolution.Explain(e.index, prop)
		} else {
			proof = p.Resolution.ExplainEntity(e.entity, prop)
		}
		got := provenOf(p, prop, proof)
		if instead != "" {
			w, err := whyNotOf(p, e, prop, proof, instead)
			if err != nil {
				return out, err
			}
			got.WhyNot = w
		}
		out.Properties = append(out.Properties, got)
	}
	return out, nil
}

func provenOf(p *umwelt.Policy, prop *registry.Property, proof cascade.Proof) proven {
	eff := proof.Effective
	out := proven{Property: prop.Name, Value: shown(prop, eff.Value), Source: eff.Origin.String()}
	if eff.Value != nil && !prop.Secret {
		out.Sets = eff.Sets
		for _, v := range eff.Value.List {
			out.Values = append(out.Values, utf8Text(v))
		}
	}
	if eff.Reason != nil {
		out.Because = utf8Text(eff.Reason.Text)
	}
	if eff.Resolved != nil && !prop.Secret && !eff.Resolved.Equal(eff.Value) {
		text := utf8Text(eff.Resolved.Text)
		out.Cascade = &text
	}
	for _, c := range eff.From {
		out.From = append(out.From, candidateOf(p, prop, c))
	}
	for _, l := range proof.Losers {
		j := loser{candidate: candidateOf(p, prop, l.Candidate), Why: l.Why.String(), Reason: reasonOf(p, l)}
		if l.Against != nil {
			j.Against = placeOf(l.Against.Declaration.At)
		}
		out.Losers = append(out.Losers, j)
	}
	for _, h := range proof.Context {
		if h.Entity >= 0 {
			out.Held = append(out.Held, held{utf8Text(h.Qualifier), refOf(&p.World.Entities[h.Entity])})
		}
	}
	for _, f := range proof.Fixed {
		out.Fixed = append(out.Fixed, fixedStep{placeOf(f.Constraint.At), utf8Text(f.Constraint.Selector.Text), shown(prop, f.Value)})
	}
	return out
}

// reasonOf says why a candidate lost. Specificities are named by taxon.
func reasonOf(p *umwelt.Policy, l cascade.Loser) string {
	if l.Why != cascade.LowerSpecificity || l.Against == nil {
		return utf8Text(l.Text)
	}
	key := func(c *cascade.Candidate) string { return specificityText(p.Registry, c.Rule.Selector.Specificity) }
	return "specificity " + key(l.Candidate) + " is below " + key(l.Against)
}

func candidateOf(p *umwelt.Policy, prop *registry.Property, c *cascade.Candidate) candidate {
	at := c.Declaration.At
	if !at.IsValid() {
		at = c.Rule.At
	}
	out := candidate{
		place: placeOf(at), Selector: utf8Text(c.Rule.Selector.Text), Value: shown(prop, c.Value),
		Important: c.Declaration.Important, Locked: c.Declaration.Locked,
		Specificity: specificityText(p.Registry, c.Rule.Selector.Specificity),
	}
	if c.Rule.Layer < len(p.Bound.Layers) {
		out.Layer = utf8Text(p.Bound.Layers[c.Rule.Layer])
	}
	return out
}

// shown is a value for people and JSON. A secret one is never shown.
func shown(p *registry.Property, v *registry.Value) string {
	switch {
	case v == nil:
		return ""
	case p.Secret:
		return report.Hidden
	}
	return utf8Text(v.Text)
}

// whyNot says why a property does not have a value. Holds says that it has it after all.
type whyNot struct {
	Value   string   `json:"value"`
	Holds   bool     `json:"holds"`
	Reasons []string `json:"reasons"`
}

// mostRules bounds how many rules that do not fit are named.
const mostRules = 5

func whyNotOf(p *umwelt.Policy, e pickedEntity, prop *registry.Property, proof cascade.Proof, text string) (*whyNot, error) {
	if prop.Secret {
		return nil, problem(diag.BadOption, "", "the value of %s is a secret, so it is not compared", prop.Name)
	}
	want, fault := p.Registry.TypeText(prop.Type, text)
	if fault != "" {
		return nil, problem(diag.BadValue, "", "--why-not: %s", fault)
	}
	out := &whyNot{Value: utf8Text(want.Text), Holds: want.Equal(proof.Effective.Value), Reasons: []string{}}
	if out.Holds {
		return out, nil
	}
	say := func(at diag.Span, text string) {
		out.Reasons = append(out.Reasons, at.String()+" "+diag.Escape(text))
	}
	if r := proof.Effective.Reason; r != nil && want.Equal(proof.Effective.Resolved) {
		out.Reasons = append(out.Reasons, "the rules ask for it, but "+diag.Escape(r.Text))
	}
	fits := map[*registry.Rule]bool{}
	for _, c := range proof.Effective.From {
		fits[c.Rule] = true
	}
	for _, l := range proof.Losers {
		fits[l.Candidate.Rule] = true
		if want.Equal(l.Candidate.Value) {
			say(l.Candidate.Declaration.At, "asks for it, but "+reasonOf(p, l))
		}
	}
	more := 0
	for _, rule := range p.Bound.Rules {
		d := setting(rule, prop, want)
		switch {
		case d == nil || fits[rule]:
		case len(out.Reasons) >= mostRules:
			more++
		default:
			say(d.At, "would set it, but "+rule.Selector.Text+" does not fit this "+e.entity.Type.Name)
		}
	}
	switch {
	case more > 0:
		out.Reasons = append(out.Reasons, plural(more, "more rule")+" would set it and do not fit")
	case len(out.Reasons) == 0:
		out.Reasons = append(out.Reasons, "no rule asks for it")
	}
	return out, nil
}

// setting is the declaration of a rule that sets the property to the value, or nil.
func setting(rule *registry.Rule, prop *registry.Property, want *registry.Value) *registry.Declaration {
	for _, d := range rule.Declarations {
		for _, t := range d.Typed {
			if t.Property == prop && want.Equal(t.Value) {
				return d
			}
		}
	}
	return nil
}
