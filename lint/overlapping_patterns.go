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
	a, d := registry.ReadCallPattern(allowed), registry.ReadCallPattern(denied)
	switch {
	case d.Covers(a):
		o.out = append(o.out, finding(diag.Warning, from.Declaration.At,
			fmt.Sprintf("%s %s allows nothing on %s, since %s %s denies all of it", allow.Name, diag.Quote(allowed), where, deny.Name, diag.Quote(denied)),
			"take one of the two out", also...))
	case a.Covers(d), !d.Crosses(a):
	default:
		o.out = append(o.out, finding(diag.Note, from.Declaration.At,
			fmt.Sprintf("%s %s and %s %s overlap on %s, and the denial wins where they do", allow.Name, diag.Quote(allowed), deny.Name, diag.Quote(denied), where),
			"deny what is meant as an exception by a pattern inside of the allowed one", also...))
	}
}
