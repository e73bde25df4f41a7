package parser

import (
	"strings"

	"umwelt/diag"
)

// kind is what a token is. A token of one ASCII character that is none of these has the
// character as its kind.
type kind uint8

const (
	tEOF    kind = iota + 1
	tIdent       // a name
	tAt          // "@name"
	tHash        // "#name"
	tString      // with its quotes
	tNumber      // with its unit; aux is where the unit starts
	tURL         // "url(" and unquoted text up to ")"
	tBad         // a quote or name whose fault has been reported
	tOther       // a control character
)

type token struct {
	start, end int32
	aux        int32 // of "(" and "[": the index of the bracket that closes it
	kind       kind
	flags      uint8
}

// What stands before a token.
const (
	fSpace   uint8 = 1 << iota // white space
	fNewline                   // white space with a line end
	fComment                   // a comment
)

type comment struct {
	start, end int32
	before     int // the index of the token that follows it
}

// lexer is the part of the parser that reads tokens into the window.
type lexer struct {
	off         int // the next byte to read
	first       int // where the text starts behind a byte order mark
	cut         bool
	hasCR       bool
	count       int // tokens and comments so far
	toks        []token
	comments    []comment
	nextComment int // the first comment of the window not yet used
	quietUntil  int // up to here a string was searched for its end, and that is reported
}

// lex appends the next token to the window, and the comments before it.
func (p *parser) lex() {
	s, i := p.text, p.off
	// fresh: nothing but blanks stands before i on its line. An escape may end in a line end.
	fresh := i == p.first || i > 0 && s[i-1] == '\n'
	var flags uint8
	for i < len(s) {
		c := s[i]
		if is(c, cSpace) {
			flags |= fSpace
			if c == '\n' {
				flags |= fNewline
				fresh = true
			}
			i++
			continue
		}
		if c != '/' && c != '#' {
			break
		}
		end := p.commentAt(i, fresh)
		if end < 0 {
			break
		}
		if p.cut {
			i = len(s)
			break
		}
		p.comments = append(p.comments, comment{int32(i), int32(end), len(p.toks)})
		flags |= fComment
		fresh = false
		i = end
		p.count++ // it counts twice, since it is a node by itself
		if p.tally(i); p.cut {
			i = len(s)
		}
	}
	p.off = i // so that an error may move it to the end
	p.toks = append(p.toks, token{start: int32(i), end: int32(i), kind: tEOF, flags: flags, aux: -1})
	if i >= len(s) {
		return
	}
	t := &p.toks[len(p.toks)-1]
	end := p.tokenAt(i, t)
	t.end = int32(end)
	if !p.cut {
		p.off = end
	}
	p.tally(i)
}

// tally counts one more token or comment and stops the text where there are too many.
func (p *parser) tally(at int) {
	if p.count++; p.count >= MaxTokens && !p.cut {
		p.tooManyTokens(at)
	}
}

func (p *parser) tooManyTokens(at int) {
	p.errorf(diag.TooLarge, int32(at), int32(at), "more than %d words and signs; the rest of the file is not read", MaxTokens)
	p.stop()
}

// commentAt is the end of the comment at i, or -1 where none begins there.
func (p *parser) commentAt(i int, fresh bool) int {
	s := p.text
	switch {
	case s[i] == '/' && i+1 < len(s) && s[i+1] == '*':
		n := strings.Index(s[i+2:], "*/")
		if n < 0 {
			p.errorf(diag.Unterminated, int32(i), int32(i+2), "the comment that begins here is never closed")
			p.stop()
			return len(s)
		}
		return i + 2 + n + 2
	case s[i] == '/' && i+1 < len(s) && s[i+1] == '/',
		s[i] == '#' && fresh && (i+1 == len(s) || is(s[i+1], cSpace) || s[i+1] == '!'):
		if n := strings.IndexByte(s[i:], '\n'); n >= 0 {
			return i + n
		}
		return len(s)
	}
	return -1
}

// tokenAt reads the token at i into t and gives its end.
func (p *parser) tokenAt(i int, t *token) int {
	s := p.text
	c := s[i]
	switch {
	case is(c, cNameStart):
		return p.identAt(i, t)
	case is(c, cDigit):
		return p.numberAt(i, t)
	}
	switch c {
	case '"', '\'':
		return p.stringAt(i, t)
	case '-', '+', '.':
		if startsNumber(s, i) {
			return p.numberAt(i, t)
		}
		if c == '-' && startsIdent(s, i) {
			return p.identAt(i, t)
		}
	case '\\':
		if isEscape(s, i) {
			return p.identAt(i, t)
		}
		t.kind = tBad
		p.errorf(diag.Syntax, int32(i), int32(i+1), `a \ at the end of a line means nothing here`).
			Hint = "put text of several lines in quotes"
		return i + 1
	case '#':
		if i+1 < len(s) && (is(s[i+1], cName) || isEscape(s, i+1)) {
			t.kind = tHash
			return nameEnd(s, i+1)
		}
	case '@':
		if startsIdent(s, i+1) {
			t.kind = tAt
			return nameEnd(s, i+1)
		}
	}
	t.kind = kind(c)
	if c < ' ' || c == 0x7f {
		t.kind = tOther
	}
	return i + 1
}

// startsIdent reports whether an identifier begins at i.
func startsIdent(s string, i int) bool {
	if i < len(s) && s[i] == '-' {
		i++
		if i < len(s) && s[i] == '-' {
			return true
		}
	}
	return i < len(s) && (is(s[i], cNameStart) || isEscape(s, i))
}

func startsNumber(s string, i int) bool {
	if s[i] == '+' || s[i] == '-' {
		i++
	}
	if i < len(s) && s[i] == '.' {
		i++
	}
	return i < len(s) && is(s[i], cDigit)
}

// nameEnd is the end of the run of name characters and escapes that starts at i.
func nameEnd(s string, i int) int {
	for i < len(s) {
		if is(s[i], cName) {
			i++
		} else if isEscape(s, i) {
			i = skipEscape(s, i)
		} else {
			break
		}
	}
	return i
}

func (p *parser) identAt(i int, t *token) int {
	s := p.text
	t.kind = tIdent
	end := nameEnd(s, i)
	if end-i == 3 && end < len(s) && s[end] == '(' && strings.EqualFold(s[i:end], "url") {
		return p.urlAt(end, t)
	}
	return end
}

// urlAt reads on behind "url", whose parenthesis stands at open. Quoted content makes it
// an ordinary function. Unquoted content runs to ")" on the same line.
func (p *parser) urlAt(open int, t *token) int {
	s := p.text
	i := open + 1
	for i < len(s) && is(s[i], cSpace) {
		i++
	}
	if i < len(s) && (s[i] == '"' || s[i] == '\'') {
		return open
	}
	for i < len(s) {
		switch s[i] {
		case ')':
			t.kind = tURL
			return i + 1
		case '\\':
			if isEscape(s, i) {
				i = skipEscape(s, i)
				continue
			}
			i++
		case '(', '"', '\'', '\n':
			t.kind = tBad
			p.errorf(diag.Syntax, t.start, int32(open+1), "the address that begins here has no closing parenthesis or holds a quote, parenthesis or line end").
				Hint = "put the address in quotes"
			return open
		default:
			i++
		}
	}
	t.kind = tBad
	p.errorf(diag.Unterminated, t.start, int32(open+1), "the url( that begins here is never closed")
	return open
}

// numberAt reads an optional sign, digits with an optional fraction and exponent, and a
// unit: "%" or a name.
func (p *parser) numberAt(i int, t *token) int {
	s := p.text
	t.kind = tNumber
	if s[i] == '+' || s[i] == '-' {
		i++
	}
	i = digitsEnd(s, i)
	if i+1 < len(s) && s[i] == '.' && is(s[i+1], cDigit) {
		i = digitsEnd(s, i+1)
	}
	if i+1 < len(s) && (s[i] == 'e' || s[i] == 'E') {
		j := i + 1
		if s[j] == '+' || s[j] == '-' {
			j++
		}
		if j < len(s) && is(s[j], cDigit) {
			i = digitsEnd(s, j)
		}
	}
	t.aux = int32(i)
	if i < len(s) && s[i] == '%' {
		return i + 1
	}
	if startsIdent(s, i) {
		return nameEnd(s, i)
	}
	return i
}

func digitsEnd(s string, i int) int {
	for i < len(s) && is(s[i], cDigit) {
		i++
	}
	return i
}

// stringAt reads a string. Where its line ends first, the quote alone is a bad token and
// what follows is read as though it were not there: that leaves the brackets and the
// semicolon of the line in their places.
func (p *parser) stringAt(i int, t *token) int {
	s := p.text
	quote := s[i]
	j := i + 1
	for j < len(s) {
		switch c := s[j]; c {
		case quote:
			t.kind = tString
			return j + 1
		case '\\':
			j = skipEscape(s, j)
			continue
		case '\n', '\r', '\f':
			return p.badString(i, j, t)
		}
		j++
	}
	return p.badString(i, len(s), t)
}

func (p *parser) badString(i, end int, t *token) int {
	t.kind = tBad
	if i >= p.quietUntil {
		d := p.errorf(diag.Unterminated, int32(i), int32(i+1), "the string that begins here is not closed on its line")
		if p.text[i] == '\'' {
			d.Hint = `an apostrophe begins a string; put text that holds one in "double quotes"`
		}
	}
	p.quietUntil = max(p.quietUntil, end)
	return i + 1
}
