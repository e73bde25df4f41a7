package database_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	_ "modernc.org/sqlite"

	"umwelt"
	"umwelt/cascade"
	"umwelt/database"
	"umwelt/world"
)

const view = `file { visible: true; }
mode#review file { editable: false !important; }
tool#Bash { allow: true; }
`

const worldFile = `name: dev
modes: [implement, review]
tools: [Bash]
entities:
  - { type: dir, id: src, attributes: { path: src } }
  - { type: file, id: src/a.go, attributes: { path: src/a.go } }
fixed:
  "file": { editable: false }
`

// saved is a policy saved as a file.
func saved(t testing.TB) string {
	t.Helper()
	p := umwelt.LoadText(umwelt.Options{}, umwelt.Texts{
		Views: []*umwelt.Source{{Name: "v.umw", Text: []byte(view)}}, World: &umwelt.Source{Name: "w.world.yml", Text: []byte(worldFile)},
	})
	if err := p.Err(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "policy #1?.db")
	if err := p.Save(path); err != nil {
		t.Fatal(err)
	}
	return path
}

func opened(t *testing.T, path string, refs []cascade.Ref) *database.File {
	t.Helper()
	f, err := database.OpenIn(path, refs)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// TestQuery asks a few questions, within bounds.
func TestQuery(t *testing.T) {
	f := opened(t, saved(t), nil)
	ctx := context.Background()
	r, err := f.Query(ctx, "-- a comment; with a semicolon\nSELECT type, entity FROM entities WHERE type IN ('mode', 'tool') ORDER BY entity; -- the end", database.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	want := &database.Result{Columns: []string{"type", "entity"}, Rows: [][]any{{"tool", "Bash"}, {"mode", "implement"}, {"mode", "review"}}}
	if d := cmp.Diff(want, r); d != "" {
		t.Error(d)
	}
	if r, err := f.Query(ctx, "SELECT id FROM entities", database.Limits{Rows: 2}); err != nil || len(r.Rows) != 2 || !r.More {
		t.Errorf("%v %v", r, err)
	}
	if r, err := f.Query(ctx, "VALUES (1, 2.5, NULL, X'00ff', 'a;b')", database.Limits{}); err != nil || cmp.Diff([][]any{{int64(1), 2.5, nil, []byte{0, 255}, "a;b"}}, r.Rows) != "" {
		t.Errorf("%v %v", r, err)
	}
	start := time.Now()
	_, err = f.Query(ctx, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n", database.Limits{Time: 50 * time.Millisecond})
	if !errors.Is(err, database.ErrTime) || time.Since(start) > 20*time.Second {
		t.Errorf("%v after %v", err, time.Since(start))
	}
	if _, err := f.Query(ctx, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT zeroblob(10000000) FROM n", database.Limits{Time: time.Minute}); err == nil || !strings.Contains(err.Error(), "larger") {
		t.Errorf("%v", err)
	}
}

// TestQueryOnlyReads tries to write, each time in another way, and finds the file as it was.
func TestQueryOnlyReads(t *testing.T) {
	path := saved(t)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	aside := filepath.Join(t.TempDir(), "aside.db")
	for _, refs := range [][]cascade.Ref{nil, {{Type: "mode", ID: "review"}}} {
		f := opened(t, path, refs)
		for _, statement := range []string{
			"", ";", "-- nothing", "SELECT 1; SELECT 2", "SELECT 1; DROP TABLE entities", "DELETE FROM entities", "delete from entities",
			"INSERT INTO active_context VALUES ('mode', 'review')", "UPDATE entities SET entity = 'x'", "DROP VIEW type_tool",
			"CREATE TABLE x (y)", "CREATE TEMP TABLE x (y)", "ATTACH '" + aside + "' AS x", "VACUUM INTO '" + aside + "'",
			"PRAGMA writable_schema = ON", "PRAGMA query_only = OFF", "PRAGMA journal_mode = WAL", "BEGIN", "COMMIT", "REINDEX", "ANALYZE",
			"WITH x AS (SELECT 1) DELETE FROM entities", "WITH x AS (SELECT 1) INSERT INTO taxa SELECT * FROM taxa", "EXPLAIN DELETE FROM entities",
			"SELECT load_extension('x')", "SELECT * FROM pragma_query_only(0)", "SELECT 'a' /* ; */; DELETE FROM taxa", "VALUES (1); VALUES (2)",
			"SELECT \"a;b\" FROM taxa; SELECT 1", "SELECT 1\x00; SELECT 2",
		} {
			if r, err := f.Query(context.Background(), statement, database.Limits{Time: time.Minute}); err == nil {
				t.Errorf("%q gives %v", statement, r)
			}
		}
		if _, err := f.Query(context.Background(), "SELECT count(*) FROM pragma_table_info('taxa')", database.Limits{}); err != nil {
			t.Errorf("the schema: %v", err)
		}
	}
	after, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file changed (%v)", err)
	}
	if _, err := os.Stat(aside); err == nil {
		t.Error("a file was written beside it")
	}
	if others, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(others) != 1 {
		t.Errorf("files beside it: %q", others)
	}
}

// TestContext asks in another context than the saved one.
func TestContext(t *testing.T) {
	path := saved(t)
	for _, c := range []struct {
		refs []cascade.Ref
		want string
	}{
		{nil, "initial"}, {[]cascade.Ref{}, "initial"}, {[]cascade.Ref{{Type: "mode", ID: "review"}}, "cascade"},
	} {
		r, err := opened(t, path, c.refs).Query(context.Background(), "SELECT source FROM effective_properties WHERE property_name = 'editable' AND entity_id = (SELECT id FROM entities WHERE entity = 'src/a.go')", database.Limits{})
		// The fixed constraint says the same, so that it is the source where no rule speaks.
		want := map[string]string{"initial": "fixed", "cascade": "cascade"}[c.want]
		if err != nil || len(r.Rows) != 1 || r.Rows[0][0] != want {
			t.Errorf("%v: %v %v", c.refs, r, err)
		}
	}
	if _, err := database.OpenIn(path, []cascade.Ref{{Type: "mode", ID: "nothing"}}); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("%v", err)
	}
}

// TestHostileFiles changes a saved policy in ways that nothing but an attack would, and
// finds that it is not opened.
func TestHostileFiles(t *testing.T) {
	for _, c := range []struct{ name, change, want string }{
		{"another program's", "PRAGMA application_id = 0", "no policy"},
		{"another schema", "UPDATE world_meta SET value = 'umwelt.database/9' WHERE key = 'schema'", "schema"},
		{"a view in place of a table", "ALTER TABLE sources RENAME TO old; CREATE VIEW sources AS WITH RECURSIVE n(position, kind, name, content) AS (SELECT 0, 'view', 'a', '' UNION ALL SELECT position + 1, kind, name, content FROM n) SELECT * FROM n", "no table"},
		{"another column", "ALTER TABLE entities ADD COLUMN more TEXT", "not what umwelt writes"},
		{"a virtual table", "CREATE VIRTUAL TABLE x USING fts5(y)", "virtual"},
		{"a climbing path", "UPDATE entity_attributes SET value = '../../etc/shadow' WHERE attribute = 'path' AND value = 'src/a.go'", "path"},
		{"a path that is not clean", "UPDATE entity_attributes SET value = 'src//a.go' WHERE attribute = 'path' AND value = 'src/a.go'", "clean"},
		{"a parent that is none", "UPDATE entities SET parent_id = 99999 WHERE entity = 'src/a.go'", "parent"},
		{"a circle of parents", "UPDATE entities SET parent_id = id WHERE entity = 'src/a.go'", "ancestor"},
		{"a huge number", "UPDATE entities SET parent_id = 99999999999 WHERE entity = 'src/a.go'", "entities"},
		{"a text for a number", "UPDATE entities SET parent_id = 'x' WHERE entity = 'src/a.go'", "entities"},
		{"an unknown type", "PRAGMA ignore_check_constraints = ON; UPDATE entities SET type = 'wizard' WHERE entity = 'src/a.go'", "wizard"},
		{"a missing entity", "DELETE FROM entities WHERE entity = 'src'", "in order"},
		{"no origin", "DELETE FROM entity_provenance WHERE entity_id = 1", "order"},
		{"an unknown origin", "UPDATE entity_provenance SET origin = 'divine'", "origin"},
		{"a broken view", "UPDATE sources SET content = 'tool { allow: ' WHERE kind = 'view'", ""},
		{"an import that is not there", "UPDATE sources SET content = '@import \"/etc/passwd\";' WHERE kind = 'view'", "does not hold"},
		{"no sources", "DELETE FROM sources", "without the texts"},
		{"a selector that is none", "UPDATE fixed_constraints SET selector = 'file[['", "selector"},
		{"a fixed value that does not fit", "UPDATE fixed_constraints SET value = 'maybe'", "fixed constraint"},
		{"a relative root", "UPDATE world_meta SET value = 'etc' WHERE key = 'root'", "root"},
		{"a context that does not exist", "DROP TRIGGER active_context_exists; INSERT INTO active_context VALUES ('mode', 'nothing')", "does not exist"},
		{"classes that are no list", "UPDATE entities SET classes = '{}' WHERE entity = 'src/a.go'", "entities"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := saved(t)
			change(t, path, c.change)
			p := umwelt.Open(path)
			err := p.Err()
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v", err)
			}
			if p.Resolution != nil {
				t.Error("it answers all the same")
			}
		})
	}
}

func change(t *testing.T, path, statements string) {
	t.Helper()
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path}).String())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statements); err != nil {
		t.Fatal(err)
	}
}

// TestHostileTriggers holds that a trigger of a file does not run when a context is set.
func TestHostileTriggers(t *testing.T) {
	path := saved(t)
	change(t, path, "CREATE TRIGGER evil AFTER INSERT ON active_context BEGIN DELETE FROM fixed_constraints; END")
	if _, err := database.OpenIn(path, []cascade.Ref{{Type: "mode", ID: "review"}}); err == nil || !strings.Contains(err.Error(), "triggers") {
		t.Errorf("%v", err)
	}
}

// TestNoDatabase refuses what is none, and says so.
func TestNoDatabase(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text.db")
	if err := os.WriteFile(text, []byte("SQLite format 3 it says"), 0o644); err != nil {
		t.Fatal(err)
	}
	short := filepath.Join(dir, "short.db")
	if err := os.WriteFile(short, []byte("SQLite format 3\x00and no more"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, text, short, filepath.Join(dir, "absent.db")} {
		if _, err := database.Open(path); err == nil {
			t.Errorf("%s opens", path)
		}
	}
	if database.Is(dir) || database.Is(text) || !database.Is(short) {
		t.Error("Is goes by something else than how the file begins")
	}
}

// FuzzOpen opens saved policies of which a part is overwritten.
func FuzzOpen(f *testing.F) {
	path := saved(f)
	whole, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint32(100), []byte{5, 0, 0}, uint32(0))
	f.Add(uint32(4096), []byte{0xff, 0xff}, uint32(0))
	f.Add(uint32(16), []byte{0xff, 0xff, 2, 2}, uint32(8192))
	f.Add(uint32(60000), []byte("file"), uint32(0))
	f.Fuzz(func(t *testing.T, at uint32, part []byte, cut uint32) {
		text := bytes.Clone(whole)
		if int(cut) > 0 && int(cut) < len(text) {
			text = text[:cut]
		}
		copy(text[int(at)%len(text):], part)
		path := filepath.Join(t.TempDir(), "p.db")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		p := umwelt.Open(path)
		if (p.Err() == nil) == (p.Resolution == nil) {
			t.Fatalf("error %v, and resolution %v", p.Err(), p.Resolution != nil)
		}
		if file, err := database.Open(path); err == nil {
			_, _ = file.Query(context.Background(), "SELECT * FROM effective_properties", database.Limits{Rows: 1000, Time: time.Second})
			file.Close()
		}
	})
}

// TestLargeWorld reads a world whose tables are read at once.
func TestLargeWorld(t *testing.T) {
	var what strings.Builder
	what.WriteString("name: dev\nentities:\n")
	for i := range 5000 {
		fmt.Fprintf(&what, "  - { type: file, id: f%d.go, classes: [c%d], attributes: { path: f%d.go } }\n", i, i%3, i)
	}
	p := umwelt.LoadText(umwelt.Options{}, umwelt.Texts{
		Views: []*umwelt.Source{{Name: "v.umw", Text: []byte(view)}}, World: &umwelt.Source{Name: "w.world.yml", Text: []byte(what.String())},
	})
	if err := p.Err(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "large.db")
	if err := p.Save(path); err != nil {
		t.Fatal(err)
	}
	again := umwelt.Open(path)
	if err := again.Err(); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(p.World.Entities, again.World.Entities, cmp.Comparer(func(a, b world.Entity) bool {
		return a.Type.Name == b.Type.Name && a.ID == b.ID && a.Parent == b.Parent && slices.Equal(a.Classes, b.Classes) && slices.EqualFunc(a.Attributes, b.Attributes, func(x, y world.Attribute) bool {
			return x.Name == y.Name && x.Text == y.Text
		}) && a.Provenance.Origin == b.Provenance.Origin && a.Provenance.At.String() == b.Provenance.At.String()
	})); d != "" {
		t.Error(d)
	}

	// A fault in each of the tables is found whichever is read first, and the same one each time.
	for _, tt := range []struct{ statement, want string }{
		{"UPDATE entities SET id = 90000 WHERE id = 4000", "its table entities|not numbered in order"},
		{"UPDATE entity_attributes SET entity_id = 90000 WHERE entity_id = 4000", "an attribute belongs to no entity"},
		{"DELETE FROM entity_provenance WHERE entity_id = 4000", "the origins of entities are not in order"},
		{"UPDATE entity_attributes SET value = '../x' WHERE entity_id = 4000 AND attribute = 'path'", `has the path "../x"`},
	} {
		bytes, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		broken := filepath.Join(t.TempDir(), "broken.db")
		if err := os.WriteFile(broken, bytes, 0o644); err != nil {
			t.Fatal(err)
		}
		change(t, broken, tt.statement)
		for range 3 {
			if err := umwelt.Open(broken).Err(); err == nil || !regexp.MustCompile(tt.want).MatchString(err.Error()) {
				t.Errorf("%s: %v", tt.statement, err)
			}
		}
	}
}

// TestOpenWhileSaved opens a file that others replace, of which each is whole.
func TestOpenWhileSaved(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "p.db")
	var texts [][]byte
	for _, name := range []string{"a", "b"} {
		var what strings.Builder
		what.WriteString("name: dev\nentities:\n")
		for i := range 4200 {
			fmt.Fprintf(&what, "  - { type: file, id: %s%d, attributes: { path: %s%d } }\n", name, i, name, i)
		}
		p := umwelt.LoadText(umwelt.Options{}, umwelt.Texts{World: &umwelt.Source{Name: "w.world.yml", Text: []byte(what.String())}})
		if err := errors.Join(p.Err(), p.Save(path)); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text)
	}
	done := make(chan error)
	go func() {
		var err error
		for i := range 60 {
			next := filepath.Join(dir, "next")
			err = errors.Join(err, os.WriteFile(next, texts[i%2], 0o644), os.Rename(next, path))
			time.Sleep(5 * time.Millisecond)
		}
		done <- err
	}()
	for open := true; open; {
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
			open = false
		default:
		}
		p := umwelt.Open(path)
		if err := p.Err(); err != nil {
			t.Error(err)
			continue
		}
		for i := range p.World.Entities {
			e := &p.World.Entities[i]
			if e.Type.Name == "file" && e.Path() != e.ID {
				t.Fatalf("%s has the path %s", e.ID, e.Path())
			}
		}
	}
}
