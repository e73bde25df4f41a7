package lint

import (
	"slices"

	"umwelt/cascade"
	"umwelt/registry"
)

// SamePolicy reports whether one bound view says in every world what another one says,
// where the second has come from the first by taking out declarations and flags: what is
// left of each property stands in the same order of precedence, and what is gone stood
// behind a declaration of the very same selector.
func SamePolicy(before, after *registry.Bound) bool {
	if !slices.Equal(before.Layers, after.Layers) {
		return false
	}
	a, b := order(before), order(after)
	for p, list := range a {
		if !sameOrder(p, list, b[p]) {
			return false
		}
	}
	for p := range b {
		if a[p] == nil {
			return false
		}
	}
	return true
}

// SameAnswers reports whether two resolutions of one world agree on every property of
// every entity.
func SameAnswers(a, b *cascade.Resolution) bool {
	for i := range a.World().Entities {
		for _, p := range a.World().Entities[i].Type.Properties {
			x, y := a.Get(i, p), b.Get(i, p)
			if x.Origin != y.Origin || !x.Value.Equal(y.Value) || !x.Resolved.Equal(y.Resolved) {
				return false
			}
		}
	}
	return true
}

// order is the declarations of each property, the one of the highest precedence first.
func order(b *registry.Bound) map[*registry.Property][]*cascade.Candidate {
	out := map[*registry.Property][]*cascade.Candidate{}
	for _, rule := range b.Rules {
		for _, d := range rule.Declarations {
			for _, t := range d.Typed {
				out[t.Property] = append(out[t.Property], &cascade.Candidate{Rule: rule, Declaration: d, Value: t.Value})
			}
		}
	}
	for _, list := range out {
		slices.SortStableFunc(list, func(x, y *cascade.Candidate) int {
			if ahead, _ := cascade.Ahead(x, y); ahead {
				return -1
			}
			return 1
		})
	}
	return out
}

func sameOrder(p *registry.Property, before, after []*cascade.Candidate) bool {
	type place struct {
		selector string
		layer    int
	}
	stronger := map[place]bool{}
	next := 0
	for _, c := range before {
		at := place{c.Rule.Selector.Text, c.Rule.Layer}
		if next < len(after) {
			o := after[next]
			if o.Rule.Selector.Text == at.selector && o.Rule.Layer == at.layer && o.Value.Equal(c.Value) && o.Declaration.Locked == c.Declaration.Locked {
				next++
				stronger[at] = true
				continue
			}
		}
		if !single(p) || c.Declaration.Locked || !stronger[at] {
			return false
		}
	}
	return next == len(after)
}
