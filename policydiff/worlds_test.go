package policydiff_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"umwelt/ast"
	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/parser"
	"umwelt/policydiff"
	"umwelt/registry"
	"umwelt/sandbox"
	"umwelt/world"
)

// TestWorlds compares a policy over the world that it had with one over the world that there
// is.
func TestWorlds(t *testing.T) {
	for _, tt := range []struct{ name, before, after, view, want, why string }{
		{"nothing", `tools: [Bash]`, `tools: [Bash]`, `tool { allow: true }`, "",
			"the same rules compete for every property, up to an order that cannot matter and rules that can never win"},
		{"a tool more", `tools: [Bash]`, `tools: [Bash, Edit]`, `tool { allow: true }`,
			"widening tool.allow absent -> true (b.umw:1:8): Edit\nwidening tool.visible absent -> true (b.umw:1:8): Edit\n",
			"the rules are equivalent in every world, and what exists is not the same any more"},
		{"a tool less", `tools: [Bash, Edit]`, `tools: [Bash]`, `tool { allow: true; visible: false }`, "narrowing tool.allow true (a.umw:1:8) -> absent: Edit\n",
			"the rules are equivalent in every world, and what exists is not the same any more"},
		{"a fact that a bound is held against", `entities: [{type: tool, id: Bash, attributes: {level: 1}}]`, `entities: [{type: tool, id: Bash, attributes: {level: 3}}]`,
			`tool { allow: true; visible: true; max-level: 2 }`, "narrowing tool.allow true (a.umw:1:8) -> false (b.umw:1:8 b.umw:1:36): Bash\n",
			"the rules are equivalent in every world, and what exists is not the same any more"},
		{"a class", `entities: [{type: tool, id: Bash, classes: [wild]}]`, `entities: [{type: tool, id: Bash}]`, `tool { visible: true } tool.wild { visible: false }`,
			"widening tool.visible false (a.umw:1:36) -> true (b.umw:1:8): Bash\n", "the rules are equivalent in every world, and what exists is not the same any more"},
		{"what is fixed", "tools: [Bash]\nfixed: {tool: {visible: false}}", "tools: [Bash]\nfixed: {tool: {visible: true}}", `tool { visible: true }`,
			"widening tool.visible false (a.umw:1:8 w.world.yml:2:9) -> true (b.umw:1:8): Bash\n", "the rules are equivalent in every world, and what exists is not the same any more"},
		{"other things are fixed first", "tools: [Bash, Edit]\nfixed: {\"tool#Edit\": {allow: false}, \"tool#Bash\": {visible: false}}", "tools: [Bash, Edit]\nfixed: {\"tool#Bash\": {visible: false}}", `tool { visible: true }`,
			"", "the same rules compete for every property, up to an order that cannot matter and rules that can never win"},
		{"something that can be active now", "tools: [Bash]\nmodes: [plain]", "tools: [Bash]\nmodes: [plain, loose]", `mode#loose tool { visible: true }`,
			"widening tool.visible false -> true (b.umw:1:19): Bash [{mode loose}]\n", "the rules are equivalent in every world, and what exists is not the same any more"},
		{"a directory", `{}`, `entities: [{type: dir, id: src, attributes: {path: src}}]`, `dir file { editable: true; visible: false } dir { visible: false }`,
			"widening file.editable absent -> true (b.umw:1:12): later in src\n", "the rules are equivalent in every world, and what exists is not the same any more"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, b := bind(t, "a.umw", tt.view), bind(t, "b.umw", tt.view)
			before, after := load(t, tt.before), load(t, tt.after)
			r, list := policydiff.Compare([]policydiff.Pair{{Old: cascade.New(before, a), New: cascade.New(after, b)}}, policydiff.Options{})
			if list.HasErrors() {
				t.Fatal(list.Err())
			}
			if got := print(r); got != tt.want {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
			if r.Equivalence.Why != tt.why {
				t.Errorf("%s: %s", r.Equivalence.Verdict, r.Equivalence.Why)
			}
		})
	}
}

// TestFindsEveryDrift is TestFindsEveryDifference between two worlds. What only one of them
// has cannot be active in the other, and is permitted nothing there.
func TestFindsEveryDrift(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := gen{t}
		old, now := g.views()
		a, b := bind(t, "a.umw", old), bind(t, "b.umw", now)
		s := sides{cascade.New(load(t, g.world(), a, b), a), cascade.New(load(t, g.world(), a, b), b)}
		r, list := policydiff.Compare([]policydiff.Pair{{Old: s.a, New: s.b}}, policydiff.Options{MaxContexts: 1000})
		if list.HasErrors() {
			t.Fatalf("%v", list.Err())
		}
		if r.Left > 0 {
			return
		}
		found := map[string]bool{}
		for _, g := range r.Groups {
			for _, e := range g.Entities {
				if g.Property != nil && !g.Later {
					found[e.Type.Name+" "+e.ID+" "+g.Property.Name+" "+valueText(g.Old.Values[0])+" "+valueText(g.New.Values[0])] = true
				}
			}
		}
		real := map[string]bool{}
		for _, refs := range contexts() {
			known := func(e, other *cascade.Engine) ([]cascade.Ref, bool) {
				var out []cascade.Ref
				for _, ref := range refs {
					switch typ := vocabulary.Type(ref.Type); {
					case e.World().Find(typ, ref.ID) >= 0:
						out = append(out, ref)
					case other.World().Find(typ, ref.ID) < 0:
						return nil, false
					}
				}
				return out, true
			}
			olds, ok := known(s.a, s.b)
			news, _ := known(s.b, s.a)
			if !ok {
				continue
			}
			ra, list := s.a.Resolve(olds)
			rb, more := s.b.Resolve(news)
			if list.HasErrors() || more.HasErrors() {
				t.Fatalf("%v %v", list, more)
			}
			value := func(r *cascade.Resolution, e *world.Entity, p *registry.Property) (*registry.Value, bool) {
				i := r.World().Find(e.Type, e.ID)
				switch {
				case i >= 0:
					return r.Get(i, p).Value, true
				case p.Type.Kind == registry.Boolean && p.Restrictive != registry.NoDirection:
					return p.RestrictiveBool(), true
				}
				return nil, false
			}
			for _, e := range slices.Concat(s.a.World().Entities, s.b.World().Entities) {
				for _, p := range e.Type.Properties {
					x, had := value(ra, &e, p)
					y, has := value(rb, &e, p)
					if !had || !has || x.Equal(y) {
						continue
					}
					key := e.Type.Name + " " + e.ID + " " + p.Name + " " + valueText(x) + " " + valueText(y)
					if !found[key] && p.Comparison != registry.Overlap {
						t.Fatalf("%s in %v is not found:\n%s", key, refs, print(r))
					}
					real[key] = true
				}
			}
		}
		for key := range found {
			if !real[key] {
				t.Fatalf("%s is found and not so", key)
			}
		}
	})
}

// TestAlone lists what a view that defines words does to one that does not.
func TestAlone(t *testing.T) {
	for _, tt := range []struct{ name, defines, view, want string }{
		{"nothing", ``, `tool { allow: true }`, ""},
		{"a property without a value", `@property tool.note { type: string; description: "N."; }`, `tool { allow: true }`, ""},
		{"a permission that is refused", `@property tool.share { type: boolean; initial: false; restrictive: false; description: "S."; }`, `tool { allow: true }`, ""},
		{"one that is given", `@property tool.share { type: boolean; initial: true; restrictive: false; description: "S."; }`, `tool { allow: true }`,
			"tool.share, which it does not define, has a value where no rule speaks"},
		{"a gate", `@property tool.cap { type: integer; initial: 1; comparison: "<="; restrictive: min; attribute: level; gates: allow; description: "C."; }`, `tool { allow: true }`,
			"tool.cap, which it does not define, has a value where no rule speaks"},
		{"what another one implies", `@property file.print { type: boolean; initial: false; restrictive: false; implied-by: editable; description: "P."; }`, `file { editable: true }`,
			"file.print, which it does not define, has a value where no rule speaks"},
		{"a word that it uses", `@property tool.note { type: string; description: "N."; }`, `tool { note: "x" }`, "it uses words that it does not define"},
		{"an attribute", `@attribute tool.risk { type: identifier; description: "R."; }`, `tool:not([risk]) { allow: false }`, "it uses words that it does not define"},
		{"a type that it reaches", `@entity socket { taxon: world; description: "S."; } @property socket.visible { type: boolean; initial: false; restrictive: false; description: "V."; }`,
			`* { visible: true }`, "its rules would set socket.visible, which it does not define"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			defines, _ := parser.Parse(&diag.Source{Name: "words.umw", Text: []byte(tt.defines)})
			view, _ := parser.Parse(&diag.Source{Name: "v.umw", Text: []byte(tt.view)})
			shipped, _ := parser.Parse(sandbox.Vocabulary())
			own, joint := registry.New(), registry.New()
			for reg, views := range map[*registry.Registry][]*ast.View{own: {shipped}, joint: {shipped, defines}} {
				if list := reg.Load(registry.Options{}, views...); list.HasErrors() {
					t.Fatal(list.Err())
				}
			}
			got := policydiff.Alone(own, own.Bind(registry.Options{}, view), joint.Bind(registry.Options{}, view))
			if got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}
