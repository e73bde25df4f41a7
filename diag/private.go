package diag

import (
	"bytes"
	"strings"
)

// Hidden reports whether the line that d points at must not be shown. Of a source with
// private lines, one of more than 32 KiB on a side of the place is not.
func (d *Diagnostic) Hidden() bool {
	if d.Private {
		return true
	}
	if !d.Span.IsValid() || d.Span.Source.Private == nil || int(d.Span.Start.Offset) > len(d.Span.Source.Text) {
		return false
	}
	from, to, whole := d.Span.line()
	return !whole || d.Span.Source.Private(d.Span.Source.Text, from, to)
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

// reach is how many bytes of a line are looked at before and behind a place.
const reach = 32 << 10

// line is where the line that s starts on begins and ends in the source's text. Where that
// is out of reach, from and to are as far as it goes, and not the whole line.
func (s Span) line() (from, to int, whole bool) {
	text, at := s.Source.Text, int(s.Start.Offset)
	from, to = max(0, at-reach), min(len(text), at+reach)
	before, behind := bytes.LastIndexByte(text[from:at], '\n'), bytes.IndexByte(text[at:to], '\n')
	whole = (from == 0 || before >= 0) && (to == len(text) || behind >= 0)
	if before >= 0 {
		from += before + 1
	}
	if behind >= 0 {
		to = at + behind
	}
	return from, to, whole
}
