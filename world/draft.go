package world

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"umwelt/diag"
	"umwelt/registry"
)

// draft is an entity on its way into a world: its parent is still a name.
type draft struct {
	Entity
	parentType string // "" for any that its type allows
	parentID   string // "" for none given
	parentAt   diag.Span
	bare       bool // only named, by a shorthand: it brings no facts
	told       bool // a snapshot says what it is
}

// underRoot reports whether entities of the type lie in the tree below the root: their
// paths are relative. The path of any other type may be absolute.
func underRoot(t *registry.EntityType, reg *registry.Registry) bool {
	if t.PathAttr == "" {
		return false
	}
	return slices.ContainsFunc(t.Parents, func(name string) bool {
		return slices.ContainsFunc(reg.TypesNamed(name), func(p *registry.EntityType) bool { return p.Taxon == t.Taxon && p.PathAttr != "" })
	})
}

// cleanPath makes p clean. problem says in a few words why p cannot be a path: it climbs
// with "..", or is absolute where only a path below the root may stand.
func cleanPath(p string, relative bool) (clean, problem string) {
	if slices.Contains(strings.Split(p, "/"), "..") {
		return "", diag.Quote(p) + " has a .. in it"
	}
	clean = path.Clean(p)
	switch {
	case p == "":
		return "", "the path is empty"
	case relative && path.IsAbs(clean):
		return "", diag.Quote(p) + " is absolute; paths are relative to the root"
	case relative && clean == ".":
		return "", diag.Quote(p) + " is the root itself"
	}
	return clean, ""
}

// Complete adds the attributes that follow from an entity's id (its key attribute where that
// is required, and its name) and puts all in the order of the vocabulary, the
// unregistered ones last by name.
func Complete(t *registry.EntityType, id string, attrs []Attribute) []Attribute {
	has := func(name string) bool {
		return slices.ContainsFunc(attrs, func(a Attribute) bool { return a.Name == name })
	}
	if a := t.Attribute(t.Key()); a != nil && a.Required && !has(a.Name) {
		attrs = append(attrs, Attribute{Name: a.Name, Text: id})
	}
	name := "name"
	if a := t.Attribute(name); a != nil {
		name = a.Name
	}
	if !has(name) {
		text := id
		if t.PathAttr != "" {
			text = id[strings.LastIndexByte(strings.TrimRight(id, "/"), '/')+1:]
		}
		attrs = append(attrs, Attribute{Name: name, Text: text})
	}
	order := func(name string) int {
		for i, a := range t.Attributes {
			if a.Name == name {
				return i
			}
		}
		return len(t.Attributes)
	}
	slices.SortStableFunc(attrs, func(a, b Attribute) int {
		return cmp.Or(cmp.Compare(order(a.Name), order(b.Name)), cmp.Compare(a.Name, b.Name))
	})
	return attrs
}

// absorb adds to d the classes and attributes of another account of the same entity that
// d does not give itself.
func (e *Entity) absorb(other *Entity) {
	e.Classes = union(e.Classes, other.Classes)
	e.Listed = e.Listed || other.Listed
	for _, a := range other.Attributes {
		if e.Attribute(a.Name) == nil {
			e.Attributes = append(slices.Clip(e.Attributes), a)
		}
	}
	e.Attributes = Complete(e.Type, e.ID, e.Attributes)
}

// union appends to a what b holds more. It never writes into a's own memory.
func union(a, b []string) []string {
	out := slices.Clip(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

var entityKeys = []string{"type", "id", "classes", "attributes", "parent"}

// readEntity reads one entry of "entities" or "projections".
func (c *composer) readEntity(doc *document, n *node, origin Origin) *draft {
	if n.kind != mapNode {
		c.Errorf(diag.BadEntity, n.at, "an entity is a map with the keys type and id, not %s", n.kind)
		return nil
	}
	keys := entityKeys
	if doc.snapshot {
		keys = append(slices.Clone(keys), "from", "listed")
	}
	checkKeys(n, "an entity", keys, &c.List)
	d := &draft{}
	d.Parent = NoParent
	d.told = doc.snapshot
	d.Provenance = Provenance{Origin: origin, At: n.at, By: c.collection}
	typ := n.get("type")
	if typ == nil {
		c.Errorf(diag.BadEntity, n.at, "an entity needs the key type")
		return nil
	}
	name, ok := textOf(typ, "type", &c.List)
	if !ok {
		return nil
	}
	if d.Type = c.typeNamed(name, typ.at); d.Type == nil {
		return nil
	}
	id := n.get("id")
	if id == nil {
		c.Errorf(diag.BadEntity, n.at, "an entity needs the key id")
		return nil
	}
	if d.ID, ok = textOf(id, "id", &c.List); !ok {
		return nil
	}
	if classes := n.get("classes"); classes != nil {
		d.Classes = union(nil, textsOf(classes, "classes", &c.List))
	}
	good := true
	n.get("attributes").eachPair("attributes", &c.List, func(p pair) {
		a, ok := c.readAttribute(d.Type, p)
		if ok && d.Attribute(a.Name) != nil {
			c.Errorf(diag.Duplicate, p.keyAt, "the attribute %s stands twice", diag.Quote(a.Name))
			ok = false
		}
		if good = good && ok; ok {
			d.Attributes = append(d.Attributes, a)
		}
	})
	if parent := n.get("parent"); parent != nil {
		good = c.readParent(d, parent) && good
	}
	if from := n.get("from"); from != nil && doc.snapshot {
		c.readFrom(d, from)
	}
	if listed := n.get("listed"); listed != nil && doc.snapshot {
		// Of a part of a snapshot it is not known whether the part that says what is
		// withheld is there, too.
		d.Listed = boolOf(listed, "listed", &c.List) && doc.whole
	}
	if !good || !c.complete(d, n.at, doc.snapshot) {
		return nil
	}
	return d
}

// complete fills in what follows from the id, and checks what the type requires.
func (c *composer) complete(d *draft, at diag.Span, snapshot bool) bool {
	t := d.Type
	if p := t.PathAttr; p != "" {
		text, ok := d.Attr(p)
		if ok || t.Key() == p {
			if !ok {
				text = d.ID
				d.Attributes = append(d.Attributes, Attribute{Name: p})
			}
			clean, problem := cleanPath(text, underRoot(t, c.o.Registry) && !snapshot)
			if problem != "" {
				c.Errorf(diag.BadPath, at, "%s %s: %s", t.Name, diag.Quote(d.ID), problem)
				return false
			}
			d.Attribute(p).Text = clean
		}
	}
	d.Attributes = Complete(t, d.ID, d.Attributes)
	for _, a := range t.Attributes {
		value := d.Attribute(a.Name)
		if value == nil {
			if a.Required {
				c.Errorf(diag.BadEntity, at, "%s %s needs the attribute %s", t.Name, diag.Quote(d.ID), a.Name)
				return false
			}
			continue
		}
		if value.List == nil {
			typed, problem := c.o.Registry.TypeText(a.Type, value.Text)
			if problem != "" {
				c.Errorf(diag.BadValue, at, "%s.%s of %s: %s", t.Name, a.Name, diag.Quote(d.ID), problem)
				return false
			}
			value.Text, value.List = typed.Text, typed.List
		}
	}
	return true
}

// readAttribute types one attribute by the vocabulary. One that no vocabulary registers
// keeps its text.
func (c *composer) readAttribute(t *registry.EntityType, p pair) (Attribute, bool) {
	registered := t.Attribute(p.key)
	if registered == nil {
		if near := nearSecret(t, p.key); near != "" {
			d := c.Errorf(diag.Secret, p.keyAt, "%s of %s is never printed, so it cannot stand in a world file", diag.Quote(near), t.Name)
			d.Private = true
			if !strings.EqualFold(near, p.key) {
				d.Message = "no vocabulary registers the attribute " + diag.Quote(p.key) + " of " + t.Name + ", and " + d.Message
			}
			return Attribute{}, false
		}
		return c.freeAttribute(t, p)
	}
	a := Attribute{Name: registered.Name}
	var v *registry.Value
	var problem string
	if p.value.kind == listNode {
		var members []string
		for _, item := range p.value.items {
			text, ok := textOf(item, a.Name, &c.List)
			if !ok {
				return a, false
			}
			members = append(members, text)
		}
		v, problem = c.o.Registry.TypeList(registered.Type, members)
	} else {
		text, ok := p.value.scalar()
		if !ok {
			textOf(p.value, a.Name, &c.List) // says why
			return a, false
		}
		v, problem = c.o.Registry.TypeText(registered.Type, text)
	}
	if problem != "" {
		code := diag.BadValue
		if registered.Type.Kind == registry.Path {
			code = diag.BadPath
		}
		c.Errorf(code, p.value.at, "%s.%s: %s", t.Name, a.Name, problem)
		return a, false
	}
	a.Text, a.List = v.Text, v.List
	return a, true
}

// nearSecret is the property of t that is never printed and that a name means, or "".
func nearSecret(t *registry.EntityType, name string) string {
	var names []string
	for _, p := range t.Properties {
		if p.Secret {
			names = append(names, p.Name)
		}
	}
	return diag.Suggest(name, names)
}

func (c *composer) freeAttribute(t *registry.EntityType, p pair) (Attribute, bool) {
	a := Attribute{Name: p.key}
	names := make([]string, len(t.Attributes))
	for i, r := range t.Attributes {
		names[i] = r.Name
	}
	if near := diag.DidYouMean(p.key, names); near != "" {
		c.Warnf(diag.UnknownAttribute, p.keyAt, "no vocabulary registers the attribute %s of %s", diag.Quote(p.key), t.Name).Hint = near
	}
	if p.key == "" {
		c.Errorf(diag.BadEntity, p.keyAt, "an attribute needs a name")
		return a, false
	}
	if p.value.kind != listNode {
		var ok bool
		if a.Text, ok = p.value.scalar(); !ok {
			textOf(p.value, p.key, &c.List) // says why
			return a, false
		}
		return a, true
	}
	a.List = []string{}
	for _, item := range p.value.items {
		text, ok := textOf(item, p.key, &c.List)
		if !ok {
			return a, false
		}
		a.List = append(a.List, text)
	}
	a.Text = strings.Join(a.List, ", ")
	return a, true
}

// readParent reads the id of a parent, or a map of its type and id where the id alone
// does not say which.
func (c *composer) readParent(d *draft, n *node) bool {
	d.parentAt = n.at
	id := n
	if n.kind == mapNode && n.get("base64") == nil {
		checkKeys(n, "a parent", []string{"type", "id"}, &c.List)
		t := n.get("type")
		if id = n.get("id"); id == nil || t == nil {
			c.Errorf(diag.BadEntity, n.at, "a parent is an id, or a map of type and id")
			return false
		}
		var ok bool
		if d.parentType, ok = textOf(t, "type", &c.List); !ok {
			return false
		}
	}
	var ok bool
	d.parentID, ok = textOf(id, "parent", &c.List)
	return ok
}

// typeNamed finds an entity type by "type" or "taxon|type".
func (c *composer) typeNamed(name string, at diag.Span) *registry.EntityType {
	taxon, typ, qualified := strings.Cut(name, "|")
	if !qualified {
		typ = name
	}
	found := c.o.Registry.TypesNamed(typ)
	if qualified {
		of := c.o.Registry.Taxon(taxon)
		found = slices.DeleteFunc(slices.Clone(found), func(t *registry.EntityType) bool { return t.Taxon != of })
	}
	switch len(found) {
	case 1:
		return found[0]
	case 0:
		c.Errorf(diag.UnknownType, at, "no vocabulary registers the entity type %s", diag.Quote(name)).Hint = diag.DidYouMean(typ, c.typeNames())
	default:
		c.Errorf(diag.AmbiguousType, at, "several taxa register the entity type %s", diag.Quote(name)).Hint = "write " + typeName(found[0], c.o.Registry) + " or " + typeName(found[1], c.o.Registry)
	}
	return nil
}

func (c *composer) typeNames() []string {
	var out []string
	for _, t := range c.o.Registry.Types() {
		out = append(out, t.Name)
	}
	return out
}

// typeName is the name under which a world file finds the type: with its taxon where the
// name alone is not enough.
func typeName(t *registry.EntityType, reg *registry.Registry) string {
	if len(reg.TypesNamed(t.Name)) > 1 {
		return t.Taxon.Name + "|" + t.Name
	}
	return t.Name
}
