package confine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	. "umwelt/compilers/confine"
	"umwelt/compilers/confine/confinetest"
)

func dir(name string, m Mode, children ...*Node) *Node {
	return &Node{Name: name, Kind: Dir, Mode: m, Children: children}
}

func file(name string, m Mode) *Node { return &Node{Name: name, Kind: File, Mode: m} }

func link(name string, m Mode) *Node {
	return &Node{Name: name, Kind: Symlink, Mode: m, Target: "t"}
}

func show(entries []Entry) []string {
	var out []string
	for _, e := range entries {
		s := e.Path + " " + e.Mode.String()
		if e.Pin {
			s += " pin"
		}
		if e.Shown {
			s += " shown"
		}
		if e.Kind == Symlink {
			s += " -> " + e.Target
		}
		out = append(out, s)
	}
	return out
}

func TestPlan(t *testing.T) {
	many := make([]*Node, 100_000)
	for i := range many {
		many[i] = file(fmt.Sprintf("f%06d", i), ReadOnly)
	}
	tests := []struct {
		name string
		tree *Node
		want []string
		low  []string
	}{
		{"nothing", dir("", Hidden), []string{". hidden"}, nil},
		{"files agree", dir("", ReadOnly, file("a", ReadOnly), dir("d", ReadOnly, file("b", ReadOnly))), []string{". ro"}, nil},
		{"100,000 read-only files and one writable directory",
			dir("", ReadOnly, dir("big", ReadOnly, many...), dir("out", ReadWrite)),
			[]string{". ro", "out rw"}, nil},
		{"visible below hidden", dir("", Hidden, dir("src", Hidden, file("a", ReadOnly), file("b", Hidden))),
			[]string{". hidden", "src/a ro"}, nil},
		{"writable below hidden", dir("", Hidden, dir("src", ReadWrite, file("a", ReadWrite))),
			[]string{". hidden", "src rw"}, nil},
		{"protected deep in writable", dir("", ReadWrite, dir("a", ReadWrite, dir("b", ReadWrite, file("x", ReadOnly)), dir("c", ReadWrite, file("y", ReadWrite)))),
			[]string{". rw", "a rw pin", "a/b rw pin", "a/b/x ro"}, nil},
		{"hidden directory in writable", dir("", ReadWrite, dir("a", ReadWrite, dir("h", Hidden, file("x", Hidden)))),
			[]string{". rw", "a rw pin", "a/h hidden"}, nil},
		{"shown but empty", dir("", Hidden, &Node{Name: "d", Kind: Dir, Shown: true, Children: []*Node{file("x", Hidden)}}),
			[]string{". hidden", "d hidden shown"}, nil},
		{"shown by what it holds", dir("", Hidden, &Node{Name: "d", Kind: Dir, Shown: true, Children: []*Node{file("x", ReadOnly)}}),
			[]string{". hidden", "d/x ro"}, nil},
		{"visible link in hidden", dir("", Hidden, link("l", ReadOnly)), []string{". hidden", "l ro -> t"}, nil},
		{"hidden link in visible", dir("", ReadOnly, file("a", ReadOnly), link("l", Hidden)),
			[]string{". hidden shown", "a ro"}, []string{". ro->hidden"}},
		{"protected link in writable", dir("", ReadWrite, file("a", ReadWrite), link("l", ReadOnly)),
			[]string{". ro", "a rw"}, []string{". rw->ro"}},
		{"escaping link", dir("", ReadWrite, &Node{Name: "l", Kind: Symlink, Mode: ReadWrite, Escapes: true}, file("a", ReadWrite)),
			[]string{". hidden shown", "a rw"}, []string{"l rw->hidden", ". rw->hidden"}},
		{"writable link in read-only", dir("", ReadOnly, link("l", ReadWrite)), []string{". ro"}, []string{"l rw->ro"}},
		{"read-only FIFO", dir("", ReadOnly, &Node{Name: "f", Kind: Special, Mode: ReadOnly}),
			[]string{". ro", "f hidden"}, []string{"f ro->hidden"}},
		{"writable FIFO", dir("", ReadOnly, &Node{Name: "f", Kind: Special, Mode: ReadWrite}), []string{". ro"}, nil},
		{"writable FIFO in hidden", dir("", Hidden, &Node{Name: "f", Kind: Special, Mode: ReadWrite}), []string{". hidden", "f rw"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			entries, lowered := Plan(tt.tree)
			if d := cmp.Diff(tt.want, show(entries)); d != "" {
				t.Errorf("plan (-want +got):\n%s", d)
			}
			var low []string
			for _, l := range lowered {
				low = append(low, fmt.Sprintf("%s %s->%s", l.Path, l.From, l.To))
			}
			if d := cmp.Diff(tt.low, low); d != "" {
				t.Errorf("lowered (-want +got):\n%s", d)
			}
		})
	}
}

// A kernel is the tests' own reading of mounts: what an actor sees and can do at each
// path of a tree when the entries are mounted in order over an empty root.
type kernel struct {
	paths  []string
	nodes  map[string]*Node
	mounts map[string]Entry
}

func newKernel(tree *Node, entries []Entry) *kernel {
	k := &kernel{nodes: map[string]*Node{}, mounts: map[string]Entry{}}
	confinetest.Walk(tree, func(path string, n *Node) {
		k.paths = append(k.paths, path)
		k.nodes[path] = n
	})
	for _, e := range entries {
		k.mounts[e.Path] = e
	}
	return k
}

// covering is the mode of the mount that a path lies in.
func (k *kernel) covering(path string) Mode {
	for {
		if e, ok := k.mounts[path]; ok {
			return e.Mode
		}
		if path == "." {
			return Hidden
		}
		path = confinetest.Parent(path)
	}
}

// appears reports whether a directory listing shows the path.
func (k *kernel) appears(path string) bool {
	if path == "." || k.covering(path) != Hidden {
		return true
	}
	if _, ok := k.mounts[path]; ok && k.covering(confinetest.Parent(path)) == Hidden {
		return true
	}
	if path != "." && k.covering(confinetest.Parent(path)) != Hidden {
		return true // the covered name itself
	}
	for p := range k.mounts {
		if strings.HasPrefix(p, path+"/") {
			return true
		}
	}
	return false
}

// movable reports whether the actor can rename or unlink the name: its directory takes
// changes and it is no mount point.
func (k *kernel) movable(path string) bool {
	_, mounted := k.mounts[path]
	return path != "." && !mounted && k.covering(confinetest.Parent(path)) == ReadWrite
}

// mode is what the actor may do with the content at the path.
func (k *kernel) mode(path string) Mode {
	n := k.nodes[path]
	m := k.covering(path)
	if n.Kind == Symlink && m != Hidden {
		// A link is as writable as it can be replaced.
		m = ReadOnly
		if k.movable(path) {
			m = ReadWrite
		}
	}
	if n.Kind == Special && m == ReadOnly {
		m = ReadWrite // the kernel lets everybody write to a FIFO on a read-only mount
	}
	return m
}

// breach is a way round the plan: a path that may do more than wanted, or a protected
// path that can be carried away with one of its parents. It is "" where there is none.
func (k *kernel) breach(want map[string]Mode) string {
	for _, p := range k.paths {
		if k.mode(p) > want[p] {
			return fmt.Sprintf("%s is %s, want at most %s", p, k.mode(p), want[p])
		}
		if want[p] == ReadWrite {
			continue
		}
		for x := p; x != "."; x = confinetest.Parent(x) {
			if k.movable(x) {
				return fmt.Sprintf("%s is protected but %s can be renamed", p, x)
			}
		}
	}
	return ""
}

// state is everything an actor can tell of a plan, to compare two.
func (k *kernel) state() string {
	var b strings.Builder
	for _, p := range k.paths {
		fmt.Fprintf(&b, "%s %s %v;", p, k.mode(p), k.appears(p))
	}
	return b.String()
}

func TestPlanIsExactAndMinimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := confinetest.Draw(t, confinetest.Plain, 14)
		want := confinetest.Wanted(tree)
		entries, _ := Plan(tree)
		k := newKernel(tree, entries)
		for _, p := range k.paths {
			if k.mode(p) != want[p] {
				t.Fatalf("%s is %s, want %s\n%s", p, k.mode(p), want[p], strings.Join(show(entries), "\n"))
			}
			if n := k.nodes[p]; n.Shown && !k.appears(p) {
				t.Fatalf("%s does not appear", p)
			}
		}
		if b := k.breach(want); b != "" {
			t.Fatalf("%s\n%s", b, strings.Join(show(entries), "\n"))
		}
		for i := 1; i < len(entries); i++ {
			fewer := newKernel(tree, slices.Delete(slices.Clone(entries), i, i+1))
			if fewer.state() == k.state() && fewer.breach(want) == "" {
				t.Fatalf("entry %q is not needed", show(entries)[i])
			}
		}
		seen := map[string]bool{}
		for _, e := range entries {
			if seen[e.Path] {
				t.Fatalf("two entries for %q", e.Path)
			}
			for p := e.Path; p != "."; {
				p = confinetest.Parent(p)
				if _, ok := k.mounts[p]; ok && !seen[p] {
					t.Fatalf("%q stands before its parent %q", e.Path, p)
				}
			}
			seen[e.Path] = true
		}
	})
}

// Over small trees every possible plan is tried.
func TestPlanIsSmallest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := confinetest.Draw(t, confinetest.Plain, 4)
		want := confinetest.Wanted(tree)
		entries, _ := Plan(tree)
		k := newKernel(tree, entries)
		state, least := k.state(), len(entries)
		var try func(i int, chosen []Entry)
		try = func(i int, chosen []Entry) {
			if len(chosen) >= least {
				return
			}
			if i == len(k.paths) {
				if other := newKernel(tree, chosen); other.state() == state && other.breach(want) == "" {
					t.Fatalf("%d entries do what %d do:\n%s\nplan:\n%s", len(chosen), least,
						strings.Join(show(chosen), "\n"), strings.Join(show(entries), "\n"))
				}
				return
			}
			if i > 0 {
				try(i+1, chosen)
			}
			for _, m := range []Mode{Hidden, ReadOnly, ReadWrite} {
				n := k.nodes[k.paths[i]]
				if n.Kind == Symlink && m == Hidden {
					continue // nothing covers a link
				}
				try(i+1, append(slices.Clone(chosen), Entry{Path: k.paths[i], Mode: m, Kind: n.Kind}))
			}
		}
		try(0, nil)
	})
}

func TestPlanIsDeterministic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := confinetest.Draw(t, confinetest.Plain, 14)
		first, low := Plan(tree)
		// A second plan over the lowered tree changes nothing more.
		second, _ := Plan(tree)
		if d := cmp.Diff(first, second); d != "" {
			t.Fatalf("planning twice differs (%d lowered):\n%s", len(low), d)
		}
	})
}

func BenchmarkPlan(b *testing.B) {
	root := dir("", ReadOnly)
	for i := range 1000 {
		d := dir(fmt.Sprintf("d%04d", i), ReadOnly)
		for j := range 100 {
			d.Children = append(d.Children, file(fmt.Sprintf("f%02d", j), ReadOnly))
		}
		root.Children = append(root.Children, d)
	}
	root.Children[500].Mode = ReadWrite
	for _, f := range root.Children[500].Children {
		f.Mode = ReadWrite
	}
	b.Run("plan", func(b *testing.B) {
		for b.Loop() {
			if e, _ := Plan(root); len(e) != 2 {
				b.Fatal(len(e))
			}
		}
	})
	// The naive form: one mount a file.
	b.Run("entry-per-file", func(b *testing.B) {
		for b.Loop() {
			var entries []Entry
			for _, d := range root.Children {
				for _, f := range d.Children {
					entries = append(entries, Entry{Path: d.Name + "/" + f.Name, Mode: f.Mode})
				}
			}
			if len(entries) != 100_000 {
				b.Fatal(len(entries))
			}
		}
	})
}
