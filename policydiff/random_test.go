package policydiff_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"umwelt/ast"
	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/parser"
	"umwelt/policydiff"
	"umwelt/registry"
	"umwelt/world"
)

var (
	selectors = []string{
		`file`, `dir`, `*`, `file.x`, `file#a.py`, `file[path="src/a.py"]`, `file[path="src/b.md"]`, `file[path^="src/"]`, `file[path^="src/lib/"]`,
		`file[name$=".py"]`, `file:glob("src/**/*.md")`, `dir#src file`, `dir#src > file`, `dir[name="lib"] file[name^="a"]`, `file:not(.x)`,
		`file:is([name="a.py"], .x)`, `*.x`, `*[path="src/a.py"]`, `dir:has(> file.x) file`, `tool`, `tool#Bash`, `tool[kit="k"]`, `tool.x`, `kit#k`, `kit#gone`,
		`tool[kit="gone"]`, `resource`, `source#s file`,
	}
	qualifiers   = []string{`mode#review`, `mode#implement`, `mode`, `tool#Bash`, `tool.x`, `principal#p`, `kit#k`}
	declarations = []string{
		`editable: true`, `editable: false`, `visible: true`, `visible: false`, `show: outline`, `allow: true`, `allow: false`, `max-level: 2`, `max-level: 5`,
		`only-kits: k`, `only-kits: k, l`, `any-of-effects: a`, `any-of-effects: b, c`, `allow-pattern: "x *"`, `allow-pattern: "y"`, `deny-pattern: "z"`,
		`memory: 1MB`, `memory: 2MB`,
	}
	paths = []string{"src", "src/a.py", "src/b.md", "src/lib", "src/lib/a.md", "docs", "docs/a.py", "z.py"}
)

type gen struct{ t *rapid.T }

func (g gen) of(list []string, label string) string { return rapid.SampledFrom(list).Draw(g.t, label) }
func (g gen) chance(percent int) bool               { return rapid.IntRange(0, 99).Draw(g.t, "chance") < percent }

func (g gen) rule() string {
	sel := g.of(selectors, "selector")
	if g.chance(30) && !strings.HasPrefix(sel, "*") {
		q := g.of(qualifiers, "qualifier")
		if !strings.HasPrefix(sel, "tool") && !strings.HasPrefix(sel, "kit") || !strings.HasPrefix(q, "tool") && !strings.HasPrefix(q, "kit") {
			sel = q + " " + sel
		}
	}
	var b strings.Builder
	b.WriteString(sel + " {")
	for range rapid.IntRange(1, 2).Draw(g.t, "declarations") {
		b.WriteString(" " + g.of(declarations, "declaration"))
		if g.chance(10) {
			b.WriteString(" !important")
		}
		b.WriteString(";")
	}
	b.WriteString(" }")
	if g.chance(15) {
		return "@layer l" + g.of([]string{"1", "2"}, "layer") + " { " + b.String() + " }"
	}
	return b.String()
}

// views are a view and a changed copy of it.
func (g gen) views() (old, now string) {
	var rules []string
	for range rapid.IntRange(0, 6).Draw(g.t, "rules") {
		rules = append(rules, g.rule())
	}
	changed := slices.Clone(rules)
	for range rapid.IntRange(1, 2).Draw(g.t, "edits") {
		i := rapid.IntRange(0, len(changed)).Draw(g.t, "at")
		switch {
		case i == len(changed) || g.chance(30):
			changed = slices.Insert(changed, i, g.rule())
		case g.chance(30):
			changed = slices.Delete(changed, i, i+1)
		case g.chance(50) && i > 0:
			changed[i], changed[i-1] = changed[i-1], changed[i]
		default:
			k := rapid.IntRange(0, len(changed)-1).Draw(g.t, "copy")
			changed = slices.Insert(changed, i, changed[k])
		}
	}
	return strings.Join(rules, "\n"), strings.Join(changed, "\n")
}

func (g gen) world() string {
	var b strings.Builder
	b.WriteString("name: dev\nkits: [k]\n")
	if g.chance(80) {
		b.WriteString("modes: [implement, review]\n")
	} else {
		b.WriteString("modes: [review]\n")
	}
	if g.chance(50) {
		b.WriteString("principal: p\n")
	}
	b.WriteString("entities:\n  - { type: source, id: s, attributes: { root: src/lib } }\n")
	for _, id := range []string{"Bash", "Edit"} {
		class, kit := "", ""
		if g.chance(30) {
			class = "classes: [x], "
		}
		if g.chance(60) {
			kit = ", kit: " + g.of([]string{"k", "gone"}, "kit")
		}
		fmt.Fprintf(&b, "  - { type: tool, id: %s, %sattributes: { level: %d%s } }\n", id, class, rapid.IntRange(0, 8).Draw(g.t, "level"), kit)
	}
	for _, p := range paths {
		typ, class := "file", ""
		if !strings.Contains(p, ".") {
			typ = "dir"
		} else if g.chance(30) {
			continue
		}
		if g.chance(30) {
			class = "classes: [x], "
		}
		fmt.Fprintf(&b, "  - { type: %s, id: %q, %sattributes: { path: %q } }\n", typ, p, class, p)
	}
	if g.chance(30) {
		b.WriteString("fixed:\n  \"file[name$='.md']\": { editable: false }\n")
	}
	return b.String()
}

// contexts are what can be active, several tools and modes at once among it.
func contexts() (out [][]cascade.Ref) {
	modes := [][]string{nil, {"review"}, {"implement"}, {"implement", "review"}}
	tools := [][]string{nil, {"Bash"}, {"Edit"}, {"Bash", "Edit"}}
	for _, m := range modes {
		for _, tl := range tools {
			for _, k := range [][]string{nil, {"k"}} {
				for _, p := range [][]string{nil, {"p"}} {
					var refs []cascade.Ref
					for typ, ids := range map[string][]string{"mode": m, "tool": tl, "kit": k, "principal": p} {
						for _, id := range ids {
							refs = append(refs, cascade.Ref{Type: typ, ID: id})
						}
					}
					out = append(out, refs)
				}
			}
		}
	}
	return out
}

type sides struct{ a, b *cascade.Engine }

func draw(t *rapid.T) (sides, *policydiff.Result) {
	g := gen{t}
	old, now := g.views()
	a, b := bind(t, "a.umw", old), bind(t, "b.umw", now)
	w := load(t, g.world(), a, b)
	s := sides{cascade.New(w, a), cascade.New(w, b)}
	r, list := policydiff.Compare([]policydiff.Pair{{Old: s.a, New: s.b}}, policydiff.Options{MaxContexts: 1000})
	if list.HasErrors() {
		t.Fatalf("%v", list.Err())
	}
	if r.Left > 0 {
		t.Fatalf("%d contexts were left out", r.Left)
	}
	return s, r
}

// TestFindsEveryDifference compares with every entity asked in every context, one by one.
func TestFindsEveryDifference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, r := draw(t)
		found := map[string]policydiff.Kind{}
		for _, g := range r.Groups {
			for _, e := range g.Entities {
				if g.Property != nil && !g.Later {
					found[e.Type.Name+" "+e.ID+" "+g.Property.Name+" "+valueText(g.Old.Values[0])+" "+valueText(g.New.Values[0])] = g.Kind
				}
			}
		}
		real := map[string]bool{}
		for _, refs := range contexts() {
			ra, list := s.a.Resolve(refs)
			rb, more := s.b.Resolve(refs)
			if list.HasErrors() || more.HasErrors() {
				continue // the world lacks what is named
			}
			for i := range s.a.World().Entities {
				e := &s.a.World().Entities[i]
				for _, p := range e.Type.Properties {
					x, y := ra.Get(i, p), rb.Get(i, p)
					if !x.Value.Equal(y.Value) {
						key := e.Type.Name + " " + e.ID + " " + p.Name + " " + valueText(x.Value) + " " + valueText(y.Value)
						if _, ok := found[key]; !ok && p.Comparison != registry.Overlap {
							t.Fatalf("%s in %v is not found:\n%s", key, refs, print(r))
						}
						real[key] = true
					}
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

func valueText(v *registry.Value) string {
	if v == nil {
		return "none"
	}
	return v.Text
}

// TestForeseesWhatIsMadeLater makes a file and checks that what differs for it was said,
// and not called a narrowing where it is none.
func TestForeseesWhatIsMadeLater(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, r := draw(t)
		w := s.a.World()
		typ := vocabulary.Type("file")
		dir := rapid.SampledFrom([]string{"dev", "src", "docs", "src/lib"}).Draw(t, "dir")
		at := w.Find(vocabulary.Type("dir"), dir)
		path := dir + "/"
		if dir == "dev" {
			at, path = w.RootEntity(), ""
		}
		path += rapid.SampledFrom([]string{"a.py", "new.py", "n.md", "a", "a.md", "a.py"}).Draw(t, "name")
		if w.Find(typ, path) >= 0 {
			return
		}
		ent := &world.Entity{Type: typ, ID: path, Parent: int32(at), Attributes: world.Complete(typ, path, []world.Attribute{{Name: "path", Text: path}})}
		for c, context := range r.Contexts {
			ra, _ := s.a.Resolve(context.Refs)
			rb, _ := s.b.Resolve(context.Refs)
			xs, ys := ra.ResolveEntity(ent), rb.ResolveEntity(ent)
			for i, p := range typ.Properties {
				if xs[i].Value.Equal(ys[i].Value) {
					continue
				}
				g := slices.IndexFunc(r.Groups, func(g policydiff.Group) bool {
					return g.Later && g.Property == p && slices.Contains(g.Contexts, c) && slices.Contains(g.Entities, &w.Entities[at])
				})
				if g < 0 {
					t.Fatalf("%s of %s becomes %s from %s in %v, which is not foreseen:\n%s", p.Name, path, valueText(ys[i].Value), valueText(xs[i].Value), context.Refs, print(r))
				}
				if r.Groups[g].Kind == policydiff.Narrowing && p.Restrictive == registry.False && ys[i].Value.Bool() {
					t.Fatalf("%s of %s becomes true in %v, which is called a narrowing:\n%s", p.Name, path, context.Refs, print(r))
				}
			}
		}
	})
}

// TestEquivalentViewsNeverDiffer tries views that are shown to be equivalent in worlds that
// the proof never saw.
func TestEquivalentViewsNeverDiffer(t *testing.T) {
	proven := 0
	rapid.Check(t, func(t *rapid.T) {
		g := gen{t}
		old, now := g.views()
		a, b := bind(t, "a.umw", old), bind(t, "b.umw", now)
		if policydiff.Decide(a, b).Verdict != policydiff.Equivalent {
			return
		}
		proven++
		w := load(t, g.world(), a, b)
		r, list := policydiff.Compare([]policydiff.Pair{{Old: cascade.New(w, a), New: cascade.New(w, b)}}, policydiff.Options{MaxContexts: 1000})
		if list.HasErrors() || len(r.Groups) > 0 {
			t.Fatalf("they differ:\n%s\nold\n%s\nnew\n%s", print(r), old, now)
		}
	})
	if proven == 0 {
		t.Error("nothing was ever shown to be equivalent")
	}
}

func FuzzCompare(f *testing.F) {
	f.Add(`file { visible: true }`, `mode#review file.x { visible: false }`)
	f.Add(`@layer a, b; tool { max-level: 3 !locked }`, `tool:not(.x):is(#Bash, [kit]) { max-level: 5 !important }`)
	f.Add(`*#a.b { editable: true }`, `@tools { allow: Read }`)
	f.Fuzz(func(t *testing.T, old, now string) {
		var bounds []*registry.Bound
		for _, text := range []string{old, now} {
			v, list := parser.Parse(&diag.Source{Name: "v.umw", Text: []byte(text)})
			b := vocabulary.Bind(registry.Options{}, []*ast.View{v}...)
			if list.HasErrors() || b.Diagnostics.HasErrors() {
				return
			}
			bounds = append(bounds, b)
		}
		w := load(t, tree, bounds...)
		a, b := cascade.New(w, bounds[0]), cascade.New(w, bounds[1])
		r, list := policydiff.Compare([]policydiff.Pair{{Old: a, New: b}}, policydiff.Options{MaxContexts: 8})
		if list.HasErrors() {
			t.Fatal(list.Err())
		}
		if d := policydiff.Decide(bounds[0], bounds[1]); d.Verdict == policydiff.Equivalent && len(r.Groups) > 0 {
			t.Fatalf("equivalent, and yet\n%s", print(r))
		}
	})
}
