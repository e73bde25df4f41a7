package record

import (
	"bytes"
	"io"
	"strconv"
)

// beginning passes on what of a log belongs to the command: from the line on that runs it,
// and nothing of the processes that prepared it. So the first line that is passed on is of
// the command's own process, which begins in a directory that is known.
type beginning struct {
	leader  int64 // which is no part of the command; 0 where it becomes the command
	stages  int   // programs that are still to be run before the command
	command bool  // it has begun

	held   map[int64][]byte // the first halves of execs that have not returned
	before map[int64]bool   // processes and threads that were there before the command
}

func newBeginning(s Subject) *beginning {
	b := &beginning{stages: s.Stages, held: map[int64][]byte{}, before: map[int64]bool{}}
	if !s.Becomes {
		b.leader = int64(s.PID)
	}
	return b
}

var (
	unfinished   = []byte("<unfinished ...>\n")
	resumedCall  = []byte("<... ")
	superseded   = []byte("+++ superseded by execve in pid ")
	succeeded    = []byte(" = 0\n")
	endOfProcess = []byte("+++ ")
)

// filter appends to dst what is passed on of a line, which has its end.
func (b *beginning) filter(dst, line []byte) []byte {
	if b.command && b.leader == 0 && len(b.before) == 0 {
		return append(dst, line...)
	}
	pid, body, ok := head(line)
	switch {
	case !ok || b.command && pid != b.leader && !b.before[pid]:
		return append(dst, line...)
	case b.command:
		if bytes.HasPrefix(body, endOfProcess) {
			delete(b.before, pid) // its number may be given again
		}
		return dst
	case bytes.HasPrefix(body, superseded):
		// The exec of another thread is going to succeed, and comes back under this number.
		by, _ := strconv.ParseInt(string(firstWord(body[len(superseded):])), 10, 64)
		if begun, is := b.held[by]; is {
			delete(b.held, by)
			delete(b.before, by)
			b.held[pid] = append(strconv.AppendInt(nil, pid, 10), begun[len(firstWord(begun)):]...)
		}
		return dst
	case bytes.HasPrefix(body, endOfProcess):
		delete(b.before, pid)
		delete(b.held, pid)
		return dst
	}
	b.before[pid] = true
	name, whole := callOf(body)
	if string(name) != "execve" && string(name) != "execveat" {
		return dst
	}
	if whole && bytes.HasSuffix(body, unfinished) {
		b.held[pid] = bytes.Clone(line)
		return dst
	}
	begun := b.held[pid]
	delete(b.held, pid)
	switch {
	case !bytes.HasSuffix(body, succeeded):
		return dst
	case b.stages > 0:
		b.stages--
		return dst
	}
	b.command = true
	delete(b.before, pid)
	return append(append(dst, begun...), line...)
}

// head takes the number of the process and the time off a line.
func head(line []byte) (pid int64, body []byte, ok bool) {
	word := firstWord(line)
	pid, err := strconv.ParseInt(string(word), 10, 64)
	if err != nil {
		return 0, nil, false
	}
	body = bytes.TrimLeft(line[len(word):], " ")
	return pid, bytes.TrimLeft(body[len(firstWord(body)):], " "), true
}

func firstWord(b []byte) []byte {
	if i := bytes.IndexAny(b, " \n"); i >= 0 {
		return b[:i]
	}
	return b
}

// callOf is the name of a call, and whether its beginning stands there.
func callOf(body []byte) (name []byte, beginning bool) {
	if rest, found := bytes.CutPrefix(body, resumedCall); found {
		return firstWord(rest), false
	}
	name, _, _ = bytes.Cut(body, []byte("("))
	return name, true
}

// filtered reads a log by way of a beginning.
type filtered struct {
	from  io.Reader
	begin *beginning
	block []byte // what from gave, not yet filtered: the beginning of a line
	ready []byte // what is passed on and not yet read
	err   error
}

// A line that is longer than this is passed on in pieces, as it is.
const longest = 1 << 20

func (f *filtered) Read(p []byte) (int, error) {
	for len(f.ready) == 0 {
		if f.err != nil {
			return 0, f.err
		}
		f.fill(max(len(p), 1<<16))
	}
	n := copy(p, f.ready)
	f.ready = f.ready[n:]
	return n, nil
}

func (f *filtered) fill(size int) {
	used := len(f.block)
	f.block = append(f.block, make([]byte, size)...)
	n, err := f.from.Read(f.block[used:])
	f.block, f.err = f.block[:used+n], err
	f.ready = f.ready[:0]
	rest := f.block
	for {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			break
		}
		f.ready = f.begin.filter(f.ready, rest[:i+1])
		rest = rest[i+1:]
	}
	if err != nil || len(rest) > longest {
		f.ready = append(f.ready, rest...)
		rest = nil
	}
	f.block = append(f.block[:0], rest...)
}
