package lint

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"umwelt/ast"
	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/parser"
	"umwelt/registry"
	"umwelt/sandbox"
	"umwelt/world"
)

// detectors are those of this package.
func detectors() []Detector {
	return []Detector{
		NarrowWin, SpecificityEscalation, SourceOrderDependence, SpecificityTie, CrossAxisDominance, CrossAxisTie, PermissiveOverride, ImportantUse,
		ShadowedRule, ShadowedRestriction, DeadSelector, UnusedQualifier, IneffectiveCeiling, ConflictingCeiling, OverlappingPatterns, FixedOverride,
		UnrealizableAltitude, UncoveredEntity, ShallowGrant, PermissiveInitialValue, Drift, UnusedIgnore,
	}
}

func vocabulary(t testing.TB) *registry.Registry {
	t.Helper()
	v, list := parser.Parse(sandbox.Vocabulary())
	reg := registry.New()
	if list = append(list, reg.Load(registry.Options{}, v)...); list.HasErrors() {
		t.Fatal(list.Err())
	}
	if err := sandbox.Register(reg); err != nil {
		t.Fatal(err)
	}
	return reg
}

func worldOf(t testing.TB, reg *registry.Registry, text string) *world.World {
	t.Helper()
	w, list := world.LoadText(&diag.Source{Name: "w.world.yml", Text: []byte(text)}, "", world.Options{Registry: reg})
	if list.HasErrors() {
		t.Fatal(list.Err())
	}
	return w
}

// input parses, binds and resolves views.
func input(t testing.TB, reg *registry.Registry, w *world.World, texts ...string) Input {
	t.Helper()
	var in Input
	for i, text := range texts {
		v, list := parser.Parse(&diag.Source{Name: fmt.Sprintf("v%d.umw", i), Text: []byte(text)})
		if list.HasErrors() {
			t.Fatalf("%v in %s", list.Err(), text)
		}
		in.Views = append(in.Views, v)
	}
	bound := reg.Bind(registry.Options{}, in.Views...)
	if bound.Diagnostics.HasErrors() {
		t.Fatal(bound.Diagnostics.Err())
	}
	res, list := cascade.New(w, bound).Resolve(nil)
	if list.HasErrors() {
		t.Fatal(list.Err())
	}
	in.Resolution = res
	return in
}

// lines are findings as "NAME line message", one each, with a mark on those that are
// silenced or can be mended.
func lines(found []Finding) string {
	var b strings.Builder
	for _, x := range found {
		mark := ""
		if x.Silenced != "" {
			mark = " silenced"
		}
		if x.Fix != nil {
			mark += " fixable"
		}
		fmt.Fprintf(&b, "%s:%d %s%s: %s\n", x.Span.File(), x.Span.Start.Line, x.Code, mark, x.Message)
	}
	return b.String()
}

// bigWorld is a tree of that many files in directories of twenty, and as many tools as
// make a tenth of that, at most a hundred.
func bigWorld(t testing.TB, reg *registry.Registry, files int) *world.World {
	t.Helper()
	root, dir, file, tool, mode := reg.Type("world"), reg.Type("dir"), reg.Type("file"), reg.Type("tool"), reg.Type("mode")
	out := []world.Entity{{Type: root, ID: "dev", Parent: world.NoParent}}
	add := func(typ *registry.EntityType, id string, parent int32, classes []string, attrs ...world.Attribute) int32 {
		out = append(out, world.Entity{Type: typ, ID: id, Parent: parent, Classes: classes, Attributes: world.Complete(typ, id, attrs)})
		return int32(len(out) - 1)
	}
	for n := 0; n < files; {
		d := n / 20
		top := fmt.Sprintf("pkg%d", d/50)
		if n%1000 == 0 {
			add(dir, top, 0, nil, world.Attribute{Name: "path", Text: top})
		}
		path := fmt.Sprintf("%s/unit%d", top, d%50)
		at := add(dir, path, 0, nil, world.Attribute{Name: "path", Text: path})
		for f := 0; f < 20 && n < files; f++ {
			var classes []string
			if f%7 == 3 {
				classes = []string{"generated"}
			}
			name := fmt.Sprintf("%s/file%d.%s", path, f, []string{"go", "py", "md", "json"}[f%4])
			add(file, name, at, classes, world.Attribute{Name: "path", Text: name})
			n++
		}
	}
	for i := range min(100, files/10) {
		add(tool, fmt.Sprintf("tool%d", i), world.NoParent, []string{fmt.Sprintf("kind%d", i%5)}, world.Attribute{Name: "level", Text: fmt.Sprint(i % 9)})
	}
	add(mode, "review", world.NoParent, nil)
	w, err := world.New(reg, "dev", "", out, nil)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// bigView is a view of about that many rules on a bigWorld, of every kind that real ones
// have, and so with every kind of smell.
func bigView(rules, files int, r *rand.Rand) string {
	var b strings.Builder
	b.WriteString("@layer base, work;\nfile { visible: true; }\ntool { max-level: 6; }\n")
	tops := max(1, files/1000)
	for i := range rules {
		top := fmt.Sprintf("pkg%d", r.IntN(tops))
		path := fmt.Sprintf("%s/unit%d", top, r.IntN(50))
		name := fmt.Sprintf("%s/file%d.%s", path, r.IntN(20), []string{"go", "py", "md", "json"}[r.IntN(4)])
		value := "true"
		switch n := r.IntN(20); {
		case n == 0:
			value = "false !important"
		case n < 10:
			value = "false"
		}
		switch i % 12 {
		case 0:
			fmt.Fprintf(&b, "file[path=%q] { editable: %s; }\n", name, value)
		case 1:
			fmt.Fprintf(&b, "file[path^=%q] { editable: %s; }\n", path+"/", value)
		case 2:
			fmt.Fprintf(&b, "file:glob(%q) { editable: %s; }\n", top+"/**/*.md", value)
		case 3:
			fmt.Fprintf(&b, "dir#%q file { editable: %s; }\n", path, value)
		case 4:
			fmt.Fprintf(&b, "mode#review file[path^=%q] { visible: %s; }\n", path, value)
		case 5:
			fmt.Fprintf(&b, "file.generated[path*=%q] { visible: %s; }\n", path[len(top):], value)
		case 6:
			fmt.Fprintf(&b, "@layer work { file#%q { editable: %s; visible: true; } }\n", name, value)
		case 7:
			fmt.Fprintf(&b, "tool[name=\"tool%d\"] { allow: %s; max-level: %d; }\n", r.IntN(100), value, r.IntN(9))
		case 8:
			fmt.Fprintf(&b, "tool.kind%d { allow: %s; allow-pattern: \"git *\", \"x%d *\"; deny-pattern: \"git push*\", \"x*\"; }\n", r.IntN(6), value, r.IntN(5))
		case 9:
			fmt.Fprintf(&b, "tool#tool%d file[name$=\".go\"] { editable: %s; }\n", r.IntN(120), value)
		case 10:
			fmt.Fprintf(&b, "dir[path=%q] { visible: %s; }\n", path, value)
		case 11:
			fmt.Fprintf(&b, "@layer base { file#%q { editable: false !locked; } }\n", name)
		}
	}
	return b.String()
}

// naiveFacts are facts that are worked out the plain way: every rule is tried on every
// entity, and every entity is a cohort of its own.
func naiveFacts(in Input) *Facts {
	r := in.Resolution
	f := &Facts{Input: in, Registry: r.Registry(), Bound: r.Bound(), World: r.World(), Engine: r.Engine()}
	m := world.NewMatcher(f.World)
	for i := range f.World.Entities {
		c := cascade.Cohort{Type: f.World.Entities[i].Type, First: i}
		lists := map[*registry.Property][]*cascade.Candidate{}
		for _, rule := range f.Bound.Rules {
			if !m.Matches(rule.Selector, i) {
				continue
			}
			c.Rules = append(c.Rules, rule)
			for _, d := range rule.Declarations {
				for _, t := range d.Typed {
					if t.Property.Entity == c.Type {
						lists[t.Property] = append(lists[t.Property], &cascade.Candidate{Rule: rule, Declaration: d, Value: t.Value})
					}
				}
			}
		}
		var contests []cascade.Contest
		for _, p := range c.Type.Properties {
			list := unlocked(p, lists[p])
			if len(list) == 0 {
				continue
			}
			for a := range list { // insertion, so that nothing is shared with what is tested
				for b := a; b > 0; b-- {
					if ahead, _ := cascade.Ahead(list[b], list[b-1]); !ahead {
						break
					}
					list[b], list[b-1] = list[b-1], list[b]
				}
			}
			contests = append(contests, cascade.Contest{Property: p, Candidates: list})
		}
		f.Cohorts = append(f.Cohorts, c)
		f.CohortOf = append(f.CohortOf, i)
		f.Contests = append(f.Contests, contests)
	}
	f.complete()
	return f
}

// unlocked leaves out what a lock of an exact property keeps out.
func unlocked(p *registry.Property, list []*cascade.Candidate) []*cascade.Candidate {
	var out []*cascade.Candidate
	for _, c := range list {
		kept := true
		for _, l := range list {
			kept = kept && (!l.Declaration.Locked || l == c || p.AsTight(c.Value, l.Value))
		}
		if kept {
			out = append(out, c)
		}
	}
	return out
}

func viewOf(t testing.TB, text string) *ast.View {
	t.Helper()
	v, list := parser.Parse(&diag.Source{Name: "v.umw", Text: []byte(text)})
	if list.HasErrors() {
		t.Fatal(list.Err())
	}
	return v
}
