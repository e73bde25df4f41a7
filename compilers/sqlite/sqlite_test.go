package sqlite_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"umwelt/cascade"
	"umwelt/compilers"
	"umwelt/compilers/all"
	"umwelt/internal/sqltest"
)

const demoWorld = `name: dev
modes: [implement]
env: [TOKEN]
entities:
  - { type: tool, id: Bash, classes: [dangerous, shell], attributes: { level: 4, kit: shell } }
  - { type: tool, id: Read, attributes: { level: 1 } }
  - { type: dir, id: src, attributes: { path: src } }
  - { type: file, id: src/a.go, attributes: { path: src/a.go } }
  - { type: file, id: .env, attributes: { path: .env } }
projections:
  - { type: dir, id: vendor, attributes: { path: vendor } }
fixed:
  "file:glob('**/.env')": { visible: false }
`

const demoView = `file { visible: true; }
@layer base { tool { allow: true; max-level: 3; allow-pattern: "git *"; } }
tool.shell { allow-pattern: ls; max-level: 2; }
mode#review tool { allow: false !important; }
env#TOKEN { allow: true; value: "hunter2-secret"; }
`

// TestTables looks into every table and view of one small policy.
func TestTables(t *testing.T) {
	r := resolve(t, vocabulary(t, ""), demoWorld, demoView)
	db := open(t, r)
	for _, c := range []struct {
		query string
		want  []string
	}{
		{"SELECT name, axis FROM taxa WHERE name IN ('world', 'capability')", []string{"world|2", "capability|5"}},
		{"SELECT taxon, sole_active FROM entity_types WHERE type = 'mode'", []string{"state|1"}},
		{"SELECT value_type, comparison, restrictive, initial, gates_id = (SELECT id FROM property_types WHERE type = 'tool' AND property_name = 'allow') FROM property_types WHERE property_name = 'max-level'",
			[]string{"integer from 0 to 8|<=|min||1"}},
		{"SELECT type, entity, classes FROM entities WHERE type IN ('tool', 'file') ORDER BY entity", []string{"file|.env|[]", `tool|Bash|["dangerous","shell"]`, "tool|Read|[]", "file|src/a.go|[]"}},
		{"SELECT a.entity, depth FROM entity_closure JOIN entities AS d ON d.id = descendant_id JOIN entities AS a ON a.id = ancestor_id WHERE d.entity = 'src/a.go' ORDER BY depth",
			[]string{"src/a.go|0", "src|1", "dev|2"}},
		{"SELECT e.entity, origin, file, line FROM entity_provenance JOIN entities AS e ON e.id = entity_id WHERE e.entity = 'Bash'", []string{"Bash|explicit|w.world.yml|5"}},
		{"SELECT entity FROM projections", []string{"vendor"}},
		{"SELECT selector, property_name, value, line FROM fixed_constraints", []string{`file:glob("**/.env")|visible|false|13`}},
		{"SELECT property_name, value, layer, important, qualifiers, line FROM cascade_candidates JOIN entities AS e ON e.id = entity_id WHERE e.entity = 'Bash' ORDER BY property_name, important DESC, layer_rank DESC, specificity DESC, appearance DESC",
			[]string{"allow|false||1|1|4", "allow|true|base|0|0|2", "allow-pattern|ls||0|0|3", "allow-pattern|git *|base|0|0|2", "max-level|2||0|0|3", "max-level|3|base|0|0|2"}},
		{"SELECT q.qualifier, q.type, q.taxon FROM cascade_context_qualifiers AS q", []string{"mode#review|mode|state"}},
		{"SELECT value FROM world_meta WHERE key IN ('name', 'schema') ORDER BY key", []string{"dev", "umwelt.database/1"}},
		{"SELECT type, entity, origin FROM active_entities ORDER BY type", []string{"mode|implement|sole", "world|dev|sole"}},
		{"SELECT count(*) FROM active_context", []string{"0"}},
		{"SELECT value, selector, line FROM resolved_properties JOIN entities AS e ON e.id = entity_id WHERE e.entity = 'Bash' AND property_name = 'max-level'", []string{"2|tool.shell|3"}},
		{"SELECT property_name, effective_value, source, cascade_value FROM effective_properties JOIN entities AS e ON e.id = entity_id WHERE e.entity IN ('Bash', '.env') AND source <> 'initial' ORDER BY property_name",
			[]string{"allow|false|derived|true", "allow-pattern|ls, git *|cascade|ls, git *", "max-level|2|cascade|2", "visible|false|derived|", "visible|false|fixed|true"}},
		{`SELECT entity, allow, "max-level" FROM type_tool ORDER BY entity`, []string{"Bash|false|2", "Read|true|3"}},
		{`SELECT entity, value FROM type_env`, []string{"TOKEN|(secret)"}},
		{"SELECT DISTINCT type FROM target_bwrap WHERE source = 'fixed'", []string{"file"}},
	} {
		if d := cmp.Diff(c.want, rows(t, db, c.query)); d != "" {
			t.Errorf("%s\n%s", c.query, d)
		}
	}
}

// TestContext asks the same database under several contexts. A context that names what does
// not exist is refused.
func TestContext(t *testing.T) {
	world := strings.Replace(demoWorld, "[implement]", "[review, implement]", 1)
	r := resolve(t, vocabulary(t, ""), world, demoView, cascade.Ref{Type: "mode", ID: "review"})
	db := open(t, r)
	allowed := func() string {
		return strings.Join(rows(t, db, "SELECT entity || '=' || allow FROM type_tool ORDER BY entity"), " ")
	}
	if got := allowed(); got != "Bash=false Read=false" {
		t.Errorf("as it was saved: %s", got)
	}
	exec := func(statement string) error {
		_, err := db.ExecContext(context.Background(), statement)
		return err
	}
	if err := exec("UPDATE active_context SET entity = 'implement'"); err != nil {
		t.Fatal(err)
	}
	if got := allowed(); got != "Bash=false Read=true" {
		t.Errorf("implementing: %s", got)
	}
	if err := exec("DELETE FROM active_context"); err != nil {
		t.Fatal(err)
	}
	if got := allowed(); got != "Bash=false Read=true" {
		t.Errorf("with neither of two modes: %s", got)
	}
	if err := exec("INSERT INTO active_context VALUES ('mode', 'implement')"); err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{"INSERT INTO active_context VALUES ('mode', 'nothing')", "UPDATE active_context SET entity = 'nothing'", "INSERT INTO active_context VALUES ('tool', 'review')"} {
		if err := exec(statement); err == nil || !strings.Contains(err.Error(), "does not exist") {
			t.Errorf("%s: %v", statement, err)
		}
	}
}

// TestReferencedIsNotSoleActive holds that an entity which only the view names meets no
// qualifier by itself.
func TestReferencedIsNotSoleActive(t *testing.T) {
	reg := vocabulary(t, `@taxon a { axis: 1; description: d; } @taxon b { axis: 2; description: d; }
		@entity phase { taxon: a; sole-active: true; named: true; description: d; }
		@entity thing { taxon: b; description: d; }
		@property thing.on { type: boolean; initial: false; restrictive: false; description: d; }`)
	for _, c := range []struct{ world, want string }{
		{"entities: [{type: thing, id: x}]", "false"},
		{"entities: [{type: thing, id: x}, {type: phase, id: go}]", "true"},
	} {
		db := open(t, resolve(t, reg, c.world, "phase#go thing { on: true; }"))
		if got := rows(t, db, `SELECT "on" FROM type_thing`); got[0] != c.want {
			t.Errorf("%s: %v", c.world, got)
		}
	}
}

// TestTargetViews holds every target's view to the engine: it has a row for each property
// that the target does something with, and no others.
func TestTargetViews(t *testing.T) {
	r := resolve(t, vocabulary(t, ""), demoWorld, demoView)
	db := open(t, r)
	for _, c := range all.Compilers() {
		var want []string
		for i := range r.World().Entities {
			e := &r.World().Entities[i]
			for _, p := range e.Type.Properties {
				eff := r.Get(i, p)
				if eff.Value == nil || c.Info.Supports(p).Level == compilers.Dropped {
					continue
				}
				value := eff.Value.Text
				if p.Secret {
					value = "(secret)"
				}
				want = append(want, strings.Join([]string{e.Type.Name, e.ID, p.Name, value, eff.Origin.String()}, "|"))
			}
		}
		got := rows(t, db, `SELECT type, entity, property_name, effective_value, source FROM "target_`+c.Info.Name+`"`)
		slices.Sort(want)
		slices.Sort(got)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s:\n%s", c.Info.Name, d)
		}
	}
}

// TestSecretsStayOut looks for the secret in all that is written.
func TestSecretsStayOut(t *testing.T) {
	r := resolve(t, vocabulary(t, ""), demoWorld, demoView)
	for _, target := range []string{"sqlite", "duckdb", "postgres"} {
		text, err := compile(t, target, compilers.Input{Resolution: r})
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte("hunter2")) {
			t.Errorf("%s shows a secret", target)
		}
	}
}

// TestSameBytes compiles twice. In between much else happens on the heap.
func TestSameBytes(t *testing.T) {
	for _, target := range []string{"sqlite", "duckdb", "postgres"} {
		var first []byte
		for k := range 3 {
			r := resolve(t, vocabulary(t, ""), demoWorld, demoView)
			text, err := compile(t, target, compilers.Input{Resolution: r, Version: "1.0"})
			if err != nil {
				t.Fatal(err)
			}
			if k == 0 {
				first = text
			}
			if !bytes.Equal(first, text) {
				t.Errorf("%s: other bytes", target)
			}
			_ = fmt.Sprint(make([]byte, 1<<20))
		}
	}
}

// TestScriptsPrintSafely holds that names of the world cannot end a string, and that no
// control character stands in a script.
func TestScriptsPrintSafely(t *testing.T) {
	evil := "it's \\ \"\x1b[2J\u202e\n$$ '); DROP TABLE entities; --"
	world := fmt.Sprintf("entities:\n  - { type: tool, id: %q }\n", evil)
	r := resolve(t, vocabulary(t, ""), world, `tool { allow: true; require: "a'b\\c"; }`)
	for _, target := range []string{"duckdb", "postgres"} {
		text, err := compile(t, target, compilers.Input{Resolution: r})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range string(text) {
			if c != '\n' && !unicode.IsPrint(c) {
				t.Fatalf("%s holds %q", target, c)
			}
		}
	}
	const query = "SELECT entity FROM entities WHERE type = 'tool'"
	if got := rows(t, open(t, r), query); len(got) != 1 || got[0] != evil {
		t.Errorf("%q", got)
	}
	inEngines(t, r, query, []string{"entity"}, func(t *testing.T, got []string) {
		if len(got) != 1 || got[0] != evil {
			t.Errorf("%q", got)
		}
	})
}

// inEngines runs a query in every other database, and gives the rows of the named columns.
func inEngines(t *testing.T, r *cascade.Resolution, query string, columns []string, check func(*testing.T, []string)) {
	for _, engine := range []struct {
		target string
		start  func(testing.TB) sqltest.Engine
		row    string
	}{{"postgres", sqltest.Postgres, "json_build_array"}, {"duckdb", sqltest.DuckDB, "json_array"}} {
		t.Run(engine.target, func(t *testing.T) {
			script, err := compile(t, engine.target, compilers.Input{Resolution: r})
			if err != nil {
				t.Fatal(err)
			}
			results, err := engine.start(t).Run(string(script), "SELECT "+engine.row+"("+strings.Join(columns, ", ")+") FROM ("+query+") AS q")
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, row := range results[0] {
				var cells []string
				for _, c := range row {
					cells = append(cells, *c)
				}
				got = append(got, strings.Join(cells, "|"))
			}
			check(t, got)
		})
	}
}

// TestColumnsOfPivots tells properties from the columns that are always there.
func TestColumnsOfPivots(t *testing.T) {
	reg := vocabulary(t, `@taxon a { axis: 1; description: d; } @entity x { taxon: a; description: d; }
		@property x.entity { type: string; initial: one; description: d; }
		@property x.entity_value { type: string; initial: two; description: d; }
		@property x.entity_id { type: string; initial: three; description: d; }`)
	db := open(t, resolve(t, reg, "entities: [{type: x, id: it}]", ""))
	if got := rows(t, db, "SELECT entity, entity_value_value, entity_value, entity_id_value FROM type_x"); len(got) != 1 || got[0] != "it|one|two|three" {
		t.Errorf("%q", got)
	}
}

// TestRefused lists what cannot be a database, with the reason.
func TestRefused(t *testing.T) {
	const start = "@taxon a { axis: 1; description: d; }\n@entity x { taxon: a; description: d; }\n@attribute x.other { type: string; description: d; }\n"
	var locks strings.Builder
	for i := range 40 {
		fmt.Fprintf(&locks, "x { s: a%d !locked; }\n", i)
	}
	for _, c := range []struct{ name, words, view, want string }{
		{"circle", "@property x.p { type: string; follows: q; description: d; } @property x.q { type: string; follows: r; description: d; } @property x.r { type: string; follows: p; description: d; }", "", "circle"},
		{"long name", "@property x." + strings.Repeat("p", 70) + " { type: string; description: d; }", "", "too long"},
		{"secret number", "@property x.p { type: integer; secret: true; restrictive: min; description: d; }", "", "never printed"},
		{"many locks", "@property x.s { type: set of string; restrictive: subset; description: d; }", locks.String(), "locks"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := resolve(t, vocabulary(t, start+c.words), "entities: [{type: x, id: one}]", c.view)
			_, err := compile(t, "sqlite", compilers.Input{Resolution: r})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestSetsThatFollow compares the views with the engine where sets follow other entities, of
// which some do not exist, and are locked and fixed.
func TestSetsThatFollow(t *testing.T) {
	reg := vocabulary(t, `@taxon a { axis: 1; description: d; }
		@entity group { taxon: a; description: d; }
		@attribute group.name { type: string; required: true; description: d; }
		@property group.s { type: set of identifier; restrictive: subset; description: d; }
		@property group.t { type: set of identifier; restrictive: superset; description: d; }
		@property group.w { type: string; description: d; }
		@property group.l { type: list of string; repeatable: true; description: d; }
		@property group.r { type: list of string; repeatable: true; restrictive: subset; description: d; }
		@entity user { taxon: a; description: d; }
		@attribute user.groups { type: list of string; description: d; }
		@property user.s { type: set of identifier; restrictive: subset; follows: group.s; through: groups; description: d; }
		@property user.t { type: set of identifier; restrictive: superset; follows: group.t; through: groups; description: d; }
		@property user.w { type: string; follows: group.w; through: groups; description: d; }
		@property user.l { type: list of string; follows: group.l; through: groups; description: d; }`)
	const world = `entities:
  - { type: group, id: one }
  - { type: group, id: two }
  - { type: user, id: ann, attributes: { groups: [one, two, absent] } }
  - { type: user, id: bob, attributes: { groups: [two] } }
  - { type: user, id: cy }
fixed:
  "user#bob": { s: [b, x], t: [z] }
  "group": { r: [z] }
  "group#one": { r: [a, b] }
`
	const view = `group#one { s: a, b, c; t: q; w: first; l: x, x; }
group#one { r: a; r: b; }
@layer base { group#two { s: b, c, d; t: q, r; w: second; } user#cy { s: a, b, c !locked; } }
@layer next { user#cy { s: x !locked; } }
@layer top { user#cy { s: a, b !locked; t: a !locked; } user { s: a; t: a, b; } }
group[name="absent"] { s: c, b; t: p; l: y; }
user#ann { s: b, c, d, e; }
user#cy { s: c, d; }
group { l: z; }
`
	r := resolve(t, reg, world, view)
	var want []string
	for i := range r.World().Entities {
		e := &r.World().Entities[i]
		for _, p := range e.Type.Properties {
			if eff := r.Get(i, p); eff.Value != nil {
				want = append(want, strings.Join([]string{e.ID, p.Name, eff.Value.Text, eff.Origin.String()}, "|"))
			}
		}
	}
	const query = "SELECT e.entity, property_name, effective_value, source FROM effective_properties JOIN entities AS e ON e.id = entity_id"
	slices.Sort(want)
	compare := func(t *testing.T, got []string) {
		t.Helper()
		slices.Sort(got)
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	}
	compare(t, rows(t, open(t, r), query))
	inEngines(t, r, query, []string{"entity", "property_name", "effective_value", "source"}, compare)
}

// TestOlderSQLite reads a file with the program that the system ships, which may be years
// older than the library that wrote it.
func TestOlderSQLite(t *testing.T) {
	program, err := exec.LookPath("sqlite3")
	if err != nil {
		if os.Getenv("UMWELT_REQUIRE_TOOLS") == "1" {
			t.Fatal("sqlite3 is missing (Debian's package sqlite3)")
		}
		t.Skip("sqlite3 is missing")
	}
	r := resolve(t, vocabulary(t, ""), demoWorld, demoView+"@layer base { tool { deny-pattern: \"rm *\" !locked; allow: true !locked; } }")
	text, err := compile(t, "sqlite", compilers.Input{Resolution: r})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "policy.db")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	const query = "SELECT e.type, e.entity, f.property_name, f.effective_value, f.source FROM effective_properties AS f JOIN entities AS e ON e.id = f.entity_id"
	out, err := exec.Command(program, "-readonly", "-list", file, query+"; PRAGMA integrity_check").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	want := append(rows(t, open(t, r), query), "ok")
	slices.Sort(got)
	slices.Sort(want)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestOpenQualifiersAreCarried holds that coverage does not call a rule dropped whose
// context is open: the views decide it.
func TestOpenQualifiersAreCarried(t *testing.T) {
	r := resolve(t, vocabulary(t, ""), "modes: [a, b]\ntools: [Bash]\n", "mode#a tool { allow: false; }")
	for _, c := range all.Compilers() {
		if !c.Info.Contexts {
			continue
		}
		got := compilers.Cover(c.Info, r, nil).Rules[0].Declarations[0]
		if got.Level != compilers.Requested {
			t.Errorf("%s: %s: %s", c.Info.Name, got.Level, got.Why)
		}
	}
}
