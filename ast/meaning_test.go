package ast_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"umwelt"
	"umwelt/ast"
	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/parser"
	"umwelt/registry"
	"umwelt/world"
)

// TestPrintKeepsTheMeaning binds and resolves random views before and after printing:
// every rule and every answer about every entity must be the same.
func TestPrintKeepsTheMeaning(t *testing.T) {
	reg, list := umwelt.Vocabulary(nil)
	if list.HasErrors() {
		t.Fatal(list.Err())
	}
	w, list := world.LoadText(&diag.Source{Name: "w.yml", Text: []byte(meaningWorld)}, "", world.Options{Registry: reg})
	if list.HasErrors() {
		t.Fatal(list.Err())
	}
	rapid.Check(t, func(t *rapid.T) {
		text := drawView(t)
		before := answers(t, reg, w, text)
		v, diags := parser.Parse(&diag.Source{Name: "v.umw", Text: []byte(text)})
		if diags.HasErrors() {
			t.Fatalf("%v in %q", diags, text)
		}
		var b strings.Builder
		if err := ast.Print(&b, v); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(before, answers(t, reg, w, b.String())); d != "" {
			t.Fatalf("printing changed what is said\nfrom %q\nto   %q\n%s", text, b.String(), d)
		}
	})
}

const meaningWorld = `
name: dev
modes: [implement]
tools: [Read, Bash]
entities:
  - { type: tool, id: Task, classes: [dangerous], attributes: { level: 6 } }
  - { type: dir, id: src, attributes: { path: src } }
  - { type: file, id: src/a.py, parent: src, classes: [secret], attributes: { path: src/a.py } }
  - { type: file, id: README.md, attributes: { path: README.md } }
  - { type: resource, id: resource }
`

// answers are every rule of a view, and what every entity then is.
func answers(t *rapid.T, reg *registry.Registry, w *world.World, text string) []string {
	v, diags := parser.Parse(&diag.Source{Name: "v.umw", Text: []byte(text)})
	bound := reg.Bind(registry.Options{}, v)
	if diags.HasErrors() || bound.Diagnostics.HasErrors() {
		t.Fatalf("%v %v in %q", diags, bound.Diagnostics, text)
	}
	out := []string{fmt.Sprint(bound.Layers)}
	for _, e := range bound.Entities {
		out = append(out, fmt.Sprint(e.Type, e.ID, e.Attributes))
	}
	for _, r := range bound.Rules {
		line := fmt.Sprint(r.Selector.Text, r.Selector.Specificity, r.Selector.Never, r.Layer)
		for _, d := range r.Declarations {
			line += fmt.Sprint(" ", d.Name, d.Important, d.Locked, d.Label, d.Order)
			for _, x := range d.Typed {
				line += fmt.Sprint(" ", x.Property.Entity.Name, *x.Value)
			}
		}
		out = append(out, line)
	}
	for _, context := range [][]cascade.Ref{nil, {{Type: "tool", ID: "Bash"}}} {
		res, diags := cascade.New(w, bound).Resolve(context)
		if diags.HasErrors() {
			t.Fatalf("%v in %q", diags, text)
		}
		for i := range w.Entities {
			e := &w.Entities[i]
			for _, p := range e.Type.Properties {
				if got := res.Get(i, p); got.Value != nil {
					out = append(out, fmt.Sprint(e.Type.Name, e.ID, p.Name, *got.Value, got.Origin))
				}
			}
		}
	}
	return out
}

// drawView writes a view over the sandbox vocabulary, carelessly laid out.
func drawView(t *rapid.T) string {
	var b strings.Builder
	pick := func(options ...string) string { return rapid.SampledFrom(options).Draw(t, "pick") }
	space := func() string { return pick("", " ", "  ", "\n", " /* c */ ", " // d\n") }
	var rules func(depth int)
	body := func(depth int, declarations ...string) {
		b.WriteString(space() + "{" + space())
		for range rapid.IntRange(0, 3).Draw(t, "declarations") {
			b.WriteString(pick(declarations...) + space() + ";" + space())
		}
		if depth > 0 {
			rules(depth - 1)
		}
		b.WriteString("}" + pick("", "\n", "\n\n", " /* e */\n", " // f\n"))
	}
	rules = func(depth int) {
		for range rapid.IntRange(0, 3).Draw(t, "rules") {
			switch pick("file", "file", "tool", "resource", "at", "nested", "source") {
			case "file":
				b.WriteString(pick("file", "file.secret", `file[path^='src/']`, "dir#src  >  file", "mode#implement file", `tool[name="Bash"]   file`, "file , file.secret", `file:glob("src/**")`, `file:not( .secret,#README.md )`))
				body(0, "editable:true", "editable : false!important", "visible:true", "show: body", "show:outline ! important")
			case "tool":
				b.WriteString(pick("tool", "tool.dangerous", `tool#Bash`, "tool:is(#Read , .dangerous)"))
				body(0, "allow:true", "max-level:3", "max-level: 5", "allow-pattern: \"git *\" ,ls", "require: some  thing", "deny-pattern:none")
			case "resource":
				b.WriteString("resource")
				body(0, "memory:512MB", "wall-time : 1.5h", "max-fds:64!important")
			case "at":
				b.WriteString(pick("@tools", "@TOOLS"))
				body(0, "allow:Read , Bash", "deny: *", "kit: x")
			case "nested":
				b.WriteString(pick("world#dev", "mode#implement", "@layer a", "@layer b", "@world"))
				b.WriteString(space() + "{")
				if depth > 0 {
					rules(depth - 1)
				}
				b.WriteString("}" + pick("", "\n\n"))
			case "source":
				b.WriteString(pick(`@source("src")`, `@source( 'src/**/*.py' )`, `@source(name="s" , path="src")`))
				b.WriteString(space() + "{" + space() + "*{editable:true}" + space() + "}")
			}
		}
	}
	rules(2)
	return b.String()
}
