package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"umwelt"
	"umwelt/diag"
	"umwelt/lint"
	"umwelt/lint/all"
)

const lintSchema = "umwelt.lint/1"

// lintDocument are findings in JSON.
type lintDocument struct {
	Schema      string        `json:"schema"`
	Counts      lintCounts    `json:"counts"`
	Findings    []lintFinding `json:"findings"`
	Diagnostics []diagnostic  `json:"diagnostics"`
}

// lintFinding is one finding. Silenced is the reason that a comment gives; Fixable says
// that --fix mends it.
type lintFinding struct {
	Name     string        `json:"name"`
	Severity diag.Severity `json:"severity"`
	*place
	Message  string        `json:"message"`
	Hint     string        `json:"hint,omitempty"`
	Related  []lintRelated `json:"related,omitempty"`
	Fixable  bool          `json:"fixable,omitempty"`
	Silenced string        `json:"silenced,omitempty"`
}

type lintRelated struct {
	*place
	Message string `json:"message"`
}

func lintDocumentOf(p *umwelt.Policy, found []lint.Finding) lintDocument {
	doc := lintDocument{Schema: lintSchema, Counts: countFindings(found), Findings: []lintFinding{}, Diagnostics: diagnostics(p.Diagnostics)}
	for _, x := range found {
		j := lintFinding{
			Name: string(x.Code), Severity: x.Severity, place: placeOf(x.Span), Message: utf8Text(x.Message), Hint: utf8Text(x.Hint),
			Fixable: x.Fix != nil, Silenced: utf8Text(x.Silenced),
		}
		for _, r := range x.Related {
			j.Related = append(j.Related, lintRelated{placeOf(r.Span), utf8Text(r.Message)})
		}
		doc.Findings = append(doc.Findings, j)
	}
	return doc
}

// lintList are the detectors in JSON.
type lintList struct {
	Schema    string         `json:"schema"`
	Detectors []lintDetector `json:"detectors"`
}

type lintDetector struct {
	Name     string        `json:"name"`
	Severity diag.Severity `json:"severity"` // the gravest that it reports
	Summary  string        `json:"summary"`
}

func (l *linter) writeList(std *streams) error {
	if l.format == "sarif" {
		return problem(diag.BadOption, "", "--list is text or JSON")
	}
	doc := lintList{Schema: "umwelt.lint-detectors/1"}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tGRAVEST\tWHAT")
	for _, d := range all.Detectors() {
		doc.Detectors = append(doc.Detectors, lintDetector{d.Name, d.Severity, d.Summary})
		fmt.Fprintf(w, "%s\t%s\t%s\n", d.Name, d.Severity, d.Summary)
	}
	// A builder takes everything.
	_ = w.Flush()
	if l.format == "json" {
		return std.writeJSON(l.output, doc)
	}
	return std.write(l.output, []byte(b.String()))
}
