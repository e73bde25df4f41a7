package policytest_test

import (
	"fmt"
	"strings"
	"testing"

	"umwelt"
	"umwelt/ast"
	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/parser"
	"umwelt/policytest"
	"umwelt/registry"
	"umwelt/world"
)

const things = `
modes: [implement, review]
kits: [k]
entities:
  - { type: file, id: a.py, attributes: { path: a.py } }
  - { type: file, id: b.py, classes: [x], attributes: { path: b.py } }
  - { type: tool, id: Bash, attributes: { level: 4, effect: [read], kit: k } }
`

// subject is a view over things. A selector is picked as it is: what fits nothing is a
// failure, what is no selector is unusable.
func subject(t *testing.T, view string) policytest.Subject {
	t.Helper()
	reg, list := umwelt.Vocabulary(nil)
	v, more := parser.Parse(&diag.Source{Name: "v", Text: []byte(view)})
	b := reg.Bind(registry.Options{}, []*ast.View{v}...)
	w, found := world.LoadText(&diag.Source{Name: "w.world.yml", Text: []byte(things)}, "", world.Options{Registry: reg, Named: b.Pins()})
	for _, l := range []diag.List{list, more, b.Diagnostics, found} {
		if l.HasErrors() {
			t.Fatal(l.Err())
		}
	}
	return policytest.Subject{Engine: cascade.New(w, b), Pick: func(text string) (out []policytest.Target, unusable bool, list diag.List) {
		parsed, list := parser.ParseSelectors(&diag.Source{Name: "s", Text: []byte(text)})
		bound, more := reg.BindSelectors(parsed)
		if list = append(list, more...).Strict(); list.HasErrors() {
			return nil, true, list
		}
		for _, sel := range bound {
			for _, i := range w.Select(sel) {
				out = append(out, policytest.Target{Entity: &w.Entities[i], Index: i})
			}
		}
		if out == nil {
			list.Errorf(diag.UnknownEntity, diag.Span{}, "nothing fits")
		}
		return out, false, list
	}}
}

func parse(t *testing.T, cases string) *policytest.File {
	t.Helper()
	f, list := policytest.Parse(&diag.Source{Name: "t", Text: []byte("view: v\ncases:\n" + cases)})
	if list.HasErrors() {
		t.Fatal(list.Err())
	}
	return f
}

func TestRun(t *testing.T) {
	const view = `
file { visible: true }
mode#review file.x { visible: false }
tool { allow: true; max-level: 5; any-of-effects: read, write; any-of-effects: read; allow-pattern: "git *", "ls" }
tool { any-of-effects: run, read }
hook[event="on-failure"] { run: "a"; run: "b" }
env#T { value: "hush" }
`
	for _, tt := range []struct{ name, one, want string }{
		{"a value", `expect: { file: { visible: true } }`, ``},
		{"a wrong value", `expect: { file: { visible: false } }`, `t:4:32: a.py visible: want false, got true
t:4:32: b.py visible: want false, got true`},
		{"a context", `{ context: { mode: review }, expect: { file.x: { visible: false } } }`, ``},
		{"no value", `expect: { tool: { deny-pattern: ~ } }`, ``},
		{"a value where none is wanted", `expect: { tool: { max-level: ~ } }`, `t:4:34: Bash max-level: want no value, got 5`},
		{"a number written otherwise", `expect: { tool: { max-level: 5.0 } }`, ``},
		{"a list", `expect: { tool: { allow-pattern: [git *, ls] } }`, ``},
		{"a list in another order", `expect: { tool: { allow-pattern: [ls, git *] } }`, `t:4:38: Bash allow-pattern: want ls, git *, got git *, ls`},
		{"sets in another order", `expect: { tool: { any-of-effects: [[read, run], [read]] } }`, ``},
		{"a set too few", `expect: { tool: { any-of-effects: [[read]] } }`, `t:4:39: Bash any-of-effects: want read, got read, run; read`},
		{"repeated", `expect: { hook: { run: [a, b] } }`, ``},
		{"allowed", `allowed: { allow: [tool, tool#Bash] }`, ``},
		{"denied", `denied: { allow: tool#Bash, visible: [file#a.py] }`, `t:4:22: Bash allow: want false, got true
t:4:43: a.py visible: want false, got true`},
		{"nothing fits", `denied: { allow: tool#Gone }`, `t:4:22: nothing fits`},
		{"no selector", `denied: { allow: "tool[" }`, `error t:4:22: "tool[": `},
		{"no such type", `denied: { allow: tol }`, `error t:4:22: "tol": `},
		{"no such property", `expect: { tool: { alow: true } }`, `error t:4:23: what "tool" picks has no property "alow"`},
		{"no such value", `expect: { tool: { allow: perhaps } }`, `error t:4:30: tool.allow: "perhaps" is not boolean`},
		{"no permission", `allowed: { max-level: tool }`, `error t:4:27: tool.max-level: it is no permission`},
		{"sets of another property", `expect: { tool: { allow-pattern: [[a], [b]] } }`, `error t:4:38: tool.allow-pattern: only a property whose sets`},
		{"calls", `calls: { tool: { allowed: [git log, ls], denied: ["git log && curl x", ls x] } }`, ``},
		{"calls that are not so", `calls: { tool#Bash: { allowed: "ls; rm x", denied: [git log] } }`, `t:4:36: Bash call ls; rm x: want allowed, got denied: no pattern of allow-pattern fits
t:4:57: Bash call git log: want denied, got allowed: allow-pattern "git *" fits`},
		{"calls in a context", `{ context: { mode: review }, calls: { tool: { denied: git log } } }`, `t:5:30: Bash call git log: want denied, got allowed: allow-pattern "git *" fits`},
		{"calls of what is not called", `calls: { file: { denied: x } }`, `error t:4:14: file "a.py" is nothing that is called`},
		{"no such context", `{ context: { mode: nap }, denied: { allow: tool } }`, `error t:4:16: the context names mode "nap"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			one := tt.one
			if strings.HasPrefix(one, "{") {
				one = strings.TrimSuffix(strings.TrimPrefix(one, "{"), "}")
				one = strings.TrimSpace(one)
				k := strings.Index(one, "}, ") + 1
				one = one[:k] + "\n    " + one[k+2:]
			}
			r, list := policytest.Run(parse(t, "  - name: n\n    "+one+"\n"), subject(t, view))
			var out []string
			for _, d := range list {
				out = append(out, fmt.Sprintf("error %s: %s", d.Span, d.Message))
			}
			for _, f := range r.Cases[0].Failures {
				if f.Entity == nil {
					out = append(out, fmt.Sprintf("%s: %s", f.At, f.Message))
					continue
				}
				if f.Call != nil {
					out = append(out, fmt.Sprintf("%s: %s call %s: want %s, got %s: %s", f.At, f.Entity.ID, *f.Call, f.Want, f.Got, f.Message))
					continue
				}
				out = append(out, fmt.Sprintf("%s: %s %s: want %s, got %s", f.At, f.Entity.ID, f.Property.Name, f.Want, f.Got))
			}
			got := strings.Join(out, "\n")
			if got != tt.want && !(strings.HasPrefix(tt.want, "error") && strings.HasPrefix(got, tt.want)) {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestCover(t *testing.T) {
	const view = `file { visible: true; editable: false }
file.x { visible: true }
kit#k { allow: true }
mode#review tool { visible: false }
tool#Bash, tool.none { max-level: 5 }
tool#Bash { allow-pattern: "git *"; deny-pattern: "git push *"; }
`
	const cases = `
  - name: files
    expect: { file: { visible: true, editable: false } }
  - name: tools
    allowed: { allow: tool }
  - name: review
    context: { mode: review }
    denied: { visible: tool }
  - name: calls
    calls: { tool#Bash: { allowed: git log, denied: git push x } }
`
	r, c, list := policytest.Cover(parse(t, cases), subject(t, view), nil)
	if list.HasErrors() || r.Failed() > 0 {
		t.Fatalf("%v %+v", list, r)
	}
	var got []string
	for _, p := range append(c.Rules, c.Restrictions...) {
		text := fmt.Sprintf("%s %s", p.At(), p.Rules[0].Selector.Text)
		if p.Declaration != nil {
			text += " " + p.Declaration.Name
		}
		if p.Noticed {
			text += " noticed"
		}
		got = append(got, text)
	}
	want := []string{
		"v:1:1 file noticed",
		"v:2:1 file.x",
		"v:3:1 kit#k noticed",
		"v:4:1 mode#review tool noticed",
		"v:5:1 tool#Bash",
		"v:5:12 tool.none",
		"v:6:1 tool#Bash noticed",
		"v:1:23 file editable",
		"v:4:20 mode#review tool visible noticed",
		"v:5:24 tool#Bash max-level",
		"v:5:24 tool.none max-level",
		"v:6:13 tool#Bash allow-pattern",
		"v:6:37 tool#Bash deny-pattern noticed",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
