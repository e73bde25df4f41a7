package cascade_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	_ "modernc.org/sqlite"
	"pgregory.net/rapid"

	"umwelt/cascade"
	"umwelt/compilers"
	"umwelt/compilers/sqlite"
	"umwelt/internal/sqltest"
)

// TestSQLAgainstNaive compares what the views of a database compute with the engine and
// the naive evaluator, on random vocabularies, worlds, views and contexts.
func TestSQLAgainstNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCase(t)
		e, refs := build(t, c, identity(len(c.entities)))
		r, list := e.Resolve(refs)
		if list.HasErrors() {
			t.Fatalf("%v\n%s", list.Err(), c)
		}
		db := openSQL(t, compileSQL(t, r, "sqlite"))
		defer db.Close()
		// The context that the database was made in, then another.
		for k := range 2 {
			if k > 0 {
				c.context = rapid.SliceOfNDistinct(rapid.IntRange(0, len(c.entities)-1), 0, 3, func(i int) int { return i }).Draw(t, "context")
				setContext(t, db, c)
			}
			want := expected(c)
			if got := sqlAnswers(t, db, c); got != want {
				t.Fatalf("%s\nSQL and naive evaluator differ:\n%s", c, firstDifferences(got, want))
			}
		}
	})
}

// compileSQL is what a database target writes for a resolution.
func compileSQL(t tester, r *cascade.Resolution, target string) []byte {
	t.Helper()
	for _, c := range sqlite.Compilers(nil) {
		if c.Info.Name == target {
			out := c.Compile(compilers.Input{Resolution: r})
			if err := out.Diagnostics.Err(); err != nil {
				t.Fatalf("%v", err)
			}
			return out.Text
		}
	}
	t.Fatalf("no target %s", target)
	return nil
}

func openSQL(t tester, file []byte) *sql.Conn {
	t.Helper()
	pool, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatalf("%v", err)
	}
	conn, err := pool.Conn(context.Background())
	if err != nil {
		t.Fatalf("%v", err)
	}
	err = conn.Raw(func(c any) error { return c.(interface{ Deserialize([]byte) error }).Deserialize(file) })
	if err != nil {
		t.Fatalf("%v", err)
	}
	return conn
}

func setContext(t tester, db *sql.Conn, c *mCase) {
	t.Helper()
	_, err := db.ExecContext(context.Background(), "DELETE FROM active_context")
	for _, i := range c.context {
		if err == nil {
			_, err = db.ExecContext(context.Background(), "INSERT INTO active_context VALUES (?, ?)", sqlType(c, c.entities[i].typ), c.entities[i].id)
		}
	}
	if err != nil {
		t.Fatalf("%v", err)
	}
}

// sqlType is what a database calls a type: with its taxon where two have the name.
func sqlType(c *mCase, typ *mType) string {
	for _, other := range c.vocabulary.types {
		if other != typ && other.name == typ.name {
			return typ.ref()
		}
	}
	return typ.name
}

// everyAnswer is one row per property of every entity, as text.
const everyAnswer = `SELECT e.type, e.entity, p.property_name AS property, coalesce(f.source, 'none') AS source, f.value, r.value AS resolved, f.sets
FROM entities AS e JOIN property_types AS p ON p.type = e.type
LEFT JOIN cohort_effective AS f ON f.cohort_id = e.cohort_id AND f.property_id = p.id
LEFT JOIN cohort_resolved AS r ON r.cohort_id = e.cohort_id AND r.property_id = p.id`

// sqlAnswers prints everything that the views say, as expected does.
func sqlAnswers(t tester, db *sql.Conn, c *mCase) string {
	t.Helper()
	rows, err := db.QueryContext(context.Background(), everyAnswer)
	if err != nil {
		t.Fatalf("%v", err)
	}
	defer rows.Close()
	found := map[string]string{}
	for rows.Next() {
		var typ, entity, property, source string
		var value, resolved, sets sql.NullString
		if err := rows.Scan(&typ, &entity, &property, &source, &value, &resolved, &sets); err != nil {
			t.Fatalf("%v", err)
		}
		var lists [][]string
		if sets.Valid {
			if err := json.Unmarshal([]byte(sets.String), &lists); err != nil {
				t.Fatalf("%v in %s", err, sets.String)
			}
		}
		found[typ+"\x00"+entity+"\x00"+property] = sqlAnswer(source, value, resolved, lists)
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%v", err)
	}
	return printSQL(c, found)
}

func sqlAnswer(source string, value, resolved sql.NullString, sets [][]string) string {
	show := func(v sql.NullString) string {
		if !v.Valid {
			return "-"
		}
		return fmt.Sprintf("%q", v.String)
	}
	return fmt.Sprintf("%s %s / %s %q", source, show(value), show(resolved), sets)
}

func printSQL(c *mCase, found map[string]string) string {
	var b strings.Builder
	for _, e := range c.entities {
		for _, p := range e.typ.props {
			fmt.Fprintf(&b, "%s %s %s: %s\n", e.typ.ref(), e.id, p.name, found[sqlType(c, e.typ)+"\x00"+e.id+"\x00"+p.name])
		}
	}
	return b.String()
}

// TestOtherDialectsAgainstNaive compares PostgreSQL and DuckDB with the naive evaluator, on
// fewer random cases since each loads a script.
func TestOtherDialectsAgainstNaive(t *testing.T) {
	for _, engine := range []struct {
		target string
		start  func(testing.TB) sqltest.Engine
		cases  int
		row    string // a row of everyAnswer as a JSON array
	}{
		{"postgres", sqltest.Postgres, 12, "SELECT json_build_array(type, entity, property, source, value, resolved, (SELECT jsonb_agg(s::jsonb ORDER BY i) FROM unnest(sets) WITH ORDINALITY AS u(s, i))::text) FROM (%s) AS a"},
		{"duckdb", sqltest.DuckDB, 4, "SELECT json_array(type, entity, property, source, value, resolved, to_json(sets)::text) FROM (%s) AS a"},
	} {
		t.Run(engine.target, func(t *testing.T) {
			db := engine.start(t)
			query := fmt.Sprintf(engine.row, everyAnswer)
			for seed := range engine.cases {
				c := rapid.Custom(func(t *rapid.T) *mCase { return drawCase(t) }).Example(seed)
				e, refs := build(t, c, identity(len(c.entities)))
				r, list := e.Resolve(refs)
				if list.HasErrors() {
					t.Fatalf("%v\n%s", list.Err(), c)
				}
				// The context that the script was made in, then none.
				got, err := db.Run(string(compileSQL(t, r, engine.target)), query, "DELETE FROM active_context", query)
				if err != nil {
					t.Fatalf("%v\n%s", err, c)
				}
				for _, rows := range [][][]*string{got[0], got[len(got)-1]} {
					want := expected(c)
					if got := printSQL(c, readRows(t, rows)); got != want {
						t.Fatalf("seed %d: %s\n%s and naive evaluator differ:\n%s", seed, c, engine.target, firstDifferences(got, want))
					}
					c.context = nil
				}
			}
		})
	}
}

func readRows(t tester, rows [][]*string) map[string]string {
	t.Helper()
	text := func(s *string) sql.NullString {
		if s == nil {
			return sql.NullString{}
		}
		return sql.NullString{String: *s, Valid: true}
	}
	found := map[string]string{}
	for _, row := range rows {
		var lists [][]string
		if row[6] != nil {
			if err := json.Unmarshal([]byte(*row[6]), &lists); err != nil {
				t.Fatalf("%v in %s", err, *row[6])
			}
		}
		found[*row[0]+"\x00"+*row[1]+"\x00"+*row[2]] = sqlAnswer(*row[3], text(row[4]), text(row[5]), lists)
	}
	return found
}
