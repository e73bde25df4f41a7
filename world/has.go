package world

import (
	"math/bits"
	"slices"

	"umwelt/registry"
)

// Bits is a set of entities by index.
type Bits []uint64

// NewBits makes an empty set with room for n entities.
func NewBits(n int) Bits { return make(Bits, (n+63)/64) }

// Has reports whether i is in the set.
func (b Bits) Has(i int) bool { return b[i>>6]&(1<<(i&63)) != 0 }

// Add puts i into the set.
func (b Bits) Add(i int) { b[i>>6] |= 1 << (i & 63) }

// entitySet is a set of entities that takes no more room than it must: a sorted list
// where few of many are in it.
type entitySet struct {
	bits Bits
	list []int32
}

func (b Bits) compact() entitySet {
	n := 0
	for _, word := range b {
		n += bits.OnesCount64(word)
	}
	if n > len(b) { // the list would be half as large or more
		return entitySet{bits: b}
	}
	list := make([]int32, 0, n)
	for i, word := range b {
		for ; word != 0; word &= word - 1 {
			list = append(list, int32(i*64+bits.TrailingZeros64(word)))
		}
	}
	return entitySet{list: list}
}

// grow is the set as bits, with room for n entities.
func (s entitySet) grow(n int) Bits {
	out := NewBits(n)
	copy(out, s.bits)
	for _, i := range s.list {
		out.Add(int(i))
	}
	return out
}

func (s entitySet) has(i int) bool {
	if s.bits != nil {
		return s.bits.Has(i)
	}
	_, ok := slices.BinarySearch(s.list, int32(i))
	return ok
}

// hasSet is the set of entities that ":has(sel)" fits, worked out on first use.
func (m *Matcher) hasSet(sel *registry.Selector, child bool) entitySet {
	var old *entitySet // of the world without what an extension adds
	for at, grown := m, false; at != nil; at = at.from {
		if set, ok := at.has[sel]; ok && !grown {
			return set
		} else if ok {
			old = &set
			break
		}
		grown = grown || at.fresh
	}
	if old == nil || hasInside(sel) {
		m.PrepareHas(sel, child, nil)
		return m.has[sel]
	}
	// What is added can only make more entities fit, all of them above it.
	added := make([]int32, len(m.more))
	for i := range added {
		added[i] = int32(len(m.w.Entities) + i)
	}
	m.prepareHas(sel, child, added, old.grow(m.count()))
	return m.has[sel]
}

// hasInside reports whether a selector holds a :has itself.
func hasInside(sel *registry.Selector) bool {
	return compoundHas(sel.Target) || slices.ContainsFunc(sel.Structure, func(l registry.Link) bool { return compoundHas(l.Compound) })
}

func compoundHas(c *registry.Compound) bool {
	return slices.ContainsFunc(c.Tests, func(t registry.Test) bool {
		return t.Kind == registry.TestHas || slices.ContainsFunc(t.Selectors, hasInside)
	})
}

// PrepareHas works out the set of entities that ":has(sel)" fits and keeps it. child says
// that what sel begins with must be a child and not any descendant. candidates are the
// only entities that the target of sel can fit; nil stands for all.
func (m *Matcher) PrepareHas(sel *registry.Selector, child bool, candidates []int32) {
	m.prepareHas(sel, child, candidates, NewBits(m.count()))
}

// prepareHas adds to above, which already holds some of the set.
func (m *Matcher) prepareHas(sel *registry.Selector, child bool, candidates []int32, above Bits) {
	done := NewBits(m.count()) // the ancestors of this entity are in above
	var tops []int32
	visit := func(i int) {
		e := m.entity(int32(i))
		if sel.Never || len(sel.Qualifiers) > 0 || sel.Taxon != nil && sel.Taxon != e.Type.Taxon || !m.Compound(sel.Target, e, i) {
			return
		}
		tops = tops[:0]
		if len(sel.Structure) == 0 {
			tops = append(tops, int32(i))
		} else if !m.structure(sel.Structure, e, &tops) {
			return
		}
		for _, top := range tops {
			m.markAbove(above, done, top, child)
		}
	}
	if candidates == nil {
		for i := range m.count() {
			visit(i)
		}
	} else {
		for _, i := range candidates {
			visit(int(i))
		}
	}
	if m.has == nil {
		m.has = map[*registry.Selector]entitySet{}
	}
	m.has[sel] = above.compact()
}

// markAbove adds the parent of an entity, or all its ancestors, to above.
func (m *Matcher) markAbove(above, done Bits, i int32, child bool) {
	e := m.entity(i)
	if child {
		if e.Parent != NoParent {
			above.Add(int(e.Parent))
		}
		return
	}
	for at := e.Parent; at != NoParent && !done.Has(int(at)); at = m.entity(at).Parent {
		above.Add(int(at))
		done.Add(int(at))
	}
	it := m.groupsOf(e)
	for g := it.nextGroup(); g != NoParent; g = it.nextGroup() {
		above.Add(int(g))
	}
}
