package lint

import (
	"fmt"

	"umwelt/diag"
	"umwelt/registry"
)

const ineffectiveCeiling = "ineffective-ceiling"

// IneffectiveCeiling finds bounds that bound nothing.
var IneffectiveCeiling = Detector{
	Name: ineffectiveCeiling, Severity: diag.Warning,
	Summary: "A bound changes nothing: another one is always as tight, it is the loosest value there is, or nothing in this world reaches it.",
	Find: func(f *Facts) []Finding {
		var out []Finding
		reached := f.reachedBounds()
		seen := map[int]bool{}
		for _, rule := range f.Bound.Rules {
			for _, d := range rule.Declarations {
				if seen[d.Order] {
					continue
				}
				seen[d.Order] = true
				for _, t := range d.Typed {
					if x, ok := f.idleBound(d, t, reached); ok {
						out = append(out, x)
						break
					}
				}
			}
		}
		return out
	},
}

func (f *Facts) idleBound(d *registry.Declaration, t registry.TypedValue, reached map[life]bool) (Finding, bool) {
	p := t.Property
	if p.Comparison != registry.AtMost && p.Comparison != registry.AtLeast && p.Comparison != registry.In {
		return Finding{}, false
	}
	switch {
	case p.Type.HasRange && (p.Comparison == registry.AtMost && t.Value.Num >= p.Type.Max || p.Comparison == registry.AtLeast && t.Value.Num <= p.Type.Min):
		return finding(diag.Warning, d.At, fmt.Sprintf("%s bounds nothing, since no value can lie beyond it", said(p, t.Value)), "take it out, or tighten it"), true
	}
	l := f.lives[life{d.Order, p}]
	switch {
	case l == nil || d.Locked:
	case l.void:
		return finding(diag.Warning, d.At,
			fmt.Sprintf("%s bounds nothing: on %s another bound is always as tight", said(p, l.first.Value), f.entities(l.by.example, l.fits)),
			"take it out; a bound only ever tightens, so it cannot raise the other one",
			related(l.by.candidate, said(p, l.by.candidate.Value))...), true
	case p.Gates != "" && p.Comparison != registry.In && !reached[life{d.Order, p}]:
		return finding(diag.Note, d.At,
			fmt.Sprintf("%s refuses nothing yet: no %s that it fits has a %s beyond it", said(p, t.Value), p.Entity.Name, p.Attribute),
			"tighten it if it was meant to refuse something that is there"), true
	}
	return Finding{}, false
}

// reachedBounds are the numeric bounds that some entity which they fit breaks, or may break
// since it does not say.
func (f *Facts) reachedBounds() map[life]bool {
	out := map[life]bool{}
	for i, contests := range f.Contests {
		for _, contest := range contests {
			p := contest.Property
			if p.Gates == "" || p.Comparison != registry.AtMost && p.Comparison != registry.AtLeast {
				continue
			}
			m := f.Engine.Measure(&f.World.Entities[f.Cohorts[i].First], p)
			for _, c := range contest.Candidates {
				if !m.IsNumber || p.Comparison == registry.AtMost && m.Number > c.Value.Num || p.Comparison == registry.AtLeast && m.Number < c.Value.Num {
					out[life{c.Declaration.Order, p}] = true
				}
			}
		}
	}
	return out
}
