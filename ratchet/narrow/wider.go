package narrow

import (
	"fmt"
	"slices"

	"umwelt/cascade"
	"umwelt/compilers/confine"
	"umwelt/diag"
	"umwelt/registry"
)

// noWider compares the proposal with the current view, entity by entity, and for what may
// be made below each directory.
func (p *proposer) noWider(t, current *trial) error {
	type pair struct{ a, b int }
	known := map[pair]error{}
	for i := range t.world.Entities {
		p.report.Check.Entities++
		key := pair{t.res.Engine().Cohort(i), current.res.Engine().Cohort(i)}
		err, ok := known[key]
		if !ok {
			err = entityNoWider(t, current, i)
			known[key] = err
		}
		if err != nil {
			return err
		}
	}
	if err := networkNoWider(t.net, current); err != nil {
		return err
	}
	return p.laterNoWider(t, current)
}

func entityNoWider(t, current *trial, i int) error {
	e := &t.world.Entities[i]
	for _, q := range e.Type.Properties {
		if e.Type.Name == "network" && q.Name == "allow" {
			continue // one endpoint may lie in another: networkNoWider knows
		}
		now, old := t.res.Get(i, q), current.res.Get(i, q)
		if q.Comparison == registry.Pattern && q.Restrictive == registry.Subset || q.Restrictive == registry.Min {
			// Of what may not be used at all, it does not matter how.
			if a := e.Type.Property("allow"); a != nil && !t.res.Get(i, a).Value.Bool() {
				continue
			}
		}
		if e.Type == t.known.dir && q.Name == "visible" && old.Winner == nil && now.Value.Bool() && current.meetsDir(&requirement{kind: seeDir, id: cleanPath(e.Path())}).ok {
			continue // it appeared already, by what lies in it
		}
		if !asTight(q, now, old) {
			return fmt.Errorf("the proposal would give %s %s more than the current view: %s", e.Type.Name, diag.Quote(e.ID), q.Name)
		}
	}
	return nil
}

// asTight reports whether an answer allows no more than another one.
func asTight(q *registry.Property, now, old cascade.Effective) bool {
	switch {
	case q.Comparison == registry.Overlap:
		return slices.EqualFunc(now.Sets, old.Sets, slices.Equal)
	case now.Value.Equal(old.Value):
		return true
	case now.Value == nil || old.Value == nil:
		switch q.Restrictive {
		case registry.Min, registry.Max, registry.Superset, registry.Subset:
			return old.Value == nil
		case registry.NoDirection:
			return false
		}
		tight, loose := q.RestrictiveBool(), q.PermissiveBool()
		return now.Value.Equal(tight) || old.Value.Equal(loose) || now.Value == nil
	case q.Repeatable:
		return false
	}
	return q.AsTight(now.Value, old.Value)
}

// networkNoWider compares what may be reached. An endpoint that is opened now was opened
// before, by itself or by one that holds it.
func networkNoWider(now confine.Network, current *trial) error {
	old := current.net
	if now.Open && !old.Open {
		return fmt.Errorf("the proposal would open the network, which the current view does not")
	}
	same := func(a, b confine.Endpoint) bool {
		return a.Host == b.Host && a.CIDR == b.CIDR && a.Port == b.Port && a.Protocol == b.Protocol
	}
	for _, e := range now.Allow {
		if slices.ContainsFunc(old.Allow, func(o confine.Endpoint) bool { return same(o, e) }) {
			continue
		}
		if e.CIDR != "" || !current.reaches(endpoint{host: e.Host, port: e.Port, protocol: e.Protocol}).ok {
			return fmt.Errorf("the proposal would open %s, which the current view does not", diag.Quote(e.Host+e.CIDR))
		}
	}
	return nil
}

// laterNoWider compares what new files may be. Where it depends on their names on both
// sides, the rules of the proposal fit no more names than those that they stand for, since
// that is how they are made.
func (p *proposer) laterNoWider(t, current *trial) error {
	for _, typ := range []*registry.EntityType{t.known.file, t.known.dir} {
		if typ == nil {
			continue
		}
		for _, q := range typ.Properties {
			if q.Type.Kind != registry.Boolean || q.Type.Shape != registry.One || q.Restrictive == registry.NoDirection {
				continue
			}
			for _, i := range t.known.dirAt {
				now, old := t.res.Future(i, typ, q), current.res.Future(i, typ, q)
				loose := q.PermissiveBool()
				always := func(f cascade.FutureValue) bool { return f.Decided() && f.Values[0].Equal(loose) }
				ever := func(f cascade.FutureValue) bool { return slices.ContainsFunc(f.Values, loose.Equal) }
				if ever(now) && !ever(old) || always(now) && !always(old) {
					return fmt.Errorf("the proposal would give new files in %s more than the current view: %s", diag.Quote(t.world.Entities[i].ID), q.Name)
				}
			}
		}
	}
	return nil
}
