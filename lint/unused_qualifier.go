package lint

import (
	"fmt"

	"umwelt/diag"
	"umwelt/registry"
	"umwelt/world"
)

const unusedQualifier = "unused-qualifier"

// UnusedQualifier finds conditions that can never hold in this world, and those that
// always do.
var UnusedQualifier = Detector{
	Name: unusedQualifier, Severity: diag.Warning,
	Summary: "A rule's condition can never hold in this world, or always does and only makes the rule weigh more.",
	Find: func(f *Facts) []Finding {
		var qualifiers []*registry.Compound
		for _, rule := range f.Bound.Rules {
			qualifiers = append(qualifiers, rule.Selector.Qualifiers...)
		}
		matched := f.countFits(qualifiers)
		var out []Finding
		seen := map[diag.Pos]bool{}
		for _, rule := range f.Bound.Rules {
			for _, q := range rule.Selector.Qualifiers {
				if seen[q.At.Start] {
					continue
				}
				switch {
				case matched[q] == 0 && q.Type != nil && q.Type.Root:
					// It is meant for another environment than that of this run.
				case matched[q] == 0:
					seen[q.At.Start] = true
					out = append(out, finding(diag.Warning, q.At,
						fmt.Sprintf("nothing in this world is %s, so the rule never holds", q.Text), "name something that exists, or take the rule out"))
				case len(q.Tests) == 0 && f.alwaysActive(q.Type):
					seen[q.At.Start] = true
					out = append(out, finding(diag.Note, q.At,
						fmt.Sprintf("%s always holds, and only makes the rule more specific", q.Text), "take it off, or say which "+q.Type.Name+" is meant"))
				}
			}
		}
		return out
	},
}

// alwaysActive reports whether the world has exactly one entity of a type of which the
// only one is active by itself.
func (f *Facts) alwaysActive(t *registry.EntityType) bool {
	if t == nil || !t.SoleActive {
		return false
	}
	n := 0
	for i := range f.World.Entities {
		if e := &f.World.Entities[i]; e.Type == t && e.Provenance.Origin != world.Referenced {
			n++
		}
	}
	return n == 1
}
