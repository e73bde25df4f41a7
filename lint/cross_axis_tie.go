package lint

import (
	"fmt"

	"umwelt/diag"
)

const crossAxisTie = "cross-axis-tie"

// CrossAxisTie finds rules that differ only in the kind of condition they name, so that
// the order of the vocabulary's axes decides.
var CrossAxisTie = Detector{
	Name: crossAxisTie, Severity: diag.Warning,
	Summary: "Two rules with conditions on different axes contradict each other, and the order of the axes decides.",
	Find: func(f *Facts) []Finding {
		return f.onDuels(crossAxisTie, func(d *duel) Finding {
			return finding(diag.Warning, d.winner.Declaration.At,
				fmt.Sprintf("where both conditions hold, %s wins over %s on %s by the order of the axes alone", said(d.property, d.winner.Value), said(d.property, d.loser.Value), f.entities(d.example, d.count)),
				"write a rule that names both conditions and says what holds then",
				related(d.loser, "it wins over this")...)
		})
	},
}
