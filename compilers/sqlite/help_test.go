package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"umwelt/ast"
	"umwelt/cascade"
	"umwelt/compilers"
	"umwelt/compilers/all"
	"umwelt/diag"
	"umwelt/parser"
	"umwelt/registry"
	"umwelt/sandbox"
	"umwelt/world"
)

func parse(t testing.TB, name, text string) *ast.View {
	t.Helper()
	v, list := parser.Parse(&diag.Source{Name: name, Text: []byte(text)})
	if list.HasErrors() {
		t.Fatal(list.Err())
	}
	return v
}

// vocabulary is the registry of a vocabulary; "" is the one that ships with the tool.
func vocabulary(t testing.TB, text string) *registry.Registry {
	t.Helper()
	reg := registry.New()
	shipped := text == ""
	if shipped {
		text = string(sandbox.Vocabulary().Text)
	}
	if list := reg.Load(registry.Options{}, parse(t, "words.umw", text)); list.HasErrors() {
		t.Fatal(list.Err())
	}
	if shipped {
		if err := sandbox.Register(reg); err != nil {
			t.Fatal(err)
		}
	}
	return reg
}

// resolve answers everything for a world file and a view.
func resolve(t testing.TB, reg *registry.Registry, worldFile, view string, refs ...cascade.Ref) *cascade.Resolution {
	t.Helper()
	bound := reg.Bind(registry.Options{}, parse(t, "v.umw", view))
	if bound.Diagnostics.HasErrors() {
		t.Fatal(bound.Diagnostics.Err())
	}
	w, list := world.LoadText(&diag.Source{Name: "w.world.yml", Text: []byte(worldFile)}, "", world.Options{Registry: reg, Named: bound.Pins(), Declared: bound.Entities})
	if list.HasErrors() {
		t.Fatal(list.Err())
	}
	r, list := cascade.New(w, bound).Resolve(refs)
	if list.HasErrors() {
		t.Fatal(list.Err())
	}
	return r
}

// compile is what a target writes, or the error that it gives instead.
func compile(t testing.TB, target string, in compilers.Input) ([]byte, error) {
	t.Helper()
	for _, c := range all.Compilers() {
		if c.Info.Name == target {
			out := c.Compile(in)
			return out.Text, out.Diagnostics.Err()
		}
	}
	t.Fatalf("no target %s", target)
	return nil, nil
}

// open is a database in memory with what a compiled file holds.
func open(t testing.TB, r *cascade.Resolution) *sql.Conn {
	t.Helper()
	file, err := compile(t, "sqlite", compilers.Input{Resolution: r})
	if err != nil {
		t.Fatal(err)
	}
	pool, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Close() })
	conn, err := pool.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Raw(func(c any) error { return c.(interface{ Deserialize([]byte) error }).Deserialize(file) }); err != nil {
		t.Fatal(err)
	}
	return conn
}

// rows are the rows of a query, the cells of each joined by "|".
func rows(t testing.TB, conn *sql.Conn, query string, args ...any) []string {
	t.Helper()
	got, err := conn.QueryContext(context.Background(), query, args...)
	if err != nil {
		t.Fatalf("%v in %s", err, query)
	}
	defer got.Close()
	columns, err := got.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for got.Next() {
		cells := make([]any, len(columns))
		to := make([]any, len(columns))
		for i := range cells {
			to[i] = &cells[i]
		}
		if err := got.Scan(to...); err != nil {
			t.Fatal(err)
		}
		texts := make([]string, len(cells))
		for i, c := range cells {
			if b, ok := c.([]byte); ok {
				c = fmt.Sprintf("bytes %q", b)
			}
			if c != nil {
				texts[i] = fmt.Sprint(c)
			}
		}
		out = append(out, strings.Join(texts, "|"))
	}
	if err := got.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}
