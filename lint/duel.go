package lint

import (
	"cmp"
	"slices"
	"strings"

	"umwelt/cascade"
	"umwelt/registry"
)

// duel is two rules of which one decides a property of some entities over the other, and
// they say different things. Every smell about how rules win is about a duel, and each
// duel is one smell at most.
type duel struct {
	property *registry.Property
	winner   *cascade.Candidate
	loser    *cascade.Candidate
	why      cascade.Why
	example  int // an entity that they decide about
	count    int // how many such entities there are

	both int // entities that both rules fit, whoever decides
}

type duelKey struct {
	winner, loser int // rules
	property      *registry.Property
}

// findDuels looks, per cohort and property, at the declarations that win in some context,
// and for each at the best one below it that says something else. What wins in some
// context is everything down to the first that needs no context.
func (f *Facts) findDuels() {
	found := map[duelKey]int{}
	for i, contests := range f.Contests {
		for _, contest := range contests {
			if !single(contest.Property) {
				continue
			}
			list := contest.Candidates
			for w := range list {
				if l := nextDifferent(list, w); l > 0 && !settled(list[:w], list[w], list[l]) {
					f.addDuel(found, contest.Property, list[w], list[l], i)
				}
				if len(list[w].Rule.Selector.Qualifiers) == 0 {
					break
				}
			}
		}
	}
	f.countShared()
	slices.SortFunc(f.duels, func(a, b duel) int {
		return cmp.Or(
			cmp.Compare(a.winner.Declaration.Order, b.winner.Declaration.Order), cmp.Compare(a.winner.Rule.Index, b.winner.Rule.Index),
			cmp.Compare(a.loser.Declaration.Order, b.loser.Declaration.Order), cmp.Compare(a.loser.Rule.Index, b.loser.Rule.Index),
			cmp.Compare(a.property.Entity.Index, b.property.Entity.Index), cmp.Compare(a.property.Index, b.property.Index))
	})
}

// nextDifferent is the first candidate behind w with another value that can hold together
// with it, or -1.
func nextDifferent(list []*cascade.Candidate, w int) int {
	for l := w + 1; l < len(list); l++ {
		if !list[l].Value.Equal(list[w].Value) && list[l].Declaration.Order != list[w].Declaration.Order && !exclude(list[w].Rule, list[l].Rule) {
			return l
		}
	}
	return -1
}

// settled reports whether something above holds whenever both do, so that it decides and
// not the first of the two.
func settled(above []*cascade.Candidate, a, b *cascade.Candidate) bool {
	both := &registry.Rule{Selector: &registry.Selector{Qualifiers: slices.Concat(a.Rule.Selector.Qualifiers, b.Rule.Selector.Qualifiers)}}
	for _, c := range above[:min(len(above), mostQualified)] {
		if whenever(c.Rule, both) {
			return true
		}
	}
	return false
}

// exclude reports whether two rules ask for different things of the same kind to be
// active, of which usually only one is.
func exclude(a, b *registry.Rule) bool {
	for _, q := range a.Selector.Qualifiers {
		for _, r := range b.Selector.Qualifiers {
			if q.Type != nil && q.Type == r.Type && q.Type.SoleActive && q.Text != r.Text {
				return true
			}
		}
	}
	return false
}

func (f *Facts) addDuel(found map[duelKey]int, p *registry.Property, winner, loser *cascade.Candidate, cohort int) {
	key := duelKey{winner.Rule.Index, loser.Rule.Index, p}
	at, ok := found[key]
	if !ok {
		at = len(f.duels)
		found[key] = at
		_, why := cascade.Ahead(winner, loser)
		f.duels = append(f.duels, duel{property: p, winner: winner, loser: loser, why: why, example: f.Cohorts[cohort].First})
	}
	f.duels[at].count += f.Size[cohort]
}

// countShared works out how many entities the two rules of each duel fit together. Each
// duel hangs on the rule that fits fewer entities, so that a rule that fits nearly all of
// them costs nothing.
func (f *Facts) countShared() {
	type other struct {
		duel int
		rule *registry.Rule
	}
	on := map[*registry.Rule][]other{}
	for i := range f.duels {
		a, b := f.duels[i].winner.Rule, f.duels[i].loser.Rule
		if f.Resolution.Matched(b) < f.Resolution.Matched(a) {
			a, b = b, a
		}
		on[a] = append(on[a], other{i, b})
	}
	mark := make([]int, len(f.Bound.Rules))
	for i, cohort := range f.Cohorts {
		for _, r := range cohort.Rules {
			mark[r.Index] = i + 1
		}
		for _, r := range cohort.Rules {
			for _, o := range on[r] {
				if mark[o.rule.Index] == i+1 {
					f.duels[o.duel].both += f.Size[i]
				}
			}
		}
	}
}

// loosens reports whether the winner lets through what the loser takes away.
func (d *duel) loosens() bool {
	return looser(d.property, d.winner.Value, d.loser.Value) && restricts(d.property, d.loser.Value)
}

// exception reports whether the winner is an exception to the loser: it is about some of
// the entities that the loser is about, and no others.
func (f *Facts) exception(d *duel) bool {
	narrow, broad := f.Resolution.Matched(d.winner.Rule), f.Resolution.Matched(d.loser.Rule)
	w, l := d.winner.Rule.Selector, d.loser.Rule.Selector
	return d.both == narrow && narrow < broad || refines(w, l) && (!refines(l, w) || len(w.Qualifiers) > len(l.Qualifiers))
}

// refines reports whether a selector says all that another one says, so that it fits
// nothing else whatever the world is.
func refines(a, b *registry.Selector) bool {
	if len(b.Structure) > 0 && (len(a.Structure) == 0 || !sameLinks(a, b)) {
		return false
	}
	return refinesCompound(a.Target, b.Target)
}

func sameLinks(a, b *registry.Selector) bool {
	return slices.EqualFunc(a.Structure, b.Structure, func(x, y registry.Link) bool {
		return x.Child == y.Child && x.Compound.Text == y.Compound.Text
	})
}

func refinesCompound(a, b *registry.Compound) bool {
	if b.Type != nil && a.Type != b.Type {
		return false
	}
	for i := range b.Tests {
		if !slices.ContainsFunc(a.Tests, func(t registry.Test) bool { return implies(&t, &b.Tests[i]) }) {
			return false
		}
	}
	return true
}

// implies reports whether what fits a surely fits b. It knows tests of one attribute; of
// tests that hold selectors it says nothing.
func implies(a, b *registry.Test) bool {
	if a.Kind != registry.TestAttr || b.Kind != registry.TestAttr || a.Attr != b.Attr || a.Fold != b.Fold {
		return sameTest(a, b)
	}
	whole := a.Op == "="
	switch b.Op {
	case "":
		return true
	case "^=":
		return (whole || a.Op == "^=") && b.Value != "" && strings.HasPrefix(a.Value, b.Value)
	case "$=":
		return (whole || a.Op == "$=") && b.Value != "" && strings.HasSuffix(a.Value, b.Value)
	case "*=":
		return (whole || a.Op == "^=" || a.Op == "$=" || a.Op == "*=") && b.Value != "" && strings.Contains(a.Value, b.Value)
	}
	return sameTest(a, b)
}

// sameTest reports whether two tests are the same one. Those that hold selectors are never
// said to be.
func sameTest(a, b *registry.Test) bool {
	return a.Selectors == nil && b.Selectors == nil && a.Kind == b.Kind && a.Attr == b.Attr && a.Op == b.Op &&
		a.Value == b.Value && a.Fold == b.Fold && a.Dotted == b.Dotted && a.Classes == b.Classes && a.Pseudo == b.Pseudo
}
