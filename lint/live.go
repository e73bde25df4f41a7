package lint

import (
	"slices"

	"umwelt/cascade"
	"umwelt/registry"
)

// life names a declaration as it is written, for one property: the selectors of a list
// share it.
type life struct {
	order    int
	property *registry.Property
}

// living is what becomes of a declaration on all the entities that its rule fits.
type living struct {
	first  *cascade.Candidate
	fits   int  // entities that it is said of
	counts bool // on some entity, in some context, it makes a difference
	voided map[*registry.Rule]*voiding

	// Of a declaration that never counts, by says what makes it void, and loose what does
	// so by letting more through, if anything. Exceptions are neither: a rule of which
	// nothing is left in this world but exceptions still says what holds for the rest. Void
	// says that there is more than exceptions.
	void      bool
	by, loose voiding
}

// voiding is one declaration that makes another void.
type voiding struct {
	candidate *cascade.Candidate
	count     int // entities on which it does
	example   int // one of them
}

// mostQualified bounds with how many others a declaration is compared, about one property
// of one entity. Where more would have to be looked at, it is taken to count.
const mostQualified = 16

// findLives says of every declaration whether it ever counts. One counts on an entity
// unless another, that holds whenever it does, makes it void: by a higher precedence where
// one value wins, by a tighter bound where values combine to one. What a lock keeps out is
// said of nothing, since it has been reported as such.
func (f *Facts) findLives() {
	f.lives = map[life]*living{}
	for i, contests := range f.Contests {
		for _, contest := range contests {
			voids := f.voids(contest)
			for k, c := range contest.Candidates {
				f.live(contest.Property, c, voids[k], i)
			}
		}
	}
	for key, l := range f.lives {
		if !l.counts {
			f.settle(key.property, l)
		}
		l.voided = nil
	}
}

func (f *Facts) live(p *registry.Property, c, by *cascade.Candidate, cohort int) {
	l := f.lives[life{c.Declaration.Order, p}]
	if l == nil {
		l = &living{first: c, voided: map[*registry.Rule]*voiding{}}
		f.lives[life{c.Declaration.Order, p}] = l
	}
	l.fits += f.Size[cohort]
	switch {
	case by == nil:
		l.counts = true
	case l.counts:
	case l.voided[by.Rule] == nil:
		l.voided[by.Rule] = &voiding{by, f.Size[cohort], f.Cohorts[cohort].First}
	default:
		l.voided[by.Rule].count += f.Size[cohort]
	}
}

// settle picks what to say about a declaration that never counts.
func (f *Facts) settle(p *registry.Property, l *living) {
	for rule, v := range l.voided {
		narrow := v.count == f.Resolution.Matched(rule) && v.count < l.fits
		if narrow || refines(rule.Selector, l.first.Rule.Selector) && !refines(l.first.Rule.Selector, rule.Selector) {
			continue
		}
		l.void = true
		if before(rule, l.by.candidate) {
			l.by = *v
		}
		if looser(p, v.candidate.Value, l.first.Value) && before(rule, l.loose.candidate) {
			l.loose = *v
		}
	}
}

func before(rule *registry.Rule, c *cascade.Candidate) bool {
	return c == nil || rule.Index < c.Rule.Index
}

// voids is, for each candidate, the one that makes it void, or nil.
func (f *Facts) voids(contest cascade.Contest) []*cascade.Candidate {
	list, p := contest.Candidates, contest.Property
	out := make([]*cascade.Candidate, len(list))
	switch {
	case single(p):
		// Nothing behind the first that needs no context can count, so what stands before it
		// is all that has to be looked at.
		plain := slices.IndexFunc(list, func(c *cascade.Candidate) bool { return len(c.Rule.Selector.Qualifiers) == 0 })
		for k, c := range list {
			above := list[:min(k, mostQualified)]
			if plain >= 0 && plain < k {
				above = list[:min(plain, mostQualified)]
			}
			for _, a := range above {
				if a.Declaration.Order != c.Declaration.Order && whenever(a.Rule, c.Rule) {
					out[k] = a
					break
				}
			}
			if out[k] == nil && plain >= 0 && plain < k && list[plain].Declaration.Order != c.Declaration.Order {
				out[k] = list[plain]
			}
		}
	case p.Comparison == registry.AtMost, p.Comparison == registry.AtLeast, p.Comparison == registry.In:
		for k := range list {
			for j := range min(len(list), mostQualified) {
				if a, c := list[j], list[k]; a.Declaration.Order != c.Declaration.Order && whenever(a.Rule, c.Rule) && covers(p, a, c, j < k) {
					out[k] = a
					break
				}
			}
		}
	}
	return out
}

// covers reports whether a bound leaves nothing for another one to do. Of two that say the
// same, the first one stays.
func covers(p *registry.Property, a, c *cascade.Candidate, first bool) bool {
	switch p.Comparison {
	case registry.AtMost:
		return a.Value.Num < c.Value.Num || first && a.Value.Num == c.Value.Num
	case registry.AtLeast:
		return a.Value.Num > c.Value.Num || first && a.Value.Num == c.Value.Num
	}
	for _, x := range a.Value.List {
		if !has(c.Value.List, x) {
			return false
		}
	}
	return first || len(a.Value.List) < len(c.Value.List)
}

func has(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
