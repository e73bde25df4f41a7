package policydiff

import (
	"slices"

	"umwelt/cascade"
	"umwelt/registry"
)

// laterProperties are the properties of what may be made below a directory about which the
// views may not say the same.
func (c *comparison) laterProperties() []*registry.Property {
	differs := differing(c.old.bound, c.new.bound)
	var out []*registry.Property
	for _, t := range c.new.bound.Registry.Types() {
		if t.PathAttr == "" || !slices.ContainsFunc(t.Parents, func(name string) bool { return holds(c.new.bound.Registry, name, t) }) {
			continue
		}
		// What a property is derived from makes it differ, too, however far away.
		for range t.Properties {
			for _, p := range t.Properties {
				for _, q := range t.Properties {
					from := slices.Contains(p.ImpliedBy, q.Name) || p.Follows == q.Name || q.Gates == p.Name
					differs[p] = differs[p] || from && differs[q]
				}
			}
		}
		for _, p := range t.Properties {
			if p.Secret && c.options.NoSecrets {
				continue
			}
			if differs[p] || c.drifted || p.Through != "" {
				out = append(out, p)
			}
		}
	}
	return out
}

// holds reports whether the named type is one with a path that t may lie in.
func holds(reg *registry.Registry, name string, t *registry.EntityType) bool {
	return slices.ContainsFunc(reg.TypesNamed(name), func(u *registry.EntityType) bool { return u.Taxon == t.Taxon && u.PathAttr != "" })
}

// later compares what may be made below each directory.
func (c *comparison) later(old, now *cascade.Resolution, properties []*registry.Property, to *collector) {
	for _, prop := range properties {
		t := prop.Entity
		known := map[laterKey]int{} // changes, -1 for none
		dirs := c.dirs(t)
		before, after := futures(old, now, dirs, prop)
		for i, p := range dirs {
			if p.old < 0 || p.new < 0 {
				if g, differ := c.laterInOne(old, now, p, prop); differ {
					to.hit(to.change(g), p.entity)
				}
				continue
			}
			a, b := before[i], after[i]
			key := laterKey{&a.Values[0], &b.Values[0], first(a.Depends), first(b.Depends), len(a.Depends), len(b.Depends)}
			id, ok := known[key]
			if !ok {
				id = -1
				if g, differ := c.laterIn(old, now, p, prop, a, b); differ {
					id = to.change(g)
				}
				known[key] = id
			}
			if id >= 0 {
				to.hit(id, p.entity)
			}
		}
	}
}

// dirs are the entities below which those of a type may be made.
func (c *comparison) dirs(t *registry.EntityType) []entityPair {
	var out []entityPair
	for _, p := range c.pairs {
		if slices.Contains(t.Parents, p.entity.Type.Name) && p.entity.Type.Taxon == t.Taxon {
			out = append(out, p)
		}
	}
	return out
}

// futures are what both sides say of a property below each of the directories that both
// worlds have.
func futures(old, now *cascade.Resolution, dirs []entityPair, p *registry.Property) (before, after []cascade.FutureValue) {
	before, after = make([]cascade.FutureValue, len(dirs)), make([]cascade.FutureValue, len(dirs))
	ask := func(r *cascade.Resolution, to []cascade.FutureValue, index func(entityPair) int32) {
		for i, pair := range dirs {
			if pair.old >= 0 && pair.new >= 0 {
				to[i] = r.Future(int(index(pair)), p.Entity, p)
			}
		}
	}
	both(func() { ask(old, before, func(e entityPair) int32 { return e.old }) }, func() { ask(now, after, func(e entityPair) int32 { return e.new }) })
	return before, after
}

// laterKey is equal for directories that share what may be made in them, because one hands
// it down to the other.
type laterKey struct {
	oldValues, newValues   **registry.Value
	oldDepends, newDepends **registry.Rule
	oldRules, newRules     int
}

func first(rules []*registry.Rule) **registry.Rule {
	if len(rules) == 0 {
		return nil
	}
	return &rules[0]
}

// laterIn compares one property of what may be made below one directory.
func (c *comparison) laterIn(old, now *cascade.Resolution, dir entityPair, p *registry.Property, a, b cascade.FutureValue) (Group, bool) {
	t := p.Entity
	if a.Decided() && b.Decided() && a.Values[0].Equal(b.Values[0]) {
		return Group{}, false
	}
	usual := [2]cascade.FutureValue{old.FutureUsual(int(dir.old), t, p), now.FutureUsual(int(dir.new), t, p)}
	a.Depends, b.Depends = c.apart(a.Depends, b.Depends)
	if usual[0].Values[0].Equal(usual[1].Values[0]) && len(a.Depends)+len(b.Depends) == 0 && slices.EqualFunc(a.Values, b.Values, (*registry.Value).Equal) {
		return Group{}, false
	}
	g := Group{Kind: laterKind(p, a, b, usual, c.old.letters(a, p), c.new.letters(b, p)), Type: t, Property: p, Later: true}
	g.Old, g.New = laterAnswer(a, usual[0], p), laterAnswer(b, usual[1], p)
	return g, true
}

// laterInOne compares a permission of what may be made below a directory that only one of
// the worlds has. In the other it is refused.
func (c *comparison) laterInOne(old, now *cascade.Resolution, dir entityPair, p *registry.Property) (Group, bool) {
	if p.Type.Kind != registry.Boolean || p.Type.Shape != registry.One || p.Restrictive == registry.NoDirection {
		return Group{}, false
	}
	r, i, kind := now, int(dir.new), Widening
	if dir.new < 0 {
		r, i, kind = old, int(dir.old), Narrowing
	}
	f, usual := r.Future(i, p.Entity, p), r.FutureUsual(i, p.Entity, p)
	refused := p.RestrictiveBool()
	if f.Decided() && f.Values[0].Equal(refused) {
		return Group{}, false
	}
	g := Group{Kind: kind, Type: p.Entity, Property: p, Later: true}
	have, lacks := &g.New, &g.Old
	if kind == Narrowing {
		have, lacks = lacks, have
	}
	*have, *lacks = laterAnswer(f, usual, p), Answer{Values: []*registry.Value{refused}, Absent: true, Reason: notThere}
	return g, true
}

// letter stands for one rule that applies to some names only, with what it says of a property.
type letter struct {
	id    int32
	value *registry.Value // nil where the rule does not speak of the property itself
}

// apart leaves out the rules with which both lists begin or end.
func (c *comparison) apart(old, now []*registry.Rule) (a, b []*registry.Rule) {
	same := func(x, y *registry.Rule) bool { return c.old.wholes[x.Index] == c.new.wholes[y.Index] }
	for len(old) > 0 && len(now) > 0 && same(old[0], now[0]) {
		old, now = old[1:], now[1:]
	}
	for len(old) > 0 && len(now) > 0 && same(old[len(old)-1], now[len(now)-1]) {
		old, now = old[:len(old)-1], now[:len(now)-1]
	}
	return old, now
}

func (s *side) letters(f cascade.FutureValue, p *registry.Property) []letter {
	var out []letter
	for _, r := range f.Depends {
		l := letter{id: s.wholes[r.Index]}
		if d := setting(r, p); d != nil {
			l.value = d.Typed[slices.IndexFunc(d.Typed, of(p))].Value
		}
		out = append(out, l)
	}
	return out
}

// setting is the last declaration of a rule that speaks of a property, or nil.
func setting(r *registry.Rule, p *registry.Property) *registry.Declaration {
	for i := len(r.Declarations) - 1; i >= 0; i-- {
		if slices.ContainsFunc(r.Declarations[i].Typed, of(p)) {
			return r.Declarations[i]
		}
	}
	return nil
}

func of(p *registry.Property) func(registry.TypedValue) bool {
	return func(t registry.TypedValue) bool { return t.Property == p }
}

// laterKind says what it means that what may be made later gets other values. Where the
// name decides on both sides, the difference is put in order only if the worst of one side
// is as good as the best of the other, or if all that was added and taken away points the
// same way.
func laterKind(p *registry.Property, a, b cascade.FutureValue, usual [2]cascade.FutureValue, la, lb []letter) Kind {
	if a.Decided() && b.Decided() {
		return direction(p, a.Values[0], b.Values[0], oneSet(a.Values[0]), oneSet(b.Values[0]))
	}
	always := func(want Kind) bool {
		return !slices.ContainsFunc(a.Values, func(x *registry.Value) bool {
			return slices.ContainsFunc(b.Values, func(y *registry.Value) bool {
				if x.Equal(y) {
					return false
				}
				k := direction(p, x, y, oneSet(x), oneSet(y))
				return k != want && k != Neutral
			})
		})
	}
	switch {
	case always(Narrowing), narrows(p, usual[0].Values[0], usual[1].Values[0], la, lb):
		return Narrowing
	case always(Widening), narrows(p, usual[1].Values[0], usual[0].Values[0], lb, la):
		return Widening
	}
	return Change
}

// narrows reports whether, name by name, the answers can only have become more
// restrictive: what was added says the most restrictive thing there is, what was taken away
// the least, and what holds for every name is as tight as it was.
func narrows(p *registry.Property, old, now *registry.Value, la, lb []letter) bool {
	boolean := p.Type.Kind == registry.Boolean && p.Type.Shape == registry.One && p.Restrictive != registry.NoDirection
	if !boolean || p.Comparison != registry.Exact || p.Follows != "" || p.Through != "" || old == nil || now == nil || !p.AsTight(now, old) {
		return false
	}
	for _, q := range p.Entity.Properties {
		if q.Gates == p.Name {
			return false
		}
	}
	tight, loose := p.RestrictiveBool(), p.PermissiveBool()
	i := 0 // how much of la is accounted for
	for _, l := range lb {
		k := slices.IndexFunc(la[i:], func(x letter) bool { return x.id == l.id })
		switch {
		case k >= 0 && all(la[i:i+k], loose):
			i += k + 1
		case !l.value.Equal(tight):
			return false
		}
	}
	return all(la[i:], loose)
}

// all reports whether every rule gives the value.
func all(list []letter, v *registry.Value) bool {
	return !slices.ContainsFunc(list, func(l letter) bool { return !l.value.Equal(v) })
}

func oneSet(v *registry.Value) [][]string {
	if v == nil {
		return nil
	}
	return [][]string{v.List}
}

// laterAnswer rests on the rules that apply to some names and are not the same on the other
// side, highest precedence first, and on the one that decides for all other names.
func laterAnswer(f, usual cascade.FutureValue, p *registry.Property) Answer {
	out := Answer{Values: f.Values}
	for _, r := range f.Depends { // each is there once
		out.Causes = append(out.Causes, Cause{Rule: r, Declaration: setting(r, p)})
	}
	if usual.Winner != nil {
		out.Origin = cascade.Cascade
		if c := (Cause{Rule: usual.Winner.Rule, Declaration: usual.Winner.Declaration}); !slices.Contains(out.Causes, c) {
			out.Causes = append(out.Causes, c)
		}
	}
	return out
}
