package lint

import (
	"fmt"

	"umwelt/diag"
)

const crossAxisDominance = "cross-axis-dominance"

// CrossAxisDominance finds broad rules that win over narrower ones only because they name
// a condition.
var CrossAxisDominance = Detector{
	Name: crossAxisDominance, Severity: diag.Warning,
	Summary: "A broad rule with a condition wins over a narrower rule without one, since naming another axis outweighs any id or class.",
	Find: func(f *Facts) []Finding {
		return f.onDuels(crossAxisDominance, func(d *duel) Finding {
			s, effect := diag.Note, ""
			if d.loosens() {
				s, effect = diag.Warning, ", and so lets through what that one withholds"
			}
			return finding(s, d.winner.Declaration.At,
				fmt.Sprintf("%s wins on %s over a rule that is narrower but has no condition%s", said(d.property, d.winner.Value), f.entities(d.example, d.count), effect),
				"lock the narrow one (!locked in an earlier layer), repeat it with the condition, or exclude it here with :not()",
				related(d.loser, said(d.property, d.loser.Value)+" is the narrower one")...)
		})
	},
}
