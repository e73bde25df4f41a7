package confine

import (
	"slices"
	"strings"

	"umwelt/cascade"
	"umwelt/diag"
)

// Tree is the project with the mode that the policy gives each path, before Plan lowers
// what mounts cannot give. An error among the diagnostics makes it void.
func Tree(res *cascade.Resolution) (*Node, diag.List) {
	r := newReader(res, Options{})
	switch {
	case r.typ("file") == nil || r.typ("dir") == nil:
		r.problems.Errorf(diag.Invalid, diag.Span{}, "the vocabulary has no files and directories")
		return nil, r.problems
	case r.world.Root == "":
		r.problems.Errorf(diag.Invalid, diag.Span{}, "the world has no project root")
		return nil, r.problems
	}
	return r.readTree(), r.problems
}

// Cap lets nobody do more than most at a path of the tree, which n is the root of. Where
// nothing is known at the path, it is from then on. It reports whether more was allowed
// there before. A directory, or a path that leads out, is left as it is.
func (n *Node) Cap(path string, most Mode) bool {
	path, problem := cleanPath(path)
	if problem != "" {
		return false
	}
	in := n
	parts := strings.Split(path, "/")
	for i, name := range parts {
		k, known := slices.BinarySearchFunc(in.Children, name, func(c *Node, name string) int { return strings.Compare(c.Name, name) })
		last := i == len(parts)-1
		switch {
		case !known && last:
			in.Children = slices.Insert(in.Children, k, &Node{Name: name, Mode: min(in.Mode, most)})
			return in.Mode > most
		case !known:
			in.Children = slices.Insert(in.Children, k, &Node{Name: name, Kind: Dir, Mode: in.Mode, By: in.By})
		case last != (in.Children[k].Kind != Dir):
			return false
		}
		in = in.Children[k]
	}
	more := in.Mode > most
	in.Mode = min(in.Mode, most)
	return more
}
