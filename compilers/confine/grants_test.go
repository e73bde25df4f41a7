package confine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"umwelt/compilers/confine"
	"umwelt/compilers/confine/confinetest"
)

func TestGrants(t *testing.T) {
	dir := func(name string, mode confine.Mode, children ...*confine.Node) *confine.Node {
		return &confine.Node{Name: name, Kind: confine.Dir, Mode: mode, Children: children}
	}
	file := func(name string, mode confine.Mode) *confine.Node { return &confine.Node{Name: name, Mode: mode} }
	const h, ro, rw = confine.Hidden, confine.ReadOnly, confine.ReadWrite
	for _, tt := range []struct {
		name   string
		tree   *confine.Node
		except []string
		want   string // path=rights, in order
		lost   string // paths
	}{
		{"all alike", dir("", rw, dir("a", rw, file("f", rw)), file("g", rw)), nil, ".=rwlc", ""},
		{"nothing", dir("", h, file("f", h)), nil, "", ". shown"},
		{"a part", dir("", h, dir("src", rw, file("f", rw)), file("g", h)), nil, "src=rwlc", ". shown"},
		{"a hidden file", dir("", ro, file(".env", h), dir("a", ro, file("f", ro)), file("g", ro)), nil, ".=l a=rl g=r", ". later"},
		{"a hidden directory", dir("", ro, dir(".git", h), dir("a", ro)), nil, "a=rl", ". list, . later"},
		{"a protected file", dir("", rw, dir("a", rw), file("lock", ro), file("g", rw)), nil, ".=rl a=rwlc g=rw", ". change"},
		{"a protected file deep down", dir("", rw, dir("a", rw, dir("b", rw, file("lock", ro)), dir("c", rw))), nil, ".=rl a/c=rwlc", ". change, a change, a/b change"},
		{"a writable island", dir("", ro, dir("a", ro, dir("out", rw))), nil, ".=rl a/out=rwlc", ""},
		{"something else inside", dir("", rw, dir("a", rw), dir("tmp", rw, file("f", rw))), []string{"tmp"}, "a=rwlc", ". change, . list, . later"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			confine.Plan(tt.tree)
			grants, lowered := confine.Grants(tt.tree, tt.except...)
			var got, lost []string
			for _, g := range grants {
				got = append(got, g.Path+"="+letters(g.Access))
			}
			for _, l := range lowered {
				word := "later"
				for _, w := range []string{"created", "names in it", "leave hidden names"} {
					if strings.Contains(l.Why, w) {
						word = map[string]string{"created": "change", "names in it": "list", "leave hidden names": "shown"}[w]
					}
				}
				lost = append(lost, l.Path+" "+word)
			}
			if g, l := strings.Join(got, " "), strings.Join(lost, ", "); g != tt.want || l != tt.lost {
				t.Errorf("granted %q and lost %q, want %q and %q", g, l, tt.want, tt.lost)
			}
		})
	}
}

func letters(a confine.Access) string {
	var b strings.Builder
	for i, c := range "rwlc" {
		if a&(1<<i) != 0 {
			b.WriteRune(c)
		}
	}
	return b.String()
}

// Whatever the tree: no right is more than the plan gives, the content of every file is
// exactly as open as it is in the plan, and what a directory loses is said.
func TestGrantsGiveNothingAway(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := confinetest.Draw(t, confinetest.Plain, 25)
		confine.Plan(tree)
		grants, lowered := confine.Grants(tree)
		said := map[string]bool{}
		for _, l := range lowered {
			said[l.Path] = true
		}
		granted := map[string]confine.Access{}
		for _, g := range grants {
			granted[g.Path] |= g.Access
		}
		has := func(path string) confine.Access {
			a := granted["."]
			for p := path; p != "."; p = confinetest.Parent(p) {
				a |= granted[p]
			}
			return a
		}
		confinetest.Walk(tree, func(path string, n *confine.Node) {
			got := has(path)
			fault := func(what string) { t.Fatal(fmt.Sprintf("%s is %s and has %q: %s", path, n.Mode, letters(got), what)) }
			content := map[confine.Mode]confine.Access{confine.ReadOnly: confine.Read, confine.ReadWrite: confine.Read | confine.Write}[n.Mode]
			switch n.Kind {
			case confine.Symlink:
			case confine.Dir:
				most := content
				if n.Mode != confine.Hidden {
					most |= confine.List
				}
				if n.Mode == confine.ReadWrite {
					most |= confine.Change
				}
				if got&^most != 0 {
					fault("too much")
				}
				if got != most && !said[path] {
					fault("less than the plan gives, and nobody said so")
				}
			default:
				if got&(confine.Read|confine.Write) != content {
					fault("its content is not as open as planned")
				}
			}
			// Nothing protected may lie below what can be renamed or removed.
			if got&confine.Change != 0 {
				confinetest.Walk(n, func(_ string, c *confine.Node) {
					if c.Mode != confine.ReadWrite {
						fault("something protected lies below")
					}
				})
			}
		})
		if !slices.IsSortedFunc(grants, func(a, b confine.Grant) int {
			return confine.ComparePaths(strings.TrimPrefix(a.Path, "."), strings.TrimPrefix(b.Path, "."))
		}) {
			t.Fatal("children come before parents")
		}
	})
}
