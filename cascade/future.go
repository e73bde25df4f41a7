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
	paths  *whereabouts
	mu     sync.Mutex
	states map[int32]*futureState
	walk   *walker

	doors  map[int32][]int32      // per directory, the selectors whose literal path ends there
	rises  map[int32][]int32      // per chain, the settled selectors that it would make sure
	groups map[int32][]int32      // per directory, the groups of paths below it that do not exist
	middle []*registry.EntityType // the types that may stand between a directory and the entity
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
	asked  []sync.Once // per property
	found  []FutureValue
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
	if r.paths == nil {
		r.paths = newWhereabouts(r.engine.world)
	}
	e := r.engine
	f := &future{
		r: r, typ: t, info: &e.types[t.Index], paths: r.paths, states: map[int32]*futureState{},
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
		_, ok := f.paths.find(p)
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
		s.asked, s.found = make([]sync.Once, len(s.props)), make([]FutureValue, len(s.props))
	}
}
