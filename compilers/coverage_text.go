package compilers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

	"umwelt/diag"
	"umwelt/registry"
)

// named is how many dropped restrictions the summary names before it counts the rest.
const named = 5

// Summary is one line that says what is not enforced, without a newline, or "" where
// everything is. Dropped restrictions are named.
func (c Coverage) Summary() string {
	count := map[Level]int{}
	total := 0
	for _, r := range c.Rules {
		for _, d := range r.Declarations {
			count[d.Level]++
			total++
		}
	}
	if count[Enforced] == total {
		return ""
	}
	var counts []string
	for _, l := range []Level{Dropped, Requested, Partial} {
		if count[l] > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", count[l], l))
		}
	}
	s := fmt.Sprintf("%s: of %d declarations %s", c.Target, total, strings.Join(counts, ", "))
	lost := c.DroppedRestrictions()
	if len(lost) == 0 {
		return s + "; no restriction is dropped"
	}
	for i, l := range lost {
		switch {
		case i == named:
			return fmt.Sprintf("%s and %d more", s, len(lost)-named)
		case i == 0:
			s += "; restrictions dropped: "
		default:
			s += ", "
		}
		reason, _, _ := strings.Cut(l.Why, ":")
		s += fmt.Sprintf("%s %s (%s)", place(l.Declaration.At), l.label(l.Rule), diag.Escape(reason))
	}
	return s
}

// label is a declaration as people know it: the rule's selector and the property.
func (d DeclarationCoverage) label(r *registry.Rule) string {
	return diag.Escape(r.Selector.Text + " { " + d.Declaration.Name + " }")
}

// place is file and line.
func place(at diag.Span) string {
	if !at.IsValid() {
		return "?"
	}
	return fmt.Sprintf("%s:%d", diag.Escape(at.File()), at.Start.Line)
}

// Text is the coverage as a table for people, one declaration a line.
func (c Coverage) Text() string {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "TARGET %s\n", c.Target)
	for _, r := range c.Rules {
		for _, d := range r.Declarations {
			level := d.Level.String()
			if d.Restricts && d.Level == Dropped {
				level += "!"
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", level, place(d.Declaration.At), d.label(r.Rule), diag.Escape(d.Why))
		}
	}
	// A buffer takes everything.
	_ = w.Flush()
	lines := strings.Split(b.String(), "\n")
	b.Reset()
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	b.WriteString(strings.Join(lines, "\n"))
	if len(c.DroppedRestrictions()) > 0 {
		b.WriteString("! a restriction: what is compiled lets more through than the view says\n")
	}
	for _, r := range c.Remarks {
		b.WriteString("remark: " + diag.Escape(r) + "\n")
	}
	return b.String()
}

// CoverageSchema names the shape of the JSON.
const CoverageSchema = "umwelt.coverage/1"

type jsonCoverage struct {
	Schema  string         `json:"schema"`
	Target  string         `json:"target"`
	Counts  map[string]int `json:"counts"`
	Rules   []jsonRule     `json:"rules"`
	Remarks []string       `json:"remarks"`
}

type jsonRule struct {
	jsonPlace
	Selector     string            `json:"selector"`
	Matched      int               `json:"matched"`
	Level        string            `json:"level"`
	Declarations []jsonDeclaration `json:"declarations"`
}

type jsonDeclaration struct {
	jsonPlace
	Property  string `json:"property"`
	Level     string `json:"level"`
	Why       string `json:"why,omitempty"`
	Restricts bool   `json:"restricts"`
}

type jsonPlace struct {
	File   string `json:"file"`
	Line   int32  `json:"line"`
	Column int32  `json:"column"`
}

func placeOf(at diag.Span) jsonPlace {
	return jsonPlace{File: diag.Escape(at.File()), Line: at.Start.Line, Column: at.Start.Column}
}

// JSON is the coverage as a document of the schema CoverageSchema. It holds no values, so
// no secret either.
func (c Coverage) JSON() []byte {
	doc := jsonCoverage{Schema: CoverageSchema, Target: c.Target, Counts: map[string]int{}, Rules: []jsonRule{}, Remarks: []string{}}
	for l := Dropped; l <= Enforced; l++ {
		doc.Counts[l.String()] = 0
	}
	for _, r := range c.Rules {
		j := jsonRule{jsonPlace: placeOf(r.Rule.At), Selector: r.Rule.Selector.Text, Matched: r.Matched, Level: r.Level().String(), Declarations: []jsonDeclaration{}}
		for _, d := range r.Declarations {
			doc.Counts[d.Level.String()]++
			j.Declarations = append(j.Declarations, jsonDeclaration{placeOf(d.Declaration.At), d.Declaration.Name, d.Level.String(), d.Why, d.Restricts})
		}
		doc.Rules = append(doc.Rules, j)
	}
	doc.Remarks = append(doc.Remarks, c.Remarks...)
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	// The document marshals without errors.
	_ = e.Encode(doc)
	return b.Bytes()
}
