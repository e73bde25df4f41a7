package diag

import (
	"bytes"
	"strings"
)

// Hidden reports whether the line that d points at must not be shown.
func (d *Diagnostic) Hidden() bool {
	if d.Private {
		return true
	}
	if !d.Span.IsValid() || d.Span.Source.Private == nil || int(d.Span.Start.Offset) > len(d.Span.Source.Text) {
		return false
	}
	from, to := d.Span.line()
	return d.Span.Source.Private(d.Span.Source.Text, from, to)
}

// Text is the message as it may be shown. Where the line is hidden, and the message may quote
// from it, it is what the code means in general.
func (d *Diagnostic) Text() string {
	if !d.Hidden() {
		return d.Message
	}
	switch d.Code {
	case BadValue, UnknownFlag, YAML, Template:
	case Syntax, Encoding, Unterminated, CommentInValue, TooDeep, TooLarge, BadSelector:
		if !strings.Contains(d.Message, `"`) {
			return d.Message
		}
	default:
		return d.Message // it names a word of the vocabulary, or what was meant as one
	}
	for _, c := range Codes {
		if c.Code == d.Code {
			return strings.TrimSuffix(c.Meaning, ".")
		}
	}
	return string(d.Code)
}

// line is where the line that s starts on begins and ends in the source's text.
func (s Span) line() (from, to int) {
	text, at := s.Source.Text, int(s.Start.Offset)
	from, to = bytes.LastIndexByte(text[:at], '\n')+1, len(text)
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		to = at + i
	}
	return from, to
}
