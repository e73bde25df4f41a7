package strace

import "bytes"

// head is what strace writes before a call.
type head struct {
	pid   int64  // 0 where the line names no process
	clock []byte // as written: a time of day or seconds of the epoch; nil where there is none
}

// maxPid bounds what is taken for a process; the kernel's own bound is 2^22.
const maxPid = 1 << 31

// splitHead takes what stands before the call off a line: the process (-f, -Y), the time
// (-t, -tt, -ttt, -r), the number of the call (-n) and the instruction pointer (-i).
func splitHead(b []byte) (h head, body []byte, ok bool) {
	if len(b) > 0 && b[0] == '[' && bytes.HasPrefix(b, []byte("[pid ")) {
		b = skipBlanks(b[5:])
		if h.pid, b, ok = number(b); !ok || h.pid > maxPid {
			return h, nil, false
		}
		b = skipComm(b)
		if len(b) < 2 || b[0] != ']' {
			return h, nil, false
		}
		b = skipBlanks(b[1:])
	} else if n := digits(b); n > 0 && n < len(b) && (b[n] == ' ' || b[n] == '<') {
		if h.pid, b, ok = number(b); !ok || h.pid > maxPid {
			return h, nil, false
		}
		b = skipBlanks(skipComm(b))
	}
	b = skipBlanks(b)
	if n := digits(b); n > 0 && n < len(b) && (b[n] == ':' || b[n] == '.') {
		end := bytes.IndexByte(b, ' ')
		if end < 0 {
			return h, nil, false
		}
		h.clock, b = b[:end], skipBlanks(b[end:])
	}
	if len(b) > 1 && b[0] == '(' && b[1] == '+' {
		end := bytes.IndexByte(b, ')')
		if end < 0 {
			return h, nil, false
		}
		b = skipBlanks(b[end+1:])
	}
	for len(b) > 0 && b[0] == '[' {
		end := bytes.IndexByte(b, ']')
		if end < 0 || end > 24 || !isCode(b[1:end]) {
			break
		}
		b = skipBlanks(b[end+1:])
	}
	return h, b, len(b) > 0
}

// isCode reports whether b is a call's number or an address.
func isCode(b []byte) bool {
	for _, c := range b {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') && c != ' ' && c != '?' {
			return false
		}
	}
	return true
}

func skipBlanks(b []byte) []byte {
	for len(b) > 0 && b[0] == ' ' {
		b = b[1:]
	}
	return b
}

// skipComm skips the name that -Y puts behind a process. It holds no ">" itself.
func skipComm(b []byte) []byte {
	if len(b) == 0 || b[0] != '<' {
		return b
	}
	if end := bytes.IndexByte(b, '>'); end >= 0 {
		return b[end+1:]
	}
	return b
}

func digits(b []byte) int {
	n := 0
	for n < len(b) && b[n]-'0' <= 9 {
		n++
	}
	return n
}

// number reads digits, at most 18 of them.
func number(b []byte) (v int64, rest []byte, ok bool) {
	n := digits(b)
	for _, c := range b[:min(n, 18)] {
		v = v*10 + int64(c-'0')
	}
	return v, b[n:], n > 0 && n <= 18
}

// nameLen is the length of the name of a system call at the start of b.
func nameLen(b []byte) int {
	n := 0
	for n < len(b) && n <= maxName && isName[b[n]] {
		n++
	}
	return n
}

const maxName = 64

var isName = func() (t [256]bool) {
	for _, c := range []byte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") {
		t[c] = true
	}
	return t
}()

var (
	unfinished = []byte("<unfinished ...>")
	resumed    = []byte(" resumed>")
	pidChanged = []byte("<pid changed to ")
	detached   = []byte("<detached ...>")
	attached   = []byte(" attached")
	attaching  = []byte("strace: Process ")
)

// openEnd cuts the mark off a line whose call had not returned when it was written.
func openEnd(b []byte) (text []byte, open bool) {
	if len(b) == 0 || b[len(b)-1] != '>' {
		return b, false
	}
	if t, ok := bytes.CutSuffix(b, unfinished); ok {
		return t, true
	}
	if !bytes.HasSuffix(b, []byte(" ...>")) {
		return b, false
	}
	if t, ok := bytes.CutSuffix(b, detached); ok {
		return t, true
	}
	if i := bytes.LastIndex(b, pidChanged); i >= 0 && isPid(b[i+len(pidChanged):len(b)-len(" ...>")]) {
		return b[:i], true
	}
	return b, false
}

func isPid(b []byte) bool {
	n := digits(b)
	return n > 0 && len(skipComm(b[n:])) == 0
}
