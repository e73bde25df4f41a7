package nsjail

import (
	"fmt"
	"strconv"
	"strings"
)

// text writes the text form of a protobuf message, the same bytes for the same fields.
type text struct {
	b      strings.Builder
	indent string
}

// str writes a string field.
func (t *text) str(name, value string) { t.line(name + ": " + quote(value)) }

// word writes an enum, boolean or number.
func (t *text) word(name, value string) { t.line(name + ": " + value) }

func (t *text) num(name string, value int64) { t.word(name, strconv.FormatInt(value, 10)) }

func (t *text) flag(name string, value bool) { t.word(name, strconv.FormatBool(value)) }

// message writes a nested message.
func (t *text) message(name string, fields func()) {
	t.line(name + " {")
	t.indent += "  "
	fields()
	t.indent = strings.TrimSuffix(t.indent, "  ")
	t.line("}")
}

// comment writes one comment line.
func (t *text) comment(s string) { t.line(strings.TrimRight("# "+s, " ")) }

func (t *text) blank() { t.b.WriteByte('\n') }

func (t *text) line(s string) { t.b.WriteString(t.indent + s + "\n") }

// quote is a string literal for any bytes. Whatever is not plain ASCII is written as
// three octal digits, which no following digit can run into.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteString(`\` + string(c))
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
