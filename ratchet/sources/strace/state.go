package strace

import (
	"bytes"
	"strings"

	"umwelt/ratchet"
	"umwelt/ratchet/sources/internal/record"
)

// doState takes up the calls that change what a process is, has and shares.
func (r *reader) doState(p *proc) {
	c := &r.call
	res := &c.result
	switch r.spec.op {
	case opChdir:
		r.doChdir(p)
	case opChroot:
		r.doChroot(p)
	case opFork:
		r.doFork(p)
	}
	if !res.ok() {
		return
	}
	switch r.spec.op {
	case opFchdir:
		r.stand(p, nil)
		if fd, note, ok := descriptor(c.arg(0)); ok {
			r.stand(p, r.known(p, fd, note))
		}
		if p.fs.cwd == nil && !p.loose {
			r.miss(unresolved)
		}
	case opGetcwd:
		r.stand(p, nil)
		if text, cut, ok := decode(r.scratch, c.arg(0)); ok && !cut && isClean(text) && !p.fs.lost {
			r.w1.path = append(append(r.w1.path[:0], p.fs.root...), text...)
			if len(p.fs.root) > 0 && len(text) == 1 {
				r.w1.path = r.w1.path[:len(p.fs.root)]
			}
			r.traversed(r.w1.path)
			r.stand(p, r.place(r.w1.path, len(r.w1.path)))
		}
	case opPivot:
		// From here on its names are those of another tree, as it sees them.
		p.fs.cwd, p.fs.root, p.fs.lost = nil, "", false
		r.gap(ratchet.Unknown, r.spec.name)
	case opSetns:
		if flags := c.arg(1); string(flags) == "0" || hasFlag(flags, "CLONE_NEWNS") {
			p.fs.cwd, p.fs.root, p.fs.lost = nil, "", false
			r.gap(ratchet.Unknown, r.spec.name)
		}
	case opUnshare:
		flags := c.arg(0)
		r.nested = r.nested || hasFlag(flags, "CLONE_NEWPID")
		if hasFlag(flags, "CLONE_FS") || hasFlag(flags, "CLONE_NEWNS") || hasFlag(flags, "CLONE_NEWUSER") {
			own := *p.fs
			p.fs = &own
		}
		if hasFlag(flags, "CLONE_FILES") {
			r.alone(p)
		}
	case opClose:
		if fd, _, ok := descriptor(c.arg(0)); ok {
			r.unset(p.files, int32(fd))
		}
	case opCloseAll:
		r.doCloseRange(p)
	case opDup:
		r.dup(p, c.arg(0), hasFlag(c.arg(2), "O_CLOEXEC"))
	case opFcntl:
		switch string(c.arg(1)) {
		case "F_DUPFD":
			r.dup(p, c.arg(0), false)
		case "F_DUPFD_CLOEXEC":
			r.dup(p, c.arg(0), true)
		case "F_SETFD":
			r.mark(p, hasFlag(c.arg(2), "FD_CLOEXEC"))
		}
	case opIoctl:
		switch string(c.arg(1)) {
		case "FIOCLEX":
			r.mark(p, true)
		case "FIONCLEX":
			r.mark(p, false)
		}
	case opSocket:
		d := held{cloexec: hasFlag(c.arg(1), "SOCK_CLOEXEC")}
		if family := c.arg(0); bytes.HasPrefix(family, []byte("AF_INET")) {
			switch {
			case hasFlag(c.arg(1), "SOCK_STREAM"):
				d.socket = tcp
			case hasFlag(c.arg(1), "SOCK_DGRAM"):
				d.socket = udp
			}
		}
		r.set(p.files, int32(res.value), d)
	case opMemory:
		r.set(p.files, int32(res.value), held{cloexec: hasFlag(c.arg(1), "MFD_CLOEXEC")})
	case opHandle:
		if real := notedPath(r.noted, res.note); real != nil {
			r.traversed(real)
			r.w1.path, r.w1.sure = append(r.w1.path[:0], real...), len(real)
			r.opened(p, openFlags(c.arg(2)))
			return
		}
		r.unset(p.files, int32(res.value))
		r.miss(unresolved)
	}
}

// stand puts a process into a directory, nil where nobody knows which.
func (r *reader) stand(p *proc, at *place) {
	if !p.loose {
		p.fs.cwd = at
	}
}

func (r *reader) doChdir(p *proc) {
	f := r.target(&r.w1, p, true)
	ok := r.call.result.ok()
	if f != placed {
		if ok {
			r.stand(p, nil)
		}
		r.miss(f)
		return
	}
	n := r.node(r.w1.path)
	if ok {
		r.learn(n, isDir)
		r.stand(p, r.place(r.w1.path, r.sure(&r.w1, n)))
	} else {
		r.fails(n)
	}
	r.look(n, ratchet.Stat)
}

func (r *reader) doChroot(p *proc) {
	f := r.target(&r.w1, p, true)
	ok := r.call.result.ok()
	if f != placed {
		if ok {
			p.fs.lost = true
		}
		r.miss(f)
		return
	}
	n := r.node(r.w1.path)
	if ok {
		r.learn(n, isDir)
		p.fs.root = strings.TrimSuffix(n.id, "/")
	}
	r.look(n, ratchet.Stat)
}

func (r *reader) doCloseRange(p *proc) {
	c := &r.call
	first, _, ok := number(c.arg(0))
	last, rest, whole := number(c.arg(1))
	if !ok {
		return
	}
	if !whole || len(rest) > 0 || last > maxDescriptor {
		last = maxDescriptor
	}
	if hasFlag(c.arg(2), "CLOSE_RANGE_UNSHARE") {
		r.alone(p)
	}
	within := func(fd int32) bool { return int64(fd) >= first && int64(fd) <= last }
	mark := hasFlag(c.arg(2), "CLOSE_RANGE_CLOEXEC")
	for fd := range p.files.table.fds {
		if !within(fd) {
			continue
		}
		fds := r.own(p.files)
		for fd, d := range fds {
			switch {
			case !within(fd):
			case mark:
				d.cloexec = true
				fds[fd] = d
			default:
				delete(fds, fd)
				r.held--
			}
		}
		return
	}
}

// dup gives what a descriptor leads to a second number.
func (r *reader) dup(p *proc, from []byte, cloexec bool) {
	fd, note, ok := descriptor(from)
	to := r.call.result.value
	if !ok || to == fd || to > maxDescriptor {
		return
	}
	at := r.known(p, fd, note)
	d, found := p.files.table.fds[int32(fd)]
	if !found && at == nil {
		r.unset(p.files, int32(to))
		return
	}
	d.place, d.cloexec = at, cloexec
	r.set(p.files, int32(to), d)
}

func (r *reader) mark(p *proc, cloexec bool) {
	if fd, _, ok := descriptor(r.call.arg(0)); ok {
		if d, found := p.files.table.fds[int32(fd)]; found && d.cloexec != cloexec {
			d.cloexec = cloexec
			r.set(p.files, int32(fd), d)
		}
	}
}

func (r *reader) doFork(p *proc) {
	child := r.call.result.value
	born := r.born
	flags := r.forkFlags
	if child <= 0 || child > maxPid || hasFlag(flags, "CLONE_UNTRACED") {
		return
	}
	r.nested = r.nested || hasFlag(flags, "CLONE_NEWPID")
	if born != nil {
		if born.pid == child || r.nested {
			return // it spoke before its parent could
		}
		// Another's child was taken for this one's.
		if r.procs[born.pid] == born {
			r.orphan(born)
		}
	}
	if q := r.procs[child]; q != nil && q.lone {
		return
	}
	r.fork(p, child, flags)
	if r.family != nil {
		r.family.born(child)
	}
	r.replay(child)
}

// orphan takes away from a process what it was thought to have of its parent.
func (r *reader) orphan(p *proc) {
	r.leave(p.files)
	p.fs, p.files, p.lone = &fs{lost: p.fs.lost, root: p.fs.root}, noFiles(), true
}

// What is kept of a command.
const (
	maxWords     = 64
	maxWordBytes = 4096
	maxCommands  = 1 << 11 // that are kept as they were read
)

func (r *reader) doExec(p *proc) {
	c, s := &r.call, r.spec
	ok := c.result.ok()
	f := r.target(&r.w1, p, true)
	if f == nothing && s.dir >= 0 && hasFlag(c.arg(s.flags), "AT_EMPTY_PATH") {
		f = unresolved
		if fd, note, isFd := descriptor(c.arg(s.dir)); isFd {
			if at := r.known(p, fd, note); at != nil {
				r.w1.path = append(r.w1.path[:0], at.path...)
				f = placed
			}
		}
	}
	if f != placed {
		r.miss(f)
	} else {
		n := r.node(r.w1.path)
		if ok {
			r.learn(n, isFile)
		} else {
			r.fails(n)
		}
		cmd := r.command(c.arg(s.path2))
		r.see(n, slot{typ: typeExec, verb: ratchet.Exec, more: cmd.words, cut: cmd.cut})
	}
	if ok {
		r.exec(p)
	}
}

// command is the words of a program as a JSON list, without secrets. cut says that some, or the end of one,
// are missing, because strace left them out or because they are too many.
type command struct {
	words string
	cut   bool
}

// command reads a list of words. The same few are run over and over, so they are kept.
func (r *reader) command(arg []byte) command {
	c, found := r.commands[string(arg)]
	if !found {
		c.words, c.cut = words(arg)
		if len(arg) <= maxWordBytes {
			if len(r.commands) >= maxCommands {
				clear(r.commands)
			}
			r.commands[string(arg)] = c
		}
	}
	return c
}

func words(arg []byte) (list string, cut bool) {
	if len(arg) < 2 || arg[0] != '[' {
		return "", true
	}
	var words []string
	size := 0
	for b := arg[1:]; ; {
		b = bytes.TrimLeft(b, ", ")
		if len(b) == 0 || b[0] == ']' {
			break
		}
		end := -1
		if b[0] == '"' {
			end = endString(b, 0)
		}
		if end < 0 || len(words) == maxWords {
			cut = true
			break
		}
		text, ok := unescape(nil, b[1:end-1])
		if size += len(text); !ok || size > maxWordBytes {
			cut = true
			break
		}
		words = append(words, string(text))
		b = b[end:]
		if rest, found := bytes.CutPrefix(b, []byte("...")); found {
			b, cut = rest, true
		}
	}
	if len(words) == 0 {
		return "", cut
	}
	return record.Command(words), cut
}
