package confine

import (
	"cmp"
	"slices"
	"strings"
)

// The longest path and name that Linux takes. Longer ones cannot exist.
const (
	maxPath = 4095
	maxName = 255
)

// place is where an entity stands in the tree: a path, and what the policy says there.
type place struct {
	path string
	node Node // without Name and Children
}

// grow makes a tree of places in any order. The first one is the root, whatever its path.
// A directory that no place stands for takes over what its own directory says of files
// created later. Two places at one path count as the more restrictive of them.
func grow(places []place) *Node {
	root := &Node{Kind: Dir, Mode: places[0].node.Mode, Shown: places[0].node.Shown, By: places[0].node.By}
	rest := places[1:]
	slices.SortStableFunc(rest, func(a, b place) int { return ComparePaths(a.path, b.path) })
	// The directories from the root down to the last place.
	open := []*Node{root}
	names := []string{}
	for _, p := range rest {
		parts := strings.Split(p.path, "/")
		keep := 0
		for keep < len(names) && keep < len(parts)-1 && names[keep] == parts[keep] {
			keep++
		}
		open, names = open[:keep+1], names[:keep]
		for _, name := range parts[keep : len(parts)-1] {
			in := open[len(open)-1]
			open, names = append(open, child(in, Node{Name: name, Kind: Dir, Mode: in.Mode, By: in.By}, true)), append(names, name)
		}
		n := p.node
		n.Name = parts[len(parts)-1]
		made := child(open[len(open)-1], n, false)
		if made.Kind == Dir {
			open, names = append(open, made), append(names, n.Name)
		}
	}
	return root
}

// child adds a node to a directory, or joins it with the one of the same name, which
// stands last. An implied directory says nothing against the one that is there.
func child(in *Node, n Node, implied bool) *Node {
	if k := len(in.Children); k > 0 && in.Children[k-1].Name == n.Name {
		have := in.Children[k-1]
		switch {
		case have.Kind != n.Kind:
			// What contradicts itself is not shown, and is covered as what can hold others.
			kind := have.Kind
			if n.Kind == Dir {
				kind = Dir
			}
			*have = Node{Name: n.Name, Kind: kind, Children: have.Children}
		case !implied && n.Mode < have.Mode:
			have.Mode, have.By = n.Mode, n.By
		}
		have.Shown = have.Shown && (n.Shown || implied)
		have.Escapes = have.Escapes || n.Escapes
		return have
	}
	in.Children = append(in.Children, &n)
	return in.Children[len(in.Children)-1]
}

// cleanPath is a path of the project in the form that plans use, and what is wrong with
// it where it can stand for nothing in the project.
func cleanPath(path string) (string, string) {
	clean := strings.TrimSuffix(strings.TrimPrefix(path, "./"), "/")
	switch {
	case clean == "":
		return "", "is empty"
	case strings.HasPrefix(clean, "/"):
		return "", "is absolute"
	case strings.ContainsRune(clean, 0):
		return "", "holds a NUL byte"
	case len(clean) > maxPath:
		return "", "is longer than any path can be"
	}
	for part := range strings.SplitSeq(clean, "/") {
		switch {
		case part == "..":
			return "", "leads out of the root"
		case part == "." || part == "":
			return "", "has an empty part"
		case len(part) > maxName:
			return "", "has a longer name than any file can have"
		}
	}
	return clean, ""
}

// leadsOut reports whether a symlink at path with the given text points out of the root
// by its words alone. Discovery, which sees what lies on the way, may know better.
func leadsOut(root, path, target string) bool {
	if strings.HasPrefix(target, "/") {
		return target != root && !below(target, root) || slices.Contains(strings.Split(target, "/"), "..")
	}
	depth := strings.Count(path, "/")
	for part := range strings.SplitSeq(target, "/") {
		switch part {
		case "..":
			if depth--; depth < 0 {
				return true
			}
		case ".", "":
		default:
			depth++
		}
	}
	return false
}

// byPath orders for a stable, readable report.
func byPath(a, b Lowering) int {
	return cmp.Or(ComparePaths(a.Path, b.Path), cmp.Compare(a.Why, b.Why))
}

// index is the position of a child by name, or -1.
func (n *Node) index(name string) int {
	i, ok := slices.BinarySearchFunc(n.Children, name, func(c *Node, name string) int { return cmp.Compare(c.Name, name) })
	if !ok {
		return -1
	}
	return i
}
