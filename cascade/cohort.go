package cascade

import (
	"umwelt/registry"
	"umwelt/world"
)

// Cohort is a set of entities that no context and no property can tell apart: they have
// the same type, the same selectors fit them, and they agree in every fact that a
// derivation reads.
type Cohort struct {
	Type  *registry.EntityType
	First int              // the first of them, an index into World.Entities
	Rules []*registry.Rule // whose selectors fit, in order, whether or not their qualifiers hold
	Fixed []int            // the constraints that fit likewise, indices into World.Fixed, in order
}

// Cohorts are all cohorts of the world. Every entity is in exactly one.
func (e *Engine) Cohorts() []Cohort {
	out := make([]Cohort, len(e.classes))
	for i, c := range e.classes {
		out[i] = Cohort{Type: e.types[c.typ].typ, First: int(c.first)}
		out[i].Rules, out[i].Fixed = e.split(e.sets[c.set])
	}
	return out
}

// Cohort is the cohort that an entity is in, an index into Cohorts.
func (e *Engine) Cohort(entity int) int { return int(e.class[entity]) }

// Fitting are the rules and the fixed constraints, as in a Cohort, that fit an entity
// which need not be in the world.
func (e *Engine) Fitting(ent *world.Entity) (rules []*registry.Rule, fixed []int) {
	return e.split(e.fitting(ent))
}

// split tells the rules among selectors from the fixed constraints.
func (e *Engine) split(set []int32) (rules []*registry.Rule, fixed []int) {
	for _, s := range set {
		if n := int(s) - len(e.bound.Rules); n < 0 {
			rules = append(rules, e.bound.Rules[s])
		} else {
			fixed = append(fixed, n)
		}
	}
	return rules, fixed
}

// Followed is an entity that another names by an attribute. Index is its place in
// World.Entities, -1 where no such entity exists; it is then what it would be.
type Followed struct {
	Entity *world.Entity
	Index  int
}

// Followed are the entities that the attribute p.Through of an entity names, in order. It
// is nil for a property that follows no other entity.
func (e *Engine) Followed(ent *world.Entity, p *registry.Property) []Followed {
	if p.Through == "" {
		return nil
	}
	t := e.bound.Registry.Type(p.FollowsType)
	if t == nil {
		return nil
	}
	var out []Followed
	for _, name := range named(ent, p.Through) {
		known := e.called(t, name)
		for _, i := range known {
			out = append(out, Followed{&e.world.Entities[i], int(i)})
		}
		if known == nil {
			out = append(out, Followed{e.absent(t, name), -1})
		}
	}
	return out
}

// Measured is what an entity's attribute has to be held against a property that gates
// another by it. Members is nil where the entity does not say. Number is the attribute as
// a number of the property's kind, where IsNumber.
type Measured struct {
	Members  []string
	Number   float64
	IsNumber bool
}

// Measure reads the attribute that a gating property compares.
func (e *Engine) Measure(ent *world.Entity, gate *registry.Property) Measured {
	out := Measured{Members: named(ent, gate.Attribute)}
	if out.Members != nil && (gate.Comparison == registry.AtMost || gate.Comparison == registry.AtLeast) {
		out.Number, out.IsNumber = e.number(ent.Type, gate, out.Members)
	}
	return out
}

// Meaning is equal for compounds that test the same.
func Meaning(c *registry.Compound) string { return string(fingerprint(nil, c)) }
