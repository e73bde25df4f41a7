package discover

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"umwelt/diag"
	"umwelt/registry"
	"umwelt/world"
)

// Classes of entities that the walk itself knows to be special. The slices are shared.
var (
	escapesClass    = []string{"escapes"}
	unreadableClass = []string{"unreadable"}
)

// The attributes that the walk can tell, named by position.
const (
	atPath = iota
	atName
	atLanguage
	atKind
	atTarget
	atSize
	atMtime
	atMode
	atLinks
	atTwin
	attrCount
)

var attrNames = [attrCount]string{"path", "name", "language", "kind", "target", "size", "mtime", "mode", "links", "twin"}

// shape is how entities of a type are laid out.
type shape struct {
	typ   *registry.EntityType
	names [attrCount]string
	order [attrCount]int // position → attribute, in the order of the vocabulary
}

// emitter turns listings into entities.
type emitter struct {
	req       *world.Request
	res       *world.Result
	place     place
	bounds    bounds
	walker    *walker
	dir, file shape
	slab      []world.Attribute
	twins     map[string]string // by the path of a name of a file that has several, the first of them
}

func (e *emitter) shapeOf(name string) shape {
	s := shape{typ: typeOf(e.req, e.res, name), names: attrNames}
	if s.typ == nil {
		return s
	}
	if s.typ.PathAttr != "" {
		s.names[atPath] = s.typ.PathAttr
	}
	var attrs []world.Attribute
	for i, n := range s.names {
		if r := s.typ.Attribute(n); r != nil {
			s.names[i] = r.Name
		}
		attrs = append(attrs, world.Attribute{Name: s.names[i]})
	}
	for i, a := range world.Complete(s.typ, "", attrs)[:attrCount] {
		s.order[i] = slices.Index(s.names[:], a.Name)
	}
	return s
}

// roomBefore is for how many entities, which the world has already, there is room beside
// those that are found: then they need not be copied.
const roomBefore = 256

// emit fills the result, parents before what they hold.
func (e *emitter) emit(top *listing) {
	entities, withheld := count(top)
	e.findTwins(top)
	e.res.Entities = inLargePages(make([]world.Entity, 0, entities+strings.Count(e.place.prefix, "/")+roomBefore))
	e.res.Withheld = make([]world.Entity, 0, withheld)
	e.slab = inLargePages(make([]world.Attribute, 0, 3*(entities+withheld)))
	parent := e.leading()
	complete := e.listing(top, parent, "")
	switch {
	case parent != world.NoParent:
		e.res.Entities[parent].Listed = complete
	case e.place.prefix == "":
		e.res.RootListed = complete
	}
	if top.err != nil && parent != world.NoParent {
		e.res.Entities[parent].Classes = unreadableClass
	}
}

// leading makes entities of the directories of the project that lead to the recipe's root,
// which is the last, and returns its index.
func (e *emitter) leading() int32 {
	parent := world.NoParent
	if e.place.inside == "." || strings.HasPrefix(e.place.prefix, "/") {
		return parent
	}
	above, name := ".", 0
	for i := range len(e.place.inside) + 1 {
		if i < len(e.place.inside) && e.place.inside[i] != '/' {
			continue
		}
		x := entry{path: e.place.inside[:i], name: int32(name), kind: directory}
		var look looked
		if e.req.Stat {
			if at, err := e.walker.tree.at(above); err == nil {
				if f, err := at.stat(x.path[name:]); err == nil {
					e.facts(&x, f, &look.more)
				}
				at.close()
			}
		}
		ent := e.entity(&x, &look.more)
		ent.Parent = parent
		parent = int32(len(e.res.Entities))
		e.res.Entities = append(e.res.Entities, ent)
		above, name = x.path, i+1
	}
	return parent
}

// count is how many entities a listing makes and how many things it leaves out. A
// directory that stands only for what is below it is left out where nothing is.
func count(l *listing) (entities, withheld int) {
	kept := l.entries[:0]
	for _, x := range l.entries {
		if x.sub != nil {
			if x.sub.err != nil && went(x.sub.err) {
				l.partial = true // it vanished, or became a link, after its parent was read
				continue
			}
			below, left := count(x.sub)
			if x.left = !x.keep && below == 0 && x.sub.err == nil; x.left {
				x.sub = nil
			} else {
				entities, withheld = entities+below, withheld+left
			}
		}
		if x.left {
			withheld++
		} else {
			entities++
		}
		kept = append(kept, x)
	}
	l.entries = kept
	return entities, withheld
}

// listing makes entities of what a directory holds, and reports whether that is all of it.
func (e *emitter) listing(l *listing, parent int32, dir string) (complete bool) {
	complete = l.err == nil && !l.partial
	looks := e.lookCloser(l, dir)
	for i := range l.entries {
		x := &l.entries[i]
		var look looked
		if looks != nil {
			if look = looks[i]; look.gone {
				complete = false
				continue
			}
		}
		ent := e.entity(x, &look.more)
		if look.escapes {
			ent.Classes = escapesClass
		}
		if x.left {
			ent.Parent = world.NoParent
			e.res.Withheld = append(e.res.Withheld, ent)
			continue
		}
		ent.Parent = parent
		self := int32(len(e.res.Entities))
		if x.sub != nil && x.sub.err != nil {
			ent.Classes = unreadableClass
			e.res.Diagnostics.Warnf(diag.Unreadable, e.req.Recipe.At, "the directory %s cannot be read (%s), so what it holds is not in the world", diag.Quote(x.path), reason(x.sub.err))
		}
		e.res.Entities = append(e.res.Entities, ent)
		if x.sub != nil {
			whole := e.listing(x.sub, self, x.path)
			e.res.Entities[self].Listed = whole
		}
	}
	return complete
}

// entity lays out an entry. more holds what the name does not tell, "" for nothing.
func (e *emitter) entity(x *entry, more *[attrCount]string) world.Entity {
	s := &e.file
	if x.kind == directory {
		s = &e.dir
	}
	name := x.path[x.name:]
	more[atPath], more[atName] = x.path, name
	if x.kind == regular {
		more[atLanguage] = languageOf(name)
	} else if x.kind != directory {
		more[atKind] = x.kind.String()
	}
	if len(e.twins) > 0 {
		more[atTwin] = e.twins[x.path]
	}
	from := len(e.slab)
	for _, i := range s.order {
		if more[i] != "" {
			e.slab = append(e.slab, world.Attribute{Name: s.names[i], Text: more[i]})
		}
	}
	return world.Entity{Type: s.typ, ID: x.path, Attributes: e.slab[from:len(e.slab):len(e.slab)]}
}

// looked is what a look at an entry itself tells, beside its name and kind.
type looked struct {
	more    [attrCount]string
	escapes bool
	gone    bool
}

// lookCloser looks at the entries of a directory that need it: links, and all where the
// request wants what only a look tells. It is nil where none does.
func (e *emitter) lookCloser(l *listing, dir string) []looked {
	if !e.req.Stat && !slices.ContainsFunc(l.entries, func(x entry) bool { return x.kind == symlink }) {
		return nil
	}
	inside, from := e.place.inside, ""
	if dir != "" {
		inside = e.walker.relative(dir)
	}
	if inside != "." {
		from = inside
	}
	out := make([]looked, len(l.entries))
	at, err := e.walker.tree.at(inside)
	if err != nil {
		for i := range out {
			out[i].gone = went(err)
			out[i].escapes = l.entries[i].kind == symlink // where it leads is unknown
		}
		return out
	}
	defer at.close()
	for i := range out {
		x, look := &l.entries[i], &out[i]
		name := x.path[x.name:]
		if x.kind == symlink {
			target, err := at.readlink(name)
			if err != nil {
				look.gone = true
				continue
			}
			look.more[atTarget] = target
			look.escapes = e.bounds.escapes(from, target)
		}
		if e.req.Stat && !x.left {
			f, err := at.stat(name)
			if err != nil {
				look.gone = true
				continue
			}
			e.facts(x, f, &look.more)
		}
	}
	return out
}

// facts records what a look tells, in the vocabulary's own form.
func (e *emitter) facts(x *entry, f facts, more *[attrCount]string) {
	t := e.file.typ
	if x.kind == directory {
		t = e.dir.typ
	}
	set := func(i int, text string) {
		if a, ok := typed(e.req.Registry, t, attrNames[i], text); ok {
			more[i] = a.Text
		}
	}
	if x.kind == regular {
		set(atSize, strconv.FormatInt(f.size, 10)+"B")
	}
	set(atMtime, f.mtime.UTC().Format(time.RFC3339))
	set(atMode, fmt.Sprintf("%04o", f.mode))
	if x.kind != directory && f.links > 1 {
		set(atLinks, strconv.FormatUint(f.links, 10))
	}
}
