package lint

import (
	"fmt"

	"umwelt/diag"
)

const specificityTie = "specificity-tie"

// SpecificityTie finds rules of equal specificity that overlap, contradict each other, and
// of which neither is an exception to the other.
var SpecificityTie = Detector{
	Name: specificityTie, Severity: diag.Warning,
	Summary: "Two rules of equal specificity contradict each other where they overlap, and only their order decides.",
	Find: func(f *Facts) []Finding {
		return f.onDuels(specificityTie, func(d *duel) Finding {
			return finding(diag.Warning, d.winner.Declaration.At,
				fmt.Sprintf("%s and %s are equally specific, and on %s only their order decides", said(d.property, d.winner.Value), said(d.property, d.loser.Value), f.entities(d.example, d.count)),
				"say on purpose which holds where both do: a rule for what both fit, or :not() in one of them",
				related(d.loser, "it stands later than this")...)
		})
	},
}
