package diag

import "strings"

// Suggest returns the candidate nearest to word, or "" where none is near enough to be
// what the author meant. Letters compare without case. Of equally near candidates the
// first wins, so callers pass candidates in a fixed order.
func Suggest(word string, candidates []string) string {
	// A long word is no typo of a vocabulary term, and costs quadratic time.
	if word == "" || len(word) > 64 {
		return ""
	}
	w := strings.ToLower(word)
	best, bestDistance := "", 1+max(1, len(w)/3)
	for _, c := range candidates {
		if d := distance(w, strings.ToLower(c), bestDistance); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// DidYouMean is Suggest as the hint of a diagnostic, or "".
func DidYouMean(word string, candidates []string) string {
	if s := Suggest(word, candidates); s != "" {
		return "did you mean " + Quote(s) + "?"
	}
	return ""
}

// distance is the optimal string alignment distance of a and b (an insertion, deletion,
// substitution or swap of neighbours costs 1), or limit where it is at least that.
func distance(a, b string, limit int) int {
	if abs(len(a)-len(b)) >= limit {
		return limit
	}
	before, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
		}
		before, prev, cur = prev, cur, before
	}
	return min(prev[len(b)], limit)
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}
