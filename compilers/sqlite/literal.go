package sqlite

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"umwelt/registry"
)

// literal is a text in SQL that every dialect reads alike. It holds no control character.
func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// escaped is a text in the SQL of PostgreSQL and DuckDB. What does not print, or could
// reorder text on a screen, is written as a number.
func escaped(s string) string {
	var parts []string
	from := 0
	for i, r := range s {
		if unicode.IsPrint(r) {
			continue
		}
		if from < i {
			parts = append(parts, literal(s[from:i]))
		}
		parts = append(parts, fmt.Sprintf("chr(%d)", r))
		from = i + utf8.RuneLen(r)
	}
	if from < len(s) || parts == nil {
		parts = append(parts, literal(s[from:]))
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return "(" + strings.Join(parts, " || ") + ")"
}

// jsonList is a list as SQLite's own functions write it, so that equal lists are equal
// texts wherever they come from.
func jsonList(list []string) string {
	b := []byte{'['}
	for i, s := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendJSON(b, s)
	}
	return string(append(b, ']'))
}

func appendJSON(b []byte, s string) []byte {
	b = append(b, '"')
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c >= ' ':
			b = append(b, c)
		case strings.IndexByte("\b\t\n\f\r", c) >= 0:
			b = append(b, '\\', "btn_fr"[c-8])
		default:
			b = fmt.Appendf(b, `\u%04x`, c)
		}
	}
	return append(b, '"')
}

// jsonTexts is a list of texts of the world, of which any may be what is not UTF-8: such a
// one stands as {"base64": …}.
func jsonTexts(list []string) string {
	b := []byte{'['}
	for i, s := range list {
		if i > 0 {
			b = append(b, ',')
		}
		if printable(s) {
			b = appendJSON(b, s)
		} else {
			b = append(b, `{"base64":"`+base64.StdEncoding.EncodeToString([]byte(s))+`"}`...)
		}
	}
	return string(append(b, ']'))
}

// printable reports whether a database takes s as a text.
func printable(s string) bool { return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 }

// float is a number that reads back as the same.
func float(n float64) string { return strconv.FormatFloat(n, 'g', -1, 64) }

// TypeName is what a database calls an entity type: with its taxon where the name alone is
// not enough.
func TypeName(t *registry.EntityType, reg *registry.Registry) string { return typeName(t, reg) }

func typeName(t *registry.EntityType, reg *registry.Registry) string {
	if len(reg.TypesNamed(t.Name)) > 1 {
		return t.Taxon.Name + "|" + t.Name
	}
	return t.Name
}
