package strace

import (
	"bytes"
	"net/netip"
	"strconv"

	"umwelt/ratchet"
)

// maxMessages is how many messages a call can send.
const maxMessages = 1024

func (r *reader) doNetwork(p *proc) {
	c := &r.call
	verb := ratchet.Connect
	switch r.spec.op {
	case opBind:
		r.address(p, c.arg(1), ratchet.Bind)
	case opConnect:
		r.address(p, c.arg(1), verb)
	case opSendto:
		r.address(p, c.arg(4), verb)
	case opSendmsg:
		sent := int64(1)
		if r.spec.name == "sendmmsg" && c.result.ok() {
			sent = min(c.result.value, maxMessages)
		}
		for rest := c.arg(1); sent > 0; sent-- {
			var name []byte
			if name, rest = nextField(rest, "msg_name="); name != nil {
				r.address(p, name, verb)
			} else if c.result.ok() {
				r.miss(truncated) // -s bounds lists, too
			}
		}
	}
}

// nextField is what stands behind the next name= that is not in a string, and the rest.
func nextField(b []byte, name string) (value, rest []byte) {
	for i := 0; i < len(b); i++ {
		if b[i] == '"' {
			if i = endString(b, i) - 1; i < 0 {
				return nil, nil
			}
		} else if b[i] == name[0] && bytes.HasPrefix(b[i:], []byte(name)) {
			rest = b[i+len(name):]
			return rest, rest
		}
	}
	return nil, nil
}

// address counts the use of a socket's address: {sa_family=AF_INET, sin_port=htons(80),
// sin_addr=inet_addr("127.0.0.1")} and its kin.
func (r *reader) address(p *proc, b []byte, verb ratchet.Verb) {
	rest, ok := bytes.CutPrefix(b, []byte("{sa_family="))
	if !ok {
		if len(b) > 0 && string(b) != "NULL" && b[0] != 'N' && r.call.result.ok() {
			r.miss(unresolved) // strace could not read it
		}
		return
	}
	family := rest[:nameLen(rest)]
	switch string(family) {
	case "AF_INET":
		r.endpoint(p, rest, "sin_port=htons(", "inet_addr(", verb)
	case "AF_INET6":
		r.endpoint(p, rest, "sin6_port=htons(", "inet_pton(AF_INET6, ", verb)
	case "AF_UNIX":
		r.local(p, rest, verb)
	case "AF_UNSPEC", "AF_NETLINK", "AF_ALG":
		// Undone, or the kernel itself.
	default:
		r.gap(ratchet.Unknown, r.spec.name)
	}
}

func (r *reader) endpoint(p *proc, b []byte, port, host string, verb ratchet.Verb) {
	number, ok1 := number16(after(b, port))
	text, cut, ok2 := decode(r.scratch, stringAt(after(b, host)))
	addr, err := netip.ParseAddr(string(text))
	if !ok1 || !ok2 || cut || err != nil {
		r.miss(broken)
		return
	}
	id := netip.AddrPortFrom(addr.WithZone(""), number).AppendTo(r.w1.path[:0])
	r.w1.path = id
	r.see(r.node(id), slot{typ: typeNetwork, verb: verb, more: r.protocol(p)})
}

// protocol is what the socket of the call speaks, as far as is known.
func (r *reader) protocol(p *proc) string {
	fd, note, ok := descriptor(r.call.arg(0))
	switch {
	case !ok:
		return ""
	case bytes.HasPrefix(note, []byte("<TCP")):
		return tcp.String()
	case bytes.HasPrefix(note, []byte("<UDP")):
		return udp.String()
	case p.files.loose:
		return ""
	}
	return p.files.table.fds[int32(fd)].socket.String()
}

// local counts the use of a Unix socket: one with a path is a file, and an abstract one an
// endpoint called @name.
func (r *reader) local(p *proc, b []byte, verb ratchet.Verb) {
	name := after(b, "sun_path=")
	if len(name) == 0 {
		return // it has no name
	}
	if name[0] != '@' {
		f := r.resolve(&r.w1, p, nil, stringAt(name), lookup{follow: verb == ratchet.Connect})
		if f != placed {
			r.miss(f)
			return
		}
		n := r.node(r.w1.path)
		if verb == ratchet.Connect {
			if r.call.result.ok() {
				r.learn(n, isFile)
			} else {
				r.fails(n)
			}
			r.look(n, verb)
			return
		}
		if r.call.result.ok() {
			n.exists, n.kind, n.real = 1, isFile, true
		}
		r.see(n, slot{typ: typePath, verb: ratchet.Create, kind: isFile})
		return
	}
	text, cut, ok := decode(r.scratch, stringAt(name[1:]))
	switch {
	case !ok:
		r.miss(broken)
	case cut:
		r.miss(truncated)
	case len(text) == 0 || bytes.IndexByte(text, 0) >= 0:
		r.miss(unresolved) // no id can hold a NUL byte
	default:
		r.w1.path = append(append(r.w1.path[:0], '@'), text...)
		r.see(r.node(r.w1.path), slot{typ: typeNetwork, verb: verb, more: "unix"})
	}
}

// after is what stands behind the first mark that is not in a string.
func after(b []byte, mark string) []byte {
	v, _ := nextField(b, mark)
	return v
}

// stringAt is the string that b begins with.
func stringAt(b []byte) []byte {
	if len(b) == 0 || b[0] != '"' {
		return nil
	}
	end := endString(b, 0)
	if end < 0 {
		return nil
	}
	if bytes.HasPrefix(b[end:], []byte("...")) {
		end += 3
	}
	return b[:end]
}

func number16(b []byte) (uint16, bool) {
	v, err := strconv.ParseUint(string(b[:digits(b)]), 10, 16)
	return uint16(v), err == nil
}
