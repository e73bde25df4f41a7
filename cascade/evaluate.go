package cascade

import (
	"slices"

	"umwelt/registry"
	"umwelt/world"
)

// evaluation works out the properties of one entity after another. It belongs to one
// goroutine.
type evaluation struct {
	r       *Resolution
	peers   *peers              // answers for other entities; nil where the type needs none
	dropped func(c, lock int32) // told of attempts to loosen a lock; may be nil

	traced *registry.Property // the property whose steps are noted; nil for none
	steps  []Step

	info  *typeInfo
	ent   *world.Entity
	lists [][]int32 // per property, the candidates that apply, in order of precedence
	fixed []int32   // the fixed constraints that apply, by selector, in order
	out   []*Effective
	base  []*Effective // what the rules alone make of each property; nil where none applies
	state []progress
}

type progress uint8

const (
	untouched progress = iota
	underWay
	finished
)

// begin turns to an entity that the selectors in set fit.
func (v *evaluation) begin(info *typeInfo, ent *world.Entity, set []int32) {
	v.info, v.ent = info, ent
	n := len(info.typ.Properties)
	for len(v.lists) < n {
		v.lists = append(v.lists, nil)
	}
	v.out = slices.Grow(v.out[:0], n)[:n]
	v.base = slices.Grow(v.base[:0], n)[:n]
	v.state = slices.Grow(v.state[:0], n)[:n]
	for i := range n {
		v.lists[i], v.out[i], v.base[i], v.state[i] = v.lists[i][:0], nil, nil, untouched
	}
	v.fixed = v.fixed[:0]
	e := v.r.engine
	for _, s := range set {
		if !v.r.held(s) {
			continue
		}
		if e.constraint(s) != nil {
			v.fixed = append(v.fixed, s)
			continue
		}
		list, ranked := e.ranked.of(s)
		for _, c := range list {
			if p := ranked.property[c]; p.Entity == info.typ {
				v.lists[p.Index] = append(v.lists[p.Index], e.ranked.place(c, ranked))
			}
		}
	}
	for i, p := range info.typ.Properties {
		if list := v.lists[i]; len(list) > 0 {
			slices.Sort(list)
			v.base[i] = e.ranked.combine(p, list, v.dropped)
		}
	}
}

// all is the answer for every property. The slice is used again by the next entity.
func (v *evaluation) all() []*Effective {
	for i := range v.out {
		v.final(i)
	}
	return v.out
}

// final is the effective value of a property: what the rules resolve, else what it is
// derived from, else its initial value; then clamped by the fixed constraints; then
// restricted where an attribute breaks a comparison that gates it. A property that
// depends on itself in a circle counts as unset on the way round.
func (v *evaluation) final(i int) *Effective {
	switch v.state[i] {
	case finished:
		return v.out[i]
	case underWay:
		return &Effective{}
	}
	v.state[i] = underWay
	p := v.info.typ.Properties[i]
	traced := v.traced == p
	e := v.base[i]
	if e == nil {
		e = v.derived(p)
	} else if traced {
		v.note(e, Step{Kind: StepRules})
	}
	if p.Through != "" {
		others := v.others(p)
		e = restrictByOthers(p, e, others)
		if traced {
			v.note(e, Step{Kind: StepThrough, Others: others})
		}
	}
	if len(v.fixed) > 0 {
		e = v.clamp(p, e)
	}
	for _, k := range v.info.gates[i] {
		if !gateable(p) {
			continue
		}
		g := v.info.typ.Properties[k]
		bound := v.final(k)
		if bound.Value == nil {
			continue
		}
		fact := v.r.engine.Measure(v.ent, g)
		e = gate(p, e, g, bound, fact)
		if traced {
			v.note(e, Step{Kind: StepGate, Property: g, Premise: *bound, Fact: fact})
		}
	}
	v.out[i], v.state[i] = e, finished
	return e
}

// note keeps a step that came out as e.
func (v *evaluation) note(e *Effective, s Step) {
	s.After = *e
	v.steps = append(v.steps, s)
}

// clamp applies the fixed constraints on p. Where p has a restrictive direction each may
// only restrict; else the last one says what holds.
func (v *evaluation) clamp(p *registry.Property, e *Effective) *Effective {
	for _, s := range v.fixed {
		constraint := v.r.engine.constraint(s)
		for _, value := range constraint.Values {
			if value.Property == p {
				e = clampOne(p, e, value.Value, constraint)
				if v.traced == p {
					v.note(e, Step{Kind: StepFixed, Fixed: FixedStep{constraint, value.Value}})
				}
			}
		}
	}
	return e
}

func clampOne(p *registry.Property, e *Effective, bound *registry.Value, constraint *world.Fixed) *Effective {
	value, sets := bound, e.Sets
	switch {
	case p.Comparison == registry.Overlap:
		if sets == nil && e.Value != nil {
			sets = [][]string{e.Value.List}
		}
		sets = addSet(slices.Clip(sets), bound.List)
		value = overlapValue(p, sets)
	case p.Restrictive != registry.NoDirection && !p.Repeatable && e.Value != nil:
		value = p.Tighter(e.Value, bound)
	}
	if value.Equal(e.Value) && p.Restrictive != registry.NoDirection {
		// It is the constraint that says so only where no rule does and it is as tight.
		if e.Origin == Cascade || !value.Equal(bound) {
			return e
		}
	}
	out := *e
	out.Value, out.Sets, out.Origin = value, sets, Fixed
	out.Reason = &Reason{Text: "the world fixes " + p.Name + " at " + printed(p, bound) + " for " + constraint.Selector.Text, Fixed: constraint}
	return &out
}

// printed is a value as a reason may show it.
func printed(p *registry.Property, v *registry.Value) string {
	switch {
	case p.Secret:
		return "a value that is not shown"
	case v.Text == "":
		return "nothing"
	}
	return v.Text
}
