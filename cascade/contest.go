package cascade

import (
	"slices"

	"umwelt/registry"
)

// Contest is what the rules say of one property of the entities of a cohort, whatever the
// context: the one of the highest precedence first. What a lock keeps out is not in it.
type Contest struct {
	Property   *registry.Property
	Candidates []*Candidate
}

// Contests are the properties of a cohort, an index into Cohorts, that some rule sets.
func (e *Engine) Contests(cohort int) []Contest {
	class := e.classes[cohort]
	typ := e.types[class.typ].typ
	lists := make([][]int32, len(typ.Properties))
	for _, s := range e.sets[class.set] {
		if int(s) >= len(e.bound.Rules) {
			continue
		}
		for _, k := range e.ranked.byRule[s] {
			if p := e.ranked.property[k]; p.Entity == typ {
				lists[p.Index] = append(lists[p.Index], k)
			}
		}
	}
	var out []Contest
	for i, list := range lists {
		if len(list) == 0 {
			continue
		}
		p := typ.Properties[i]
		slices.Sort(list)
		contest := Contest{Property: p}
		for _, k := range e.ranked.withoutLoosened(p, list, nil) {
			contest.Candidates = append(contest.Candidates, &e.ranked.candidates[k])
		}
		out = append(out, contest)
	}
	return out
}

// Ahead reports whether a has the higher precedence of two candidates for one property,
// and for which kind of reason the other comes behind.
func Ahead(a, b *Candidate) (bool, Why) {
	by, c := compareBy(a, b)
	return c < 0, [...]Why{NotImportant, WeakerLayer, LowerSpecificity, Earlier}[by]
}
