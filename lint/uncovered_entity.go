package lint

import (
	"fmt"

	"umwelt/diag"
	"umwelt/registry"
	"umwelt/world"
)

const uncoveredEntity = "uncovered-entity"

// UncoveredEntity finds what somebody wrote into the world file by hand and no rule speaks
// of, although rules speak of others of its kind.
var UncoveredEntity = Detector{
	Name: uncoveredEntity, Severity: diag.Note,
	Summary: "The world file names something that no rule speaks of, although rules speak of others of its kind.",
	Find: func(f *Facts) []Finding {
		spoken := map[*registry.EntityType]bool{}
		for _, rule := range f.Bound.Rules {
			if t := rule.Selector.Target.Type; t != nil {
				spoken[t] = true
			}
		}
		var out []Finding
		for i := range f.World.Entities {
			e := &f.World.Entities[i]
			cohort := f.Cohorts[f.CohortOf[i]]
			switch {
			case e.Provenance.Origin != world.Explicit, e.Type.Root, e.Type.Named, e.Type.PathAttr != "", !spoken[e.Type]:
				continue
			case len(cohort.Rules) > 0, len(cohort.Fixed) > 0, !hasDirection(e.Type):
				continue
			}
			out = append(out, finding(diag.Note, e.Provenance.At,
				fmt.Sprintf("no rule speaks of %s, so it has its initial values", entityName(e)),
				"say what holds for it, or for every "+e.Type.Name+" without a rule of its own"))
		}
		return out
	},
}

func hasDirection(t *registry.EntityType) bool {
	for _, p := range t.Properties {
		if directed(p) {
			return true
		}
	}
	return false
}
