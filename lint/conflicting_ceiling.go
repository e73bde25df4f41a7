package lint

import (
	"fmt"
	"strings"

	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/registry"
)

const conflictingCeiling = "conflicting-ceiling"

// ConflictingCeiling finds bounds on one entity that cannot all be met.
var ConflictingCeiling = Detector{
	Name: conflictingCeiling, Severity: diag.Warning,
	Summary: "Bounds on one entity cannot all be met: a minimum above a maximum, a value above its own cap, sets with nothing in common.",
	Find: func(f *Facts) []Finding {
		c := conflicts{f: f, seen: map[[2]int]bool{}}
		for i := range f.Cohorts {
			c.in(f.Cohorts[i])
		}
		return c.out
	},
}

type conflicts struct {
	f    *Facts
	seen map[[2]int]bool // by the orders of the two declarations
	out  []Finding
}

func (c *conflicts) in(cohort cascade.Cohort) {
	for _, p := range cohort.Type.Properties {
		e := c.f.Resolution.Get(cohort.First, p)
		if e.Winner == nil {
			continue
		}
		if p.Comparison == registry.In {
			c.disjoint(cohort, p, e)
		}
		for _, q := range cohort.Type.Properties {
			if other := c.f.Resolution.Get(cohort.First, q); other.Winner != nil && q != p {
				c.pair(cohort, p, q, e, other)
			}
		}
	}
}

// disjoint is sets of which each leaves something and all together nothing.
func (c *conflicts) disjoint(cohort cascade.Cohort, p *registry.Property, e cascade.Effective) {
	if e.Resolved == nil || len(e.Resolved.List) > 0 || len(e.From) < 2 {
		return
	}
	var also *cascade.Candidate
	for _, from := range e.From {
		if len(from.Value.List) == 0 {
			return
		}
		if also == nil && from != e.Winner {
			also = from
		}
	}
	c.add(cohort, e.Winner, also, fmt.Sprintf("%s and %s have nothing in common", said(p, e.Winner.Value), Shown(p, also.Value)))
}

// pair is what two properties ask of one entity.
func (c *conflicts) pair(cohort cascade.Cohort, p, q *registry.Property, e, other cascade.Effective) {
	switch {
	case p.Comparison == registry.AtMost && q.Comparison == registry.AtLeast && aboutTheSame(p, q):
		if other.Resolved.Num > e.Resolved.Num {
			c.add(cohort, e.Winner, other.Winner, said(p, e.Resolved)+" is below "+said(q, other.Resolved))
		}
	case p.Comparison == registry.AtMost && strings.EqualFold(p.Name, "max-"+q.Name) && q.Type.Kind == p.Type.Kind && single(q):
		if other.Resolved.Num > e.Resolved.Num {
			c.add(cohort, other.Winner, e.Winner, said(q, other.Resolved)+" is above "+said(p, e.Resolved))
		}
	case p.Comparison == registry.AtLeast && strings.EqualFold(p.Name, "min-"+q.Name) && q.Type.Kind == p.Type.Kind && single(q):
		if other.Resolved.Num < e.Resolved.Num {
			c.add(cohort, other.Winner, e.Winner, said(q, other.Resolved)+" is below "+said(p, e.Resolved))
		}
	case p.Comparison == registry.In && q.Comparison == registry.Overlap && p.Attribute != "" && p.Attribute == q.Attribute:
		for _, from := range other.From {
			if len(from.Value.List) > 0 && !meets(from.Value.List, e.Resolved.List) {
				c.add(cohort, from, e.Winner, said(q, from.Value)+" has nothing of "+said(p, e.Resolved))
			}
		}
	}
}

// aboutTheSame reports whether a maximum and a minimum bound the same thing.
func aboutTheSame(p, q *registry.Property) bool {
	if p.Attribute != "" && p.Attribute == q.Attribute {
		return true
	}
	stem, ok := strings.CutPrefix(strings.ToLower(p.Name), "max-")
	return ok && strings.EqualFold(q.Name, "min-"+stem) && p.Type.Kind == q.Type.Kind
}

func meets(a, b []string) bool {
	for _, x := range a {
		if has(b, x) {
			return true
		}
	}
	return false
}

func (c *conflicts) add(cohort cascade.Cohort, at, with *cascade.Candidate, what string) {
	key := [2]int{at.Declaration.Order, with.Declaration.Order}
	if c.seen[key] {
		return
	}
	c.seen[key] = true
	c.out = append(c.out, finding(diag.Warning, at.Declaration.At, what+" for "+c.f.entity(cohort.First), "decide which of the two is meant", related(with, "the other bound")...))
}
