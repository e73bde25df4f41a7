package cascade

import (
	"cmp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"umwelt/registry"
	"umwelt/world"
)

// Engine knows which rules of a bound view fit which entities of a world, whatever the
// context. It is not changed after it was made and is safe for many readers.
type Engine struct {
	world     *world.World
	bound     *registry.Bound
	selectors []*registry.Selector // of the rules, then of the fixed constraints
	plan      *plan
	matcher   *world.Matcher // to be forked, never used directly
	more      []world.Entity // of an extension: what follows the world's own entities
	lineage   *lineage
	ranked    *ranking
	sets      [][]int32 // distinct sets of selectors that fit one entity, each sorted
	class     []int32   // per entity, an index into classes
	classes   []class
	setSize   []int32    // how many entities a set fits
	types     []typeInfo // by EntityType.Index

	orderOnce sync.Once
	order     []int32 // all entities in vocabulary order, then by id

	loops    bool    // types follow one another in a circle
	sensible []int32 // the selectors that ask for descendants
	wary     bool    // some context qualifier does

	walkers sync.Pool // of *walker, for entities that are not in the world

	excess string // what of the matching is over its bounds, so that nothing may be resolved; "" for nothing

	callOnce sync.Once // calls is worked out when something follows another entity
	calls    map[phantom][]int32
}

// class is a set of entities that no property can tell apart: they have the same type,
// fit the same selectors and agree in the attributes that derivations read.
type class struct {
	typ   int32 // index into Engine.types
	set   int32
	first int32 // one of them: an entity
	next  int32 // another class of the same set, or -1
}

// New indexes a view over a world. The view must have been bound with the world's
// registry and without errors. Where rules and entities are too many together, the engine
// resolves nothing and says so.
func New(w *world.World, b *registry.Bound) *Engine { return newEngine(w, b, newBudget()) }

func newEngine(w *world.World, b *registry.Bound, limits *budget) *Engine {
	e := &Engine{world: w, bound: b}
	for _, r := range b.Rules {
		e.selectors = append(e.selectors, r.Selector)
	}
	for i := range w.Fixed {
		e.selectors = append(e.selectors, w.Fixed[i].Selector)
	}
	e.describeTypes()
	m := world.NewMatcher(w)
	e.plan = newPlan(e.selectors, m.Glob)
	e.prepareHas(m)
	e.matcher = m
	e.ranked = rank(b)
	e.matchAll(limits)
	return e
}

// World is the world that was indexed.
func (e *Engine) World() *world.World { return e.world }

// Bound is the view that was indexed.
func (e *Engine) Bound() *registry.Bound { return e.bound }

// entity is the entity of that index.
func (e *Engine) entity(i int) *world.Entity {
	if n := len(e.world.Entities); i >= n {
		return &e.more[i-n]
	}
	return &e.world.Entities[i]
}

// constraint is the fixed constraint that a selector belongs to; nil where it is a rule's.
func (e *Engine) constraint(s int32) *world.Fixed {
	k := int(s) - len(e.bound.Rules)
	if k < 0 || k >= len(e.world.Fixed) {
		return nil // the rules of an extension come after the constraints
	}
	return &e.world.Fixed[k]
}

// prepareHas works out every :has of the view, the innermost first, by the same kind of
// index that the view itself is matched with.
func (e *Engine) prepareHas(m *world.Matcher) {
	type job struct {
		sel   *registry.Selector
		child bool
		depth int
	}
	var jobs []job
	var visit func(c *registry.Compound, depth int)
	visitSelector := func(sel *registry.Selector, depth int) {
		visit(sel.Target, depth)
		for _, link := range sel.Structure {
			visit(link.Compound, depth)
		}
	}
	visit = func(c *registry.Compound, depth int) {
		for i := range c.Tests {
			t := &c.Tests[i]
			for k, sel := range t.Selectors {
				if t.Kind == registry.TestHas {
					jobs = append(jobs, job{sel, k < len(t.RelativeChild) && t.RelativeChild[k], depth})
				}
				visitSelector(sel, depth+1)
			}
		}
	}
	for i := range e.plan.compounds {
		visit(e.plan.compounds[i].bound, 0)
	}
	for _, rule := range e.bound.Rules {
		for _, q := range rule.Selector.Qualifiers {
			visit(q, 0)
		}
	}
	if len(jobs) == 0 {
		return
	}
	e.findSensible()
	slices.SortStableFunc(jobs, func(a, b job) int { return cmp.Compare(b.depth, a.depth) })
	alternatives := make([][][]indexKey, len(jobs))
	for i, j := range jobs {
		alternatives[i] = keysOf(j.sel.Target, m.Glob)
	}
	index := newCompoundIndex(chooseKeys(alternatives))
	candidates := make([][]int32, len(jobs))
	var found []int32
	for i := range e.world.Entities {
		found = index.candidates(found[:0], &e.world.Entities[i])
		for _, j := range found {
			if list := candidates[j]; len(list) == 0 || list[len(list)-1] != int32(i) {
				candidates[j] = append(list, int32(i))
			}
		}
	}
	for i, j := range jobs {
		if candidates[i] == nil {
			candidates[i] = []int32{}
		}
		m.PrepareHas(j.sel, j.child, candidates[i])
	}
}

// findSensible notes what an entity that comes to stand below others can change.
func (e *Engine) findSensible() {
	for s, sel := range e.selectors {
		if hasDescendantTest(sel.Target) || slices.ContainsFunc(sel.Structure, func(l registry.Link) bool { return hasDescendantTest(l.Compound) }) {
			e.sensible = append(e.sensible, int32(s))
		}
		e.wary = e.wary || slices.ContainsFunc(sel.Qualifiers, hasDescendantTest)
	}
}

// chunk is how many entities one goroutine matches at a time. Chunks are joined in order,
// so that the result does not depend on who did what.
const chunk = 4096

// matchAll finds the set of selectors that fit each entity: first those that have
// something below them, parents first, then the rest in parallel.
func (e *Engine) matchAll(limits *budget) {
	w := e.world
	n := len(w.Entities)
	e.lineage = newLineage(e.plan, w)
	inner := world.NewBits(n)
	for i := range w.Entities {
		if p := w.Entities[i].Parent; p != world.NoParent {
			inner.Add(int(p))
		}
		if w.Entities[i].Type.GroupAttr != "" {
			inner.Add(i)
		}
	}
	sets := newInterner() // of whole chains: selectors that are alike count once
	setOf := make([]int32, n)
	first := newWalker(e.plan, w, e.matcher)
	for i := range w.Entities {
		if inner.Has(i) {
			before := sets.size
			e.settle(int32(i), first, sets, setOf)
			limits.keep(sets.size - before)
			if limits.match(first); limits.over() {
				break
			}
		}
	}
	type part struct {
		leaves []int32
		sets   *interner
		local  []int32
	}
	var parts []*part
	var leaves []int32
	for i := range n {
		if !inner.Has(i) {
			leaves = append(leaves, int32(i))
		}
	}
	for from := 0; from < len(leaves); from += chunk {
		parts = append(parts, &part{leaves: leaves[from:min(from+chunk, len(leaves))]})
	}
	parallel(len(parts), func() func(int) {
		walk := newWalker(e.plan, w, e.matcher.Fork())
		return func(k int) {
			p := parts[k]
			p.sets, p.local = newInterner(), make([]int32, len(p.leaves))
			for j, i := range p.leaves {
				if limits.over() {
					return
				}
				ent := &w.Entities[i]
				walk.match(ent, int(i), e.lineage.of(ent, walk))
				before := p.sets.size
				p.local[j] = p.sets.intern(walk.whole)
				limits.keep(p.sets.size - before)
				limits.match(walk)
			}
		}
	})
	for _, p := range parts {
		if limits.over() {
			break
		}
		global := make([]int32, len(p.sets.lists))
		for k, list := range p.sets.lists {
			global[k] = sets.intern(list)
		}
		for j, i := range p.leaves {
			setOf[i] = global[p.local[j]]
		}
	}
	e.classify(setOf, len(sets.lists))
	if e.excess = limits.excess(e.values(sets.lists)); e.excess != "" {
		e.sets = make([][]int32, len(sets.lists))
		return
	}
	for _, chains := range sets.lists {
		e.sets = append(e.sets, e.plan.fitting(chains))
	}
}

// settle matches an entity that has others below it, after all that stand above it.
func (e *Engine) settle(i int32, walk *walker, sets *interner, setOf []int32) {
	var todo []int32
	for at := i; at != world.NoParent && e.lineage.states[at] == nil; at = e.world.Entities[at].Parent {
		todo = append(todo, at)
	}
	for k := len(todo) - 1; k >= 0; k-- {
		ent := &e.world.Entities[todo[k]]
		for _, g := range e.world.AppendGroups(nil, ent) {
			if e.lineage.states[g] == nil {
				e.settle(g, walk, sets, setOf) // groups lie in no groups
			}
		}
		in := e.lineage.of(ent, walk)
		walk.match(ent, int(todo[k]), in)
		setOf[todo[k]] = sets.intern(walk.whole)
		e.lineage.settle(todo[k], in, walk.own)
	}
}

// classify sorts entities into classes.
func (e *Engine) classify(setOf []int32, sets int) {
	head := make([]int32, sets)
	for i := range head {
		head[i] = -1
	}
	e.setSize = make([]int32, sets)
	byFacts := map[string]int32{}
	e.class = make([]int32, len(setOf))
	for i, set := range setOf {
		ent := &e.world.Entities[i]
		e.setSize[set]++
		typ := int32(ent.Type.Index)
		if facts := e.types[typ].facts; len(facts) > 0 {
			key := factsKey(ent, typ, set, facts)
			c, ok := byFacts[key]
			if !ok {
				c = int32(len(e.classes))
				e.classes = append(e.classes, class{typ: typ, set: set, first: int32(i), next: -1})
				byFacts[key] = c
			}
			e.class[i] = c
			continue
		}
		c := head[set]
		for c >= 0 && e.classes[c].typ != typ {
			c = e.classes[c].next
		}
		if c < 0 {
			c = int32(len(e.classes))
			e.classes = append(e.classes, class{typ: typ, set: set, first: int32(i), next: head[set]})
			head[set] = c
		}
		e.class[i] = c
	}
}

// sorted is every entity in vocabulary order and then by id, worked out on first use.
func (e *Engine) sorted() []int32 {
	e.orderOnce.Do(func() {
		e.order = make([]int32, len(e.world.Entities))
		for i := range e.order {
			e.order[i] = int32(i)
		}
		slices.SortFunc(e.order, func(a, b int32) int { return e.compare(int(a), int(b)) })
	})
	return e.order
}

// compare orders entities by vocabulary and then by id.
func (e *Engine) compare(a, b int) int {
	x, y := e.entity(a), e.entity(b)
	return cmp.Or(cmp.Compare(x.Type.Index, y.Type.Index), strings.Compare(x.ID, y.ID))
}

// parallel calls the functions that start makes, one per processor, with 0 to n-1.
func parallel(n int, start func() func(int)) {
	workers := min(runtime.GOMAXPROCS(0), n)
	if workers <= 1 {
		if n > 0 {
			work := start()
			for i := range n {
				work(i)
			}
		}
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		work := start()
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				work(i)
			}
		})
	}
	wg.Wait()
}
