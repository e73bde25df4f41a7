package strace

import (
	"bytes"
	"cmp"
	"container/heap"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"umwelt/ratchet"
)

// family are the files that strace -ff wrote, one a process.
//
// Where their lines carry times with fractions of a second (-tt, -ttt), they are read as one
// log in the order of time. Where they do not, a child is read when the call that made it
// was read, and then its parent goes on; what threads share is then changed in an order that
// nobody knows, so that their descriptors, and where one moves also their working directory,
// count as unknown.
type family struct {
	prefix string
	files  []int64 // processes with a file, in order
	unread map[int64]bool
	timed  bool
	open   []*cursor // a heap by time, or a stack
	next   []int64   // children of the line in hand
	shared map[int64]sharing
}

// sharing is what a process of a family has in common with others.
type sharing struct {
	parent    int64
	fs, files bool // with its parent
	moves     bool // it changes its working directory

	looseFs, looseFiles bool
}

// openFamily finds the files PREFIX.PID. That there are none is no error.
func openFamily(prefix string) (*family, error) {
	dir, base := filepath.Split(prefix)
	if dir == "" {
		dir = "."
	}
	f := &family{prefix: prefix, unread: map[int64]bool{}, shared: map[int64]sharing{}}
	d, err := os.Open(dir)
	if err != nil {
		return f, err
	}
	defer d.Close()
	for {
		names, err := d.Readdirnames(1000)
		for _, name := range names {
			text, ok := bytes.CutPrefix([]byte(name), []byte(base+"."))
			if pid, rest, isPid := number(text); ok && isPid && len(rest) == 0 && pid <= maxPid && text[0] != '0' {
				f.files = append(f.files, pid)
				f.unread[pid] = true
			}
		}
		if err == io.EOF {
			slices.Sort(f.files)
			return f, nil
		} else if err != nil {
			return f, err
		}
	}
}

// cursor stands in one file of a family. It holds the file open only while it reads on.
type cursor struct {
	pid  int64
	name string
	at   int64  // where in the file what follows buf begins
	buf  []byte // read and not taken yet
	end  bool
	skip bool // in the middle of a line that is too long

	line  int64
	text  []byte // the line in hand, nil where it is too long
	whole bool
	time  int64 // of the line in hand, or of the last one that had a time
	day   int64 // what is added to times of day that have begun anew
}

const chunk = 1 << 15

// more reads on. It is false at the end.
func (c *cursor) more() (bool, error) {
	if c.end {
		return false, nil
	}
	f, err := os.Open(c.name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	size := max(chunk, len(c.buf))
	kept := len(c.buf)
	c.buf = slices.Grow(slices.Clip(c.buf), size)[:kept+size]
	n, err := f.ReadAt(c.buf[kept:], c.at)
	c.buf = c.buf[:kept+n]
	c.at += int64(n)
	if err == io.EOF {
		c.end, err = true, nil
	}
	return n > 0, err
}

// step takes the next line up. It is false at the end.
func (c *cursor) step() (bool, error) {
	seen := 0
	for {
		if i := bytes.IndexByte(c.buf[seen:], '\n'); i >= 0 {
			c.text, c.buf, c.whole = c.buf[:seen+i], c.buf[seen+i+1:], true
			break
		}
		if seen = len(c.buf); seen > ratchet.MaxLine {
			c.skip, c.buf, seen = true, nil, 0
		}
		more, err := c.more()
		if err != nil {
			return false, err
		}
		if !more {
			if len(c.buf) == 0 && !c.skip {
				return false, nil
			}
			c.text, c.buf, c.whole = c.buf, nil, false
			break
		}
	}
	if c.skip || len(c.text) > ratchet.MaxLine {
		c.text, c.skip = nil, false
	}
	c.line++
	return true, nil
}

// rest lets go of what was read ahead.
func (c *cursor) rest() {
	c.text = bytes.Clone(c.text)
	c.at -= int64(len(c.buf))
	c.buf, c.end = nil, false
}

const dayLength = 24 * 3600 * 1e9

// tell reads the time of the line in hand.
func (c *cursor) tell() {
	h, _, ok := splitHead(c.text)
	if !ok {
		return
	}
	t, ok := nanoseconds(h.clock)
	if !ok {
		return
	}
	t += c.day
	if t < c.time-dayLength/2 && t < dayLength*1000 {
		c.day += dayLength
		t += dayLength
	}
	c.time = t
}

// nanoseconds is a time of day or of the epoch that has a fraction.
func nanoseconds(clock []byte) (int64, bool) {
	if t := epoch(clock); !t.IsZero() {
		return t.UnixNano(), true
	}
	var parts [3]int64
	rest := clock
	for i := range parts {
		v, after, ok := number(rest)
		if !ok || v > 60 || len(after) < 2 {
			return 0, false
		}
		parts[i], rest = v, after[1:]
		if want := "::."[i]; after[0] != want {
			return 0, false
		}
	}
	return ((parts[0]*60+parts[1])*60+parts[2])*1e9 + fraction(rest), true
}

func (f *family) Len() int { return len(f.open) }
func (f *family) Less(i, j int) bool {
	a, b := f.open[i], f.open[j]
	return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.pid, b.pid)) < 0
}
func (f *family) Swap(i, j int) { f.open[i], f.open[j] = f.open[j], f.open[i] }
func (f *family) Push(x any)    { f.open = append(f.open, x.(*cursor)) }
func (f *family) Pop() any {
	last := f.open[len(f.open)-1]
	f.open = f.open[:len(f.open)-1]
	return last
}

// name is the file of a process.
func (f *family) name(pid int64) string {
	return f.prefix + "." + strconv.FormatInt(pid, 10)
}

// survey reads all files once for who begot whom, and gives the processes that nobody begot.
func (f *family) survey() (roots []int64, err error) {
	begotten := map[int64]bool{}
	first := map[int64]int64{}
	var c call
	for _, pid := range f.files {
		cur := &cursor{pid: pid, name: f.name(pid)}
		own := f.shared[pid]
		for {
			ok, err := cur.step()
			if err != nil {
				return nil, err
			}
			if !ok {
				break
			}
			h, body, ok := splitHead(cur.text)
			if !ok {
				continue
			}
			if t, ok := nanoseconds(h.clock); ok && cur.line == 1 {
				f.timed = true
				first[pid] = t
			}
			n := nameLen(body)
			if n == len(body) || body[n] != '(' {
				continue
			}
			s := specs[string(body[:n])]
			if s == nil {
				continue
			}
			switch s.op {
			case opChdir, opFchdir, opChroot, opPivot:
				own.moves = true
			case opFork:
				if text := body[n+1:]; c.parse(text) && c.result.ok() && c.result.value > 0 {
					child := c.result.value
					begotten[child] = true
					was := f.shared[child]
					was.parent, was.fs, was.files = pid, hasFlag(text, "CLONE_FS"), hasFlag(text, "CLONE_FILES")
					f.shared[child] = was
				}
			}
		}
		was := f.shared[pid]
		was.moves = own.moves
		f.shared[pid] = was
	}
	for _, pid := range f.files {
		if !begotten[pid] {
			roots = append(roots, pid)
		}
	}
	slices.SortStableFunc(roots, func(a, b int64) int { return cmp.Compare(first[a], first[b]) })
	f.share()
	return roots, nil
}

// share finds what threads change in an order that nobody knows.
func (f *family) share() {
	if f.timed {
		f.shared = nil
		return
	}
	fs := f.groups(func(s sharing) bool { return s.fs })
	files := f.groups(func(s sharing) bool { return s.files })
	size, moves := map[int64]int{}, map[int64]bool{}
	with := map[int64]int{}
	for pid, s := range f.shared {
		size[fs[pid]]++
		moves[fs[pid]] = moves[fs[pid]] || s.moves
		with[files[pid]]++
	}
	for pid, s := range f.shared {
		s.looseFs = size[fs[pid]] > 1 && moves[fs[pid]]
		s.looseFiles = with[files[pid]] > 1
		f.shared[pid] = s
	}
}

// groups gives every process the first of those that it shares with.
func (f *family) groups(shares func(sharing) bool) map[int64]int64 {
	top := map[int64]int64{}
	var way []int64
	for pid := range f.shared {
		way = way[:0]
		for {
			if _, known := top[pid]; known {
				break
			}
			top[pid] = pid
			way = append(way, pid)
			s := f.shared[pid]
			if !shares(s) {
				break
			}
			pid = s.parent
		}
		for _, p := range way {
			top[p] = top[pid]
		}
	}
	return top
}

// loosen takes from a process what others of its family change in an order that nobody knows.
func (f *family) loosen(p *proc) {
	s := f.shared[p.pid]
	if s.looseFs {
		p.loose, p.fs = true, &fs{root: p.fs.root, lost: p.fs.lost}
	}
	if s.looseFiles {
		p.files.loose = true
	}
}

// born notes that the line in hand made a process.
func (f *family) born(pid int64) { f.next = append(f.next, pid) }

// begin opens the file of a process. It is false where there is none, or it was read.
func (f *family) begin(pid int64, parent *cursor) (bool, error) {
	if !f.unread[pid] {
		return false, nil
	}
	delete(f.unread, pid)
	c := &cursor{pid: pid, name: f.name(pid)}
	if parent != nil {
		c.time, c.day = parent.time, parent.day
	}
	ok, err := c.step()
	if err != nil || !ok {
		return ok, err
	}
	c.tell()
	if f.timed {
		heap.Push(f, c)
	} else {
		f.open = append(f.open, c)
	}
	return true, nil
}

// many reads a family.
func (r *reader) many(f *family) (ratchet.Tally, error) {
	roots, err := f.survey()
	if err != nil {
		return r.tally, err
	}
	r.family = f
	// Processes that were named and have a file nobody came to are read last, like roots.
	for _, pid := range append(roots, f.files...) {
		if _, err := f.begin(pid, nil); err != nil {
			return r.tally, err
		}
		if err := r.descend(f); err != nil {
			return r.tally, err
		}
	}
	return r.finish()
}

// descend reads what is open and what comes of it.
func (r *reader) descend(f *family) error {
	for len(f.open) > 0 {
		c := f.open[0]
		if !f.timed {
			c = f.open[len(f.open)-1]
		}
		r.at = ratchet.Place{File: c.name, Line: c.line}
		r.member(c)
		if r.err != nil {
			return r.err
		}
		ok, err := c.step()
		if err != nil {
			return err
		}
		switch {
		case ok && f.timed:
			c.tell()
			heap.Fix(f, 0)
		case !ok && f.timed:
			heap.Pop(f)
		case !ok:
			f.open = f.open[:len(f.open)-1]
		}
		for _, pid := range f.next {
			if ok && !f.timed {
				c.rest()
			}
			found, err := f.begin(pid, c)
			if err != nil {
				return err
			}
			if p := r.procs[pid]; !found && p != nil && !p.spoken {
				r.end(p)
				r.tally.Cut("the file of a process is missing")
			}
		}
		f.next = f.next[:0]
	}
	return nil
}

// member takes up the line in hand of a file.
func (r *reader) member(c *cursor) {
	if !c.whole {
		r.gap(ratchet.Truncated, "line")
		r.tally.Records++
		r.tally.Cut("the last line of a file has no end")
		return
	}
	r.line(c.pid, c.text)
}
