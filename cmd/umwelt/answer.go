package main

import (
	"errors"
	"fmt"
	"strings"

	"umwelt"
	"umwelt/explain"
	"umwelt/registry"
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

type entityRef = explain.Ref

func refOf(e *world.Entity) entityRef { return explain.RefOf(e) }

type answer struct {
	Taxon      string             `json:"taxon"`
	Type       string             `json:"type"`
	ID         string             `json:"id"`
	Call       *callAnswer        `json:"call,omitempty"`
	Properties []explain.Property `json:"properties"` // with a call, those that it was held against
}

func contextOf(p *umwelt.Policy) []entityRef {
	out := []entityRef{}
	for _, i := range p.Resolution.Context() {
		out = append(out, refOf(p.Resolution.Entity(i)))
	}
	return out
}

// answerOf proves one property of an entity, or all of them.
func answerOf(p *umwelt.Policy, s umwelt.Subject, property, instead string) (answer, error) {
	t := s.Entity.Type
	out := answer{Taxon: t.Taxon.Name, Type: t.Name, ID: utf8Text(s.Entity.ID), Properties: []explain.Property{}}
	for _, prop := range t.Properties {
		if property != "" && t.Property(property) != prop {
			continue
		}
		proof, err := p.Explain(s, prop.Name)
		if err != nil {
			return out, asProblem(err)
		}
		got := proof.Document()
		if instead != "" {
			if got.WhyNot, err = proof.WhyNot(instead); err != nil {
				return out, asProblem(err)
			}
		}
		out.Properties = append(out.Properties, got)
	}
	return out, nil
}

// asProblem makes an error of the policy's one of the command line's.
func asProblem(err error) error {
	var q *umwelt.QuestionError
	if errors.As(err, &q) {
		return &problemsError{q.Problems}
	}
	return err
}

// shown is a value for people and JSON. A secret one is never shown.
func shown(p *registry.Property, v *registry.Value) string { return explain.Shown(p, v) }

// text is the proof for people.
func (d explainDocument) text() string {
	var b strings.Builder
	if len(d.Context) > 0 {
		parts := make([]string, len(d.Context))
		for i, r := range d.Context {
			parts[i] = r.String()
		}
		fmt.Fprintf(&b, "active: %s\n\n", strings.Join(parts, ", "))
	}
	if d.Hypothetical {
		b.WriteString("This does not exist. Were it made, with no class and nothing known but its path:\n\n")
	}
	for i, a := range d.Answers {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s\n", entityRef{Type: a.Type, ID: a.ID})
		if a.Call != nil {
			b.WriteString(a.Call.text())
			continue
		}
		for _, p := range a.Properties {
			for line := range strings.Lines(p.Text()) {
				b.WriteString("  " + line)
			}
		}
	}
	if n := d.Matched - len(d.Answers); n > 0 {
		fmt.Fprintf(&b, "\n%s not shown; --limit 0 shows all\n", plural(n, "more entity"))
	}
	return b.String()
}

// plural is "1 more rule", "2 more rules", "2 more entities".
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if base, ok := strings.CutSuffix(what, "y"); ok {
		return fmt.Sprintf("%d %sies", n, base)
	}
	return fmt.Sprintf("%d %ss", n, what)
}
