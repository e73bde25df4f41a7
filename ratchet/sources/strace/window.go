package strace

import (
	"net"
	"strconv"
	"time"

	"umwelt/ratchet"
)

// The kinds of what a path leads to.
const (
	isUnknown = iota
	isFile
	isDir
	isUnsaid // of something that is not there any more: whatever comes later is another thing
)

// node is what is known of a path or an endpoint, and where its observations begin.
type node struct {
	id   string
	age  uint32 // of the facts; older than the reader's, they count for nothing
	gen  uint32 // of the window that last belongs to
	last int32  // its last observation in the window

	kind   uint8
	exists int8 // 1 it does, -1 it does not, 0 not known
	real   bool // it is there, and no symbolic link
}

// What is kept at most. Nodes are dropped all at once, and then nothing is known of any path.
const (
	maxNodes     = 1 << 17
	maxNodeBytes = 32 << 20
	maxSlots     = 1 << 15
	maxSlotBytes = 16 << 20
	maxLookBack  = 32 // how far back an equal observation of an entity is looked for
)

// facts is what is known of a path.
func (r *reader) facts(path []byte) node {
	if n := r.nodes[string(path)]; n != nil && n.age == r.age {
		return *n
	}
	return node{}
}

// node is the node of a path or an endpoint, made where there is none.
func (r *reader) node(id []byte) *node {
	n := r.nodes[string(id)]
	if n == nil {
		if len(r.nodes) >= maxNodes || r.nodeBytes > maxNodeBytes {
			r.flush()
			r.nodes, r.nodeBytes = map[string]*node{}, 0
		}
		n = &node{id: string(id), age: r.age}
		r.nodes[n.id] = n
		r.nodeBytes += len(id)
	}
	if n.age != r.age {
		n.age, n.kind, n.exists, n.real = r.age, isUnknown, 0, false
	}
	return n
}

// nodeAt is the node of a place.
func (r *reader) nodeAt(p *place) *node {
	r.w2.path = append(r.w2.path[:0], p.path...)
	return r.node(r.w2.path)
}

// learn notes what a path leads to, also for what was observed of it before.
func (r *reader) learn(n *node, kind uint8) {
	n.exists = 1
	if kind == isUnknown || n.kind == kind {
		return
	}
	n.kind = kind
	r.settle(n, kind)
}

// settle gives the observations of a node a kind that have none.
func (r *reader) settle(n *node, kind uint8) {
	for i, steps := r.last(n), 0; i >= 0 && steps < maxLookBack; i, steps = r.slots[i].prev, steps+1 {
		if s := &r.slots[i]; s.typ == typePath && s.kind == isUnknown {
			s.kind = kind
		}
	}
}

// vanish notes that what was at a path is not there any more.
func (r *reader) vanish(n *node, kind uint8) {
	r.settle(n, kind)
	n.kind, n.exists, n.real = isUnknown, -1, false
}

func (r *reader) last(n *node) int32 {
	if n.gen != r.gen {
		return -1
	}
	return n.last
}

// The types of entities that are observed.
const (
	typePath = iota // a file or a directory, whichever its kind says
	typeExec
	typeNetwork
)

// slot is an observation in the window.
type slot struct {
	node    *node
	typ     uint8
	kind    uint8
	verb    ratchet.Verb
	outcome ratchet.Outcome
	reason  string
	more    string // another name, a command, a protocol, whether it was there before
	cut     bool   // the command is not whole
	from    bool   // more is the old name
	count   int64
	at      ratchet.Place
	time    time.Time
	pid     int64
	prev    int32
}

// see counts an observation of a node.
func (r *reader) see(n *node, s slot) {
	s.outcome, s.reason = ratchet.Allowed, ""
	if e := r.call.result.errno; e != nil {
		s.reason = r.errno(e)
		switch s.reason {
		case "EACCES", "EPERM", "EROFS":
			s.outcome = ratchet.Denied
		case "EINPROGRESS", "EALREADY", "EISCONN", "EINTR":
			if s.verb == ratchet.Connect {
				s.reason = ""
				break
			}
			s.outcome = ratchet.Failed
		default:
			s.outcome = ratchet.Failed
		}
	}
	if s.typ == typePath && s.kind == isUnknown {
		s.kind = n.kind
	}
	s.prev = r.last(n)
	for i, steps := s.prev, 0; i >= 0 && steps < maxLookBack; i, steps = r.slots[i].prev, steps+1 {
		o := &r.slots[i]
		if o.verb == s.verb && o.typ == s.typ && o.kind == s.kind && o.outcome == s.outcome &&
			o.reason == s.reason && o.more == s.more && o.cut == s.cut && o.from == s.from {
			o.count++
			return
		}
	}
	if r.eager && len(r.slots) > 0 || len(r.slots) >= maxSlots || r.slotBytes > maxSlotBytes {
		r.flush()
		s.prev = -1
	}
	s.node, s.count, s.at, s.time, s.pid = n, 1, r.at, epoch(r.clock), r.proc.pid
	n.gen, n.last = r.gen, int32(len(r.slots))
	r.slots = append(r.slots, s)
	r.slotBytes += len(n.id) + len(s.more)
}

// errno is the name of an error. The names are few; anything else that looks like one would
// grow the table without end.
func (r *reader) errno(name []byte) string {
	if s, ok := r.errnos[string(name)]; ok {
		return s
	}
	if len(r.errnos) >= 1000 {
		return "E"
	}
	s := string(name)
	r.errnos[s] = s
	return s
}

// epoch is the time that -ttt wrote, the zero time where it is another form.
func epoch(clock []byte) time.Time {
	seconds, rest, ok := number(clock)
	if !ok || seconds < 1e8 || seconds > 1e11 || len(rest) < 2 || rest[0] != '.' {
		return time.Time{}
	}
	return time.Unix(seconds, fraction(rest[1:])).UTC()
}

// fraction is the nanoseconds behind a point.
func fraction(b []byte) int64 {
	v, n := int64(0), 0
	for ; n < 9; n++ {
		v *= 10
		if n < len(b) && b[n]-'0' <= 9 {
			v += int64(b[n] - '0')
		}
	}
	return v
}

// flush hands out what is in the window, in the order in which it was first seen.
func (r *reader) flush() {
	for i := range r.slots {
		if s := &r.slots[i]; s.verb == ratchet.Read && s.kind == isDir && s.outcome == ratchet.Allowed {
			r.onlySeen(int32(i))
		}
	}
	for i := range r.slots {
		if s := &r.slots[i]; s.count > 0 {
			r.hand(s)
		}
	}
	clear(r.slots)
	r.slots, r.slotBytes = r.slots[:0], 0
	r.gen++
}

// onlySeen turns what was opened for reading and found to be a directory into a look at it:
// opening alone shows nothing of it, and listing it is observed apart.
func (r *reader) onlySeen(i int32) {
	s := &r.slots[i]
	s.verb = ratchet.Stat
	for j, steps := r.last(s.node), 0; j >= 0 && steps < maxLookBack; j, steps = r.slots[j].prev, steps+1 {
		o := &r.slots[j]
		if j == i || o.verb != ratchet.Stat || o.kind != isDir || o.outcome != s.outcome || o.typ != typePath {
			continue
		}
		first, second := &r.slots[min(i, j)], &r.slots[max(i, j)]
		first.count += second.count
		second.count = 0
		return
	}
}

func (r *reader) hand(s *slot) {
	if r.err != nil {
		return
	}
	o := ratchet.Observation{Time: s.time, Taxon: "world", ID: s.node.id, Verb: s.verb, Outcome: s.outcome,
		Reason: s.reason, Count: s.count, At: s.at}
	process := ""
	if s.pid > 0 {
		process = strconv.FormatInt(s.pid, 10)
	}
	switch s.typ {
	case typeExec:
		o.Type = "exec"
		cut := ""
		if s.cut {
			cut = "true"
		}
		o.Attributes = ratchet.Attributes("command", s.more, "cut", cut, "process", process)
	case typeNetwork:
		o.Type = "network"
		host, port, err := net.SplitHostPort(s.node.id)
		if err != nil {
			host, port = "", ""
		}
		o.Attributes = ratchet.Attributes("host", host, "port", port, "protocol", s.more, "process", process)
	default:
		o.Type = "file"
		kind := ""
		switch s.kind {
		case isDir:
			o.Type, kind = "dir", "dir"
		case isFile:
			kind = "file"
		}
		switch s.verb {
		case ratchet.Create:
			o.Attributes = ratchet.Attributes("existed", s.more, "kind", kind, "process", process)
		case ratchet.Delete:
			o.Attributes = ratchet.Attributes("kind", kind, "process", process)
		case ratchet.Rename:
			other := "to"
			if s.from {
				other = "from"
			}
			o.Attributes = ratchet.Attributes("kind", kind, other, s.more, "process", process)
		default:
			o.Attributes = ratchet.Attributes("process", process)
		}
	}
	r.tally.Observations++
	r.err = r.emit(o)
}
