package kubernetes

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"umwelt/compilers"
	"umwelt/compilers/confine"
	"umwelt/diag"
)

// Names of volumes. Covers of hidden directories that carry something visible are
// numbered, as are memory volumes.
const (
	projectVolume = "project"
	emptyVolume   = "hidden-dir"
	fileVolume    = "hidden-file"
	hiddenKey     = "hidden" // the ConfigMap's empty file
)

// mount is one volumeMounts item.
type mount struct {
	volume, path, subPath string
	readOnly              bool
}

// cover is the volume over a hidden directory with visible things in it: read-only, and
// empty but for a place for each of those to be mounted on.
type cover struct {
	at     int // index of its mount in layout.mounts, until they are sorted
	path   string
	places []string // relative to the directory
}

// layout is the filesystem of the container.
type layout struct {
	mounts   []mount
	covers   []*cover // those that carry something, in order, once project is done
	tmpfs    []tmpfs
	notes    []compilers.Note
	problems diag.List
}

type tmpfs struct {
	volume string
	size   int64 // bytes; 0 for no limit
}

// state is what stands at a path of the plan in the container.
type state struct {
	mode  confine.Mode
	cover *cover // that the path lies in or is, if any
}

// project lays out the project's files.
//
// Above the first visible entry nothing is mounted: the container's own read-only root
// filesystem holds the directories, empty but for the mounts. Below a visible one, what
// is hidden is covered. A place that cannot be mounted is left out where that is no more
// than its surroundings allow, and refused where leaving it out would widen the policy.
func (l *layout) project(plan []confine.Entry, workdir string) {
	states := make(map[string]state, len(plan))
	for _, e := range plan {
		if why := wrongPath(e.Path); why != "" {
			l.problems.Errorf(diag.BadPath, diag.Span{}, "kubernetes: %s: %s", diag.Quote(e.Path), why)
			continue
		}
		if _, twice := states[e.Path]; twice {
			l.problems.Errorf(diag.Duplicate, diag.Span{}, "kubernetes: the mount plan holds %s twice", diag.Quote(e.Path))
			continue
		}
		states[e.Path] = l.entry(e, surroundings(states, e.Path), workdir)
	}
	l.nameCovers()
	if len(l.mounts) == 0 {
		l.mounts = append(l.mounts, mount{volume: emptyVolume, path: workdir, readOnly: true})
	}
}

// entry adds what one entry of the plan needs and returns what then stands at its path.
func (l *layout) entry(e confine.Entry, around state, workdir string) state {
	appears := e.Shown && e.Path != "."
	if e.Mode == confine.Hidden && around.mode == confine.Hidden && !appears {
		return around
	}
	if why := unmountable(e); why != "" {
		switch {
		case e.Mode < around.mode:
			l.problems.Errorf(diag.BadPath, diag.Span{}, "kubernetes: %s cannot be made %s: %s", diag.Quote(e.Path), e.Mode, why)
		case e.Mode > around.mode || appears:
			l.lose("%s stays %s: %s", diag.Quote(e.Path), around.mode, why)
		}
		return around
	}
	if c := around.cover; c != nil {
		rel := c.place(e)
		if strings.HasPrefix(rel, "..") {
			l.lose("%s stays hidden: Kubernetes makes no name that begins with two dots below a cover", diag.Quote(e.Path))
			return around
		}
		c.places = append(c.places, rel)
	}
	at := path.Join(workdir, e.Path)
	if e.Mode == confine.Hidden {
		return l.hide(e, at)
	}
	sub := e.Path
	if sub == "." {
		sub = ""
	}
	l.mounts = append(l.mounts, mount{projectVolume, at, sub, e.Mode == confine.ReadOnly})
	return state{mode: e.Mode}
}

// hide puts something empty at the place of something hidden.
func (l *layout) hide(e confine.Entry, at string) state {
	if e.Kind != confine.Dir {
		l.mounts = append(l.mounts, mount{fileVolume, at, hiddenKey, true})
		return state{mode: confine.Hidden}
	}
	c := &cover{at: len(l.mounts), path: e.Path}
	l.covers = append(l.covers, c)
	l.mounts = append(l.mounts, mount{volume: emptyVolume, path: at, readOnly: true})
	return state{mode: confine.Hidden, cover: c}
}

// place is where in the cover an entry is mounted: the file itself, or something in the
// directory, which makes the directory.
func (c *cover) place(e confine.Entry) string {
	rel := strings.TrimPrefix(e.Path, c.path+"/")
	if e.Kind == confine.Dir {
		rel += "/" + hiddenKey
	}
	return rel
}

// nameCovers gives every cover that carries something a volume of its own.
func (l *layout) nameCovers() {
	l.covers = slices.DeleteFunc(l.covers, func(c *cover) bool { return len(c.places) == 0 })
	for i, c := range l.covers {
		l.mounts[c.at].volume = coverVolume(i)
	}
}

func coverVolume(i int) string { return fmt.Sprintf("cover-%d", i) }

// surroundings is the state of the nearest entry above a path.
func surroundings(states map[string]state, p string) state {
	for p != "." {
		p = path.Dir(p)
		if s, ok := states[p]; ok {
			return s
		}
	}
	return state{mode: confine.Hidden}
}

// outside lays out the mounts that the world declares. The image provides the system, so
// host directories are left out; a memory filesystem becomes a memory volume. /tmp is
// always one, since the rest of the container's own filesystem is read-only.
func (l *layout) outside(mounts []confine.Mount, limit *int64, workdir string) {
	var host []string
	seen := map[string]bool{}
	add := func(m confine.Mount) {
		seen[m.Path] = true
		size := m.Size
		if limit != nil && *limit > 0 && (size == 0 || *limit < size) {
			size = *limit
		}
		v := fmt.Sprintf("memory-%d", len(l.tmpfs))
		l.tmpfs = append(l.tmpfs, tmpfs{v, size})
		l.mounts = append(l.mounts, mount{volume: v, path: m.Path, readOnly: m.ReadOnly || limit != nil && *limit <= 0})
	}
	for _, m := range mounts {
		switch {
		case m.Type == "bind":
			host = append(host, diag.Quote(m.Path))
		case m.Type != "tmpfs":
			// The container's runtime brings /proc and /dev, and the image its own links.
		case badMountPath(m.Path) != "" || !path.IsAbs(m.Path) || path.Clean(m.Path) != m.Path:
			l.lose("the memory filesystem at %s is left out: no clean absolute path without a colon", diag.Quote(m.Path))
		case within(workdir, m.Path) || within(m.Path, workdir):
			l.lose("the memory filesystem at %s is left out: it would lie over the project or in it", diag.Quote(m.Path))
		case seen[m.Path]:
			l.lose("a second memory filesystem at %s is left out", diag.Quote(m.Path))
		default:
			add(m)
		}
	}
	if !seen["/tmp"] && !within("/tmp", workdir) && !within(workdir, "/tmp") {
		add(confine.Mount{Path: "/tmp"})
	}
	if len(host) > 0 {
		l.lose("host directories are not mounted (the image provides its own): %s", strings.Join(host, ", "))
	}
}

// within reports whether the clean absolute path p is dir or lies below it.
func within(p, dir string) bool {
	return p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/")
}

// sort puts parents before children, and siblings in byte order.
func (l *layout) sort() {
	slices.SortStableFunc(l.mounts, func(a, b mount) int {
		return confine.ComparePaths(a.path, b.path)
	})
}

func (l *layout) lose(format string, args ...any) {
	l.notes = append(l.notes, compilers.Note{Level: compilers.Partial, Why: fmt.Sprintf(format, args...)})
}

// unmountable says why nothing can be mounted at an entry's path, or "".
func unmountable(e confine.Entry) string {
	if e.Kind == confine.Symlink {
		return "nothing can be mounted at a symbolic link"
	}
	return badMountPath(e.Path)
}

// badMountPath says why a path cannot stand in a volume mount, or "".
func badMountPath(p string) string {
	switch {
	case !utf8.ValidString(p):
		return "the name is not UTF-8, which Kubernetes cannot carry"
	case strings.ContainsRune(p, 0):
		return "the name holds a NUL"
	case strings.ContainsRune(p, ':'):
		return "Kubernetes takes no colon in a mount path"
	}
	return ""
}

// wrongPath says why a path of the plan is not one, or "".
func wrongPath(p string) string {
	switch {
	case p == "" || path.IsAbs(p):
		return "not a path from the root"
	case path.Clean(p) != p || p == ".." || strings.HasPrefix(p, "../"):
		return "not a clean path below the root"
	}
	return ""
}
