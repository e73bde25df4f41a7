package diag

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// maxLine bounds how much of one source line a rendered diagnostic shows.
const maxLine = 160

// Render writes one diagnostic in the shape every command uses: the place, severity,
// code and message on one line, the source line with the span underlined, then the hint
// and related places. Colour is the caller's decision.
func Render(w io.Writer, d Diagnostic, colour bool) error {
	var b strings.Builder
	paint := func(code, s string) string {
		if !colour {
			return s
		}
		return "\x1b[" + code + "m" + s + "\x1b[0m"
	}
	tint := map[Severity]string{Error: "1;31", Warning: "1;33", Note: "1;36"}[d.Severity]
	if at := d.Span.String(); at != "" {
		b.WriteString(at + ": ")
	}
	fmt.Fprintf(&b, "%s: %s\n", paint(tint, fmt.Sprintf("%s[%s]", d.Severity, d.Code)), Escape(d.Text()))
	excerpt(&b, &d, func(s string) string { return paint(tint, s) })
	if d.Hint != "" {
		fmt.Fprintf(&b, "  hint: %s\n", Escape(d.Hint))
	}
	for _, r := range d.Related {
		fmt.Fprintf(&b, "  %s: %s\n", r.Span, Escape(r.Message))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// RenderAll renders a list in order.
func RenderAll(w io.Writer, l List, colour bool) error {
	for _, d := range l {
		if err := Render(w, d, colour); err != nil {
			return err
		}
	}
	return nil
}

// excerpt writes the line the span starts on and underlines the part of the span that
// lies on it. Long lines are cut around the span.
func excerpt(b *strings.Builder, d *Diagnostic, paint func(string) string) {
	s := d.Span
	if !s.IsValid() || int(s.Start.Offset) > len(s.Source.Text) {
		return
	}
	if d.Hidden() {
		fmt.Fprintf(b, "%5d | (not shown: a value that is never printed may stand here)\n", s.Start.Line)
		return
	}
	text, at := s.Source.Text, int(s.Start.Offset)
	from, to, _ := s.line()
	end := min(max(int(s.End.Offset), at), to)
	cutFrom, cutTo := from, to
	if at-from > maxLine/2 {
		cutFrom = runeStart(text, at-maxLine/2)
	}
	if cutTo-cutFrom > maxLine {
		cutTo = runeStart(text, cutFrom+maxLine)
	}
	end = min(end, cutTo)
	line := Escape(strings.TrimRight(string(text[cutFrom:cutTo]), "\r"))
	pad := utf8.RuneCountInString(Escape(string(text[cutFrom:min(at, cutTo)])))
	width := 1
	if end > at {
		width = max(1, utf8.RuneCountInString(Escape(string(text[at:end]))))
	}
	fmt.Fprintf(b, "%5d | %s\n      | %s%s\n", s.Start.Line, line, strings.Repeat(" ", pad), paint(strings.Repeat("^", width)))
}

// runeStart moves i back to the start of the rune it lies in.
func runeStart(text []byte, i int) int {
	for i > 0 && i < len(text) && !utf8.RuneStart(text[i]) {
		i--
	}
	return min(i, len(text))
}
