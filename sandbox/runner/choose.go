package runner

import (
	"fmt"
	"slices"
	"strings"

	"umwelt/cascade"
	"umwelt/compilers"
	"umwelt/compilers/confine"
	"umwelt/diag"
	"umwelt/registry"
)

// Assessment is how far a target carries a policy.
type Assessment struct {
	Coverage compilers.Coverage
	// Unenforced are the restrictions that belong to the operating system and that the
	// target drops: a command that is run all the same could do more than the view says.
	Unenforced []compilers.Lost
	// Harness are the restrictions at a higher altitude, about tools, say, which no
	// operating system can tell apart. Whoever drives the actor has to hold them.
	Harness []compilers.Lost
	// Less are the declarations of which the target carries a part, or more tightly.
	Less []compilers.Lost
}

// Assess compares a target with a policy. Named are properties, as "type.property", whose
// restrictions the caller does without.
func Assess(t Target, res *cascade.Resolution, c *confine.Confinement, named []string) Assessment {
	a := Assessment{Coverage: compilers.Cover(t.Info, res, t.notes(c))}
	for _, l := range a.Coverage.DroppedRestrictions() {
		switch {
		case l.Rule.Selector.Never:
			// It restricts nothing, which a warning has said already.
		case !concernsSystem(l.Declaration):
			a.Harness = append(a.Harness, l)
		case !slices.ContainsFunc(Names(l), func(n string) bool { return slices.Contains(named, n) }):
			a.Unenforced = append(a.Unenforced, l)
		}
	}
	for _, r := range a.Coverage.Rules {
		for _, d := range r.Declarations {
			if d.Level == compilers.Partial || d.Level == compilers.Requested {
				a.Less = append(a.Less, compilers.Lost{Rule: r.Rule, DeclarationCoverage: d})
			}
		}
	}
	return a
}

// concernsSystem reports whether any property that a declaration sets is for the
// operating system to hold.
func concernsSystem(d *registry.Declaration) bool {
	return slices.ContainsFunc(d.Typed, func(t registry.TypedValue) bool { return t.Property.Altitude == registry.OS })
}

// Names are the properties that a declaration sets, as "type.property".
func Names(l compilers.Lost) []string {
	var out []string
	for _, t := range l.Declaration.Typed {
		out = append(out, t.Property.Entity.Name+"."+t.Property.Name)
	}
	return out
}

// Describe names a declaration and where it stands, safe to print.
func Describe(l compilers.Lost) string {
	return fmt.Sprintf("%s { %s } (%s)", diag.Escape(l.Rule.Selector.Text), l.Declaration.Name, l.Declaration.At)
}

// DescribeAll names the first few declarations and counts the others.
func DescribeAll(list []compilers.Lost) string {
	const few = 3
	var names []string
	for i, l := range list {
		if i == few {
			names = append(names, fmt.Sprintf("%d more", len(list)-few))
			break
		}
		names = append(names, Describe(l))
	}
	return strings.Join(names, ", ")
}
