package parser

import (
	"strings"
	"unicode/utf8"
)

const (
	cSpace     uint8 = 1 << iota // blank, tab, line ends, form feed
	cNameStart                   // may start an identifier
	cName                        // may stand in one
	cDigit
	cHex
)

var class = func() (t [256]uint8) {
	for _, c := range []byte(" \t\n\r\f") {
		t[c] = cSpace
	}
	for c := '0'; c <= '9'; c++ {
		t[c] = cDigit | cHex | cName
	}
	for c := 'a'; c <= 'z'; c++ {
		t[c] = cNameStart | cName
		t[c-'a'+'A'] = cNameStart | cName
	}
	for c := 'a'; c <= 'f'; c++ {
		t[c] |= cHex
		t[c-'a'+'A'] |= cHex
	}
	t['_'] = cNameStart | cName
	t['-'] = cName
	for c := utf8.RuneSelf; c < 256; c++ {
		t[c] = cNameStart | cName
	}
	return t
}()

func is(c byte, k uint8) bool { return class[c]&k != 0 }

// isEscape reports whether the backslash at i begins an escape outside a string.
func isEscape(s string, i int) bool {
	return i+1 < len(s) && s[i] == '\\' && s[i+1] != '\n' && s[i+1] != '\r' && s[i+1] != '\f'
}

// skipEscape is the end of the escape whose backslash stands at i. A backslash before a
// line end, as a string may have, is one too.
func skipEscape(s string, i int) int {
	i++
	if i >= len(s) {
		return i
	}
	if !is(s[i], cHex) {
		if s[i] == '\r' && i+1 < len(s) && s[i+1] == '\n' {
			i++
		}
		_, n := utf8.DecodeRuneInString(s[i:])
		return i + n
	}
	for n := 0; n < 6 && i < len(s) && is(s[i], cHex); n++ {
		i++
	}
	if i < len(s) && is(s[i], cSpace) {
		if s[i] == '\r' && i+1 < len(s) && s[i+1] == '\n' {
			i++
		}
		i++
	}
	return i
}

// decode resolves the escapes of an identifier or, with inString, of what stands between
// the quotes of a string.
func decode(s string, inString bool) string {
	at := strings.IndexByte(s, '\\')
	if at < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for at >= 0 {
		b.WriteString(s[:at])
		end := skipEscape(s, at)
		writeEscape(&b, s[at+1:end], inString)
		s = s[end:]
		at = strings.IndexByte(s, '\\')
	}
	b.WriteString(s)
	return b.String()
}

// writeEscape writes what an escape stands for; body is it without the backslash.
func writeEscape(b *strings.Builder, body string, inString bool) {
	switch {
	case body == "":
	case is(body[0], cHex):
		r := rune(0)
		for i := 0; i < len(body) && is(body[i], cHex); i++ {
			r = r<<4 | rune(hexValue(body[i]))
		}
		if r == 0 || !utf8.ValidRune(r) {
			r = utf8.RuneError
		}
		b.WriteRune(r)
	case inString && body == "n":
		b.WriteByte('\n')
	case inString && body == "t":
		b.WriteByte('\t')
	case inString && (body[0] == '\n' || body[0] == '\r' || body[0] == '\f'):
	default:
		b.WriteString(body)
	}
}

func hexValue(c byte) byte {
	switch {
	case c <= '9':
		return c - '0'
	case c >= 'a':
		return c - 'a' + 10
	}
	return c - 'A' + 10
}
