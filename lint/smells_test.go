package lint

import (
	"testing"

	"umwelt/registry"
)

// smellWorld is what the views of TestSmells are about.
const smellWorld = `
name: dev
modes: [review, implement]
principal: ada
entities:
  - { type: dir, id: src, attributes: { path: src } }
  - { type: file, id: src/a.py, parent: src, attributes: { path: src/a.py } }
  - { type: file, id: src/b.py, parent: src, classes: [generated], attributes: { path: src/b.py } }
  - { type: file, id: README.md, classes: [generated], attributes: { path: README.md } }
  - { type: tool, id: Bash, classes: [shell], attributes: { level: 4, kit: shell, effect: [exec, network] } }
  - { type: tool, id: Read, attributes: { level: 1, kit: files, effect: [read] } }
  - { type: resource, id: resource }
  - { type: hook, id: on-failure, attributes: { event: on-failure } }
fixed:
  "file[path='README.md']": { editable: false }
`

// TestSmells gives views and what is found in each; nothing where nothing is said.
func TestSmells(t *testing.T) {
	reg := vocabulary(t)
	w := worldOf(t, reg, smellWorld)
	tests := []struct{ name, view, want string }{
		{"allow-list", `env { allow: false; } env[name="CI"] { allow: true; } tool { allow: false; } tool#Bash { allow: true; } tool#Read { allow: true; }`,
			"v0.umw:1 dead-selector: env[name=\"CI\"] fits nothing: this world holds no env\n"},
		{"an exception by an id", `file { visible: true; } file#README.md { visible: false; }`, ""},
		{"an exception by a part", `file[path^="src/"] { visible: true; } file[path^="src/"].generated { visible: false; }`, ""},
		{"an exception in a mode", `tool#Bash { allow: true; } mode#review tool#Bash { allow: false; }`, ""},
		{"modes exclude each other", `mode#review file[path^="src/"] { editable: false; } mode#implement file.generated { editable: true; }`, ""},
		{"narrow win", `file[path^="src/"] { visible: false; } file.generated[path*="."] { visible: true; }`,
			"v0.umw:1 narrow-win: visible: true wins over visible: false on file \"src/b.py\" by one part of its selector alone\n"},
		{"a clear win that loosens", `file[path^="src/"] { visible: false; } file.generated[path*="."][name*="."] { visible: true; }`,
			"v0.umw:1 permissive-override: visible: true undoes visible: false on file \"src/b.py\" (by specificity)\n"},
		{"a clear win that restricts", `file[path^="src/"] { visible: true; } file.generated[path*="."][name*="."] { visible: false; }`, ""},
		{"a tie", `file[path^="src/"] { visible: true; } file.generated { visible: false; }`,
			"v0.umw:1 specificity-tie: visible: false and visible: true are equally specific, and on file \"src/b.py\" only their order decides\n"},
		{"a tie that says the same", `file[path^="src/"] { visible: true; } file.generated { visible: true; }`, ""},
		{"order of an exception", `file.generated { visible: true; } file[path="README.md"] { visible: false; }`,
			"v0.umw:1 source-order-dependence: visible: false is an exception to an equally specific visible: true only because it stands behind it (file \"README.md\")\n"},
		{"an axis weighs more than an id", `file#"src/a.py" { editable: true; } mode#review file { editable: false; }`,
			"v0.umw:1 cross-axis-dominance: editable: false wins on file \"src/a.py\" over a rule that is narrower but has no condition\n"},
		{"an axis over as narrow a rule", `file.generated { editable: false; } mode#implement file[path^="src/"] { editable: true; }`,
			"v0.umw:1 permissive-override: editable: true undoes editable: false on file \"src/b.py\" (by specificity)\n"},
		{"a tie of axes", `mode#review file.generated { visible: false; } principal#ada file.generated { visible: true; }`,
			"v0.umw:1 cross-axis-tie: where both conditions hold, visible: true wins over visible: false on file \"src/b.py\" and 1 more by the order of the axes alone\n"},
		{"a tie of axes that is settled", `mode#review file.generated { visible: false; } principal#ada file.generated { visible: true; } principal#ada mode#review file.generated { visible: false; }`, ""},
		{"a layer that loosens", `@layer a, b; @layer a { file.generated { visible: false; } } @layer b { file[path^="src/"] { visible: true; } }`,
			"v0.umw:1 permissive-override: visible: true undoes visible: false on file \"src/b.py\" (by its layer)\n"},
		{"a lock holds", `@layer a, b; @layer a { file.generated { visible: false !locked; } } @layer b { file[path^="src/"] { visible: true; } }`, ""},
		{"importance that loosens", `file.generated { visible: false; } file[path^="src/"] { visible: true !important; }`,
			"v0.umw:1 important-use fixable: visible is !important, which changes nothing\nv0.umw:1 permissive-override: visible: true undoes visible: false on file \"src/b.py\" (by !important)\n"},
		{"importance that matters", `file { visible: true !important; } file.generated { visible: false; }`,
			"v0.umw:1 important-use: visible is !important, so specificity and layers say nothing about it\nv0.umw:1 shadowed-restriction: visible: false never holds: on file \"src/b.py\" visible: true wins\n"},
		{"turned over twice", `file { visible: false; } file[path^="src/"] { visible: true; } file[path^="src/"].generated { visible: false; }`, ""},
		{"a test for its weight", `file.generated.generated { visible: true; }`,
			"v0.umw:1 specificity-escalation: file.generated.generated says the same twice, which only makes it more specific\n"},
		{"a rule twice", "tool { allow: true; }\ntool { allow: true; }", "v0.umw:1 shadowed-rule fixable: allow: true decides nothing: what wins wherever it applies says the same (tool \"Bash\" and 1 more)\n"},
		{"a rule twice, with more in it", "tool { allow: true; max-level: 5; }\ntool { allow: true; }",
			"v0.umw:1 shadowed-rule: allow: true decides nothing: what wins wherever it applies says the same (tool \"Bash\" and 1 more)\nv0.umw:1 ineffective-ceiling: max-level: 5 refuses nothing yet: no tool that it fits has a level beyond it\n"},
		{"a declaration twice", "tool { allow: false;\nallow: true; }", "v0.umw:1 shadowed-rule fixable: allow is set again in the same block, so this decides nothing\n"},
		{"a repeatable property twice", `hook[event="on-failure"] { run: "a"; run: "b"; }`, ""},
		{"sugar with several lines", `@tools { allow: Read; allow: Bash; }`, ""},
		{"shadowed in no context", `mode#review tool#Bash { allow: false; } tool#Bash { allow: true; }`, ""},
		{"a dead name", `tool#Bsh { allow: true; }`, "v0.umw:1 dead-selector: tool#Bsh fits nothing in this world\n"},
		{"a file to come", `file[path="out.txt"] { editable: true; } file:glob("build/**") { editable: true; } dir#build file { editable: true; }`, ""},
		{"a class cannot come", `file.secret { visible: true; }`, "v0.umw:1 dead-selector: file.secret fits nothing in this world\n"},
		{"one selector of a list lives", `tool#Bsh, tool#Bash { allow: true; }`, ""},
		{"what excludes itself", `file[path^="src/"][path^="docs/"] { visible: true; }`,
			"v0.umw:1 dead-selector: file[path^=\"src/\"][path^=\"docs/\"] fits nothing in any world: path cannot be ^=\"src/\" and ^=\"docs/\" at once\n"},
		{"another environment", `world#ci file { visible: true; } world#ci tool { allow: true; }`, ""},
		{"nodes are not looked for", `file node[kind="function"] { show: body; }`, ""},
		{"a condition that never holds", `mode#reveiw file { visible: true; }`, "v0.umw:1 unused-qualifier: nothing in this world is mode#reveiw, so the rule never holds\n"},
		{"a condition that always holds", `principal file { visible: true; }`, "v0.umw:1 unused-qualifier: principal always holds, and only makes the rule more specific\n"},
		{"the loosest bound", `tool { max-level: 8; }`, "v0.umw:1 ineffective-ceiling: max-level: 8 bounds nothing, since no value can lie beyond it\n"},
		{"bounds of which each counts", `tool { max-level: 3; } tool.shell { max-level: 2; }`, ""},
		{"a bound in a mode", `tool { max-level: 3; } mode#review tool { max-level: 2; }`, ""},
		{"a looser bound in a mode", `tool { max-level: 3; } mode#review tool { max-level: 5; }`,
			"v0.umw:1 ineffective-ceiling: max-level: 5 bounds nothing: on tool \"Bash\" and 1 more another bound is always as tight\n"},
		{"sets with nothing in common", `tool { only-kits: shell; } tool.shell { only-kits: files; }`,
			"v0.umw:1 conflicting-ceiling: only-kits: files and shell have nothing in common for tool \"Bash\"\n"},
		{"a value above its cap", `resource { max-fds: 300; max-max-fds: 200; }`,
			"v0.umw:1 conflicting-ceiling: max-fds: 300 is above max-max-fds: 200 for resource \"resource\"\n"},
		{"patterns that are exceptions", `tool#Bash { allow-pattern: "git *"; deny-pattern: "git push*"; }`, ""},
		{"patterns that cross", `tool#Bash { allow-pattern: "git *"; deny-pattern: "*--force*"; }`,
			"v0.umw:1 overlapping-patterns: allow-pattern \"git *\" and deny-pattern \"*--force*\" overlap on tool \"Bash\", and the denial wins where they do\n"},
		{"patterns apart", `tool#Bash { allow-pattern: "git *"; deny-pattern: "rm *"; }`, ""},
		{"the world has the last word", `file[path="README.md"] { editable: true; }`,
			"v0.umw:1 fixed-override: editable: true has no effect: the world fixes editable: false for file \"README.md\"\n"},
		{"the world takes away a part", `file { editable: true; }`, ""},
		{"a shallow restriction", `dir#src { visible: false; } file { visible: true; }`,
			"v0.umw:1 shallow-grant: visible: false withholds dir \"src\" itself, and nothing of what lies in it: file \"src/a.py\" stays true\n"},
		{"a grant of both", `dir#src { visible: true; } file[path="src/a.py"] { visible: true; }`, ""},
		{"silenced by line and by node", "/* lint-ignore specificity-tie: so be it */\nfile[path^=\"src/\"] { visible: true; }\nfile.generated { // lint-ignore specificity-tie: it is so\n  visible: false;\n}",
			"v0.umw:1 unused-ignore fixable: lint-ignore specificity-tie silences nothing\nv0.umw:4 specificity-tie silenced: visible: false and visible: true are equally specific, and on file \"src/b.py\" only their order decides\n"},
		{"silenced for a block", "# lint-ignore dead-selector: to come\n@layer a {\n  tool#A { allow: true; }\n  tool#B { allow: true; }\n}\ntool#C { allow: true; }",
			"v0.umw:3 dead-selector silenced: tool#A fits nothing in this world\nv0.umw:4 dead-selector silenced: tool#B fits nothing in this world\nv0.umw:6 dead-selector: tool#C fits nothing in this world\n"},
		{"comments that silence nothing", "/* lint-ignore dead-selector */\ntool#A { allow: true; }\n/* lint-ignore dead-selectr: x */\n/* lint-ignore: y */\n/* lint-ignored */ tool#Bash { allow: true; }",
			"v0.umw:1 unused-ignore: lint-ignore dead-selector gives no reason, so it silences nothing\nv0.umw:2 dead-selector: tool#A fits nothing in this world\nv0.umw:3 unused-ignore: there is no detector \"dead-selectr\"\nv0.umw:4 unused-ignore: lint-ignore names no detector\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			found := Run(input(t, reg, w, tt.view), detectors(), UncoveredEntity.Name)
			if got := lines(found); got != tt.want {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
		})
	}
}

// TestOrderOfFiles finds what hangs on the order of two files.
func TestOrderOfFiles(t *testing.T) {
	reg := vocabulary(t)
	in := input(t, reg, worldOf(t, reg, smellWorld), `file[path^="src/"] { visible: true; }`, `file.generated { visible: false; }`)
	want := "v1.umw:1 source-order-dependence: visible: false holds on file \"src/b.py\", and not visible: true, only because of the order in which the files are given\n"
	if got := lines(Run(in, detectors(), UncoveredEntity.Name)); got != want {
		t.Errorf("got %s", got)
	}
}

// TestDisabled holds that a detector that did not run leaves its comments alone.
func TestDisabled(t *testing.T) {
	reg := vocabulary(t)
	in := input(t, reg, worldOf(t, reg, smellWorld), "/* lint-ignore drift: approved */\n/* lint-ignore dead-selector: x */\ntool#Bash { allow: true; }")
	if got := lines(Run(in, detectors(), DeadSelector.Name, UncoveredEntity.Name)); got != "" {
		t.Errorf("got %s", got)
	}
	if got := lines(Run(in, detectors(), UnusedIgnore.Name, UncoveredEntity.Name)); got != "" {
		t.Errorf("got %s", got)
	}
}

// TestAltitude finds nothing where no target is named, or one reaches far enough.
func TestAltitude(t *testing.T) {
	reg := vocabulary(t)
	in := input(t, reg, worldOf(t, reg, smellWorld), "tool#Bash { allow: false; }\nfile { editable: false; }")
	for _, tt := range []struct {
		targets []Target
		want    string
	}{
		{nil, ""},
		{[]Target{{"a", registry.OS}, {"b", registry.Semantic}}, ""},
		{[]Target{{"a", registry.OS}, {"b", registry.Language}}, "v0.umw:1 unrealizable-altitude: allow: false is decided at the semantic level, and a, b reach no higher than the language level\n"},
	} {
		in.Targets = tt.targets
		if got := lines(Run(in, detectors(), UncoveredEntity.Name)); got != tt.want {
			t.Errorf("%v: got %s", tt.targets, got)
		}
	}
}
