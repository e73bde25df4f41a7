package world

import (
	"maps"
	"slices"
	"strings"

	"umwelt/diag"
	"umwelt/registry"
)

// assembly turns what was composed into the entities of a world, in the order root,
// declared, projected, discovered, referenced.
type assembly struct {
	*composer
	name     string
	entities []Entity
	drafts   []*draft // entities[i] came from drafts[i]; the discovered ones have none
	rootWas  string   // the root entity's id before this run renamed it
	withheld []Entity // those that came in after all have no Type
	left     map[pathKey]int32
	named    map[*registry.EntityType]*names // see exists
}

func (a *assembly) draftOf(i int) *draft {
	if i < len(a.drafts) {
		return a.drafts[i]
	}
	return nil
}

func (a *assembly) append(d *draft) {
	a.drafts = append(a.drafts, d)
	a.entities = append(a.entities, d.Entity)
}

// addRoot puts the root entity first, where the vocabulary has one.
func (a *assembly) addRoot(named bool) {
	a.name = a.composer.name
	if a.rootType == nil {
		if a.o.Name != "" {
			a.name = a.o.Name
		}
		return
	}
	d := a.root
	switch {
	case d == nil:
		d = &draft{}
		d.Type, d.Parent = a.rootType, NoParent
		a.rootWas = a.name
	case named && a.name != d.ID:
		a.Errorf(diag.BadEntity, d.Provenance.At, "the %s is named %s and its entity %s", d.Type.Name, diag.Quote(a.name), diag.Quote(d.ID))
		return
	default:
		a.name, a.rootWas = d.ID, d.ID
	}
	if a.o.Name != "" && a.o.Name != a.name {
		a.name = a.o.Name
		d.Attributes = slices.DeleteFunc(d.Attributes, func(x Attribute) bool {
			return x.Text == d.ID && (x.Name == "name" || x.Name == d.Type.Key())
		})
	}
	d.ID = a.name
	if a.complete(d, d.Provenance.At, false) {
		a.append(d)
	}
}

// addDeclared adds what files declare, then the projections that none of it wins over.
func (a *assembly) addDeclared() {
	for _, d := range a.composer.drafts {
		a.append(d)
	}
	for _, d := range a.projections {
		if a.known[key{d.Type, d.ID}] == nil {
			a.append(d)
		}
	}
}

// skipped are the paths of projections that can hold others: they exist and are not
// enumerated.
func (a *assembly) skipped() []string {
	var out []string
	for i := range a.entities {
		e := &a.entities[i]
		if e.Provenance.Origin == Projected && underRoot(e.Type, a.o.Registry) && holdsPaths(e.Type, a.o.Registry) {
			out = append(out, e.Path())
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

type pathKey struct {
	typ  *registry.EntityType
	path string
}

// discover runs the recipes. What is declared already wins over what is found, attribute by
// attribute; facts that only the discovery knows are kept, since losing one (that a link
// leaves the root, say) would widen the world.
func (a *assembly) discover() {
	if a.HasErrors() || len(a.recipes) == 0 {
		return
	}
	skip := a.skipped()
	for _, r := range a.recipes {
		i := slices.IndexFunc(a.o.Matchers, func(m Discoverer) bool { return m.Name == r.Matcher })
		result := a.o.Matchers[i].Run(Request{
			Registry: a.o.Registry, Root: a.o.Root, AllowOutside: a.o.AllowOutside, Stat: a.o.Stat, Recipe: r, Skip: skip,
		})
		a.List = append(append(a.List, r.Diagnostics...), result.Diagnostics...)
		a.merge(result, r)
	}
}

// merge adds what a recipe found. Only entities of the types that it found are looked at for
// ones that are there already: most recipes find types of their own.
func (a *assembly) merge(result Result, r *Recipe) {
	found := result.Entities
	types := make([]bool, len(a.o.Registry.Types()))
	for _, list := range [][]Entity{found, result.Withheld} {
		for i := range list {
			types[list[i].Type.Index] = true
		}
	}
	known := a.finder(types)
	if result.RootListed && a.rootType != nil {
		a.entities[0].Listed = true // the root entity comes first
	}
	a.withhold(result.Withheld, known)
	if len(known.byID) == 0 && cap(found) >= len(a.entities)+len(found) {
		a.takeOver(found, r)
		return
	}
	a.entities = slices.Grow(a.entities, len(found))
	place := make([]int32, len(found))
	for i := range found {
		e := &found[i]
		a.bringIn(e)
		if old := known.same(e); old >= 0 {
			place[i] = old
			if was := &a.entities[old]; was.Path() == e.Path() || !underRoot(e.Type, a.o.Registry) {
				was.absorb(e)
			} else {
				// The one that has this name lies elsewhere, and nothing stands for this one.
				a.withhold([]Entity{*e}, known)
			}
			continue
		}
		e.Provenance = Provenance{Origin: Discovered, At: r.At, By: r.Matcher}
		if e.Parent != NoParent {
			e.Parent = place[e.Parent]
		}
		place[i] = int32(len(a.entities))
		a.entities = append(a.entities, *e)
	}
}

// takeOver adds what a recipe found where nothing of its types is there yet, in the memory that
// the recipe found it in.
func (a *assembly) takeOver(found []Entity, r *Recipe) {
	first := int32(len(a.entities))
	for i := range found {
		e := &found[i]
		a.bringIn(e)
		e.Provenance = Provenance{Origin: Discovered, At: r.At, By: r.Matcher}
		if e.Parent != NoParent {
			e.Parent += first
		}
	}
	a.entities = slices.Insert(found, 0, a.entities...)
}

// addSingletons brings into being the one entity that a fixed constraint or override speaks
// of by its bare type, where such an entity exists by being named and so grants nothing.
func (a *assembly) addSingletons(rules *rules) {
	for _, r := range slices.Concat(rules.overrides, rules.fixed) {
		if r.value.kind == mapNode && r.value.get("available") != nil {
			continue
		}
		for _, sel := range slices.Concat(r.groups...) {
			t := bare(sel)
			if t == nil || !t.Singleton || !t.Named || a.exists(t, t.Name, "") {
				continue
			}
			d := &draft{}
			d.Type, d.ID, d.Parent = t, t.Name, NoParent
			d.Provenance = Provenance{Origin: Explicit, At: r.at}
			if a.complete(d, r.at, false) {
				a.appendLate(d)
			}
		}
	}
}

// appendLate adds an entity after the discovered ones.
func (a *assembly) appendLate(d *draft) {
	a.entities = append(a.entities, d.Entity)
	if n := a.named[d.Type]; n != nil {
		n.add(&d.Entity)
	}
}

// names are the ids of the entities of a type, and the texts of their key attributes.
type names struct{ ids, keys map[string]bool }

func (n *names) add(e *Entity) {
	n.ids[e.ID] = true
	if text, ok := e.Attr(e.Type.Key()); ok {
		n.keys[text] = true
	}
}

// exists reports whether an entity of the type has the id, or the text as its key
// attribute. From the first call for a type on, only appendLate may add entities.
func (a *assembly) exists(t *registry.EntityType, id, keyText string) bool {
	n := a.named[t]
	if n == nil {
		n = &names{map[string]bool{}, map[string]bool{}}
		for i := range a.entities {
			if e := &a.entities[i]; e.Type == t {
				n.add(e)
			}
		}
		if a.named == nil {
			a.named = map[*registry.EntityType]*names{}
		}
		a.named[t] = n
	}
	return n.ids[id] || keyText != "" && n.keys[keyText]
}

// addNamed adds the entities of views. A view can never bring in the root or a path: what
// exists there is for the world to say.
func (a *assembly) addNamed() {
	implicit := len(a.stack) == 0
	add := func(n registry.Entity, all, declared bool) {
		t := a.o.Registry.Type(n.Type)
		if strings.Contains(n.Type, "|") {
			var quiet composer
			quiet.o = a.o
			t = quiet.typeNamed(n.Type, n.At)
		}
		if t == nil || t.Root || n.ID == "" || !(all || t.Named) {
			return
		}
		d := &draft{}
		d.Type, d.ID, d.Parent = t, n.ID, NoParent
		d.Provenance = Provenance{Origin: Referenced, At: n.At}
		for _, name := range slices.Sorted(maps.Keys(n.Attributes)) {
			attr := Attribute{Name: name, Text: n.Attributes[name]}
			if r := t.Attribute(name); r != nil {
				attr.Name = r.Name
			}
			d.Attributes = append(d.Attributes, attr)
		}
		if !declared && reachesForPath(d) {
			return
		}
		keyText := n.ID
		if x := d.Attribute(t.Key()); x != nil {
			keyText = x.Text
		}
		if a.exists(t, n.ID, keyText) {
			return
		}
		// A pin that does not fit its type names nothing that can exist, and the view's own
		// diagnostics say so.
		probe := composer{o: a.o}
		if probe.complete(d, n.At, false) {
			a.grown = true
			a.appendLate(d)
		}
	}
	for _, n := range a.o.Declared {
		add(n, true, true)
	}
	for _, n := range a.o.Named {
		add(n, implicit, false)
	}
}

// reachesForPath reports whether an entity says where it lies on the disk.
func reachesForPath(d *draft) bool {
	for _, attr := range d.Type.Attributes {
		isPath := attr.Type.Kind == registry.Path || attr.Name == d.Type.PathAttr
		if isPath && (d.Attribute(attr.Name) != nil || d.Type.Key() == attr.Name) {
			return true
		}
	}
	return false
}
