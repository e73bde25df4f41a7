package lint

import (
	"fmt"
	"slices"

	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/registry"
)

const overlappingPatterns = "overlapping-patterns"

// OverlappingPatterns finds patterns that allow what others of the same thing deny, unless
// the denial is plainly an exception.
var OverlappingPatterns = Detector{
	Name: overlappingPatterns, Severity: diag.Warning,
	Summary: "A pattern allows what another one denies: all of it, so that it allows nothing, or a part that neither spells out.",
	Find: func(f *Facts) []Finding {
		o := overlaps{f: f, seen: map[overlapKey]bool{}}
		for _, cohort := range f.Cohorts {
			for _, allow := range cohort.Type.Properties {
				for _, deny := range cohort.Type.Properties {
					if allow.Comparison == registry.Pattern && deny.Comparison == registry.Pattern &&
						allow.Restrictive == registry.Subset && deny.Restrictive == registry.Superset {
						o.in(cohort, allow, deny)
					}
				}
			}
		}
		return o.out
	},
}

type overlaps struct {
	f    *Facts
	seen map[overlapKey]bool
	out  []Finding
}

type overlapKey struct {
	order         int
	allowed, deny string
}

func (o *overlaps) in(cohort cascade.Cohort, allow, deny *registry.Property) {
	a, d := o.f.Resolution.Get(cohort.First, allow), o.f.Resolution.Get(cohort.First, deny)
	if a.Value == nil || d.Value == nil {
		return
	}
	for _, from := range a.From {
		for _, allowed := range from.Value.List {
			for _, denied := range d.Value.List {
				if key := (overlapKey{from.Declaration.Order, allowed, denied}); !o.seen[key] {
					o.seen[key] = true
					o.compare(cohort, from, d.From, allow, deny, allowed, denied)
				}
			}
		}
	}
}

func (o *overlaps) compare(cohort cascade.Cohort, from *cascade.Candidate, deniers []*cascade.Candidate, allow, deny *registry.Property, allowed, denied string) {
	var also []diag.Related
	for _, c := range deniers {
		if slices.Contains(c.Value.List, denied) {
			also = related(c, "it is denied here")
			break
		}
	}
	where := o.f.entity(cohort.First)
	switch {
	case within(allowed, denied):
		o.out = append(o.out, finding(diag.Warning, from.Declaration.At,
			fmt.Sprintf("%s %s allows nothing on %s, since %s %s denies all of it", allow.Name, diag.Quote(allowed), where, deny.Name, diag.Quote(denied)),
			"take one of the two out", also...))
	case within(denied, allowed), !crosses(allowed, denied):
	default:
		o.out = append(o.out, finding(diag.Note, from.Declaration.At,
			fmt.Sprintf("%s %s and %s %s overlap on %s, and the denial wins where they do", allow.Name, diag.Quote(allowed), deny.Name, diag.Quote(denied), where),
			"deny what is meant as an exception by a pattern inside of the allowed one", also...))
	}
}

// longest bounds the patterns that are compared; longer ones are taken not to overlap.
const longest = 512

// within reports whether every text that fits the pattern a fits b, where "*" stands for
// any text. What a's stars stand for can be anything, so only b's stars can take them.
func within(a, b string) bool {
	if len(a) > longest || len(b) > longest {
		return a == b
	}
	return fits(a, b, func(x, y byte) bool { return x == y && x != '*' })
}

// fits reports whether the pattern fits the text, letter by letter but for stars.
func fits(text, pattern string, same func(x, y byte) bool) bool {
	at, star, back := 0, -1, 0
	p := 0
	for at < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, back = p, at
			p++
		case p < len(pattern) && same(text[at], pattern[p]):
			at++
			p++
		case star >= 0:
			back++
			at, p = back, star+1
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// crosses reports whether some text fits both patterns.
func crosses(a, b string) bool {
	if len(a) > longest || len(b) > longest {
		return false
	}
	// reach[j] says that some text fits a[:i] and b[:j].
	reach := make([]bool, len(b)+1)
	next := make([]bool, len(b)+1)
	for i := 0; i <= len(a); i++ {
		for j := 0; j <= len(b); j++ {
			ok := i == 0 && j == 0
			ok = ok || i > 0 && a[i-1] == '*' && reach[j]
			ok = ok || j > 0 && b[j-1] == '*' && next[j-1]
			if i > 0 && j > 0 {
				ok = ok || reach[j-1] && a[i-1] == b[j-1]
				ok = ok || a[i-1] == '*' && next[j-1]
				ok = ok || b[j-1] == '*' && reach[j]
			}
			next[j] = ok
		}
		reach, next = next, reach
	}
	return reach[len(b)]
}
