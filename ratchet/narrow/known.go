package narrow

import (
	"slices"
	"strings"

	"umwelt/registry"
	"umwelt/world"
)

// known is what the world has of the project's files and directories, by path.
type known struct {
	world     *world.World
	file, dir *registry.EntityType
	files     []string       // paths, sorted
	fileAt    map[string]int // index into World.Entities
	dirAt     map[string]int // the root, too, as "."
	withheld  map[string]bool
}

func knownOf(w *world.World) *known {
	k := &known{world: w, fileAt: map[string]int{}, dirAt: map[string]int{}, withheld: map[string]bool{}}
	k.file, k.dir = typeOf(w.Registry, "file"), typeOf(w.Registry, "dir")
	if i := w.RootEntity(); i >= 0 {
		k.dirAt["."] = i
	}
	for i := range w.Entities {
		switch e := &w.Entities[i]; e.Type {
		case nil:
		case k.file:
			p := cleanPath(e.Path())
			if _, twice := k.fileAt[p]; !twice {
				k.fileAt[p] = i
				k.files = append(k.files, p)
			}
		case k.dir:
			k.dirAt[cleanPath(e.Path())] = i
		}
	}
	slices.Sort(k.files)
	for i := range w.Withheld {
		p := cleanPath(w.Withheld[i].Path())
		k.withheld[p] = true
	}
	return k
}

// typeOf is the entity type of the sandbox vocabulary by that name, or nil. Another
// vocabulary may have a type of the same name in a taxon of its own.
func typeOf(reg *registry.Registry, name string) *registry.EntityType {
	types := reg.TypesNamed(name)
	for _, t := range types {
		if t.Taxon.Name == "world" || t.Taxon.Name == "capability" || len(types) == 1 {
			return t
		}
	}
	return nil
}

func cleanPath(p string) string {
	p = strings.TrimPrefix(p, "./")
	if len(p) > 1 {
		p = strings.TrimSuffix(p, "/")
	}
	return p
}

// leftOut reports whether the world leaves a path out, so that nothing of it can be granted.
func (k *known) leftOut(p string) bool {
	if len(k.withheld) == 0 {
		return false
	}
	if k.withheld[p] {
		return true
	}
	for dir := range ancestors(p) {
		if k.withheld[dir] && dir != "" {
			return true
		}
	}
	return false
}

// holder is the nearest directory of the world that a path lies in, "" for the project.
func (k *known) holder(p string) string {
	for dir := range ancestors(p) {
		if _, ok := k.dirAt[dir]; ok {
			return dir
		}
	}
	return ""
}

// dirIndex is the entity of a directory, "" for the project itself, or -1.
func (k *known) dirIndex(dir string) int {
	if dir == "" {
		dir = "."
	}
	if i, ok := k.dirAt[dir]; ok {
		return i
	}
	return -1
}
