package main

import (
	"bytes"
	"fmt"
	"strings"

	"umwelt/diag"
	"umwelt/sandbox/verify"
)

// verifyJSON is the document umwelt.verify/1.
type verifyJSON struct {
	Schema      string         `json:"schema"`
	Target      string         `json:"target"`
	Version     string         `json:"version"`
	Paths       int            `json:"paths"`
	Of          int            `json:"of"`
	Variables   int            `json:"variables"`
	Endpoints   int            `json:"endpoints"`
	Limits      int            `json:"limits"`
	Probes      int            `json:"probes"`
	ByKind      []verifyCount  `json:"by_kind"`
	FalseAllows []verifyResult `json:"false_allows"`
	FalseDenies []verifyResult `json:"false_denies"`
	Remarks     []string       `json:"remarks"`
	Coverage    []verifyLess   `json:"declared"`
}

type verifyCount struct {
	Do     string `json:"do"`
	Probes int    `json:"probes"`
}

type verifyResult struct {
	Do     string `json:"do"`
	Path   string `json:"path"`
	Policy string `json:"policy"`
	Got    string `json:"got"`
}

// verifyLess is a declaration that the target says it does not carry in full.
type verifyLess struct {
	*place
	Selector string `json:"selector"`
	Property string `json:"property"`
	Level    string `json:"level"`
	Why      string `json:"why"`
}

func verifyDocument(r *verify.Report) verifyJSON {
	doc := verifyJSON{
		Schema: "umwelt.verify/1", Target: r.Target, Version: utf8Text(r.Version), Paths: r.Paths, Of: r.Of, Variables: r.Variables, Endpoints: r.Endpoints,
		Limits: r.Limits, Probes: r.Probes, ByKind: []verifyCount{}, FalseAllows: findings(r.FalseAllows), FalseDenies: findings(r.FalseDenies),
		Remarks: []string{}, Coverage: []verifyLess{},
	}
	for _, k := range r.Kinds {
		doc.ByKind = append(doc.ByKind, verifyCount{k.Do, k.N})
	}
	for _, remark := range r.Remarks {
		doc.Remarks = append(doc.Remarks, utf8Text(remark))
	}
	for _, rule := range r.Coverage.Rules {
		for _, d := range rule.Declarations {
			if d.Why != "" && d.Level.String() != "enforced" {
				doc.Coverage = append(doc.Coverage, verifyLess{placeOf(d.Declaration.At), utf8Text(rule.Rule.Selector.Text), d.Declaration.Name, d.Level.String(), utf8Text(d.Why)})
			}
		}
	}
	return doc
}

func findings(list []verify.Finding) []verifyResult {
	out := []verifyResult{}
	for _, f := range list {
		out = append(out, verifyResult{f.Do, utf8Text(f.Path), utf8Text(f.Policy), utf8Text(f.Got)})
	}
	return out
}

// mostFindings is how many findings of a kind the text shows before it counts the rest.
const mostFindings = 50

func verifyText(r *verify.Report) []byte {
	var b bytes.Buffer
	show := func(what string, list []verify.Finding) {
		for i, f := range list {
			if i == mostFindings {
				fmt.Fprintf(&b, "%s: and %d more\n", what, len(list)-mostFindings)
				return
			}
			fmt.Fprintf(&b, "%s: %s %s: %s (%s)\n", what, f.Do, diag.Quote(f.Path), diag.Escape(f.Got), diag.Escape(f.Policy))
		}
	}
	show("false allow", r.FalseAllows)
	show("false deny", r.FalseDenies)
	for _, remark := range r.Remarks {
		fmt.Fprintf(&b, "remark: %s\n", diag.Escape(remark))
	}
	fmt.Fprintf(&b, "%s: %s, %s, %s and %s\n", r.Target, countOf(r.Paths, r.Of, "path"), plural(r.Variables, "variable"), plural(r.Endpoints, "endpoint"), plural(r.Limits, "limit"))
	var kinds []string
	for _, k := range r.Kinds {
		kinds = append(kinds, fmt.Sprintf("%d %s", k.N, k.Do))
	}
	fmt.Fprintf(&b, "%d probes: %s\n", r.Probes, strings.Join(kinds, ", "))
	fmt.Fprintf(&b, "%s, %s\n", plural(len(r.FalseAllows), "false allow"), plural(len(r.FalseDenies), "false deny"))
	return b.Bytes()
}

// countOf is how many there are, and of how many where those are more.
func countOf(n, of int, what string) string {
	if n == of {
		return plural(n, what)
	}
	return fmt.Sprintf("%d of %s", n, plural(of, what))
}
