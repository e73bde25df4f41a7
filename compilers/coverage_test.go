package compilers_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"umwelt/cascade"
	"umwelt/compilers"
	"umwelt/compilers/confine/confinetest"
	"umwelt/registry"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var target = compilers.Info{
	Name: "test", Altitude: registry.OS,
	Support: map[string]compilers.Support{
		"file.editable":   {Level: compilers.Enforced},
		"file.visible":    {Level: compilers.Enforced},
		"mount.*":         {Level: compilers.Enforced},
		"env.allow":       {Level: compilers.Enforced},
		"env.value":       {Level: compilers.Requested, Why: "the runner sets it"},
		"resource.memory": {Level: compilers.Partial, Why: "one process by one"},
	},
}

const world = `
name: w
modes: [implement]
tools: [Bash]
env: [CI]
entities:
  - { type: file, id: a.py, attributes: { path: a.py } }
  - { type: mount, id: m, attributes: { path: /m, source: /m } }
`

func TestCover(t *testing.T) {
	for _, tt := range []struct {
		name, view string
		context    []cascade.Ref
		level      compilers.Level
		why        string
		restricts  bool
	}{
		{"a grant", `file { visible: true }`, nil, compilers.Enforced, "", false},
		{"a restriction", `file { editable: false }`, nil, compilers.Enforced, "", true},
		{"every property of a type", `mount { readonly: true }`, nil, compilers.Enforced, "", true},
		{"a restrictive direction the other way round", `mount { readonly: false }`, nil, compilers.Enforced, "", false},
		{"requested", `env[name="CI"] { value: "x" }`, nil, compilers.Requested, "the runner sets it", false},
		{"partial", `resource { memory: 1GB }`, nil, compilers.Partial, "one process by one", true},
		{"altitude", `tool { allow: false }`, nil, compilers.Dropped, "altitude: it is decided at the semantic level", true},
		{"a grant above the altitude", `tool { allow: true }`, nil, compilers.Dropped, "altitude: ", false},
		{"a bound", `tool { max-level: 3 }`, nil, compilers.Dropped, "altitude: it is decided at the language level", true},
		{"patterns that deny", `tool { deny-pattern: "rm *" }`, nil, compilers.Dropped, "altitude: ", true},
		{"patterns that allow", `tool { allow-pattern: "ls *" }`, nil, compilers.Dropped, "altitude: ", true},
		{"no mechanism", `exec { allow: false }`, nil, compilers.Dropped, "mechanism: the target has none for exec.allow", true},
		{"no type", `* { visible: false }`, nil, compilers.Partial, "tool: altitude: ", true},
		{"a qualifier that holds", `mode#implement file { editable: false }`, nil, compilers.Enforced, "", true},
		{"a qualifier that is left open", `tool#Bash file { editable: false }`, nil, compilers.Dropped, "qualifier: ", true},
		{"a grant that is left open", `tool#Bash file { editable: true }`, nil, compilers.Dropped, "qualifier: ", false},
		{"a qualifier that the context meets", `tool#Bash file { editable: false }`, []cascade.Ref{{Type: "tool", ID: "Bash"}}, compilers.Enforced, "", true},
		{"a qualifier that the context decides against", `tool#Read file { editable: false }`, []cascade.Ref{{Type: "tool", ID: "Bash"}}, compilers.Enforced, "the context decides that it does not apply", true},
		{"nothing matches", `file#none { visible: true }`, nil, compilers.Enforced, "it matches nothing in this world", false},
		{"nothing can match", `file + file { visible: false }`, nil, compilers.Dropped, "selector: ", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res := confinetest.Resolve(t, tt.view, world, "/project", tt.context...)
			c := compilers.Cover(target, res, nil)
			d := c.Rules[0].Declarations[0]
			if d.Level != tt.level || d.Restricts != tt.restricts || !strings.HasPrefix(d.Why, tt.why) && !strings.Contains(d.Why, "; "+tt.why) || tt.why == "" && d.Why != "" {
				t.Errorf("%s %q restricts %v, want %s %q %v", d.Level, d.Why, d.Restricts, tt.level, tt.why, tt.restricts)
			}
			lost := len(c.DroppedRestrictions()) > 0
			if want := tt.restricts && tt.level == compilers.Dropped; lost != want {
				t.Errorf("a restriction is dropped: %v, want %v", lost, want)
			}
			if quiet := c.Summary() == ""; quiet != (tt.level == compilers.Enforced) {
				t.Errorf("the summary is %q", c.Summary())
			}
		})
	}
}

func TestNotesLower(t *testing.T) {
	res := confinetest.Resolve(t, `file { visible: true; editable: true } env { allow: true }`, world, "/project")
	rule := res.Bound().Rules[0]
	c := compilers.Cover(target, res, []compilers.Note{
		{Rule: rule, Declaration: rule.Declarations[1], Level: compilers.Partial, Why: "one"},
		{Rule: rule, Level: compilers.Requested, Why: "both"},
		{Level: compilers.Partial, Why: "a remark"},
		{Level: compilers.Partial, Why: "a remark"},
	})
	a, b := c.Rules[0].Declarations[0], c.Rules[0].Declarations[1]
	if a.Level != compilers.Requested || a.Why != "both" || b.Level != compilers.Requested || b.Why != "one; both" {
		t.Errorf("got %v %q and %v %q", a.Level, a.Why, b.Level, b.Why)
	}
	if got := c.Rules[1].Level(); got != compilers.Enforced {
		t.Errorf("the other rule is %s", got)
	}
	if !slices.Equal(c.Remarks, []string{"a remark"}) {
		t.Errorf("remarks %q", c.Remarks)
	}
}

func TestCoverageGolden(t *testing.T) {
	res := confinetest.Resolve(t, `
file { visible: true; editable: false }
tool[name="Ba\1bsh"] { allow: false; deny-pattern: "rm *"; }
tool { allow: true }
tool#Bash file { editable: false }
resource { memory: 1GB; wall-time: 5m }
env[name="CI"] { allow: true; value: "s3cret" }
`, world, "/project")
	c := compilers.Cover(target, res, []compilers.Note{{Level: compilers.Partial, Why: "a remark\x1b[31m"}})
	if !json.Valid(c.JSON()) {
		t.Fatalf("not JSON:\n%s", c.JSON())
	}
	got := c.Summary() + "\n\n" + c.Text() + "\n" + string(c.JSON())
	if strings.Contains(got, "s3cret") || strings.ContainsRune(got, 0x1b) {
		t.Error("a secret or a control character is printed")
	}
	path := filepath.Join("testdata", "coverage.golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}
