package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"umwelt"
	"umwelt/compilers"
	"umwelt/diag"
	"umwelt/registry"
)

const checkSchema = "umwelt.check/1"

// checkDocument is the table of rules and targets in JSON.
type checkDocument struct {
	Schema      string       `json:"schema"`
	Targets     []string     `json:"targets"`
	Refused     []string     `json:"refused,omitempty"` // targets that cannot write the policy
	Rules       []checkRule  `json:"rules"`
	Diagnostics []diagnostic `json:"diagnostics"`
}

type checkRule struct {
	*place
	Selector string      `json:"selector"`
	Matched  int         `json:"matched"`
	Coverage []checkCell `json:"coverage"` // of the targets that the rule concerns
}

type checkCell struct {
	Target       string             `json:"target"`
	Level        string             `json:"level"`
	Declarations []checkDeclaration `json:"declarations"`
}

type checkDeclaration struct {
	Property  string `json:"property"`
	Level     string `json:"level"`
	Why       string `json:"why,omitempty"`
	Restricts bool   `json:"restricts"`
}

func checkDocumentOf(p *umwelt.Policy, columns []column, list diag.List) checkDocument {
	doc := checkDocument{Schema: checkSchema, Targets: []string{}, Rules: []checkRule{}, Diagnostics: diagnostics(list)}
	for _, c := range columns {
		doc.Targets = append(doc.Targets, c.Target)
		if c.refused {
			doc.Refused = append(doc.Refused, c.Target)
		}
	}
	for _, rule := range p.Bound.Rules {
		r := checkRule{place: placeOf(rule.At), Selector: utf8Text(rule.Selector.Text), Matched: p.Resolution.Matched(rule), Coverage: []checkCell{}}
		for _, c := range columns {
			got := c.of[rule]
			if got == nil {
				continue
			}
			cell := checkCell{c.Target, got.Level().String(), []checkDeclaration{}}
			for _, d := range got.Declarations {
				cell.Declarations = append(cell.Declarations, checkDeclaration{d.Declaration.Name, d.Level.String(), utf8Text(d.Why), d.Restricts})
			}
			r.Coverage = append(r.Coverage, cell)
		}
		doc.Rules = append(doc.Rules, r)
	}
	return doc
}

// checkText is the table for people: a rule a line, a column a target.
func checkText(p *umwelt.Policy, columns []column) []byte {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "AT\tMATCHED")
	for _, c := range columns {
		fmt.Fprint(w, "\t"+c.Target)
	}
	fmt.Fprintln(w, "\tRULE")
	for _, rule := range p.Bound.Rules {
		fmt.Fprintf(w, "%s\t%d", rule.At, p.Resolution.Matched(rule))
		for _, c := range columns {
			fmt.Fprint(w, "\t"+c.word(rule))
		}
		fmt.Fprintf(w, "\t%s\n", diag.Escape(rule.Selector.Text))
		if len(columns) == 1 {
			columns[0].reasons(w, rule)
		}
	}
	// A builder takes everything.
	_ = w.Flush()
	for _, c := range columns {
		switch summary := c.Summary(); {
		case c.refused:
			fmt.Fprintf(&b, "%s: it cannot write this policy\n", c.Target)
		case summary != "":
			b.WriteString(summary + "\n")
		default:
			fmt.Fprintf(&b, "%s: everything is enforced\n", c.Target)
		}
	}
	return []byte(b.String())
}

// word is what stands in a rule's field of the table.
func (c column) word(rule *registry.Rule) string {
	got := c.of[rule]
	switch {
	case got == nil:
		return "-"
	case c.refused:
		return "refused"
	}
	word := got.Level().String()
	if slices.ContainsFunc(got.Declarations, func(d compilers.DeclarationCoverage) bool {
		return d.Restricts && d.Level == compilers.Dropped
	}) {
		word += "!"
	}
	return word
}

// reasons writes, below a rule, why each of its declarations is not simply enforced.
func (c column) reasons(w *tabwriter.Writer, rule *registry.Rule) {
	got := c.of[rule]
	if got == nil {
		return
	}
	for _, d := range got.Declarations {
		if d.Why != "" {
			fmt.Fprintf(w, "\t\t  %s\t%s: %s\n", d.Level, diag.Escape(d.Declaration.Name), diag.Escape(d.Why))
		}
	}
}
