package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"umwelt/diag"
	"umwelt/policydiff"
)

// text is the comparison for people. Of each group, at most limit entities are named; 0 is
// all of them.
func (d viewsDiff) text(limit int) string {
	var b strings.Builder
	for _, g := range d.Groups {
		d.group(&b, g, limit)
	}
	if len(d.Groups) > 0 {
		b.WriteByte('\n')
	}
	b.WriteString(d.Summary())
	return b.String()
}

func (d viewsDiff) group(b *strings.Builder, g diffGroup, limit int) {
	if g.Property == "" {
		fmt.Fprintf(b, "%s: %s: %s → %s\n", g.Kind, g.Type, existence(g.Old), existence(g.New))
	} else {
		fmt.Fprintf(b, "%s: %s.%s: %s → %s\n", g.Kind, g.Type, g.Property, g.Old.value(), g.New.value())
	}
	what := "of   "
	if g.Later {
		what = "of a " + g.Type + " made later in"
	}
	fmt.Fprintf(b, "    %s %s\n", what, someRefs(g.Entities, limit))
	if len(g.Contexts) < len(d.Contexts) {
		var contexts []string
		for _, i := range g.Contexts {
			contexts = append(contexts, d.Contexts[i].String())
		}
		fmt.Fprintf(b, "    when  %s\n", someTexts(contexts, limit))
	}
	if g.Property != "" {
		g.Old.because(b, "old", limit)
		g.New.because(b, "new", limit)
	}
}

func existence(a diffAnswer) string {
	if a.Absent {
		return "not there"
	}
	return "there"
}

// value is the answer in a few words.
func (a diffAnswer) value() string {
	var out []string
	for _, v := range a.Values {
		switch {
		case v == nil:
			out = append(out, "(no value)")
		case *v == "":
			out = append(out, `""`)
		default:
			out = append(out, diag.Escape(*v))
		}
	}
	if len(out) > 1 {
		return strings.Join(out, " or ") + ", by name"
	}
	return strings.Join(out, "")
}

// because says what the answer rests on.
func (a diffAnswer) because(b *strings.Builder, side string, limit int) {
	line := func(format string, args ...any) {
		fmt.Fprintf(b, "    %-5s %s\n", side, fmt.Sprintf(format, args...))
		side = ""
	}
	if a.Absent {
		line("%s", cmp.Or(a.Because, "only the other view names it"))
		return
	}
	if a.Because != "" {
		line("%s", diag.Escape(a.Because))
	}
	for i, c := range a.Rules {
		if limit > 0 && i == limit {
			line("and %d more", len(a.Rules)-limit)
			break
		}
		line("%s", c)
	}
	if len(a.Rules) == 0 && a.Because == "" {
		line("no rule sets it")
	}
}

func (c diffCause) String() string {
	at := "?"
	if c.place != nil {
		at = c.place.String()
	}
	switch {
	case c.Fixed:
		return at + "  fixed " + diag.Escape(c.Selector)
	case c.Property == "":
		return at + "  " + diag.Escape(c.Selector)
	}
	return fmt.Sprintf("%s  %s { %s: %s }", at, diag.Escape(c.Selector), c.Property, diag.Escape(c.Value))
}

func (c contextJSON) String() string {
	var out []string
	if c.Env != "" {
		out = append(out, "the environment is "+diag.Quote(c.Env))
	}
	for _, r := range c.Active {
		out = append(out, r.String())
	}
	if out == nil {
		return "nothing is named"
	}
	return strings.Join(out, " and ")
}

// someRefs names entities, those of one type together, and counts the rest.
func someRefs(refs []entityRef, limit int) string {
	n := len(refs)
	if limit > 0 {
		n = min(n, limit)
	}
	var b strings.Builder
	for i, r := range refs[:n] {
		switch {
		case i == 0:
			b.WriteString(r.String())
		case r.Type == refs[i-1].Type:
			b.WriteString(", " + diag.Quote(r.ID))
		default:
			b.WriteString(", " + r.String())
		}
	}
	if more := len(refs) - n; more > 0 {
		fmt.Fprintf(&b, " and %d more", more)
	}
	return b.String()
}

func someTexts(list []string, limit int) string {
	if limit > 0 && len(list) > limit {
		list = append(slices.Clone(list[:limit]), fmt.Sprintf("in %d more", len(list)-limit))
	}
	return strings.Join(list, "; ")
}

// Summary is the comparison in a sentence or two, a line each.
func (d viewsDiff) Summary() string {
	var counts []string
	for k := policydiff.Widening; k <= policydiff.Neutral; k++ {
		if n := d.Counts[k.String()]; n > 0 {
			counts = append(counts, plural(n, k.String()))
		}
	}
	over := fmt.Sprintf("over %s in %s", plural(d.Entities, "entity"), plural(len(d.Contexts), "context"))
	var b strings.Builder
	switch {
	case len(counts) > 0:
		fmt.Fprintf(&b, "%s, %s\n", strings.Join(counts, ", "), over)
	default:
		fmt.Fprintf(&b, "no difference %s\n", over)
		switch d.Verdict {
		case policydiff.Equivalent.String():
			fmt.Fprintf(&b, "equivalent in every world: %s\n", d.Why)
		default:
			fmt.Fprintf(&b, "whether they are equivalent in every world cannot be decided: %s\n", d.Why)
		}
	}
	if len(d.Secrets) > 0 {
		fmt.Fprintf(&b, "not compared, since no database holds secrets: %s\n", strings.Join(d.Secrets, ", "))
	}
	if d.Left > 0 {
		fmt.Fprintf(&b, "%s left out; see --contexts\n", plural(d.Left, "context"))
	}
	return b.String()
}
