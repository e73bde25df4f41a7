package cascade

import (
	"slices"
	"strings"

	"umwelt/diag"
	"umwelt/registry"
	"umwelt/world"
)

// activate finds the active entities: those that refs name, and the only entity of each
// sole-active type of which none is named. An entity that exists only because a view names
// it counts for neither one nor several: a rule must not meet its own condition. They come
// in vocabulary order.
func (e *Engine) activate(refs []Ref) ([]int, diag.List) {
	var list diag.List
	var active []int
	named := map[*registry.EntityType]bool{}
	for _, ref := range refs {
		t := e.contextType(ref.Type, &list)
		if t == nil {
			continue
		}
		named[t] = true
		if i := e.lookUp(t, ref.ID, &list); i >= 0 && !slices.Contains(active, i) {
			active = append(active, i)
		}
	}
	only := map[*registry.EntityType]int{}
	for i := range len(e.world.Entities) + len(e.more) {
		ent := e.entity(i)
		t := ent.Type
		if !t.SoleActive || named[t] || ent.Provenance.Origin == world.Referenced {
			continue
		}
		if _, several := only[t]; several {
			only[t] = -1
		} else {
			only[t] = i
		}
	}
	for _, t := range e.bound.Registry.Types() {
		if i, ok := only[t]; ok && i >= 0 {
			active = append(active, i)
		}
	}
	slices.SortFunc(active, e.compare)
	return active, list
}

// contextType finds the entity type that a context names, "taxon|type" where two taxa
// register the name.
func (e *Engine) contextType(name string, list *diag.List) *registry.EntityType {
	reg := e.bound.Registry
	taxon, bare, qualified := strings.Cut(name, "|")
	if !qualified {
		taxon, bare = "", name
	}
	var fits []*registry.EntityType
	for _, t := range reg.TypesNamed(bare) {
		if !qualified || reg.Taxon(taxon) == t.Taxon {
			fits = append(fits, t)
		}
	}
	switch len(fits) {
	case 1:
		return fits[0]
	case 0:
		var names []string
		for _, t := range reg.Types() {
			names = append(names, t.Name)
		}
		list.Errorf(diag.UnknownType, diag.Span{}, "the context names %s, and no vocabulary registers that entity type", diag.Quote(name)).
			Hint = diag.DidYouMean(bare, names)
		return nil
	}
	var names []string
	for _, t := range fits {
		names = append(names, t.Taxon.Name+"|"+t.Name)
	}
	list.Errorf(diag.AmbiguousType, diag.Span{}, "the context names %s, which could be %s", diag.Quote(name), strings.Join(names, " or "))
	return nil
}

// lookUp finds an entity by its id, or else by a name that only one of its type has.
func (e *Engine) lookUp(t *registry.EntityType, id string, list *diag.List) int {
	if i := e.find(t, id); i >= 0 {
		return i
	}
	var ids []string
	found := -1
	for i := range len(e.world.Entities) + len(e.more) {
		ent := e.entity(i)
		if ent.Type != t {
			continue
		}
		ids = append(ids, ent.ID)
		if name, ok := ent.Fact("name"); ok && name == id {
			if found >= 0 {
				list.Errorf(diag.UnknownEntity, diag.Span{}, "several entities of type %s are named %s; name one by its id", t.Name, diag.Quote(id))
				return -1
			}
			found = i
		}
	}
	if found < 0 {
		slices.Sort(ids)
		list.Errorf(diag.UnknownEntity, diag.Span{}, "the context names %s %s, which does not exist in this world", t.Name, diag.Quote(id)).
			Hint = diag.DidYouMean(id, ids)
	}
	return found
}

// find is the index of an entity, or -1.
func (e *Engine) find(t *registry.EntityType, id string) int {
	if i := e.world.Find(t, id); i >= 0 {
		return i
	}
	for i := range e.more {
		if e.more[i].Type == t && e.more[i].ID == id {
			return len(e.world.Entities) + i
		}
	}
	return -1
}

// decideQualifiers works out, per selector, whether all its qualifiers hold, and whether
// one is open: no active entity has its type. m is used up.
func (e *Engine) decideQualifiers(selectors []*registry.Selector, active []int, m *world.Matcher) (holds, open []bool) {
	holds, open = make([]bool, len(selectors)), make([]bool, len(selectors))
	type verdict struct{ holds, open bool }
	known := map[string]verdict{}
	var buf []byte
	for i, sel := range selectors {
		holds[i] = true
		for _, q := range sel.Qualifiers {
			buf = fingerprint(buf[:0], q)
			v, ok := known[string(buf)]
			if !ok {
				v.open = true
				for _, a := range active {
					ent := e.entity(a)
					if q.Type == nil || q.Type == ent.Type {
						v.open = false
						v.holds = v.holds || m.Compound(q, ent, a)
					}
				}
				known[string(buf)] = v
			}
			holds[i] = holds[i] && v.holds
			open[i] = open[i] || v.open
		}
	}
	return holds, open
}
