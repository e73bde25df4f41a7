package cascade

import (
	"slices"
	"sync"

	"umwelt/diag"
	"umwelt/registry"
	"umwelt/world"
)

// Extend is r with further entities and rules. r itself does not change, and any number of
// extensions may branch from it.
//
// It takes time that depends on what is added since r or what r extends was resolved, not on
// what there was: an answer is worked out when it is first asked for, and a rule is tried only
// on the entities that are asked about. The answers are those of a resolution made anew
// with everything, in the same context; World, Order, Matched, Engine and Future make one
// on first use. It is made at once where an added entity is the root or has others lie in it by a
// group attribute, where an added layer comes before old ones, and where types follow one
// another in a circle.
//
// Entities are complete (see world.Complete). Their indices go on from r.Len, and Parent may
// name any entity that comes before. rules is an extension of r.Bound(), or nil. They bring no
// entity into being. Where the list holds an error, the resolution is nil.
func (r *Resolution) Extend(entities []world.Entity, rules *registry.Extension) (*Resolution, diag.List) {
	var list diag.List
	root := r
	x := &extension{}
	if r.more != nil {
		root = r.more.base
		x.entities, x.added = r.engine.more, r.more.added
	}
	x.base = root
	x.bound = r.Bound
	moved := false
	if rules != nil {
		list = append(list, rules.Diagnostics...)
		if rules.Of != r.Bound() {
			list.Errorf(diag.BadVocabulary, diag.Span{}, "the rules extend another view")
		}
		moved = rules.Base != rules.Of
		x.added = slices.Concat(x.added, rules.Rules)
		x.bound = sync.OnceValue(rules.Bound)
	}
	atOnce := x.addEntities(r, entities, &list)
	if list.HasErrors() {
		return nil, list
	}
	if atOnce || moved || root.engine.loops {
		whole, more := x.remake()
		return whole, append(list, more...)
	}
	out, more := x.begin()
	return out, append(list, more...)
}

// addEntities adds entities after those of r, and reports whether they change what other
// entities are.
func (x *extension) addEntities(r *Resolution, entities []world.Entity, list *diag.List) (atOnce bool) {
	old := x.entities
	x.entities = slices.Concat(old, entities)
	w := x.base.engine.world
	seen := map[phantom]bool{}
	for i := range entities {
		e := &x.entities[len(old)+i]
		types := r.Registry().Types()
		if e.Type == nil || e.Type.Index >= len(types) || types[e.Type.Index] != e.Type {
			list.Errorf(diag.BadEntity, e.Provenance.At, "the type of %s is not of this vocabulary", diag.Quote(e.ID))
			return false
		}
		id := phantom{e.Type, e.ID}
		if seen[id] || r.Find(e.Type, e.ID) >= 0 {
			list.Errorf(diag.BadEntity, e.Provenance.At, "two entities are %s %s", e.Type.Name, diag.Quote(e.ID))
		}
		seen[id] = true
		if e.Parent < world.NoParent || int(e.Parent) >= r.Len()+i {
			list.Errorf(diag.BadEntity, e.Provenance.At, "the parent of %s %s is no entity that comes before it", e.Type.Name, diag.Quote(e.ID))
		}
		top := w.RootEntity()
		if top >= 0 && e.Type.Root {
			list.Errorf(diag.BadEntity, e.Provenance.At, "two roots: %s and %s", diag.Quote(w.Entities[top].ID), diag.Quote(e.ID))
		}
		if e.Parent == world.NoParent && top >= 0 && w.Entities[top].Type.Taxon == e.Type.Taxon {
			e.Parent = int32(top)
		}
		atOnce = atOnce || e.Type.Root || e.Type.GroupAttr != ""
	}
	return atOnce
}

// Complete is a resolution with the same answers that is no extension: r itself, or one
// made anew. It is made once.
func (r *Resolution) Complete() *Resolution {
	if r.more == nil {
		return r
	}
	return r.more.complete()
}

// complete makes the whole resolution on first use. Everything that could be wrong with it
// was looked at when it was extended.
func (x *extension) complete() *Resolution {
	x.wholeOnce.Do(func() {
		var list diag.List
		if x.whole, list = x.remake(); x.whole == nil {
			panic("cascade: an extension that cannot be resolved: " + list.Err().Error())
		}
	})
	return x.whole
}

// remake resolves everything anew.
func (x *extension) remake() (*Resolution, diag.List) {
	w := x.base.engine.world
	if len(x.entities) > 0 {
		var err error
		if w, err = w.With(x.entities); err != nil {
			var list diag.List
			list.Errorf(diag.BadEntity, diag.Span{}, "%v", err)
			return nil, list
		}
	}
	return newEngine(w, x.bound(), unlimited()).Resolve(x.base.refs)
}
