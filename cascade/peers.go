package cascade

import (
	"slices"

	"umwelt/registry"
	"umwelt/world"
)

// peers answers for entities that other entities name. It belongs to one goroutine.
type peers struct {
	r        *Resolution
	dropped  func(c, lock int32)
	begun    map[int]bool // classes that are settled or under way; nil once all are settled
	phantoms map[phantom][]*Effective
}

// phantom is an entity that is named and does not exist.
type phantom struct {
	typ *registry.EntityType
	id  string
}

// settle works out a class whose type follows other entities.
func (s *peers) settle(i int) {
	if s.begun[i] {
		return
	}
	s.begun[i] = true
	v := &evaluation{r: s.r, peers: s, dropped: s.dropped}
	v.class(i)
}

// named are the answers for every entity of the type whose id or name it is, or for one
// that would be called so where none exists.
func (s *peers) named(t *registry.EntityType, name string) [][]*Effective {
	if s.r.more != nil {
		return s.r.more.named(t, name)
	}
	e := s.r.engine
	var out [][]*Effective
	for _, i := range e.called(t, name) {
		c := int(e.class[i])
		if s.begun != nil && e.types[e.classes[c].typ].through {
			s.settle(c)
		}
		from := int(s.r.offset[c])
		out = append(out, s.r.table[from:from+len(t.Properties)])
	}
	if out != nil {
		return out
	}
	key := phantom{t, name}
	if _, ok := s.phantoms[key]; !ok {
		s.phantoms[key] = make([]*Effective, len(t.Properties)) // what it sees of itself, in a circle
		ent := e.absent(t, name)
		v := &evaluation{r: s.r, peers: s, dropped: s.dropped}
		v.begin(&e.types[t.Index], ent, e.fitting(ent))
		s.phantoms[key] = slices.Clone(v.all())
	}
	return [][]*Effective{s.phantoms[key]}
}

// absent is the entity that a name would stand for where none exists.
func (e *Engine) absent(t *registry.EntityType, name string) *world.Entity {
	ent := &world.Entity{Type: t, ID: name, Parent: world.NoParent}
	ent.Attributes = world.Complete(t, name, nil)
	if root := e.world.RootEntity(); root >= 0 && e.world.Entities[root].Type.Taxon == t.Taxon {
		ent.Parent = int32(root)
	}
	return ent
}

// called are the entities of a type whose id or name it is.
func (e *Engine) called(t *registry.EntityType, name string) []int32 {
	e.callOnce.Do(func() {
		e.calls = map[phantom][]int32{}
		wanted := map[*registry.EntityType]bool{}
		for _, info := range e.types {
			for _, p := range info.typ.Properties {
				if p.Through != "" {
					wanted[e.bound.Registry.Type(p.FollowsType)] = true
				}
			}
		}
		for i := range e.world.Entities {
			ent := &e.world.Entities[i]
			if !wanted[ent.Type] {
				continue
			}
			id := phantom{ent.Type, ent.ID}
			e.calls[id] = append(e.calls[id], int32(i))
			if text, ok := ent.Fact("name"); ok && text != ent.ID {
				id.id = text
				e.calls[id] = append(e.calls[id], int32(i))
			}
		}
	})
	return e.calls[phantom{t, name}]
}
