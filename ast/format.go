package ast

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// FormatSelector writes a selector in its canonical form: one blank around combinators,
// attribute values and arguments in double quotes, escapes where they are needed and for
// whatever could drive a terminal.
func FormatSelector(s *Selector) string {
	var b strings.Builder
	writeSelector(&b, s)
	return b.String()
}

// FormatSelectors writes a selector list on one line.
func FormatSelectors(list []*Selector) string {
	var b strings.Builder
	writeSelectors(&b, list)
	return b.String()
}

func writeSelectors(b *strings.Builder, list []*Selector) {
	for i, s := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		writeSelector(b, s)
	}
}

func writeSelector(b *strings.Builder, s *Selector) {
	for i, c := range s.Compounds {
		comb := None
		if i < len(s.Combinators) {
			comb = s.Combinators[i]
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		if comb != None && comb != Descendant {
			b.WriteByte(byte(comb))
			b.WriteByte(' ')
		}
		writeCompound(b, c)
	}
}

func writeCompound(b *strings.Builder, c *Compound) {
	if c.Parent {
		b.WriteByte('&')
	}
	if c.Taxon != "" {
		b.WriteString(formatIdent(c.Taxon, false))
		b.WriteByte('|')
	}
	switch c.Type {
	case "":
	case "*":
		b.WriteByte('*')
	default:
		b.WriteString(formatIdent(c.Type, false))
	}
	hasID := false
	for i := range c.Simples {
		writeSimple(b, &c.Simples[i], hasID)
		hasID = hasID || c.Simples[i].Kind == ID
	}
}

func writeSimple(b *strings.Builder, s *Simple, hasID bool) {
	switch s.Kind {
	case ID:
		b.WriteByte('#')
		if s.Quoted || s.Name == "" {
			b.WriteString(FormatString(s.Name))
		} else {
			b.WriteString(formatIdent(s.Name, true))
		}
	case Class:
		b.WriteByte('.')
		b.WriteString(formatIdent(s.Name, hasID))
	case Attribute:
		b.WriteByte('[')
		b.WriteString(formatIdent(s.Name, false))
		if s.Op != "" {
			b.WriteString(s.Op)
			b.WriteString(FormatString(s.Value))
			if s.Flag != 0 {
				b.WriteByte(' ')
				b.WriteByte(s.Flag)
			}
		}
		b.WriteByte(']')
	case Pseudo:
		b.WriteByte(':')
		b.WriteString(formatIdent(s.Name, false))
		if !s.HasArg {
			return
		}
		b.WriteByte('(')
		switch {
		case len(s.Selectors) > 0:
			writeSelectors(b, s.Selectors)
		case s.Arg != "":
			b.WriteString(FormatString(s.Arg))
		}
		b.WriteByte(')')
	}
}

// FormatString writes a text as a string in double quotes.
func FormatString(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 2)
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case hidden(r):
			writeHex(&b, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// formatIdent writes a name with the escapes it needs. Where anyStart is set it stands in
// a place that takes every name character first, as behind "#".
func formatIdent(s string, anyStart bool) string {
	if plainIdent(s, anyStart) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		digit := r >= '0' && r <= '9'
		switch {
		case digit && !anyStart && (i == 0 || i == 1 && s[0] == '-'), hidden(r):
			writeHex(&b, r)
		case r == '-' && s == "-" && !anyStart:
			b.WriteString(`\-`)
		case nameRune(r):
			b.WriteRune(r)
		default:
			b.WriteByte('\\')
			b.WriteRune(r)
		}
	}
	return b.String()
}

func plainIdent(s string, anyStart bool) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= utf8.RuneSelf || !nameRune(rune(c)) {
			return false
		}
	}
	if s == "" || anyStart {
		return s != ""
	}
	if s[0] == '-' {
		s = s[1:]
	}
	return s != "" && (s[0] < '0' || s[0] > '9')
}

func nameRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r >= utf8.RuneSelf
}

// hidden reports whether r shows as nothing, moves the cursor or reorders text.
func hidden(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) }

func writeHex(b *strings.Builder, r rune) {
	const digits = "0123456789abcdef"
	b.WriteByte('\\')
	started := false
	for shift := 20; shift >= 0; shift -= 4 {
		d := r >> shift & 15
		if d != 0 || started {
			b.WriteByte(digits[d])
			started = true
		}
	}
	b.WriteByte(' ')
}

func formatValues(values []Value) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = formatValue(v)
	}
	return strings.Join(texts, ", ")
}

// formatValue writes a value that may not have been read from a text.
func formatValue(v Value) string {
	key := ""
	if v.Key != "" {
		key = formatIdent(v.Key, false) + "="
	}
	switch {
	case v.Raw != "":
		return key + v.Raw
	case v.Kind == String:
		return key + FormatString(v.Text)
	case v.Kind == Function && v.Text == "":
		return key + "(" + formatValues(v.Args) + ")"
	case v.Kind == Function:
		return key + formatIdent(v.Text, false) + "(" + formatValues(v.Args) + ")"
	}
	return key + v.Text
}
