package world

import (
	"encoding/base64"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// sink is a strings.Builder or bufio.Writer. The latter keeps its first error, which Flush
// returns.
type sink interface {
	io.Writer
	io.ByteWriter
	io.StringWriter
	WriteRune(rune) (int, error)
}

// flowYAML prints a value on one line so that any YAML reader gets back the same text,
// whatever outside text holds.
func flowYAML(n *node) string {
	var b strings.Builder
	printYAML(&b, n)
	return b.String()
}

func printYAML(b sink, n *node) {
	switch {
	case n.kind == listNode:
		b.WriteByte('[')
		for i, item := range n.items {
			if i > 0 {
				b.WriteString(", ")
			}
			printYAML(b, item)
		}
		b.WriteByte(']')
	case n.kind == mapNode:
		b.WriteByte('{')
		for i, p := range n.pairs {
			if i > 0 {
				b.WriteString(", ")
			}
			printYAML(b, text(p.key))
			b.WriteString(": ")
			printYAML(b, p.value)
		}
		b.WriteByte('}')
	case !utf8.ValidString(n.text):
		b.WriteString("{base64: ")
		quoteYAML(b, base64.StdEncoding.EncodeToString([]byte(n.text)))
		b.WriteByte('}')
	case n.plain || plainYAML(n.text):
		b.WriteString(n.text)
	default:
		quoteYAML(b, n.text)
	}
}

// reservedYAML are the plain words that some YAML reader takes for no text.
var reservedYAML = []string{"y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"}

// plainYAML reports whether s can stand without quotes in any YAML reader.
func plainYAML(s string) bool {
	if s == "" || len(s) > 200 {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '/'
		if !letter && (i == 0 || !(c >= '0' && c <= '9' || c == '.' || c == '-')) {
			return false
		}
	}
	return len(s) > len("false") || !slices.ContainsFunc(reservedYAML, func(w string) bool { return strings.EqualFold(w, s) })
}

// quoteYAML prints s between double quotes. Everything that does not print, or could
// reorder text on a screen, is escaped.
func quoteYAML(b sink, s string) {
	if plainRun(s) {
		b.WriteByte('"')
		b.WriteString(s)
		b.WriteByte('"')
		return
	}
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
		case r == ' ' || r != utf8.RuneError && unicode.IsPrint(r):
			b.WriteRune(r)
		case r <= 0xff:
			fmt.Fprintf(b, `\x%02x`, r)
		case r <= 0xffff:
			fmt.Fprintf(b, `\u%04x`, r)
		default:
			fmt.Fprintf(b, `\U%08x`, r)
		}
	}
	b.WriteByte('"')
}

// plainRun reports whether nothing in s needs an escape, as in nearly every text.
func plainRun(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// flowJSON prints a value as JSON. Bytes that are not UTF-8 stand as {"base64": …}.
func flowJSON(n *node) string {
	var b strings.Builder
	printJSON(&b, n)
	return b.String()
}

func printJSON(b sink, n *node) {
	switch {
	case n.kind == listNode:
		b.WriteByte('[')
		for i, item := range n.items {
			if i > 0 {
				b.WriteString(", ")
			}
			printJSON(b, item)
		}
		b.WriteByte(']')
	case n.kind == mapNode:
		b.WriteByte('{')
		for i, p := range n.pairs {
			if i > 0 {
				b.WriteString(", ")
			}
			quoteJSON(b, p.key)
			b.WriteString(": ")
			printJSON(b, p.value)
		}
		b.WriteByte('}')
	case !utf8.ValidString(n.text):
		b.WriteString(`{"base64": `)
		quoteJSON(b, base64.StdEncoding.EncodeToString([]byte(n.text)))
		b.WriteByte('}')
	case n.plain:
		b.WriteString(n.text)
	default:
		quoteJSON(b, n.text)
	}
}

// quoteJSON prints s as a JSON string that a YAML reader reads alike: beyond the basic plane
// it escapes nothing, since YAML knows no surrogate pairs.
func quoteJSON(b sink, s string) {
	if plainRun(s) {
		b.WriteByte('"')
		b.WriteString(s)
		b.WriteByte('"')
		return
	}
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == ' ' || r > 0xffff || r != utf8.RuneError && unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(b, `\u%04x`, r)
		}
	}
	b.WriteByte('"')
}
