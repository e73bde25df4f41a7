package policydiff_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"umwelt/cascade"
	"umwelt/policydiff"
	"umwelt/registry"
	"umwelt/world"
)

// bigWorld makes a tree of that many files, twenty in a directory.
func bigWorld(b *testing.B, files int) *world.World {
	root, dir, file, mode, tool := vocabulary.Type("world"), vocabulary.Type("dir"), vocabulary.Type("file"), vocabulary.Type("mode"), vocabulary.Type("tool")
	out := []world.Entity{{Type: root, ID: "dev", Parent: world.NoParent}}
	add := func(t *registry.EntityType, id string, parent int32, attrs ...world.Attribute) int32 {
		out = append(out, world.Entity{Type: t, ID: id, Parent: parent, Attributes: world.Complete(t, id, attrs)})
		return int32(len(out) - 1)
	}
	for _, m := range []string{"implement", "review"} {
		add(mode, m, world.NoParent)
	}
	for _, t := range []string{"Bash", "Edit", "Read"} {
		add(tool, t, world.NoParent)
	}
	path := func(p string) world.Attribute { return world.Attribute{Name: "path", Text: p} }
	top, low := int32(0), int32(0)
	for n := range files {
		if n%400 == 0 {
			top = add(dir, fmt.Sprintf("pkg%d", n/400), 0, path(fmt.Sprintf("pkg%d", n/400)))
		}
		if n%20 == 0 {
			p := fmt.Sprintf("pkg%d/unit%d", n/400, n/20)
			low = add(dir, p, top, path(p))
		}
		p := fmt.Sprintf("pkg%d/unit%d/file%d.%s", n/400, n/20, n, []string{"go", "py", "md", "json"}[n%4])
		add(file, p, low, path(p))
	}
	w, err := world.New(vocabulary, "dev", "", out, nil)
	if err != nil {
		b.Fatal(err)
	}
	return w
}

// bigView makes that many rules of the kinds that real views have. Of each hundred, the
// last is another where changed.
func bigView(rules, files int, changed bool) string {
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for i := range rules {
		n := r.IntN(files)
		unit := fmt.Sprintf("pkg%d/unit%d", n/400, n/20)
		value := r.IntN(2) == 0
		if changed && i%100 == 99 {
			value = !value
		}
		switch i % 6 {
		case 0:
			fmt.Fprintf(&b, "file[path^=\"%s/\"] { editable: %v; }\n", unit, value)
		case 1:
			fmt.Fprintf(&b, "file:glob(\"pkg%d/**/*.go\") { visible: %v; }\n", n/400, value)
		case 2:
			fmt.Fprintf(&b, "dir#\"%s\" file[name$=\".md\"] { editable: %v; }\n", unit, value)
		case 3:
			fmt.Fprintf(&b, "mode#review file[path^=\"%s/\"] { editable: %v; }\n", unit, value)
		case 4:
			fmt.Fprintf(&b, "tool#Bash file[path^=\"pkg%d/\"] { visible: %v; }\n", n/400, value)
		case 5:
			fmt.Fprintf(&b, "file[path$=\"file%d.py\"] { visible: %v; }\n", n, value)
		}
	}
	return b.String()
}

// naive asks every rule about every entity in every context, the strongest first, and
// counts the answers that differ.
func naive(w *world.World, a, b *registry.Bound, contexts []policydiff.Context) int {
	file := vocabulary.Type("file")
	m := world.NewMatcher(w)
	rules := [2][]*registry.Rule{byPrecedence(a), byPrecedence(b)}
	n := 0
	for _, c := range contexts {
		holds := func(r *registry.Rule) bool {
			return !slices.ContainsFunc(r.Selector.Qualifiers, func(q *registry.Compound) bool {
				return !slices.ContainsFunc(c.Refs, func(ref cascade.Ref) bool {
					i := w.Find(vocabulary.Type(ref.Type), ref.ID)
					return m.Compound(q, &w.Entities[i], i)
				})
			})
		}
		var live [2][]*registry.Rule
		for side := range rules {
			for _, r := range rules[side] {
				if holds(r) {
					live[side] = append(live[side], r)
				}
			}
		}
		for i := range w.Entities {
			if w.Entities[i].Type != file {
				continue
			}
			for _, name := range []string{"editable", "visible"} {
				p := file.Property(name)
				if !first(m, live[0], i, p).Equal(first(m, live[1], i, p)) {
					n++
				}
			}
		}
	}
	return n
}

// first is the value of the first rule that sets the property, what implies it left aside.
func first(m *world.Matcher, rules []*registry.Rule, i int, p *registry.Property) *registry.Value {
	for _, r := range rules {
		if v := r.Declarations[0].Typed[0]; v.Property == p && m.Matches(r.Selector, i) {
			return v.Value
		}
	}
	return nil
}

func byPrecedence(b *registry.Bound) []*registry.Rule {
	out := slices.Clone(b.Rules)
	slices.SortStableFunc(out, func(x, y *registry.Rule) int {
		if c := y.Selector.Specificity.Compare(x.Selector.Specificity); c != 0 {
			return c
		}
		return y.Index - x.Index
	})
	return out
}

// BenchmarkCompare compares two views of 1,000 rules over 10,000 files, from bound views
// to groups, beside asking every rule about every file.
func BenchmarkCompare(b *testing.B) {
	w := bigWorld(b, 10_000)
	old, now := bind(b, "a.umw", bigView(1000, 10_000, false)), bind(b, "b.umw", bigView(1000, 10_000, true))
	run := func() *policydiff.Result {
		r, list := policydiff.Compare([]policydiff.Pair{{Old: cascade.New(w, old), New: cascade.New(w, now)}}, policydiff.Options{})
		if list.HasErrors() {
			b.Fatal(list.Err())
		}
		return r
	}
	r := run()
	if len(r.Groups) == 0 || len(r.Contexts) < 4 {
		b.Fatalf("%d groups in %d contexts", len(r.Groups), len(r.Contexts))
	}
	b.Run("compare", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			run()
		}
		b.ReportMetric(float64(len(r.Contexts)), "contexts")
		b.ReportMetric(float64(len(r.Groups)), "groups")
	})
	b.Run("naive", func(b *testing.B) {
		for b.Loop() {
			naive(w, old, now, r.Contexts)
		}
	})
}
