package strace

import (
	"bytes"

	"umwelt/ratchet"
)

// do takes up a call whose text is whole.
func (r *reader) do(p *proc) {
	c := &r.call
	if c.result.again {
		if r.spec.op != opConnect {
			return // the kernel starts it once more, or the program was told that nothing happened
		}
		c.result = result{} // the connection is being made all the same
	}
	if c.result.none {
		if r.spec.op != opFork {
			r.gap(ratchet.Truncated, r.spec.name)
		}
		return
	}
	switch r.spec.op {
	case opOpen, opCreat:
		r.doOpen(p)
	case opStat, opLstat:
		r.doStat(p)
	case opLook, opReadlink:
		r.doLook(p)
	case opWrite:
		r.doWrite(p)
	case opWriteFd, opList:
		r.doDescriptor(p)
	case opMkdir, opMknod, opSymlink:
		r.doMake(p)
	case opLink:
		r.doLink(p)
	case opUnlink, opRmdir:
		r.doRemove(p)
	case opRename:
		r.doRename(p)
	case opExec:
		r.doExec(p)
	case opConnect, opBind, opSendto, opSendmsg:
		r.doNetwork(p)
	case opOpaque:
		if c.result.ok() {
			r.gap(ratchet.Unknown, r.spec.name)
		}
	default:
		r.doState(p)
	}
}

// target places the path of a call.
func (r *reader) target(w *where, p *proc, follow bool) fate {
	var dir []byte
	if r.spec.dir >= 0 {
		dir = r.call.arg(r.spec.dir)
	}
	return r.resolve(w, p, dir, r.call.arg(r.spec.path), lookup{follow: follow})
}

// look counts one thing that was done to a path.
func (r *reader) look(n *node, verb ratchet.Verb) {
	r.see(n, slot{typ: typePath, verb: verb})
}

// fails notes what an error says of a path.
func (r *reader) fails(n *node) {
	switch string(r.call.result.errno) {
	case "ENOENT":
		n.exists, n.real = -1, false
	case "EEXIST":
		n.exists = 1
	}
}

// openMode is what open was asked for.
type openMode struct {
	known, write, both, create, exclusive, truncate    bool
	directory, handle, unnamed, noFollow, inRoot, exec bool
}

// openFlags reads flags such as O_RDWR|O_CREAT.
func openFlags(b []byte) (m openMode) {
	for len(b) > 0 {
		word := b
		if i := bytes.IndexByte(b, '|'); i >= 0 {
			word, b = b[:i], b[i+1:]
		} else {
			b = nil
		}
		switch string(word) {
		case "O_RDONLY":
			m.known = true
		case "O_WRONLY":
			m.known, m.write = true, true
		case "O_RDWR", "O_ACCMODE":
			m.known, m.write, m.both = true, true, true
		case "O_CREAT":
			m.create = true
		case "O_EXCL":
			m.exclusive = true
		case "O_TRUNC":
			m.truncate = true
		case "O_DIRECTORY":
			m.directory = true
		case "O_PATH":
			m.known, m.handle = true, true
		case "O_TMPFILE":
			m.unnamed = true
		case "O_NOFOLLOW":
			m.noFollow = true
		case "O_CLOEXEC", "OPEN_TREE_CLOEXEC":
			m.exec = true
		}
	}
	return m
}

func (r *reader) openMode() openMode {
	switch r.spec.name {
	case "creat":
		return openMode{known: true, write: true, create: true, truncate: true}
	case "open_tree":
		return openMode{known: true, handle: true, exec: hasFlag(r.call.arg(2), "OPEN_TREE_CLOEXEC")}
	case "openat2":
		how := r.call.arg(2)
		m := openFlags(field(how, "flags="))
		m.inRoot = hasFlag(field(how, "resolve="), "RESOLVE_IN_ROOT")
		return m
	}
	return openFlags(r.call.arg(r.spec.flags))
}

func (r *reader) doOpen(p *proc) {
	m := r.openMode()
	if !m.known {
		r.gap(ratchet.Unknown, r.spec.name)
		return
	}
	res := &r.call.result
	var dir []byte
	if r.spec.dir >= 0 {
		dir = r.call.arg(r.spec.dir)
	}
	w := &r.w1
	f := r.resolve(w, p, dir, r.call.arg(r.spec.path), lookup{follow: !m.noFollow, inRoot: m.inRoot})
	if !res.ok() {
		if f != placed {
			r.miss(f)
			return
		}
		n := r.node(w.path)
		r.fails(n)
		verb := m.verb(n)
		kind := uint8(isUnknown)
		if verb == ratchet.Create {
			kind = isFile
		}
		r.see(n, slot{typ: typePath, verb: verb, kind: kind})
		return
	}
	if real := notedPath(r.noted, res.note); real != nil && !m.unnamed {
		r.traversed(real)
		if f == placed && string(w.path) != string(real) {
			r.look(r.node(w.path), ratchet.Stat) // a link leads from one to the other
		}
		w.path, w.sure, f = append(w.path[:0], real...), len(real), placed
	}
	if f != placed {
		r.unset(p.files, int32(res.value))
		if f == nothing {
			f = unresolved
		}
		r.miss(f)
		return
	}
	r.opened(p, m)
}

// opened counts that the path in w1 was opened, and keeps the descriptor.
func (r *reader) opened(p *proc, m openMode) {
	w := &r.w1
	n := r.node(w.path)
	fd := held{cloexec: m.exec}
	if m.noFollow && !m.handle || m.create && m.exclusive {
		n.real = true
	}
	if !m.unnamed {
		fd.place = r.place(w.path, r.sure(w, n))
	}
	r.set(p.files, int32(r.call.result.value), fd)
	if m.directory || m.unnamed {
		r.learn(n, isDir)
	}
	verb := m.verb(n)
	if m.write && !m.unnamed || verb == ratchet.Create {
		r.learn(n, isFile)
	}
	if verb == ratchet.Create {
		s := slot{typ: typePath, verb: verb, kind: isFile}
		if !m.exclusive && n.exists == 0 {
			s.more = "unknown"
		}
		n.exists = 1
		r.see(n, s)
	} else {
		n.exists = 1
		r.look(n, verb)
	}
	if m.both && !m.unnamed && !m.handle {
		r.look(n, ratchet.Read)
	}
}

// verb is what opening a path does to it. What O_CREAT found there is not told: where
// nothing in the log showed that the file was there before, it was made.
func (m *openMode) verb(n *node) ratchet.Verb {
	switch {
	case m.unnamed:
		return ratchet.Write // a file without a name, in this directory
	case m.handle:
		return ratchet.Stat
	case m.create && (m.exclusive || n.exists != 1):
		return ratchet.Create
	case m.write || m.truncate:
		return ratchet.Write
	case m.directory:
		return ratchet.Stat
	}
	return ratchet.Read
}

// sure is how far a placed path is known to go through no symbolic link.
func (r *reader) sure(w *where, n *node) int {
	if n.real && w.sure >= bytes.LastIndexByte(w.path, '/') {
		return len(w.path)
	}
	return w.sure
}

// traversed notes that what is above a path that strace looked up is all directories.
func (r *reader) traversed(path []byte) {
	r.node(path).real = true
	for i := bytes.LastIndexByte(path, '/'); i > 0; i = bytes.LastIndexByte(path[:i], '/') {
		n := r.node(path[:i])
		if n.real && n.kind == isDir {
			return
		}
		n.real = true
		r.learn(n, isDir)
	}
}

// modeKind is the kind that a struct of stat names: a directory, a link, or something else.
func modeKind(b []byte) (kind uint8, link bool) {
	i := bytes.Index(b, []byte("_mode=S_IF"))
	if i < 0 {
		return isUnknown, false
	}
	b = b[i+len("_mode=S_IF"):]
	switch {
	case bytes.HasPrefix(b, []byte("DIR")):
		return isDir, false
	case bytes.HasPrefix(b, []byte("LNK")):
		return isUnknown, true
	}
	return isFile, false
}

func (r *reader) doStat(p *proc) {
	c := &r.call
	flags := c.arg(r.spec.flags)
	follow := r.spec.op == opStat && !hasFlag(flags, "AT_SYMLINK_NOFOLLOW")
	info := c.arg(r.spec.path + 1)
	if r.spec.name == "statx" {
		info = c.arg(4)
	}
	f := r.target(&r.w1, p, follow)
	if f != placed {
		if f == nothing && c.result.ok() && r.spec.dir >= 0 {
			// Of a descriptor: what it leads to was observed when it was opened.
			if fd, note, ok := descriptor(c.arg(r.spec.dir)); ok {
				if at := r.known(p, fd, note); at != nil {
					kind, _ := modeKind(info)
					r.learn(r.nodeAt(at), kind)
				}
			}
		}
		r.miss(f)
		return
	}
	n := r.node(r.w1.path)
	if c.result.ok() {
		kind, link := modeKind(info)
		r.learn(n, kind)
		if link {
			n.real = false
		} else if !follow && kind != isUnknown {
			n.real = true
		}
	} else {
		r.fails(n)
	}
	r.look(n, ratchet.Stat)
}

func (r *reader) doLook(p *proc) {
	c := &r.call
	link := r.spec.op == opReadlink
	f := r.target(&r.w1, p, !link)
	if f != placed {
		r.miss(f)
		return
	}
	n := r.node(r.w1.path)
	switch {
	case c.result.ok():
		n.exists = 1
		if link {
			n.real = false
		}
	case link && string(c.result.errno) == "EINVAL":
		n.exists, n.real = 1, true
	default:
		r.fails(n)
	}
	r.look(n, ratchet.Stat)
}

func (r *reader) doWrite(p *proc) {
	c := &r.call
	arg := c.arg(r.spec.path)
	if r.spec.dir >= 0 && (string(arg) == "NULL" || string(arg) == `""`) {
		r.descriptor(p, c.arg(r.spec.dir), ratchet.Write)
		return
	}
	f := r.target(&r.w1, p, !hasFlag(c.arg(r.spec.flags), "AT_SYMLINK_NOFOLLOW"))
	if f != placed {
		r.miss(f)
		return
	}
	n := r.node(r.w1.path)
	if c.result.ok() {
		n.exists = 1
	} else {
		r.fails(n)
	}
	r.look(n, ratchet.Write)
}

func (r *reader) doDescriptor(p *proc) {
	verb := ratchet.Write
	if r.spec.op == opList {
		verb = ratchet.List
	}
	r.descriptor(p, r.call.arg(0), verb)
}

// descriptor counts what was done to what a descriptor leads to.
func (r *reader) descriptor(p *proc, arg []byte, verb ratchet.Verb) {
	if bytes.HasPrefix(arg, atCwd) {
		if f := r.join(&r.w1, p, arg, []byte("."), lookup{}); f != placed {
			r.miss(f)
			return
		}
		r.look(r.node(r.w1.path), verb)
		return
	}
	fd, note, ok := descriptor(arg)
	if !ok || string(r.call.result.errno) == "EBADF" {
		return
	}
	at := r.known(p, fd, note)
	if at == nil {
		// A pipe, a socket or a file without a name is nobody's; what is not known is.
		if d, found := p.files.table.fds[int32(fd)]; note == nil && (!found || d.place != nil && p.files.loose) {
			r.miss(unresolved)
		}
		return
	}
	n := r.nodeAt(at)
	if verb == ratchet.List {
		r.learn(n, isDir)
	}
	r.look(n, verb)
}

func (r *reader) doMake(p *proc) {
	c, s := &r.call, r.spec
	dir, path := s.dir, s.path
	if s.op == opSymlink {
		dir, path = s.dir2, s.path2
	}
	var base []byte
	if dir >= 0 {
		base = c.arg(dir)
	}
	f := r.resolve(&r.w1, p, base, c.arg(path), lookup{})
	if f != placed {
		r.miss(f)
		return
	}
	n := r.node(r.w1.path)
	kind := uint8(isFile)
	if s.op == opMkdir {
		kind = isDir
	}
	if c.result.ok() {
		n.exists, n.kind, n.real = 1, kind, s.op != opSymlink
		if s.op == opSymlink {
			n.kind = isUnknown // of what it leads to
		}
	} else {
		r.fails(n)
	}
	r.see(n, slot{typ: typePath, verb: ratchet.Create, kind: kind})
}

func (r *reader) doLink(p *proc) {
	c, s := &r.call, r.spec
	flags := c.arg(s.flags)
	from := r.target(&r.w1, p, hasFlag(flags, "AT_SYMLINK_FOLLOW"))
	var dir []byte
	if s.dir2 >= 0 {
		dir = c.arg(s.dir2)
	}
	if from == placed {
		n := r.node(r.w1.path)
		if c.result.ok() {
			n.exists = 1
		}
		r.look(n, ratchet.Stat)
	} else if from != nothing {
		r.miss(from)
	}
	to := r.resolve(&r.w2, p, dir, c.arg(s.path2), lookup{})
	if to != placed {
		r.miss(to)
		return
	}
	n := r.node(r.w2.path)
	if c.result.ok() {
		n.exists, n.kind, n.real = 1, isUnknown, false
	} else {
		r.fails(n)
	}
	r.see(n, slot{typ: typePath, verb: ratchet.Create, kind: isFile})
}

func (r *reader) doRemove(p *proc) {
	f := r.target(&r.w1, p, false)
	if f != placed {
		r.miss(f)
		return
	}
	n := r.node(r.w1.path)
	kind := uint8(isFile)
	if r.spec.op == opRmdir || hasFlag(r.call.arg(r.spec.flags), "AT_REMOVEDIR") {
		kind = isDir
	}
	r.see(n, slot{typ: typePath, verb: ratchet.Delete, kind: kind})
	if !r.call.result.ok() {
		r.fails(n)
		return
	}
	r.vanish(n, kind)
	r.gone(r.w1.path)
}

func (r *reader) doRename(p *proc) {
	c, s := &r.call, r.spec
	var dir []byte
	if s.dir2 >= 0 {
		dir = c.arg(s.dir2)
	}
	from := r.target(&r.w1, p, false)
	to := r.resolve(&r.w2, p, dir, c.arg(s.path2), lookup{})
	if from != placed || to != placed {
		if from != placed {
			r.miss(from)
		} else {
			r.miss(to)
		}
		if c.result.ok() {
			r.strayed(c.arg(s.path))
		}
		return
	}
	old, now := r.node(r.w1.path), r.node(r.w2.path)
	if r.nodes[old.id] != old { // making the second dropped the first
		old = r.node(r.w1.path)
	}
	exchange := hasFlag(c.arg(s.flags), "RENAME_EXCHANGE")
	kind, other := old.kind, now.kind
	if exchange {
		r.see(old, slot{typ: typePath, verb: ratchet.Rename, kind: kind, more: now.id})
		r.see(now, slot{typ: typePath, verb: ratchet.Rename, kind: other, more: old.id, from: true})
	} else {
		r.see(old, slot{typ: typePath, verb: ratchet.Rename, kind: kind, more: now.id})
		if kind == isUnknown {
			kind = other // a directory replaces only a directory, a file only a file
		}
		r.see(now, slot{typ: typePath, verb: ratchet.Rename, kind: kind, more: old.id, from: true})
	}
	if !c.result.ok() || old == now {
		return
	}
	r.moved(r.w1.path, r.w2.path, exchange)
	was, is := *old, *now
	r.vanish(old, isUnsaid)
	r.vanish(now, isUnsaid)
	now.age, now.kind, now.exists, now.real = r.age, was.kind, 1, was.real
	old.age = r.age
	if exchange {
		old.kind, old.exists, old.real = is.kind, 1, is.real
	}
}
