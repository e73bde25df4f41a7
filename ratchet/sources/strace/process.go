package strace

import (
	"maps"
	"slices"

	"umwelt/ratchet"
)

// proc is a process or a thread of the log.
type proc struct {
	pid    int64
	fs     *fs
	files  *files
	spoken bool // a line of its own was seen
	lone   bool // nobody saw it begin
	loose  bool // others move its working directory in an order that the log does not tell

	// The call that has not returned yet; spec is nil where none that matters is open.
	spec  *spec
	lost  *spec  // one whose text was too long to keep
	text  []byte // of the line, from the opening parenthesis on
	at    ratchet.Place
	clock []byte
	born  *proc // of a fork that has not returned: the child whose lines came first
}

// fs is where processes stand; threads share it.
type fs struct {
	cwd  *place // nil where nobody knows
	root string // what chroot put before every absolute path, "" as a rule
	lost bool   // nobody knows what chroot put there
}

// files are the descriptors of a process; threads share them. The table behind them is
// copied only when one of several changes it.
type files struct {
	users int
	table *table
	loose bool // other threads change it in an order that the log does not tell
}

type table struct {
	users int // how many files stand on it
	fds   map[int32]held
}

// held is what a descriptor leads to.
type held struct {
	place   *place // nil where it is no path
	socket  protocol
	cloexec bool
}

type protocol uint8

const (
	noSocket protocol = iota
	tcp
	udp
)

func (p protocol) String() string { return [...]string{"", "tcp", "udp"}[p] }

// What is kept of processes at most.
const (
	maxProcs     = 1 << 16
	maxHeld      = 1 << 18 // descriptors of all processes together
	maxOpenText  = 1 << 16 // of a call that has not returned
	maxOpenTexts = 16 << 20
)

// begin makes a process of which nothing is known.
func (r *reader) begin(pid int64, cwd *place) *proc {
	return r.enter(&proc{pid: pid, fs: &fs{cwd: cwd}, files: noFiles()})
}

// enter puts a process into the table. Where there are too many, all are forgotten: what
// they say later is unresolved.
func (r *reader) enter(p *proc) *proc {
	if len(r.procs) >= maxProcs {
		for _, pid := range r.pids() {
			r.end(r.procs[pid])
		}
		r.tally.Cut("more processes ran at once than this reader follows")
	}
	if r.family != nil {
		r.family.loosen(p)
	}
	r.procs[p.pid] = p
	r.crowd++
	return p
}

// pids are the processes of the table in order.
func (r *reader) pids() []int64 { return slices.Sorted(maps.Keys(r.procs)) }

// fork makes a process that begins as its parent is.
func (r *reader) fork(parent *proc, pid int64, flags []byte) *proc {
	if old := r.procs[pid]; old != nil {
		r.end(old)
	}
	p := &proc{pid: pid, fs: parent.fs}
	if !hasFlag(flags, "CLONE_FS") {
		own := *parent.fs
		p.fs = &own
	}
	switch {
	case hasFlag(flags, "CLONE_FILES"):
		p.files = parent.files
		p.files.users++
	case parent.files.loose:
		p.files = noFiles()
	default:
		parent.files.table.users++
		p.files = &files{users: 1, table: parent.files.table}
	}
	return r.enter(p)
}

func noFiles() *files {
	return &files{users: 1, table: &table{users: 1, fds: map[int32]held{}}}
}

// end forgets a process.
func (r *reader) end(p *proc) {
	r.close(p)
	r.leave(p.files)
	delete(r.procs, p.pid)
	r.crowd++
	r.latest = nil
}

func (r *reader) leave(f *files) {
	if f.users--; f.users == 0 {
		r.drop(f.table)
	}
}

func (r *reader) drop(t *table) {
	if t.users--; t.users == 0 {
		r.held -= len(t.fds)
	}
}

// own is the table of files for changing.
func (r *reader) own(f *files) map[int32]held {
	if t := f.table; t.users > 1 {
		t.users--
		f.table = &table{users: 1, fds: map[int32]held{}}
		if r.held+len(t.fds) <= maxHeld {
			f.table.fds = maps.Clone(t.fds)
			r.held += len(t.fds)
		}
	}
	return f.table.fds
}

// set notes what a descriptor leads to. Where there are too many it is not noted, and what
// is reached through it later is unresolved.
func (r *reader) set(f *files, fd int32, d held) {
	fds := r.own(f)
	_, found := fds[fd]
	switch {
	case found:
		fds[fd] = d
	case r.held < maxHeld:
		fds[fd] = d
		r.held++
	}
}

func (r *reader) unset(f *files, fd int32) {
	if _, found := f.table.fds[fd]; found {
		delete(r.own(f), fd)
		r.held--
	}
}

// alone gives a process descriptors of its own.
func (r *reader) alone(p *proc) {
	if p.files.users == 1 {
		return
	}
	p.files.users--
	p.files.table.users++
	p.files = &files{users: 1, table: p.files.table, loose: p.files.loose}
}

// open notes a call that has not returned.
func (r *reader) open(p *proc, s *spec, text []byte) {
	r.close(p)
	p.lost = nil
	if len(text) > maxOpenText || r.openText+len(text) > maxOpenTexts {
		p.lost = s
		r.gapAt(ratchet.Truncated, s.name, r.at)
		return
	}
	p.spec, p.at, p.clock = s, r.at, append(p.clock[:0], r.clock...)
	p.text = append(p.text[:0], text...)
	r.openText += cap(p.text)
	if s.op == opFork {
		r.forking = append(r.forking, p)
	}
}

// close forgets the call that has not returned. Its effect is not known.
func (r *reader) close(p *proc) {
	if p.spec == nil {
		return
	}
	switch p.spec.op {
	case opClose, opCloseAll, opFork, opMemory, opFcntl, opIoctl, opDup, opSocket:
	default:
		r.gapAt(ratchet.Truncated, p.spec.name, p.at)
	}
	r.returned(p)
}

// returned takes the call of a process away that has returned, and gives its text, which is
// good until the process opens another.
func (r *reader) returned(p *proc) []byte {
	if p.spec.op == opFork {
		for i, q := range r.forking {
			if q == p {
				r.forking = append(r.forking[:i], r.forking[i+1:]...)
				break
			}
		}
	}
	r.openText -= cap(p.text)
	text := p.text
	p.spec, p.born = nil, nil
	if cap(text) > 1024 {
		p.text = nil
	}
	return text
}

// exec is what a successful exec does to a process.
func (r *reader) exec(p *proc) {
	if p.files.loose {
		r.leave(p.files)
		p.files = noFiles()
		p.files.loose = true // the program that runs now may make threads, too
		return
	}
	r.alone(p)
	for _, d := range p.files.table.fds {
		if d.cloexec {
			fds := r.own(p.files)
			before := len(fds)
			maps.DeleteFunc(fds, func(_ int32, d held) bool { return d.cloexec })
			r.held -= before - len(fds)
			break
		}
	}
}

// supersede gives a process the place of another thread, which ran exec.
func (r *reader) supersede(p *proc, by int64) {
	q := r.procs[by]
	if q == nil || q == p {
		// Nobody knows what the thread was about to run, or where it stood.
		r.close(p)
		p.fs = &fs{}
		return
	}
	r.close(p)
	p.fs = q.fs
	q.files.users++
	r.leave(p.files)
	p.files = q.files
	if s := q.spec; s != nil {
		at, clock := r.at, r.clock
		r.at, r.clock = q.at, q.clock
		r.open(p, s, r.returned(q))
		r.at, r.clock = at, clock
	}
	r.end(q)
}
