package lint

import (
	"fmt"

	"umwelt/diag"
)

const permissiveOverride = "permissive-override"

// PermissiveOverride finds grants that undo a restriction without being an exception to
// it.
var PermissiveOverride = Detector{
	Name: permissiveOverride, Severity: diag.Warning,
	Summary: "A grant undoes a restriction without being an exception to it: its rule is not about fewer things than the restriction's.",
	Find: func(f *Facts) []Finding {
		return f.onDuels(permissiveOverride, func(d *duel) Finding {
			return finding(diag.Warning, d.winner.Declaration.At,
				fmt.Sprintf("%s undoes %s on %s (%s)", said(d.property, d.winner.Value), said(d.property, d.loser.Value), f.entities(d.example, d.count), by(d)),
				"lock the restriction (!locked in an earlier layer), or narrow this rule to what is meant as an exception",
				related(d.loser, "the restriction")...)
		})
	},
}

// by says by what a rule wins.
func by(d *duel) string {
	return "by " + map[string]string{"importance": "!important", "layer": "its layer", "specificity": "specificity", "order": "order"}[d.why.String()]
}
