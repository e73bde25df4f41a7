package workspace

import (
	"errors"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// item is what stands at one path, in the tree or in the project.
type item struct {
	kind    Kind
	perm    uint32 // the nine permission bits
	special uint32 // the set-user-ID, set-group-ID and sticky bits
	at      fingerprint
	target  string // the text of a symbolic link
	problem string // why it, or what lies in a directory, cannot be known; "" for nothing
	sum     string // of the content, once hash was asked for it
}

func (b *beneath) item(name string, st *unix.Stat_t) *item {
	it := &item{kind: kindOf(st.Mode), perm: st.Mode & 0o777, special: st.Mode & 0o7000, at: fingerprintOf(st)}
	if it.kind == KindSymlink {
		target, err := b.readlink(name)
		it.target = target
		if err != nil {
			it.problem = "it cannot be read: " + why(err)
		}
	}
	return it
}

// hash is the SHA-256 of a file's content, or its problem.
func (b *beneath) hash(name string, it *item) (string, error) {
	if it.sum != "" || it.problem != "" {
		return it.sum, nil
	}
	f, err := b.open(name)
	if err != nil {
		it.problem = "it cannot be read: " + why(err)
		return "", nil
	}
	defer f.Close()
	before, err := stamp(f)
	if err != nil {
		return "", err
	}
	sum, err := hashFile(f, it.at.size)
	after, err2 := stamp(f)
	if err := errors.Join(err, err2); err != nil {
		return "", reading(name, err)
	}
	if before != it.at || after != it.at {
		return "", reading(name, errChanging)
	}
	it.sum = sum
	return sum, nil
}

// inode is a file, whatever its names.
type inode struct{ dev, ino uint64 }

// tree is everything in an actor's tree.
type tree struct {
	*beneath
	items map[string]*item
	names map[inode]uint64 // how many names in the tree a file with several has
}

// scan looks at the whole tree. It reads no file and follows no link.
func scan(b *beneath) (*tree, error) {
	t := &tree{beneath: b, items: map[string]*item{}, names: map[inode]uint64{}}
	st, err := b.stat(".")
	if err != nil {
		return nil, err
	}
	t.items["."] = b.item(".", &st)
	return t, t.directory(".")
}

func (t *tree) directory(dir string) error {
	var below []string
	err := t.each(dir, func(name string, st *unix.Stat_t) error {
		at := join(dir, name)
		if len(t.items) > maxEntries {
			return errTooMany
		}
		if !validPath(at) {
			// It is deeper than any path of the project can be.
			t.items[dir].problem = "what it holds has longer paths than the project can have"
			return nil
		}
		it := t.item(at, st)
		t.items[at] = it
		switch {
		case it.kind == KindDir:
			below = append(below, at)
		case it.at.nlink > 1:
			t.names[inode{it.at.dev, it.at.ino}]++
		}
		return nil
	})
	if errors.Is(err, errTooMany) {
		return err
	}
	if err != nil {
		t.items[dir].problem = "what it holds cannot be read: " + why(err)
		return nil
	}
	for _, at := range below {
		if err := t.directory(at); err != nil {
			return err
		}
	}
	return nil
}

// shared reports whether a file has a name outside the tree.
func (t *tree) shared(it *item) bool {
	return it.at.nlink > 1 && t.names[inode{it.at.dev, it.at.ino}] < it.at.nlink
}

// closed is the problem of the nearest directory above a path of which it is not known
// what it holds, or "".
func (t *tree) closed(name string) string {
	for name != "." {
		name = path.Dir(name)
		if it := t.items[name]; it != nil && it.kind == KindDir && it.problem != "" {
			return it.problem
		}
	}
	return ""
}

// project is the real files, each directory read when it is first asked for.
type project struct {
	*beneath
	dirs map[string]*listing
}

type listing struct {
	items   map[string]*item
	problem string
}

// listing is what a directory of the project holds; nil where there is no directory.
func (p *project) listing(dir string) *listing {
	if l, ok := p.dirs[dir]; ok {
		return l
	}
	var l *listing
	if it, problem := p.at(dir); problem != "" {
		l = &listing{problem: problem}
	} else if it != nil && it.kind == KindDir {
		l = &listing{items: map[string]*item{}}
		err := p.each(dir, func(name string, st *unix.Stat_t) error {
			l.items[name] = p.item(join(dir, name), st)
			return nil
		})
		if err != nil {
			l.problem = "the project's directory cannot be read: " + why(err)
		}
	}
	p.dirs[dir] = l
	return l
}

// at is what stands at a path of the project, nil for nothing, or why that is not known.
func (p *project) at(name string) (*item, string) {
	if name == "." {
		st, err := p.stat(".")
		if err != nil {
			return nil, why(err)
		}
		return p.item(".", &st), ""
	}
	l := p.listing(path.Dir(name))
	switch {
	case l == nil:
		return nil, ""
	case l.problem != "":
		return nil, l.problem
	}
	return l.items[path.Base(name)], ""
}

// otherName is the name that a filesystem without regard to case takes for the given one
// where the directory does not list that; "" where nothing stands there.
func (p *project) otherName(name string) string {
	l := p.listing(path.Dir(name))
	if l == nil || l.items[path.Base(name)] != nil {
		return ""
	}
	st, err := p.stat(name)
	if err != nil {
		return ""
	}
	for other, it := range l.items {
		if it.at.ino == st.Ino && it.at.dev == uint64(st.Dev) && strings.EqualFold(other, path.Base(name)) {
			return join(path.Dir(name), other)
		}
	}
	return name
}
