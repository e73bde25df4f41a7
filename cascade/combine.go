package cascade

import (
	"slices"
	"strconv"
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
		e.Sets = distinct(from)
		e.Resolved = overlapValue(p, e.Sets)
	case p.Comparison == registry.Pattern:
		lists := make([][]string, len(from))
		for i, c := range from {
			lists[i] = c.Value.List
		}
		e.Resolved = registry.NewList(p.Type.Shape, members(lists))
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
	bound := map[string]bool{}
	for _, c := range locks {
		// One of the same value, of the same or an earlier layer, binds all that c does.
		value := r.candidate(c).Value.Text + listKey(r.candidate(c).Value.List)
		if !bound[value] && r.loosensAny(p, c, binding) < 0 {
			bound[value] = true
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
	var texts []string
	for _, set := range sets {
		texts = append(texts, strings.Join(set, ", "))
	}
	v := registry.NewList(p.Type.Shape, members(sets))
	v.Text = strings.Join(texts, "; ")
	return v
}

// distinct are the sets of candidates, each once, in order.
func distinct(from []*Candidate) [][]string {
	var out [][]string
	seen := map[string]bool{}
	for _, c := range from {
		key := listKey(c.Value.List)
		if !seen[key] {
			seen[key] = true
			out = append(out, c.Value.List)
		}
	}
	return out
}

// listKey tells lists apart, which their text may not. No member holds a NUL byte.
func listKey(list []string) string {
	return "\x00" + strconv.Itoa(len(list)) + "\x00" + strings.Join(list, "\x00")
}

func addSet(sets [][]string, set []string) [][]string {
	if slices.ContainsFunc(sets, func(old []string) bool { return slices.Equal(old, set) }) {
		return sets
	}
	return append(sets, set)
}

// few is how many members a list may have to be looked through instead of being indexed.
const few = 16

// common is what both lists hold, in the order of a.
func common(a, b []string) []string {
	out := []string{}
	if len(b) <= few {
		for _, x := range a {
			if slices.Contains(b, x) {
				out = append(out, x)
			}
		}
		return out
	}
	in := make(map[string]bool, len(b))
	for _, x := range b {
		in[x] = true
	}
	for _, x := range a {
		if in[x] {
			out = append(out, x)
		}
	}
	return out
}

// members are what the lists hold, each once, in order.
func members(lists [][]string) []string {
	var out []string
	var seen map[string]bool
	for _, list := range lists {
		for _, x := range list {
			if len(out) < few {
				if !slices.Contains(out, x) {
					out = append(out, x)
				}
				continue
			}
			if seen == nil {
				seen = make(map[string]bool, 2*few)
				for _, y := range out {
					seen[y] = true
				}
			}
			if !seen[x] {
				seen[x] = true
				out = append(out, x)
			}
		}
	}
	return out
}
