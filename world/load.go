package world

import (
	"path/filepath"

	"umwelt/diag"
)

// Load reads the world file at path, with all that it includes, runs its recipes and
// returns the world. Where the diagnostics hold an error the world is nil.
func Load(path string, o Options) (*World, diag.List) {
	src, err := readSource(path, path)
	if err != nil {
		var l diag.List
		l.Errorf(diag.Include, diag.Span{Source: &diag.Source{Name: path}}, "the world file cannot be read: %s", errorText(err))
		return nil, l
	}
	o.tell(src)
	return LoadText(src, filepath.Dir(path), o)
}

// LoadText is Load for text that is at hand. Includes are looked up in dir; "" allows none.
func LoadText(src *diag.Source, dir string, o Options) (*World, diag.List) {
	c := newComposer(o)
	src = c.source(src)
	id := src.Name
	if dir != "" {
		base, err := resolve(dir)
		if err != nil {
			c.Errorf(diag.Include, diag.Span{Source: src}, "the directory of the world file cannot be read: %s", errorText(err))
			return nil, c.List
		}
		c.base = base
		if real, err := resolve(src.Name); err == nil {
			id = real // so that a file that includes itself is seen to
		}
	}
	doc := readDocument(src, o.Registry, &c.List)
	if doc == nil {
		return nil, c.List
	}
	doc.dir, doc.shown = c.base, dir
	c.name = stem(src.Name)
	if n := doc.root.get("name"); n != nil {
		if text, ok := textOf(n, "name", &c.List); ok {
			c.name = text
		}
	} else if doc.snapshot {
		c.name = ""
	}
	c.stack = []string{id}
	c.add(doc, "", Explicit)
	if c.HasErrors() {
		return nil, c.List // a broken file must not set off a walk of the disk
	}
	w, list := c.finish(doc.root.get("name") != nil)
	if w != nil && doc.snapshot {
		doc.checkDigest(w, c.grown, &list, dir, o)
		w.Diagnostics = list
	}
	return w, list
}

// Implicit is the world where no world file is given: what the implicit matchers find, and
// what the view names that is no path.
func Implicit(o Options) (*World, diag.List) {
	c := newComposer(o)
	if c.rootType != nil {
		c.name = c.rootType.Name
	}
	for _, m := range o.Matchers {
		if m.Implicit {
			c.recipes = append(c.recipes, &Recipe{Matcher: m.Name})
		}
	}
	return c.finish(false)
}

// finish makes the world of what was composed. named says that the file gives the root
// entity's name itself.
func (c *composer) finish(named bool) (*World, diag.List) {
	a := &assembly{composer: c, left: map[pathKey]int32{}}
	a.addRoot(named)
	a.addDeclared()
	a.withholdDeclared()
	a.lookAtDeclared()
	a.discover()
	rules := a.readRules()
	a.addSingletons(rules)
	a.addNamed()
	if c.HasErrors() {
		return nil, c.List
	}
	w := a.build()
	if w != nil {
		w = a.adjust(w, rules)
	}
	if w == nil || c.HasErrors() {
		return nil, c.List
	}
	w.lookUpLinks()
	w.Diagnostics = c.List
	return w, c.List
}
