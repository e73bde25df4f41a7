package report

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"strconv"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDocument bounds a document, in bytes. It is far above what a large project takes, and
// keeps hostile text (many long lists, each on many entities) from filling the memory of
// whoever gathers the document.
const maxDocument = 256 << 20

// bounded counts what is written and refuses what is over the bound.
type bounded struct {
	to    io.Writer
	count int
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.count += len(p); b.count > maxDocument {
		return 0, fmt.Errorf("the document is larger than %d bytes", maxDocument)
	}
	return b.to.Write(p)
}

// WriteJSON writes the document, one entity, rule and finding a line. It makes one
// entity at a time, so a large world needs no large memory.
func (d *Document) WriteJSON(w io.Writer) error {
	out := bufio.NewWriterSize(&bounded{to: w}, 1<<16)
	var e encoder
	e.b = append(e.b, '{')
	e.text("schema", d.Schema)
	e.b = append(e.b, ",\n "...)
	if d.Version != "" {
		e.text("version", d.Version)
		e.b = append(e.b, ",\n "...)
	}
	if d.World != nil {
		e.key("world")
		e.world(d.World)
		e.b = append(e.b, ",\n "...)
	}
	e.key("context")
	e.context(d.Context)
	e.b = append(e.b, ",\n "...)
	e.key("entities")
	e.b = append(e.b, '[')
	line := "\n  "
	if d.Entities != nil {
		for x := range d.Entities {
			e.b = append(e.b, line...)
			e.entity(&x)
			line = ",\n  "
			if _, err := out.Write(e.b); err != nil {
				return err
			}
			e.b = e.b[:0]
		}
	}
	e.b = append(e.b, "],\n "...)
	lines(&e, "rules", d.Rules, e.rule)
	e.b = append(e.b, ",\n "...)
	lines(&e, "diagnostics", d.Diagnostics, e.diagnostic)
	e.b = append(e.b, "}\n"...)
	if _, err := out.Write(e.b); err != nil {
		return err
	}
	return out.Flush()
}

func lines[T any](e *encoder, key string, list []T, write func(T)) {
	e.key(key)
	e.b = append(e.b, '[')
	for i, x := range list {
		if i > 0 {
			e.b = append(e.b, ',')
		}
		e.b = append(e.b, "\n  "...)
		write(x)
	}
	e.b = append(e.b, ']')
}

// encoder writes JSON by hand: members stand in the order of the documentation, and a
// world of many files is written in little time.
type encoder struct{ b []byte }

func (e *encoder) world(w *World) {
	e.b = append(e.b, '{')
	e.name("name", w.Name)
	if w.Root != "" {
		e.name("root", w.Root)
	}
	e.text("digest", w.Digest)
	e.b = append(e.b, '}')
}

// context writes an object: an id for each type, or a list of ids where several entities
// of the type are active. Types come in the order of their first entity.
func (e *encoder) context(refs []Ref) {
	var types []string
	ids := map[string][]string{}
	for _, r := range refs {
		if ids[r.Type] == nil {
			types = append(types, r.Type)
		}
		ids[r.Type] = append(ids[r.Type], r.ID)
	}
	e.b = append(e.b, '{')
	for _, t := range types {
		if list := ids[t]; len(list) > 1 {
			e.list(t, list)
		} else {
			e.text(t, list[0])
		}
	}
	e.b = append(e.b, '}')
}

func (e *encoder) entity(x *Entity) {
	e.b = append(e.b, '{')
	e.text("taxon", x.Taxon)
	e.text("type", x.Type)
	e.name("id", x.ID)
	e.list("classes", x.Classes)
	if p := x.Parent; p != nil {
		e.key("parent")
		e.b = append(e.b, '{')
		e.text("type", p.Type)
		e.name("id", p.ID)
		e.b = append(e.b, '}')
	}
	if x.Attributes != nil {
		e.key("attributes")
		e.b = append(e.b, '{')
		for _, a := range x.Attributes {
			if a.List != nil {
				e.list(a.Name, a.List)
				continue
			}
			e.name(a.Name, a.Text)
		}
		e.b = append(e.b, '}')
	}
	e.key("properties")
	e.b = append(e.b, '{')
	for i := range x.Properties {
		e.property(&x.Properties[i])
	}
	e.b = append(e.b, "}}"...)
}

func (e *encoder) property(p *Property) {
	e.key(p.Name)
	e.b = append(e.b, '{')
	e.text("value", p.Value)
	if p.Values != nil {
		e.list("values", p.Values)
	}
	if len(p.Sets) > 0 {
		e.key("sets")
		e.b = append(e.b, '[')
		for i, s := range p.Sets {
			if i > 0 {
				e.b = append(e.b, ", "...)
			}
			e.strings(s)
		}
		e.b = append(e.b, ']')
	}
	e.text("source", p.Source)
	if p.Cascade != nil {
		e.text("cascade", *p.Cascade)
	}
	e.optional("because", p.Because)
	e.place("from", p.From)
	e.place("fixed", p.Fixed)
	if p.Secret {
		e.flag("secret")
	}
	e.b = append(e.b, '}')
}

func (e *encoder) rule(r Rule) {
	e.b = append(e.b, '{')
	e.position(r.Place)
	e.text("selector", r.Selector)
	e.number("matched", int64(r.Matched))
	if r.Idle {
		e.flag("idle")
	}
	e.b = append(e.b, '}')
}

func (e *encoder) diagnostic(d Diagnostic) {
	e.b = append(e.b, '{')
	e.text("severity", d.Severity)
	e.text("code", d.Code)
	if d.Place != nil {
		e.position(*d.Place)
	}
	e.text("message", d.Message)
	e.optional("hint", d.Hint)
	e.b = append(e.b, '}')
}

func (e *encoder) place(key string, p *Place) {
	if p == nil {
		return
	}
	e.key(key)
	e.b = append(e.b, '{')
	e.position(*p)
	e.b = append(e.b, '}')
}

func (e *encoder) position(p Place) {
	e.text("file", p.File)
	e.number("line", int64(p.Line))
	e.number("column", int64(p.Column))
}

// key begins a member.
func (e *encoder) key(k string) {
	if n := len(e.b); n > 0 && e.b[n-1] != '{' && e.b[n-1] != ' ' {
		e.b = append(e.b, ", "...)
	}
	e.string(k)
	e.b = append(e.b, ": "...)
}

func (e *encoder) text(key, value string) {
	e.key(key)
	e.string(value)
}

func (e *encoder) optional(key, value string) {
	if value != "" {
		e.text(key, value)
	}
}

// flag writes a member that is true; one that is false is left out.
func (e *encoder) flag(key string) {
	e.key(key)
	e.b = append(e.b, "true"...)
}

func (e *encoder) number(key string, n int64) {
	e.key(key)
	e.b = strconv.AppendInt(e.b, n, 10)
}

// name writes a text that may be any bytes, and its exact bytes where it is not UTF-8.
func (e *encoder) name(key, value string) {
	e.text(key, value)
	if !utf8.ValidString(value) {
		e.text(key+"-bytes", base64.StdEncoding.EncodeToString([]byte(value)))
	}
}

func (e *encoder) list(key string, list []string) {
	e.key(key)
	e.strings(list)
}

func (e *encoder) strings(list []string) {
	e.b = append(e.b, '[')
	for i, s := range list {
		if i > 0 {
			e.b = append(e.b, ", "...)
		}
		e.string(s)
	}
	e.b = append(e.b, ']')
}

// string writes a JSON string. What could drive a terminal or reorder text is escaped
// too, and a byte that is not UTF-8 becomes the four characters \xHH.
func (e *encoder) string(s string) {
	e.b = append(e.b, '"')
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			e.b = append(e.b, '\\', '\\', 'x', digits[s[i]>>4], digits[s[i]&15])
		case r == '"' || r == '\\':
			e.b = append(e.b, '\\', byte(r))
		case r == '\n':
			e.b = append(e.b, `\n`...)
		case r == '\t':
			e.b = append(e.b, `\t`...)
		case r >= 0x20 && r < 0x7f:
			e.b = append(e.b, byte(r))
		case r < 0x20 || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co):
			if r >= 0x10000 {
				hi, lo := utf16.EncodeRune(r)
				e.unicode(hi)
				r = lo
			}
			e.unicode(r)
		default:
			e.b = append(e.b, s[i:i+n]...)
		}
		i += n
	}
	e.b = append(e.b, '"')
}

const digits = "0123456789abcdef"

// unicode writes \uXXXX.
func (e *encoder) unicode(r rune) {
	e.b = append(e.b, '\\', 'u', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15])
}
