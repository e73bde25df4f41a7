// Package confinetest makes random project trees with a policy, and says in its own
// words what an actor may do in them, so that the tests of every target can compare.
package confinetest

import (
	"slices"
	"strings"

	"pgregory.net/rapid"

	"umwelt/compilers/confine"
)

// Plain are short names; Odd are names that mean something to a shell, a terminal, a
// format or a decoder.
var (
	Plain = []string{"a", "b", "c", "d"}
	Odd   = []string{
		"a", "b c", "new\nline", `dou"ble`, "sin'gle", "co:lon", "com,ma", "$HOME", "%s%%", "[1]", "-rf", "--", "*", "?", `back\slash`, "`id`", "$(id)",
		"\xff\xfe", "tab\t", "..a", "...", "\x1b[31m", "é", "#", "{a,b}", "~", " ", "!", ";", "&", "=", "\r", strings.Repeat("n", 255),
	}
)

// Draw makes a tree of at most budget paths below its root. Names in one directory are
// in byte order.
func Draw(t *rapid.T, names []string, budget int) *confine.Node {
	modes := []confine.Mode{confine.Hidden, confine.ReadOnly, confine.ReadWrite}
	kinds := []confine.Kind{confine.File, confine.File, confine.File, confine.Dir, confine.Dir, confine.Dir, confine.Dir, confine.Symlink, confine.Special}
	var grow func(depth int) []*confine.Node
	grow = func(depth int) []*confine.Node {
		var out []*confine.Node
		chosen := rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 4, rapid.ID).Draw(t, "names")
		slices.Sort(chosen)
		for _, name := range chosen {
			if budget == 0 {
				break
			}
			budget--
			n := &confine.Node{Name: name, Mode: rapid.SampledFrom(modes).Draw(t, "mode"), Kind: rapid.SampledFrom(kinds).Draw(t, "kind")}
			switch n.Kind {
			case confine.Dir:
				n.Shown = rapid.Bool().Draw(t, "shown")
				if depth < 4 {
					n.Children = grow(depth + 1)
				}
			case confine.Symlink:
				n.Target = rapid.SampledFrom([]string{"a", ".", name, "../a", "b c"}).Draw(t, "target")
				n.Escapes = rapid.IntRange(0, 4).Draw(t, "escapes") == 0
			}
			out = append(out, n)
		}
		return out
	}
	return &confine.Node{Kind: confine.Dir, Mode: rapid.SampledFrom(modes).Draw(t, "mode"), Children: grow(0)}
}

// Walk visits the paths of a tree, parents first.
func Walk(tree *confine.Node, visit func(path string, n *confine.Node)) {
	var walk func(n *confine.Node, path string)
	walk = func(n *confine.Node, path string) {
		visit(path, n)
		for _, c := range n.Children {
			walk(c, Join(path, c.Name))
		}
	}
	walk(tree, ".")
}

// Join is the path of a name in a directory, which is "." for the root.
func Join(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}

// Parent is the directory of a path.
func Parent(path string) string {
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		return path[:i]
	}
	return "."
}

// Wanted is the mode of every path of a tree that was not planned yet. Where mounts
// cannot give the mode, it is the tightest reading that a plan is bound to.
func Wanted(tree *confine.Node) map[string]confine.Mode {
	want := map[string]confine.Mode{}
	var walk func(n *confine.Node, path string)
	walk = func(n *confine.Node, path string) {
		want[path] = n.Mode
		for _, c := range n.Children {
			at := Join(path, c.Name)
			walk(c, at)
			switch {
			case c.Kind == confine.Special && c.Mode == confine.ReadOnly, c.Kind == confine.Symlink && c.Escapes:
				want[at] = confine.Hidden
			}
			if c.Kind == confine.Symlink {
				want[path] = min(want[path], want[at])
			}
		}
		for _, c := range n.Children {
			if c.Kind == confine.Symlink && want[path] != confine.ReadWrite {
				at := Join(path, c.Name)
				want[at] = min(want[at], confine.ReadOnly)
			}
		}
	}
	walk(tree, ".")
	return want
}
