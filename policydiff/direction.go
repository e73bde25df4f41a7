package policydiff

import (
	"slices"

	"umwelt/registry"
)

// direction says what it means that p had the value old and has the value now. Either may
// be nil, for none. Sets are those of the comparison "overlap".
func direction(p *registry.Property, old, now *registry.Value, oldSets, nowSets [][]string) Kind {
	if p.Restrictive == registry.NoDirection || p.Repeatable {
		return Change
	}
	var tighter, looser bool // now is at least as tight as old, and the other way round
	switch {
	case p.Comparison == registry.Overlap:
		tighter, looser = demandsAll(nowSets, oldSets), demandsAll(oldSets, nowSets)
	case old == nil || now == nil:
		tighter, looser = againstNone(p, old, now)
	case hollow(p, old) != hollow(p, now):
		return Change
	default:
		tighter, looser = p.AsTight(now, old), p.AsTight(old, now)
	}
	switch {
	case tighter && looser:
		return Neutral
	case tighter:
		return Narrowing
	case looser:
		return Widening
	}
	return Change
}

// hollow reports whether v is an empty list of patterns that narrow: to some readers it
// allows nothing and to others everything.
func hollow(p *registry.Property, v *registry.Value) bool {
	return p.Comparison == registry.Pattern && p.Restrictive == registry.Subset && len(v.List) == 0
}

// demandsAll reports whether whoever meets every set of a meets every one of b.
func demandsAll(a, b [][]string) bool {
	return !slices.ContainsFunc(b, func(want []string) bool {
		return !slices.ContainsFunc(a, func(have []string) bool {
			return !slices.ContainsFunc(have, func(x string) bool { return !slices.Contains(want, x) })
		})
	})
}

// againstNone orders a value and the lack of one. A bound that is not set does not bind;
// for anything else the lack may mean anything, but a value at the end of the scale is
// never beaten.
func againstNone(p *registry.Property, old, now *registry.Value) (tighter, looser bool) {
	switch p.Restrictive {
	case registry.Min, registry.Max, registry.Superset:
		return old == nil, now == nil
	case registry.Subset:
		if p.Comparison == registry.In || p.Comparison == registry.Pattern {
			return old == nil, now == nil
		}
		empty := func(v *registry.Value) bool { return v != nil && len(v.List) == 0 }
		return empty(now), empty(old)
	}
	tight, loose := p.RestrictiveBool(), p.PermissiveBool()
	return now.Equal(tight) || old.Equal(loose), old.Equal(tight) || now.Equal(loose)
}

// sameSets reports whether two lists hold the same sets, in any order.
func sameSets(a, b [][]string) bool {
	within := func(a, b [][]string) bool {
		return !slices.ContainsFunc(a, func(x []string) bool {
			return !slices.ContainsFunc(b, func(y []string) bool { return slices.Equal(x, y) })
		})
	}
	return within(a, b) && within(b, a)
}
