package confine

import (
	"strings"

	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/registry"
	"umwelt/world"
)

// permissions are the two properties that make a mode.
type permissions struct {
	visible, editable *registry.Property
}

func permissionsOf(t *registry.EntityType) permissions {
	return permissions{t.Property("visible"), t.Property("editable")}
}

// readTree is the project as the world has it, each path with what the policy says.
func (r *reader) readTree() *Node {
	dirs, files := r.typ("dir"), r.typ("file")
	uses := r.readUses()
	perms := permissionsOf(files)
	// One allocation for all nodes, and the world's own order, in which parents come first.
	nodes := make([]Node, len(r.of(dirs))+len(r.of(files)))
	places := make([]place, 0, len(nodes))
	for i := range r.world.Entities {
		t := r.world.Entities[i].Type
		if t != dirs && t != files {
			continue
		}
		p, ok := r.locate(i)
		if !ok {
			continue
		}
		n := &nodes[len(places)]
		if t == dirs {
			*n = r.directory(i, p, dirs, files, uses)
		} else {
			*n = r.file(i, p, perms, uses)
		}
		places = append(places, place{p, n})
	}
	var left []place
	for i := range r.world.Withheld {
		e := &r.world.Withheld[i]
		p, problem := cleanPath(e.Path())
		switch {
		case problem != "" || e.Type != dirs && e.Type != files:
			// It lies nowhere that a mount could show.
		case e.Type == dirs:
			left = append(left, place{p, &Node{Kind: Dir, Left: true}})
		default:
			n := &Node{Kind: kindOf(e), Left: true}
			n.Target, _ = e.Attr("target")
			left = append(left, place{p, n})
		}
	}
	root := r.root(files, uses)
	grow(root, weave(places, left))
	r.tieTwins(root, files)
	return root
}

// kindOf is what stands at a file's path.
func kindOf(e *world.Entity) Kind {
	switch kind, _ := e.Attr("kind"); kind {
	case "", "regular":
		return File
	case "symlink":
		return Symlink
	}
	return Special
}

// locate is where an entity lies in the project. One that lies nowhere in it is refused:
// it is an error, since a path that climbs out must not be passed on in silence.
func (r *reader) locate(i int) (string, bool) {
	e := &r.world.Entities[i]
	p, problem := cleanPath(e.Path())
	if problem != "" {
		r.problems.Errorf(diag.BadPath, e.Provenance.At, "the path %s of %s %s", diag.Quote(e.Path()), diag.Quote(e.ID), problem)
		return "", false
	}
	return p, true
}

// file is the truth about one file: it is visible where its rules say so, writable where
// it is visible and editable, and no use of it says less.
func (r *reader) file(i int, path string, perms permissions, uses []use) Node {
	e := &r.world.Entities[i]
	n := Node{Kind: kindOf(e)}
	if n.Kind == Symlink {
		n.Target, _ = e.Attr("target")
		n.Escapes = n.Target == "" || strings.ContainsRune(n.Target, 0) || e.HasClass("escapes") || leadsOut(r.world.Root, path, n.Target)
	}
	visible := r.res.Get(i, perms.visible)
	n.By = by(visible)
	if !visible.Value.Bool() {
		return n
	}
	n.Mode = ReadOnly
	if editable := r.res.Get(i, perms.editable); set(editable) {
		n.By = by(editable)
		if editable.Value.Bool() {
			n.Mode = ReadWrite
		}
	}
	for _, u := range uses {
		if u.mode < n.Mode && u.covers(r, i, path) {
			n.Mode, n.By = u.mode, u.by
		}
	}
	return n
}

// directory is what may become of files created below a directory, and whether the
// directory itself appears.
func (r *reader) directory(i int, path string, dirs, files *registry.EntityType, uses []use) Node {
	n := Node{Kind: Dir}
	e := &r.world.Entities[i]
	visible, editable := r.property(i, dirs, "visible"), r.property(i, dirs, "editable")
	n.Shown = visible.Value.Bool()
	n.whole = r.whole(i, path, dirs)
	if !n.whole && !e.Listed {
		// What else it holds is not known, so it shows only what the world names in it.
		r.unlisted(i, path, files, uses)
		return n
	}
	n.Mode, n.By = r.future(i, path, files, uses, n.whole)
	lower := func(own cascade.Effective, to Mode) {
		if set(own) && !own.Value.Bool() && n.Mode > to {
			n.Mode, n.By = to, by(own)
		}
	}
	lower(editable, ReadOnly)
	lower(visible, Hidden)
	return n
}

// whole reports whether the world has everything that a directory holds without naming it,
// since it is a projection or lies in one. What a matcher listed counts name by name.
func (r *reader) whole(i int, path string, dirs *registry.EntityType) bool {
	for at := int32(i); at != world.NoParent; at = r.world.Entities[at].Parent {
		e := &r.world.Entities[at]
		switch p, _ := cleanPath(e.Path()); {
		case e.Type != dirs || e.Listed || e.HasClass("unreadable") || p != path && !below(path, p):
			return false
		case e.Provenance.Origin == world.Projected:
			return true
		}
	}
	return false
}

// unlisted notes a directory that is not granted whole, where a rule would.
func (r *reader) unlisted(i int, path string, files *registry.EntityType, uses []use) {
	quiet := *r
	quiet.unsure = unsure{}
	if mode, source := quiet.future(i, path, files, uses, true); mode > Hidden {
		r.unknown = append(r.unknown, Lowering{Path: path, Kind: Dir, From: mode, To: Hidden, By: source, Why: whyUnknown})
	}
}

// root is the project's root as a directory, for which the world has its own root entity.
func (r *reader) root(files *registry.EntityType, uses []use) *Node {
	n := &Node{Kind: Dir}
	for i := range r.world.Entities {
		e := &r.world.Entities[i]
		if !e.Type.Root || e.Type.Taxon != files.Taxon {
			continue
		}
		if e.Listed {
			n.Mode, n.By = r.future(i, ".", files, uses, false)
		} else {
			r.unlisted(i, ".", files, uses)
		}
		break
	}
	return n
}

// future is the mode of files that are created below a directory later. Where it depends on
// their names it is the tightest, or the usual one if the options ask for it and the
// directory holds nothing yet that the world does not name.
func (r *reader) future(dir int, path string, files *registry.EntityType, uses []use, tight bool) (Mode, Source) {
	perms := permissionsOf(files)
	usual := r.options.Usual && !tight
	visible := r.later(dir, files, perms.visible, usual)
	editable := r.later(dir, files, perms.editable, usual)
	unsure := &r.unsure
	if usual {
		unsure = &r.aside
	}
	if !visible.decided {
		unsure.add(path, visible, perms.visible, perms.editable, files.Property("show"))
	}
	if visible.least && !editable.decided {
		unsure.add(path, editable, perms.editable)
	}
	mode, source := Hidden, visible.by
	if visible.least {
		mode = ReadOnly
		if editable.by.Declaration != nil {
			source = editable.by
		}
		if editable.least {
			mode = ReadWrite
		}
	}
	for _, u := range uses {
		if u.mode < mode && u.mayCover(r, path) {
			mode, source = u.mode, u.by
		}
	}
	return mode, source
}
