package world

import (
	"slices"
	"strings"

	"umwelt/diag"
	"umwelt/registry"
)

// build makes a world of the entities and finds the parents that are not known yet. It
// returns nil with an error reported where it cannot.
func (a *assembly) build() *World {
	before := a.Count(diag.Error)
	dirs := a.pathIndex()
	ids := a.idIndex()
	for i := range a.entities {
		e := &a.entities[i]
		if d := a.draftOf(i); d != nil && d.parentID != "" {
			e.Parent = a.givenParent(d, ids)
		} else if e.Parent == NoParent && !e.Type.Root {
			e.Parent = a.impliedParent(i, dirs)
		}
	}
	if ids != nil && a.Count(diag.Error) == before {
		a.refuseCycles()
	}
	if a.Count(diag.Error) > before {
		return nil
	}
	return a.make(nil)
}

func (a *assembly) make(fixed []Fixed) *World {
	w, err := New(a.o.Registry, a.name, a.o.Root, a.entities, fixed)
	if err != nil {
		a.Errorf(diag.BadEntity, diag.Span{}, "%s", err)
		return nil
	}
	w.Withheld = a.settleWithheld()
	return w
}

// pathIndex finds entities by path, for the types that can be parents by path. It is nil
// where every parent is known.
func (a *assembly) pathIndex() map[pathKey]int32 {
	if !slices.ContainsFunc(a.entities, func(e Entity) bool { return e.Parent == NoParent && e.Type.PathAttr != "" }) {
		return nil
	}
	holders := map[*registry.EntityType]bool{}
	for _, t := range a.o.Registry.Types() {
		for _, p := range parentTypes(t, a.o.Registry) {
			holders[p] = holders[p] || p.PathAttr != "" && t.PathAttr != ""
		}
	}
	out := map[pathKey]int32{}
	for i := range a.entities {
		if e := &a.entities[i]; holders[e.Type] {
			out[pathKey{e.Type, e.Path()}] = int32(i)
		}
	}
	return out
}

// idIndex finds entities by type and id. It is nil where no file names a parent.
func (a *assembly) idIndex() map[key]int32 {
	if !slices.ContainsFunc(a.drafts, func(d *draft) bool { return d.parentID != "" }) {
		return nil
	}
	out := make(map[key]int32, len(a.entities))
	for i := range a.entities {
		out[key{a.entities[i].Type, a.entities[i].ID}] = int32(i)
	}
	return out
}

// parentTypes are the types that a parent of t may have, most usual first.
func parentTypes(t *registry.EntityType, reg *registry.Registry) []*registry.EntityType {
	var out []*registry.EntityType
	for _, name := range t.Parents {
		for _, p := range reg.TypesNamed(name) {
			if p.Taxon == t.Taxon || len(reg.TypesNamed(name)) == 1 {
				out = append(out, p)
			}
		}
	}
	return out
}

// impliedParent is the nearest entity that holds the path. There may be none: then the root
// is the parent, which New sees to.
func (a *assembly) impliedParent(i int, dirs map[pathKey]int32) int32 {
	e := &a.entities[i]
	path := e.Path()
	for {
		cut := strings.LastIndexByte(path, '/')
		if cut <= 0 {
			return NoParent
		}
		path = path[:cut]
		for _, t := range parentTypes(e.Type, a.o.Registry) {
			if p, ok := dirs[pathKey{t, path}]; ok && int(p) != i {
				return p
			}
		}
	}
}

// givenParent finds the parent that a file names.
func (a *assembly) givenParent(d *draft, ids map[key]int32) int32 {
	reg := a.o.Registry
	types := parentTypes(d.Type, reg)
	if a.rootType != nil && a.rootType.Taxon == d.Type.Taxon && !slices.Contains(types, a.rootType) {
		types = append(types, a.rootType)
	}
	found := NoParent
	for _, t := range types {
		if d.parentType != "" && !strings.EqualFold(d.parentType, t.Name) && !strings.EqualFold(d.parentType, typeName(t, reg)) {
			continue
		}
		id := d.parentID
		if t == a.rootType && id == a.rootWas {
			id = a.name
		}
		p, ok := ids[key{t, id}]
		if !ok {
			continue
		}
		if found != NoParent {
			a.Errorf(diag.BadEntity, d.parentAt, "the parent %s may be a %s or a %s", diag.Quote(d.parentID), a.entities[found].Type.Name, t.Name).Hint =
				"write parent: { type: …, id: … }"
			return NoParent
		}
		found = p
	}
	if found == NoParent {
		names := make([]string, len(types))
		for i, t := range types {
			names[i] = t.Name
		}
		if len(names) == 0 {
			a.Errorf(diag.BadEntity, d.parentAt, "a %s has no parent", d.Type.Name)
		} else {
			a.Errorf(diag.BadEntity, d.parentAt, "there is no %s %s to be the parent of %s %s", strings.Join(names, " or "), diag.Quote(d.parentID), d.Type.Name, diag.Quote(d.ID))
		}
	}
	return found
}

// refuseCycles reports every entity that is its own ancestor.
func (a *assembly) refuseCycles() {
	const open, done = 1, 2
	state := make([]uint8, len(a.entities))
	for i := range a.entities {
		var path []int32
		j := int32(i)
		for j != NoParent && state[j] == 0 {
			state[j] = open
			path = append(path, j)
			j = a.entities[j].Parent
		}
		if j != NoParent && state[j] == open {
			e := &a.entities[j]
			a.Errorf(diag.BadEntity, e.Provenance.At, "%s %s is its own ancestor", e.Type.Name, diag.Quote(e.ID))
			return
		}
		for _, j := range path {
			state[j] = done
		}
	}
}
