package confine

import (
	"slices"
	"strings"
)

// Protect takes away the right to change some paths, whatever the policy says of them,
// and plans the mounts anew. The paths are relative to the root, and something stands at
// each of them; other names of the same files count as given too. The result is those that
// could be changed before. A path below which the
// world knows nothing counts as the directory that is nearest above it says.
func (c *Confinement) Protect(paths ...string) []string {
	var changed []string
	all := slices.Clone(paths)
	for _, twins := range c.Twins {
		if slices.ContainsFunc(twins, func(p string) bool { return slices.Contains(paths, p) }) {
			all = append(all, slices.DeleteFunc(slices.Clone(twins), func(p string) bool { return slices.Contains(all, p) })...)
		}
	}
	for _, path := range all {
		if c.Tree.protect(strings.Split(path, "/")) {
			changed = append(changed, path)
		}
	}
	if changed == nil {
		return nil
	}
	var lowered []Lowering
	c.Plan, lowered = Plan(c.Tree)
	c.Notes = append(c.Notes, LoweringNotes(lowered)...)
	return changed
}

func (n *Node) protect(names []string) bool {
	i := n.index(names[0])
	last := len(names) == 1
	if i < 0 {
		if n.Mode != ReadWrite {
			return false
		}
		kind := Dir
		if last {
			kind = File
		}
		n.Children = append(n.Children, &Node{Name: names[0], Kind: kind, Mode: n.Mode, By: n.By})
		slices.SortFunc(n.Children, func(a, b *Node) int { return strings.Compare(a.Name, b.Name) })
		i = n.index(names[0])
	}
	at := n.Children[i]
	if !last {
		return at.Kind == Dir && at.protect(names[1:])
	}
	if at.Mode != ReadWrite {
		return false
	}
	at.Mode, at.By = ReadOnly, Source{}
	return true
}
