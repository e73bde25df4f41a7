package kubernetes

import (
	"bytes"
	"path"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"

	"umwelt/compilers"
	"umwelt/compilers/confine"
)

// A pod is the tests' own reading of the parts of a manifest that decide what the
// container sees.
type pod struct {
	Containers []struct {
		Mounts []volumeMount `yaml:"volumeMounts"`
	} `yaml:"containers"`
	Volumes []volume `yaml:"volumes"`
}

type volumeMount struct {
	Name     string `yaml:"name"`
	Path     string `yaml:"mountPath"`
	SubPath  string `yaml:"subPath"`
	ReadOnly bool   `yaml:"readOnly"`
}

type volume struct {
	Name  string `yaml:"name"`
	Claim *struct {
		ReadOnly bool `yaml:"readOnly"`
	} `yaml:"persistentVolumeClaim"`
	Empty  *struct{} `yaml:"emptyDir"`
	Config *struct {
		Items []struct {
			Key  string `yaml:"key"`
			Path string `yaml:"path"`
		} `yaml:"items"`
	} `yaml:"configMap"`
}

// readPod finds the pod in a text of kind=pod.
func readPod(t interface{ Fatal(...any) }, text []byte) pod {
	d := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var doc struct {
			Kind string    `yaml:"kind"`
			Spec yaml.Node `yaml:"spec"`
		}
		if err := d.Decode(&doc); err != nil {
			t.Fatal(err)
		}
		if doc.Kind != "Pod" {
			continue
		}
		var p pod
		if err := doc.Spec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		return p
	}
}

// see is what the container finds at a path of the project: the mode, by the deepest
// mount at or above it, and whether that mount is the path itself.
func (p pod) see(t interface{ Fatal(...any) }, at string) (mode confine.Mode, own bool) {
	for dir := at; ; dir = path.Dir(dir) {
		mounts := p.Containers[0].Mounts
		i := slices.IndexFunc(mounts, func(m volumeMount) bool { return m.Path == dir })
		if i < 0 {
			if dir == "/" {
				return confine.Hidden, false // the container's own root filesystem
			}
			continue
		}
		m := mounts[i]
		v := p.volume(t, m.Name)
		switch {
		case v.Claim == nil:
			if !m.ReadOnly {
				t.Fatal("a cover can be written to", m)
			}
			return confine.Hidden, dir == at
		case m.SubPath != strings.TrimPrefix(strings.TrimPrefix(m.Path, "/workspace"), "/"):
			t.Fatal("mounts another part of the project", m)
		case !m.ReadOnly && v.Claim.ReadOnly:
			t.Fatal("the claim is read-only and the mount is not", m)
		case !m.ReadOnly:
			return confine.ReadWrite, dir == at
		}
		return confine.ReadOnly, dir == at
	}
}

func (p pod) volume(t interface{ Fatal(...any) }, name string) volume {
	i := slices.IndexFunc(p.Volumes, func(v volume) bool { return v.Name == name })
	if i < 0 {
		t.Fatal("no volume", name)
	}
	return p.Volumes[i]
}

// mountable reports whether the place of a mount exists when it is made: the runtime
// makes it in the root filesystem, the project has it, and a cover has to hold it.
func (p pod) mountable(t interface{ Fatal(...any) }, at string) bool {
	mounts := p.Containers[0].Mounts
	for dir := path.Dir(at); dir != "/"; dir = path.Dir(dir) {
		i := slices.IndexFunc(mounts, func(m volumeMount) bool { return m.Path == dir })
		if i < 0 {
			continue
		}
		v := p.volume(t, mounts[i].Name)
		if v.Claim != nil {
			return true
		}
		rel := strings.TrimPrefix(at, dir+"/")
		if v.Config == nil {
			return false
		}
		for _, item := range v.Config.Items {
			if item.Path == rel || item.Path == rel+"/"+hiddenKey {
				return true
			}
		}
		return false
	}
	return true
}

var names = append([]string{"a", "b", "c.py", "..data", "..x"}, hostile...)

func drawTree(t *rapid.T, name string, depth int) *confine.Node {
	n := &confine.Node{Name: name, Kind: confine.Dir, Mode: confine.Mode(rapid.IntRange(0, 2).Draw(t, "mode"))}
	n.Shown = rapid.Bool().Draw(t, "shown")
	for _, child := range rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 4, rapid.ID).Draw(t, "names") {
		kind := confine.Kind(rapid.IntRange(0, 3).Draw(t, "kind"))
		if kind == confine.Dir && depth > 0 {
			n.Children = append(n.Children, drawTree(t, child, depth-1))
			continue
		}
		n.Children = append(n.Children, &confine.Node{Name: child, Kind: kind, Mode: confine.Mode(rapid.IntRange(0, 2).Draw(t, "mode"))})
	}
	slices.SortFunc(n.Children, func(a, b *confine.Node) int { return strings.Compare(a.Name, b.Name) })
	return n
}

// TestMountsGiveEveryPathItsMode plans random trees and reads the manifest as a kubelet
// would: every path gets the mode of the plan, or, where a note says so, a tighter one.
func TestMountsGiveEveryPathItsMode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := drawTree(t, ".", 3)
		plan, _ := confine.Plan(tree)
		out := Render(&confine.Confinement{Plan: plan}, compilers.Input{Set: map[string]string{"kind": "pod"}})
		if err := out.Diagnostics.Err(); err != nil {
			t.Fatal(err)
		}
		p := readPod(t, out.Text)
		seen := map[string]bool{}
		for _, m := range p.Containers[0].Mounts {
			if seen[m.Path] {
				t.Fatal("mounted twice:", m.Path)
			}
			seen[m.Path] = true
			if !p.mountable(t, m.Path) {
				t.Fatalf("nothing to mount %q on\n%s", m.Path, out.Text)
			}
		}
		var walk func(n *confine.Node, at string, inherited confine.Mode)
		walk = func(n *confine.Node, at string, inherited confine.Mode) {
			got, _ := p.see(t, path.Join("/workspace", at))
			want := n.Mode
			switch {
			case n.Kind == confine.Symlink:
				want = inherited // the directory carries it
			case n.Kind == confine.Special && want == confine.ReadWrite && inherited == confine.ReadOnly:
				want = confine.ReadOnly // a read-only mount does not stop writes to one
			}
			if got > want || got < want && !said(out.Notes, at) {
				t.Fatalf("%q is %s, want %s; notes %v\n%s", at, got, want, out.Notes, out.Text)
			}
			for _, c := range n.Children {
				walk(c, path.Join(at, c.Name), got)
			}
		}
		walk(tree, ".", confine.Hidden)
	})
}

// said reports whether a note speaks of the path or of a directory above it.
func said(notes []compilers.Note, at string) bool {
	for ; at != "."; at = path.Dir(at) {
		for _, n := range notes {
			if strings.HasPrefix(n.Why, quoteAll([]string{at})+" ") {
				return true
			}
		}
	}
	return false
}
