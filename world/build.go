package world

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"umwelt/diag"
	"umwelt/registry"
)

// New makes a world of entities and takes the slice over. Parents are indices into it.
// An entity of the root's taxon without a parent gets the root as its parent, so that
// every chain of that taxon ends there. It is an error where two entities have the same
// type and id, a parent is not in the slice, parents go round in a circle, there are two
// roots, or a group stands below a path, since groups may not depend on one another.
func New(reg *registry.Registry, name, root string, entities []Entity, fixed []Fixed) (*World, error) {
	w := &World{Registry: reg, Name: name, Root: root, Entities: entities, Fixed: fixed, root: NoParent}
	w.index = newIndex(len(entities))
	for i := range entities {
		e := &entities[i]
		if e.Type == nil {
			return nil, fmt.Errorf("entity %s has no type", diag.Quote(e.ID))
		}
		if !w.index.add(entities, int32(i)) {
			return nil, fmt.Errorf("two entities are %s %s", e.Type.Name, diag.Quote(e.ID))
		}
		if e.Type.Root {
			if w.root != NoParent {
				return nil, fmt.Errorf("two roots: %s and %s", diag.Quote(entities[w.root].ID), diag.Quote(e.ID))
			}
			w.root = int32(i)
		}
	}
	if err := w.linkParents(); err != nil {
		return nil, err
	}
	return w, w.findGroups()
}

// With is a world of w's entities and more, whose parents are indices into both. What is
// said of w otherwise is said of it too.
func (w *World) With(more []Entity) (*World, error) {
	out, err := New(w.Registry, w.Name, w.Root, slices.Concat(w.Entities, more), w.Fixed)
	if err != nil {
		return nil, err
	}
	out.Withheld, out.Real, out.Diagnostics = w.Withheld, w.Real, w.Diagnostics
	return out, nil
}

func (w *World) linkParents() error {
	ordered := true // every parent comes before what it holds, so that none goes round
	for i := range w.Entities {
		e := &w.Entities[i]
		if e.Parent < NoParent || int(e.Parent) >= len(w.Entities) {
			return fmt.Errorf("the parent of %s %s is no entity", e.Type.Name, diag.Quote(e.ID))
		}
		if e.Parent == NoParent && w.root != NoParent && int32(i) != w.root && e.Type.Taxon == w.Entities[w.root].Type.Taxon {
			e.Parent = w.root
		}
		ordered = ordered && e.Parent < int32(i)
	}
	if ordered {
		return nil
	}
	depth := make([]int32, len(w.Entities)) // 0: not known yet
	var walk []int32
	for i := range w.Entities {
		walk = walk[:0]
		at := int32(i)
		for at != NoParent && depth[at] == 0 {
			depth[at] = -1
			walk = append(walk, at)
			at = w.Entities[at].Parent
		}
		if at != NoParent && depth[at] < 0 {
			e := &w.Entities[at]
			return fmt.Errorf("%s %s is its own ancestor", e.Type.Name, diag.Quote(e.ID))
		}
		d := int32(0)
		if at != NoParent {
			d = depth[at]
		}
		for k := len(walk) - 1; k >= 0; k-- {
			d++
			depth[walk[k]] = d
		}
	}
	return nil
}

// findGroups collects the groups, sorted by the path they hold and then by index.
func (w *World) findGroups() error {
	for i := range w.Entities {
		e := &w.Entities[i]
		if e.Type.GroupAttr == "" {
			continue
		}
		text, ok := e.Attr(e.Type.GroupAttr)
		if !ok {
			continue
		}
		for at := e.Parent; at != NoParent; at = w.Entities[at].Parent {
			if w.Entities[at].Type.PathAttr != "" || w.Entities[at].Type.GroupAttr != "" {
				return errors.New("the group " + diag.Quote(e.ID) + " stands below a path or another group")
			}
		}
		below := strings.TrimSuffix(strings.TrimPrefix(text, "./"), "/") + "/"
		if below == "/" || below == "./" {
			below = ""
		}
		w.groups = append(w.groups, group{below: below, entity: int32(i)})
	}
	slices.SortStableFunc(w.groups, func(a, b group) int { return cmp.Compare(a.below, b.below) })
	return nil
}

// RootEntity is the index of the entity of the type that is marked as root, or -1.
func (w *World) RootEntity() int { return int(w.root) }

// Ancestors walks the ancestors of an entity without allocating:
//
//	for it := w.Ancestors(i); it.Next(); {
//		use(it.Index())
//	}
//
// The chain of parents comes nearest first; the groups that the entity lies in stand in
// it after the last ancestor with a path, the nearest (longest) first.
func (w *World) Ancestors(i int) AncestorIter { return w.AncestorsOf(&w.Entities[i]) }

// AncestorsOf is Ancestors for an entity that need not be in the world: its Parent is.
func (w *World) AncestorsOf(e *Entity) AncestorIter {
	it := AncestorIter{groupIter: NewMatcher(w).groupsOf(e), at: NoParent, next: e.Parent}
	if it.path != "" {
		it.lastPath = NoParent
		it.pending = true
		for a := e.Parent; a != NoParent; a = w.Entities[a].Parent {
			if w.Entities[a].Type.PathAttr != "" {
				it.lastPath = a
			}
		}
	}
	return it
}

// groupPath is the path that decides which groups e lies in: its own or that of its
// nearest ancestor with one. It is "" where no group can hold e.
func (m *Matcher) groupPath(e *Entity) string {
	if len(m.w.groups) == 0 {
		return ""
	}
	for {
		if e.Type.GroupAttr != "" {
			return ""
		}
		if p := e.Path(); p != "" {
			return p
		}
		if e.Parent == NoParent {
			return ""
		}
		e = m.entity(e.Parent)
	}
}

// AncestorIter is a walk over ancestors; see World.Ancestors.
type AncestorIter struct {
	groupIter
	current  int32
	at, next int32 // where the walk along the parents is, and goes next
	lastPath int32 // the outermost ancestor with a path: groups come after it
	pending  bool  // the groups are still to come
}

// Index is the entity that the walk stands on, an index into World.Entities.
func (it *AncestorIter) Index() int { return int(it.current) }

// Next moves to the next ancestor and reports whether there is one.
func (it *AncestorIter) Next() bool {
	if it.pending && it.at == it.lastPath {
		if g := it.nextGroup(); g != NoParent {
			it.current = g
			return true
		}
		it.pending = false
	}
	if it.next == NoParent {
		return false
	}
	it.at, it.current = it.next, it.next
	it.next = it.w.Entities[it.at].Parent
	return true
}

// GroupEntities are the entities that make what lies below a path their descendants, by
// that path.
func (w *World) GroupEntities() []int32 {
	out := make([]int32, len(w.groups))
	for i, g := range w.groups {
		out[i] = g.entity
	}
	return out
}

// AppendGroups adds to dst the groups that e lies in, the nearest first. e need not be in
// the world.
func (w *World) AppendGroups(dst []int32, e *Entity) []int32 {
	return NewMatcher(w).AppendGroups(dst, e)
}

// AppendGroups is World.AppendGroups.
func (m *Matcher) AppendGroups(dst []int32, e *Entity) []int32 {
	it := m.groupsOf(e)
	for g := it.nextGroup(); g != NoParent; g = it.nextGroup() {
		dst = append(dst, g)
	}
	return dst
}

// groupIter walks the groups that an entity lies in, the nearest first.
type groupIter struct {
	w      *World
	taxon  *registry.Taxon
	path   string // what is left of the path; the groups that hold its directory come next
	lo, hi int    // the rest of a run of groups of one directory
	done   bool   // the groups that hold everything have come
}

func (m *Matcher) groupsOf(e *Entity) groupIter {
	path := m.groupPath(e)
	return groupIter{w: m.w, taxon: e.Type.Taxon, path: path, done: path == ""}
}

// nextGroup is the next group's entity, or NoParent.
func (it *groupIter) nextGroup() int32 {
	for {
		for it.lo < it.hi {
			g := it.w.groups[it.lo].entity
			it.lo++
			if it.w.Entities[g].Type.Taxon == it.taxon {
				return g
			}
		}
		if it.done {
			return NoParent
		}
		below := ""
		if cut := strings.LastIndexByte(it.path, '/'); cut >= 0 {
			below = it.path[:cut+1]
			it.path = it.path[:cut]
		} else {
			it.done = true
		}
		it.lo, it.hi = it.w.groupsBelow(below)
	}
}

// groupsBelow is the run of groups that hold exactly what lies below a directory, which
// ends in "/".
func (w *World) groupsBelow(below string) (lo, hi int) {
	for hi = len(w.groups); lo < hi; {
		if mid := (lo + hi) / 2; w.groups[mid].below < below {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	for hi = lo; hi < len(w.groups) && w.groups[hi].below == below; hi++ {
	}
	return lo, hi
}
