package cascade_test

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/world"
)

const tools = `
name: dev
entities:
  - { type: tool, id: Bash, classes: [shell], attributes: { level: 4, kit: shell, effect: [net, proc] } }
  - { type: tool, id: Read, attributes: { level: 1, kit: core } }
  - { type: tool, id: Odd, attributes: { name: Odd } }
  - { type: kit, id: core, attributes: { name: core } }
  - { type: mode, id: review, classes: [strict], attributes: { name: review } }
  - { type: mode, id: implement, attributes: { name: implement } }
  - { type: principal, id: Teague, attributes: { name: Teague } }
  - { type: dir, id: src, attributes: { path: src } }
  - { type: dir, id: src/empty, parent: src, attributes: { path: src/empty } }
  - { type: file, id: src/a.py, parent: src, attributes: { path: src/a.py } }
  - { type: file, id: src/.env, parent: src, attributes: { path: src/.env } }
  - { type: hook, id: after, attributes: { event: after-change } }
  - { type: resource, id: resource }
fixed:
  "file:glob('**/.env')": { visible: false }
  "resource": { max-memory: 256MB }
`

func TestResolve(t *testing.T) {
	reg := sandboxRegistry(t)
	w := loadWorld(t, reg, tools)
	cases := []struct {
		name, view        string
		context           []cascade.Ref
		typ, id, property string
		want              string // origin and value
		because           string
	}{
		{"nothing said", ``, nil, "tool", "Bash", "allow", "initial false", ""},
		{"a rule", `tool#Bash { allow: true; }`, nil, "tool", "Bash", "allow", "cascade true", ""},
		{"specificity", `tool#Bash { allow: true; } tool { allow: false; }`, nil, "tool", "Bash", "allow", "cascade true", ""},
		{"order", `tool { allow: true; } tool { allow: false; }`, nil, "tool", "Bash", "allow", "cascade false", ""},
		{"importance", `tool { allow: false !important; } tool#Bash { allow: true; }`, nil, "tool", "Bash", "allow", "cascade false", ""},
		{"later layer", `@layer a { tool#Bash { allow: true; } } @layer b { tool { allow: false; } }`, nil, "tool", "Bash", "allow", "cascade false", ""},
		{"declared layer order", `@layer b, a; @layer a { tool { allow: true; } } @layer b { tool#Bash { allow: false; } }`, nil, "tool", "Bash", "allow", "cascade true", ""},
		{"unlayered", `tool { allow: true; } @layer a { tool#Bash { allow: false; } }`, nil, "tool", "Bash", "allow", "cascade true", ""},
		{"important layers reversed", `@layer a { tool { allow: true !important; } } @layer b { tool#Bash { allow: false !important; } }`, nil, "tool", "Bash", "allow", "cascade true", ""},
		{"important in a layer beats outside", `@layer a { tool { allow: false !important; } } tool { allow: true !important; }`, nil, "tool", "Bash", "allow", "cascade false", ""},
		{"locked", `@layer a { tool { allow: false !locked; } } tool#Bash { allow: true; }`, nil, "tool", "Bash", "allow", "cascade false", ""},
		{"locked against important", `@layer a { tool { allow: false !locked; } } @layer b { tool#Bash { allow: true !important; } }`, nil, "tool", "Bash", "allow", "cascade false", ""},
		{"locked and tightened", `@layer a { tool { allow: true !locked; } } @layer b { tool { allow: false; } }`, nil, "tool", "Bash", "allow", "cascade false", ""},
		{"locked size", `@layer a { resource { memory: 1GB !locked; } } resource { memory: 2GB; }`, nil, "resource", "resource", "memory", "cascade 1GB", ""},
		{"more axes win", `tool#Bash.shell { allow: true; } mode tool { allow: false; }`, []cascade.Ref{{Type: "mode", ID: "review"}}, "tool", "Bash", "allow", "cascade false", ""},
		{"context held", `mode#review tool { allow: true; }`, []cascade.Ref{{Type: "mode", ID: "review"}}, "tool", "Bash", "allow", "cascade true", ""},
		{"another context", `mode#review tool { allow: true; }`, []cascade.Ref{{Type: "mode", ID: "implement"}}, "tool", "Bash", "allow", "initial false", ""},
		{"no context", `mode#review tool { allow: true; }`, nil, "tool", "Bash", "allow", "initial false", ""},
		{"sole active", `principal#Teague tool { allow: true; }`, nil, "tool", "Bash", "allow", "cascade true", ""},
		{"sole active root", `world#dev tool { allow: true; }`, nil, "tool", "Bash", "allow", "cascade true", ""},
		{"several of a type", `mode.strict tool { allow: true; }`, []cascade.Ref{{Type: "mode", ID: "implement"}, {Type: "mode", ID: "review"}}, "tool", "Bash", "allow", "cascade true", ""},
		{"cap", `tool { max-level: 5; } tool#Bash { max-level: 7; }`, nil, "tool", "Bash", "max-level", "cascade 5", ""},
		{"gate", `tool { allow: true; max-level: 2; }`, nil, "tool", "Bash", "allow", "derived false", "level 4 is above max-level 2"},
		{"gate that is met", `tool { allow: true; max-level: 2; }`, nil, "tool", "Read", "allow", "cascade true", ""},
		{"gate without the fact", `tool { allow: true; max-level: 2; }`, nil, "tool", "Odd", "allow", "derived false", "it has no level to compare with max-level 2"},
		{"gate on a set", `tool { allow: true; only-kits: core; }`, nil, "tool", "Bash", "allow", "derived false", "kit shell is outside only-kits core"},
		{"intersection", `tool { only-kits: core, shell; } tool#Bash { only-kits: shell, web; }`, nil, "tool", "Bash", "only-kits", "cascade shell", ""},
		{"gate on overlap", `tool { allow: true; any-of-effects: fs; }`, nil, "tool", "Bash", "allow", "derived false", "effect net, proc has nothing of any-of-effects fs"},
		{"overlap keeps every set", `tool { allow: true; any-of-effects: net, fs; } tool#Bash { any-of-effects: fs; }`, nil, "tool", "Bash", "any-of-effects", "cascade fs; fs, net", ""},
		{"patterns", `tool { allow-pattern: "ls"; } tool#Bash { allow-pattern: "git *"; }`, nil, "tool", "Bash", "allow-pattern", "cascade git *, ls", ""},
		{"follows", `tool { allow: true; }`, nil, "tool", "Bash", "visible", "derived true", "it follows allow"},
		{"through", `kit#core { allow: true; }`, nil, "tool", "Read", "allow", "derived true", "kit core has allow true"},
		{"through what does not exist", `kit#shell { allow: true; }`, nil, "tool", "Bash", "allow", "derived true", "kit shell has allow true"},
		{"through restricts", `kit[name="shell"] { allow: false; } tool#Bash { allow: true !important; }`, nil, "tool", "Bash", "allow", "derived false", "kit shell has allow false"},
		{"an unnamed kit changes nothing", `tool#Bash { allow: true; }`, nil, "tool", "Bash", "allow", "cascade true", ""},
		{"implied", `file { editable: false; }`, nil, "file", "src/a.py", "visible", "derived true", "a rule sets editable"},
		{"fixed", `file { visible: true; }`, nil, "file", "src/.env", "visible", "fixed false", "the world fixes visible at false for file:glob(\"**/.env\")"},
		{"fixed where nothing is said", ``, nil, "file", "src/.env", "visible", "fixed false", "the world fixes visible at false for file:glob(\"**/.env\")"},
		{"fixed against implied", `file { editable: true; }`, nil, "file", "src/.env", "visible", "fixed false", "the world fixes visible at false for file:glob(\"**/.env\")"},
		{"fixed is looser", `resource { max-memory: 128MB; }`, nil, "resource", "resource", "max-memory", "cascade 128MB", ""},
		{"fixed is tighter", `resource { max-memory: 512MB; }`, nil, "resource", "resource", "max-memory", "fixed 256MB", "the world fixes max-memory at 256MB for resource"},
		{"hooks in order", `hook { run: "b"; run: "a"; } hook[event="after-change"] { run: "c"; }`, nil, "hook", "after", "run", "cascade b, a, c", ""},
		{"one hook under two selectors", `hook, hook#after { run: "a"; run: "b"; }`, nil, "hook", "after", "run", "cascade a, b", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := resolve(t, cascade.New(w, bind(t, reg, c.view)), c.context...)
			got := get(t, r, c.typ, c.id, c.property)
			value, because := "", ""
			if got.Value != nil {
				value = got.Value.Text
			}
			if got.Reason != nil {
				because = got.Reason.Text
			}
			if said := got.Origin.String() + " " + value; said != c.want {
				t.Errorf("%s.%s of %s is %q, want %q", c.typ, c.property, c.id, said, c.want)
			}
			if because != c.because {
				t.Errorf("because %q, want %q", because, c.because)
			}
		})
	}
}

func TestLoosenedIsReported(t *testing.T) {
	reg := sandboxRegistry(t)
	w := loadWorld(t, reg, tools)
	view := "@layer a { tool { allow: false !locked; } }\n@layer b { tool#Bash { allow: true; } tool { allow: false; } }\n"
	_, list := cascade.New(w, bind(t, reg, view)).Resolve(nil)
	if len(list) != 1 || list[0].Code != diag.Loosened || list[0].Severity != diag.Warning || list[0].Span.Start.Line != 2 || list[0].Related[0].Span.Start.Line != 1 {
		t.Errorf("%v", list)
	}
}

func TestContextErrors(t *testing.T) {
	reg := sandboxRegistry(t)
	e := cascade.New(loadWorld(t, reg, tools), bind(t, reg, ``))
	cases := []struct {
		ref  cascade.Ref
		code diag.Code
		hint string
	}{
		{cascade.Ref{Type: "mode", ID: "reveiw"}, diag.UnknownEntity, "review"},
		{cascade.Ref{Type: "moed", ID: "review"}, diag.UnknownType, "mode"},
		{cascade.Ref{Type: "nosuch|mode", ID: "review"}, diag.UnknownType, "mode"},
		{cascade.Ref{Type: "tool", ID: ""}, diag.UnknownEntity, ""},
	}
	for _, c := range cases {
		r, list := e.Resolve([]cascade.Ref{c.ref})
		if r != nil || len(list) != 1 || list[0].Code != c.code || !strings.Contains(list[0].Hint, c.hint) {
			t.Errorf("%v: %v, %v", c.ref, r, list)
		}
	}
	r := resolve(t, e, cascade.Ref{Type: "state|MODE", ID: "review"}, cascade.Ref{Type: "mode", ID: "review"})
	var active []string
	for _, i := range r.Context() {
		active = append(active, r.World().Entities[i].ID)
	}
	if got := strings.Join(active, " "); got != "Teague dev review" {
		t.Errorf("active: %s", got)
	}
}

func TestExplain(t *testing.T) {
	reg := sandboxRegistry(t)
	w := loadWorld(t, reg, tools)
	view := `tool { allow: true; }
tool.shell { allow: false; }
tool.shell { allow: true; }
mode#review tool { allow: false; }
mode#implement tool { allow: false; }
@layer base { tool#Bash { allow: false; } }
tool { max-level: 6; }
tool { max-level: 2; }
`
	r := resolve(t, cascade.New(w, bind(t, reg, view)), cascade.Ref{Type: "mode", ID: "review"})
	bash, typ := w.Find(reg.Type("tool"), "Bash"), reg.Type("tool")
	proof := r.Explain(bash, typ.Property("allow"))
	if proof.Effective.Winner.Declaration.At.Start.Line != 4 {
		t.Errorf("line %d wins", proof.Effective.Winner.Declaration.At.Start.Line)
	}
	if len(proof.Context) != 1 || proof.Context[0].Qualifier != "mode#review" || w.Entities[proof.Context[0].Entity].ID != "review" {
		t.Errorf("context %+v", proof.Context)
	}
	var got []string
	for _, l := range proof.Losers {
		got = append(got, strings.TrimSpace(strings.Join([]string{strconv.Itoa(int(l.Candidate.Declaration.At.Start.Line)), l.Why.String(), l.Text}, " ")))
	}
	want := []string{
		"3 specificity specificity axes 1, capability 0-1-1 is below axes 2, state 1-0-1, capability 0-0-1",
		"2 specificity specificity axes 1, capability 0-1-1 is below axes 2, state 1-0-1, capability 0-0-1",
		"1 specificity specificity axes 1, capability 0-0-1 is below axes 2, state 1-0-1, capability 0-0-1",
		"6 layer the winner stands outside every layer",
		"5 context nothing active is mode#implement",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("losers:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	cap := r.Explain(bash, typ.Property("max-level"))
	if len(cap.Losers) != 1 || cap.Losers[0].Text != "6 is above 2" || cap.Losers[0].Why != cascade.LooserBound {
		t.Errorf("losers of the cap: %+v", cap.Losers)
	}
	fixed := r.Explain(w.Find(reg.Type("file"), "src/.env"), reg.Type("file").Property("visible"))
	if len(fixed.Fixed) != 1 || fixed.Fixed[0].Value.Text != "false" || fixed.Effective.Origin != cascade.Fixed {
		t.Errorf("fixed: %+v", fixed)
	}
}

func TestHypotheticalEntity(t *testing.T) {
	reg := sandboxRegistry(t)
	w := loadWorld(t, reg, tools)
	r := resolve(t, cascade.New(w, bind(t, reg, `dir#src > file, dir#empty > file { editable: true; } file[path$=".lock"] { editable: false !important; }`)))
	file := reg.Type("file")
	for path, want := range map[string]string{"src/new.py": "true", "src/x.lock": "false", "src/empty/new.py": "true"} {
		ent := &world.Entity{
			Type: file, ID: path, Parent: int32(w.Find(reg.Type("dir"), path[:strings.LastIndexByte(path, '/')])),
			Attributes: world.Complete(file, path, []world.Attribute{{Name: "path", Text: path}}),
		}
		if got := r.ResolveEntity(ent)[file.Property("editable").Index].Value.Text; got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
		if proof := r.ExplainEntity(ent, file.Property("editable")); proof.Effective.Value.Text != want {
			t.Errorf("the proof for %s says %s", path, proof.Effective.Value.Text)
		}
	}
}

// TestConcurrentReaders is for the race detector.
func TestConcurrentReaders(t *testing.T) {
	reg := sandboxRegistry(t)
	w := loadWorld(t, reg, tools)
	e := cascade.New(w, bind(t, reg, `file:has(node) { editable: true; } dir#src file:glob("**/*.py") { editable: true; } kit { allow: true; } tool:is(:glob("x*"), .shell) { allow: true; }`))
	r := resolve(t, e)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range w.Entities {
				for _, p := range w.Entities[i].Type.Properties {
					r.Get(i, p)
					r.Explain(i, p)
					r.ResolveEntity(&w.Entities[i])
				}
				for _, p := range reg.Type("file").Properties {
					r.Future(i, reg.Type("file"), p)
				}
			}
			r.Order()
			resolve(t, e, cascade.Ref{Type: "mode", ID: "review"})
		})
	}
	wg.Wait()
}

// TestManyRulesOfOneKey has so many rules that share what they could be found by that the
// index turns to something else they test.
func TestManyRulesOfOneKey(t *testing.T) {
	reg := sandboxRegistry(t)
	w := loadWorld(t, reg, tools)
	var b strings.Builder
	for i := range 20 {
		n := strconv.Itoa(i)
		for _, sel := range []string{
			"#a.py:not(.z" + n + ")", "#a.q" + n + ", #a.py[level='" + n + "'], #a.py.x" + n, "#src.py" + n + ", .x" + n + ".shell", "file:glob('**/*" + n + "*/a.py')", "file:glob('**/{x" + n + ",a.py,b?}')",
			"dir#src file[path$='" + n + "'], dir#src file.x" + n, "dir#src > file[path*='a']:not(.x" + n + ")", "dir.x" + n + " > file[path$='.py']",
			"tool:is(.shell, #Read)[level='" + n + "']", "[path^='src/'][path$='" + n + "' i]", "[kit|=sh][level='" + n + "']", "[effect~=net]:not(#x" + n + ")",
			"dir:has(> file.x" + n + ")", "dir:has(file:not(.x" + n + "))",
		} {
			b.WriteString(sel + " { editable: true; allow: true; }\n")
		}
	}
	r := resolve(t, cascade.New(w, bind(t, reg, b.String())))
	m, fitting := world.NewMatcher(w), 0
	for i := range w.Entities {
		rules := r.Rules(i)
		for _, rule := range r.Bound().Rules {
			fits := m.Matches(rule.Selector, i)
			if fits {
				fitting++
			}
			if fits != slices.Contains(rules, rule) {
				t.Errorf("%s on %s: the matcher says %v, the index does not", rule.Selector.Text, w.Entities[i].ID, fits)
			}
		}
	}
	if fitting < 50 {
		t.Errorf("only %d rules fit", fitting)
	}
}
