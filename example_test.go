package umwelt_test

import (
	"errors"
	"fmt"
	"log"

	"umwelt"
	"umwelt/world"
)

// Every example asks the same small policy: a coding agent that may change what lies below
// src, but not in review mode, and that runs git and nothing else.
const view = `
file { editable: false; visible: true; }
file[path^="src/"] { editable: true; }
file.generated { editable: false; }
mode#review file { editable: false !important; }
tool#Bash { allow: true; max-level: 2; allow-pattern: "git *"; }
`

const what = `
name: demo
tools: [Read]
modes: [implement, review]
entities:
  - { type: tool, id: Bash, attributes: { level: 1 } }
  - { type: dir, id: src, attributes: { path: src } }
  - { type: file, id: src/main.py, attributes: { path: src/main.py } }
  - { type: file, id: README.md, attributes: { path: README.md } }
fixed:
  "file#README.md": { visible: false }
`

// demo is the policy of the examples.
func demo() *umwelt.Policy {
	p := umwelt.LoadText(umwelt.Options{Context: []umwelt.Ref{{Type: "mode", ID: "implement"}}}, umwelt.Texts{
		Views: []*umwelt.Source{{Name: "demo.umw", Text: []byte(view)}},
		World: &umwelt.Source{Name: "demo.world.yml", Text: []byte(what)},
	})
	if err := p.Err(); err != nil {
		log.Fatal(err)
	}
	return p
}

// must is what a call returned, which in these examples cannot fail.
func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

func ExampleLoad() {
	// The world is the view's sibling auth-fix.world.yml, else what lies below Root.
	p := umwelt.Load(umwelt.Options{Root: "examples/auth-fix/project"}, "examples/auth-fix/auth-fix.umw")
	if err := p.Err(); err != nil {
		log.Fatal(err)
	}
	login := must(p.Find("file", "src/auth/login.py"))
	fmt.Println(must(p.Property(login, "editable")).Value)
	// Output: true
}

func ExampleLoadText() {
	p := umwelt.LoadText(umwelt.Options{}, umwelt.Texts{
		Views: []*umwelt.Source{{Name: "inline", Text: []byte(`tool#Bash { allow: maybe; }`)}},
	})
	fmt.Println(p.Err())
	// Output: inline:1:20: error[bad-value]: allow: "maybe" is not boolean
}

func ExamplePolicy_Find() {
	p := demo()
	for _, id := range []string{"src/main.py", "src/new.py", "../passwd"} {
		s, err := p.Find("file", id)
		if err != nil {
			fmt.Println(err)
			continue
		}
		a := must(p.Property(s, "editable"))
		fmt.Printf("%s exists: %v, editable: %s\n", a.ID, a.Exists, a.Value)
	}
	// Output:
	// src/main.py exists: true, editable: true
	// src/new.py exists: false, editable: true
	// error[unknown-entity]: "../passwd" is in no world: it is no path that something could be made at (a path is relative to the root, clean, and below it)
}

func ExamplePolicy_Select() {
	p := demo()
	for _, s := range must(p.Select(`tool, file[path$=".py"]`)) {
		fmt.Println(s.Entity.Type.Name, s.Entity.ID)
	}
	// Output:
	// file src/main.py
	// tool Bash
	// tool Read
}

func ExamplePolicy_Property() {
	p := demo()
	readme := must(p.Find("file", "README.md"))
	a := must(p.Property(readme, "visible"))
	fmt.Printf("%s, from %s: %s\n", a.Value, a.Source, a.Because)
	// Output: false, from fixed: the world fixes visible at false for file#README.md
}

func ExamplePolicy_Properties() {
	p := demo()
	for _, a := range must(p.Properties(must(p.Find("tool", "Bash")))) {
		if a.Source == "cascade" {
			fmt.Printf("%s: %s\n", a.Property, a.Value)
		}
	}
	// Output:
	// allow: true
	// max-level: 2
	// allow-pattern: git *
}

func ExamplePolicy_Type() {
	for _, a := range must(demo().Type("file")) {
		if a.Property == "editable" {
			fmt.Println(a.ID, a.Value)
		}
	}
	// Output:
	// README.md false
	// src/main.py true
}

func ExamplePolicy_In() {
	p := demo()
	file := must(p.Find("file", "src/main.py"))
	review := must(p.In(umwelt.Ref{Type: "mode", ID: "review"}))
	fmt.Println(must(p.Property(file, "editable")).Bool(), must(review.Property(file, "editable")).Bool())
	// Output: true false
}

func ExamplePolicy_Check() {
	p := demo()
	bash := must(p.Find("tool", "Bash"))
	fmt.Println(must(p.Check(bash, "max-level", "2")), must(p.Check(bash, "max-level", "3")))
	fmt.Println(must(p.Check(bash, "allow-pattern", "git push")), must(p.Check(bash, "allow-pattern", "rm -rf /")))
	// Output:
	// true false
	// true false
}

func ExamplePolicy_Require() {
	p := demo()
	err := p.Require(must(p.Find("file", "README.md")), "editable", "true")
	var denied *umwelt.DeniedError
	if errors.As(err, &denied) {
		fmt.Println(denied)
		fmt.Println(denied.Type, denied.ID, denied.Property, denied.Answer.Value)
	}
	// Output:
	// file "README.md": editable is false, not true, by demo.umw:2:8
	// file README.md editable false
}

func ExamplePolicy_Call() {
	p := demo()
	bash := must(p.Find("tool", "Bash"))
	for _, call := range []string{"git log", "git log && curl x", "ls"} {
		fmt.Println(p.Call(bash, call))
	}
	// Output:
	// <nil>
	// tool "Bash": no pattern of allow-pattern fits, since the * of "git *" spans nothing that could hold another command, by demo.umw:6:40
	// tool "Bash": no pattern of allow-pattern fits, by demo.umw:6:40
}

func ExamplePolicy_ExplainCall() {
	p := demo()
	proof := must(p.ExplainCall(must(p.Find("tool", "Bash")), "git log"))
	fmt.Println(proof.Allowed)
	for _, step := range proof.Steps {
		fmt.Println(step.Holds, step.Why, step.From)
	}
	// Output:
	// true
	// true allow is true demo.umw:6:13
	// true allow-pattern "git *" fits demo.umw:6:40
}

func ExamplePolicy_Explain() {
	p := demo()
	proof := must(p.Explain(must(p.Find("file", "src/main.py")), "editable"))
	fmt.Print(proof)
	fmt.Println("replays:", proof.Replay() == nil)
	// Output:
	// editable: true
	//     source   cascade
	//     won      demo.umw:3:22 file[path^="src/"] { editable: true }
	//              specificity axes 1; world (0,1,1)
	//     lost     demo.umw:2:8 file { editable: false }
	//              specificity: specificity axes 1; world (0,0,1) is below axes 1; world (0,1,1)
	//     lost     demo.umw:5:20 mode#review file { editable: false !important }
	//              context: nothing active is mode#review
	// replays: true
}

func ExampleProof_WhyNot() {
	p := demo()
	proof := must(p.Explain(must(p.Find("file", "README.md")), "visible"))
	for _, change := range must(proof.WhyNot("true")).Changes {
		fmt.Println(change)
	}
	// Output: the world's constraint on file#README.md at demo.world.yml:11:3, which fixes it at false, would have to go
}

func ExamplePolicy_Extend() {
	p := demo()
	more := must(p.Extend(umwelt.Addition{
		Entities: []umwelt.Entity{{Type: "file", ID: "src/gen.py", Classes: []string{"generated"}}},
		Views:    []*umwelt.Source{{Name: "task.umw", Text: []byte(`file#README.md { editable: true; }`)}},
	}))
	for _, id := range []string{"src/gen.py", "README.md"} {
		before, after := must(p.Find("file", id)), must(more.Find("file", id))
		fmt.Println(id, must(p.Property(before, "editable")).Value, must(more.Property(after, "editable")).Value)
	}
	// Output:
	// src/gen.py true false
	// README.md false true
}

func ExamplePolicy_Extend_hypothetical() {
	// What would the policy say of a tool that does not exist? Nothing of it stays behind.
	p := demo()
	with := must(p.Extend(umwelt.Addition{Entities: []umwelt.Entity{
		{Type: "tool", ID: "Deploy", Attributes: []world.Attribute{{Name: "level", Text: "7"}}},
	}}))
	fmt.Println(must(with.Property(must(with.Find("tool", "Deploy")), "allow")).Value)
	_, err := p.Find("tool", "Deploy")
	fmt.Println(err != nil)
	// Output:
	// false
	// true
}

func ExamplePolicy_Compile() {
	out := must(demo().Compile("json", nil))
	fmt.Println(len(out.Text) > 0, len(out.Coverage.DroppedRestrictions()))
	// Output: true 0
}
