package cascade

import (
	"slices"

	"umwelt/registry"
)

// decide is what a selector comes to below a directory.
func (f *future) decide(s *futureState, sel int32, grouped []int32) finding {
	e := f.r.engine
	v := s.at.compound(e.selectors[sel].Target)
	if len(e.selectors[sel].Structure) == 0 || v == settled(no) {
		return v
	}
	return passing(min(v.truth, f.structure(s, e.plan.end[sel], grouped)))
}

// staticStructure decides a selector with one descendant link on whose parts no directory
// further down has any bearing, except by fitting the left part itself.
func (f *future) staticStructure(s *futureState, sel int32) (v finding, ok bool) {
	e := f.r.engine
	links := e.selectors[sel].Structure
	if len(links) != 1 || links[0].Child || hasDescendantTest(links[0].Compound) {
		return v, false
	}
	target := s.at.compound(e.selectors[sel].Target)
	between := f.between(s, links[0].Compound)
	if !target.settled || !between.settled {
		return v, false
	}
	left := e.plan.nodes[e.plan.end[sel]].parent
	if _, active := slices.BinarySearch(s.in.active, left); active || target.truth == no {
		return target, true
	}
	f.rises[left] = append(f.rises[left], sel)
	return settled(min(target.truth, between.truth, maybe)), true
}

// settle enters what is settled from this directory on, and reports whether there is any.
// It leaves the lists of other directories alone.
func (f *future) settle(s *futureState, news [3][]int32) (changed bool) {
	e := f.r.engine
	fresh := map[int][3][]int32{} // candidates by property
	for _, t := range []truth{maybe, yes} {
		for _, sel := range news[t] {
			if int(sel) >= len(e.bound.Rules) {
				s.fixed[t] = append(slices.Clip(s.fixed[t]), sel)
				changed = true
				continue
			}
			for _, c := range e.ranked.byRule[sel] {
				if p := e.ranked.property[c]; p.Entity == f.typ {
					lists := fresh[p.Index]
					lists[t] = append(lists[t], c)
					fresh[p.Index] = lists
				}
			}
		}
	}
	if len(fresh) == 0 {
		return changed
	}
	s.props = slices.Clone(s.props)
	for i, lists := range fresh {
		old := s.props[i]
		p := &futureProp{sure: merge(old.sure, lists[yes]), maybe: merge(old.maybe, lists[maybe])}
		if decidedByFirst(f.typ.Properties[i], e.ranked) && len(p.sure) > 0 {
			// Nothing can come of a candidate below one that is sure.
			p.sure = p.sure[:1:1]
			k, _ := slices.BinarySearch(p.maybe, p.sure[0])
			p.maybe = p.maybe[:k:k]
		}
		s.props[i] = p
	}
	return true
}

// candidates are those of a property that are sure and those that may apply, each in
// order of precedence.
func (f *future) candidates(s *futureState, p *registry.Property) (sure, may []int32) {
	e := f.r.engine
	var more [3][]int32
	add := func(t truth, sel int32) {
		if int(sel) < len(e.bound.Rules) {
			for _, c := range e.ranked.byRule[sel] {
				if e.ranked.property[c] == p {
					more[t] = append(more[t], c)
				}
			}
		}
	}
	for i, sel := range s.watch.selectors {
		if t := s.watch.truths[i]; t != no {
			add(t, sel)
		}
	}
	for _, sel := range s.extra {
		add(maybe, sel)
	}
	settledOnes := s.props[p.Index]
	sure, may = merge(settledOnes.sure, more[yes]), merge(settledOnes.maybe, more[maybe])
	may = slices.DeleteFunc(slices.Clone(may), func(c int32) bool {
		_, known := slices.BinarySearch(sure, c)
		return known || decidedByFirst(p, e.ranked) && len(sure) > 0 && c > sure[0]
	})
	return sure, may
}

// constraints are the fixed constraints that may apply, or that do.
func (f *future) constraints(s *futureState, t truth) []int32 {
	out := slices.Clip(s.fixed[t])
	for i, sel := range s.watch.selectors {
		if s.watch.truths[i] == t && int(sel) >= len(f.r.engine.bound.Rules) {
			out = append(out, sel)
		}
	}
	if t == maybe {
		for _, sel := range s.extra {
			if int(sel) >= len(f.r.engine.bound.Rules) {
				out = append(out, sel)
			}
		}
	}
	return out
}

func decidedByFirst(p *registry.Property, r *ranking) bool {
	return p.Comparison == registry.Exact && !p.Repeatable && !r.locks
}

// between is whether a compound fits a directory to be made between the directory and
// the entity, if there is one.
func (f *future) between(s *futureState, c *registry.Compound) finding {
	out := settled(no)
	for i, t := range f.middle {
		u := s.at
		u.typ = t
		switch v := u.compound(c); {
		case i == 0:
			out = v
		case v.truth != out.truth:
			out = finding{maybe, out.settled && v.settled}
		default:
			out.settled = out.settled && v.settled
		}
	}
	return out
}

// structure is whether what stands left of chain n fits above an entity to be made. Of
// chains in grouped it is not known whether an ancestor fits them.
func (f *future) structure(s *futureState, n int32, grouped []int32) truth {
	e := f.r.engine
	node := &e.plan.nodes[n]
	left := node.parent
	if left == noNode {
		return yes
	}
	list := s.in.active
	if node.child {
		list = s.in.above
	}
	existing := no
	if _, ok := slices.BinarySearch(list, left); ok {
		existing = yes
	} else if slices.Contains(grouped, left) || f.unsure(left) {
		existing = maybe
	}
	made := f.between(s, e.plan.compounds[e.plan.nodes[left].compound].bound).truth
	if made != no {
		made = min(made, f.structure(s, left, grouped))
	}
	switch {
	case !node.child && existing == yes:
		return yes
	case existing == made:
		return made
	}
	return maybe
}

// unsure reports whether what comes to be may change which existing entities a chain fits.
func (f *future) unsure(n int32) bool {
	for ; n != noNode; n = f.r.engine.plan.nodes[n].parent {
		if hasDescendantTest(f.r.engine.plan.compounds[f.r.engine.plan.nodes[n].compound].bound) {
			return true
		}
	}
	return false
}

// hasDescendantTest reports whether a compound asks for descendants anywhere.
func hasDescendantTest(c *registry.Compound) bool {
	return slices.ContainsFunc(c.Tests, func(t registry.Test) bool {
		return t.Kind == registry.TestHas || slices.ContainsFunc(t.Selectors, func(sel *registry.Selector) bool {
			return hasDescendantTest(sel.Target) || slices.ContainsFunc(sel.Structure, func(l registry.Link) bool { return hasDescendantTest(l.Compound) })
		})
	})
}

// groupChains are the chains that fit one of the groups.
func (f *future) groupChains(groups []int32) []int32 {
	var out []int32
	for _, g := range groups {
		out = append(out, f.r.engine.lineage.states[g].own...)
	}
	return out
}
