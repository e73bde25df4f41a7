package policydiff

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/registry"
	"umwelt/world"
)

// Compare says what differs between the old and the new policy of each pair. An error in
// the list means that a context cannot be had, and the result is then nil.
func Compare(pairs []Pair, o Options) (*Result, diag.List) {
	out := &Result{}
	collected := newCollector()
	drifted := false
	for _, p := range pairs {
		c := newComparison(p, o)
		drifted = drifted || c.drifted
		out.Entities = max(out.Entities, len(c.pairs))
		if list := c.run(out, collected); list.HasErrors() {
			return nil, list
		}
	}
	out.Groups = collected.groups()
	out.Equivalence = equivalence(pairs, out.Groups, drifted, o.NoSecrets)
	if out.Equivalence.Verdict == Equivalent && !drifted {
		out.Left = 0 // no context can tell them apart
	}
	return out, nil
}

// comparison is one pair of policies at work.
type comparison struct {
	Pair
	options  Options
	old, new *side
	names    interner
	pairs    []entityPair // in vocabulary order, then by id
	drifted  bool         // the worlds do not hold the same
}

// entityPair is an entity as the two worlds hold it; -1 where one does not.
type entityPair struct {
	entity   *world.Entity
	old, new int32
}

// pairKey is equal for entities that get the same answers on both sides in every context.
type pairKey struct {
	old, new         int32 // cohorts, -1 for none
	hadGrant, hasNow bool
}

func newComparison(p Pair, o Options) *comparison {
	c := &comparison{Pair: p, options: o, names: interner{}}
	c.old, c.new = newSide(p.Old, c.names), newSide(p.New, c.names)
	c.pair()
	return c
}

func (c *comparison) pair() {
	a, b := c.old.world, c.new.world
	for i := range b.Entities {
		e := &b.Entities[i]
		j := i
		if a != b {
			j = a.Find(e.Type, e.ID)
		}
		c.pairs = append(c.pairs, entityPair{e, int32(j), int32(i)})
		c.drifted = c.drifted || j < 0 || !sameFacts(a, b, j, i)
	}
	if a != b {
		for i := range a.Entities {
			if e := &a.Entities[i]; b.Find(e.Type, e.ID) < 0 {
				c.pairs = append(c.pairs, entityPair{e, int32(i), -1})
				c.drifted = true
			}
		}
	}
	c.drifted = c.drifted || !slices.Equal(c.old.fixed, c.new.fixed)
	slices.SortStableFunc(c.pairs, func(x, y entityPair) int {
		return cmp.Or(cmp.Compare(x.entity.Type.Index, y.entity.Type.Index), strings.Compare(x.entity.ID, y.entity.ID))
	})
}

// sameFacts reports whether two worlds say the same of an entity, as far as answers can
// depend on it.
func sameFacts(a, b *world.World, i, j int) bool {
	if a == b {
		return true
	}
	x, y := &a.Entities[i], &b.Entities[j]
	if !slices.Equal(x.Classes, y.Classes) || !sameAttributes(x.Attributes, y.Attributes) || x.Listed != y.Listed ||
		(x.Provenance.Origin == world.Referenced) != (y.Provenance.Origin == world.Referenced) {
		return false // what only a view names is not active by itself
	}
	if x.Parent == world.NoParent || y.Parent == world.NoParent {
		return x.Parent == y.Parent
	}
	p, q := &a.Entities[x.Parent], &b.Entities[y.Parent]
	return p.Type == q.Type && p.ID == q.ID
}

func sameAttributes(a, b []world.Attribute) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(x world.Attribute) bool {
		return !slices.ContainsFunc(b, func(y world.Attribute) bool {
			return x.Name == y.Name && x.Text == y.Text && slices.Equal(x.List, y.List)
		})
	})
}

// suspect is an entity whose answers may differ.
type suspect struct {
	pair int // index into comparison.pairs
	key  pairKey
}

// suspects are the entities whose answers may differ in some context.
func (c *comparison) suspects() []suspect {
	var out []suspect
	for i, p := range c.pairs {
		k := pairKey{old: -1, new: -1}
		if p.old >= 0 {
			k.old, k.hadGrant = int32(c.old.engine.Cohort(int(p.old))), c.old.grants(&c.old.world.Entities[p.old])
		}
		if p.new >= 0 {
			k.new, k.hasNow = int32(c.new.engine.Cohort(int(p.new))), c.new.grants(p.entity)
		}
		// What is active by itself, and what it is like, is up to the whole world.
		if !c.drifted && k.hadGrant == k.hasNow && !followsOthers(p.entity.Type) &&
			c.old.sign(int(k.old), c.names) == c.new.sign(int(k.new), c.names) {
			continue
		}
		out = append(out, suspect{i, k})
	}
	return out
}

func followsOthers(t *registry.EntityType) bool {
	return slices.ContainsFunc(t.Properties, func(p *registry.Property) bool { return p.Through != "" })
}

// qualifiers are those of rules that may make a difference.
func (c *comparison) qualifiers(suspects []suspect, later []*registry.Property) []*registry.Compound {
	var out []*registry.Compound
	seen := map[*registry.Rule]bool{}
	add := func(rules []*registry.Rule) {
		for _, r := range rules {
			if !seen[r] && !r.Selector.Never {
				seen[r] = true
				out = append(out, r.Selector.Qualifiers...)
			}
		}
	}
	met := map[pairKey]bool{}
	var types []*registry.EntityType // any rule about one of them may matter
	for _, p := range later {
		types = append(types, p.Entity)
	}
	for _, s := range suspects {
		if met[s.key] {
			continue
		}
		met[s.key] = true
		if s.key.old >= 0 {
			add(c.old.cohorts[s.key.old].Rules)
		}
		if s.key.new >= 0 {
			add(c.new.cohorts[s.key.new].Rules)
		}
		for _, p := range c.pairs[s.pair].entity.Type.Properties {
			if t := c.new.bound.Registry.Type(p.FollowsType); p.Through != "" && t != nil && !slices.Contains(types, t) {
				types = append(types, t)
			}
		}
	}
	for _, s := range []*side{c.old, c.new} {
		for _, r := range s.bound.Rules {
			if t := r.Selector.Target.Type; t == nil && len(types) > 0 || slices.Contains(types, t) {
				add([]*registry.Rule{r})
			}
		}
	}
	return out
}

func (c *comparison) run(out *Result, to *collector) diag.List {
	suspects, later := c.suspects(), c.laterProperties()
	contexts, left, list := c.contexts(c.qualifiers(suspects, later))
	if list.HasErrors() {
		return list
	}
	out.Left += left
	for _, refs := range contexts {
		var old, now *cascade.Resolution
		var list, more diag.List
		before, after := c.known(c.old, c.new, refs), c.known(c.new, c.old, refs)
		both(func() { old, list = c.Old.Resolve(before) }, func() { now, more = c.New.Resolve(after) })
		if list.HasErrors() {
			return list
		}
		if more.HasErrors() {
			return more
		}
		out.Contexts = append(out.Contexts, Context{Env: c.Env, Refs: refs[len(c.options.Context):]})
		to.context = len(out.Contexts) - 1
		known := map[pairKey][]int{}
		for _, s := range suspects {
			changes, ok := known[s.key]
			if !ok {
				changes = c.changes(old, now, c.pairs[s.pair], s.key, to)
				known[s.key] = changes
			}
			for _, id := range changes {
				to.hit(id, c.pairs[s.pair].entity)
			}
		}
		c.later(old, now, later, to)
	}
	return nil
}

// both does two things at once.
func both(a, b func()) {
	var wg sync.WaitGroup
	wg.Go(a)
	b()
	wg.Wait()
}

// changes are the properties of one entity whose answers differ, as change numbers.
func (c *comparison) changes(old, now *cascade.Resolution, p entityPair, k pairKey, to *collector) []int {
	var out []int
	t := p.entity.Type
	k.hadGrant = k.hadGrant || c.old.holdsWhole(old, int(p.old))
	k.hasNow = k.hasNow || c.new.holdsWhole(now, int(p.new))
	if k.hadGrant != k.hasNow && grantsByExisting(t) {
		g := Group{Kind: Widening, Type: t, Old: Answer{Absent: !k.hadGrant}, New: Answer{Absent: !k.hasNow}}
		for _, one := range []struct {
			answer *Answer
			index  int32
		}{{&g.Old, p.old}, {&g.New, p.new}} {
			if one.index < 0 {
				one.answer.Reason = notThere
			}
		}
		if k.hadGrant {
			g.Kind = Narrowing
		}
		out = append(out, to.change(g))
	}
	for _, prop := range t.Properties {
		if prop.Secret && c.options.NoSecrets {
			continue
		}
		a, ok := c.answer(c.old, old, int(p.old), prop, k.hadGrant)
		b, ok2 := c.answer(c.new, now, int(p.new), prop, k.hasNow)
		if !ok || !ok2 {
			continue
		}
		if a.Value.Equal(b.Value) && sameSets(a.Sets, b.Sets) {
			continue
		}
		g := Group{Kind: direction(prop, a.Value, b.Value, setsOf(&a), setsOf(&b)), Type: t, Property: prop}
		g.Old = c.describe(c.old, old, int(p.old), prop, &a, k.hadGrant)
		g.New = c.describe(c.new, now, int(p.new), prop, &b, k.hasNow)
		out = append(out, to.change(g))
	}
	return out
}

// notThere is the reason for what an entity grants in a world that does not have it.
const notThere = "it is in the other world only"

// setsOf are the sets to be met, or the value as the only one.
func setsOf(e *cascade.Effective) [][]string {
	if e.Sets == nil && e.Value != nil {
		return [][]string{e.Value.List}
	}
	return e.Sets
}

// answer is the effective value on one side. An entity that the side does not have grants
// nothing: a permission is refused, and nothing else of it can be compared.
func (c *comparison) answer(s *side, r *cascade.Resolution, i int, p *registry.Property, granted bool) (cascade.Effective, bool) {
	switch {
	case granted:
		return r.Get(i, p), true
	case p.Type.Kind == registry.Boolean && p.Type.Shape == registry.One && p.Restrictive != registry.NoDirection:
		return cascade.Effective{Value: p.RestrictiveBool()}, true
	}
	return cascade.Effective{}, false
}

func (c *comparison) describe(s *side, r *cascade.Resolution, i int, p *registry.Property, e *cascade.Effective, granted bool) Answer {
	out := Answer{Values: []*registry.Value{e.Value}, Sets: e.Sets, Origin: e.Origin, Absent: !granted}
	if !granted {
		if i < 0 {
			out.Reason = notThere
		}
		return out
	}
	if e.Reason != nil {
		out.Reason = e.Reason.Text
	}
	out.Causes = s.causes(r, i, p, e, 0)
	return out
}

// grantsByExisting reports whether an entity of the type gives the actor something merely
// by being there: none of its permissions has to be given, and yet there are some to take.
func grantsByExisting(t *registry.EntityType) bool {
	if t.Named {
		return false
	}
	directed := false
	for _, p := range t.Properties {
		if p.Restrictive == registry.False {
			return false
		}
		directed = directed || p.Restrictive != registry.NoDirection
	}
	return directed
}
