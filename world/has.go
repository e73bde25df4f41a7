package world

import "umwelt/registry"

// Bits is a set of entities by index.
type Bits []uint64

// NewBits makes an empty set with room for n entities.
func NewBits(n int) Bits { return make(Bits, (n+63)/64) }

// Has reports whether i is in the set.
func (b Bits) Has(i int) bool { return b[i>>6]&(1<<(i&63)) != 0 }

// Add puts i into the set.
func (b Bits) Add(i int) { b[i>>6] |= 1 << (i & 63) }

// hasBits is the set of entities that ":has(sel)" fits, worked out on first use.
func (m *Matcher) hasBits(sel *registry.Selector, child bool) Bits {
	bits, ok := m.has[sel]
	if !ok {
		bits = m.PrepareHas(sel, child, nil)
	}
	return bits
}

// PrepareHas works out the set of entities that ":has(sel)" fits and keeps it. child says
// that what sel begins with must be a child and not any descendant. candidates are the
// only entities that the target of sel can fit; nil stands for all.
func (m *Matcher) PrepareHas(sel *registry.Selector, child bool, candidates []int32) Bits {
	bits := NewBits(len(m.w.Entities))
	done := NewBits(len(m.w.Entities)) // this entity and its parents are in bits
	var tops []int32
	visit := func(i int) {
		e := &m.w.Entities[i]
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
			m.markAbove(bits, done, top, child)
		}
	}
	if candidates == nil {
		for i := range m.w.Entities {
			visit(i)
		}
	} else {
		for _, i := range candidates {
			visit(int(i))
		}
	}
	m.own()
	m.has[sel] = bits
	return bits
}

// markAbove adds the parent of an entity, or all its ancestors, to bits.
func (m *Matcher) markAbove(bits, done Bits, i int32, child bool) {
	e := &m.w.Entities[i]
	if child {
		if e.Parent != NoParent {
			bits.Add(int(e.Parent))
		}
		return
	}
	for at := e.Parent; at != NoParent && !done.Has(int(at)); at = m.w.Entities[at].Parent {
		bits.Add(int(at))
		done.Add(int(at))
	}
	it := m.w.groupsOf(e)
	for g := it.nextGroup(); g != NoParent; g = it.nextGroup() {
		bits.Add(int(g))
	}
}
