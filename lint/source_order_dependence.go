package lint

import (
	"fmt"

	"umwelt/diag"
)

const sourceOrderDependence = "source-order-dependence"

// SourceOrderDependence finds answers that would be others if two rules, or two files,
// stood in the other order.
var SourceOrderDependence = Detector{
	Name: sourceOrderDependence, Severity: diag.Warning,
	Summary: "An answer hangs on the order of two files, or on an exception standing behind the equally specific rule it is made to.",
	Find: func(f *Facts) []Finding {
		return f.onDuels(sourceOrderDependence, func(d *duel) Finding {
			w, l := said(d.property, d.winner.Value), said(d.property, d.loser.Value)
			where := f.entities(d.example, d.count)
			if d.winner.Rule.At.Source != d.loser.Rule.At.Source {
				return finding(diag.Warning, d.winner.Declaration.At,
					fmt.Sprintf("%s holds on %s, and not %s, only because of the order in which the files are given", w, where, l),
					"put the files into layers (@layer, or @import with layer()), so that their order is written down",
					related(d.loser, "the other file says this")...)
			}
			return finding(diag.Note, d.winner.Declaration.At,
				fmt.Sprintf("%s is an exception to an equally specific %s only because it stands behind it (%s)", w, l, where),
				"make the exception more specific, or put the two into layers",
				related(d.loser, "it stands behind this")...)
		})
	},
}
