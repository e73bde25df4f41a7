package cascade

import (
	"slices"
	"strconv"
	"strings"

	"umwelt/registry"
	"umwelt/world"
)

// derived is the value of a property that no rule sets.
func (v *evaluation) derived(p *registry.Property) *Effective {
	for _, name := range p.ImpliedBy {
		if q := v.info.typ.Property(name); q != nil && v.base[q.Index] != nil && p.Type.Kind == registry.Boolean {
			return &Effective{
				Value: p.PermissiveBool(), Origin: Derived,
				Reason: &Reason{Text: "a rule sets " + q.Name},
			}
		}
	}
	if p.Through != "" {
		if e := v.followOther(p); e != nil {
			return e
		}
	} else if q := v.info.typ.Property(p.Follows); p.Follows != "" && q != nil {
		from := v.final(q.Index)
		switch {
		case from.Value == nil, from.Origin == Initial && from.Value.Equal(p.Initial):
		default:
			return &Effective{Value: from.Value, Origin: Derived, Reason: &Reason{Text: "it follows " + q.Name}}
		}
	}
	return v.info.plain[p.Index]
}

// followOther takes what a rule says of the entities that the attribute p.Through names,
// the most restrictive where there are several. It is nil where no rule speaks of them.
func (v *evaluation) followOther(p *registry.Property) *Effective {
	var out *Effective
	for _, o := range v.others(p) {
		if out == nil || p.AsTight(o.value, out.Value) {
			out = &Effective{Value: o.value, Origin: Derived, Reason: &Reason{Text: o.reason(p)}}
		}
	}
	return out
}

// restrictThrough makes p as restrictive as what a rule says of the entities that the
// attribute p.Through names, whatever the entity's own rules say.
func (v *evaluation) restrictThrough(p *registry.Property, e *Effective) *Effective {
	if e.Value == nil || p.Restrictive == registry.NoDirection {
		return e
	}
	for _, o := range v.others(p) {
		tight := p.Tighter(e.Value, o.value)
		if tight.Equal(e.Value) {
			continue
		}
		out := *e
		out.Value, out.Origin, out.Reason = tight, Derived, &Reason{Text: o.reason(p)}
		e = &out
	}
	return e
}

// other is what a rule (or a fixed constraint) says of another entity.
type other struct {
	typ   *registry.EntityType
	id    string
	value *registry.Value
}

func (o other) reason(p *registry.Property) string {
	return o.typ.Name + " " + o.id + " has " + p.Follows + " " + o.value.Text
}

func (v *evaluation) others(p *registry.Property) []other {
	if v.peers == nil {
		return nil
	}
	t := v.r.engine.bound.Registry.Type(p.FollowsType)
	if t == nil {
		return nil
	}
	q := t.Property(p.Follows)
	if q == nil {
		return nil
	}
	var out []other
	for _, name := range named(v.ent, p.Through) {
		for _, e := range v.peers.named(t, name) {
			if got := e[q.Index]; got != nil && (got.Origin == Cascade || got.Origin == Fixed) && got.Value != nil {
				out = append(out, other{typ: t, id: name, value: got.Value})
			}
		}
	}
	return out
}

// named is the members of an attribute, or its text as the only one.
func named(e *world.Entity, attr string) []string {
	if a := e.Attribute(attr); a != nil && a.List != nil {
		return a.List
	}
	if text, ok := e.Fact(attr); ok && text != "" {
		return []string{text}
	}
	return nil
}

// gate gives p its restrictive value where the entity's attribute breaks what g demands.
// An entity that does not say breaks it too.
func (v *evaluation) gate(p *registry.Property, e *Effective, g *registry.Property) *Effective {
	if p.Type.Kind != registry.Boolean || p.Type.Shape != registry.One || p.Restrictive == registry.NoDirection {
		return e
	}
	bound := v.final(g.Index)
	if bound.Value == nil {
		return e
	}
	problem := v.broken(g, bound)
	tight := p.RestrictiveBool()
	if problem == "" || tight.Equal(e.Value) {
		return e
	}
	out := *e
	out.Value, out.Origin, out.Reason = tight, Derived, &Reason{Text: problem}
	return &out
}

// broken says how the entity's attribute breaks a comparison, "" where it does not.
func (v *evaluation) broken(g *registry.Property, bound *Effective) string {
	demand := g.Name + " " + printed(g, bound.Value)
	members := named(v.ent, g.Attribute)
	if members == nil {
		return "it has no " + g.Attribute + " to compare with " + demand
	}
	fact := g.Attribute + " " + strings.Join(members, ", ")
	switch g.Comparison {
	case registry.AtMost, registry.AtLeast:
		n, ok := v.r.engine.number(v.info.typ, g, members)
		switch {
		case !ok:
			return fact + " cannot be compared with " + demand
		case g.Comparison == registry.AtMost && n > bound.Value.Num:
			return fact + " is above " + demand
		case g.Comparison == registry.AtLeast && n < bound.Value.Num:
			return fact + " is below " + demand
		}
	case registry.In:
		if len(common(members, bound.Value.List)) < len(members) {
			return fact + " is outside " + demand
		}
	case registry.Overlap:
		for _, set := range bound.Sets {
			if len(common(members, set)) == 0 {
				return fact + " has nothing of " + g.Name + " " + strings.Join(set, ", ")
			}
		}
		if len(bound.Sets) == 0 && len(common(members, bound.Value.List)) == 0 {
			return fact + " has nothing of " + demand
		}
	case registry.Pattern:
		for _, m := range members {
			if !slices.ContainsFunc(bound.Value.List, func(pattern string) bool { return wildcard(pattern, m) }) {
				return fact + " fits no " + demand
			}
		}
	default:
		want := bound.Value.List
		if want == nil {
			want = []string{bound.Value.Text}
		}
		if !slices.Equal(members, want) {
			return fact + " is not " + demand
		}
	}
	return ""
}

// number reads the attribute that g compares as a number of the registered type.
func (e *Engine) number(typ *registry.EntityType, g *registry.Property, members []string) (float64, bool) {
	if len(members) != 1 {
		return 0, false
	}
	t := g.Type
	if a := typ.Attribute(g.Attribute); a != nil {
		t = a.Type
	}
	t.HasRange = false // a fact outside the range is still compared
	switch t.Kind {
	case registry.Integer, registry.Number, registry.Size, registry.Duration:
		value, problem := e.bound.Registry.TypeText(t, members[0])
		if problem != "" {
			return 0, false
		}
		return value.Num, true
	}
	n, err := strconv.ParseFloat(members[0], 64)
	return n, err == nil
}

// wildcard reports whether a pattern, in which "*" stands for any text, fits all of s.
func wildcard(pattern, s string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == s
	}
	last := len(parts) - 1
	if !strings.HasPrefix(s, parts[0]) {
		return false
	}
	s = s[len(parts[0]):]
	for _, part := range parts[1:last] {
		i := strings.Index(s, part)
		if i < 0 {
			return false
		}
		s = s[i+len(part):]
	}
	return len(s) >= len(parts[last]) && strings.HasSuffix(s, parts[last])
}
