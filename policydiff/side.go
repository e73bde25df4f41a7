package policydiff

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"umwelt/cascade"
	"umwelt/registry"
	"umwelt/world"
)

// side is one of the two policies, with what is known of it whatever the context.
type side struct {
	engine  *cascade.Engine
	world   *world.World
	bound   *registry.Bound
	cohorts []cascade.Cohort
	pins    map[*registry.EntityType][]registry.Entity
	fits    []int32              // per rule: equal for rules of equal selectors and precedence
	wholes  []int32              // per rule: equal for rules that say the same, too
	refs    map[cascade.Ref]bool // which references name an entity, as far as it was asked
	fixed   []int32              // per fixed constraint: equal where the same is held of the same
	signs   map[int32]int32      // per cohort: equal where the same declarations compete in the same order
}

// interner gives equal texts one number.
type interner map[string]int32

func (n interner) id(s string) int32 {
	i, ok := n[s]
	if !ok {
		i = int32(len(n))
		n[s] = i
	}
	return i
}

func newSide(e *cascade.Engine, names interner) *side {
	s := &side{engine: e, world: e.World(), bound: e.Bound(), cohorts: e.Cohorts(), signs: map[int32]int32{}, refs: map[cascade.Ref]bool{}}
	s.pins = map[*registry.EntityType][]registry.Entity{}
	for _, n := range slices.Concat(s.bound.Pins(), s.bound.Entities) {
		_, name, qualified := strings.Cut(n.Type, "|")
		if !qualified {
			name = n.Type
		}
		for _, t := range s.bound.Registry.TypesNamed(name) {
			s.pins[t] = append(s.pins[t], n)
		}
	}
	s.fits, s.wholes = make([]int32, len(s.bound.Rules)), make([]int32, len(s.bound.Rules))
	for i, r := range s.bound.Rules {
		key := selectorKey(r.Selector) + specificityKey(r.Selector.Specificity)
		s.fits[i] = names.id(key)
		for _, d := range r.Declarations {
			key += valueKey(d)
		}
		s.wholes[i] = names.id(key)
	}
	for i := range s.world.Fixed {
		f := &s.world.Fixed[i]
		s.fixed = append(s.fixed, names.id("fixed "+selectorKey(f.Selector)+valueKey(&registry.Declaration{Typed: f.Values})))
	}
	return s
}

func specificityKey(s registry.Specificity) string {
	b := strconv.AppendInt([]byte{'#'}, int64(s.Axes), 10)
	for i, t := range s.Triples {
		if t != (registry.Triple{}) {
			b = append(b, ' ')
			for _, n := range [...]int{i, int(t[0]), int(t[1]), int(t[2])} {
				b = append(strconv.AppendInt(b, int64(n), 10), ',')
			}
		}
	}
	return string(b)
}

// sign is the signature of a cohort. Cohorts of equal type and signature get the same
// answers in every context, but for what follows other entities.
func (s *side) sign(cohort int, names interner) int32 {
	if n, ok := s.signs[int32(cohort)]; ok {
		return n
	}
	c := &s.cohorts[cohort]
	n := names.id(s.signature(c.Rules, names) + s.fixedKey(c.Fixed))
	s.signs[int32(cohort)] = n
	return n
}

func (s *side) fixedKey(fixed []int) string {
	var b strings.Builder
	for _, i := range fixed {
		b.WriteString("f" + strconv.Itoa(int(s.fixed[i])))
	}
	return b.String()
}

// signature is equal for lists of rules whose declarations say the same in the same
// order.
func (s *side) signature(rules []*registry.Rule, names interner) string {
	type entry struct {
		rule *registry.Rule
		decl *registry.Declaration
	}
	var all []entry
	var layers []int
	for _, r := range rules {
		for _, d := range r.Declarations {
			all = append(all, entry{r, d})
			layers = append(layers, r.Layer)
		}
	}
	slices.SortStableFunc(all, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.decl.Order, b.decl.Order), cmp.Compare(a.rule.Index, b.rule.Index))
	})
	slices.Sort(layers)
	layers = slices.Compact(layers)
	var b []byte
	for i, x := range all {
		b = strconv.AppendInt(b, int64(s.fits[x.rule.Index]), 36)
		b = append(b, ' ')
		b = strconv.AppendInt(b, int64(names.id(valueKey(x.decl))), 36)
		rank, _ := slices.BinarySearch(layers, x.rule.Layer)
		b = append(b, '/')
		b = strconv.AppendInt(b, int64(rank), 36)
		if i > 0 && all[i-1].decl == x.decl {
			b = append(b, '=') // one declaration under two selectors
		}
		b = append(b, ';')
	}
	return string(b)
}

// grants reports whether the policy itself would have the entity: what exists only because
// a view names it does not exist for a view that does not, unless naming grants nothing.
func (s *side) grants(e *world.Entity) bool {
	if e.Provenance.Origin != world.Referenced || e.Type.Named {
		return true
	}
	key, hasKey := e.Attr(e.Type.Key())
	return slices.ContainsFunc(s.pins[e.Type], func(n registry.Entity) bool {
		return n.ID == e.ID || hasKey && (n.ID == key || n.Attributes[e.Type.Key()] == key)
	})
}

// holdsWhole reports whether an entity that the policy itself would not have is part of one
// that it has: of a type in which a bare selector names the one entity that stands for all,
// where every permission of that one is given. What is then said of the part holds of it.
func (s *side) holdsWhole(r *cascade.Resolution, i int) bool {
	if i < 0 || !s.world.Entities[i].Type.Singleton {
		return false
	}
	t := s.world.Entities[i].Type
	whole := r.Find(t, t.Name)
	if whole < 0 || whole == i || !s.grants(&s.world.Entities[whole]) {
		return false
	}
	given := false
	for _, p := range t.Properties {
		if p.Type.Kind != registry.Boolean || p.Type.Shape != registry.One || p.Restrictive == registry.NoDirection {
			continue
		}
		if v := r.Get(whole, p).Value; v == nil || v.Equal(p.RestrictiveBool()) {
			return false
		}
		given = true
	}
	return given
}

// causes are what an effective value rests on: the declarations that make it, else those
// of the properties that it is derived from, and the constraint that clamped it.
func (s *side) causes(r *cascade.Resolution, entity int, p *registry.Property, e *cascade.Effective, depth int) []Cause {
	var out []Cause
	add := func(c Cause) {
		if !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	for _, c := range e.From {
		add(Cause{Rule: c.Rule, Declaration: c.Declaration})
	}
	if e.Origin == cascade.Derived && depth < 4 {
		for _, q := range p.Entity.Properties {
			related := slices.Contains(p.ImpliedBy, q.Name) && e.From == nil ||
				q.Gates == p.Name && q.Attribute != "" || p.Through == "" && p.Follows == q.Name && e.From == nil
			if from := r.Get(entity, q); related && q != p && from.Value != nil {
				for _, c := range s.causes(r, entity, q, &from, depth+1) {
					add(c)
				}
			}
		}
		for _, f := range s.engine.Followed(&s.world.Entities[entity], p) {
			if f.Index < 0 {
				continue
			}
			if q := f.Entity.Type.Property(p.Follows); q != nil {
				from := r.Get(f.Index, q)
				for _, c := range s.causes(r, f.Index, q, &from, depth+1) {
					add(c)
				}
			}
		}
	}
	if e.Reason != nil && e.Reason.Fixed != nil {
		add(Cause{Fixed: e.Reason.Fixed})
	}
	return out
}
