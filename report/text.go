package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"umwelt/diag"
)

// WriteText writes the document for people: every entity with its properties, then every
// rule with what it matched. Findings are left to whoever renders diagnostics.
func (d *Document) WriteText(w io.Writer) error {
	out := bufio.NewWriterSize(&bounded{to: w}, 1<<16)
	if len(d.Context) > 0 {
		refs := make([]string, len(d.Context))
		for i, r := range d.Context {
			refs[i] = diag.Escape(r.Type + "=" + r.ID)
		}
		fmt.Fprintf(out, "context: %s\n\n", strings.Join(refs, ", "))
	}
	if d.Entities != nil {
		for e := range d.Entities {
			writeEntity(out, &e)
			if _, err := out.Write(nil); err != nil {
				return err // nothing more comes through
			}
		}
	}
	if len(d.Rules) > 0 {
		out.WriteString("\nrules\n")
	}
	for _, r := range d.Rules {
		fmt.Fprintf(out, "  %s  %s  matched %d", r.Place, diag.Escape(r.Selector), r.Matched)
		if r.Idle {
			out.WriteString(", but its context does not hold")
		}
		out.WriteByte('\n')
	}
	return out.Flush()
}

func writeEntity(out *bufio.Writer, e *Entity) {
	fmt.Fprintf(out, "%s %s", e.Type, diag.Quote(e.ID))
	for _, c := range e.Classes {
		out.WriteString(" ." + diag.Escape(c))
	}
	out.WriteByte('\n')
	width := 0
	for _, p := range e.Properties {
		width = max(width, len(p.Name))
	}
	for _, p := range e.Properties {
		fmt.Fprintf(out, "  %-*s %s  %s\n", width+1, p.Name+":", diag.Escape(p.Value), p.origin())
	}
}

// origin says in brackets where a value came from.
func (p *Property) origin() string {
	var parts []string
	if p.Source != "cascade" || p.From == nil {
		parts = append(parts, p.Source)
	}
	if p.Because != "" {
		parts = append(parts, diag.Escape(p.Because))
	}
	if p.Cascade != nil {
		parts = append(parts, "the rules alone say "+diag.Escape(*p.Cascade))
	}
	if p.From != nil {
		parts = append(parts, p.From.String())
	}
	return "(" + strings.Join(parts, "; ") + ")"
}

// String is "file:line:column", safe to print.
func (p Place) String() string {
	return fmt.Sprintf("%s:%d:%d", diag.Escape(p.File), p.Line, p.Column)
}
