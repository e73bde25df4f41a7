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

// place is where a node stands in the tree: its path, and the node without its name and
// children.
type place struct {
	path string
	node *Node
}

// grow puts the nodes of places, in any order, into the tree of a root. Of a directory that
// no place stands for nothing is known, so that it is hidden, unless it lies in one of which
// the world has everything: then it takes over what that says of files created later. Two
// places at one path count as the more restrictive of them.
func grow(root *Node, places []place) {
	inOrder(places)
	// The directories from the root down to the last place, and where their paths end in
	// the last path.
	open, ends := []*Node{root}, []int{0}
	last := ""
	for _, p := range places {
		keep := 1
		for keep < len(open) && len(p.path) > ends[keep] && p.path[ends[keep]] == '/' && p.path[:ends[keep]] == last[:ends[keep]] {
			keep++
		}
		open, ends = open[:keep], ends[:keep]
		from := ends[keep-1]
		if from > 0 {
			from++
		}
		for {
			in := open[len(open)-1]
			end := strings.IndexByte(p.path[from:], '/')
			if end < 0 {
				p.node.Name = p.path[from:]
				if made := child(in, p.node, false); made.Kind == Dir {
					open, ends = append(open, made), append(ends, len(p.path))
				}
				break
			}
			implied := &Node{Name: p.path[from : from+end], Kind: Dir}
			if in.whole {
				implied.Mode, implied.By, implied.whole = in.Mode, in.By, true
			}
			open, ends = append(open, child(in, implied, true)), append(ends, from+end)
			from += end + 1
		}
		last = p.path
	}
}

// inOrder sorts places by path, parents first.
func inOrder(places []place) {
	byPath := func(a, b place) int { return ComparePaths(a.path, b.path) }
	if !slices.IsSortedFunc(places, byPath) {
		slices.SortStableFunc(places, byPath)
	}
}

// weave is the places of two lists in order. It sorts the lists themselves, which is nothing
// to do for what a matcher found.
func weave(a, b []place) []place {
	if len(b) == 0 {
		return a
	}
	inOrder(a)
	inOrder(b)
	out := make([]place, 0, len(a)+len(b))
	for _, p := range b {
		n, _ := slices.BinarySearchFunc(a, p.path, func(q place, path string) int { return ComparePaths(q.path, path) })
		out = append(append(out, a[:n]...), p)
		a = a[n:]
	}
	return append(out, a...)
}

// child adds a node to a directory, or joins it with the one of the same name, which
// stands last. An implied directory says nothing against the one that is there.
func child(in *Node, n *Node, implied bool) *Node {
	if in.broken {
		// Mounting what lies here would go through something that is no directory.
		n.Mode, n.Shown, n.broken = Hidden, false, true
	}
	if k := len(in.Children); k > 0 && in.Children[k-1].Name == n.Name {
		have := in.Children[k-1]
		switch {
		case have.Kind != n.Kind:
			// What contradicts itself is not shown, and is covered as what can hold others.
			kind := have.Kind
			if n.Kind == Dir {
				kind = Dir
			}
			*have = Node{Name: n.Name, Kind: kind, Children: have.Children, broken: true}
		case !implied && n.Mode < have.Mode:
			have.Mode, have.By = n.Mode, n.By
		}
		have.whole = have.whole && (n.whole || implied)
		have.Left = have.Left || n.Left
		have.Shown = have.Shown && (n.Shown || implied)
		have.Escapes = have.Escapes || n.Escapes
		return have
	}
	in.Children = append(in.Children, n)
	return n
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
	for rest, more := clean, true; more; {
		var part string
		part, rest, more = strings.Cut(rest, "/")
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
