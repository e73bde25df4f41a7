// Package world holds what exists: entities, world files and their composition,
// discovery, materialization and snapshots.
package world

import (
	"umwelt/diag"
	"umwelt/registry"
)

// Entity is one thing that exists. (Type, ID) is unique in a world.
type Entity struct {
	Type       *registry.EntityType
	ID         string
	Classes    []string
	Attributes []Attribute // in the order of the vocabulary, unregistered ones last by name
	Parent     int32       // index in World.Entities, or NoParent
	// Listed says that what lies directly in it is completely known: everything there is an
	// entity or stands in World.Withheld. Only a matcher that looked can say so.
	Listed     bool
	Provenance Provenance
}

// NoParent is the Parent of the root and of entities of taxa without structure.
const NoParent int32 = -1

// Attribute is one fact about an entity. Text is its canonical text, which selectors
// compare; List holds the members where it is a list.
type Attribute struct {
	Name string
	Text string
	List []string
}

// Origin says how an entity came into a world.
type Origin uint8

// The origins.
const (
	Explicit   Origin = iota // written in the outermost world file
	Discovered               // found by a matcher
	Projected                // exists, but what it holds is not enumerated
	Included                 // from an included file or a required collection
	Referenced               // a view names it
)

func (o Origin) String() string {
	return [...]string{"explicit", "discovered", "projected", "included", "referenced"}[o]
}

// Provenance is where an entity came from.
type Provenance struct {
	Origin     Origin
	Overridden bool      // an override touched it
	At         diag.Span // where a file declares it
	By         string    // the matcher or collection; "" for none
}

// World is a materialized world. It is not changed after it was made.
type World struct {
	Registry    *registry.Registry
	Name        string // id of the root entity
	Root        string // the project root as an absolute, clean path; "" where the world has none
	Entities    []Entity
	Fixed       []Fixed
	Diagnostics diag.List
	// Withheld are entities that exist below the root and that the world leaves out: what
	// a recipe passes over and what an exclusion takes away. Nothing of them can be granted,
	// so what holds one must not be handed over whole. Of something left out with all that
	// lies below it, only the outermost stands here. They are sorted by path and have no
	// Parent.
	Withheld []Entity
	// Real says where the absolute paths of the host that the world speaks of lead, for
	// those that lead through symbolic links.
	Real map[string]string

	index  index
	groups []group
	root   int32 // index of the root entity, or NoParent
}

type key struct {
	typ *registry.EntityType
	id  string
}

// group is an entity whose GroupAttr makes it an ancestor of what lies below.
type group struct {
	below  string // ends in "/", or is "" for everything
	entity int32
}

// Fixed is one fixed constraint: the values that clamp every entity its selector fits.
type Fixed struct {
	Selector *registry.Selector
	Values   []registry.TypedValue
	At       diag.Span
}

// Attr is the canonical text of an attribute and whether the entity has it.
func (e *Entity) Attr(name string) (string, bool) {
	for i := range e.Attributes {
		if e.Attributes[i].Name == name {
			return e.Attributes[i].Text, true
		}
	}
	return "", false
}

// Attribute is the attribute of that name, or nil.
func (e *Entity) Attribute(name string) *Attribute {
	for i := range e.Attributes {
		if e.Attributes[i].Name == name {
			return &e.Attributes[i]
		}
	}
	return nil
}

// Path is the text of the attribute that holds the entity's path, "" where it has none.
func (e *Entity) Path() string {
	if e.Type.PathAttr == "" {
		return ""
	}
	p, _ := e.Attr(e.Type.PathAttr)
	return p
}

// HasClass reports whether the entity has the class.
func (e *Entity) HasClass(name string) bool {
	for _, c := range e.Classes {
		if c == name {
			return true
		}
	}
	return false
}

// Find is the index of an entity, or -1.
func (w *World) Find(t *registry.EntityType, id string) int {
	return int(w.index.find(w.Entities, t, id))
}
