// Package explain turns the proof of an answer into a document: JSON for tools, and text
// for people. Texts in it are UTF-8 whatever the names of files are; see UTF8.
package explain

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/registry"
	"umwelt/report"
	"umwelt/world"
)

// Property is one property with its proof. One without a value has source "none".
type Property struct {
	Property string      `json:"property"`
	Value    string      `json:"value"`
	Values   []string    `json:"values,omitempty"`
	Sets     [][]string  `json:"sets,omitempty"` // every set that must be met
	Source   string      `json:"source"`
	Cascade  *string     `json:"cascade,omitempty"` // what the rules resolved, where that is not the value
	Because  string      `json:"because,omitempty"`
	From     []Candidate `json:"from,omitempty"` // the declarations that make what the rules resolved
	Losers   []Loser     `json:"losers,omitempty"`
	Held     []Held      `json:"held,omitempty"` // qualifiers, and who met them
	Fixed    []Fixed     `json:"fixed,omitempty"`
	WhyNot   *WhyNot     `json:"why-not,omitempty"`
}

// Candidate is one declaration of one rule.
type Candidate struct {
	*Place
	Selector    string `json:"selector"`
	Value       string `json:"value"`
	Important   bool   `json:"important,omitempty"`
	Locked      bool   `json:"locked,omitempty"`
	Layer       string `json:"layer,omitempty"`
	Specificity string `json:"specificity"`
}

// Loser is a declaration that does not make the value. Why is importance, layer,
// specificity, order, comparison, locked, context or once.
type Loser struct {
	Candidate
	Why     string `json:"why"`
	Reason  string `json:"reason"`
	Against *Place `json:"against,omitempty"`
}

// Held is a context qualifier and the active entity that met it.
type Held struct {
	Qualifier string `json:"qualifier"`
	By        Ref    `json:"by"`
}

// Fixed is a fixed constraint on the property.
type Fixed struct {
	*Place
	Selector string `json:"selector"`
	Value    string `json:"value"`
}

// Ref names an entity.
type Ref struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}

// RefOf names an entity.
func RefOf(e *world.Entity) Ref { return Ref{e.Type.Name, UTF8(e.ID)} }

// String is safe to print.
func (r Ref) String() string { return diag.Escape(r.Type) + " " + diag.Quote(r.ID) }

// Place is a position in a file.
type Place struct {
	File   string `json:"file"`
	Line   int32  `json:"line"`
	Column int32  `json:"column"`
}

// PlaceOf is where a span begins; nil where it names no file.
func PlaceOf(at diag.Span) *Place {
	if at.Source == nil {
		return nil
	}
	return &Place{UTF8(at.File()), at.Start.Line, at.Start.Column}
}

// String is "file:line:column", safe to print.
func (p *Place) String() string {
	if p == nil {
		return "(no file)"
	}
	return fmt.Sprintf("%s:%d:%d", diag.Escape(p.File), p.Line, p.Column)
}

// Of is the document of a proof that r gave.
func Of(r *cascade.Resolution, proof cascade.Proof) Property {
	prop, eff := proof.Property, proof.Effective
	out := Property{Property: prop.Name, Value: Shown(prop, eff.Value), Source: eff.Origin.String()}
	if eff.Value != nil && !prop.Secret {
		out.Sets = eff.Sets
		for _, v := range eff.Value.List {
			out.Values = append(out.Values, UTF8(v))
		}
	}
	if eff.Reason != nil {
		out.Because = UTF8(eff.Reason.Text)
	}
	if eff.Resolved != nil && !prop.Secret && !eff.Resolved.Equal(eff.Value) {
		text := UTF8(eff.Resolved.Text)
		out.Cascade = &text
	}
	for _, c := range eff.From {
		out.From = append(out.From, candidateOf(r, prop, c))
	}
	for _, l := range proof.Losers {
		j := Loser{Candidate: candidateOf(r, prop, l.Candidate), Why: l.Why.String(), Reason: reasonOf(r, l)}
		if l.Against != nil {
			j.Against = PlaceOf(l.Against.Declaration.At)
		}
		out.Losers = append(out.Losers, j)
	}
	for _, h := range proof.Context {
		if h.Entity >= 0 {
			out.Held = append(out.Held, Held{UTF8(h.Qualifier), RefOf(r.Entity(h.Entity))})
		}
	}
	for _, f := range proof.Fixed {
		out.Fixed = append(out.Fixed, Fixed{PlaceOf(f.Constraint.At), UTF8(f.Constraint.Selector.Text), Shown(prop, f.Value)})
	}
	return out
}

// reasonOf says why a candidate lost. Specificities are named by taxon.
func reasonOf(r *cascade.Resolution, l cascade.Loser) string {
	if l.Why != cascade.LowerSpecificity || l.Against == nil {
		return UTF8(l.Text)
	}
	key := func(c *cascade.Candidate) string { return Specificity(r.Registry(), c.Rule.Selector.Specificity) }
	return "specificity " + key(l.Candidate) + " is below " + key(l.Against)
}

func candidateOf(r *cascade.Resolution, prop *registry.Property, c *cascade.Candidate) Candidate {
	out := Candidate{
		Place: PlaceOf(placeIn(c)), Selector: UTF8(c.Rule.Selector.Text), Value: Shown(prop, c.Value),
		Important: c.Declaration.Important, Locked: c.Declaration.Locked,
		Specificity: Specificity(r.Registry(), c.Rule.Selector.Specificity),
	}
	if layers := r.Bound().Layers; c.Rule.Layer < len(layers) {
		out.Layer = UTF8(layers[c.Rule.Layer])
	}
	return out
}

// placeIn is where a declaration stands, or at least its rule.
func placeIn(c *cascade.Candidate) diag.Span {
	if at := c.Declaration.At; at.IsValid() {
		return at
	}
	return c.Rule.At
}

// Specificity is a key with the taxa named.
func Specificity(reg *registry.Registry, s registry.Specificity) string {
	parts := []string{fmt.Sprintf("axes %d", s.Axes)}
	for i, t := range s.Triples {
		if t == (registry.Triple{}) {
			continue
		}
		name := "*"
		if i < len(reg.Taxa()) {
			name = reg.Taxa()[i].Name
		}
		parts = append(parts, fmt.Sprintf("%s (%d,%d,%d)", name, t[0], t[1], t[2]))
	}
	return strings.Join(parts, "; ")
}

// Shown is a value for people and JSON. A secret one is never shown.
func Shown(p *registry.Property, v *registry.Value) string {
	switch {
	case v == nil:
		return ""
	case p.Secret:
		return report.Hidden
	}
	return UTF8(v.Text)
}

// UTF8 is s with each byte that is not UTF-8 as \xHH.
func UTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 {
			fmt.Fprintf(&b, `\x%02x`, s[0])
		} else {
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}
