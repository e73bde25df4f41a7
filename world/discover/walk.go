package discover

import (
	"bytes"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// kind is what a directory entry is.
type kind uint8

const (
	regular kind = iota
	directory
	symlink
	fifo
	socket
	device
)

func (k kind) String() string {
	return [...]string{"regular", "dir", "symlink", "fifo", "socket", "device"}[k]
}

// maxEntries bounds what one recipe may find.
const maxEntries = 5_000_000

var errTooMany = errors.New("too many entries")

// entry is one name in a directory.
type entry struct {
	path   string   // with the prefix of the recipe's root
	sub    *listing // of a directory that is read; nil otherwise
	number uint64   // of the file in its filesystem, as the directory has it; 0 where it is unknown
	name   int32    // where the name begins in path
	kind   kind
	keep   bool // it is an entity in its own right
	left   bool // it is left out, with all that lies below it
}

// listing is what a directory holds, sorted by name.
type listing struct {
	entries []entry
	partial bool  // something in it is neither an entity nor known to be left out
	err     error // why it, or the rest of it, could not be read
}

// verdict says what becomes of a directory entry. A directory that is read and not kept is
// still an entity where something below it is. What the world knows already is passed over;
// what is neither kept, read nor known is left out.
type verdict struct{ keep, read, known bool }

// walker reads a tree of directories with several workers. The result does not depend on
// their number, since every listing is sorted and has one writer.
type walker struct {
	tree    *tree
	inside  string // the directory, below the tree, where the walk begins
	prefix  string // of entity paths
	judge   func(path, name string, k kind, depth int) verdict
	workers int // 0 for as many as there are processors

	mu      sync.Mutex
	wake    sync.Cond
	pending []task
	busy    int
	found   int
	err     error
}

type task struct {
	to    *listing
	path  string // with the prefix; "" for the start
	depth int
}

// walk reads everything and returns the listing of the start.
func (w *walker) walk() (*listing, error) {
	w.wake.L = &w.mu
	top := &listing{}
	w.pending = append(w.pending, task{to: top})
	n := w.workers
	if n == 0 {
		n = min(runtime.GOMAXPROCS(0), 8)
	}
	var done sync.WaitGroup
	for range n {
		done.Go(w.work)
	}
	done.Wait()
	return top, w.err
}

func (w *walker) work() {
	l := lister{}
	buf := make([]byte, 64<<10)
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		for len(w.pending) == 0 && w.busy > 0 {
			w.wake.Wait()
		}
		if len(w.pending) == 0 {
			w.wake.Broadcast()
			return
		}
		t := w.pending[len(w.pending)-1]
		w.pending = w.pending[:len(w.pending)-1]
		w.busy++
		w.mu.Unlock()
		more := w.read(t, &l, buf)
		w.mu.Lock()
		w.busy--
		w.found += len(t.to.entries)
		if w.found > maxEntries {
			w.err = errTooMany
			w.pending, more = nil, nil
		}
		w.pending = append(w.pending, more...)
		if len(w.pending) > 1 || w.busy == 0 {
			w.wake.Broadcast()
		}
	}
}

// read fills one listing and returns what is to be read below it.
func (w *walker) read(t task, l *lister, buf []byte) (more []task) {
	dir := w.inside
	if t.path != "" {
		dir = w.relative(t.path)
	}
	l.reset()
	t.to.err = w.tree.list(dir, buf, l)
	t.to.partial = l.partial
	prefix := w.prefix
	if t.path != "" {
		prefix = t.path + "/"
	}
	t.to.entries = l.entries(prefix)
	kept := t.to.entries[:0]
	for _, e := range t.to.entries {
		v := w.judge(e.path, e.path[e.name:], e.kind, t.depth+1)
		if v.known {
			continue
		}
		e.keep = v.keep
		if e.kind == directory && v.read {
			e.sub = &listing{}
			more = append(more, task{to: e.sub, path: e.path, depth: t.depth + 1})
		}
		e.left = !e.keep && e.sub == nil
		kept = append(kept, e)
	}
	t.to.entries = kept
	return more
}

// relative is an entity path as a path below the tree.
func (w *walker) relative(path string) string {
	rest := strings.TrimPrefix(path, w.prefix)
	if w.inside == "." {
		return rest
	}
	return w.inside + "/" + rest
}

// lister collects the names of one directory.
type lister struct {
	names   []byte
	items   []listed
	partial bool // there are more than these
}

type listed struct {
	number   uint64
	from, to int32
	kind     kind
}

func (l *lister) reset() { l.names, l.items, l.partial = l.names[:0], l.items[:0], false }

// add takes a name in, with the number of what it names, 0 where that is unknown.
func (l *lister) add(name []byte, k kind, number uint64) {
	if len(l.names) > 1<<30 {
		l.partial = true // far beyond maxEntries
		return
	}
	from := int32(len(l.names))
	l.names = append(l.names, name...)
	l.items = append(l.items, listed{number, from, int32(len(l.names)), k})
}

// entries sorts by name and makes all paths share one string.
func (l *lister) entries(prefix string) []entry {
	if len(l.items) == 0 {
		return nil
	}
	slices.SortFunc(l.items, func(a, b listed) int { return bytes.Compare(l.names[a.from:a.to], l.names[b.from:b.to]) })
	var b strings.Builder
	b.Grow(len(l.names) + len(prefix)*len(l.items))
	for _, it := range l.items {
		b.WriteString(prefix)
		b.Write(l.names[it.from:it.to])
	}
	all := b.String()
	out := make([]entry, len(l.items))
	at := 0
	for i, it := range l.items {
		size := len(prefix) + int(it.to-it.from)
		out[i] = entry{path: all[at : at+size], number: it.number, name: int32(len(prefix)), kind: it.kind}
		at += size
	}
	return out
}

// components are the names of a relative path; "." is none, but is itself opened.
func components(dir string) []string {
	return strings.Split(dir, "/")
}
