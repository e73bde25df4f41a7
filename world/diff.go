package world

import (
	"slices"
	"strings"

	"umwelt/registry"
)

// ChangeKind says what became of an entity or fixed constraint.
type ChangeKind uint8

// The kinds of change.
const (
	Removed ChangeKind = iota
	Changed
	Added
)

func (k ChangeKind) String() string { return [...]string{"removed", "changed", "added"}[k] }

// Change is one difference between two worlds. Type is nil for a fixed constraint, whose
// selector is then the ID.
type Change struct {
	Kind   ChangeKind
	Type   *registry.EntityType
	ID     string
	Fields []FieldChange // of a Changed entity
}

// FieldChange is one fact that differs. Had and Has say whether the old and the new world
// hold it.
type FieldChange struct {
	Name     string // an attribute's or property's name, or one of those in parentheses
	Old, New string
	Had, Has bool
}

// Diff says what came, went and changed from world a to world b, which share a
// registry: first what a holds, in its order, then what b adds, in its order, then what is
// withheld in one of them only. Where things came from is no difference but for projections,
// which stand for all that they hold.
func Diff(a, b *World) []Change {
	var out []Change
	for i := range a.Entities {
		e := &a.Entities[i]
		j := b.Find(e.Type, e.ID)
		if j < 0 {
			out = append(out, Change{Kind: Removed, Type: e.Type, ID: e.ID})
			continue
		}
		if fields := diffFacts(a.facts(e), b.facts(&b.Entities[j])); len(fields) > 0 {
			out = append(out, Change{Kind: Changed, Type: e.Type, ID: e.ID, Fields: fields})
		}
	}
	for i := range b.Entities {
		if e := &b.Entities[i]; a.Find(e.Type, e.ID) < 0 {
			out = append(out, Change{Kind: Added, Type: e.Type, ID: e.ID})
		}
	}
	out = append(out, diffWithheld(a, b)...)
	return append(out, diffFixed(a.fixedNode(), b.fixedNode())...)
}

type fact struct{ name, text string }

func (w *World) facts(e *Entity) []fact {
	var out []fact
	if len(e.Classes) > 0 {
		classes := slices.Sorted(slices.Values(e.Classes))
		out = append(out, fact{"(classes)", strings.Join(classes, " ")})
	}
	if e.Parent != NoParent {
		p := &w.Entities[e.Parent]
		out = append(out, fact{"(parent)", typeName(p.Type, w.Registry) + "#" + p.ID})
	}
	if e.Listed {
		out = append(out, fact{"(listed)", "true"})
	}
	if e.Provenance.Origin == Projected {
		out = append(out, fact{"(projected)", "true"})
	}
	for _, a := range e.Attributes {
		out = append(out, fact{a.Name, a.Text})
	}
	return out
}

// diffWithheld says what is left out in one of two worlds and is unknown to the other.
func diffWithheld(a, b *World) []Change {
	left := map[pathKey]bool{}
	for i := range b.Withheld {
		left[pathKey{b.Withheld[i].Type, b.Withheld[i].Path()}] = true
	}
	withheld := func(e *Entity, f FieldChange) Change {
		f.Name = "(withheld)"
		return Change{Kind: Changed, Type: e.Type, ID: e.ID, Fields: []FieldChange{f}}
	}
	var out []Change
	for i := range a.Withheld {
		e := &a.Withheld[i]
		if k := (pathKey{e.Type, e.Path()}); left[k] {
			delete(left, k)
		} else if b.Find(e.Type, e.ID) < 0 {
			out = append(out, withheld(e, FieldChange{Old: "true", Had: true}))
		}
	}
	for i := range b.Withheld {
		if e := &b.Withheld[i]; left[pathKey{e.Type, e.Path()}] && a.Find(e.Type, e.ID) < 0 {
			out = append(out, withheld(e, FieldChange{New: "true", Has: true}))
		}
	}
	return out
}

func diffFacts(a, b []fact) []FieldChange {
	find := func(list []fact, name string) (string, bool) {
		if i := slices.IndexFunc(list, func(f fact) bool { return f.name == name }); i >= 0 {
			return list[i].text, true
		}
		return "", false
	}
	var out []FieldChange
	for _, f := range a {
		if text, ok := find(b, f.name); !ok || text != f.text {
			out = append(out, FieldChange{Name: f.name, Old: f.text, New: text, Had: true, Has: ok})
		}
	}
	for _, f := range b {
		if _, ok := find(a, f.name); !ok {
			out = append(out, FieldChange{Name: f.name, New: f.text, Has: true})
		}
	}
	return out
}

func diffFixed(a, b *node) []Change {
	facts := func(n *node) []fact {
		var out []fact
		for _, p := range n.pairs {
			shown := p.value.text
			if p.value.kind == listNode {
				shown = flowYAML(p.value)
			}
			out = append(out, fact{p.key, shown})
		}
		return out
	}
	var out []Change
	for _, p := range a.pairs {
		other := b.get(p.key)
		if other == nil {
			out = append(out, Change{Kind: Removed, ID: strings.TrimSpace(p.key)})
		} else if fields := diffFacts(facts(p.value), facts(other)); len(fields) > 0 {
			out = append(out, Change{Kind: Changed, ID: strings.TrimSpace(p.key), Fields: fields})
		}
	}
	for _, p := range b.pairs {
		if a.get(p.key) == nil {
			out = append(out, Change{Kind: Added, ID: strings.TrimSpace(p.key)})
		}
	}
	return out
}
