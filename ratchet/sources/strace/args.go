package strace

import "bytes"

// maxArgs is how many arguments of a call are kept; no call that matters has more.
const maxArgs = 8

// call is a call whose text is whole.
type call struct {
	args   [maxArgs][]byte
	n      int
	result result
}

// result is what a call returned.
type result struct {
	value int64
	errno []byte // nil where it succeeded
	none  bool   // it did not return
	again bool   // a signal interrupted it, and the kernel starts it once more
	note  []byte // what -y says of the descriptor that was returned, from "<" on
}

func (r *result) ok() bool { return !r.none && r.errno == nil }

// special marks the bytes that end, open or close something in a list of arguments.
var special = func() (t [256]bool) {
	for _, c := range []byte(`"()[]{},</`) {
		t[c] = true
	}
	return t
}()

// parse reads what follows the opening parenthesis of a call: its arguments and its result.
func (c *call) parse(b []byte) bool {
	c.n = 0
	depth, start := 0, 0
	for i := 0; i < len(b); {
		if !special[b[i]] {
			i++
			continue
		}
		switch b[i] {
		case '"':
			if i = endString(b, i); i < 0 {
				return false
			}
			continue
		case '(', '[', '{':
			depth++
		case ']', '}':
			depth--
		case ')':
			if depth == 0 {
				if i > start || c.n > 0 {
					c.add(b[start:i])
				}
				return c.result.parse(b[i+1:])
			}
			depth--
		case ',':
			if depth == 0 {
				c.add(b[start:i])
				start = i + 1
				if start < len(b) && b[start] == ' ' {
					start++
				}
			}
		case '<':
			if i > start && isName[b[i-1]] && i+1 < len(b) && b[i+1] != '<' {
				if i = endNote(b, i); i < 0 {
					return false
				}
				continue
			}
		case '/':
			if i+1 < len(b) && b[i+1] == '*' {
				end := bytes.Index(b[i+2:], []byte("*/"))
				if end < 0 {
					return false
				}
				i += 4 + end
				continue
			}
		}
		if depth < 0 {
			return false
		}
		i++
	}
	return false
}

func (c *call) add(arg []byte) {
	if c.n < maxArgs {
		c.args[c.n] = bytes.TrimRight(skipBlanks(arg), " ")
		c.n++
	}
}

// arg is an argument, nil where the call has fewer.
func (c *call) arg(i int8) []byte {
	if i < 0 || int(i) >= c.n {
		return nil
	}
	return c.args[i]
}

// endString is the index behind the string that begins at b[i], -1 where it does not end.
func endString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return -1
		}
		i += n
		slashes := 0
		for b[i-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i + 1
		}
	}
	return -1
}

// endNote is the index behind the note that begins at b[i] with "<", -1 where it does not
// end. strace escapes "<" and ">" in paths; other notes may hold arrows and quoted names.
func endNote(b []byte, i int) int {
	path := i+1 < len(b) && b[i+1] == '/'
	if path {
		end := bytes.IndexByte(b[i:], '>')
		if end < 0 {
			return -1
		}
		if bytes.IndexByte(b[i+1:i+end], '<') < 0 {
			return i + end + 1
		}
	}
	for depth := 0; i < len(b); i++ {
		switch b[i] {
		case '<':
			depth++
		case '>':
			if !path && b[i-1] == '-' {
				continue
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case '"':
			if !path {
				if i = endString(b, i) - 1; i < 0 {
					return -1
				}
			}
		}
	}
	return -1
}

func (r *result) parse(b []byte) bool {
	*r = result{}
	b = skipBlanks(b)
	if len(b) < 3 || b[0] != '=' || b[1] != ' ' {
		return false
	}
	b = b[2:]
	switch {
	case b[0] == '?':
		r.none = true
		r.again = bytes.HasPrefix(skipBlanks(b[1:]), []byte("ERESTART"))
		return true
	case b[0] == '-':
		v, rest, ok := number(b[1:])
		if !ok {
			return false
		}
		r.value = -v
		rest = skipBlanks(rest)
		if n := nameLen(rest); n > 1 && rest[0] == 'E' {
			r.errno = rest[:n]
		}
		return r.errno != nil || v != 1
	case bytes.HasPrefix(b, []byte("0x")):
		return true // no call that matters returns an address
	}
	v, rest, ok := number(b)
	r.value = v
	if ok && len(rest) > 0 && rest[0] == '<' {
		r.note = rest
	}
	if pid, found := outside(skipComm(rest)); found {
		r.value = pid
	}
	return ok
}

// decode is the text of a string as strace quotes it, put into dst where it holds escapes.
// cut says that strace left out its end.
func decode(dst, arg []byte) (text []byte, cut, ok bool) {
	if len(arg) < 2 || arg[0] != '"' {
		return nil, false, false
	}
	end := endString(arg, 0)
	if end < 0 {
		return nil, false, false
	}
	cut = bytes.HasPrefix(arg[end:], []byte("..."))
	text, ok = unescape(dst, arg[1:end-1])
	return text, cut, ok
}

// unescape undoes strace's escapes: those of C, short octal numbers, and \xHH.
func unescape(dst, b []byte) ([]byte, bool) {
	i := bytes.IndexByte(b, '\\')
	if i < 0 {
		return b, true
	}
	dst = append(dst[:0], b[:i]...)
	for i < len(b) {
		c := b[i]
		i++
		if c != '\\' {
			dst = append(dst, c)
			continue
		}
		if i == len(b) {
			return dst, false
		}
		c = b[i]
		i++
		switch {
		case c >= '0' && c <= '7':
			v := int(c - '0')
			for n := 1; n < 3 && i < len(b) && b[i] >= '0' && b[i] <= '7'; n++ {
				v = v*8 + int(b[i]-'0')
				i++
			}
			if v > 255 {
				return dst, false
			}
			dst = append(dst, byte(v))
		case c == 'x':
			if i+2 > len(b) || hex(b[i]) > 15 || hex(b[i+1]) > 15 {
				return dst, false
			}
			dst = append(dst, hex(b[i])<<4|hex(b[i+1]))
			i += 2
		default:
			n := bytes.IndexByte([]byte(`ntrvfabe"\`), c)
			if n < 0 {
				return dst, false
			}
			dst = append(dst, "\n\t\r\v\f\a\b\x1b\"\\"[n])
		}
	}
	return dst, true
}

func hex(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10
	}
	return 255
}

var deletedMark = []byte("(deleted)")

// notedPath is the path in a note of -y such as </a/b>, put into dst where it holds escapes.
// It is nil where the note tells of something else, or of a file that has no name any more.
func notedPath(dst, note []byte) []byte {
	if len(note) < 3 || note[0] != '<' || note[1] != '/' {
		return nil
	}
	whole := endNote(note, 0)
	if whole < 0 || bytes.HasPrefix(note[whole:], deletedMark) {
		return nil
	}
	inner := note[1 : whole-1]
	if i := bytes.IndexByte(inner, '<'); i >= 0 {
		inner = inner[:i] // a device's note holds one of its own: </dev/null<char 1:3>>
	}
	if bytes.HasSuffix(inner, []byte(" (deleted)")) {
		return nil
	}
	text, ok := unescape(dst, inner)
	if !ok || !isClean(text) || bytes.HasPrefix(text, []byte("/memfd:")) {
		return nil
	}
	return text
}

// isClean reports whether a path is as the kernel tells one: absolute, with no empty part, no
// "." and no ".." in it.
func isClean(path []byte) bool {
	if len(path) == 0 || len(path) > maxPath || path[0] != '/' || bytes.IndexByte(path, 0) >= 0 {
		return false
	}
	for rest := path[1:]; len(rest) > 0; {
		part := rest
		i := bytes.IndexByte(rest, '/')
		if i >= 0 {
			part, rest = rest[:i], rest[i+1:]
		} else {
			rest = nil
		}
		if len(part) == 0 || i >= 0 && len(rest) == 0 || part[0] == '.' && (len(part) == 1 || len(part) == 2 && part[1] == '.') {
			return false
		}
	}
	return true
}

// descriptor is a descriptor's number and what -y says of it, from "<" on.
func descriptor(arg []byte) (fd int64, note []byte, ok bool) {
	fd, rest, ok := number(arg)
	if !ok || fd > maxDescriptor {
		return 0, nil, false
	}
	if len(rest) > 0 && rest[0] == '<' {
		note = rest
	} else if len(rest) > 0 {
		return 0, nil, false
	}
	return fd, note, true
}

const maxDescriptor = 1<<31 - 1

// hasFlag reports whether a list of flags such as O_RDWR|O_CLOEXEC names one.
func hasFlag(flags []byte, name string) bool {
	for len(flags) >= len(name) {
		i := bytes.Index(flags, []byte(name))
		if i < 0 {
			return false
		}
		end := i + len(name)
		if (i == 0 || !isName[flags[i-1]]) && (end == len(flags) || !isName[flags[end]]) {
			return true
		}
		flags = flags[end:]
	}
	return false
}

// field is what stands behind name= in a struct, up to the next comma or the end.
func field(b []byte, name string) []byte {
	i := bytes.Index(b, []byte(name))
	if i < 0 {
		return nil
	}
	b = b[i+len(name):]
	if end := bytes.IndexAny(b, ",}"); end >= 0 {
		b = b[:end]
	}
	return b
}
