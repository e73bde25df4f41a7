package database

import (
	"context"
	sqldriver "database/sql/driver"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"umwelt/cascade"
	"umwelt/compilers"
	"umwelt/diag"
)

// Saved is what a database holds of the policy it was made of, beside the world.
type Saved struct {
	Sources []compilers.Source
	Context []cascade.Ref
	Found   diag.List // what was found about the world when it was loaded
}

// sourceKinds are the kinds of source that a policy can be loaded from again.
var sourceKinds = []string{compilers.Vocabulary, compilers.View, compilers.Import}

// Saved reads the texts of the policy, the context in active_context, and what was found
// about the world.
func (f *File) Saved() (*Saved, error) {
	r := f.reader()
	out := &Saved{}
	for c := range r.rows("sources", "position, kind, name, content") {
		i := c.number(0)
		if i != len(out.Sources) {
			r.fail("the sources are not in order")
		}
		s := compilers.Source{Kind: c.text(1), Name: c.text(2), Text: []byte(c.text(3))}
		if !slices.Contains(sourceKinds, s.Kind) {
			r.fail("there is no kind of source %s", diag.Quote(s.Kind))
		}
		out.Sources = append(out.Sources, s)
	}
	for c := range r.rows("active_context", "type, entity") {
		out.Context = append(out.Context, cascade.Ref{Type: c.text(0), ID: c.text(1)})
	}
	for c := range r.rows("diagnostics", "position, part, severity, code, message, hint, hidden, excerpt, file, line, column_number, start_offset, end_line, end_column, end_offset") {
		var src *diag.Source
		if line := c.textOr(7, ""); c.values[8] != nil {
			src = &diag.Source{Name: c.text(8), Text: []byte(line)}
		}
		at := c.span(8, src)
		if c.number(1) > 0 {
			if len(out.Found) == 0 {
				r.fail("a finding has no beginning")
				continue
			}
			last := &out.Found[len(out.Found)-1]
			last.Related = append(last.Related, diag.Related{Span: at, Message: c.text(4)})
			continue
		}
		d := diag.Diagnostic{Code: diag.Code(c.text(3)), Message: c.text(4), Hint: c.textOr(5, ""), Span: at, Private: c.flag(6)}
		switch c.text(2) {
		case diag.Note.String():
		case diag.Warning.String():
			d.Severity = diag.Warning
		default:
			r.fail("a saved policy was found to have the fault %s", diag.Quote(d.Message))
		}
		out.Found = append(out.Found, d)
	}
	if r.err != nil {
		return nil, fmt.Errorf("%s: %w", diag.Escape(f.path), r.err)
	}
	return out, nil
}

// reader reads tables until the first fault.
type reader struct {
	f       *File
	err     error
	sources map[string]*diag.Source // by name, of spans that need no text
}

func (f *File) reader() *reader { return &reader{f: f, sources: map[string]*diag.Source{}} }

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

// cells is one row. Its methods fail the reader where a cell is not what it has to be.
type cells struct {
	r      *reader
	table  string
	values []sqldriver.Value
}

// rows goes through a table by its key, as far as nothing is wrong. It asks the driver
// itself, since a world may have many rows.
func (r *reader) rows(table, columns string) func(yield func(*cells) bool) {
	return func(yield func(*cells) bool) {
		ctx := context.Background()
		if r.err == nil {
			r.err = r.f.defined(ctx, table)
		}
		if r.err != nil {
			return
		}
		err := r.f.conn.Raw(func(c any) error {
			rows, err := c.(sqldriver.QueryerContext).QueryContext(ctx, "SELECT "+columns+" FROM "+table+" ORDER BY "+strings.Join(tableKey(table), ", "), nil)
			if err != nil {
				return err
			}
			defer rows.Close()
			cells := &cells{r: r, table: table, values: make([]sqldriver.Value, len(rows.Columns()))}
			for {
				if err := rows.Next(cells.values); errors.Is(err, io.EOF) {
					return nil
				} else if err != nil {
					return err
				}
				if !yield(cells) || r.err != nil {
					return nil
				}
			}
		})
		if err != nil && r.err == nil {
			r.err = damaged(err)
		}
	}
}

// count is how many rows a table has.
func (r *reader) count(table string) int {
	if r.err == nil {
		r.err = r.f.defined(context.Background(), table)
	}
	n := 0
	if r.err == nil {
		if err := r.f.conn.QueryRowContext(context.Background(), "SELECT count(*) FROM "+table).Scan(&n); err != nil {
			r.err = damaged(err)
		}
	}
	return n
}

func (c *cells) bad(i int) {
	c.r.fail("its table %s holds %s where something else has to stand (column %d)", c.table, kindOf(c.values[i]), i+1)
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "nothing"
	case int64, float64:
		return "a number"
	case string:
		return "a text"
	}
	return "bytes"
}

// text is a text, also one that is not UTF-8 and so is kept as bytes.
func (c *cells) text(i int) string {
	switch v := c.values[i].(type) {
	case string:
		return v
	case []byte:
		return string(v)
	}
	c.bad(i)
	return ""
}

func (c *cells) textOr(i int, otherwise string) string {
	if c.values[i] == nil {
		return otherwise
	}
	return c.text(i)
}

// number is a whole number that fits what positions are kept in.
func (c *cells) number(i int) int {
	if v, ok := c.values[i].(int64); ok && v == int64(int32(v)) {
		return int(v)
	}
	c.bad(i)
	return 0
}

func (c *cells) numberOr(i, otherwise int) int {
	if c.values[i] == nil {
		return otherwise
	}
	return c.number(i)
}

func (c *cells) flag(i int) bool {
	n := c.number(i)
	if n != 0 && n != 1 {
		c.bad(i)
	}
	return n == 1
}

// span reads the seven cells of a place from i on. Without a text it gets a source that
// only has the name.
func (c *cells) span(i int, src *diag.Source) diag.Span {
	if c.values[i] == nil {
		return diag.Span{}
	}
	if src == nil {
		name := c.text(i)
		if src = c.r.sources[name]; src == nil {
			src = &diag.Source{Name: name}
			c.r.sources[name] = src
		}
	}
	pos := func(k int) diag.Pos {
		p := diag.Pos{Line: int32(c.number(k)), Column: int32(c.number(k + 1)), Offset: int32(c.number(k + 2))}
		if p.Line < 0 || p.Column < 0 || p.Offset < 0 || len(src.Text) > 0 && int(p.Offset) > len(src.Text) {
			c.r.fail("a place lies outside of %s", diag.Escape(src.Name))
		}
		return p
	}
	at := diag.Span{Source: src, Start: pos(i + 1), End: pos(i + 4)}
	if at.End.Offset < at.Start.Offset {
		c.r.fail("a place in %s ends before it begins", diag.Escape(src.Name))
	}
	return at
}

// texts reads a JSON array of texts. A text that is not UTF-8 is an object with base64.
func (c *cells) texts(i int) []string {
	if c.values[i] == nil {
		return nil
	}
	text := c.text(i)
	if text == "[]" {
		return []string{}
	}
	var raw []member
	if err := json.Unmarshal([]byte(text), &raw); err != nil || raw == nil {
		c.bad(i)
		return nil
	}
	out := make([]string, len(raw))
	for k, m := range raw {
		out[k] = string(m)
	}
	return out
}

// member is one text of a JSON array.
type member string

func (m *member) UnmarshalJSON(raw []byte) error {
	var text string
	if err := json.Unmarshal(raw, &text); err == nil && raw[0] == '"' {
		*m = member(text)
		return nil
	}
	var other struct{ Base64 *string }
	if err := json.Unmarshal(raw, &other); err != nil {
		return err
	}
	if other.Base64 == nil {
		return errors.New("not a text")
	}
	decoded, err := base64.StdEncoding.DecodeString(*other.Base64)
	*m = member(decoded)
	return err
}
