package lint

import (
	"fmt"

	"umwelt/diag"
)

const shadowedRestriction = "shadowed-restriction"

// ShadowedRestriction finds restrictions that never hold, since wherever they apply a rule
// wins that lets more through.
var ShadowedRestriction = Detector{
	Name: shadowedRestriction, Severity: diag.Error,
	Summary: "A restriction never holds: wherever it applies, another rule wins, and one of them lets more through.",
	Find: func(f *Facts) []Finding {
		var out []Finding
		for _, s := range f.shadows() {
			l := s.loses()
			if l == nil {
				continue
			}
			p := propertyOf(l)
			out = append(out, finding(diag.Error, s.decl.At,
				fmt.Sprintf("%s never holds: on %s %s wins", said(p, l.first.Value), f.entity(l.loose.example), said(p, l.loose.candidate.Value)),
				"make it more specific than what wins over it, or lock it (!locked in an earlier layer)",
				related(l.loose.candidate, "this wins instead")...))
		}
		return out
	},
}
