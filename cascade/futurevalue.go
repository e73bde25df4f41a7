package cascade

import (
	"slices"

	"umwelt/registry"
	"umwelt/world"
)

// FutureValue is what a property may come out as for an entity that is made later.
type FutureValue struct {
	// Values are the distinct possible values, those of higher precedence first. nil among
	// them stands for no value at all. For properties whose values combine as sets they are
	// the combinations of what is sure with nothing, with each and with all that may apply.
	Values []*registry.Value
	// Winner is the declaration that decides where only one is possible; nil where none
	// does, or it depends.
	Winner *Candidate
	// Depends are the rules that apply to some names only and could decide, highest
	// precedence first.
	Depends []*registry.Rule
}

// Decided reports whether only one value is possible.
func (f FutureValue) Decided() bool { return len(f.Values) == 1 }

// Tightest is the most restrictive possible value by p's restrictive direction; nil where
// it may have no value at all, or has no direction and is not decided.
func (f FutureValue) Tightest(p *registry.Property) *registry.Value {
	out := f.Values[0]
	for _, v := range f.Values[1:] {
		if out == nil || v == nil || p.Restrictive == registry.NoDirection {
			return nil
		}
		out = p.Tighter(out, v)
	}
	return out
}

// Future is what property p may be for an entity of type t that is made later, at any
// path below directory dir that leads through no existing directory but dir's own. dir is
// an index into World.Entities, the root entity for the whole project.
//
// Each rule applies to all such entities, to none, or to some names only. The values of
// those that apply to some count as possible where nothing sure outranks them. It is safe
// for many goroutines at once. Directories that cannot be told apart share what it returns,
// which must not be written to.
func (r *Resolution) Future(dir int, t *registry.EntityType, p *registry.Property) FutureValue {
	if p.Entity != t {
		return FutureValue{Values: []*registry.Value{nil}}
	}
	f := r.Complete().futureOf(t)
	f.mu.Lock()
	s := f.state(int32(dir))
	f.mu.Unlock()
	s = s.same
	s.asked[p.Index].Do(func() { s.found[p.Index] = f.value(s, p, 0) })
	return s.found[p.Index]
}

// futureValues is what the rules alone may make of a property. unset says that possibly
// no rule sets it.
type futureValues struct {
	values  []*registry.Value
	unset   bool
	winner  *Candidate
	depends []*registry.Rule
}

// maxFutureDepth bounds how far properties may depend on one another.
const maxFutureDepth = 8

func (f *future) value(s *futureState, p *registry.Property, depth int) FutureValue {
	s = s.same
	s.once[p.Index].Do(func() { s.values[p.Index] = f.combine(s, p) })
	v := s.values[p.Index]
	out := FutureValue{Values: slices.Clip(v.values), Winner: v.winner, Depends: slices.Clip(v.depends)}
	if v.unset {
		out = f.unset(s, p, out, depth)
	}
	for _, g := range f.info.gates[p.Index] {
		if depth == maxFutureDepth || p.Type.Kind != registry.Boolean {
			continue
		}
		// The new entity may lack what the gate asks for.
		if demand := f.value(s, f.typ.Properties[g], depth+1); len(demand.Values) > 1 || demand.Values[0] != nil {
			out.Values = addValue(out.Values, p.RestrictiveBool())
		}
	}
	out.Values = f.clamp(s, p, out.Values)
	if len(out.Values) > 1 {
		out.Winner = nil
	}
	out.Values, out.Depends = slices.Clip(out.Values), slices.Clip(out.Depends)
	return out
}

// unset adds what holds where no rule sets p.
func (f *future) unset(s *futureState, p *registry.Property, out FutureValue, depth int) FutureValue {
	for _, name := range p.ImpliedBy {
		q := f.typ.Property(name)
		if q == nil || p.Type.Kind != registry.Boolean {
			continue
		}
		sure, may := f.candidates(s, q)
		if len(sure) > 0 {
			out.Values = addValue(out.Values, p.PermissiveBool())
			return out
		}
		if len(may) > 0 {
			out.Values = addValue(out.Values, p.PermissiveBool())
			out.Depends = addRules(out.Depends, f.rulesOf(may))
		}
	}
	if q := f.typ.Property(p.Follows); p.Follows != "" && p.Through == "" && q != nil && depth < maxFutureDepth {
		from := f.value(s, q, depth+1)
		out.Depends = addRules(out.Depends, from.Depends)
		for _, v := range from.Values {
			if v == nil {
				v = p.Initial
			}
			out.Values = addValue(out.Values, v)
		}
		return out
	}
	out.Values = addValue(out.Values, p.Initial)
	return out
}

// clamp applies the fixed constraints that hold for all, and lets those that hold for
// some do so or not.
func (f *future) clamp(s *futureState, p *registry.Property, values []*registry.Value) []*registry.Value {
	for _, t := range []truth{maybe, yes} {
		for _, sel := range f.constraints(s, t) {
			constraint := &f.r.engine.world.Fixed[int(sel)-len(f.r.engine.bound.Rules)]
			for _, bound := range constraint.Values {
				if bound.Property != p {
					continue
				}
				var clamped []*registry.Value
				if t == maybe {
					clamped = slices.Clone(values)
				}
				for _, v := range values {
					clamped = addValue(clamped, clampValue(p, v, bound.Value, constraint))
				}
				values = clamped
			}
		}
	}
	return values
}

func clampValue(p *registry.Property, v, bound *registry.Value, constraint *world.Fixed) *registry.Value {
	e := &Effective{}
	if v != nil {
		e = &Effective{Value: v, Origin: Cascade}
	}
	return clampOne(p, e, bound, constraint).Value
}

// combine works out what the candidates of a property may come to.
func (f *future) combine(s *futureState, p *registry.Property) futureValues {
	r := f.r.engine.ranked
	var out futureValues
	surely, may := f.candidates(s, p)
	sure := r.combine(p, surely, nil)
	out.unset = sure == nil
	switch {
	case len(may) == 0:
		if sure != nil {
			out.values, out.winner = []*registry.Value{sure.Value}, sure.Winner
		}
		return out
	case decidedByFirst(p, r):
		for _, c := range may {
			out.values = addValue(out.values, r.candidates[c].Value)
		}
	case p.Comparison == registry.Exact && !p.Repeatable && len(may)*(len(surely)+1) > maxLocked:
		for _, c := range merge(surely, may) {
			out.values = addValue(out.values, r.candidates[c].Value)
		}
	case p.Comparison == registry.Exact && !p.Repeatable:
		// A lock that may or may not hold can let any other candidate through.
		for _, c := range merge(surely, may) {
			if len(r.withoutLoosened(p, merge(surely, []int32{c}), nil)) > 0 {
				out.values = addValue(out.values, r.candidates[c].Value)
			}
		}
	default:
		for _, c := range may {
			if e := r.combine(p, merge(surely, []int32{c}), nil); e != nil {
				out.values = addValue(out.values, e.Value)
			}
		}
		if e := r.combine(p, merge(surely, may), nil); e != nil {
			out.values = addValue(out.values, e.Value)
		}
	}
	if sure != nil {
		out.values = addValue(out.values, sure.Value)
		out.winner = sure.Winner
	}
	out.depends = addRules(out.depends, f.rulesOf(may))
	return out
}

func addValue(values []*registry.Value, v *registry.Value) []*registry.Value {
	if slices.ContainsFunc(values, func(old *registry.Value) bool { return old.Equal(v) }) {
		return values
	}
	return append(values, v)
}

// maxLocked bounds the work on locks that may or may not hold. Beyond it every candidate
// counts as a possible value, which leaves none out.
const maxLocked = 1 << 22

// rulesOf are the rules of candidates.
func (f *future) rulesOf(candidates []int32) []*registry.Rule {
	out := make([]*registry.Rule, len(candidates))
	for i, c := range candidates {
		out[i] = f.r.engine.ranked.candidates[c].Rule
	}
	return out
}

// addRules adds the rules that are not there yet, in order.
func addRules(rules, more []*registry.Rule) []*registry.Rule {
	if len(more) == 0 {
		return rules
	}
	last := 0
	for _, list := range [2][]*registry.Rule{rules, more} {
		for _, r := range list {
			last = max(last, r.Index)
		}
	}
	seen := make([]uint64, last/64+1) // a bit per rule
	for _, r := range rules {
		seen[r.Index/64] |= 1 << (r.Index % 64)
	}
	rules = slices.Grow(slices.Clip(rules), len(more)) // it may be shared
	for _, r := range more {
		if bit := uint64(1) << (r.Index % 64); seen[r.Index/64]&bit == 0 {
			seen[r.Index/64] |= bit
			rules = append(rules, r)
		}
	}
	return rules
}
