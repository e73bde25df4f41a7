// Package discover holds the first-party discovery matchers: they look at the host and say
// what exists. They know the entity types and attributes that they emit; the package world
// does not.
package discover

import (
	"cmp"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"umwelt/diag"
	"umwelt/registry"
	"umwelt/world"
)

// Host is what the matchers look at beside the project. The zero value is this machine.
type Host struct {
	Root    string          // where the host's file tree begins; "" is "/"
	Environ func() []string // "NAME=value" pairs; nil is none
}

// Matchers are the first-party matchers over a host, in the order of the documentation.
func Matchers(h Host) []world.Discoverer {
	if h.Root == "" {
		h.Root = "/"
	}
	return []world.Discoverer{
		{Name: "filesystem", Keys: []string{"root", "include", "exclude", "max-depth", "hidden", "follow"}, Implicit: true, Run: filesystem, Look: look},
		{Name: "git", Keys: []string{"root", "tracked", "ignored"}, Run: git},
		{Name: "system", Implicit: true, Run: h.system},
		{Name: "executables", Keys: []string{"names", "search-path"}, Run: h.executables},
		{Name: "mcp", Keys: []string{"file"}, Run: mcp},
		{Name: "env", Keys: []string{"names"}, Run: h.env},
	}
}

// The entity types that the matchers emit.
const (
	dirType   = "dir"
	fileType  = "file"
	mountType = "mount"
	execType  = "exec"
	envType   = "env"
	toolType  = "tool"
)

// typeOf finds an entity type, and reports where the vocabulary lacks it: a matcher without
// its type can say nothing.
func typeOf(req *world.Request, res *world.Result, name string) *registry.EntityType {
	t := req.Registry.Type(name)
	if t == nil {
		res.Diagnostics.Errorf(diag.Matcher, req.Recipe.At, "the matcher %s needs the entity type %s, which no vocabulary registers", req.Recipe.Matcher, name)
	}
	return t
}

// made is an entity without structure of its own.
func made(t *registry.EntityType, id string, attrs ...world.Attribute) world.Entity {
	return world.Entity{Type: t, ID: id, Attributes: world.Complete(t, id, attrs), Parent: world.NoParent}
}

func attr(name, text string) world.Attribute { return world.Attribute{Name: name, Text: text} }

// typed is an attribute of type t; ok is false where the vocabulary takes no such text.
func typed(reg *registry.Registry, t *registry.EntityType, name, text string) (a world.Attribute, ok bool) {
	r := t.Attribute(name)
	if r == nil {
		return attr(name, text), true
	}
	v, problem := reg.TypeText(r.Type, text)
	if problem != "" {
		return a, false
	}
	return world.Attribute{Name: r.Name, Text: v.Text, List: v.List}, true
}

// place is where a recipe's root lies.
type place struct {
	base   string // an absolute directory that may be reached through links
	inside string // below base, with forward slashes, reached through no link; "." for base itself
	prefix string // what paths of entities begin with: "", "sub/", or "/abs/"
}

// placeOf reads the recipe's root. It must not climb; an absolute one may lie outside the
// project, since the world names it.
func placeOf(req *world.Request, res *world.Result) (p place, ok bool) {
	text := req.Recipe.Text("root", ".")
	at := req.Recipe.Where("root")
	if slices.Contains(strings.Split(text, "/"), "..") {
		res.Diagnostics.Errorf(diag.BadPath, at, "the root %s has a .. in it", diag.Quote(text))
		return p, false
	}
	if req.Root == "" {
		res.Diagnostics.Errorf(diag.Matcher, at, "there is no project root to look below")
		return p, false
	}
	clean := path.Clean(text)
	if path.IsAbs(clean) {
		rel, err := filepath.Rel(req.Root, filepath.FromSlash(clean))
		if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return place{base: filepath.FromSlash(clean), inside: ".", prefix: strings.TrimSuffix(clean, "/") + "/"}, true
		}
		clean = filepath.ToSlash(rel)
	}
	if clean == "." {
		return place{base: req.Root, inside: "."}, true
	}
	return place{base: req.Root, inside: clean, prefix: clean + "/"}, true
}

// byID sorts found entities and drops those found twice.
func byID(found []world.Entity) []world.Entity {
	slices.SortStableFunc(found, func(a, b world.Entity) int { return cmp.Compare(a.ID, b.ID) })
	return slices.CompactFunc(found, func(a, b world.Entity) bool { return a.ID == b.ID })
}
