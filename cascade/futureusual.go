package cascade

import "umwelt/registry"

// FutureUsual is what Future comes to for an entity that nothing fits by what tells it from
// its neighbours, such as its name: the rules and fixed constraints that apply to some
// entities only are left aside. Depends says which rules those are. The value is not on the
// safe side, so whoever uses it has to say what it leaves aside.
func (r *Resolution) FutureUsual(dir int, t *registry.EntityType, p *registry.Property) FutureValue {
	all := r.Future(dir, t, p)
	if p.Entity != t || all.Decided() {
		return all
	}
	f := r.Complete().futureOf(t)
	f.mu.Lock()
	s := f.state(int32(dir))
	f.mu.Unlock()
	out := f.usual(s, p, 0)
	out.Depends = all.Depends
	return out
}

func (f *future) usual(s *futureState, p *registry.Property, depth int) FutureValue {
	var out FutureValue
	surely, _ := f.candidates(s, p)
	if sure := f.r.engine.ranked.combine(p, surely, nil); sure != nil {
		out.Values, out.Winner = []*registry.Value{sure.Value}, sure.Winner
	} else {
		out.Values = []*registry.Value{f.usualUnset(s, p, depth)}
	}
	for _, g := range f.info.gates[p.Index] {
		if depth == maxFutureDepth || p.Type.Kind != registry.Boolean {
			continue
		}
		// That an entity has what the gate asks for is never usual.
		if demand := f.usual(s, f.typ.Properties[g], depth+1); demand.Values[0] != nil {
			out.Values = []*registry.Value{p.RestrictiveBool()}
		}
	}
	for _, sel := range f.constraints(s, yes) {
		constraint := &f.r.engine.world.Fixed[int(sel)-len(f.r.engine.bound.Rules)]
		for _, bound := range constraint.Values {
			if bound.Property == p {
				out.Values[0] = clampValue(p, out.Values[0], bound.Value, constraint)
			}
		}
	}
	return out
}

// usualUnset is what holds where no rule sets p for all.
func (f *future) usualUnset(s *futureState, p *registry.Property, depth int) *registry.Value {
	for _, name := range p.ImpliedBy {
		if q := f.typ.Property(name); q != nil && p.Type.Kind == registry.Boolean {
			if sure, _ := f.candidates(s, q); len(sure) > 0 {
				return p.PermissiveBool()
			}
		}
	}
	if q := f.typ.Property(p.Follows); p.Follows != "" && p.Through == "" && q != nil && depth < maxFutureDepth {
		if v := f.usual(s, q, depth+1).Values[0]; v != nil {
			return v
		}
	}
	return p.Initial
}
