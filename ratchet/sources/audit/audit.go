// Package audit reads the log of the Linux audit system: what auditd writes to
// /var/log/audit/audit.log, what ausearch prints of it without -i, and the same records in
// the kernel's own log.
package audit

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"umwelt/ratchet"
	"umwelt/ratchet/sources/internal/record"
)

// Source is audit://.
var Source = ratchet.Source{
	Name:    "audit",
	Summary: "The log of the Linux audit system: SYSCALL, AVC and SECCOMP records",
	Example: "audit:///var/log/audit/audit.log",
	Read:    read,
}

func read(in ratchet.Input, emit func(ratchet.Observation) error) (ratchet.Tally, error) {
	f, err := record.Open(in.Name)
	if err != nil {
		return ratchet.Tally{}, err
	}
	defer f.Close()
	r := &reader{sink: record.Sink{File: in.Name, Emit: emit}, open: map[string]*event{}}
	whole, err := ratchet.Lines(f, r.line)
	if err == nil {
		err = r.finish(0, 0)
	}
	if err == nil && !whole {
		r.sink.Tally.Cut("the last line has no end")
	}
	return r.sink.Tally, err
}

const (
	maxOpen   = 512      // events whose end has not come
	maxHeld   = 16 << 20 // bytes of them all
	maxEvent  = 1 << 20  // bytes of one
	maxFields = 512      // of one record
)

// event is the records of one serial number.
type event struct {
	id        string
	line      int64 // of its first record, and then of its SYSCALL record
	time      time.Time
	size      int
	truncated bool

	syscall fields
	cwd     string
	paths   []fields
	execve  fields
	sockets []string // the addresses, as hexadecimal digits
	how     fields   // of openat2
	avc     []fields
	alone   []fields // records that tell by themselves: SECCOMP, URINGOP and others
}

type fields map[string]string

type reader struct {
	sink  record.Sink
	open  map[string]*event
	order []*event // in the order in which they began
	held  int
}

// finish reads the oldest events until no more are open than given.
func (r *reader) finish(events, bytes int) error {
	for len(r.order) > 0 && (len(r.open) > events || r.held > bytes) {
		if err := r.end(r.order[0]); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) end(e *event) error {
	delete(r.open, e.id)
	r.held -= e.size
	for i, o := range r.order {
		if o == e {
			r.order = append(r.order[:i], r.order[i+1:]...)
			break
		}
	}
	return r.event(e)
}

func (r *reader) line(number int64, text []byte) error {
	switch {
	case text == nil:
		r.sink.Tally.Records++
		r.sink.Miss(ratchet.Broken, "a line of more than 16 MB", number)
		return nil
	case len(bytes.TrimSpace(text)) == 0, bytes.HasPrefix(text, []byte("----")), bytes.HasPrefix(text, []byte("time->")):
		return nil // what ausearch prints between events
	}
	r.sink.Tally.Records++
	h, ok := parseHead(string(text))
	if !ok {
		what := "no audit record"
		if strings.Contains(string(text), "msg=audit(") {
			what = "an interpreted record; print it without -i"
		}
		r.sink.Miss(ratchet.Broken, what, number)
		return nil
	}
	if quiet[h.kind] {
		return nil
	}
	e := r.open[h.id]
	if h.kind == "EOE" {
		if e == nil {
			return nil
		}
		return r.end(e)
	}
	if e == nil {
		e = &event{id: h.id, line: number, time: h.time}
		r.open[h.id] = e
		r.order = append(r.order, e)
	}
	if e.size+len(h.rest) > maxEvent {
		e.truncated = true
		r.sink.Miss(ratchet.Truncated, "an event of more than 1 MB", number)
		return nil
	}
	f, ok := parseFields(h.rest)
	if !ok {
		e.truncated = true
		r.sink.Miss(ratchet.Broken, h.kind, number)
		return nil
	}
	e.size += len(h.rest)
	r.held += len(h.rest)
	e.add(h.kind, f, number)
	return r.finish(maxOpen, maxHeld)
}

func (e *event) add(kind string, f fields, number int64) {
	switch kind {
	case "SYSCALL":
		e.syscall, e.line = f, number
	case "CWD":
		e.cwd, _ = f.text("cwd")
	case "PATH":
		e.paths = append(e.paths, f)
	case "EXECVE":
		if e.execve == nil {
			e.execve = fields{}
		}
		for k, v := range f {
			e.execve[k] = v
		}
	case "SOCKADDR":
		digits, _, _ := strings.Cut(f["saddr"], "SADDR=") // where the mark of the enriched form was lost
		e.sockets = append(e.sockets, digits)
	case "OPENAT2":
		e.how = f
	case "AVC":
		e.avc = append(e.avc, f)
	default:
		f["type"] = kind
		e.alone = append(e.alone, f)
	}
}

// head is what every record begins with.
type head struct {
	kind string
	id   string // what joins the records of an event
	time time.Time
	rest string
}

// kinds are the numbers of the records that the kernel's own log names by number.
var kinds = map[string]string{
	"1300": "SYSCALL", "1302": "PATH", "1306": "SOCKADDR", "1307": "CWD", "1309": "EXECVE", "1320": "EOE",
	"1326": "SECCOMP", "1327": "PROCTITLE", "1336": "URINGOP", "1337": "OPENAT2", "1400": "AVC",
}

// quiet are records that tell nothing of what a process did to its environment, or tell it
// beside a SYSCALL record of the same event.
var quiet = set(`PROCTITLE BPRM_FCAPS CAPSET FD_PAIR MMAP OBJ_PID IPC IPC_SET_PERM MQ_OPEN MQ_SENDRECV MQ_NOTIFY MQ_GETSETATTR
	SOCKETCALL TTY USER_TTY TIME_ADJNTPVAL TIME_INJOFFSET DM_CTRL DM_EVENT
	LOGIN USER_AUTH USER_ACCT USER_START USER_END USER_LOGIN USER_LOGOUT USER_ERR USER_CHAUTHTOK USER_MGMT USER_ROLE_CHANGE USER_CMD
	CRED_ACQ CRED_DISP CRED_REFR ADD_USER DEL_USER ADD_GROUP DEL_GROUP GRP_MGMT CRYPTO_KEY_USER CRYPTO_SESSION
	SERVICE_START SERVICE_STOP SYSTEM_BOOT SYSTEM_SHUTDOWN SYSTEM_RUNLEVEL
	CONFIG_CHANGE DAEMON_START DAEMON_END DAEMON_ABORT DAEMON_CONFIG DAEMON_ROTATE DAEMON_RESUME FEATURE_CHANGE KERNEL
	MAC_POLICY_LOAD MAC_STATUS MAC_CONFIG_CHANGE NETFILTER_CFG BPF ANOM_PROMISCUOUS PROCTITLE UNKNOWN[1334]`)

func set(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	return out
}

// parseHead reads type=KIND msg=audit(SECONDS.MS:SERIAL):, with node=HOST before it, or
// with what a log daemon writes before it.
func parseHead(s string) (head, bool) {
	node := ""
	if after, ok := strings.CutPrefix(s, "node="); ok {
		node, s, _ = strings.Cut(after, " ")
	}
	i := strings.Index(s, "type=")
	if i < 0 || i > 0 && s[i-1] != ' ' {
		return head{}, false
	}
	kind, s, ok := strings.Cut(s[i+len("type="):], " ")
	if !ok {
		return head{}, false
	}
	if name, ok := kinds[kind]; ok {
		kind = name
	}
	s, ok = strings.CutPrefix(strings.TrimPrefix(s, "msg="), "audit(")
	if !ok {
		return head{}, false
	}
	stamp, rest, ok := strings.Cut(s, "):")
	if !ok {
		return head{}, false
	}
	at, serial, ok := strings.Cut(stamp, ":")
	seconds, millis, dot := strings.Cut(at, ".")
	sec, err1 := strconv.ParseInt(seconds, 10, 40)
	ms, err2 := strconv.ParseInt(millis, 10, 32)
	_, err3 := strconv.ParseUint(serial, 10, 64)
	if !ok || !dot || err1 != nil || err2 != nil || err3 != nil || ms < 0 || len(millis) != 3 {
		return head{}, false
	}
	return head{kind: kind, id: node + " " + stamp, time: time.Unix(sec, ms*1e6).UTC(), rest: rest}, true
}

// parseFields reads name=value pairs: a value in double quotes is as it stands, another
// ends at a blank. The words of an AVC record before "for" stand under "avc" and "perms".
// Behind the mark of the enriched form only SYSCALL and ARCH are read.
func parseFields(s string) (fields, bool) {
	out := fields{}
	s, more, _ := strings.Cut(s, "\x1d")
	for s != "" {
		s = strings.TrimLeft(s, " \n\r\t")
		if s == "" {
			break
		}
		if len(out) > maxFields {
			return nil, false
		}
		if after, ok := strings.CutPrefix(s, "{"); ok {
			perms, rest, ok := strings.Cut(after, "}")
			if !ok {
				return nil, false
			}
			out["perms"], s = strings.TrimSpace(perms), rest
			continue
		}
		end := strings.IndexAny(s, " =")
		if end < 0 || s[end] == ' ' {
			word := s
			if end >= 0 {
				word, s = s[:end], s[end:]
			} else {
				s = ""
			}
			if word == "denied" || word == "granted" {
				out["avc"] = word
			}
			continue
		}
		name := s[:end]
		value := s[end+1:]
		if strings.HasPrefix(value, `"`) {
			text, rest, ok := strings.Cut(value[1:], `"`)
			if !ok {
				return nil, false
			}
			value, s = `"`+text, rest
		} else {
			value, s, _ = strings.Cut(value, " ")
		}
		if _, twice := out[name]; twice {
			return nil, false // a name that was made to stand in another's value
		}
		out[name] = value
	}
	for _, w := range strings.Fields(more) {
		if name, value, _ := strings.Cut(w, "="); name == "SYSCALL" || name == "ARCH" {
			out[name] = value
		}
	}
	return out, true
}

// text is a value that the kernel may have had to encode: in quotes where it is printable
// and else as hexadecimal digits. It is false where there is none, or no such value.
func (f fields) text(name string) (string, bool) {
	v, ok := f[name]
	if !ok || v == "(null)" || v == "" {
		return "", false
	}
	if v[0] == '"' {
		return v[1:], true
	}
	b, ok := unhex(v)
	return string(b), ok
}

func unhex(s string) ([]byte, bool) {
	if len(s)%2 != 0 {
		return nil, false
	}
	out := make([]byte, 0, len(s)/2)
	for i := 0; i < len(s); i += 2 {
		b, err := strconv.ParseUint(s[i:i+2], 16, 8)
		if err != nil {
			return nil, false
		}
		out = append(out, byte(b))
	}
	return out, true
}

// hex is a number in hexadecimal digits.
func (f fields) hex(name string) (uint64, bool) {
	n, err := strconv.ParseUint(strings.TrimPrefix(f[name], "0x"), 16, 64)
	return n, err == nil
}
