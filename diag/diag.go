// Package diag holds positions in source text and the diagnostics that point at them.
//
// Every complaint the tool makes about outside text is a [Diagnostic]. It carries a
// stable [Code], a tight [Span] and, where one is known, a way out.
package diag

import (
	"cmp"
	"fmt"
	"slices"
)

// Source is one piece of outside text: its name as shown to people, and its bytes.
// Spans point at it so that a diagnostic can show its line without reading a file again.
type Source struct {
	Name string
	Text []byte
	// Private, if set, says of a line, which is text[from:to], that it may hold what must
	// not be printed. What points there then shows neither the line nor words from it.
	Private func(text []byte, from, to int) bool
}

// Pos is a place in a source. Line and Column are 1-based and Column counts Unicode
// code points; Offset counts bytes from 0. The zero Pos means "no known place".
type Pos struct {
	Offset, Line, Column int32
}

// IsValid reports whether p names a place.
func (p Pos) IsValid() bool { return p.Line > 0 }

// Span is a half-open range of a source: End is the place just after the last byte.
type Span struct {
	Source     *Source
	Start, End Pos
}

// IsValid reports whether s names a place in a source.
func (s Span) IsValid() bool { return s.Source != nil && s.Start.IsValid() }

// File is the name of the span's source, or "" where there is none.
func (s Span) File() string {
	if s.Source == nil {
		return ""
	}
	return s.Source.Name
}

// Text is the source text under the span.
func (s Span) Text() string {
	if s.Source == nil || s.Start.Offset < 0 || int(s.End.Offset) > len(s.Source.Text) || s.End.Offset < s.Start.Offset {
		return ""
	}
	return string(s.Source.Text[s.Start.Offset:s.End.Offset])
}

// String is "file:line:column", or as much of it as is known. The file name is escaped
// so that a hostile one cannot drive a terminal.
func (s Span) String() string {
	switch {
	case s.Source == nil:
		return ""
	case !s.Start.IsValid():
		return Escape(s.Source.Name)
	}
	return fmt.Sprintf("%s:%d:%d", Escape(s.Source.Name), s.Start.Line, s.Start.Column)
}

// To is the span from the start of s to the end of t. Both lie in the same source.
func (s Span) To(t Span) Span {
	if !t.End.IsValid() {
		return s
	}
	return Span{Source: s.Source, Start: s.Start, End: t.End}
}

// Severity orders diagnostics: an Error makes the input unusable, a Warning does not.
type Severity uint8

// The severities, mildest first.
const (
	Note Severity = iota
	Warning
	Error
)

func (s Severity) String() string {
	return [...]string{"note", "warning", "error"}[s]
}

// MarshalText gives the severity's word, for JSON.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Diagnostic is one finding about a source.
type Diagnostic struct {
	Severity Severity
	Code     Code
	Span     Span
	Message  string
	Hint     string    // how to get out of it; may be empty
	Related  []Related // other places that matter, such as an earlier definition
	// Private says that what stands at Span may be what must not be printed, so that
	// neither its line nor words from it are shown. See also Hidden and Text.
	Private bool
}

// Related is a second place that a diagnostic speaks of.
type Related struct {
	Span    Span
	Message string
}

// Error makes a single diagnostic usable as a Go error.
func (d Diagnostic) Error() string {
	head := fmt.Sprintf("%s[%s]: %s", d.Severity, d.Code, d.Text())
	if at := d.Span.String(); at != "" {
		head = at + ": " + head
	}
	if d.Hint != "" {
		head += " (" + d.Hint + ")"
	}
	return head
}

// List collects diagnostics in the order they were found.
type List []Diagnostic

// Errorf adds an error and returns it for a hint or related places to be attached.
// The pointer is good until the next addition.
func (l *List) Errorf(code Code, at Span, format string, args ...any) *Diagnostic {
	return l.add(Error, code, at, format, args)
}

// Warnf adds a warning, like Errorf.
func (l *List) Warnf(code Code, at Span, format string, args ...any) *Diagnostic {
	return l.add(Warning, code, at, format, args)
}

// Notef adds a note, like Errorf.
func (l *List) Notef(code Code, at Span, format string, args ...any) *Diagnostic {
	return l.add(Note, code, at, format, args)
}

func (l *List) add(s Severity, code Code, at Span, format string, args []any) *Diagnostic {
	*l = append(*l, Diagnostic{Severity: s, Code: code, Span: at, Message: fmt.Sprintf(format, args...)})
	return &(*l)[len(*l)-1]
}

// HasErrors reports whether any diagnostic is an error.
func (l List) HasErrors() bool { return l.Count(Error) > 0 }

// Count is the number of diagnostics of exactly that severity.
func (l List) Count(s Severity) int {
	n := 0
	for _, d := range l {
		if d.Severity == s {
			n++
		}
	}
	return n
}

// Strict returns a copy in which every warning is an error.
func (l List) Strict() List {
	out := slices.Clone(l)
	for i := range out {
		if out[i].Severity == Warning {
			out[i].Severity = Error
		}
	}
	return out
}

// Sort orders by file, place, severity (worst first), code and message, and keeps the
// order of equals.
func (l List) Sort() {
	slices.SortStableFunc(l, func(a, b Diagnostic) int {
		return cmp.Or(
			cmp.Compare(a.Span.File(), b.Span.File()),
			cmp.Compare(a.Span.Start.Offset, b.Span.Start.Offset),
			cmp.Compare(b.Severity, a.Severity),
			cmp.Compare(a.Code, b.Code),
			cmp.Compare(a.Message, b.Message),
		)
	})
}

// Err is nil where no diagnostic is an error, else an error that lists the errors.
func (l List) Err() error {
	var errs errorList
	for _, d := range l {
		if d.Severity == Error {
			errs = append(errs, d)
		}
	}
	if errs == nil {
		return nil
	}
	return errs
}

// errorList is what List.Err returns; errors.As finds the Diagnostic in it.
type errorList []Diagnostic

func (e errorList) Error() string {
	if len(e) == 1 {
		return e[0].Error()
	}
	return fmt.Sprintf("%s (and %d more)", e[0].Error(), len(e)-1)
}

func (e errorList) Unwrap() []error {
	out := make([]error, len(e))
	for i, d := range e {
		out[i] = d
	}
	return out
}
