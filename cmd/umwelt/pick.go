package main

import (
	"fmt"
	"path"
	"strings"

	"umwelt"
	"umwelt/diag"
	"umwelt/parser"
	"umwelt/registry"
	"umwelt/world"
)

// picked are the entities that a selector on the command line fits, in vocabulary order.
// Where made, there is one, and it does not exist.
type picked struct {
	entities []pickedEntity
	made     bool
}

// pickedEntity is an entity and its index in the world, -1 where it does not exist.
type pickedEntity struct {
	entity *world.Entity
	index  int
}

// pick finds the entities that a selector fits. None is an error with near matches, but
// for a path that does not exist: that is answered as if it did.
func pick(p *umwelt.Policy, text string) (picked, error) {
	selectors, err := readSelector(p.Registry, text)
	if err != nil {
		return picked{}, err
	}
	fits := world.NewBits(len(p.World.Entities))
	for _, sel := range selectors {
		for _, i := range p.World.Select(sel) {
			fits.Add(i)
		}
	}
	var out picked
	for _, i := range p.Resolution.Order() {
		if fits.Has(int(i)) {
			out.entities = append(out.entities, pickedEntity{&p.World.Entities[i], int(i)})
		}
	}
	if len(out.entities) > 0 {
		return out, nil
	}
	if len(selectors) == 1 {
		if e := makeEntity(p.World, selectors[0]); e != nil {
			return picked{[]pickedEntity{{e, -1}}, true}, nil
		}
	}
	return picked{}, problem(diag.UnknownEntity, nearMatches(p.World, selectors), "nothing in this world fits %s", diag.Quote(text))
}

// readSelector reads a selector strictly: a word that no vocabulary knows would make it
// fit nothing, which is not what was asked.
func readSelector(reg *registry.Registry, text string) ([]*registry.Selector, error) {
	parsed, list := parser.ParseSelectors(&diag.Source{Name: "selector", Text: []byte(text)})
	if list.HasErrors() {
		return nil, &problemsError{list}
	}
	bound, list := reg.BindSelectors(parsed)
	if list = list.Strict(); list.HasErrors() {
		return nil, &problemsError{list}
	}
	return bound, nil
}

// named is what a compound calls an entity by its id, name or path, or "".
func named(c *registry.Compound) string {
	for _, t := range c.Tests {
		switch {
		case t.Kind == registry.TestID && t.Dotted != "":
			return t.Dotted
		case t.Kind == registry.TestID,
			t.Kind == registry.TestAttr && t.Op == "=" && (t.Attr == "name" || c.Type != nil && t.Attr == c.Type.PathAttr):
			return t.Value
		}
	}
	return ""
}

// makeEntity is the entity that a selector names by nothing but a path below the root, or
// nil where it says more or less than that.
func makeEntity(w *world.World, sel *registry.Selector) *world.Entity {
	t := sel.Target.Type
	if t == nil || t.PathAttr == "" || len(sel.Structure) > 0 || len(sel.Target.Tests) != 1 {
		return nil
	}
	name := named(sel.Target)
	if name == "" || path.IsAbs(name) || path.Clean(name) != name || name == "." || name == ".." || strings.HasPrefix(name, "../") || strings.ContainsRune(name, 0) {
		return nil
	}
	return &world.Entity{
		Type: t, ID: name, Parent: holder(w, t, name),
		Attributes: world.Complete(t, name, []world.Attribute{{Name: t.PathAttr, Text: name}}),
	}
}

// holder is the entity that a path would lie in: the nearest of a parent type whose path
// is a part of it, else the root.
func holder(w *world.World, t *registry.EntityType, name string) int32 {
	best, longest := world.NoParent, -1
	for i := range w.Entities {
		e := &w.Entities[i]
		below := e.Path()
		if below == "" || len(below) <= longest || !strings.HasPrefix(name, below+"/") {
			continue
		}
		for _, parent := range t.Parents {
			if e.Type.Name == parent && e.Type.Taxon == t.Taxon {
				best, longest = int32(i), len(below)
			}
		}
	}
	if root := w.RootEntity(); best == world.NoParent && root >= 0 && w.Entities[root].Type.Taxon == t.Taxon {
		return int32(root)
	}
	return best
}

// nearMatches is a hint at what was probably meant.
func nearMatches(w *world.World, selectors []*registry.Selector) string {
	const most = 5
	for _, sel := range selectors {
		wanted := named(sel.Target)
		var ids, alike []string
		for i := range w.Entities {
			e := &w.Entities[i]
			if sel.Target.Type != nil && e.Type != sel.Target.Type {
				continue
			}
			ids = append(ids, e.ID)
			if wanted != "" && path.Base(e.ID) == path.Base(wanted) && len(alike) < most {
				alike = append(alike, diag.Quote(e.ID))
			}
		}
		switch h := diag.DidYouMean(wanted, ids); {
		case h != "":
			return h
		case len(alike) > 0:
			return "there is " + strings.Join(alike, ", ")
		case len(ids) == 0 && sel.Target.Type != nil:
			return "this world has no " + sel.Target.Type.Name
		case sel.Target.Type != nil:
			few := make([]string, 0, most)
			for _, id := range ids[:min(most, len(ids))] {
				few = append(few, diag.Quote(id))
			}
			if h := "there is " + strings.Join(few, ", "); len(ids) <= most {
				return h
			} else {
				return fmt.Sprintf("%s and %d more", h, len(ids)-most)
			}
		}
	}
	return "see what there is with umwelt materialize --level outline"
}
