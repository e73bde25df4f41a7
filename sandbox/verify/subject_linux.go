package verify

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"umwelt/cascade"
	"umwelt/compilers/confine"
	"umwelt/registry"
	"umwelt/sandbox/verify/probe"
	"umwelt/world"
)

// place is one path of the project: what the policy says of it, what the target has
// declared, and what is there.
type place struct {
	path   string // relative to the root, "." for the root
	in     *place // the directory that holds it; nil for the root
	kind   confine.Kind
	mode   confine.Mode   // by the policy
	has    confine.Access // by what the target declares
	by     string         // what decided the mode
	target string         // the text of a link
	out    bool           // a link that leads out
	whole  bool           // everything below may be changed, by the policy and as declared
	free   bool           // nothing below may be changed less than the place itself
	bits   uint32         // its permission bits for this user; none where a directory above lets nobody through
	st     unix.Stat_t
	below  []*place
}

// The permission bits.
const (
	canRead  uint32 = 4
	canWrite uint32 = 2
	canPass  uint32 = 1
)

// lets reports whether permission bits stand in nobody's way.
func (p *place) lets(bits uint32) bool { return p.bits&bits == bits }

// policy is what the policy says of a place, for people.
func (p *place) policy() string { return p.mode.String() + ", by " + p.by }

// subject is a project as a policy has it.
type subject struct {
	root   string
	res    *cascade.Resolution
	places []*place // parents first
	usual  bool     // what a new file may be does not depend on its name
	other  []string // paths at which the world mounts something else
	odd    []string // what cannot be tried, and why
}

// newSubject reads a resolution. The confinement is the one that is run.
func newSubject(res *cascade.Resolution, c *confine.Confinement, has rights, usual bool) (*subject, error) {
	tree, problems := confine.Tree(res)
	if problems.HasErrors() {
		return nil, problems.Err()
	}
	s := &subject{root: c.Root, res: res, usual: usual}
	for _, m := range c.System {
		if rel, ok := strings.CutPrefix(m.Path, c.Root+"/"); ok {
			s.other = append(s.other, rel)
		}
	}
	return s, s.read(tree, c.Tree, has, nil, ".")
}

// read reads a path and what lies below it, in the policy's tree and in the planned one.
func (s *subject) read(policy, planned *confine.Node, has rights, in *place, path string) error {
	if slices.Contains(s.other, path) {
		return nil
	}
	p := &place{path: path, in: in, kind: policy.Kind, mode: s.strict(policy, path), by: policy.By.String(), target: policy.Target, out: policy.Escapes}
	if err := unix.Lstat(s.at(path), &p.st); err != nil {
		s.odd = append(s.odd, fmt.Sprintf("%s is in the world, but not there", display(path)))
		return nil
	}
	if kind := kindOf(&p.st); kind != p.kind {
		s.odd = append(s.odd, fmt.Sprintf("%s is something else than the world says", display(path)))
		return nil
	}
	if planned.Name != policy.Name || len(planned.Children) != len(policy.Children) {
		return errors.New("the plan has other paths than the policy")
	}
	if s.usual && p.kind == confine.Dir {
		// What may come into a directory decides what it is, and that reading was asked for.
		p.mode = planned.Mode
	}
	p.has = has(path, planned)
	if in == nil || in.lets(canPass) {
		p.bits = permission(&p.st)
	}
	p.whole = p.mode == confine.ReadWrite && (p.kind != confine.Dir && p.has&confine.Write != 0 || p.has&confine.Change != 0)
	p.free = p.mode == confine.ReadWrite
	s.places = append(s.places, p)
	for i, child := range policy.Children {
		before := len(s.places)
		if err := s.read(child, planned.Children[i], has, p, join(path, child.Name)); err != nil {
			return err
		}
		if len(s.places) > before {
			below := s.places[before]
			p.below = append(p.below, below)
			p.whole = p.whole && below.whole
			p.free = p.free && below.free
		}
	}
	return nil
}

// strict is the mode of a path, and never more than the rules alone say of a file.
func (s *subject) strict(n *confine.Node, path string) confine.Mode {
	if n.Kind == confine.Dir {
		return n.Mode
	}
	w := s.res.World()
	t := typeOf(w.Registry, "file")
	i := w.Find(t, path)
	if i < 0 {
		return n.Mode
	}
	get := func(name string) bool { return s.res.Get(i, t.Property(name)).Value.Bool() }
	return min(n.Mode, modeOf(get("visible"), get("editable")))
}

func modeOf(visible, editable bool) confine.Mode {
	switch {
	case !visible:
		return confine.Hidden
	case editable:
		return confine.ReadWrite
	}
	return confine.ReadOnly
}

// typeOf is the type of the sandbox vocabulary by that name.
func typeOf(reg *registry.Registry, name string) *registry.EntityType {
	types := reg.TypesNamed(name)
	for _, t := range types {
		if t.Taxon.Name == "world" {
			return t
		}
	}
	return types[0]
}

// newFile is what the rules say of a file that is not there. Its directory is the nearest
// one that the world has.
func (s *subject) newFile(dir *place, name string) confine.Mode {
	w := s.res.World()
	files, dirs := typeOf(w.Registry, "file"), typeOf(w.Registry, "dir")
	path := join(dir.path, name)
	parent := w.RootEntity()
	if dir.in != nil {
		parent = w.Find(dirs, dir.path)
	}
	if parent < 0 {
		return dir.mode
	}
	e := world.Entity{Type: files, ID: path, Parent: int32(parent)}
	e.Attributes = world.Complete(files, path, []world.Attribute{{Name: files.PathAttr, Text: path}})
	answer := s.res.ResolveEntity(&e)
	get := func(name string) bool { return answer[files.Property(name).Index].Value.Bool() }
	return modeOf(get("visible"), get("editable"))
}

// wantNew is what has to come of what needs least, and of the target the right, on a file
// that is made later in a directory.
func (s *subject) wantNew(dir *place, name string, least confine.Mode, right confine.Access) expect {
	mode := s.newFile(dir, name)
	switch {
	case dir.has&right != 0 && dir.lets(anything) && (mode >= least || s.usual):
		return allow
	case mode < least && !(s.usual && dir.mode >= least):
		return deny
	}
	return either
}

func (s *subject) at(path string) string {
	if path == "." {
		return s.root
	}
	return s.root + "/" + path
}

func (s *subject) bytes(path string) []byte { return []byte(s.at(path)) }

// permission is the permission bits of this user. The sandbox has no capability to pass
// them by.
func permission(st *unix.Stat_t) uint32 {
	switch {
	case st.Mode&unix.S_IFMT == unix.S_IFLNK:
		return canRead | canWrite | canPass
	case int(st.Uid) == os.Geteuid():
		return st.Mode >> 6 & 7
	case int(st.Gid) == os.Getegid():
		return st.Mode >> 3 & 7
	}
	return st.Mode & 7
}

// content is what a read has to give.
func (s *subject) content(path string) ([]byte, bool, error) {
	f, err := os.OpenFile(s.at(path), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, probe.Most))
	return probe.Digest(text), len(text) == 0, err
}

func kindOf(st *unix.Stat_t) confine.Kind {
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		return confine.Dir
	case unix.S_IFREG:
		return confine.File
	case unix.S_IFLNK:
		return confine.Symlink
	}
	return confine.Special
}

func join(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}

// name is the last part of a path.
func (p *place) name() string { return p.path[strings.LastIndexByte(p.path, '/')+1:] }

// extension is that of a file's name, as far as it can stand in another one.
func (p *place) extension() string {
	ext := filepath.Ext(p.name())
	if len(ext) < 2 || len(ext) > 16 {
		return ""
	}
	return ext
}
