package confine

import (
	"cmp"
	"slices"
	"strings"
)

// StepKind says how one mount is made.
type StepKind uint8

// The kinds of step.
const (
	Bind  StepKind = iota // Source at Path
	Cover                 // an unreadable file over the file at Path
	Tmpfs
	Proc
	Dev
	Link // a symlink at Path with the text Source
)

// Step is one mount in the order in which mounts have to be made. Paths are absolute.
type Step struct {
	Kind     StepKind
	Path     string
	Source   string
	ReadOnly bool   // of Bind at once; of Tmpfs once everything in it is made
	Perms    string // of a Tmpfs: octal digits; "" for the tool's default
	Size     int64  // of a Tmpfs in bytes; 0 for no limit
	// Hides is the path on the host that a Cover or Tmpfs stands over in a directory that
	// may be changed, "" elsewhere. A tool that makes a place for every mount would leave
	// one on the host where that path has gone.
	Hides string
}

// Perms of the empty directories that stand for hidden ones.
const (
	listable    = "0555" // it carries visible things, or may be seen to be empty
	unreachable = "0000"
)

// Layout is every mount of the sandbox, in order. The project stands at workdir, an
// absolute clean path other than "/". What the world does not mount at /proc, /dev and
// /tmp is added, since no program runs for long without them.
func (c *Confinement) Layout(workdir string) []Step {
	system := c.system()
	var before, after []Step
	for _, m := range system {
		steps := append([]Step{step(m)}, guards(m, c.Root, workdir)...)
		switch {
		case m.Path == workdir:
			// The project itself stands here.
		case below(m.Path, workdir):
			after = append(after, steps...)
		default:
			before = append(before, steps...)
		}
	}
	before = append(before, anchor(system, workdir)...)
	steps := parentsFirst(before)
	var around []Entry // of the entry, outermost first
	for i, e := range c.Plan {
		for len(around) > 0 && around[len(around)-1].Path != "." && !below(e.Path, around[len(around)-1].Path) {
			around = around[:len(around)-1]
		}
		s := c.entry(i, e, workdir)
		if k := len(around); k > 0 && around[k-1].Mode == ReadWrite && e.Mode == Hidden {
			s.Hides = c.Root + "/" + e.Path
		}
		steps = append(steps, s)
		around = append(around, e)
	}
	return append(steps, parentsFirst(after)...)
}

// parentsFirst orders steps and keeps the first for each path.
func parentsFirst(steps []Step) []Step {
	slices.SortStableFunc(steps, func(a, b Step) int { return ComparePaths(a.Path, b.Path) })
	return slices.CompactFunc(steps, func(a, b Step) bool { return a.Path == b.Path })
}

// system is the world's mounts and the basic ones it lacks.
func (c *Confinement) system() []Mount {
	mounts := slices.Clone(c.System)
	for _, basic := range []Mount{{Path: "/dev", Type: "dev"}, {Path: "/proc", Type: "proc"}, {Path: "/tmp", Type: "tmpfs"}} {
		if !slices.ContainsFunc(mounts, func(m Mount) bool { return m.Path == basic.Path }) {
			mounts = append(mounts, basic)
		}
	}
	for i := range mounts {
		if limit := c.Limits.Tmpfs; limit != nil && mounts[i].Type == "tmpfs" && (mounts[i].Size == 0 || mounts[i].Size > *limit) {
			// A size of 0 would mean no limit.
			mounts[i].Size = max(1, *limit)
		}
	}
	return mounts
}

func step(m Mount) Step {
	s := Step{Path: m.Path, Source: m.Source, ReadOnly: m.ReadOnly, Size: m.Size}
	switch m.Type {
	case "bind":
		s.Kind = Bind
	case "tmpfs":
		s.Kind = Tmpfs
	case "proc":
		s.Kind = Proc
	case "dev":
		s.Kind = Dev
	case "symlink":
		s.Kind = Link
	}
	return s
}

// guards keep a mount that holds the project from leading round the plan. At another path
// than workdir the project is covered; and where the actor could rename a directory on
// the way to the project, that directory is made a mount point.
func guards(m Mount, root, workdir string) []Step {
	if m.Type != "bind" || !below(root, m.Source) {
		return nil
	}
	var steps []Step
	at := rejoin(m.Path, root, m.Source)
	if !m.ReadOnly {
		for dir := range between(m.Path, at) {
			steps = append(steps, Step{Kind: Bind, Path: dir, Source: rejoin(m.Source, dir, m.Path)})
		}
	}
	if at != workdir {
		steps = append(steps, Step{Kind: Tmpfs, Path: at, ReadOnly: true, Perms: unreachable})
	}
	return steps
}

// anchor keeps the actor from renaming the directories above a project that stands in a
// writable tmpfs.
func anchor(system []Mount, workdir string) []Step {
	var holds Mount
	for _, m := range system {
		if below(workdir, m.Path) && len(m.Path) > len(holds.Path) {
			holds = m
		}
	}
	if holds.Type == "tmpfs" && !holds.ReadOnly {
		for dir := range between(holds.Path, workdir) {
			return []Step{{Kind: Tmpfs, Path: dir, ReadOnly: true, Perms: listable}}
		}
	}
	return nil
}

// entry is the step of c.Plan[i].
func (c *Confinement) entry(i int, e Entry, workdir string) Step {
	at := workdir
	source := c.Root
	if e.Path != "." {
		at += "/" + e.Path
		source = strings.TrimSuffix(source, "/") + "/" + e.Path
	}
	switch {
	case e.Kind == Symlink:
		return Step{Kind: Link, Path: at, Source: e.Target}
	case e.Mode != Hidden:
		return Step{Kind: Bind, Path: at, Source: source, ReadOnly: e.Mode == ReadOnly}
	case e.Kind != Dir:
		return Step{Kind: Cover, Path: at, ReadOnly: true}
	}
	s := Step{Kind: Tmpfs, Path: at, ReadOnly: true, Perms: unreachable}
	holds := i+1 < len(c.Plan) && (e.Path == "." || below(c.Plan[i+1].Path, e.Path))
	if holds || e.Shown || e.Path == "." {
		s.Perms = listable
	}
	return s
}

// below reports whether a path lies strictly below a directory.
func below(path, dir string) bool {
	if dir == "/" {
		return len(path) > 1 && path[0] == '/'
	}
	return len(path) > len(dir) && path[len(dir)] == '/' && path[:len(dir)] == dir
}

// rejoin is the path that lies in base as path lies in dir. Path is dir or below it.
func rejoin(base, path, dir string) string {
	rest := strings.TrimPrefix(path[len(strings.TrimSuffix(dir, "/")):], "/")
	if rest == "" {
		return base
	}
	return strings.TrimSuffix(base, "/") + "/" + rest
}

// between yields the directories strictly between dir and a path below it, outermost
// first.
func between(dir, path string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for i := len(strings.TrimSuffix(dir, "/")) + 1; i < len(path); i++ {
			if path[i] == '/' && !yield(path[:i]) {
				return
			}
		}
	}
}

// ComparePaths orders paths component by component, so that parents come before children
// and everything below one directory stands together.
func ComparePaths(a, b string) int {
	n := min(len(a), len(b))
	i := 0
	for i+8 <= n && a[i:i+8] == b[i:i+8] {
		i += 8 // most paths begin as the one before does
	}
	for ; i < n; i++ {
		if a[i] == b[i] {
			continue
		}
		// A name ends before any longer one goes on.
		switch {
		case a[i] == '/':
			return -1
		case b[i] == '/':
			return 1
		}
		return cmp.Compare(a[i], b[i])
	}
	return cmp.Compare(len(a), len(b))
}
