package database

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"umwelt/ast"
	"umwelt/compilers/sqlite"
	"umwelt/diag"
	"umwelt/parser"
	"umwelt/registry"
	"umwelt/world"
)

func tableKey(table string) []string { return sqlite.Key(table) }

// World reads the world that the policy was resolved for. Its entities are held to what
// those of a world file are: their types exist, their paths do not climb, and their parents
// make a tree.
func (f *File) World(reg *registry.Registry) (*world.World, error) {
	r := &worldReader{reader: f.reader(), reg: reg, words: map[string]string{}}
	w := r.world()
	if r.err != nil {
		return nil, fmt.Errorf("%s: %w", diag.Escape(f.path), r.err)
	}
	return w, nil
}

type worldReader struct {
	*reader
	reg   *registry.Registry
	types map[string]*registry.EntityType
	words map[string]string // texts that many rows hold, each kept once
}

// once is the text, in one copy however many rows hold it.
func (r *worldReader) once(text string) string {
	kept, ok := r.words[text]
	if !ok {
		kept = text
		r.words[text] = kept
	}
	return kept
}

func (r *worldReader) world() *world.World {
	r.types = map[string]*registry.EntityType{}
	for _, t := range r.reg.Types() {
		r.types[sqlite.TypeName(t, r.reg)] = t
	}
	meta := map[string]string{}
	for c := range r.rows("world_meta", "key, value") {
		meta[c.text(0)] = c.text(1)
	}
	root := meta["root"]
	if root != "" && (!path.IsAbs(root) || path.Clean(root) != root || strings.ContainsRune(root, 0)) {
		r.fail("the root %s is not an absolute, clean path", diag.Quote(root))
	}
	entities := r.entities()
	fixed := r.fixed()
	withheld := r.withheld()
	if r.err != nil {
		return nil
	}
	w, err := world.New(r.reg, meta["name"], root, entities, fixed)
	if err != nil {
		r.fail("%v", err)
		return nil
	}
	w.Withheld = withheld
	return w
}

func (r *worldReader) typeNamed(name string) *registry.EntityType {
	t := r.types[name]
	if t == nil {
		r.fail("no vocabulary of the policy has the type %s", diag.Quote(name))
	}
	return t
}

// entities reads three tables: what there is, what is said of it, and where it came from. Of
// a large world they are read at once.
func (r *worldReader) entities() []world.Entity {
	n := r.count("entities")
	out := make([]world.Entity, 0, n)
	var facts [][]world.Attribute
	var origins []world.Provenance
	r.inTurnOrAtOnce(n,
		func(r *worldReader) { out = r.things(out) },
		func(r *worldReader) { facts = r.facts(n) },
		func(r *worldReader) { origins = r.origins(n) },
	)
	if len(out) != n {
		r.fail("the entities are not numbered in order")
	}
	if r.err != nil {
		return nil
	}
	for i := range out {
		out[i].Attributes, out[i].Provenance = facts[i], origins[i]
		r.checkPath(&out[i])
	}
	return out
}

// manyEntities is from where on a connection of its own for each table is worth opening.
const manyEntities = 4096

// inTurnOrAtOnce runs steps, each with a reader of its own where there is much to read. The
// fault that is kept is the one of the first step that has one.
func (r *worldReader) inTurnOrAtOnce(entities int, steps ...func(*worldReader)) {
	readers := []*worldReader{r}
	for entities >= manyEntities && r.err == nil && len(readers) < len(steps) {
		f, err := r.f.again()
		if err != nil {
			break
		}
		defer f.Close()
		readers = append(readers, &worldReader{reader: f.reader(), reg: r.reg, types: r.types, words: map[string]string{}})
	}
	if len(readers) < len(steps) {
		for _, step := range steps {
			step(r)
		}
		return
	}
	var wg sync.WaitGroup
	for i, step := range steps {
		wg.Go(func() { step(readers[i]) })
	}
	wg.Wait()
	for _, other := range readers[1:] {
		if r.err == nil {
			r.err = other.err
		}
	}
}

func (r *worldReader) things(out []world.Entity) []world.Entity {
	for c := range r.rows("entities", "id, type, entity, classes, parent_id, listed") {
		if c.number(0) != len(out) {
			r.fail("the entities are not numbered in order")
		}
		e := world.Entity{Type: r.typeNamed(c.text(1)), ID: c.text(2), Classes: c.texts(3), Parent: int32(c.numberOr(4, int(world.NoParent))), Listed: c.flag(5)}
		if len(e.Classes) == 0 {
			e.Classes = nil
		}
		if e.ID == "" || strings.ContainsRune(e.ID, 0) {
			r.fail("an entity has the id %s", diag.Quote(e.ID))
		}
		out = append(out, e)
	}
	return out
}

// facts are the attributes of n entities. The rows stand in the order of these.
func (r *worldReader) facts(n int) [][]world.Attribute {
	out := make([][]world.Attribute, n)
	all := make([]world.Attribute, 0, r.count("entity_attributes"))
	begin, last := 0, -1
	for c := range r.rows("entity_attributes", "entity_id, attribute, value, members") {
		i := c.number(0)
		if i < 0 || i >= n {
			r.fail("an attribute belongs to no entity")
			break
		}
		if i != last {
			begin, last = len(all), i
		}
		all = append(all, world.Attribute{Name: r.once(c.text(1)), Text: c.text(2), List: c.texts(3)})
		out[i] = all[begin:len(all):len(all)]
	}
	return out
}

// origins are where n entities came from.
func (r *worldReader) origins(n int) []world.Provenance {
	out := make([]world.Provenance, 0, n)
	for c := range r.rows("entity_provenance", "entity_id, origin, overridden, found_by, file, line, column_number, start_offset, end_line, end_column, end_offset") {
		if c.number(0) != len(out) || len(out) == n {
			r.fail("the origins of entities are not in order")
			break
		}
		out = append(out, world.Provenance{Origin: r.origin(c.text(1)), Overridden: c.flag(2), By: c.textOr(3, ""), At: c.span(4, nil)})
	}
	if len(out) != n {
		r.fail("an entity has no origin")
	}
	return out
}

func (r *worldReader) origin(name string) world.Origin {
	for o := world.Explicit; o <= world.Referenced; o++ {
		if o.String() == name {
			return o
		}
	}
	r.fail("there is no origin %s", diag.Quote(name))
	return world.Explicit
}

// checkPath refuses paths that climb, and texts that the type of a path does not take.
func (r *worldReader) checkPath(e *world.Entity) {
	if r.err != nil {
		return
	}
	for i := range e.Attributes {
		a := &e.Attributes[i]
		registered := e.Type.Attribute(a.Name)
		switch {
		case a.Name != e.Type.PathAttr && (registered == nil || registered.Type.Kind != registry.Path || registered.Type.Shape != registry.One):
		case strings.ContainsRune(a.Text, 0) || slices.Contains(strings.Split(a.Text, "/"), "..") || a.Text == "":
			r.fail("%s %s has the path %s", e.Type.Name, diag.Quote(e.ID), diag.Quote(a.Text))
		case a.Name == e.Type.PathAttr && path.Clean(a.Text) != a.Text:
			r.fail("%s %s has the path %s, which is not clean", e.Type.Name, diag.Quote(e.ID), diag.Quote(a.Text))
		}
	}
}

func (r *worldReader) withheld() []world.Entity {
	var out []world.Entity
	for c := range r.rows("withheld", "position, type, entity, classes, attributes") {
		e := world.Entity{Type: r.typeNamed(c.text(1)), ID: c.text(2), Classes: c.texts(3), Parent: world.NoParent}
		if len(e.Classes) == 0 {
			e.Classes = nil
		}
		var attributes []struct {
			Name    string
			Text    member
			Members []member
		}
		if err := json.Unmarshal([]byte(c.text(4)), &attributes); err != nil {
			c.bad(4)
		}
		for _, a := range attributes {
			one := world.Attribute{Name: a.Name, Text: string(a.Text)}
			if a.Members != nil {
				one.List = make([]string, len(a.Members))
				for i, m := range a.Members {
					one.List[i] = string(m)
				}
			}
			e.Attributes = append(e.Attributes, one)
		}
		if r.err != nil {
			return nil
		}
		r.checkPath(&e)
		out = append(out, e)
	}
	return out
}

// fixed binds the fixed constraints again. One row is one value of a constraint; the
// selectors are numbered after those of the rules.
func (r *worldReader) fixed() []world.Fixed {
	var out []world.Fixed
	last := -1
	for c := range r.rows("fixed_constraints", "id, selector_id, selector, taxon, type, property_name, value, members, file, line, column_number, start_offset, end_line, end_column, end_offset") {
		if id := c.number(1); id != last {
			last = id
			at := c.span(8, nil)
			sel := r.selector(c.text(2), c.textOr(3, ""), at)
			if sel == nil {
				return nil
			}
			out = append(out, world.Fixed{Selector: sel, At: at})
		}
		t := r.typeNamed(c.text(4))
		if r.err != nil {
			return nil
		}
		p := t.Property(c.text(5))
		if p == nil || p.Secret {
			r.fail("a fixed constraint speaks of %s.%s", t.Name, diag.Quote(c.text(5)))
			return nil
		}
		members := c.texts(7)
		var v *registry.Value
		var problem string
		if members != nil {
			v, problem = r.reg.TypeList(p.Type, members)
		} else {
			v, problem = r.reg.TypeText(p.Type, c.text(6))
		}
		if problem != "" {
			r.fail("a fixed constraint on %s.%s: %s", t.Name, p.Name, problem)
			return nil
		}
		f := &out[len(out)-1]
		f.Values = append(f.Values, registry.TypedValue{Property: p, Value: v})
	}
	return out
}

// selector binds a selector as it was bound for a taxon; "" for none.
func (r *worldReader) selector(text, taxon string, at diag.Span) *registry.Selector {
	parsed, list := parser.ParseSelectors(&diag.Source{Name: at.File(), Text: []byte(text)})
	if list.HasErrors() || len(parsed) != 1 {
		r.fail("the selector %s of a fixed constraint cannot be read", diag.Quote(text))
		return nil
	}
	bound, list := r.reg.BindSelectors([]*ast.Selector{parsed[0]})
	for _, sel := range bound {
		name := ""
		if sel.Taxon != nil {
			name = sel.Taxon.Name
		}
		if name == taxon && !list.HasErrors() {
			sel.At = at
			return sel
		}
	}
	r.fail("the selector %s of a fixed constraint is none of this vocabulary", diag.Quote(text))
	return nil
}
