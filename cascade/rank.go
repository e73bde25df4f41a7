package cascade

import (
	"cmp"
	"slices"
	"strings"

	"umwelt/registry"
	"umwelt/world"
)

// ranking holds every candidate of a view, the one of highest precedence first, so that
// an index into it is a precedence.
type ranking struct {
	candidates []Candidate
	property   []*registry.Property // of each candidate
	byRule     [][]int32            // the candidates of each rule
	locks      bool                 // some declaration is locked

	base  *ranking // of an extension: what it goes among, see rankAmong
	first int32    // the selector of the first rule of its own
	ahead []int32  // per candidate, how many of base have a higher precedence
}

func rank(b *registry.Bound) *ranking { return rankRules(b.Rules, 0) }

// rankRules ranks rules of which the first has that index.
func rankRules(rules []*registry.Rule, index int) *ranking {
	r := &ranking{byRule: make([][]int32, len(rules))}
	type entry struct {
		c Candidate
		p *registry.Property
	}
	var all []entry
	for _, rule := range rules {
		for _, d := range rule.Declarations {
			r.locks = r.locks || d.Locked
			for _, v := range d.Typed {
				all = append(all, entry{Candidate{Rule: rule, Declaration: d, Value: v.Value}, v.Property})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b entry) int { return precedence(&a.c, &b.c) })
	r.candidates = make([]Candidate, len(all))
	r.property = make([]*registry.Property, len(all))
	for i, x := range all {
		r.candidates[i], r.property[i] = x.c, x.p
		k := x.c.Rule.Index - index
		r.byRule[k] = append(r.byRule[k], int32(i))
	}
	return r
}

// precedence is negative where a is used before b: important ones first, then by layer
// (the earlier the better for important ones, else the later), specificity and order.
func precedence(a, b *Candidate) int {
	_, c := compareBy(a, b)
	return c
}

// compareBy is precedence together with the criterion that decided.
func compareBy(a, b *Candidate) (criterion, int) {
	if x, y := a.Declaration.Important, b.Declaration.Important; x != y {
		if x {
			return byImportance, -1
		}
		return byImportance, 1
	}
	if c := cmp.Compare(a.Rule.Layer, b.Rule.Layer); c != 0 {
		if !a.Declaration.Important {
			c = -c
		}
		return byLayer, c
	}
	if c := a.Rule.Selector.Specificity.Compare(b.Rule.Selector.Specificity); c != 0 {
		return bySpecificity, -c
	}
	return byOrder, cmp.Or(cmp.Compare(b.Declaration.Order, a.Declaration.Order), cmp.Compare(b.Rule.Index, a.Rule.Index))
}

// criterion is what decides between two candidates.
type criterion uint8

const (
	byImportance criterion = iota
	byLayer
	bySpecificity
	byOrder
)

// typeInfo is what resolution needs to know of an entity type.
type typeInfo struct {
	typ     *registry.EntityType
	plain   []*Effective // what each property is where nothing is said
	gates   [][]int      // per property, the properties that gate it
	facts   []string     // the attributes that derivations read
	through bool         // a property follows another entity
}

func (e *Engine) describeTypes() {
	for _, t := range e.bound.Registry.Types() {
		info := typeInfo{typ: t, gates: make([][]int, len(t.Properties))}
		fact := func(name string) {
			if !slices.Contains(info.facts, name) {
				info.facts = append(info.facts, name)
			}
		}
		for k, p := range t.Properties {
			plain := &Effective{}
			if p.Initial != nil {
				plain = &Effective{Value: p.Initial, Origin: Initial}
			}
			info.plain = append(info.plain, plain)
			if p.Gates != "" && p.Attribute != "" {
				if gated := t.Property(p.Gates); gated != nil {
					info.gates[gated.Index] = append(info.gates[gated.Index], k)
					fact(p.Attribute)
				}
			}
			if p.Through != "" {
				info.through = true
				fact(p.Through)
			}
		}
		e.types = append(e.types, info)
	}
	e.loops = followsInCircle(e.bound.Registry)
}

// followsInCircle reports whether entities of a type can follow others that follow it.
func followsInCircle(reg *registry.Registry) bool {
	const open, done = 1, 2
	state := make([]uint8, len(reg.Types()))
	var visit func(t *registry.EntityType) bool
	visit = func(t *registry.EntityType) bool {
		switch {
		case t == nil || state[t.Index] == done:
			return false
		case state[t.Index] == open:
			return true
		}
		state[t.Index] = open
		for _, p := range t.Properties {
			if p.Through != "" && visit(reg.Type(p.FollowsType)) {
				return true
			}
		}
		state[t.Index] = done
		return false
	}
	return slices.ContainsFunc(reg.Types(), visit)
}

// factsKey is equal for entities of one type and set that derivations cannot tell apart.
func factsKey(e *world.Entity, typ, set int32, facts []string) string {
	var b strings.Builder
	num := func(n int) {
		for range 4 {
			b.WriteByte(byte(n))
			n >>= 8
		}
	}
	num(int(typ))
	num(int(set))
	for _, name := range facts {
		a := e.Attribute(name)
		if a == nil {
			text, ok := e.Fact(name)
			if !ok {
				num(-1)
				continue
			}
			a = &world.Attribute{Text: text}
		}
		num(len(a.Text))
		b.WriteString(a.Text)
		num(len(a.List))
		for _, m := range a.List {
			num(len(m))
			b.WriteString(m)
		}
	}
	return b.String()
}
