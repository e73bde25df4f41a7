package cascade

import (
	"math"
	"slices"

	"umwelt/world"
)

// inheritance is what an entity's ancestors settle for it: the chains that fit some
// ancestor, those that fit the parent, and the chains that may go on in the entity and are
// found by what they go on from. Lists are sorted by node.
type inheritance struct {
	active, above, kids []int32
}

// walker matches entities one by one. It belongs to one goroutine.
type walker struct {
	plan    *plan
	world   *world.World
	matcher *world.Matcher
	// verdicts remembers per compound whether it fits the current entity: the round,
	// doubled, plus 1 where it fits.
	verdicts []uint32
	round    uint32
	found    []int32 // scratch: candidate compounds
	own      []int32 // the chains that fit the current entity and lead on, sorted
	whole    []int32 // the chains that are all of some selector and fit the current entity, sorted
	groups   []int32 // scratch
}

func newWalker(p *plan, w *world.World, m *world.Matcher) *walker {
	return &walker{plan: p, world: w, matcher: m, verdicts: make([]uint32, len(p.compounds))}
}

// match fills own and whole for an entity; i is -1 where it is not in the world.
func (w *walker) match(e *world.Entity, i int, in *inheritance) {
	w.own, w.whole = w.own[:0], w.whole[:0]
	if w.round >= math.MaxUint32-2 {
		clear(w.verdicts) // what is remembered of early rounds would look like new
		w.round = 0
	}
	w.round += 2
	w.found = w.plan.index.candidates(w.found[:0], e)
	for _, c := range w.found {
		if w.verdicts[c]&^1 == w.round || !w.fits(c, e, i) {
			continue
		}
		for _, n := range w.plan.compounds[c].nodes {
			parent := w.plan.nodes[n].parent
			if parent != noNode {
				from := in.active
				if w.plan.nodes[n].child {
					from = in.above
				}
				if _, ok := slices.BinarySearch(from, parent); !ok {
					continue
				}
			}
			w.hit(n)
		}
	}
	for _, n := range in.kids {
		if w.fits(w.plan.nodes[n].compound, e, i) {
			w.hit(n)
		}
	}
	slices.Sort(w.own)
	slices.Sort(w.whole)
}

func (w *walker) hit(n int32) {
	node := &w.plan.nodes[n]
	if len(node.ends) > 0 {
		w.whole = append(w.whole, n)
	}
	if node.leads {
		w.own = append(w.own, n)
	}
}

// fits is the verdict on a compound, worked out once per entity.
func (w *walker) fits(c int32, e *world.Entity, i int) bool {
	if v := w.verdicts[c]; v&^1 == w.round {
		return v&1 == 1
	}
	cp := &w.plan.compounds[c]
	ok := (cp.taxon == nil || cp.taxon == e.Type.Taxon) && w.matcher.Compound(cp.bound, e, i)
	w.verdicts[c] = w.round
	if ok {
		w.verdicts[c]++
	}
	return ok
}

// lineage works out inheritances. It is filled for all entities that have something below
// them, then only read.
type lineage struct {
	plan   *plan
	world  *world.World
	states []*lineState // per entity; nil where nothing lies below it
	shared map[[2]int32]*inheritance
	lists  *interner
}

// lineState is what an entity passes down.
type lineState struct {
	own  []int32
	down *inheritance // for its children, groups left aside
}

var nothing = &inheritance{}

func newLineage(p *plan, w *world.World) *lineage {
	return &lineage{plan: p, world: w, states: make([]*lineState, len(w.Entities)), shared: map[[2]int32]*inheritance{}, lists: newInterner()}
}

// of is what entity e is matched with. Its parent and groups must be settled.
func (l *lineage) of(e *world.Entity, w *walker) *inheritance {
	in := nothing
	if e.Parent != world.NoParent {
		in = l.states[e.Parent].down
	}
	return l.withGroups(in, e, w)
}

// withGroups adds what the groups of e settle for it.
func (l *lineage) withGroups(in *inheritance, e *world.Entity, w *walker) *inheritance {
	w.groups = w.matcher.AppendGroups(w.groups[:0], e)
	if len(w.groups) == 0 {
		return in
	}
	var more []int32
	for _, g := range w.groups {
		more = append(more, l.states[g].own...)
	}
	if active := merge(in.active, more); len(active) > len(in.active) {
		return l.plan.inherit(active, in.above)
	}
	return in
}

// settle records what an entity passes down, given what it was matched with.
func (l *lineage) settle(i int32, in *inheritance, own []int32) {
	own = l.lists.lists[l.lists.intern(own)]
	active := merge(in.active, own)
	key := [2]int32{l.lists.intern(active), l.lists.intern(own)}
	down := l.shared[key]
	if down == nil {
		down = l.plan.inherit(l.lists.lists[key[0]], own)
		l.shared[key] = down
	}
	l.states[i] = &lineState{own: own, down: down}
}

// inherit collects the chains that may go on below.
func (p *plan) inherit(active, above []int32) *inheritance {
	in := &inheritance{active: active, above: above}
	for _, n := range active {
		for _, kid := range p.nodes[n].below {
			if !p.nodes[kid].child {
				in.kids = append(in.kids, kid)
			}
		}
	}
	for _, n := range above {
		for _, kid := range p.nodes[n].below {
			if p.nodes[kid].child {
				in.kids = append(in.kids, kid)
			}
		}
	}
	return in
}

// merge is the sorted union of a sorted list and another list. It is a itself where b
// brings nothing new.
func merge(a, b []int32) []int32 {
	fresh := false
	for _, v := range b {
		if _, ok := slices.BinarySearch(a, v); !ok {
			fresh = true
			break
		}
	}
	if !fresh {
		return a
	}
	out := append(slices.Clone(a), b...)
	slices.Sort(out)
	return slices.Compact(out)
}
