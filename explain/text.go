package explain

import (
	"fmt"
	"strings"

	"umwelt/diag"
)

// Text is the proof for people: a line for the value, and lines indented below it.
func (p Property) Text() string {
	var b strings.Builder
	value := diag.Escape(p.Value)
	if p.Source == "none" {
		value = "(no value: no rule sets it, and it has no initial value)"
	} else if value == "" {
		value = `""`
	}
	fmt.Fprintf(&b, "%s: %s\n", p.Property, value)
	line := func(label, format string, args ...any) {
		fmt.Fprintf(&b, "    %-8s %s\n", label, fmt.Sprintf(format, args...))
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
		line("won", "%s", c.text(p.Property))
		line("", "specificity %s", c.Specificity)
	}
	for _, l := range p.Losers {
		line("lost", "%s", l.text(p.Property))
		line("", "%s: %s", l.Why, diag.Escape(l.Reason))
	}
	for _, h := range p.Held {
		line("context", "%s is met by %s", diag.Escape(h.Qualifier), h.By)
	}
	for _, f := range p.Fixed {
		line("fixed", "%s %s { %s: %s }", f.Place, diag.Escape(f.Selector), p.Property, diag.Escape(f.Value))
	}
	if w := p.WhyNot; w != nil {
		if w.Holds {
			line("why not", "it is %s", diag.Escape(w.Value))
		}
		for _, r := range w.Reasons {
			line("why not", "%s", diag.Escape(r))
		}
		for _, c := range w.Changes {
			line("needs", "%s", diag.Escape(c))
		}
	}
	return b.String()
}

// text is the declaration with its place.
func (c Candidate) text(property string) string {
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
	return fmt.Sprintf("%s %s { %s: %s%s }%s", c.Place, diag.Escape(c.Selector), property, diag.Escape(c.Value), flags, layer)
}
