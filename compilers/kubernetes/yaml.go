package kubernetes

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// object is a YAML mapping whose keys stand in the order given. Keys are this package's
// own field names and need no quotes.
type object []field

type field struct {
	key   string
	value any // string, bool, int64, object or list
}

// list is a YAML sequence.
type list []any

// document writes one YAML document in block style. Every string is double-quoted, so
// that none can be read as a number, a boolean or null, and nothing in it as syntax.
// Strings must be UTF-8.
func document(b *strings.Builder, o object) {
	b.WriteString("---\n")
	writeObject(b, o, 0, false)
}

// writeObject writes the fields at an indentation. inline says that the first one stands
// on a line that is already begun, after "- ".
func writeObject(b *strings.Builder, o object, indent int, inline bool) {
	for i, f := range o {
		if i > 0 || !inline {
			b.WriteString(strings.Repeat(" ", indent))
		}
		b.WriteString(f.key + ":")
		writeValue(b, f.value, indent)
	}
}

func writeValue(b *strings.Builder, v any, indent int) {
	switch v := v.(type) {
	case object:
		if len(v) == 0 {
			b.WriteString(" {}\n")
			return
		}
		b.WriteByte('\n')
		writeObject(b, v, indent+2, false)
	case list:
		if len(v) == 0 {
			b.WriteString(" []\n")
			return
		}
		b.WriteByte('\n')
		for _, item := range v {
			b.WriteString(strings.Repeat(" ", indent+2) + "-")
			if o, ok := item.(object); ok && len(o) > 0 {
				b.WriteByte(' ')
				writeObject(b, o, indent+4, true)
			} else {
				writeValue(b, item, indent+2)
			}
		}
	default:
		b.WriteString(" " + scalar(v) + "\n")
	}
}

func scalar(v any) string {
	switch v := v.(type) {
	case string:
		return quote(v)
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	}
	panic(fmt.Sprintf("kubernetes: no YAML form for %T", v))
}

// quote is s as a double-quoted YAML scalar on one line.
func quote(s string) string {
	var b strings.Builder
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
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02X`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			fmt.Fprintf(&b, `\U%08X`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
