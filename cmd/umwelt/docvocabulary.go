package main

import (
	"fmt"
	"strings"
)

// markdown is the vocabulary as a page of the reference.
func (d vocabularyInspection) markdown() string {
	var b strings.Builder
	b.WriteString("# Vocabulary\n\n" + generated)
	b.WriteString("Taxa stand in axis order, the order in which specificity compares them.\n")
	for _, t := range d.Taxa {
		fmt.Fprintf(&b, "\n## Taxon %s\n\n%s", code(t.Name), cell(t.Description))
		if len(t.Aliases) > 0 {
			fmt.Fprintf(&b, " Also called %s.", codes(t.Aliases))
		}
		b.WriteByte('\n')
		for _, e := range t.Entities {
			e.markdown(&b)
		}
	}
	if len(d.Shorthands) > 0 {
		b.WriteString("\n## Keys of a world file\n\n| key | makes | form |\n|---|---|---|\n")
		for _, s := range d.Shorthands {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", code(s.Key), code(s.Entity), cell(s.Form))
		}
	}
	if len(d.Units) > 0 {
		b.WriteString("\n## Units\n\n| unit | of |\n|---|---|\n")
		for _, u := range d.Units {
			fmt.Fprintf(&b, "| %s | %s |\n", code(u.Name), cell(u.Kind))
		}
	}
	return b.String()
}

func (e entityJSON) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "\n### %s\n\n%s", code(e.Name), cell(e.Description))
	if len(e.Parents) > 0 {
		fmt.Fprintf(b, " Its parent is %s.", strings.ReplaceAll(codes(e.Parents), ", ", " or "))
	}
	if e.Root {
		b.WriteString(" It is the root of its taxon.")
	}
	if e.SoleActive {
		b.WriteString(" Where a world has only one, it is active without being named.")
	}
	if e.Dotted {
		b.WriteString(" Its ids may hold dots.")
	}
	b.WriteByte('\n')
	if len(e.Attributes) > 0 {
		b.WriteString("\n| attribute | type | meaning |\n|---|---|---|\n")
		for _, a := range e.Attributes {
			kind := cell(a.Type)
			if a.Required {
				kind += ", required"
			}
			fmt.Fprintf(b, "| %s | %s | %s |\n", code(a.Name), kind, cell(a.Description))
		}
	}
	if len(e.Properties) > 0 {
		b.WriteString("\n| property | type, initial value, how values combine | meaning |\n|---|---|---|\n")
		for _, p := range e.Properties {
			fmt.Fprintf(b, "| %s | %s | %s |\n", code(p.Name), cell(strings.Join(p.facts(), ", ")), cell(p.Description))
		}
	}
}

// codes are names in a row, each as code.
func codes(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = code(n)
	}
	return strings.Join(out, ", ")
}
