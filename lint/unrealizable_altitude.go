package lint

import (
	"fmt"
	"strings"

	"umwelt/diag"
	"umwelt/registry"
)

const unrealizableAltitude = "unrealizable-altitude"

// UnrealizableAltitude finds restrictions that are decided at a level which none of the
// targets reaches.
var UnrealizableAltitude = Detector{
	Name: unrealizableAltitude, Severity: diag.Warning,
	Summary: "A restriction is decided at a level that none of the targets reaches, so nothing will hold it.",
	Needs: func(in *Input) string {
		if len(in.Targets) == 0 {
			return "a target"
		}
		return ""
	},
	Find: func(f *Facts) []Finding {
		highest := registry.OS
		var names []string
		for _, t := range f.Targets {
			highest = max(highest, t.Altitude)
			names = append(names, t.Name)
		}
		var out []Finding
		seen := map[int]bool{}
		for _, rule := range f.Bound.Rules {
			for _, d := range rule.Declarations {
				for _, t := range d.Typed {
					p := t.Property
					if p.Altitude <= highest || !restricts(p, t.Value) || seen[d.Order] {
						continue
					}
					seen[d.Order] = true
					out = append(out, finding(diag.Warning, d.At,
						fmt.Sprintf("%s is decided at the %s level, and %s %s no higher than the %s level", said(p, t.Value), p.Altitude, strings.Join(names, ", "), map[bool]string{true: "reaches", false: "reach"}[len(names) == 1], highest),
						"have a harness hold it that works at that level, and say so, or restrict what lies below it"))
				}
			}
		}
		return out
	},
}
