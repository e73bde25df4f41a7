package confine

import (
	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/registry"
)

// Tree is the project with the mode that the policy gives each path, before Plan lowers
// what mounts cannot give. An error among the diagnostics makes it void.
func Tree(res *cascade.Resolution) (*Node, diag.List) {
	r := &reader{res: res, world: res.World(), byType: map[*registry.EntityType][]int{}}
	switch {
	case r.typ("file") == nil || r.typ("dir") == nil:
		r.problems.Errorf(diag.Invalid, diag.Span{}, "the vocabulary has no files and directories")
		return nil, r.problems
	case r.world.Root == "":
		r.problems.Errorf(diag.Invalid, diag.Span{}, "the world has no project root")
		return nil, r.problems
	}
	for i := range r.world.Entities {
		t := r.world.Entities[i].Type
		r.byType[t] = append(r.byType[t], i)
	}
	return r.readTree(), r.problems
}
