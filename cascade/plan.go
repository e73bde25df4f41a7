package cascade

import (
	"slices"

	"umwelt/registry"
	"umwelt/world"
)

// plan is what the selectors of a view have in common, laid out for matching: every
// distinct compound once, and every distinct chain of compounds once, as a tree whose
// branches are read from the outermost compound to the target.
type plan struct {
	compounds []compound
	nodes     []node
	index     *compoundIndex
	end       []int32 // per selector, the chain that is all of it; noNode where it never fits
}

// compound is one distinct compound and what hangs on it.
type compound struct {
	bound *registry.Compound
	taxon *registry.Taxon // nil for any
	nodes []int32         // the chains that end in it and are found by it
	rank  keyKind
	uses  int
}

// node is a chain of compounds: parent's chain, then the compound, joined as child or
// descendant. Whether the chain fits an entity follows from the compound fitting the
// entity and the parent chain fitting an ancestor (or the parent).
type node struct {
	compound int32
	parent   int32 // -1 for a chain of one
	child    bool
	leads    bool    // other chains go on from here
	ends     []int32 // the selectors whose whole chain this is
	below    []int32 // the chains that go on from here and are found by it
	kids     int
}

// noNode stands for no parent.
const noNode int32 = -1

// newPlan lays out selectors; ids in node.ends are indices into it.
func newPlan(selectors []*registry.Selector, glob func(string) world.Glob) *plan {
	p := &plan{}
	known := map[string]int32{}
	var buf []byte
	add := func(c *registry.Compound, taxon *registry.Taxon) int32 {
		if c.Type != nil {
			taxon = nil // the type says it
		}
		n := -1
		if taxon != nil {
			n = taxon.Index
		}
		buf = append(buf[:0], byte(n), byte(n>>8))
		buf = fingerprint(buf, c)
		if i, ok := known[string(buf)]; ok {
			return i
		}
		i := int32(len(p.compounds))
		known[string(buf)] = i
		p.compounds = append(p.compounds, compound{bound: c, taxon: taxon})
		return i
	}
	type step struct {
		parent, compound int32
		child            bool
	}
	chains := map[step]int32{}
	extend := func(s step) int32 {
		if i, ok := chains[s]; ok {
			return i
		}
		i := int32(len(p.nodes))
		chains[s] = i
		p.nodes = append(p.nodes, node{compound: s.compound, parent: s.parent, child: s.child})
		if s.parent != noNode {
			p.nodes[s.parent].leads = true
		}
		return i
	}
	p.end = make([]int32, len(selectors))
	for i, sel := range selectors {
		if sel.Never {
			p.end[i] = noNode
			continue
		}
		at, child := noNode, false
		for k := len(sel.Structure) - 1; k >= 0; k-- {
			link := sel.Structure[k]
			at = extend(step{at, add(link.Compound, nil), child})
			child = link.Child
		}
		at = extend(step{at, add(sel.Target, sel.Taxon), child})
		p.nodes[at].ends = append(p.nodes[at].ends, int32(i))
		p.end[i] = at
	}
	p.hang(glob)
	return p
}

// fitting are the selectors whose whole chains these are, sorted.
func (p *plan) fitting(chains []int32) []int32 {
	n := 0
	for _, c := range chains {
		n += len(p.nodes[c].ends)
	}
	out := make([]int32, 0, n)
	for _, c := range chains {
		out = append(out, p.nodes[c].ends...)
	}
	if len(chains) > 1 {
		slices.Sort(out)
	}
	return out
}

// hang decides for each chain by what it is found: by its last compound, or by the chain
// before it, whichever leads to fewer others.
func (p *plan) hang(glob func(string) world.Glob) {
	alternatives := make([][][]indexKey, len(p.compounds))
	for i := range p.compounds {
		alternatives[i] = keysOf(p.compounds[i].bound, glob)
	}
	keys := chooseKeys(alternatives)
	for i, set := range keys {
		p.compounds[i].rank = worst(set)
	}
	best := make([]keyKind, len(p.nodes)) // of the whole chain
	for i := range p.nodes {
		n := &p.nodes[i]
		best[i] = p.compounds[n.compound].rank
		if n.parent != noNode {
			p.compounds[n.compound].uses++
			p.nodes[n.parent].kids++
			best[i] = min(best[i], best[n.parent])
		}
	}
	// A chain that only says a type or class is found under half of all entities.
	weight := func(k keyKind) int {
		switch {
		case k <= keyContains:
			return 1
		case k <= keyClass:
			return 8
		}
		return 64
	}
	for i := range p.nodes {
		n := &p.nodes[i]
		c := &p.compounds[n.compound]
		if n.parent == noNode || c.uses*weight(c.rank) <= p.nodes[n.parent].kids*weight(best[n.parent]) {
			c.nodes = append(c.nodes, int32(i))
		} else {
			p.nodes[n.parent].below = append(p.nodes[n.parent].below, int32(i))
		}
	}
	// A compound that no chain is found by needs no key.
	for i := range keys {
		if len(p.compounds[i].nodes) == 0 {
			keys[i] = nil
		}
	}
	p.index = newCompoundIndex(keys)
}
