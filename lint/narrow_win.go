package lint

import (
	"fmt"

	"umwelt/diag"
)

const narrowWin = "narrow-win"

// NarrowWin finds rules that decide by a single id, class or type more, where neither of
// the two rules is an exception to the other.
var NarrowWin = Detector{
	Name: narrowWin, Severity: diag.Warning,
	Summary: "A rule wins by a single id, class or type more than one that says otherwise, and neither is an exception to the other.",
	Find: func(f *Facts) []Finding {
		return f.onDuels(narrowWin, func(d *duel) Finding {
			return finding(diag.Warning, d.winner.Declaration.At,
				fmt.Sprintf("%s wins over %s on %s by one part of its selector alone", said(d.property, d.winner.Value), said(d.property, d.loser.Value), f.entities(d.example, d.count)),
				"say on purpose which holds where both do: a rule for what both fit, or :not() in one of them",
				related(d.loser, "it wins over this")...)
		})
	},
}

// onDuels is a finding per duel of one smell. A loser that never counts at all is another
// detector's.
func (f *Facts) onDuels(smell string, report func(*duel) Finding) []Finding {
	var out []Finding
	seen := map[[3]int]bool{}
	for i := range f.duels {
		d := &f.duels[i]
		key := [3]int{d.winner.Declaration.Order, d.loser.Declaration.Order, d.property.Index}
		if l := f.lives[life{d.loser.Declaration.Order, d.property}]; l != nil && l.void || seen[key] || f.smell(d) != smell {
			continue
		}
		seen[key] = true
		out = append(out, report(d))
	}
	return out
}
