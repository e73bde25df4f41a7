package confine

import (
	"slices"
	"strings"

	"umwelt/registry"
	"umwelt/world"
)

const whyTwin = "another name of the same file may do less, and one file cannot be two things, so the least that any of its names may do holds for all"

// tieTwins gives the names of one file the tightest mode that any of them has. Where one name
// may be written and the other not, a write by the one would change the other as well.
func (r *reader) tieTwins(root *Node, files *registry.EntityType) {
	r.twins = r.readTwins(files)
	for _, paths := range r.twins {
		r.tie(root, paths)
	}
}

// readTwins are the paths that lead to one and the same file, each list sorted and the lists
// by the first of them.
func (r *reader) readTwins(files *registry.EntityType) [][]string {
	named := map[string][]string{}
	add := func(e *world.Entity) {
		if first, ok := e.Attr("twin"); ok && e.Type == files {
			if p, problem := cleanPath(e.Path()); problem == "" {
				named[first] = append(named[first], p)
			}
		}
	}
	for _, i := range r.of(files) {
		add(&r.world.Entities[i])
	}
	for i := range r.world.Withheld {
		add(&r.world.Withheld[i])
	}
	var all [][]string
	for _, paths := range named {
		slices.Sort(paths)
		all = append(all, slices.Compact(paths))
	}
	slices.SortFunc(all, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	return all
}

// tie gives the files at some paths, which are one, the tightest mode of any of them.
func (r *reader) tie(root *Node, paths []string) {
	nodes := make([]*Node, len(paths))
	var tightest *Node
	for i, p := range paths {
		n := root.at(p)
		if n == nil || n.Kind == Dir {
			continue
		}
		if nodes[i] = n; tightest == nil || n.Mode < tightest.Mode {
			tightest = n
		}
	}
	for i, n := range nodes {
		if n == nil || n.Mode == tightest.Mode {
			continue
		}
		r.tied = append(r.tied, Lowering{Path: paths[i], Kind: n.Kind, From: n.Mode, To: tightest.Mode, By: n.By, Why: whyTwin})
		n.Mode = tightest.Mode
		if tightest.By.Declaration != nil {
			n.By = tightest.By
		}
	}
}

// at is the node at a path below this one, or nil.
func (n *Node) at(path string) *Node {
	for name := range strings.SplitSeq(path, "/") {
		i := n.index(name)
		if i < 0 {
			return nil
		}
		n = n.Children[i]
	}
	return n
}
