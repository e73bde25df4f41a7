package lint

import (
	"strings"
	"testing"
)

// TestDrift compares a view with what an earlier one said.
func TestDrift(t *testing.T) {
	reg := vocabulary(t)
	w := worldOf(t, reg, smellWorld)
	bash := func(properties string) string {
		return `{"schema": "umwelt.policy/1", "context": {"principal": "ada"}, "entities": [
			{"type": "tool", "id": "Bash", "properties": {` + properties + `}}, {"type": "tool", "id": "Read", "properties": {"allow": {"value": "false"}, "visible": {"value": "false"}}},
			{"type": "file", "id": "README.md", "properties": {"editable": {"value": "false"}, "visible": {"value": "false"}}},
			{"type": "file", "id": "src/a.py", "properties": {"editable": {"value": "false"}, "visible": {"value": "false"}}},
			{"type": "file", "id": "src/b.py", "properties": {"editable": {"value": "false"}, "visible": {"value": "false"}}},
			{"type": "dir", "id": "src", "properties": {"editable": {"value": "false"}, "visible": {"value": "false"}}}]}`
	}
	closed := `"allow": {"value": "false"}, "visible": {"value": "false"}`
	open := `"allow": {"value": "true"}, "visible": {"value": "true"}`
	tests := []struct{ name, view, baseline, want string }{
		{"the same", `tool#Bash { allow: true; }`, bash(open), ""},
		{"wider", `tool#Bash { allow: true; }`, bash(closed), "error v0.umw:1 allow of tool \"Bash\" has widened since b.json: false, now true\n"},
		{"tighter", `tool#Bash { allow: false; }`, bash(open), "warning v0.umw:1 allow of tool \"Bash\" has narrowed since b.json: true, now false\n"},
		{"no rule any more", ``, bash(open), "warning v0.umw:1 allow of tool \"Bash\" has narrowed since b.json: true, now false\nwarning v0.umw:1 visible of tool \"Bash\" has narrowed since b.json: true, now false\n"},
		{"several at once", `file { visible: true; }`, bash(closed), "error v0.umw:1 visible of file \"README.md\" and 2 more has widened since b.json: false, now true\n"},
		{"a bound that was not there", `tool#Bash { allow: true; max-level: 5; }`, bash(open), "warning v0.umw:1 max-level of tool \"Bash\" has narrowed since b.json: not set, now 5\n"},
		{"a bound that went", `tool#Bash { allow: true; }`, bash(open + `, "max-level": {"value": "5"}`), "error v0.umw:1 max-level of tool \"Bash\" has widened since b.json: 5, now nothing\n"},
		{"a bound that is looser", `tool#Bash { allow: true; max-level: 5; }`, bash(open + `, "max-level": {"value": "4"}`), "error v0.umw:1 max-level of tool \"Bash\" has widened since b.json: 4, now 5\n"},
		{"a set that is wider", `tool#Bash { allow: true; allow-pattern: "a", "b"; }`, bash(open + `, "allow-pattern": {"value": "a", "values": ["a"]}`), "error v0.umw:1 allow-pattern of tool \"Bash\" has widened since b.json: a, now a, b\n"},
		{"a denial more", `tool#Bash { allow: true; deny-pattern: "a", "b"; }`, bash(open + `, "deny-pattern": {"value": "a", "values": ["a"]}`), "warning v0.umw:1 deny-pattern of tool \"Bash\" has narrowed since b.json: a, now a, b\n"},
		{"information", `tool#Bash { allow: true; require: b; }`, bash(open + `, "require": {"value": "a"}`), "warning v0.umw:1 require of tool \"Bash\" has changed since b.json: a, now b\n"},
		{"something new that is granted something", `tool#Read { allow: true; }`,
			strings.Replace(bash(closed), `"Read"`, `"Write"`, 1), "error v0.umw:1 tool \"Read\" is new since b.json, and its allow is true\n"},
		{"something new that is not", `tool#Read { allow: false; }`, strings.Replace(bash(closed), `"Read"`, `"Write"`, 1), ""},
		{"another context", `tool#Bash { allow: true; }`, strings.Replace(bash(open), `"ada"`, `"bob"`, 1), "warning v0.umw:1 b.json was resolved while principal \"bob\" was active, and this while principal \"ada\" is\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := input(t, reg, w, tt.view)
			b, err := ReadBaseline("b.json", []byte(tt.baseline))
			if err != nil {
				t.Fatal(err)
			}
			in.Baseline = b
			got := ""
			for _, x := range Run(in, []Detector{Drift}) {
				got += x.Severity.String() + " " + strings.Replace(lines([]Finding{x}), " drift: ", " ", 1)
			}
			if got != tt.want {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
		})
	}
}

func TestReadBaseline(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "not the JSON of a policy",
		`{"schema": "umwelt.check/1"}`: `its schema is "umwelt.check/1"`,
		"SQLite format 3\x00":          "it is a database",
		`{"schema": "umwelt.policy/1", "context": {"mode": 3}}`: `its context of "mode"`,
	} {
		if _, err := ReadBaseline("b.json", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
