package cascade

import (
	"strings"

	"umwelt/registry"
)

// findDoors sorts the selectors that can matter by the deepest existing directory on the
// path that they spell out: above it they fit nothing new.
func (f *future) findDoors() {
	e := f.r.engine
	for s, sel := range e.selectors {
		if e.plan.end[s] == noNode || !f.r.holds[s] || sel.Target.Type != nil && sel.Target.Type != f.typ ||
			sel.Taxon != nil && sel.Taxon != f.typ.Taxon {
			continue
		}
		lead := f.spelled(sel.Target, f.typ, false)
		for _, link := range sel.Structure {
			for _, u := range f.middle {
				if more := f.spelled(link.Compound, u, true); len(more) > len(lead) && (link.Compound.Type == nil || link.Compound.Type == u) && len(f.middle) == 1 {
					lead = more
				}
			}
		}
		door := f.deepest(lead)
		f.doors[door] = append(f.doors[door], int32(s))
	}
	for _, i := range e.world.GroupEntities() {
		ent := &e.world.Entities[i]
		text, _ := ent.Attr(ent.Type.GroupAttr)
		root := strings.TrimSuffix(strings.TrimPrefix(text, "./"), "/")
		if door := f.deepest(root); ent.Type.Taxon == f.typ.Taxon && root != "" && root != "." && (door < 0 || pathOf(&e.world.Entities[door]) != root) {
			f.groups[door] = append(f.groups[door], i)
		}
	}
}

// deepest is the deepest existing directory that a path leads through, or outermost.
func (f *future) deepest(path string) int32 {
	for path != "" {
		if i, ok := f.paths.find(path); ok {
			return i
		}
		path = path[:max(0, strings.LastIndexByte(path, '/'))]
	}
	return outermost
}

// spelled is a directory that the path of whatever a compound fits must lie in, as far as
// the compound spells it out; above says that the compound fits a directory above.
func (f *future) spelled(c *registry.Compound, typ *registry.EntityType, above bool) string {
	lead := ""
	for i := range c.Tests {
		t := &c.Tests[i]
		path, whole := "", false
		switch {
		case t.Kind == registry.TestID && t.Classes == 0 && typ.PathAttr != "" && strings.Contains(t.Value, "/"):
			path, whole = t.Value, true
		case t.Kind == registry.TestAttr && t.Attr == typ.PathAttr && !t.Fold && t.Op == "=":
			path, whole = t.Value, true
		case t.Kind == registry.TestAttr && t.Attr == typ.PathAttr && !t.Fold && t.Op == "^=":
			path = t.Value
		case t.Kind == registry.TestGlob:
			path, whole = f.walk.matcher.Glob(t.Value).LiteralPrefix()
		}
		path = strings.TrimPrefix(path, "./")
		if !whole || !above {
			path = path[:max(0, strings.LastIndexByte(path, '/'))]
		}
		if len(path) > len(lead) {
			lead = path
		}
	}
	return lead
}
