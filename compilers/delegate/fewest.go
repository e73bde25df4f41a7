package delegate

import "umwelt/registry"

// mostAnswers bounds how many different answers the search for the fewest entries tries at
// every place.
const mostAnswers = 64

// statement chooses the fewest entries that give every place its answer: every place either
// takes the answer of the one that holds it or names one for all that it holds.
func (s *shape) statement() Statement {
	out := Statement{Property: s.p, Decided: s.decided}
	n, k := len(s.places), len(s.answers)
	if k == 0 {
		return out
	}
	if k > mostAnswers {
		for i := 1; i < n; i++ { // no place holds another
			s.places[i].parent = 0
		}
	}
	// need[v*k+a] is how many entries are needed below v where it has the answer a.
	need := make([]int, n*k)
	best := make([]int, n) // the answer that needs the fewest
	for v := n - 1; v >= 0; v-- {
		row := need[v*k : v*k+k]
		best[v] = s.places[v].answer
		if best[v] < 0 {
			best[v] = 0
			for a := range row {
				if row[a] < row[best[v]] {
					best[v] = a
				}
			}
		}
		if v == 0 {
			break
		}
		up := need[s.places[v].parent*k : s.places[v].parent*k+k]
		for a := range up {
			up[a] += s.cost(v, a, row, best[v])
		}
	}
	first := best[0]
	if (permission(s.p) || s.p.Restrictive == registry.NoDirection) && !mayBeMade(s.r.Registry(), s.p.Entity) {
		// What the world does not have is refused, so no yes may hold for all; and what has no
		// direction is about the ones that it is set for.
		first = 0
	}
	given := make([]int, n)
	given[0] = first
	out.Entries = append(out.Entries, Entry{Scope{Kind: All}, s.answers[first]})
	for v := 1; v < n; v++ {
		p := &s.places[v]
		above := given[p.parent]
		given[v] = above
		row := need[v*k : v*k+k]
		switch {
		case p.answer >= 0 && p.answer != above, p.answer < 0 && row[above] > 1+row[best[v]]:
			given[v] = best[v]
			out.Entries = append(out.Entries, Entry{p.scope, s.answers[best[v]]})
		}
	}
	return out
}

// cost is how many entries place v needs where what holds it has the answer a.
func (s *shape) cost(v, a int, row []int, best int) int {
	if own := s.places[v].answer; own >= 0 {
		if own == a {
			return 0
		}
		return 1
	}
	return min(row[a], 1+row[best])
}
