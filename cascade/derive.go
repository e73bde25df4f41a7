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
	var s Step
	e := v.derive(p, &s)
	if v.traced == p {
		v.note(e, s)
	}
	return e
}

// derive says in s what it goes by.
func (v *evaluation) derive(p *registry.Property, s *Step) *Effective {
	for _, name := range p.ImpliedBy {
		if q := v.info.typ.Property(name); q != nil && v.base[q.Index] != nil && p.Type.Kind == registry.Boolean {
			*s = Step{Kind: StepImplied, Property: q, Premise: *v.base[q.Index]}
			return implied(p, q)
		}
	}
	if p.Through != "" {
		others := v.others(p)
		if e := followOthers(p, others); e != nil {
			*s = Step{Kind: StepOthers, Others: others}
			return e
		}
	} else if q := v.info.typ.Property(p.Follows); p.Follows != "" && q != nil {
		premise := v.final(q.Index)
		if e := follow(p, q, premise); e != nil {
			*s = Step{Kind: StepFollows, Property: q, Premise: *premise}
			return e
		}
	}
	s.Kind = StepInitial
	return v.info.plain[p.Index]
}

func implied(p, by *registry.Property) *Effective {
	return &Effective{Value: p.PermissiveBool(), Origin: Derived, Reason: &Reason{Text: "a rule sets " + by.Name}}
}

// follow is p where another property of the entity, which it follows, is as premise says;
// nil where nothing is said about that one either.
func follow(p, q *registry.Property, premise *Effective) *Effective {
	if premise.Value == nil || premise.Origin == Initial && premise.Value.Equal(p.Initial) {
		return nil
	}
	return &Effective{Value: premise.Value, Origin: Derived, Reason: &Reason{Text: "it follows " + q.Name}}
}

// followOthers takes what a rule says of the entities that the attribute p.Through names,
// the most restrictive where there are several. It is nil where no rule speaks of them.
func followOthers(p *registry.Property, others []Other) *Effective {
	var out *Effective
	for _, o := range others {
		if out == nil || p.AsTight(o.Value, out.Value) {
			out = &Effective{Value: o.Value, Origin: Derived, Reason: &Reason{Text: o.reason(p)}}
		}
	}
	return out
}

// restrictByOthers makes p as restrictive as what a rule says of the entities that the
// attribute p.Through names, whatever the entity's own rules say.
func restrictByOthers(p *registry.Property, e *Effective, others []Other) *Effective {
	if e.Value == nil || p.Restrictive == registry.NoDirection {
		return e
	}
	for _, o := range others {
		tight := p.Tighter(e.Value, o.Value)
		if tight.Equal(e.Value) {
			continue
		}
		out := *e
		out.Value, out.Origin, out.Reason = tight, Derived, &Reason{Text: o.reason(p)}
		e = &out
	}
	return e
}

// Other is what a rule or a fixed constraint says of another entity.
type Other struct {
	Type  *registry.EntityType
	ID    string
	Value *registry.Value
}

func (o Other) reason(p *registry.Property) string {
	return o.Type.Name + " " + o.ID + " has " + p.Follows + " " + o.Value.Text
}

func (v *evaluation) others(p *registry.Property) []Other {
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
	var out []Other
	for _, name := range named(v.ent, p.Through) {
		for _, e := range v.peers.named(t, name) {
			if got := e[q.Index]; got != nil && (got.Origin == Cascade || got.Origin == Fixed) && got.Value != nil {
				out = append(out, Other{Type: t, ID: name, Value: got.Value})
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
func gate(p *registry.Property, e *Effective, g *registry.Property, bound *Effective, fact Measured) *Effective {
	if !gateable(p) || bound.Value == nil {
		return e
	}
	problem := broken(g, bound, fact)
	tight := p.RestrictiveBool()
	if problem == "" || tight.Equal(e.Value) {
		return e
	}
	out := *e
	out.Value, out.Origin, out.Reason = tight, Derived, &Reason{Text: problem}
	return &out
}

func gateable(p *registry.Property) bool {
	return p.Type.Kind == registry.Boolean && p.Type.Shape == registry.One && p.Restrictive != registry.NoDirection
}

// broken says how an attribute breaks a comparison, "" where it does not.
func broken(g *registry.Property, bound *Effective, measured Measured) string {
	demand := g.Name + " " + printed(g, bound.Value)
	members := measured.Members
	if members == nil {
		return "it has no " + g.Attribute + " to compare with " + demand
	}
	fact := strings.TrimSpace(g.Attribute + " " + strings.Join(members, ", "))
	switch g.Comparison {
	case registry.AtMost, registry.AtLeast:
		n, ok := measured.Number, measured.IsNumber
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

// Breaks says in a few words how what is measured breaks what a property demands, "" where
// it does not. Without a value an exact property is broken by anything, and one of another
// comparison demands nothing.
func Breaks(p *registry.Property, e *Effective, fact Measured) string {
	switch {
	case e.Value != nil:
		if p.Comparison == registry.Exact && p.Type.Shape == registry.One && !slices.Equal(fact.Members, []string{e.Value.Text}) {
			return p.Name + " is " + printed(p, e.Value) + ", not " + strings.Join(fact.Members, ", ")
		}
		return broken(p, e, fact)
	case p.Comparison == registry.Exact:
		return p.Name + " has no value"
	}
	return ""
}
