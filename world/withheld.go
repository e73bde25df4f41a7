package world

import (
	"cmp"
	"slices"

	"umwelt/registry"
)

// withhold adds what a matcher or a snapshot says is left out. What the world holds already
// is not left out: it keeps the facts that only the one who looked could know, such as that
// it is a link out of the root.
func (a *assembly) withhold(left []Entity, f finder) {
	for i := range left {
		e := &left[i]
		e.Parent, e.Provenance, e.Listed = NoParent, Provenance{}, false
		if old := f.lying(e); old >= 0 {
			a.entities[old].absorb(e)
			continue
		}
		k := pathKey{e.Type, e.Path()}
		if _, known := a.left[k]; !known {
			a.left[k] = int32(len(a.withheld))
			a.withheld = append(a.withheld, *e)
		}
	}
}

// withholdDeclared takes over what snapshots say is left out.
func (a *assembly) withholdDeclared() {
	if len(a.composer.left) == 0 {
		return
	}
	types := make([]bool, len(a.o.Registry.Types()))
	for i := range a.composer.left {
		types[a.composer.left[i].Type.Index] = true
	}
	a.withhold(a.composer.left, a.finder(types))
}

// lookAtDeclared asks what stands on the disk where files declare something. That may be
// something else than declared, such as a link that leads away: then what is declared and
// what is there contradict each other, and nobody may take the one for the other.
func (a *assembly) lookAtDeclared() {
	if a.HasErrors() || a.o.Root == "" {
		return
	}
	var paths []string
	for i, d := range a.drafts {
		if e := &a.entities[i]; !d.told && e.Path() != "" && underRoot(e.Type, a.o.Registry) {
			paths = append(paths, e.Path())
		}
	}
	if len(paths) == 0 {
		return
	}
	types := make([]bool, len(a.o.Registry.Types()))
	for i, t := range a.o.Registry.Types() {
		types[i] = underRoot(t, a.o.Registry)
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	for _, m := range a.o.Matchers {
		if m.Look != nil {
			seen := m.Look(Request{Registry: a.o.Registry, Root: a.o.Root, AllowOutside: a.o.AllowOutside, Stat: a.o.Stat}, paths)
			a.List = append(a.List, seen.Diagnostics...)
			a.withhold(seen.Entities, a.finder(types))
		}
	}
}

// bringIn ends the withholding of what came into the world after all.
func (a *assembly) bringIn(e *Entity) {
	if len(a.left) == 0 || e.Type.PathAttr == "" {
		return
	}
	k := pathKey{e.Type, e.Path()}
	if at, ok := a.left[k]; ok {
		e.absorb(&a.withheld[at])
		a.withheld[at].Type = nil
		delete(a.left, k)
	}
}

// settleWithheld is what the world leaves out in the end, sorted by path.
func (a *assembly) settleWithheld() []Entity {
	out := slices.DeleteFunc(slices.Clone(a.withheld), func(e Entity) bool { return e.Type == nil })
	slices.SortStableFunc(out, func(x, y Entity) int {
		return cmp.Or(cmp.Compare(x.Path(), y.Path()), cmp.Compare(x.Type.Index, y.Type.Index))
	})
	if len(out) == 0 {
		return nil
	}
	return out
}

// finder finds entities of some types.
type finder struct {
	entities []Entity
	byID     map[key]int32
	byPath   map[pathKey]int32 // of those that are not called by their path
}

func (a *assembly) finder(types []bool) finder {
	f := finder{a.entities, map[key]int32{}, map[pathKey]int32{}}
	for i := range a.entities {
		if e := &a.entities[i]; types[e.Type.Index] {
			f.byID[key{e.Type, e.ID}] = int32(i)
			if p := e.Path(); p != "" && p != e.ID {
				f.byPath[pathKey{e.Type, p}] = int32(i)
			}
		}
	}
	return f
}

// same is the entity of the same type and id, or else of the same type and path; -1 for
// none.
func (f *finder) same(e *Entity) int32 {
	if len(f.byID) == 0 {
		return -1
	}
	if i, ok := f.byID[key{e.Type, e.ID}]; ok {
		return i
	}
	return f.lying(e)
}

// lying is the entity of the same type that lies at the same path, or -1.
func (f *finder) lying(e *Entity) int32 {
	if len(f.byID) == 0 {
		return -1
	}
	p := e.Path()
	if p == "" {
		return -1
	}
	if i, ok := f.byPath[pathKey{e.Type, p}]; ok {
		return i
	}
	if i, ok := f.byID[key{e.Type, p}]; ok && f.entities[i].Path() == p {
		return i
	}
	return -1
}

// holdsPaths reports whether something with a path below the root can lie in an entity of
// the type.
func holdsPaths(t *registry.EntityType, reg *registry.Registry) bool {
	return slices.ContainsFunc(reg.Types(), func(u *registry.EntityType) bool {
		return u.PathAttr != "" && slices.Contains(parentTypes(u, reg), t)
	})
}
