package strace

import (
	"bytes"
	"slices"
	"strings"

	"umwelt/ratchet"
)

// maxPath bounds an absolute path. The kernel takes at most 4096 bytes at a time; deeper
// trees are reached in steps.
const maxPath = 1 << 13

// fate is what came of placing a path.
type fate uint8

const (
	placed     fate = iota
	nothing         // it names no entity, such as "" or a null pointer
	unresolved      // nobody knows the directory it begins in, or what ".." leads to
	truncated       // strace left out its end
	broken          // it is not a string as strace writes one
)

// place is a path that a process stands in or holds open. One that was renamed is renamed
// here too, for everybody who holds it.
type place struct {
	path string
	sure int  // every directory that path[:sure] goes through is one, and no symbolic link
	gone bool // it has no name any more, or nobody knows it
}

// maxPlaces bounds the places that are kept.
const maxPlaces = 1 << 16

// place is the place of a path, which others may hold already.
func (r *reader) place(path []byte, sure int) *place {
	p := r.places[string(path)]
	if p == nil {
		if len(r.places) >= maxPlaces {
			r.sweep()
		}
		p = &place{path: string(path)}
		r.places[p.path] = p
	}
	p.sure = max(p.sure, min(sure, len(path)))
	return p
}

// sweep drops the places that nobody holds. Where that is not enough, everybody loses what
// they hold.
func (r *reader) sweep() {
	held := map[string]*place{}
	hold := func(p *place) {
		if p != nil && !p.gone {
			held[p.path] = p
		}
	}
	for _, p := range r.procs {
		hold(p.fs.cwd)
		for _, d := range p.files.table.fds {
			hold(d.place)
		}
	}
	if len(held) > maxPlaces/2 {
		for _, p := range held {
			p.gone = true
		}
		held = map[string]*place{}
		r.tally.Cut("more files were open at once than this reader follows")
	}
	r.places = held
}

// gone takes the name off the place of a path that was removed.
func (r *reader) gone(path []byte) {
	if p := r.places[string(path)]; p != nil {
		p.gone = true
		delete(r.places, p.path)
	}
}

// below is the rest of a path below a directory, which begins with a slash.
func below(path string, dir []byte) (rest string, ok bool) {
	if len(path) > len(dir) && path[len(dir)] == '/' && path[:len(dir)] == string(dir) {
		return path[len(dir):], true
	}
	return "", false
}

// moved renames what is held of a path, and of what lies below it.
func (r *reader) moved(from, to []byte, exchange bool) {
	var list []*place
	var names []string
	type moving struct {
		to    string
		facts node
	}
	var facts []moving
	collect := func(from, to []byte) {
		if r.facts(from).kind == isFile {
			if p := r.places[string(from)]; p != nil {
				list, names = append(list, p), append(names, string(to))
			}
			return
		}
		if r.work += int64(len(r.places) + len(r.nodes)); r.work > maxWork+r.tally.Records*workPerLine {
			r.age++
			for _, p := range r.places {
				p.gone = true
			}
			r.places = map[string]*place{}
			r.tally.Cut("more renames among more files than this reader follows")
			return
		}
		for id, n := range r.nodes {
			if rest, ok := below(id, from); ok && n.age == r.age {
				facts = append(facts, moving{string(to) + rest, *n})
				r.vanish(n, isUnsaid)
			}
		}
		for _, p := range r.places {
			if rest, ok := below(p.path, from); ok {
				list, names = append(list, p), append(names, string(to)+rest)
			} else if p.path == string(from) {
				list, names = append(list, p), append(names, string(to))
			}
		}
	}
	collect(from, to)
	if exchange {
		collect(to, from)
	}
	slices.SortFunc(facts, func(a, b moving) int { return strings.Compare(a.to, b.to) })
	for _, m := range facts {
		n := r.nodes[m.to]
		if n == nil && len(r.nodes) < maxNodes && r.nodeBytes <= maxNodeBytes {
			n = &node{id: m.to}
			r.nodes[m.to] = n
			r.nodeBytes += len(m.to)
		}
		if n != nil {
			n.age, n.kind, n.exists, n.real = r.age, m.facts.kind, m.facts.exists, m.facts.real
		}
	}
	for _, p := range list {
		delete(r.places, p.path)
	}
	if !exchange {
		r.gone(to)
	}
	for i, p := range list {
		if old := r.places[names[i]]; old != nil {
			old.gone = true
		}
		p.path, p.sure, p.gone = names[i], 0, len(names[i]) > maxPath
		if !p.gone {
			r.places[p.path] = p
		}
	}
}

// strayed forgets what a rename may have made untrue of which one name is not known: all
// that goes through a name such as the old one's last.
func (r *reader) strayed(arg []byte) {
	r.age++
	text, cut, ok := decode(r.scratch, arg)
	text = bytes.TrimRight(text, "/")
	base := "/" + string(text[bytes.LastIndexByte(text, '/')+1:])
	for path, p := range r.places {
		if cut || !ok || strings.HasSuffix(path, base) || strings.Contains(path, base+"/") {
			p.gone = true
			delete(r.places, path)
		}
	}
}

// What renames of directories may cost, in places looked at.
const (
	maxWork     = 1 << 24
	workPerLine = 64
)

// where is a path in the making: clean, absolute, and as far as sure free of symbolic links.
type where struct {
	path []byte
	sure int
}

// lookup says how a call takes its path.
type lookup struct {
	follow bool // a symbolic link at the end is followed
	inRoot bool // the directory stands for the root (openat2)
}

// resolve puts the absolute path of the string arg into w. dir is the argument that names
// the directory of relative paths, nil where there is none.
func (r *reader) resolve(w *where, p *proc, dir, arg []byte, how lookup) fate {
	if len(arg) == 0 || arg[0] != '"' {
		if len(arg) == 0 {
			return broken
		}
		if string(arg) == "NULL" {
			return nothing
		}
		return unresolved // an address: strace could not read it
	}
	text, cut, ok := decode(r.scratch, arg)
	switch {
	case !ok || bytes.IndexByte(text, 0) >= 0:
		return broken
	case cut:
		return truncated
	case len(text) == 0:
		return nothing
	case len(text) > maxPath:
		return broken
	}
	return r.join(w, p, dir, text, how)
}

// join puts the absolute path of text into w.
func (r *reader) join(w *where, p *proc, dir, text []byte, how lookup) fate {
	if text[0] == '/' && !how.inRoot {
		if p.fs.lost {
			return unresolved
		}
		w.path = append(w.path[:0], p.fs.root...)
		w.sure = len(w.path)
	} else if f := r.base(w, p, dir); f != placed {
		return f
	}
	root := len(p.fs.root)
	if how.inRoot {
		root = len(w.path)
	}
	for len(text) > 0 {
		part := text
		if i := bytes.IndexByte(text, '/'); i >= 0 {
			part, text = text[:i], text[i+1:]
		} else {
			text = nil
		}
		switch {
		case len(part) == 0 || len(part) == 1 && part[0] == '.':
		case len(part) == 2 && part[0] == '.' && part[1] == '.':
			if len(w.path) <= root {
				continue
			}
			if len(w.path) > w.sure && !r.facts(w.path).real {
				return unresolved
			}
			w.path = w.path[:max(bytes.LastIndexByte(w.path, '/'), root)]
			w.sure = min(w.sure, len(w.path))
		default:
			if len(w.path)+len(part)+1 > maxPath {
				return unresolved
			}
			w.path = append(append(w.path, '/'), part...)
		}
	}
	if len(w.path) > 6 && (w.path[1] == 'p' || w.path[1] == 'd') {
		if f := r.magic(w, p, how.follow); f != placed {
			return f
		}
	}
	if len(w.path) == 0 {
		w.path = append(w.path, '/')
		w.sure = 1
	}
	return placed
}

// base puts the directory that relative paths begin in into w, "" for the root.
func (r *reader) base(w *where, p *proc, dir []byte) fate {
	var at *place
	if dir == nil || bytes.HasPrefix(dir, atCwd) {
		if len(dir) > len(atCwd) {
			note := dir[len(atCwd):]
			path := notedPath(r.noted, note)
			if path == nil {
				p.fs.cwd = nil
				return unresolved
			}
			// strace looked it up itself, so it is true whatever was seen before.
			at = p.fs.cwd
			if at == nil || at.gone || at.sure < len(at.path) || at.path != string(path) {
				at = r.place(path, len(path))
			}
			if !p.loose {
				p.fs.cwd = at
			}
		} else if !p.loose {
			at = p.fs.cwd
		}
	} else {
		fd, note, ok := descriptor(dir)
		if !ok {
			return unresolved
		}
		at = r.known(p, fd, note)
	}
	if at == nil || at.gone {
		return unresolved
	}
	w.path = append(w.path[:0], at.path...)
	w.sure = at.sure
	if len(w.path) == 1 {
		w.path, w.sure = w.path[:0], 0
	}
	return placed
}

var atCwd = []byte("AT_FDCWD")

// known is the place that a descriptor leads to: what -y says, or what was followed.
func (r *reader) known(p *proc, fd int64, note []byte) *place {
	d, found := p.files.table.fds[int32(fd)]
	if note == nil {
		if found && d.place != nil && !d.place.gone && !p.files.loose {
			return d.place
		}
		return nil
	}
	path := notedPath(r.noted, note)
	if path == nil {
		return nil
	}
	if !found || d.place == nil || d.place.gone || d.place.path != string(path) || d.place.sure < len(path) {
		d.place = r.place(path, len(path))
		r.set(p.files, int32(fd), d)
	}
	return d.place
}

// magic replaces what the kernel's links to a process's own files stand for:
// /proc/self/fd/N, /dev/fd/N, and what lies below /proc/self/cwd and /proc/self/root.
func (r *reader) magic(w *where, p *proc, follow bool) fate {
	rest, ok := bytes.CutPrefix(w.path, []byte("/proc/self/"))
	if !ok {
		rest, ok = bytes.CutPrefix(w.path, []byte("/proc/thread-self/"))
	}
	if !ok {
		if rest, ok = bytes.CutPrefix(w.path, []byte("/dev/fd/")); ok {
			return r.magicFd(w, p, rest, follow)
		}
		return placed
	}
	if fd, ok := bytes.CutPrefix(rest, []byte("fd/")); ok {
		return r.magicFd(w, p, fd, follow)
	}
	var base string
	if tail, ok := bytes.CutPrefix(rest, []byte("cwd/")); ok {
		c := p.fs.cwd
		if c == nil || c.gone {
			return unresolved
		}
		base, rest = c.path, tail
	} else if tail, ok := bytes.CutPrefix(rest, []byte("root/")); ok {
		base, rest = p.fs.root, tail
	} else {
		return placed
	}
	r.scratch = append(append(append(r.scratch[:0], base...), '/'), rest...)
	w.path, w.sure = append(w.path[:0], trimRoot(r.scratch)...), 0
	return placed
}

// trimRoot takes one of two leading slashes away.
func trimRoot(b []byte) []byte {
	if len(b) > 1 && b[1] == '/' {
		return b[1:]
	}
	return b
}

func (r *reader) magicFd(w *where, p *proc, text []byte, follow bool) fate {
	fd, rest, ok := number(text)
	if !ok || fd > maxDescriptor || len(rest) > 0 && rest[0] != '/' {
		return placed
	}
	if len(rest) == 0 && !follow {
		return placed // the link itself
	}
	at := r.known(p, fd, nil)
	if at == nil {
		if len(rest) > 0 {
			return unresolved
		}
		return placed // a pipe, a socket, or a file that was open before
	}
	r.scratch = append(append(r.scratch[:0], at.path...), rest...)
	w.path, w.sure = append(w.path[:0], trimRoot(r.scratch)...), 0
	return placed
}

// miss counts a call that gave no observation because of its path.
func (r *reader) miss(f fate) {
	switch f {
	case unresolved:
		r.gap(ratchet.Unresolved, r.spec.name)
	case truncated:
		r.gap(ratchet.Truncated, r.spec.name)
	case broken:
		r.gap(ratchet.Broken, r.spec.name)
	}
}
