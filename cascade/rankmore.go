package cascade

import (
	"slices"
	"sort"

	"umwelt/registry"
)

// rankAmong ranks further rules among those of base without touching it. An index into
// the result is a precedence among both. The first of the rules belongs to that selector.
func rankAmong(base *ranking, rules []*registry.Rule, selector int32) *ranking {
	if len(rules) == 0 {
		return base
	}
	r := rankRules(rules, rules[0].Index)
	r.base, r.first, r.locks = base, selector, r.locks || base.locks
	r.ahead = make([]int32, len(r.candidates))
	for k := range r.candidates {
		c := &r.candidates[k]
		r.ahead[k] = int32(sort.Search(len(base.candidates), func(i int) bool { return precedence(&base.candidates[i], c) > 0 }))
	}
	return r
}

// candidate is the one of that precedence.
func (r *ranking) candidate(c int32) *Candidate {
	if r.base == nil {
		return &r.candidates[c]
	}
	// Own candidate k has the precedence ahead[k]+k.
	k := int32(sort.Search(len(r.ahead), func(k int) bool { return r.ahead[k]+int32(k) > c }))
	if k > 0 && r.ahead[k-1]+k-1 == c {
		return &r.candidates[k-1]
	}
	return &r.base.candidates[c-k]
}

// of is the candidates of the rule that a selector belongs to, as indices into the
// ranking that holds them.
func (r *ranking) of(s int32) ([]int32, *ranking) {
	if r.base != nil && s < r.first {
		return r.base.byRule[s], r.base
	}
	return r.byRule[s-r.first], r
}

// place is the precedence of a candidate that of returned.
func (r *ranking) place(c int32, of *ranking) int32 {
	switch {
	case r.base == nil:
		return c
	case of == r:
		return r.ahead[c] + c
	}
	k, _ := slices.BinarySearch(r.ahead, c+1) // so many of r's own come before it
	return c + int32(k)
}
