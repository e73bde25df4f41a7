package cascade

import (
	"slices"
	"sync"
	"sync/atomic"

	"umwelt/diag"
	"umwelt/registry"
	"umwelt/world"
)

// extension is what a resolution holds beside the one that it extends. Answers are worked
// out one by one under mu and kept in pages, where they are read without it.
type extension struct {
	base     *Resolution // complete in itself
	added    []*registry.Rule
	entities []world.Entity
	bound    func() *registry.Bound // the views of both as one
	r        *Resolution            // the extended one

	holds, open []bool                 // per added rule
	same        bool                   // base's selectors hold as they do in base
	names       map[phantom][]int32    // the added entities by id and name
	targets     *compoundIndex         // of the added rules
	pages       []atomic.Pointer[page] // rows by entity

	mu     sync.Mutex
	walk   *walker
	sets   *interner
	rows   map[[2]int32]*row // by class and set
	absent map[phantom][]*Effective
	passed map[int32]*inheritance // what added entities pass down
	found  []int32

	wholeOnce sync.Once
	whole     *Resolution
}

// row is the answers for one entity, or for all of a class that the same selectors fit.
type row struct {
	set    []int32
	values []*Effective
}

type page [pageSize]atomic.Pointer[row]

const pageSize = 1024

// begin makes the extended resolution, with no answer worked out yet.
func (x *extension) begin() (*Resolution, diag.List) {
	old := x.base.engine
	e := &Engine{
		world: old.world, bound: old.bound, selectors: old.selectors, plan: old.plan, matcher: old.matcher.Extend(x.entities),
		more: x.entities, lineage: old.lineage, ranked: rankAmong(old.ranked, x.added, int32(len(old.selectors))),
		sets: old.sets, class: old.class, classes: old.classes, types: old.types, sensible: old.sensible,
	}
	r := &Resolution{engine: e, refs: x.base.refs, context: x.base.context, holds: x.base.holds, open: x.base.open, more: x}
	x.r, x.same = r, true
	var list diag.List
	if x.stirs() {
		if r.context, list = e.activate(r.refs); list.HasErrors() {
			return nil, list
		}
	}
	m := e.matcher.Fork()
	if !slices.Equal(r.context, x.base.context) || old.wary && len(x.entities) > 0 {
		r.holds, r.open = e.decideQualifiers(e.selectors, r.context, m)
		x.same = slices.Equal(r.holds, x.base.holds)
	}
	selectors := make([]*registry.Selector, len(x.added))
	keys := make([][][]indexKey, len(x.added))
	for i, rule := range x.added {
		selectors[i], keys[i] = rule.Selector, keysOf(rule.Selector.Target, m.Glob)
	}
	x.holds, x.open = e.decideQualifiers(selectors, r.context, m)
	x.targets = newCompoundIndex(chooseKeys(keys))
	x.pages = make([]atomic.Pointer[page], (r.Len()+pageSize-1)/pageSize)
	x.names = map[phantom][]int32{}
	for k := range x.entities {
		ent, i := &x.entities[k], int32(len(old.world.Entities)+k)
		id := phantom{ent.Type, ent.ID}
		x.names[id] = append(x.names[id], i)
		if text, ok := ent.Fact("name"); ok && text != ent.ID {
			id.id = text
			x.names[id] = append(x.names[id], i)
		}
	}
	return r, list
}

// stirs reports whether an added entity may change what is active.
func (x *extension) stirs() bool {
	return slices.ContainsFunc(x.entities, func(e world.Entity) bool {
		name, _ := e.Fact("name")
		return e.Type.SoleActive || slices.ContainsFunc(x.base.refs, func(ref Ref) bool { return ref.ID == e.ID || ref.ID == name })
	})
}

// row is the answers for an entity of the world or an added one.
func (x *extension) row(i int) *row {
	if p := x.pages[i/pageSize].Load(); p != nil {
		if row := p[i%pageSize].Load(); row != nil {
			return row
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.settle(i)
}

// settle is row with mu held.
func (x *extension) settle(i int) *row {
	p := x.pages[i/pageSize].Load()
	if p == nil {
		p = &page{}
		x.pages[i/pageSize].Store(p)
	}
	row := p[i%pageSize].Load()
	if row == nil {
		row = x.work(i)
		p[i%pageSize].Store(row)
	}
	return row
}

func (x *extension) work(i int) *row {
	x.prepare()
	e := x.r.engine
	ent := e.entity(i)
	info := &e.types[ent.Type.Index]
	if i >= len(e.world.Entities) {
		set := x.fitting(ent, i)
		return &row{set, x.evaluate(info, ent, set)}
	}
	c := e.class[i]
	old := e.sets[e.classes[c].set]
	set := x.further(old, ent, i)
	key := [2]int32{c, -1}
	if len(set) != len(old) || !slices.Equal(set, old) {
		key[1] = x.sets.intern(set)
		set = x.sets.lists[key[1]]
	}
	if row := x.rows[key]; row != nil {
		return row
	}
	out := &row{set: set}
	if key[1] < 0 && x.same && !info.through {
		from := int(x.base.offset[c])
		out.values = x.base.table[from : from+len(info.typ.Properties)]
	} else {
		out.values = x.evaluate(info, ent, set)
	}
	x.rows[key] = out
	return out
}

// prepare makes what working out answers needs.
func (x *extension) prepare() {
	if x.walk == nil {
		e := x.r.engine
		x.walk = newWalker(e.plan, e.world, e.matcher.Fork())
		x.sets, x.rows = newInterner(), map[[2]int32]*row{}
		x.absent, x.passed = map[phantom][]*Effective{}, map[int32]*inheritance{}
	}
}

func (x *extension) evaluate(info *typeInfo, ent *world.Entity, set []int32) []*Effective {
	v := &evaluation{r: x.r, peers: &peers{r: x.r}}
	v.begin(info, ent, set)
	return slices.Clone(v.all())
}

// further is a set of base's selectors that fit an entity, with what the extension changes
// about it.
func (x *extension) further(set []int32, ent *world.Entity, i int) []int32 {
	m := x.walk.matcher
	if len(x.entities) > 0 {
		for _, s := range x.r.engine.sensible {
			k, was := slices.BinarySearch(set, s)
			switch fits := m.MatchesEntity(x.r.engine.selectors[s], ent, i); {
			case fits && !was:
				set = slices.Insert(slices.Clone(set), k, s)
			case !fits && was:
				set = slices.Delete(slices.Clone(set), k, k+1)
			}
		}
	}
	x.found = x.targets.candidates(x.found[:0], ent)
	slices.Sort(x.found)
	last := int32(-1)
	for _, k := range x.found {
		if k != last && m.MatchesEntity(x.added[k].Selector, ent, i) {
			set = append(slices.Clip(set), int32(len(x.r.engine.selectors))+k)
		}
		last = k
	}
	return set
}

// fitting is the selectors that fit an added entity, or with index -1 one that is in no
// world.
func (x *extension) fitting(ent *world.Entity, i int) []int32 {
	in := x.above(ent)
	x.walk.match(ent, i, in)
	return x.further(x.r.engine.plan.fitting(x.walk.whole), ent, i)
}

// above is what an entity that is not in the world is matched with.
func (x *extension) above(ent *world.Entity) *inheritance {
	e := x.r.engine
	if int(ent.Parent) < len(e.world.Entities) {
		return e.lineageOf(ent, x.walk)
	}
	down := x.passed[ent.Parent]
	if down == nil {
		parent := e.entity(int(ent.Parent))
		in := x.above(parent)
		x.walk.match(parent, int(ent.Parent), in)
		own := slices.Clone(x.walk.own)
		down = e.plan.inherit(merge(in.active, own), own)
		x.passed[ent.Parent] = down
	}
	return e.lineage.withGroups(down, ent, x.walk)
}

// named is what peers asks for; mu is held.
func (x *extension) named(t *registry.EntityType, name string) [][]*Effective {
	key := phantom{t, name}
	var out [][]*Effective
	for _, list := range [][]int32{x.base.engine.called(t, name), x.names[key]} {
		for _, i := range list {
			out = append(out, x.settle(int(i)).values)
		}
	}
	if out != nil {
		return out
	}
	if x.absent[key] == nil {
		ent := x.r.engine.absent(t, name)
		x.absent[key] = x.evaluate(&x.r.engine.types[t.Index], ent, x.fitting(ent, -1))
	}
	return [][]*Effective{x.absent[key]}
}

func (x *extension) get(i int, p *registry.Property) Effective {
	if x.r.engine.entity(i).Type != p.Entity {
		return Effective{}
	}
	return *x.row(i).values[p.Index]
}

func (x *extension) rules(i int) []*registry.Rule {
	e := x.r.engine
	var out []*registry.Rule
	for _, s := range x.row(i).set {
		if int(s) < len(e.bound.Rules) {
			out = append(out, e.bound.Rules[s])
		} else if k := int(s) - len(e.selectors); k >= 0 {
			out = append(out, x.added[k])
		}
	}
	return out
}

func (x *extension) resolveEntity(ent *world.Entity) []*Effective {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.prepare()
	return x.evaluate(&x.r.engine.types[ent.Type.Index], ent, x.fitting(ent, -1))
}

func (x *extension) explain(i int, p *registry.Property) Proof {
	got, row := x.get(i, p), x.row(i)
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.r.prove(x.r.engine.entity(i), p, got, row.set, x.walk.matcher)
}

func (x *extension) explainEntity(ent *world.Entity, p *registry.Property) Proof {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.prepare()
	set := x.fitting(ent, -1)
	return x.r.prove(ent, p, *x.evaluate(&x.r.engine.types[ent.Type.Index], ent, set)[p.Index], set, x.walk.matcher)
}
