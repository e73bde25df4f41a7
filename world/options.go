package world

import (
	"umwelt/diag"
	"umwelt/registry"
)

// Options say how a world is loaded.
type Options struct {
	Registry *registry.Registry
	// Root is the project root, absolute and clean. "" means that the world has none, so
	// no recipe can run.
	Root string
	// Name is the id of the root entity for this run, whatever the file says; "" leaves
	// it to the file.
	Name string
	// AllowOutside lets included files lie outside the outermost file's directory.
	AllowOutside bool
	// Read, if there is one, is told of every world file that is read, the outermost one
	// where it is read from a path, and included ones.
	Read func(src *diag.Source)
	// Stat makes discovery record what needs a look at each entity (size, time, mode)
	// beside what the listing of a directory tells.
	Stat bool
	// Private becomes that of the sources, see diag.Source; nil hides nothing.
	Private func(text []byte, from, to int) bool
	// Matchers are the discovery matchers that recipes may name.
	Matchers []Discoverer
	// Collections gives the text of a named collection, itself a world file, for the key
	// "require"; ok is false where there is none. nil means that there are no collections.
	Collections func(name string) (src *diag.Source, ok bool)
	// Named are entities that a view's selectors name. Of these a world file lets in only
	// the types whose entities exist because a view names them; an implicit world lets in all
	// that are not paths.
	Named []registry.Entity
	// Declared are entities that a view itself brings into being, such as a named group.
	Declared []registry.Entity
}

// tell tells Read of a file.
func (o *Options) tell(src *diag.Source) {
	if o.Read != nil {
		o.Read(src)
	}
}

// Discoverer is a discovery matcher: it finds entities. Run must give the same result for the same outside state,
// whatever the order in which directories are listed.
type Discoverer struct {
	Name string
	// Keys are the recipe keys that the matcher knows, beside "matcher". Any other is an
	// error.
	Keys []string
	// Implicit makes the matcher run, with an empty recipe, where no world file is given.
	Implicit bool
	Run      func(Request) Result
	// Look, if there is one, says what stands at paths that files declare, whatever the
	// recipes; Request has no Recipe then. The paths are relative to Root, sorted and clean.
	// It gives entities with what sets them apart, and where something stands in the way to a
	// path that cannot hold others, that.
	Look func(req Request, paths []string) Result
}

// Request is what a matcher is asked.
type Request struct {
	Registry     *registry.Registry
	Root         string // the project root, absolute and clean
	AllowOutside bool
	Stat         bool
	Recipe       *Recipe
	// Skip are paths of directories that the world has already and that are not to be
	// enumerated: the matcher says nothing of them and of all below them. Where something
	// else than a directory stands there, it is treated like any other. They are relative to
	// Root, sorted, and clean.
	Skip []string
}

// Result is what a matcher found. Entities are complete (see Complete) and in an order that
// depends on nothing but what exists. A Parent is the index of an earlier entity of
// the same result, or NoParent, and then the world finds the parent. Provenance is set by
// the world.
type Result struct {
	Entities    []Entity
	RootListed  bool     // the project root is Listed, as an entity can be
	Withheld    []Entity // what the matcher saw and the recipe leaves out, see World.Withheld
	Diagnostics diag.List
}
