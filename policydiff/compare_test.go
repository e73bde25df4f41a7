package policydiff_test

import (
	"strings"
	"testing"

	"umwelt/cascade"
	"umwelt/policydiff"
)

const tree = `
name: dev
modes: [implement, review]
tools: [Bash, Read]
entities:
  - { type: tool, id: Edit, attributes: { level: 4, kit: files } }
  - { type: dir, id: src, attributes: { path: src } }
  - { type: dir, id: docs, attributes: { path: docs } }
  - { type: file, id: src/a.py, parent: src, attributes: { path: src/a.py } }
  - { type: file, id: src/b.py, parent: src, attributes: { path: src/b.py } }
  - { type: file, id: docs/x.md, parent: docs, attributes: { path: docs/x.md } }
fixed:
  "file[path='docs/x.md']": { editable: false }
`

func TestCompare(t *testing.T) {
	for _, tt := range []struct {
		name, world, old, now string
		want                  string // one line per group
		verdict               policydiff.Verdict
	}{
		{"the same", tree, `file { visible: true }`, `file { visible: true }`, ``, policydiff.Equivalent},
		{"another text", tree, `file { visible: true; editable: false }`, `/* x */ file { editable: false; visible: true }`, ``, policydiff.Equivalent},
		{"a rule that cannot matter", tree, `file { visible: true }`, `file { visible: false } file { visible: true }`, ``, policydiff.Equivalent},
		{"nothing here, elsewhere perhaps", tree, `file { visible: true }`, `file { visible: true } file#nowhere { visible: false }`,
			`narrowing file.visible true (a.umw:1:8) -> false or true (b.umw:1:39 b.umw:1:8): later in dev docs src`, policydiff.Different},
		{"a widening", tree, `tool { allow: false }`, `tool { allow: false } tool#Bash { allow: true }`, `
widening tool.allow false (a.umw:1:8) -> true (b.umw:1:35): Bash
widening tool.visible false (a.umw:1:8) -> true (b.umw:1:35): Bash`, policydiff.Different},
		{"a narrowing in one mode", tree, `file { editable: true }`, `file { editable: true } mode#review file { editable: false }`, `
narrowing file.editable true (a.umw:1:8) -> false (b.umw:1:44): src/a.py src/b.py [{mode review}]
narrowing file.editable true (a.umw:1:8) -> false (b.umw:1:44): later in dev docs src [{mode review}]`, policydiff.Different},
		{"a cap comes", tree, ``, `tool { max-level: 2 }`, `
narrowing tool.max-level none -> 2 (b.umw:1:8): Bash Edit Read`, policydiff.Different},
		{"a cap rises, and lets something through", tree, `tool { allow: true; max-level: 2 }`, `tool { allow: true; max-level: 4 }`, `
widening tool.allow false (a.umw:1:8 a.umw:1:21) -> true (b.umw:1:8): Edit
widening tool.visible false (a.umw:1:8 a.umw:1:21) -> true (b.umw:1:8): Edit
widening tool.max-level 2 (a.umw:1:21) -> 4 (b.umw:1:21): Bash Edit Read`, policydiff.Different},
		{"through a kit", tree, `kit#files { allow: false }`, `kit#files { allow: true }`, `
widening tool.allow false -> true: Edit
widening tool.visible false -> true: Edit`, policydiff.Different},
		{"no direction", tree, `hook[event="on-failure"] { run: "ls" }`, `hook[event="on-failure"] { run: "rm x" }`, `
change hook.run ls (a.umw:1:28) -> rm x (b.umw:1:28): on-failure`, policydiff.Different},
		{"patterns", tree, `tool#Bash { allow-pattern: "git *" }`, `tool#Bash { allow-pattern: "git *", "ls" }`, `
widening tool.allow-pattern git * (a.umw:1:13) -> git *, ls (b.umw:1:13): Bash`, policydiff.Different},
		{"no patterns at all", tree, `tool#Bash { allow-pattern: "git *" }`, `tool#Bash { allow-pattern: none }`, `
change tool.allow-pattern git * (a.umw:1:13) ->  (b.umw:1:13): Bash`, policydiff.Different},
		{"later files by name", tree, `file { editable: true } file[name$=".lock"] { editable: false }`, `file { editable: true } file[name$=".lock"] { editable: false } file[name$=".key"] { editable: false }`, `
narrowing file.editable false or true (a.umw:1:8) -> false or true (b.umw:1:86 b.umw:1:8): later in dev docs src`, policydiff.Different},
		{"later files by name, loosened", tree, `file { editable: true } file[name$=".lock"] { editable: false } file[name$=".key"] { editable: false }`, `file { editable: true } file[name$=".key"] { editable: false }`, `
widening file.editable false or true (a.umw:1:47 a.umw:1:8) -> false or true (b.umw:1:8): later in dev docs src`, policydiff.Different},
		{"later files of all other names", tree, `file { editable: true } file[name$=".py"] { editable: true } file[name$=".md"] { editable: false }`,
			`file { editable: false } file[name$=".py"] { editable: true } file[name$=".md"] { editable: false }`, `
narrowing file.editable false or true (a.umw:1:8) -> false or true (b.umw:1:8): later in dev docs src`, policydiff.Different},
		{"later files by another name", tree, `file[name$=".py"] { editable: true }`, `file[name$=".md"] { editable: true }`, `
widening file.visible false -> true (b.umw:1:21 w.world.yml:13:3): docs/x.md
change file.editable true or false (a.umw:1:21) -> true or false (b.umw:1:21): later in dev docs src
change file.visible true or false (a.umw:1:1) -> true or false (b.umw:1:1): later in dev docs src
narrowing file.editable true (a.umw:1:21) -> false: src/a.py src/b.py
narrowing file.visible true (a.umw:1:21) -> false: src/a.py src/b.py`, policydiff.Different},
		{"a grant that the other view's world lacks", "", `tool { allow: true }`, `tool { allow: true } tool#Bash { visible: true }`, `
widening tool.allow absent -> true (b.umw:1:8): Bash
widening tool.visible absent -> true (b.umw:1:34): Bash`, policydiff.Different},
		{"an entity that only one view names", "", `tool#Bash { allow: false } tool { allow: true }`, `tool { allow: true }`, ``, policydiff.Undecided},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := compare(t, tt.world, tt.old, tt.now, policydiff.Options{})
			if got := print(r); strings.TrimSpace(got) != strings.TrimSpace(tt.want) {
				t.Errorf("got\n%s\nwant\n%s", got, strings.TrimSpace(tt.want))
			}
			if r.Equivalence.Verdict != tt.verdict {
				t.Errorf("%s: %s", r.Equivalence.Verdict, r.Equivalence.Why)
			}
		})
	}
}

func TestContextsAreBounded(t *testing.T) {
	const view = `mode#review tool { allow: true } mode#implement tool { visible: true } principal#p tool { max-level: 2 }`
	r := compare(t, tree+"principal: p\n", ``, view, policydiff.Options{})
	if len(r.Contexts) != 4 || r.Left != 0 {
		t.Errorf("%d contexts, %d left: %v", len(r.Contexts), r.Left, r.Contexts)
	}
	r = compare(t, tree+"principal: p\n", ``, view, policydiff.Options{MaxContexts: 3})
	if len(r.Contexts) != 3 || r.Left != 1 {
		t.Errorf("%d contexts, %d left", len(r.Contexts), r.Left)
	}
	r = compare(t, tree, ``, view, policydiff.Options{Context: []cascade.Ref{{Type: "mode", ID: "review"}}})
	if len(r.Contexts) != 1 || r.Left != 0 {
		t.Errorf("%d contexts, %d left: %v", len(r.Contexts), r.Left, r.Contexts)
	}
}
