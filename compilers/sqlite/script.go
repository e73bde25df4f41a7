package sqlite

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"umwelt/compilers"
)

// scripter writes a database as a script of one dialect, in one transaction.
func scripter(d *dialect) func(*database, []compilers.Info) ([]byte, error) {
	return func(db *database, targets []compilers.Info) ([]byte, error) {
		var b bytes.Buffer
		b.WriteString(d.preamble)
		for i := range tables {
			t := &tables[i]
			b.WriteString(d.create(t) + ";\n")
			d.insert(&b, t, db.rows[t.name])
			if t.name == "entity_closure" {
				b.WriteString(closure + ";\n")
			}
		}
		for _, x := range indexes {
			b.WriteString("CREATE INDEX " + x[0] + "_by_" + x[1] + " ON " + x[0] + " (" + x[1] + ");\n")
		}
		for _, v := range append(d.ground(db), d.answers(db, targets)...) {
			b.WriteString(v.create() + ";\n")
		}
		b.WriteString(d.epilogue)
		return b.Bytes(), nil
	}
}

// batch is how many rows one INSERT has at most.
const batch = 500

func (d *dialect) insert(b *bytes.Buffer, t *table, rows []row) {
	for i, r := range rows {
		switch {
		case i%batch == 0:
			fmt.Fprintf(b, "INSERT INTO %s VALUES\n", t.name)
		default:
			b.WriteString(",\n")
		}
		b.WriteByte('(')
		for k, cell := range r {
			if k > 0 {
				b.WriteString(", ")
			}
			d.cell(b, cell)
		}
		b.WriteByte(')')
		if i%batch == batch-1 || i == len(rows)-1 {
			b.WriteString(";\n")
		}
	}
}

func (d *dialect) cell(b *bytes.Buffer, cell any) {
	switch v := cell.(type) {
	case nil:
		b.WriteString("NULL")
	case int:
		fmt.Fprint(b, v)
	case float64:
		b.WriteString(float(v))
	case string:
		b.WriteString(escaped(shown(v)))
	case []string:
		if len(v) == 0 {
			b.WriteString(d.empty)
			return
		}
		texts := make([]string, len(v))
		for i, s := range v {
			texts[i] = escaped(s)
		}
		open := map[string]string{"postgres": "ARRAY["}[d.name]
		if open == "" {
			open = "["
		}
		b.WriteString(open + strings.Join(texts, ", ") + "]")
	}
}

// shown is a text for databases that take nothing but UTF-8: where it is not, each wrong
// byte and each backslash is escaped.
func shown(s string) string {
	if printable(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1 || r == 0:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case s[0] == '\\':
			b.WriteString(`\\`)
		default:
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}
