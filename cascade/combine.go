package cascade

import (
	"slices"
	"strings"

	"umwelt/registry"
)

// combine is what the rules alone make of a property: list holds the candidates that
// apply, by index into ranking and so in order of precedence. Where there are none it is nil.
// Attempts to loosen a lock are left out and passed to dropped, where that is not nil.
func (r *ranking) combine(p *registry.Property, list []int32, dropped func(c, lock int32)) *Effective {
	list = r.withoutLoosened(p, list, dropped)
	if len(list) == 0 {
		return nil
	}
	from := make([]*Candidate, len(list))
	for i, c := range list {
		from[i] = r.candidate(c)
	}
	e := &Effective{Origin: Cascade, Winner: from[0]}
	switch {
	case p.Repeatable:
		from = inOrder(from)
		e.Resolved = repeated(p, from)
	case p.Comparison == registry.AtMost, p.Comparison == registry.AtLeast:
		for _, c := range from[1:] {
			if p.Comparison == registry.AtMost && c.Value.Num < e.Winner.Value.Num ||
				p.Comparison == registry.AtLeast && c.Value.Num > e.Winner.Value.Num {
				e.Winner = c
			}
		}
		e.Resolved = e.Winner.Value
		from = []*Candidate{e.Winner}
	case p.Comparison == registry.In:
		set := from[0].Value.List
		for _, c := range from[1:] {
			set = common(set, c.Value.List)
		}
		e.Resolved = registry.NewList(p.Type.Shape, set)
	case p.Comparison == registry.Overlap:
		for _, c := range from {
			e.Sets = addSet(e.Sets, c.Value.List)
		}
		e.Resolved = overlapValue(p, e.Sets)
	case p.Comparison == registry.Pattern:
		var all []string
		for _, c := range from {
			all = with(all, c.Value.List)
		}
		e.Resolved = registry.NewList(p.Type.Shape, all)
	default:
		from = from[:1]
		e.Resolved = e.Winner.Value
	}
	e.From, e.Value = from, e.Resolved
	return e
}

// withoutLoosened leaves out what would loosen a locked value. Of an exact property a
// lock is a bound on every other value, since a lock outranks all else; where values
// combine it is one on what later layers add.
func (r *ranking) withoutLoosened(p *registry.Property, list []int32, dropped func(c, lock int32)) []int32 {
	if !r.locks {
		return list
	}
	var locks []int32
	for _, c := range list {
		if r.candidate(c).Declaration.Locked {
			locks = append(locks, c)
		}
	}
	if locks == nil {
		return list
	}
	// An earlier layer's lock binds the locks of later ones.
	slices.SortStableFunc(locks, func(a, b int32) int { return r.candidate(a).Rule.Layer - r.candidate(b).Rule.Layer })
	binding := locks[:0]
	for _, c := range locks {
		if r.loosensAny(p, c, binding) < 0 {
			binding = append(binding, c)
		}
	}
	var out []int32
	for _, c := range list {
		if lock := r.loosensAny(p, c, binding); lock < 0 {
			out = append(out, c)
		} else if dropped != nil {
			dropped(c, lock)
		}
	}
	return out
}

// loosensAny is the first of the locks that candidate c would loosen, or -1.
func (r *ranking) loosensAny(p *registry.Property, c int32, locks []int32) int32 {
	for _, lock := range locks {
		if lock != c && r.loosens(p, r.candidate(c), r.candidate(lock)) {
			return lock
		}
	}
	return -1
}

func (r *ranking) loosens(p *registry.Property, c, lock *Candidate) bool {
	if p.Comparison != registry.Exact && c.Rule.Layer <= lock.Rule.Layer {
		return false
	}
	switch p.Comparison {
	case registry.In, registry.Overlap:
		return false // another set only narrows
	case registry.Pattern:
		if p.Restrictive == registry.Superset {
			return false // another pattern only adds to what is asked
		}
	}
	return !p.AsTight(c.Value, lock.Value)
}

// inOrder sorts by order of appearance and keeps one of several candidates that are the
// same declaration, under two selectors of one list.
func inOrder(from []*Candidate) []*Candidate {
	out := slices.Clone(from)
	slices.SortStableFunc(out, func(a, b *Candidate) int { return a.Declaration.Order - b.Declaration.Order })
	return slices.CompactFunc(out, func(a, b *Candidate) bool { return a.Declaration.Order == b.Declaration.Order })
}

// repeated is the value of a repeatable property: all values, in order.
func repeated(p *registry.Property, from []*Candidate) *registry.Value {
	if len(from) == 1 && p.Type.Shape != registry.One {
		return from[0].Value
	}
	var all []string
	for _, c := range from {
		if p.Type.Shape == registry.One {
			all = append(all, c.Value.Text)
		} else {
			all = append(all, c.Value.List...)
		}
	}
	return registry.NewList(registry.List, all)
}

// overlapValue writes several sets that must each be met; its members are those of all.
func overlapValue(p *registry.Property, sets [][]string) *registry.Value {
	var all, texts []string
	for _, set := range sets {
		all = with(all, set)
		texts = append(texts, strings.Join(set, ", "))
	}
	v := registry.NewList(p.Type.Shape, all)
	v.Text = strings.Join(texts, "; ")
	return v
}

func addSet(sets [][]string, set []string) [][]string {
	if slices.ContainsFunc(sets, func(old []string) bool { return slices.Equal(old, set) }) {
		return sets
	}
	return append(sets, set)
}

// common is what both lists hold, in the order of a.
func common(a, b []string) []string {
	out := []string{}
	for _, x := range a {
		if slices.Contains(b, x) {
			out = append(out, x)
		}
	}
	return out
}

// with is a, followed by what b holds more.
func with(a, b []string) []string {
	for _, x := range b {
		if !slices.Contains(a, x) {
			a = append(a, x)
		}
	}
	return a
}
