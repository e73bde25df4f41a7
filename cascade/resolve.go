package cascade

import (
	"cmp"
	"slices"
	"sync"

	"umwelt/diag"
	"umwelt/registry"
	"umwelt/world"
)

// Resolution is every answer of one view over one world in one context. It is not changed
// after it was made and is safe for many readers at once.
type Resolution struct {
	engine  *Engine
	refs    []Ref // what the caller named as active
	context []int
	holds   []bool // per selector: its qualifiers hold
	open    []bool // per selector: nothing active could meet a qualifier
	table   []*Effective
	offset  []int32    // per class, where its properties begin in table
	matched []int32    // per selector
	more    *extension // what it was extended with; nil where it is complete in itself

	mu      sync.Mutex
	futures map[*registry.EntityType]*future
	paths   *whereabouts
}

// Resolve answers everything for one context. An error in the list means that the context
// cannot be had, and the resolution is then nil.
func (e *Engine) Resolve(context []Ref) (*Resolution, diag.List) {
	active, list := e.activate(context)
	if list = append(list, e.Usable()...); list.HasErrors() {
		return nil, list
	}
	r := &Resolution{engine: e, refs: slices.Clone(context), context: active, futures: map[*registry.EntityType]*future{}}
	r.holds, r.open = e.decideQualifiers(e.selectors, active, e.matcher.Fork())
	r.countMatches()
	loosened := r.fill()
	return r, append(list, loosened...)
}

// World is the world that was resolved.
func (r *Resolution) World() *world.World {
	if r.more != nil && len(r.engine.more) > 0 {
		return r.more.complete().World()
	}
	return r.engine.world
}

// Bound is the view that was resolved.
func (r *Resolution) Bound() *registry.Bound {
	if r.more != nil {
		return r.more.bound()
	}
	return r.engine.bound
}

// Registry is the vocabulary of both.
func (r *Resolution) Registry() *registry.Registry { return r.engine.bound.Registry }

// Engine is the index that the resolution was made with; it resolves other contexts.
func (r *Resolution) Engine() *Engine { return r.Complete().engine }

// Context is the active entities, as indices into World.Entities, in vocabulary order.
func (r *Resolution) Context() []int { return r.context }

// Order is every entity, as indices into World.Entities, in vocabulary order and then by
// id. It must not be written to.
func (r *Resolution) Order() []int32 { return r.Complete().engine.sorted() }

// Len is how many entities there are.
func (r *Resolution) Len() int { return len(r.engine.world.Entities) + len(r.engine.more) }

// Entity is the entity of an index into World.Entities. It must not be written to.
func (r *Resolution) Entity(i int) *world.Entity { return r.engine.entity(i) }

// Find is the index of an entity, or -1.
func (r *Resolution) Find(t *registry.EntityType, id string) int {
	if i := r.engine.world.Find(t, id); i >= 0 || r.more == nil {
		return i
	}
	for _, i := range r.more.names[phantom{t, id}] {
		if r.engine.entity(int(i)).ID == id {
			return int(i)
		}
	}
	return -1
}

// Holds reports whether all context qualifiers of a rule hold.
func (r *Resolution) Holds(rule *registry.Rule) bool { return r.held(r.engine.selector(rule)) }

// Open reports whether a rule has a qualifier of a type of which no entity is active, so
// that the context leaves it undecided. Such a rule does not hold.
func (r *Resolution) Open(rule *registry.Rule) bool {
	s := r.engine.selector(rule)
	if k := int(s) - len(r.open); k >= 0 {
		return r.more.open[k]
	}
	return r.open[s]
}

// held reports whether the qualifiers of a selector hold.
func (r *Resolution) held(s int32) bool {
	if k := int(s) - len(r.holds); k >= 0 {
		return r.more.holds[k]
	}
	return r.holds[s]
}

// selector is the selector of a rule. Those of an extension come after the constraints'.
func (e *Engine) selector(rule *registry.Rule) int32 {
	if rule.Index < len(e.bound.Rules) {
		return int32(rule.Index)
	}
	return int32(rule.Index + len(e.world.Fixed))
}

// Matched is how many entities a rule's selector fits, its qualifiers left aside.
func (r *Resolution) Matched(rule *registry.Rule) int { return int(r.Complete().matched[rule.Index]) }

// Rules are the rules whose selectors fit an entity, in order of appearance, whether or
// not their qualifiers hold.
func (r *Resolution) Rules(entity int) []*registry.Rule {
	if r.more != nil {
		return r.more.rules(entity)
	}
	var out []*registry.Rule
	for _, s := range r.engine.sets[r.engine.classes[r.engine.class[entity]].set] {
		if int(s) < len(r.engine.bound.Rules) {
			out = append(out, r.engine.bound.Rules[s])
		}
	}
	return out
}

// Get is the answer for one property of one entity. Where the entity's type does not have
// the property it is the zero Effective. It does not allocate.
func (r *Resolution) Get(entity int, p *registry.Property) Effective {
	if r.more != nil {
		return r.more.get(entity, p)
	}
	c := r.engine.class[entity]
	if r.engine.types[r.engine.classes[c].typ].typ != p.Entity {
		return Effective{}
	}
	return *r.table[int(r.offset[c])+p.Index]
}

func (r *Resolution) countMatches() {
	r.matched = make([]int32, len(r.engine.selectors))
	for set, list := range r.engine.sets {
		for _, s := range list {
			r.matched[s] += r.engine.setSize[set]
		}
	}
}

// fill works out the answers of every class, those of types that follow other entities
// last, and returns what locks kept out.
func (r *Resolution) fill() diag.List {
	e := r.engine
	r.offset = make([]int32, len(e.classes))
	size := 0
	var late []int
	for i, c := range e.classes {
		r.offset[i] = int32(size)
		size += len(e.types[c.typ].typ.Properties)
		if e.types[c.typ].through {
			late = append(late, i)
		}
	}
	r.table = make([]*Effective, size)
	var mu sync.Mutex
	dropped := map[[2]int32]bool{}
	report := func(c, lock int32) {
		// A candidate that the lock outranks anyway is no attempt.
		if c < lock {
			mu.Lock()
			dropped[[2]int32{c, lock}] = true
			mu.Unlock()
		}
	}
	const block = 256
	parallel((len(e.classes)+block-1)/block, func() func(int) {
		v := &evaluation{r: r, dropped: report}
		return func(k int) {
			for i := k * block; i < min((k+1)*block, len(e.classes)); i++ {
				if !e.types[e.classes[i].typ].through {
					v.class(i)
				}
			}
		}
	})
	if len(late) > 0 {
		peers := &peers{r: r, dropped: report, begun: map[int]bool{}, phantoms: map[phantom][]*Effective{}}
		for _, i := range late {
			peers.settle(i)
		}
	}
	return r.loosened(dropped)
}

func (r *Resolution) loosened(dropped map[[2]int32]bool) diag.List {
	pairs := make([][2]int32, 0, len(dropped))
	for pair := range dropped {
		pairs = append(pairs, pair)
	}
	ranked := r.engine.ranked
	slices.SortFunc(pairs, func(a, b [2]int32) int {
		return cmp.Or(
			cmp.Compare(ranked.candidates[a[0]].Declaration.Order, ranked.candidates[b[0]].Declaration.Order),
			cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
	})
	var list diag.List
	for _, pair := range pairs {
		c, lock := &ranked.candidates[pair[0]], &ranked.candidates[pair[1]]
		d := list.Warnf(diag.Loosened, c.Declaration.At, "%s is locked, and this would loosen it, so it is dropped", c.Declaration.Name)
		d.Related = []diag.Related{{Span: lock.Declaration.At, Message: "it is locked here"}}
	}
	return list
}

// class works out the answers of class i.
func (v *evaluation) class(i int) {
	e := v.r.engine
	c := e.classes[i]
	v.begin(&e.types[c.typ], &e.world.Entities[c.first], e.sets[c.set])
	from := int(v.r.offset[i])
	copy(v.r.table[from:], v.all())
}

// ResolveEntity answers for an entity that need not be in the world, such as a file to be
// made: its Parent is an index into the world or world.NoParent. The result is by
// Property.Index of its type.
func (r *Resolution) ResolveEntity(ent *world.Entity) []*Effective {
	if r.more != nil {
		return r.more.resolveEntity(ent)
	}
	e := r.engine
	v := &evaluation{r: r, peers: &peers{r: r, phantoms: map[phantom][]*Effective{}}}
	v.begin(&e.types[ent.Type.Index], ent, e.fitting(ent))
	return slices.Clone(v.all())
}

// fitting is the sorted set of selectors that fit an entity that need not be in the world.
func (e *Engine) fitting(ent *world.Entity) []int32 {
	w, ok := e.walkers.Get().(*walker)
	if !ok {
		w = newWalker(e.plan, e.world, e.matcher.Fork())
	}
	defer e.walkers.Put(w)
	w.match(ent, -1, e.lineageOf(ent, w))
	return e.plan.fitting(w.whole)
}

// lineageOf is what an entity outside the world is matched with. A parent that had nothing
// below it so far has no recorded state yet; it is worked out anew and not kept.
func (e *Engine) lineageOf(ent *world.Entity, w *walker) *inheritance {
	if ent.Parent == world.NoParent || e.lineage.states[ent.Parent] != nil {
		return e.lineage.of(ent, w)
	}
	parent := &e.world.Entities[ent.Parent]
	in := e.lineage.of(parent, w)
	w.match(parent, int(ent.Parent), in)
	own := slices.Clone(w.own)
	down := e.plan.inherit(merge(in.active, own), own)
	return e.lineage.withGroups(down, ent, w)
}
