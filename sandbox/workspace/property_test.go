//go:build linux

package workspace

import (
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"umwelt/compilers/confine"
)

// drawn is a random project: what lies in it, and what the policy says.
type drawn struct {
	files   map[string]string
	root    *confine.Node
	modes   map[string]confine.Mode // of every path that the policy knows
	unknown bool                    // the project has files that the policy does not know
}

func draw(t *rapid.T) drawn {
	d := drawn{files: map[string]string{}, modes: map[string]confine.Mode{}}
	modes := []confine.Mode{confine.Hidden, confine.ReadOnly, confine.ReadWrite, confine.ReadWrite}
	budget := 14
	var grow func(at string, depth int) *confine.Node
	grow = func(at string, depth int) *confine.Node {
		n := &confine.Node{Name: path.Base(at), Kind: confine.Dir, Mode: rapid.SampledFrom(modes).Draw(t, "mode")}
		d.modes[at] = n.Mode
		names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "D"}), 0, 4, rapid.ID).Draw(t, "names")
		slices.Sort(names)
		for _, name := range names {
			child := join(at, name)
			if budget--; budget < 0 {
				break
			}
			switch what := rapid.IntRange(0, 9).Draw(t, "what"); {
			case what < 4 && depth < 3:
				d.files[child+"/"] = ""
				n.Children = append(n.Children, grow(child, depth+1))
			case what == 9:
				d.files[child+"_unknown"] = "unknown"
				d.unknown = true
			case what == 8:
				d.files[child+" -> a"] = ""
				c := &confine.Node{Name: name, Kind: confine.Symlink, Target: "a", Mode: rapid.SampledFrom(modes).Draw(t, "mode")}
				d.modes[child] = c.Mode
				n.Children = append(n.Children, c)
			default:
				if what != 7 { // else only the policy knows it
					d.files[child] = "base " + child
				}
				c := &confine.Node{Name: name, Mode: rapid.SampledFrom(modes).Draw(t, "mode")}
				d.modes[child] = c.Mode
				n.Children = append(n.Children, c)
			}
		}
		return n
	}
	d.root = grow(".", 0)
	return d
}

// edit does something to a tree. It fails where that makes no sense, which is left be.
func edit(t *rapid.T, root string) {
	part := rapid.SampledFrom([]string{"a", "b", "c", "D", "d", "new", "a_unknown"})
	pick := func() string {
		return filepath.Join(append([]string{root}, rapid.SliceOfN(part, 1, 4).Draw(t, "path")...)...)
	}
	at := pick()
	switch rapid.SampledFrom([]string{"write", "write", "write", "write", "make", "remove", "remove", "rename", "mode", "link", "hard", "replace", "dir"}).Draw(t, "edit") {
	case "write":
		if info, err := os.Lstat(at); err == nil && info.Mode().IsRegular() {
			os.WriteFile(at, []byte(rapid.SampledFrom([]string{"x", "longer text", "", "base a"}).Draw(t, "text")), 0o644)
		}
	case "make":
		if _, err := os.Lstat(at); err != nil {
			os.WriteFile(at, []byte("made"), 0o644)
		}
	case "replace":
		if os.RemoveAll(at) == nil {
			os.WriteFile(at, []byte("replaced"), 0o600)
		}
	case "remove":
		os.RemoveAll(at)
	case "rename":
		os.Rename(at, pick())
	case "mode":
		if info, err := os.Lstat(at); err == nil && info.Mode()&os.ModeSymlink == 0 {
			os.Chmod(at, rapid.SampledFrom([]os.FileMode{0o755, 0o700, 0o644, 0o755 | os.ModeSetuid}).Draw(t, "bits"))
		}
	case "link":
		os.Symlink(rapid.SampledFrom([]string{"a", "../a", "../../../outside", "/etc/passwd", "b/.."}).Draw(t, "target"), at)
	case "hard":
		if info, err := os.Lstat(at); err == nil && info.Mode().IsRegular() {
			os.Link(at, pick())
		}
	case "dir":
		os.MkdirAll(at, 0o755)
	}
}

func leavesOf(state map[string]string) map[string]string {
	out := maps.Clone(state)
	maps.DeleteFunc(out, func(_, s string) bool { return strings.HasPrefix(s, "dir") })
	return out
}

// TestRandomTrees holds apply to what it promises, on random projects, policies, edits in
// the workspace and edits in the project.
func TestRandomTrees(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		top, err := os.MkdirTemp("", "umwelt-workspace-")
		must(t, err)
		t.Cleanup(func() { os.RemoveAll(top) })
		d := draw(t)
		lay(t, top, map[string]string{"outside": "outside"})
		s := newShopIn(t, top, d.files)
		b, err := Build(d.root, Options{Root: s.root, Dir: s.dir, Strategy: Copy})
		must(t, err)
		given := leavesOf(snapshot(t, s.tree("")))
		for at := range given {
			if m, known := d.modes[at]; !known || m == confine.Hidden {
				t.Fatalf("%s is visible", at)
			}
		}
		for range rapid.IntRange(0, 8).Draw(t, "edits") {
			edit(t, s.tree(""))
		}
		drift := rapid.IntRange(0, 4).Draw(t, "drift")
		for range drift {
			edit(t, s.root)
		}
		before, tree := snapshot(t, s.root), snapshot(t, s.tree(""))
		strict := rapid.Bool().Draw(t, "strict")
		r := s.apply(ApplyOptions{Strict: strict, Digest: b.Manifest.Digest})
		after := snapshot(t, s.root)

		if got := snapshot(t, top); got["outside"] != "file 0644 outside" {
			t.Fatalf("the outside is %q", got["outside"])
		}
		if diff := cmp.Diff(tree, snapshot(t, s.tree(""))); diff != "" {
			t.Fatalf("apply changed the tree:\n%s", diff)
		}
		if strict && !r.Clean() {
			if diff := cmp.Diff(before, after); diff != "" {
				t.Fatalf("strict changed the project:\n%s", diff)
			}
			return
		}
		if drift == 0 && !d.unknown && r.Counts[Conflict] > 0 {
			t.Fatalf("a conflict with nobody: %s", said(r))
		}
		leaves, treeLeaves := leavesOf(after), leavesOf(tree)
		want := leavesOf(before)
		for _, c := range r.Changes {
			at := string(c.Path)
			if c.Kind == KindDir {
				isDir := strings.HasPrefix(after[at], "dir")
				if c.Outcome == Created && !isDir || c.Outcome == Deleted && isDir {
					t.Fatalf("%s %s/, and it is %q", c.Outcome, at, after[at])
				}
				continue
			}
			switch c.Outcome {
			case Applied, Created:
				if want[at] = treeLeaves[at]; want[at] == "" {
					t.Fatalf("%s %s, which the actor does not have", c.Outcome, at)
				}
			case Deleted:
				if delete(want, at); treeLeaves[at] != "" {
					t.Fatalf("deleted %s, which the actor has", at)
				}
			}
			if m, known := d.modes[at]; c.Outcome != NoOp && c.Outcome != Rejected && c.Outcome != Conflict {
				if known && m != confine.ReadWrite && !(strings.HasPrefix(before[at], "dir") || d.isDir(at)) {
					t.Fatalf("%s %s, which the policy protects", c.Outcome, at)
				}
				if !known && d.above(at) != confine.ReadWrite {
					t.Fatalf("%s %s, where the policy lets nothing be made", c.Outcome, at)
				}
			}
		}
		if diff := cmp.Diff(want, leaves); diff != "" {
			t.Fatalf("what was reported is not what was done (%s):\n%s", said(r), diff)
		}
		// What the actor changed is reported, one way or another.
		told := map[string]bool{}
		for _, c := range r.Changes {
			told[string(c.Path)] = true
		}
		for at, state := range treeLeaves {
			if given[at] != state && !told[at] {
				t.Fatalf("nothing is said of %s", at)
			}
		}
		for at := range given {
			if treeLeaves[at] == "" && !told[at] {
				t.Fatalf("nothing is said of %s", at)
			}
		}
		for at := range after {
			if ours(path.Base(at)) {
				t.Fatalf("%s is left", at)
			}
		}
		again := s.apply(ApplyOptions{Digest: r.Digest})
		if again.Changed() {
			t.Fatalf("first %s\nthen %s", said(r), said(again))
		}
		if diff := cmp.Diff(after, snapshot(t, s.root)); diff != "" {
			t.Fatalf("the second apply changed the project:\n%s", diff)
		}
	})
}

// isDir reports whether the policy knows a path as a directory.
func (d drawn) isDir(at string) bool {
	_, ok := d.files[at+"/"]
	return ok
}

// above is the mode of the nearest directory above a path that the policy knows.
func (d drawn) above(at string) confine.Mode {
	for at != "." {
		at = path.Dir(at)
		if m, known := d.modes[at]; known && (at == "." || d.isDir(at)) {
			return m
		}
	}
	panic("no root")
}
