package cascade

import (
	"slices"
	"strings"
	"sync"

	"umwelt/registry"
	"umwelt/world"
)

// future knows what rules say of entities of one type that do not exist yet, directory by
// directory. What a rule settles for a directory holds for all below it, so each directory
// looks only at what its parent left unsettled and at the rules whose paths lead to it.
type future struct {
	r      *Resolution
	typ    *registry.EntityType
	info   *typeInfo
	shared *futureShared
	mu     sync.Mutex
	states map[int32]*futureState
	walk   *walker

	doors  map[int32][]int32      // per directory, the selectors whose literal path ends there
	rises  map[int32][]int32      // per chain, the settled selectors that it would make sure
	groups map[int32][]int32      // per directory, the groups of paths below it that do not exist
	middle []*registry.EntityType // the types that may stand between a directory and the entity
}

// futureShared is what the futures of all types have in common.
type futureShared struct {
	paths map[string]int32 // every path that exists
}

// Keys in place of a directory's index: what lies above the root, and what exists and is
// left out of the world, below which nothing is made.
const (
	outermost int32 = -1
	withheld  int32 = -2
)

// futureState is what is known of entities to be made below one directory.
type futureState struct {
	at    unseen
	in    *inheritance
	props []*futureProp // what is settled
	fixed [3][]int32    // the fixed constraints that are settled, by truth
	watch *watch        // what is not settled, as it stands here
	extra []int32       // selectors that may apply here and, as far as they say, nowhere below
	same  *futureState  // the state whose answers are the same; itself where it has its own

	once   []sync.Once // per property
	values []futureValues
}

// futureProp is the settled candidates of one property, in order of precedence.
type futureProp struct {
	sure, maybe []int32
}

// watch is selectors that each directory has to look at again, with what they come to in
// one of them.
type watch struct {
	selectors []int32
	truths    []truth
}

// futureOf is the future of a type, made on first use.
func (r *Resolution) futureOf(t *registry.EntityType) *future {
	r.mu.Lock()
	defer r.mu.Unlock()
	if f := r.futures[t]; f != nil {
		return f
	}
	if r.shared == nil {
		r.shared = &futureShared{paths: map[string]int32{}}
		for i := range r.engine.world.Entities {
			if path := pathOf(&r.engine.world.Entities[i]); path != "" {
				if _, taken := r.shared.paths[path]; !taken {
					r.shared.paths[path] = int32(i)
				}
			}
		}
		for i := range r.engine.world.Withheld {
			path := pathOf(&r.engine.world.Withheld[i])
			if _, taken := r.shared.paths[path]; !taken && path != "" {
				r.shared.paths[path] = withheld
			}
		}
	}
	e := r.engine
	f := &future{
		r: r, typ: t, info: &e.types[t.Index], shared: r.shared, states: map[int32]*futureState{},
		walk:  newWalker(e.plan, e.world, e.matcher.Fork()),
		doors: map[int32][]int32{}, rises: map[int32][]int32{}, groups: map[int32][]int32{},
	}
	for _, name := range t.Parents {
		for _, u := range e.bound.Registry.TypesNamed(name) {
			if u.Taxon == t.Taxon && u.PathAttr != "" {
				f.middle = append(f.middle, u)
			}
		}
	}
	f.findDoors()
	r.futures[t] = f
	return f
}

// pathOf is an entity's path without a leading "./" or a final "/", "" for none.
func pathOf(e *world.Entity) string {
	path := strings.TrimPrefix(e.Path(), "./")
	if len(path) > 1 {
		path = strings.TrimSuffix(path, "/")
	}
	if path == "." {
		return ""
	}
	return path
}

// findDoors sorts the selectors that can matter by the deepest existing directory on the
// path that they spell out: above it they fit nothing new.
func (f *future) findDoors() {
	e := f.r.engine
	for s, sel := range e.selectors {
		if e.plan.end[s] == noNode || !f.r.holds[s] || sel.Target.Type != nil && sel.Target.Type != f.typ ||
			sel.Taxon != nil && sel.Taxon != f.typ.Taxon {
			continue
		}
		lead := f.spelled(sel.Target, f.typ, false)
		for _, link := range sel.Structure {
			for _, u := range f.middle {
				if more := f.spelled(link.Compound, u, true); len(more) > len(lead) && (link.Compound.Type == nil || link.Compound.Type == u) && len(f.middle) == 1 {
					lead = more
				}
			}
		}
		door := f.deepest(lead)
		f.doors[door] = append(f.doors[door], int32(s))
	}
	for _, i := range e.world.GroupEntities() {
		ent := &e.world.Entities[i]
		text, _ := ent.Attr(ent.Type.GroupAttr)
		root := strings.TrimSuffix(strings.TrimPrefix(text, "./"), "/")
		if door := f.deepest(root); ent.Type.Taxon == f.typ.Taxon && root != "" && root != "." && (door < 0 || pathOf(&e.world.Entities[door]) != root) {
			f.groups[door] = append(f.groups[door], i)
		}
	}
}

// deepest is the deepest existing directory that a path leads through, or outermost.
func (f *future) deepest(path string) int32 {
	for path != "" {
		if i, ok := f.shared.paths[path]; ok {
			return i
		}
		path = path[:max(0, strings.LastIndexByte(path, '/'))]
	}
	return outermost
}

// spelled is a directory that the path of whatever a compound fits must lie in, as far as
// the compound spells it out; above says that the compound fits a directory above.
func (f *future) spelled(c *registry.Compound, typ *registry.EntityType, above bool) string {
	lead := ""
	for i := range c.Tests {
		t := &c.Tests[i]
		path, whole := "", false
		switch {
		case t.Kind == registry.TestID && t.Classes == 0 && typ.PathAttr != "" && strings.Contains(t.Value, "/"):
			path, whole = t.Value, true
		case t.Kind == registry.TestAttr && t.Attr == typ.PathAttr && !t.Fold && t.Op == "=":
			path, whole = t.Value, true
		case t.Kind == registry.TestAttr && t.Attr == typ.PathAttr && !t.Fold && t.Op == "^=":
			path = t.Value
		case t.Kind == registry.TestGlob:
			path, whole = f.walk.matcher.Glob(t.Value).LiteralPrefix()
		}
		path = strings.TrimPrefix(path, "./")
		if !whole || !above {
			path = path[:max(0, strings.LastIndexByte(path, '/'))]
		}
		if len(path) > len(lead) {
			lead = path
		}
	}
	return lead
}

// state is what is known below a directory; f.mu is held.
func (f *future) state(dir int32) *futureState {
	if s := f.states[dir]; s != nil {
		return s
	}
	e := f.r.engine
	var s *futureState
	if dir == outermost {
		s = f.newState(nil, "", nothing)
		f.look(s, nil, f.doors[outermost], f.groups[outermost])
	} else {
		above := f.state(e.world.Entities[dir].Parent)
		path := pathOf(&e.world.Entities[dir])
		if path != "" {
			path += "/"
		}
		ent := world.Entity{Type: f.typ, Parent: dir}
		if f.typ.PathAttr != "" {
			ent.Attributes = []world.Attribute{{Name: f.typ.PathAttr, Text: path + "\x00"}}
		}
		in := e.lineageOf(&ent, f.walk)
		doors := f.doors[dir]
		if !strings.HasPrefix(path, above.at.dir) || path == above.at.dir && path != "" {
			// The directory does not lie where its parent does, so nothing is inherited.
			above, doors = nil, nil
			for _, list := range f.doors {
				doors = append(doors, list...)
			}
			slices.Sort(doors)
		}
		s = f.newState(above, path, in)
		groups := f.groups[dir]
		if path == "" {
			groups = append(slices.Clip(groups), f.groups[outermost]...)
		}
		f.look(s, above, doors, groups)
	}
	f.states[dir] = s
	return s
}

// newState is what a directory takes over from the one above it. What above has settled
// stays, and a selector of which only the left part was missing is settled where an
// existing ancestor now fits that.
func (f *future) newState(above *futureState, path string, in *inheritance) *futureState {
	s := &futureState{in: in, watch: &watch{}}
	s.at = unseen{typ: f.typ, dir: path, glob: f.walk.matcher.Glob, exists: func(p string) bool {
		_, ok := f.shared.paths[p]
		return ok
	}}
	if above == nil {
		s.props = make([]*futureProp, len(f.info.typ.Properties))
		for i := range s.props {
			s.props[i] = &futureProp{}
		}
		return s
	}
	s.props, s.fixed, s.watch, s.same = above.props, above.fixed, above.watch, above.same
	return s
}

// look decides what the directory above left open and the selectors whose path leads here.
func (f *future) look(s, above *futureState, doors, groups []int32) {
	var news [3][]int32 // what is settled from here on, by truth
	if above != nil {
		for _, n := range s.in.active {
			if _, known := slices.BinarySearch(above.in.active, n); !known {
				for _, sel := range f.rises[n] {
					t := s.at.compound(f.r.engine.selectors[sel].Target).truth
					news[t] = append(news[t], sel)
				}
			}
		}
	}
	grouped := f.groupChains(groups)
	var kept watch
	changed := false
	for i, sel := range s.watch.selectors {
		v := f.decide(s, sel, grouped)
		if v.settled {
			news[v.truth] = append(news[v.truth], sel)
			changed = true
			continue
		}
		kept.selectors, kept.truths = append(kept.selectors, sel), append(kept.truths, v.truth)
		changed = changed || v.truth != s.watch.truths[i]
	}
	for _, sel := range doors {
		v, known := f.staticStructure(s, sel)
		if !known {
			v = f.decide(s, sel, grouped)
		}
		if v.settled {
			news[v.truth] = append(news[v.truth], sel)
			continue
		}
		kept.selectors, kept.truths = append(kept.selectors, sel), append(kept.truths, v.truth)
		changed = true
	}
	for _, n := range grouped {
		for _, sel := range f.rises[n] {
			if s.at.compound(f.r.engine.selectors[sel].Target).truth != no {
				s.extra = append(s.extra, sel)
			}
		}
	}
	if changed {
		s.watch = &kept
	}
	if changed = f.settle(s, news) || changed || len(s.extra) > 0; changed || s.same == nil || len(s.same.extra) > 0 {
		s.same = s
		s.once, s.values = make([]sync.Once, len(s.props)), make([]futureValues, len(s.props))
	}
}

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
