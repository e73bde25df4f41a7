package explain_test

import (
	"encoding/json"
	"strings"
	"testing"

	"umwelt"
	"umwelt/explain"
)

const what = `
modes: [review, build]
tools: [Read]
entities:
  - { type: tool, id: Bash, attributes: { level: 4 } }
  - { type: dir, id: src }
  - { type: file, id: src/a.py }
  - { type: file, id: b.py, classes: [own] }
fixed:
  "file#b.py": { visible: false }
`

func policy(t *testing.T, view string) *umwelt.Policy {
	t.Helper()
	p := umwelt.LoadText(umwelt.Options{Context: []umwelt.Ref{{Type: "mode", ID: "build"}}}, umwelt.Texts{
		Views: []*umwelt.Source{{Name: "v.umw", Text: []byte(view)}}, World: &umwelt.Source{Name: "w.world.yml", Text: []byte(what)},
	})
	if err := p.Err(); err != nil {
		t.Fatal(err)
	}
	return p
}

func prove(t *testing.T, p *umwelt.Policy, typ, id, property string) umwelt.Proof {
	t.Helper()
	s, err := p.Find(typ, id)
	if err != nil {
		t.Fatal(err)
	}
	proof, err := p.Explain(s, property)
	if err != nil {
		t.Fatal(err)
	}
	return proof
}

// TestChanges makes the change that each answer asks for, and holds the property to having
// the value then.
func TestChanges(t *testing.T) {
	for name, c := range map[string]struct {
		typ, id, property, want string
		view                    string
		says                    []string // one for each change
		mended                  string   // the view with the changes made; "" where the world must change
	}{
		"unset": {
			"file", "src/a.py", "editable", "true", ``,
			[]string{`a rule that fits file "src/a.py" would have to set it`}, `file#"src/a.py" { editable: true; }`,
		},
		"importance": {
			"file", "src/a.py", "editable", "true", `file { editable: false !important; } file#"src/a.py" { editable: true; }`,
			[]string{"be !important, as v.umw:1:8 is"}, `file { editable: false !important; } file#"src/a.py" { editable: true !important; }`,
		},
		"specificity": {
			"file", "src/a.py", "editable", "true", `file[path] { editable: false; } file { editable: true; }`,
			[]string{"be more specific than v.umw:1:14, which has axes 1; world (0,1,1)"}, `file[path] { editable: false; } file#"src/a.py" { editable: true; }`,
		},
		"order": {
			"file", "src/a.py", "editable", "true", `file { editable: true; } file { editable: false; }`,
			[]string{"v.umw:1:8 would have to stand after v.umw:1:33"}, `file { editable: false; } file { editable: true; }`,
		},
		"layer": {
			"file", "src/a.py", "editable", "true", `@layer a { file { editable: true; } } @layer b { file { editable: false; } }`,
			[]string{"stand in a layer that wins over that of v.umw:1:57, or in none"}, `file { editable: true; } @layer b { file { editable: false; } }`,
		},
		"lock": {
			"file", "src/a.py", "editable", "true", `@layer a { file { editable: false !locked; } } @layer b { file { editable: true; } }`,
			[]string{"be let through by v.umw:1:19, which locks the property"}, `@layer a { file { editable: false; } } @layer b { file { editable: true; } }`,
		},
		"locked and not asked for": {
			"file", "src/a.py", "editable", "true", `@layer a { file { editable: false !locked; } }`,
			[]string{"would have to set it, and v.umw:1:19 would have to be no lock"}, `@layer a { file { editable: false; } } file { editable: true; }`,
		},
		"context": {
			"file", "src/a.py", "editable", "true", `file { editable: false; } mode#review file { editable: true; }`,
			[]string{"hold, but nothing active is mode#review"}, `file { editable: false; } mode#build file { editable: true; }`,
		},
		"context and then specificity": {
			"file", "src/a.py", "editable", "true", `mode#build file[path] { editable: false; } mode#review file { editable: true; }`,
			[]string{"it would then lose to v.umw:1:25 by specificity"}, `mode#build file { editable: false; } mode#build file[path] { editable: true; }`,
		},
		"nobody asks": {
			"file", "src/a.py", "editable", "true", `file { editable: false; }`,
			[]string{"would have to set it, and win over v.umw:1:8, whose specificity is axes 1; world (0,0,1)"}, `file { editable: false; } file[path] { editable: true; }`,
		},
		"cap": {
			"tool", "Bash", "max-level", "6", `tool { max-level: 2; } tool#Bash { max-level: 5; }`,
			[]string{"v.umw:1:8, which says 2, would have to go or say 6", "v.umw:1:36, which says 5, would have to go or say 6", "would have to set it"},
			`tool { max-level: 6; }`,
		},
		"patterns": {
			"tool", "Bash", "allow-pattern", "ls", `tool { allow-pattern: "git *"; }`,
			[]string{"v.umw:1:8 would have to leave out git *", "would have to add ls"}, `tool { allow-pattern: ls; }`,
		},
		"gate": {
			"tool", "Bash", "allow", "true", `tool { allow: true; max-level: 2; }`,
			[]string{"level 4 is above max-level 2, which would have to change"}, `tool { allow: true; max-level: 4; }`,
		},
		"rule and gate": {
			"tool", "Bash", "allow", "true", `tool { allow: false; max-level: 2; }`,
			[]string{"win over v.umw:1:8", "level 4 is above max-level 2, which would have to change"}, `tool { allow: false; } tool#Bash { allow: true; }`,
		},
		"fixed": {
			"file", "b.py", "visible", "true", `file { visible: true; }`,
			[]string{"the world's constraint on file#b.py at w.world.yml:10:3, which fixes it at false, would have to go"}, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			proof := prove(t, policy(t, c.view), c.typ, c.id, c.property)
			got, err := proof.WhyNot(c.want)
			if err != nil || got.Holds || len(got.Reasons) == 0 {
				t.Fatalf("%+v, %v", got, err)
			}
			if len(got.Changes) != len(c.says) {
				t.Fatalf("%q, want %d", got.Changes, len(c.says))
			}
			for i, want := range c.says {
				if !strings.Contains(got.Changes[i], want) {
					t.Errorf("%q does not say %q", got.Changes[i], want)
				}
			}
			if c.mended == "" {
				return
			}
			after, err := prove(t, policy(t, c.mended), c.typ, c.id, c.property).WhyNot(c.want)
			if err != nil || !after.Holds || len(after.Changes) > 0 {
				t.Errorf("the change does not bring it about: %+v, %v", after, err)
			}
		})
	}
}

// TestHostile holds that no name or value can write to the terminal or break a line.
func TestHostile(t *testing.T) {
	p := policy(t, `tool { allow-pattern: "\1b[2J\a rm"; }  tool#"a\a b" { allow: true; }`)
	proof := prove(t, p, "tool", "Bash", "allow-pattern")
	why, err := proof.WhyNot("x")
	if err != nil {
		t.Fatal(err)
	}
	doc := proof.Document()
	doc.WhyNot = why
	for _, text := range []string{doc.Text(), strings.Join(why.Changes, ""), strings.Join(why.Reasons, "")} {
		if strings.ContainsRune(text, '\x1b') || strings.Contains(text, "\n rm") {
			t.Errorf("%q", text)
		}
	}
}

// TestUTF8 holds that a document is UTF-8 whatever files are called.
func TestUTF8(t *testing.T) {
	if got := explain.UTF8("a\xffé\xc3"); got != `a\xffé\xc3` {
		t.Errorf("%q", got)
	}
	text, err := json.Marshal(prove(t, policy(t, `file { editable: true; }`), "file", "src/\xff.py", "editable").Document())
	if err != nil || strings.ContainsRune(string(text), '\ufffd') {
		t.Errorf("%s, %v", text, err)
	}
}
