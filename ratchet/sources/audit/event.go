package audit

import (
	"fmt"
	"net/netip"
	"path"
	"strconv"
	"strings"

	"umwelt/ratchet"
	"umwelt/ratchet/sources/internal/record"
)

// told is what the event's observations have in common.
type told struct {
	e       *event
	outcome ratchet.Outcome
	reason  string
	process string
}

func (t told) put(r *reader, o ratchet.Observation, attributes ...string) error {
	o.Time, o.Taxon, o.Outcome, o.Reason = t.e.time, "world", t.outcome, t.reason
	o.Attributes = ratchet.Attributes(append(attributes, "process", t.process)...)
	return r.sink.Put(t.e.line, o)
}

// event gives the observations of an event whose records are all there.
func (r *reader) event(e *event) error {
	before := r.sink.Tally.Observations
	switch {
	case e.syscall != nil:
		if err := r.syscall(e); err != nil {
			return err
		}
	case len(e.paths)+len(e.sockets) > 0 || e.execve != nil:
		r.sink.Miss(ratchet.Unresolved, "PATH, EXECVE or SOCKADDR without SYSCALL", e.line)
	}
	// What the system call named already says what was denied.
	if r.sink.Tally.Observations == before {
		for _, f := range e.avc {
			if err := r.avc(e, f); err != nil {
				return err
			}
		}
	}
	for _, f := range e.alone {
		r.alone(e, f)
	}
	return nil
}

func (r *reader) alone(e *event, f fields) {
	switch kind := f["type"]; kind {
	case "SECCOMP":
		name, _ := callName(f)
		r.sink.Miss(ratchet.Unresolved, "what seccomp saw of "+name, e.line)
	default:
		r.sink.Miss(ratchet.Unknown, kind, e.line)
	}
}

func (r *reader) syscall(e *event) error {
	name, known := callName(e.syscall)
	c, listed := calls[name]
	if !known || !listed {
		r.sink.Miss(ratchet.Unknown, name, e.line)
		return nil
	}
	if c.does == nothing {
		return nil
	}
	t := told{e: e, process: e.syscall["pid"]}
	exit := e.syscall["exit"]
	switch success := e.syscall["success"]; {
	case success == "yes", exit == "-115" && c.does == connecting:
		t.outcome = ratchet.Allowed
	case success != "no":
		r.sink.Miss(ratchet.Unresolved, name+" without an outcome", e.line)
		return nil
	case exit == "-13" || exit == "-1" || exit == "-30":
		t.outcome, t.reason = ratchet.Denied, errnos[exit]
		if e.enforced() {
			t.reason += ", a security module"
		}
	default:
		t.outcome, t.reason = ratchet.Failed, errnos[exit]
		if t.reason == "" {
			t.reason = "error " + record.Clip(exit)
		}
	}
	switch c.does {
	case connecting, binding:
		return r.sockets(t, name, c.does)
	case running:
		return r.exec(t, c)
	}
	return r.paths(t, name, c)
}

func (e *event) enforced() bool {
	for _, f := range e.avc {
		if f["avc"] == "denied" && f["permissive"] != "1" || f["apparmor"] == `"DENIED` {
			return true
		}
	}
	return false
}

// named is one PATH record.
type named struct {
	id   string
	typ  string // dir, or file where it is none or nobody knows
	kind string // dir, file or ""
	how  string // the nametype
}

// names are the PATH records that are not the directory around another.
func (r *reader) names(e *event, name string, c call) []named {
	var out []named
	relative := true
	for _, a := range c.dirs {
		// AT_FDCWD, in 32 or 64 bits.
		relative = relative && (e.syscall[a] == "ffffff9c" || e.syscall[a] == "ffffffffffffff9c")
	}
	for _, p := range e.paths {
		if p["nametype"] == "PARENT" {
			continue
		}
		text, ok := p.text("name")
		if !ok {
			r.sink.Miss(ratchet.Unresolved, name+" of what has no name", e.line)
			continue
		}
		dir := e.cwd
		if !relative {
			dir = ""
		}
		id, ok := record.Absolute(dir, text)
		if !ok {
			what := name + " relative to a descriptor"
			if relative {
				what = name + " relative to an unknown directory"
			}
			r.sink.Miss(ratchet.Unresolved, what, e.line)
			continue
		}
		n := named{id: id, typ: "file", how: p["nametype"]}
		if mode, err := strconv.ParseUint(p["mode"], 8, 32); err == nil && mode&0o170000 != 0 {
			n.kind = "file"
			if mode&0o170000 == 0o040000 {
				n.typ, n.kind = "dir", "dir"
			}
		}
		out = append(out, n)
	}
	if len(e.paths) == 0 && len(e.avc) == 0 {
		r.sink.Miss(ratchet.Unresolved, name+" without PATH", e.line)
	}
	return out
}

func (r *reader) paths(t told, name string, c call) error {
	list := r.names(t.e, name, c)
	if c.does == renaming {
		return r.rename(t, name, list)
	}
	for _, n := range list {
		verbs, ok := t.e.verbs(name, c.does, n)
		if !ok {
			r.sink.Miss(ratchet.Unresolved, name+" with unknown flags", t.e.line)
			continue
		}
		for _, verb := range verbs {
			kind := ""
			if verb == ratchet.Create || verb == ratchet.Delete {
				kind = n.kind
			}
			if err := t.put(r, ratchet.Observation{Type: n.typ, ID: n.id, Verb: verb}, "kind", kind); err != nil {
				return err
			}
		}
	}
	return nil
}

// verbs are what a call does to one name.
func (e *event) verbs(name string, does action, n named) ([]ratchet.Verb, bool) {
	switch does {
	case stating:
		return []ratchet.Verb{ratchet.Stat}, true
	case writing:
		return []ratchet.Verb{ratchet.Write}, true
	case removing:
		return []ratchet.Verb{ratchet.Delete}, true
	case making:
		// The other name of a link is not changed by it. Where the call failed there is no
		// CREATE record, and with one name it is that.
		if n.how == "CREATE" || e.syscall["success"] == "no" && !strings.HasPrefix(name, "link") {
			return []ratchet.Verb{ratchet.Create}, true
		}
		return []ratchet.Verb{ratchet.Stat}, true
	}
	flags, ok := e.flags(name)
	switch {
	case n.how == "CREATE":
		return []ratchet.Verb{ratchet.Create}, true
	case !ok || flags&tmpfile != 0:
		return nil, false
	case flags&pathOnly != 0:
		return []ratchet.Verb{ratchet.Stat}, true
	}
	var out []ratchet.Verb
	switch {
	case n.typ == "dir" && flags&accessMode == 0:
		return []ratchet.Verb{ratchet.List}, true
	case flags&accessMode == 0, flags&accessMode == 2:
		out = append(out, ratchet.Read)
	}
	if flags&accessMode != 0 || flags&truncate != 0 {
		out = append(out, ratchet.Write)
	}
	return out, true
}

func (r *reader) rename(t told, name string, list []named) error {
	var from, to *named
	for i := range list {
		switch n := &list[i]; {
		case n.how == "DELETE" && from == nil:
			from = n
		case n.how == "CREATE" && to == nil:
			to = n
		}
	}
	if from == nil && to == nil && len(list) == 2 { // it failed
		from, to = &list[0], &list[1]
	}
	if from == nil || to == nil {
		r.sink.Miss(ratchet.Unresolved, name+" without both names", t.e.line)
		return nil
	}
	kind, typ := from.kind, from.typ
	if err := t.put(r, ratchet.Observation{Type: typ, ID: from.id, Verb: ratchet.Rename}, "kind", kind, "to", to.id); err != nil {
		return err
	}
	return t.put(r, ratchet.Observation{Type: typ, ID: to.id, Verb: ratchet.Rename}, "kind", kind, "from", from.id)
}

// exec gives the program and the loader or interpreter that was read for it.
func (r *reader) exec(t told, c call) error {
	list := r.names(t.e, "execve", c)
	for i, n := range list {
		if i > 0 {
			if err := t.put(r, ratchet.Observation{Type: n.typ, ID: n.id, Verb: ratchet.Read}); err != nil {
				return err
			}
			continue
		}
		words, ok := t.e.words()
		if !ok {
			r.sink.Miss(ratchet.Truncated, "EXECVE", t.e.line)
		}
		if err := t.put(r, ratchet.Observation{Type: "exec", ID: n.id, Verb: ratchet.Exec}, "command", words); err != nil {
			return err
		}
	}
	return nil
}

// words are the arguments of an EXECVE record as a JSON list, "" where there is none. It
// is false where one of them is missing.
func (e *event) words() (string, bool) {
	if e.execve == nil {
		return "", true
	}
	argc, err := strconv.Atoi(e.execve["argc"])
	if err != nil || argc < 0 || argc > len(e.execve) || e.truncated {
		return "", false
	}
	out := make([]string, 0, argc)
	for i := range argc {
		name := fmt.Sprintf("a%d", i)
		if w, ok := e.execve.text(name); ok {
			out = append(out, w)
			continue
		}
		if v, ok := e.execve[name]; ok {
			// Digits that are no hexadecimal text, or nothing at all.
			if v != "" {
				return "", false
			}
			out = append(out, "")
			continue
		}
		var b strings.Builder
		part := 0
		for ; ; part++ {
			w, ok := e.execve.text(fmt.Sprintf("%s[%d]", name, part))
			if !ok {
				break
			}
			b.WriteString(w)
		}
		// The length is that of the digits.
		size, err := strconv.Atoi(e.execve[name+"_len"])
		if part == 0 || err != nil || size != b.Len() && size != 2*b.Len() {
			return "", false
		}
		out = append(out, b.String())
	}
	return record.Command(out), true
}

// sockets gives the endpoints of a call.
func (r *reader) sockets(t told, name string, does action) error {
	verb := ratchet.Connect
	if does == binding {
		verb = ratchet.Bind
	}
	if len(t.e.sockets) == 0 && (does == binding || name == "connect") {
		r.sink.Miss(ratchet.Unresolved, name+" without SOCKADDR", t.e.line)
	}
	for _, digits := range t.e.sockets {
		o, attributes, what := endpoint(digits)
		if what != "" {
			r.sink.Miss(ratchet.Unresolved, name+" "+what, t.e.line)
			continue
		}
		if o.ID == "" {
			continue
		}
		if o.Type == "file" && !path.IsAbs(o.ID) {
			id, ok := record.Absolute(t.e.cwd, o.ID)
			if !ok {
				r.sink.Miss(ratchet.Unresolved, name+" relative to an unknown directory", t.e.line)
				continue
			}
			o.ID = id
		}
		o.Verb = verb
		if o.Type == "file" && does == binding {
			o.Verb = ratchet.Create // that is where the socket comes to be
			attributes = []string{"kind", "file"}
		}
		if err := t.put(r, o, attributes...); err != nil {
			return err
		}
	}
	return nil
}

// endpoint reads a socket's address. what says why there is no endpoint; an address that
// names none, as of netlink, gives neither.
func endpoint(digits string) (o ratchet.Observation, attributes []string, what string) {
	b, ok := unhex(digits)
	if !ok || len(b) < 2 {
		return o, nil, "to an address that cannot be read"
	}
	var host netip.Addr
	switch family := int(b[0]) | int(b[1])<<8; family {
	case 0, 16, 17: // nothing, netlink, packets
		return o, nil, ""
	case 1:
		name, _, _ := strings.Cut(string(b[2:]), "\x00")
		if abstract := string(b[2:]); name == "" {
			if len(abstract) < 2 || strings.ContainsRune(abstract[1:], 0) {
				return o, nil, "to a socket whose name cannot be told"
			}
			return ratchet.Observation{Type: "network", ID: "@" + abstract[1:]}, []string{"protocol", "unix"}, ""
		}
		if !path.IsAbs(name) {
			return ratchet.Observation{Type: "file", ID: name}, nil, ""
		}
		return ratchet.Observation{Type: "file", ID: path.Clean(name)}, nil, ""
	case 2:
		if len(b) < 8 {
			return o, nil, "to an address that is cut off"
		}
		host, _ = netip.AddrFromSlice(b[4:8])
	case 10:
		if len(b) < 24 {
			return o, nil, "to an address that is cut off"
		}
		host, _ = netip.AddrFromSlice(b[8:24])
		host = host.Unmap()
	default:
		return o, nil, fmt.Sprintf("to an address of family %d", family)
	}
	port := int64(b[2])<<8 | int64(b[3])
	id, ok := record.Endpoint(host.String(), port)
	if !ok {
		return o, nil, "to port 0"
	}
	return ratchet.Observation{Type: "network", ID: id}, []string{"host", host.String(), "port", strconv.FormatInt(port, 10), "address", host.String()}, ""
}
