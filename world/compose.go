package world

import (
	"path/filepath"
	"slices"
	"strings"

	"umwelt/diag"
	"umwelt/registry"
)

// Bounds on what one world may pull in.
const (
	maxIncludes = 1000
	maxIncluded = 64 << 20 // bytes, counted at every inclusion
	maxWritten  = 1 << 18  // entities that files write out, those of snapshots left aside
)

// composer merges world files in the order that decides who wins: required collections,
// included files, shorthands, entities.
type composer struct {
	diag.List
	o          Options
	base       string   // the outermost file's directory, links resolved; "" where it has none
	stack      []string // the files and collections being read, outermost first
	includes   int
	included   int    // bytes
	collection string // the collection being read; "" for none

	name        string // of the root entity
	rootType    *registry.EntityType
	root        *draft
	drafts      []*draft
	known       map[key]*draft
	sources     map[string]*diag.Source
	projections []*draft
	projected   map[key]int // by what, the place in projections
	written     int         // entities so far, those of snapshots left aside
	grown       bool        // something was added that no file names
	recipes     []*Recipe
	overrides   []pair
	fixed       []pair
	excludes    []*node
	left        []Entity // what snapshots say is withheld
}

func newComposer(o Options) *composer {
	c := &composer{o: o, known: map[key]*draft{}, projected: map[key]int{}}
	for _, t := range o.Registry.Types() {
		if t.Root {
			c.rootType = t
			break
		}
	}
	return c
}

// source is a source that keeps private what the options say.
func (c *composer) source(src *diag.Source) *diag.Source {
	if c.o.Private == nil || src.Private != nil {
		return src
	}
	own := *src
	own.Private = c.o.Private
	return &own
}

// sections are what of a file takes part: all of it, or one key.
type section string

func (s section) has(key string) bool { return s == "" || string(s) == key }

// add merges one document. origin is that of its entities.
func (c *composer) add(doc *document, only section, origin Origin) {
	get := func(key string) *node {
		if !only.has(key) {
			return nil
		}
		return doc.root.get(key)
	}
	doc.whole = only == ""
	if !doc.snapshot && !c.room(doc, get) {
		return
	}
	if require := get("require"); require != nil {
		for _, item := range namedItems(require, "require", &c.List) {
			c.require(item)
		}
	}
	if include := get("include"); include != nil {
		for _, item := range namedItems(include, "include", &c.List) {
			c.include(doc, item)
		}
	}
	here := map[key]diag.Span{}
	for _, p := range doc.root.pairs {
		if s := c.o.Registry.Shorthand(p.key); s != nil && only.has(p.key) && !slices.Contains(knownKeys, p.key) {
			c.shorthand(s, p, origin, here)
		}
	}
	clear(here) // an entry of "entities" may say more of what a shorthand names
	get("entities").each("entities", &c.List, func(n *node) {
		if d := c.readEntity(doc, n, origin); d != nil && c.once(here, d, n.at) {
			c.put(d, origin)
		}
	})
	get("projections").each("projections", &c.List, func(n *node) {
		if d := c.readEntity(doc, n, Projected); d != nil && c.once(here, d, n.at) {
			c.project(d)
		}
	})
	if doc.snapshot {
		get("withheld").each("withheld", &c.List, func(n *node) {
			if d := c.readEntity(doc, n, Discovered); d != nil && c.holdsPath(d, n) {
				c.left = append(c.left, d.Entity)
			}
		})
	}
	get("discover").each("discover", &c.List, func(n *node) {
		if r := readRecipe(n, c.o.Matchers, &c.List); r != nil {
			c.recipes = append(c.recipes, r)
		}
	})
	get("overrides").eachPair("overrides", &c.List, func(p pair) { c.overrides = append(c.overrides, p) })
	get("fixed").eachPair("fixed", &c.List, func(p pair) { c.fixed = append(c.fixed, p) })
	if exclude := get("exclude"); exclude != nil {
		c.excludes = append(c.excludes, namedItems(exclude, "exclude", &c.List)...)
	}
}

// room counts the entities that a document writes out, and reports whether that is not
// too many.
func (c *composer) room(doc *document, get func(string) *node) bool {
	count := func(n *node) {
		if n == nil {
			return
		}
		if c.written += len(n.items); c.written > maxWritten && c.written-len(n.items) <= maxWritten {
			c.Errorf(diag.TooLarge, n.at, "more than %d entities are written out", maxWritten)
		}
	}
	count(get("entities"))
	count(get("projections"))
	for _, p := range doc.root.pairs {
		if c.o.Registry.Shorthand(p.key) != nil && !slices.Contains(knownKeys, p.key) {
			count(get(p.key))
		}
	}
	return c.written <= maxWritten
}

// holdsPath reports whether a draft lies somewhere below the root, and says where not.
func (c *composer) holdsPath(d *draft, n *node) bool {
	if !underRoot(d.Type, c.o.Registry) || d.Path() == "" {
		c.Errorf(diag.BadEntity, n.at, "%s %s lies nowhere below the root, so it cannot be withheld", d.Type.Name, diag.Quote(d.ID))
		return false
	}
	return true
}

// namedItems are the texts of a list, with their places.
func namedItems(n *node, what string, l *diag.List) []*node {
	if n.kind == scalarNode && !n.null {
		return []*node{n}
	}
	var out []*node
	n.each(what, l, func(item *node) {
		if _, ok := textOf(item, what, l); ok {
			out = append(out, item)
		}
	})
	return out
}

// once reports an entity that one section of one file gives twice.
func (c *composer) once(here map[key]diag.Span, d *draft, at diag.Span) bool {
	k := key{d.Type, d.ID}
	if first, ok := here[k]; ok {
		c.Errorf(diag.Duplicate, at, "%s %s is given twice", d.Type.Name, diag.Quote(d.ID)).Related = []diag.Related{{Span: first, Message: "first here"}}
		return false
	}
	here[k] = at
	return true
}

// put merges a declared entity: the later account of a (type, id) replaces the earlier,
// and keeps its place in the order. One that only a shorthand names takes nothing away.
func (c *composer) put(d *draft, origin Origin) {
	if d.Type == c.rootType && c.rootType != nil {
		if origin == Included {
			return // an included file does not say what the outermost world is
		}
		if c.root != nil && c.root.ID != d.ID {
			c.Errorf(diag.BadEntity, d.Provenance.At, "a world has one %s, and %s is another", d.Type.Name, diag.Quote(c.root.ID))
			return
		}
		c.root = d
		return
	}
	k := key{d.Type, d.ID}
	old := c.known[k]
	if old == nil {
		c.known[k] = d
		c.drafts = append(c.drafts, d)
		return
	}
	if d.bare {
		d.absorb(&old.Entity)
		d.parentType, d.parentID, d.parentAt = old.parentType, old.parentID, old.parentAt
		d.bare = old.bare
	}
	*old = *d
}

// project adds a projection. A declared entity of the same name wins over it.
func (c *composer) project(d *draft) {
	k := key{d.Type, d.ID}
	if i, ok := c.projected[k]; ok {
		c.projections[i] = d
		return
	}
	c.projected[k] = len(c.projections)
	c.projections = append(c.projections, d)
}

// shorthand turns a registered key into entities.
func (c *composer) shorthand(s *registry.Shorthand, p pair, origin Origin, here map[key]diag.Span) {
	t := c.typeNamed(s.Entity, p.keyAt)
	if t == nil {
		return
	}
	add := func(n *node) {
		id, ok := textOf(n, p.key, &c.List)
		if !ok {
			return
		}
		d := &draft{bare: true}
		d.Type, d.ID, d.Parent = t, id, NoParent
		d.Provenance = Provenance{Origin: origin, At: n.at, By: c.collection}
		if c.once(here, d, n.at) && c.complete(d, n.at, false) {
			c.put(d, origin)
		}
	}
	switch s.Form {
	case "list":
		p.value.each(p.key, &c.List, add)
	case "map":
		d := &draft{bare: true}
		d.Type, d.ID, d.Parent = t, t.Name, NoParent
		d.Provenance = Provenance{Origin: origin, At: p.keyAt, By: c.collection}
		good := true
		p.value.eachPair(p.key, &c.List, func(p pair) {
			a, ok := c.readAttribute(t, p)
			if good = good && ok; ok {
				d.Attributes = append(d.Attributes, a)
			}
		})
		if good && p.value.kind == mapNode && c.once(here, d, p.keyAt) && c.complete(d, p.keyAt, false) {
			c.put(d, origin)
		}
	default:
		add(p.value)
	}
}

// require merges a named collection.
func (c *composer) require(n *node) {
	name, _ := n.scalar()
	var src *diag.Source
	ok := false
	if c.o.Collections != nil {
		src, ok = c.o.Collections(name)
	}
	if !ok {
		c.Errorf(diag.Include, n.at, "there is no collection %s", diag.Quote(name))
		return
	}
	was := c.collection
	c.collection = name
	c.nested("require "+name, n, src, "")
	c.collection = was
}

// include merges another world file, or one section of it.
func (c *composer) include(doc *document, n *node) {
	text, _ := n.scalar()
	file, only, _ := strings.Cut(text, "#")
	if doc.dir == "" {
		c.Errorf(diag.Include, n.at, "%s cannot be included: this text lies in no directory", diag.Quote(text))
		return
	}
	shown := filepath.FromSlash(file)
	full := shown
	if !filepath.IsAbs(full) {
		shown, full = filepath.Join(doc.shown, full), filepath.Join(doc.dir, full)
	}
	real, err := resolve(full)
	if err != nil {
		c.Errorf(diag.Include, n.at, "%s cannot be read: %s", diag.Quote(file), errorText(err))
		return
	}
	if there, err := resolve(shown); err != nil || there != real {
		shown = real // on the way there, a link leads elsewhere than the words
	}
	if !c.o.AllowOutside && !below(c.base, real) {
		d := c.Errorf(diag.Include, n.at, "%s lies outside the directory of the outermost world file", diag.Quote(file))
		d.Hint = "--allow-outside lets it in"
		return
	}
	src, err := readSource(real, shown)
	if err != nil {
		c.Errorf(diag.Include, n.at, "%s cannot be read: %s", diag.Quote(file), errorText(err))
		return
	}
	c.o.tell(src)
	if strings.Contains(text, "#") && only == "" {
		c.Errorf(diag.Include, n.at, "the section after # is missing")
		return
	}
	c.nested(real, n, src, section(only))
}

// nested reads and merges a document that another asks for at n. id is the path of a file,
// links resolved.
func (c *composer) nested(id string, n *node, src *diag.Source, only section) {
	if slices.Contains(c.stack, id) {
		c.Errorf(diag.ImportCycle, n.at, "%s includes itself, directly or through others", diag.Quote(src.Name))
		return
	}
	c.includes++
	c.included += len(src.Text)
	if c.includes > maxIncludes || c.included > maxIncluded {
		if c.includes <= maxIncludes+1 {
			c.Errorf(diag.TooLarge, n.at, "too much is included; the bounds are %d files and %d bytes", maxIncludes, maxIncluded)
			c.includes = maxIncludes + 1
		}
		return
	}
	src = c.source(src)
	doc := readDocument(src, c.o.Registry, &c.List)
	if doc == nil {
		return
	}
	if only != "" && (doc.root.get(string(only)) == nil || only == "name" || only == "meta") {
		c.Errorf(diag.Include, n.at, "%s has no section %s", diag.Quote(src.Name), diag.Quote(string(only)))
		return
	}
	if filepath.IsAbs(id) {
		doc.dir, doc.shown = filepath.Dir(id), filepath.Dir(src.Name)
	}
	c.stack = append(c.stack, id)
	c.add(doc, only, Included)
	c.stack = c.stack[:len(c.stack)-1]
}
