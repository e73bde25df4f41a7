package main

import (
	"fmt"
	"strings"

	"umwelt/diag"
)

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
		fmt.Fprintf(&b, "%s\n", entityRef{a.Type, a.ID})
		for _, p := range a.Properties {
			p.write(&b)
		}
	}
	if n := d.Matched - len(d.Answers); n > 0 {
		fmt.Fprintf(&b, "\n%s not shown; --limit 0 shows all\n", plural(n, "more entity"))
	}
	return b.String()
}

func (r entityRef) String() string { return diag.Escape(r.Type) + " " + diag.Quote(r.ID) }

func (p proven) write(b *strings.Builder) {
	value := diag.Escape(p.Value)
	if p.Source == "none" {
		value = "(no value: no rule sets it, and it has no initial value)"
	} else if value == "" {
		value = `""`
	}
	fmt.Fprintf(b, "  %s: %s\n", p.Property, value)
	line := func(label, format string, args ...any) {
		fmt.Fprintf(b, "      %-8s %s\n", label, fmt.Sprintf(format, args...))
	}
	switch p.Source {
	case "initial":
		line("source", "initial: no rule sets it")
	case "none":
	default:
		line("source", "%s", p.Source)
	}
	for _, set := range p.Sets {
		line("must", "meet one of %s", diag.Escape(strings.Join(set, ", ")))
	}
	if p.Because != "" {
		line("because", "%s", diag.Escape(p.Because))
	}
	if p.Cascade != nil {
		line("rules", "alone say %s", diag.Escape(*p.Cascade))
	}
	for _, c := range p.From {
		line("won", "%s", c.String(p.Property))
		line("", "specificity %s", c.Specificity)
	}
	for _, l := range p.Losers {
		line("lost", "%s", l.String(p.Property))
		line("", "%s: %s", l.Why, diag.Escape(l.Reason))
	}
	for _, h := range p.Held {
		line("context", "%s is met by %s", diag.Escape(h.Qualifier), h.By)
	}
	for _, f := range p.Fixed {
		line("fixed", "%s %s { %s: %s }", f.place, diag.Escape(f.Selector), p.Property, diag.Escape(f.Value))
	}
	if w := p.WhyNot; w != nil {
		if w.Holds {
			line("why not", "it is %s", diag.Escape(w.Value))
		}
		for _, r := range w.Reasons {
			line("why not", "%s", r)
		}
	}
}

// String is the declaration with its place.
func (c candidate) String(property string) string {
	var flags string
	if c.Important {
		flags += " !important"
	}
	if c.Locked {
		flags += " !locked"
	}
	layer := ""
	if c.Layer != "" {
		layer = "  in layer " + diag.Escape(c.Layer)
	}
	return fmt.Sprintf("%s %s { %s: %s%s }%s", c.place, diag.Escape(c.Selector), property, diag.Escape(c.Value), flags, layer)
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
