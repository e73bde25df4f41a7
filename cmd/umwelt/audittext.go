package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"umwelt/diag"
	"umwelt/explain"
	"umwelt/world"
)

// text is the report for people on a terminal. In one place at most limit entities are
// named; 0 is all.
func (d *auditDocument) text(limit int) string {
	var b strings.Builder
	head := func(title string) { fmt.Fprintf(&b, "\n%s\n\n", title) }
	fmt.Fprintf(&b, "world    %s  %s\n", diag.Quote(d.World.Name), d.World.Digest)
	fmt.Fprintf(&b, "answers  %s\n", d.Answers)
	for _, s := range d.Sources {
		fmt.Fprintf(&b, "read     %s  %s\n", diag.Escape(s.File), s.Digest)
	}
	if len(d.Context) > 0 {
		fmt.Fprintf(&b, "active   %s\n", someRefs(d.Context, 0))
	}
	head("INVENTORY")
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, t := range d.Inventory {
		fmt.Fprintf(w, "  %s\t%d\t%s\n", t.Type, t.Number, t.origins())
	}
	// A builder takes everything.
	_ = w.Flush()
	if len(d.LeftOut) > 0 {
		fmt.Fprintf(&b, "  left out of the world: %s\n", someRefs(d.LeftOut, limit))
	}
	head("ANSWERS")
	for i, g := range d.Groups {
		fmt.Fprintf(&b, "  %s\n", someRefs(d.members[i], limit))
		for _, p := range g.Properties {
			fmt.Fprintf(&b, "    %s: %s  %s\n", p.Property, diag.Escape(p.Value), proofLine(&p))
		}
	}
	if d.Baseline != nil {
		head("SINCE THE BASELINE")
		b.WriteString(indent(d.Baseline.text(limit)))
	}
	head("LINT")
	for _, x := range d.Lint {
		if x.Silenced == "" {
			fmt.Fprintf(&b, "  %s: %s[%s]: %s\n", (*explain.Place)(x.place), x.Severity, x.Name, diag.Escape(x.Message))
		}
	}
	if n := d.silenced(); n == len(d.Lint) {
		b.WriteString("  nothing\n")
	} else if n > 0 {
		fmt.Fprintf(&b, "  %d silenced\n", n)
	}
	head("COVERAGE")
	for _, t := range d.Coverage.Targets {
		fmt.Fprintf(&b, "  %s\n", t.text())
	}
	return b.String()
}

func (d *auditDocument) silenced() int {
	n := 0
	for _, x := range d.Lint {
		if x.Silenced != "" {
			n++
		}
	}
	return n
}

func (t *auditTarget) text() string {
	switch {
	case t.Refused:
		return t.Target + ": it cannot write this policy"
	case t.Summary == "":
		return t.Target + ": everything is enforced"
	}
	return diag.Escape(t.Summary)
}

// origins are how the entities of a type came into the world, in the order of the origins.
func (t *auditType) origins() string {
	var out []string
	for o := world.Explicit; o <= world.Referenced; o++ {
		if n := t.Origins[o.String()]; n > 0 {
			out = append(out, fmt.Sprintf("%d %s", n, o))
		}
	}
	return strings.Join(out, ", ")
}

// proofLine is what an answer rests on, in one line.
func proofLine(p *explain.Property) string {
	var parts []string
	if p.Source == "initial" {
		return "[initial]"
	}
	if p.Because != "" {
		parts = append(parts, diag.Escape(p.Because))
	}
	for _, c := range p.From {
		parts = append(parts, c.Place.String()+" "+diag.Escape(c.Selector))
	}
	for _, f := range p.Fixed {
		if at := f.Place.String() + " fixed"; p.Source == "fixed" && !slices.Contains(parts, at) {
			parts = append(parts, at)
		}
	}
	return "[" + strings.Join(parts, "; ") + "]"
}

func indent(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line != "\n" {
			b.WriteString("  ")
		}
		b.WriteString(line)
	}
	return b.String()
}
