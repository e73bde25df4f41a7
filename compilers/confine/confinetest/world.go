package confinetest

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"umwelt/compilers/confine"
	"umwelt/world"
)

// Names are names with what recipes go by: a beginning with a dot, and an ending.
var Names = []string{".h", "a", "b.x", "c", "d.x"}

// Plant makes a tree on disk. Every file holds its own path.
func Plant(t testing.TB, root string, tree *confine.Node) {
	t.Helper()
	Walk(tree, func(path string, n *confine.Node) {
		at := filepath.Join(root, path)
		var err error
		switch n.Kind {
		case confine.Dir:
			err = os.MkdirAll(at, 0o755)
		case confine.File:
			err = os.WriteFile(at, []byte("content of "+path), 0o644)
		case confine.Symlink:
			err = os.Symlink(n.Target, at)
		case confine.Special:
			err = unix.Mkfifo(at, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	})
}

// DrawLarge is Draw for a tree of some size.
func DrawLarge(t *rapid.T, names []string, budget int) *confine.Node {
	for {
		tree, size := Draw(t, names, budget), 0
		Walk(tree, func(string, *confine.Node) { size++ })
		if size > budget/2 {
			return tree
		}
	}
}

// Commit makes a repository of a tree on disk that tracks and ignores some of it. It
// reports whether there is a git program to do so.
func Commit(t *rapid.T, root string, tree *confine.Node) bool {
	git, err := exec.LookPath("git")
	if err != nil {
		if os.Getenv("UMWELT_REQUIRE_TOOLS") == "1" {
			t.Fatal("the program git is missing")
		}
		return false
	}
	args := []string{"-C", root, "add", "-f", "--"}
	var ignored string
	Walk(tree, func(path string, n *confine.Node) {
		switch rapid.IntRange(0, 3).Draw(t, "git") {
		case 0, 1:
			if n.Kind == confine.File {
				args = append(args, path)
			}
		case 2:
			ignored += "/" + path + "\n"
		}
	})
	if err := os.WriteFile(filepath.Join(root, ".gitignore"), []byte(ignored), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, a := range [][]string{{"init", "-q", root}, args} {
		if out, err := exec.Command(git, a...).CombinedOutput(); err != nil && len(a) != 5 {
			t.Fatal(err, string(out))
		}
	}
	return true
}

// DrawWorld is a world file about a tree: some recipes, or none, with explicit entities,
// projections and exclusions.
func DrawWorld(t *rapid.T, tree *confine.Node, git bool) string {
	var paths, dirs []string
	kinds := map[string]string{}
	Walk(tree, func(p string, n *confine.Node) {
		if p == "." {
			return
		}
		paths = append(paths, p)
		kinds[p] = "file"
		if n.Kind == confine.Dir {
			kinds[p] = "dir"
			dirs = append(dirs, p)
		}
	})
	var b strings.Builder
	b.WriteString("name: w\n")
	chance := func(percent int, what string) bool { return rapid.IntRange(1, 100).Draw(t, what) <= percent }
	some := func(list []string, most int, what string) []string {
		if len(list) == 0 {
			return nil
		}
		return rapid.SliceOfNDistinct(rapid.SampledFrom(list), 0, min(most, len(list)), rapid.ID).Draw(t, what)
	}
	globs := []string{"**/*.x", "*.x", "**/a/**", "a/**", "c", "**/.h", "*/*", "**/c/*", "{a,b.x}/**"}
	b.WriteString("discover:\n")
	for range rapid.SampledFrom([]int{0, 1, 1, 1, 1, 2, 2}).Draw(t, "recipes") {
		if git && chance(40, "git") {
			fmt.Fprintf(&b, "  - { matcher: git, %s }\n", rapid.SampledFrom([]string{"tracked: true", "ignored: false"}).Draw(t, "which"))
			continue
		}
		b.WriteString("  - { matcher: filesystem")
		if len(dirs) > 0 && chance(30, "root") {
			fmt.Fprintf(&b, ", root: %q", rapid.SampledFrom(dirs).Draw(t, "root"))
		}
		for _, key := range []string{"include", "exclude"} {
			if list := some(append(slices.Clone(globs), paths...), 2, key); len(list) > 0 && chance(50, key) {
				fmt.Fprintf(&b, ", %s: [%s]", key, quoteAll(list))
			}
		}
		if chance(20, "depth") {
			fmt.Fprintf(&b, ", max-depth: %d", rapid.IntRange(1, 3).Draw(t, "max-depth"))
		}
		if chance(20, "hidden") {
			b.WriteString(", hidden: false")
		}
		b.WriteString(" }\n")
	}
	b.WriteString("entities:\n")
	for _, p := range some(paths, 3, "entities") {
		fmt.Fprintf(&b, "  - { type: %s, id: %q, attributes: { path: %q } }\n", kinds[p], rapid.SampledFrom([]string{p, "an id", "a"}).Draw(t, "id")+p, p)
	}
	b.WriteString("projections:\n")
	for _, p := range some(dirs, 1, "projections") {
		fmt.Fprintf(&b, "  - { type: dir, id: %q, attributes: { path: %q } }\n", p, p)
	}
	out := some(append(append([]string{}, "file[path$='.x']", "dir[path='a']", "dir#c > file"), paths...), 2, "exclude")
	for i, s := range out {
		if kind, ok := kinds[s]; ok {
			out[i] = kind + "[path='" + s + "']"
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	if chance(50, "fixed") {
		b.WriteString("fixed:\n")
		for _, s := range out {
			fmt.Fprintf(&b, "  %q: { available: false }\n", s)
		}
	} else {
		fmt.Fprintf(&b, "exclude: [%s]\n", quoteAll(out))
	}
	return b.String()
}

func quoteAll(list []string) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = fmt.Sprintf("%q", s)
	}
	return strings.Join(out, ", ")
}

// Outside is the paths of a tree on disk that a world does not hold: they are neither
// entities nor below a projection.
func Outside(w *world.World, tree *confine.Node) map[string]bool {
	in := map[string]bool{}
	projected := map[string]bool{}
	for i := range w.Entities {
		e := &w.Entities[i]
		if e.Path() == "" {
			continue
		}
		in[e.Type.Name+" "+e.Path()] = true
		projected[e.Path()] = projected[e.Path()] || e.Type.Name == "dir" && e.Provenance.Origin == world.Projected
	}
	out := map[string]bool{}
	Walk(tree, func(p string, n *confine.Node) {
		kind := "file"
		if n.Kind == confine.Dir {
			kind = "dir"
		}
		out[p] = p != "." && !in[kind+" "+p]
		for at := path.Dir(p); at != "."; at = path.Dir(at) {
			if projected[at] {
				out[p] = false
			}
		}
	})
	return out
}

// Leads reports whether a path leads to one that is not outside.
func Leads(path string, outside map[string]bool) bool {
	for p, out := range outside {
		if !out && strings.HasPrefix(p, path+"/") {
			return true
		}
	}
	return false
}

// Views are rules that open everything but a little.
var Views = []string{
	`file { visible: true }`, `file { editable: true }`, `* { editable: true }`, `dir { visible: true } file { visible: true }`,
	`file { visible: true } file[path^="a/"] { editable: true }`, `file { editable: true } file[name$=".x"] { visible: false }`,
	`file { visible: true } dir#c file { editable: true } file:glob("**/.h") { editable: false }`,
}
