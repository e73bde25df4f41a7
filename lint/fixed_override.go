package lint

import (
	"fmt"

	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/registry"
)

const fixedOverride = "fixed-override"

// FixedOverride finds declarations that the world's own constraints undo wherever they
// would decide.
var FixedOverride = Detector{
	Name: fixedOverride, Severity: diag.Warning,
	Summary: "A declaration asks for what the world fixes otherwise, everywhere it would decide.",
	Find: func(f *Facts) []Finding {
		type fate struct {
			won, undone int
			by          cascade.Effective
			property    *registry.Property
			example     int
		}
		fates := map[int]*fate{}
		for i, cohort := range f.Cohorts {
			for _, p := range cohort.Type.Properties {
				e := f.Resolution.Get(cohort.First, p)
				if e.Winner == nil || !single(p) && p.Comparison != registry.AtMost && p.Comparison != registry.AtLeast {
					continue
				}
				x := fates[e.Winner.Declaration.Order]
				if x == nil {
					x = &fate{}
					fates[e.Winner.Declaration.Order] = x
				}
				x.won += f.Size[i]
				if e.Origin == cascade.Fixed && e.Reason != nil && e.Reason.Fixed != nil && !e.Value.Equal(e.Resolved) {
					if x.undone == 0 {
						x.by, x.property, x.example = e, p, cohort.First
					}
					x.undone += f.Size[i]
				}
			}
		}
		var out []Finding
		for _, rule := range f.Bound.Rules {
			for _, d := range rule.Declarations {
				x := fates[d.Order]
				if x == nil || x.undone == 0 || x.undone < x.won {
					continue
				}
				delete(fates, d.Order)
				out = append(out, finding(diag.Warning, d.At,
					fmt.Sprintf("%s has no effect: the world fixes %s for %s", said(x.property, x.by.Resolved), said(x.property, x.by.Value), f.entities(x.example, x.undone)),
					"take it out; no rule can relax what the world fixes",
					diag.Related{Span: x.by.Reason.Fixed.At, Message: "it is fixed here"}))
			}
		}
		return out
	},
}
