package cascade

import (
	"strings"

	"umwelt/registry"
	"umwelt/world"
)

// whereabouts finds what lies at a path. Most entities are called by their path, and the
// world finds those by itself.
type whereabouts struct {
	world *world.World
	types []*registry.EntityType // whose entities have a path
	odd   map[string]int32       // what is called otherwise, and what is left out
}

func newWhereabouts(w *world.World) *whereabouts {
	p := &whereabouts{world: w, odd: map[string]int32{}}
	for _, t := range w.Registry.Types() {
		if t.PathAttr != "" {
			p.types = append(p.types, t)
		}
	}
	add := func(path string, i int32) {
		if _, taken := p.odd[path]; !taken && path != "" {
			p.odd[path] = i
		}
	}
	for i := range w.Entities {
		e := &w.Entities[i]
		if path := pathOf(e); path != e.ID {
			add(path, int32(i))
		}
	}
	for i := range w.Withheld {
		add(pathOf(&w.Withheld[i]), withheld)
	}
	return p
}

// find is the first entity that lies at a path without a leading "./" or a final "/", or
// withheld.
func (p *whereabouts) find(path string) (int32, bool) {
	at, ok := p.odd[path]
	for _, t := range p.types {
		i := int32(p.world.Find(t, path))
		if i >= 0 && (!ok || at < 0 || i < at) && pathOf(&p.world.Entities[i]) == path {
			at, ok = i, true
		}
	}
	return at, ok && path != ""
}

// pathOf is an entity's path without a leading "./" or a final "/", "" for none.
func pathOf(e *world.Entity) string {
	path := strings.TrimPrefix(e.Path(), "./")
	if len(path) > 1 {
		path = strings.TrimSuffix(path, "/")
	}
	if path == "." {
		return ""
	}
	return path
}
