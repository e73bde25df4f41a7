package strace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"

	"umwelt/diag"
	"umwelt/ratchet"
)

// reader is the state of reading one log, or one family of them.
type reader struct {
	dir   string // where the first process began, "" where nobody knows
	emit  func(ratchet.Observation) error
	err   error // emit's
	tally ratchet.Tally

	inHand

	started    bool // a line was taken up
	understood bool // a line had the form of strace's
	ended      bool // a process ended in the record
	nested     bool // there are pid namespaces: what fork returns may be another's number

	procs    map[int64]*proc
	crowd    int64 // how often a process came or went
	latest   *proc // whose line was last
	sole     *proc // who writes lines without a number, as of soleAt
	soleAt   int64
	forking  []*proc // whose fork has not returned
	openText int     // bytes of calls that have not returned
	held     int     // descriptors that are kept
	attached map[int64]bool
	glued    []byte // the beginning of a line that a message of strace's cut in two
	waiting  waiting
	family   *family

	places    map[string]*place
	work      int64
	nodes     map[string]*node
	nodeBytes int
	age       uint32
	slots     []slot
	slotBytes int
	gen       uint32
	eager     bool // every observation is handed out at once
	errnos    map[string]string
	commands  map[string]command

	scratch, noted []byte
	w1, w2         where
}

// inHand is the record that is being taken up.
type inHand struct {
	at        ratchet.Place
	clock     []byte
	proc      *proc
	spec      *spec
	call      call
	born      *proc  // of a fork: the child that spoke before it returned
	forkFlags []byte // of a fork: the text that holds its flags
}

func newReader(dir string, emit func(ratchet.Observation) error) *reader {
	if !path.IsAbs(dir) || len(dir) > maxPath {
		dir = ""
	} else {
		dir = path.Clean(dir)
	}
	return &reader{
		dir: dir, emit: emit, gen: 1, soleAt: -1,
		procs: map[int64]*proc{}, attached: map[int64]bool{}, places: map[string]*place{}, nodes: map[string]*node{},
		errnos: map[string]string{}, commands: map[string]command{}, scratch: make([]byte, 0, 8192), noted: make([]byte, 0, 8192),
		waiting: waiting{of: map[int64][]line{}},
	}
}

// Read reads a log of strace's. in.Dir is where the first process began, as a real path:
// ".." in it and symbolic links are taken for what they are not.
//
// Equal observations of different processes within a window of the log are one with a
// count. "create" stands also where O_CREAT found a file that the log had not shown before.
func Read(in ratchet.Input, emit func(ratchet.Observation) error) (ratchet.Tally, error) {
	r := newReader(in.Dir, emit)
	if in.Name == "-" {
		return r.single(os.Stdin, in.Name)
	}
	f, err := os.Open(in.Name)
	if errors.Is(err, os.ErrNotExist) {
		fam, famErr := openFamily(in.Name)
		if famErr != nil {
			return r.tally, famErr
		}
		if len(fam.files) == 0 {
			return r.tally, err
		}
		return r.many(fam)
	}
	if err != nil {
		return r.tally, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return r.tally, fmt.Errorf("%s is a directory", diag.Quote(in.Name))
	}
	return r.single(f, in.Name)
}

// single reads one log from beginning to end.
func (r *reader) single(from io.Reader, name string) (ratchet.Tally, error) {
	r.at.File = name
	end := &tail{from: from}
	_, err := ratchet.Lines(end, func(number int64, text []byte) error {
		r.at.Line = number
		if end.reached {
			// What has no end may be cut anywhere, even in the middle of a number.
			r.tally.Records++
			r.gap(ratchet.Truncated, "line")
			r.tally.Cut("the last line has no end")
			return nil
		}
		r.line(0, text)
		return r.err
	})
	if err != nil {
		return r.tally, err
	}
	return r.finish()
}

// tail knows when all was read: what is taken up after that is a line without an end.
type tail struct {
	from    io.Reader
	reached bool
}

func (t *tail) Read(p []byte) (int, error) {
	n, err := t.from.Read(p)
	if n > 0 && errors.Is(err, io.EOF) {
		err = nil
	}
	t.reached = t.reached || errors.Is(err, io.EOF)
	return n, err
}

// finish closes what is open and hands out what is left.
func (r *reader) finish() (ratchet.Tally, error) {
	r.release()
	live, silent := 0, 0
	for _, pid := range r.pids() {
		p := r.procs[pid]
		r.close(p)
		if live++; !p.spoken {
			silent++
		}
	}
	switch {
	case !r.started:
		r.tally.Cut("there is nothing in it")
	case !r.ended:
	case silent > 0:
		r.tally.Cut("a process that was begun is not in it")
	case live > 0:
		r.tally.Cut("a process did not end in it")
	}
	r.flush()
	if r.err == nil && r.tally.Records > 0 && !r.understood {
		return r.tally, fmt.Errorf("%s is no log of strace", diag.Quote(r.at.File))
	}
	r.tally.Shows = Shows()
	return r.tally, r.err
}

func (r *reader) gap(kind ratchet.GapKind, what string) { r.tally.Miss(kind, what, r.at) }

func (r *reader) gapAt(kind ratchet.GapKind, what string, at ratchet.Place) {
	r.tally.Miss(kind, what, at)
}

// line takes up a line of a log. pid is its process where the line does not say.
func (r *reader) line(pid int64, text []byte) {
	r.tally.Records++
	if text == nil {
		r.gap(ratchet.Truncated, "line")
		return
	}
	if n := len(text); n > 0 && text[n-1] == 'd' && bytes.HasSuffix(text, attached) {
		if text = r.attach(text); text == nil {
			return
		}
	}
	if len(r.glued) > 0 {
		// strace goes on where its message cut the line, whatever comes next.
		text = append(r.glued, text...)
		r.glued = text[:0]
	}
	h, body, ok := splitHead(text)
	if !ok {
		if len(bytes.TrimSpace(text)) > 0 {
			r.gap(ratchet.Broken, "line")
		}
		return
	}
	if h.pid != 0 {
		pid = h.pid
	}
	r.clock = h.clock
	r.body(pid, body)
}

// attach takes strace's message about a new process off a line. Where it cut a call in two,
// the beginning waits for the rest.
func (r *reader) attach(text []byte) []byte {
	i := bytes.LastIndex(text, attaching)
	if i < 0 {
		return text
	}
	pid, rest, ok := number(text[i+len(attaching):])
	if !ok || !bytes.Equal(rest, attached) && !bytes.Equal(skipComm(rest), attached) {
		return text
	}
	if len(r.attached) >= maxProcs {
		clear(r.attached)
	}
	r.attached[pid] = true
	// strace calls itself by the path it was started with, right behind the call.
	for j := i; j > 0 && (isName[text[j-1]] || text[j-1] == '/' || text[j-1] == '.' || text[j-1] == '-' || text[j-1] == '+'); j-- {
		if text[j-1] == '/' && j > 1 && text[j-2] == '*' {
			break // the end of a comment of the call's
		}
		if text[j-1] == '/' || text[j-1] == '.' {
			i = j - 1
		}
	}
	if i > 0 && len(r.glued)+i <= maxOpenText {
		r.glued = append(r.glued, text[:i]...)
	}
	return nil
}

// form tells what a line is by how it begins.
func form(b []byte) (name []byte, ok bool) {
	switch b[0] {
	case '>', '+', '-', '<', '[', '?':
		return nil, bytes.HasPrefix(b, []byte("> ")) || bytes.HasPrefix(b, []byte("+++ ")) || bytes.HasPrefix(b, []byte("--- ")) ||
			bytes.HasPrefix(b, []byte("<... ")) || bytes.HasPrefix(b, []byte("[ Process PID=")) || b[0] == '?'
	}
	n := nameLen(b)
	return b[:n], n > 0 && n <= maxName && n < len(b) && b[n] == '('
}

// body takes up what stands behind the head of a line.
func (r *reader) body(pid int64, b []byte) {
	name, ok := form(b)
	switch {
	case !ok:
		if word, _, _ := bytes.Cut(b, []byte(" ")); !bytes.HasSuffix(word, []byte("strace:")) {
			r.gap(ratchet.Broken, "line")
		}
		return
	case b[0] == '>' || b[0] == '[':
		return // a line of a stack trace, or of a change of the machine
	}
	r.understood = true
	p := r.who(pid, b)
	if p == nil {
		return // it waits
	}
	r.speak(p, name, b)
}

func (r *reader) speak(p *proc, name, b []byte) {
	switch b[0] {
	case '-':
		return
	case '+':
		r.exit(p, b[len("+++ "):])
		return
	case '<':
		if b = b[len("<... "):]; len(b) > 0 {
			r.resume(p, b)
		}
		return
	case '?':
		return // it was killed before its call began
	}
	s := specs[string(name)]
	if s == plain {
		return
	}
	text, open := openEnd(b[len(name)+1:])
	if s == nil {
		if !open && returned(text) {
			r.gap(ratchet.Unknown, string(name))
		}
		return
	}
	if open {
		if s.op == opClose {
			r.early(p, s, text)
		}
		r.open(p, s, text)
		return
	}
	r.whole(p, s, text)
}

// returned reports whether a whole call gave a result. Of one whose process ended in it
// strace may even have read the number wrong.
func returned(text []byte) bool {
	i := bytes.LastIndex(text, []byte("= "))
	return i < 0 || i+2 == len(text) || text[i+2] != '?'
}

// early closes a descriptor at once: the kernel frees its number before the call returns,
// and another thread may be given it in between.
func (r *reader) early(p *proc, s *spec, text []byte) {
	n := digits(text)
	if fd, _, ok := descriptor(text[:n]); ok {
		r.unset(p.files, int32(fd))
	}
}

func (r *reader) exit(p *proc, what []byte) {
	if by, ok := bytes.CutPrefix(what, []byte("superseded by execve in pid ")); ok {
		if pid, _, ok := number(by); ok {
			r.supersede(p, pid)
		}
		return
	}
	r.ended = true
	r.end(p)
	if len(r.forking) == 0 {
		r.release()
	}
}

// resume takes up the second half of a call.
func (r *reader) resume(p *proc, b []byte) {
	if b[0] == '?' {
		return
	}
	name := b[:nameLen(b)]
	rest, ok := bytes.CutPrefix(b[len(name):], resumed)
	if !ok {
		r.gap(ratchet.Broken, "line")
		return
	}
	s := specs[string(name)]
	switch {
	case s == nil:
		if returned(rest) {
			r.gap(ratchet.Unknown, string(name))
		}
		return
	case s == plain:
		return
	case p.lost == s:
		p.lost = nil
		return
	case p.spec != s:
		r.gap(ratchet.Truncated, s.name) // its beginning is missing
		return
	}
	text, open := openEnd(rest)
	if open {
		if len(p.text)+len(text) <= maxOpenText {
			r.openText -= cap(p.text)
			p.text = append(p.text, text...)
			r.openText += cap(p.text)
		}
		return
	}
	at, clock := r.at, r.clock
	r.at, r.clock, r.born = p.at, p.clock, p.born
	if s.op == opClose {
		r.returned(p)
	} else {
		r.whole(p, s, append(r.returned(p), text...))
	}
	r.at, r.clock, r.born = at, clock, nil
	if s.op == opFork && len(r.forking) == 0 {
		r.release()
	}
}

// whole takes up a call of which both halves are there.
func (r *reader) whole(p *proc, s *spec, text []byte) {
	r.proc, r.spec, r.forkFlags = p, s, text
	if !r.call.parse(text) {
		r.gap(ratchet.Broken, s.name)
		return
	}
	r.do(p)
}

// who is the process of a line, nil where that has to wait.
func (r *reader) who(pid int64, b []byte) *proc {
	if pid == 0 {
		return r.unnamed()
	}
	if p := r.latest; p != nil && p.pid == pid {
		return p
	}
	p := r.procs[pid]
	if p == nil {
		if p = r.stranger(pid, b); p == nil {
			return nil
		}
	}
	if !p.spoken {
		p.spoken = true
		r.crowd++
		delete(r.attached, pid)
	}
	r.latest = p
	return p
}

// unnamed is the process of a line without a number: the only one there is.
func (r *reader) unnamed() *proc {
	if !r.started {
		r.sole = r.first(0)
		r.soleAt = r.crowd
	}
	if r.soleAt == r.crowd {
		return r.sole
	}
	var one *proc
	several := false
	for _, p := range r.procs {
		if p.spoken {
			several = several || one != nil
			one = p
		}
	}
	if one == nil || several {
		one = r.procs[0]
		if one == nil {
			one = r.begin(0, nil)
			one.spoken, one.lone = true, true
		}
	}
	r.sole, r.soleAt = one, r.crowd
	return one
}

// first is the first process of a log.
func (r *reader) first(pid int64) *proc {
	r.started = true
	var cwd *place
	if r.dir != "" {
		cwd = r.place([]byte(r.dir), len(r.dir))
		r.traversed([]byte(r.dir))
	}
	p := r.begin(pid, cwd)
	p.spoken = true
	r.crowd++
	return p
}

// stranger is a process that no fork has named yet.
func (r *reader) stranger(pid int64, b []byte) *proc {
	if !r.started {
		return r.first(pid)
	}
	if p := r.procs[0]; p != nil && !r.attached[pid] && (p.spec == nil || p.spec.op != opFork || isResumed(b, p.spec.name)) {
		// The first process wrote without a number while it was alone.
		delete(r.procs, 0)
		p.pid = pid
		r.procs[pid] = p
		r.crowd++
		return p
	}
	if r.waiting.has(pid) && !r.waiting.closed {
		r.wait(pid, b)
		return nil
	}
	var parent *proc
	several := false
	for _, q := range r.forking {
		if q.born == nil {
			several = several || parent != nil
			parent = q
		}
	}
	switch {
	case several && !r.waiting.closed:
		r.wait(pid, b)
		return nil
	case parent != nil && several:
	case parent != nil:
		flags := parent.text
		parent.born = r.fork(parent, pid, flags)
		return parent.born
	}
	if r.nested {
		// In a pid namespace a fork returns another number than the one strace knows.
		var heir *proc
		several := false
		for _, q := range r.procs {
			if !q.spoken {
				several = several || heir != nil
				heir = q
			}
		}
		if heir != nil && !several {
			delete(r.procs, heir.pid)
			heir.pid = pid
			r.procs[pid] = heir
			return heir
		}
	}
	p := r.begin(pid, nil)
	p.lone = true
	return p
}

func isResumed(b []byte, name string) bool {
	rest, ok := bytes.CutPrefix(b, []byte("<... "))
	return ok && bytes.HasPrefix(rest, []byte(name)) && bytes.HasPrefix(rest[len(name):], resumed)
}

// line is a line that waits for its process to be known.
type line struct {
	body, clock []byte
	at          ratchet.Place
}

// waiting are the lines of processes of which it is not known yet whose children they are:
// several forks had not returned when they first spoke.
type waiting struct {
	of     map[int64][]line
	order  []int64
	bytes  int
	closed bool // nothing else may wait: lines that waited are being taken up
}

// What may wait, in bytes with what it takes to keep a line.
const (
	maxWaiting = 1 << 20
	waitCost   = 128
)

func (w *waiting) has(pid int64) bool {
	_, found := w.of[pid]
	return found
}

func (r *reader) wait(pid int64, b []byte) {
	w := &r.waiting
	if !w.has(pid) {
		w.order = append(w.order, pid)
	}
	w.of[pid] = append(w.of[pid], line{bytes.Clone(b), bytes.Clone(r.clock), r.at})
	if w.bytes += len(b) + waitCost; w.bytes > maxWaiting {
		r.release()
	}
}

// replay takes up the lines of a process that is known now.
func (r *reader) replay(pid int64) {
	w := &r.waiting
	list, found := w.of[pid]
	if !found {
		return
	}
	delete(w.of, pid)
	w.order = slices.DeleteFunc(w.order, func(p int64) bool { return p == pid })
	for _, l := range list {
		w.bytes -= len(l.body) + waitCost
	}
	saved, nested := r.inHand, w.closed
	w.closed = true
	for _, l := range list {
		r.at, r.clock, r.born = l.at, l.clock, nil
		r.body(pid, l.body)
	}
	r.inHand, w.closed = saved, nested
}

// release takes up all that waits. Where those processes stand is not known.
func (r *reader) release() {
	for len(r.waiting.order) > 0 {
		pid := r.waiting.order[0]
		if r.procs[pid] == nil {
			p := r.begin(pid, nil)
			p.lone = true
		}
		r.replay(pid)
	}
}
