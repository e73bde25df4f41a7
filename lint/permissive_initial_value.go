package lint

import (
	"fmt"

	"umwelt/diag"
	"umwelt/registry"
)

const permissiveInitialValue = "permissive-initial-value"

// PermissiveInitialValue finds properties that let something through where no rule speaks,
// among those of things that the world holds and those that the views define.
var PermissiveInitialValue = Detector{
	Name: permissiveInitialValue, Severity: diag.Warning,
	Summary: "A property lets something through where no rule speaks: its initial value is not the tightest there is.",
	Find: func(f *Facts) []Finding {
		var out []Finding
		matters := map[*registry.EntityType]bool{}
		for _, cohort := range f.Cohorts {
			matters[cohort.Type] = true
		}
		for _, t := range f.Registry.Types() {
			for _, p := range t.Properties {
				if p.Initial == nil || !lenient(p) || !p.At.IsValid() || !matters[t] && !f.own(p.At) {
					continue
				}
				out = append(out, finding(diag.Warning, p.At,
					fmt.Sprintf("%s.%s is %s where no rule speaks, which lets something through", t.Name, p.Name, Shown(p, p.Initial)),
					"begin with the tightest value, so that forgetting a rule closes and does not open"))
			}
		}
		return out
	},
}

// lenient reports whether some value of p is tighter than the initial one.
func lenient(p *registry.Property) bool {
	switch p.Restrictive {
	case registry.False, registry.True:
		return !p.Initial.Equal(p.RestrictiveBool())
	case registry.Min:
		least := 0.0
		if p.Type.HasRange {
			least = p.Type.Min
		}
		return p.Initial.Num > least
	case registry.Max:
		return p.Type.HasRange && p.Initial.Num < p.Type.Max
	case registry.Subset:
		return len(p.Initial.List) > 0
	case registry.Superset:
		return len(p.Type.Enum) > len(p.Initial.List)
	}
	return false
}
