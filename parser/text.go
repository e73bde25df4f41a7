package parser

import (
	"bytes"
	"math"
	"strings"
	"unicode/utf8"

	"umwelt/diag"
)

const bom = "\ufeff"

// start checks the bytes of the source and prepares to read it.
func (p *parser) start() {
	b := p.src.Text
	if len(b) > MaxBytes {
		p.index(string(b[:MaxBytes]))
		p.errorf(diag.TooLarge, MaxBytes, MaxBytes, "the text is %d bytes long; at most %d are read", len(b), MaxBytes)
		p.stop()
		return
	}
	if bytes.HasPrefix(b, []byte("\xff\xfe")) || bytes.HasPrefix(b, []byte("\xfe\xff")) {
		p.index("")
		p.errorf(diag.Encoding, 0, 0, "the text is UTF-16; only UTF-8 is read")
		p.stop()
		return
	}
	p.index(string(b))
	if p.lines.inner != nil && !utf8.ValidString(p.text) || strings.IndexByte(p.text, 0) >= 0 || strings.IndexByte(p.text, '\r') >= 0 {
		p.checkBytes()
	}
}

// index makes text what is read, with its lines found.
func (p *parser) index(text string) {
	p.text = text
	if strings.HasPrefix(text, bom) {
		p.off = len(bom)
	}
	p.prev = int32(p.off)
	p.lines = newLineIndex(text, p.off)
	p.lexer.first = p.off
}

// checkBytes reports every run of NUL bytes, of bytes that are not UTF-8, and every
// carriage return that ends no line: editors disagree on what such a text shows.
func (p *parser) checkBytes() {
	s := p.text
	for i := 0; i < len(s) && !p.cut; {
		c := s[i]
		switch {
		case c == 0:
			j := i
			for j < len(s) && s[j] == 0 {
				j++
			}
			p.errorf(diag.Encoding, int32(i), int32(j), "a NUL byte")
			i = j
		case c == '\r':
			p.hasCR = true
			if i+1 == len(s) || s[i+1] != '\n' {
				p.errorf(diag.Encoding, int32(i), int32(i+1), "a carriage return without a line feed; lines end in LF or CRLF")
			}
			i++
		case c < utf8.RuneSelf:
			i++
		default:
			r, n := utf8.DecodeRuneInString(s[i:])
			if r != utf8.RuneError || n > 1 {
				i += n
				continue
			}
			j := i
			for j < len(s) && s[j] >= utf8.RuneSelf {
				if r, n := utf8.DecodeRuneInString(s[j:]); r != utf8.RuneError || n > 1 {
					break
				}
				j++
			}
			p.errorf(diag.Encoding, int32(i), int32(j), "bytes that are not UTF-8")
			i = j
		}
	}
}

// lineIndex finds the line and column of an offset. It is quick for offsets near the one
// asked before.
type lineIndex struct {
	starts []int32 // where each line starts, then a guard beyond every offset
	// inner counts the UTF-8 continuation bytes before each block of 64 bytes; nil where
	// the text is ASCII.
	inner []int32
	text  string
	last  int
}

func newLineIndex(text string, first int) lineIndex {
	starts := make([]int32, 1, 2+strings.Count(text, "\n"))
	starts[0] = int32(first)
	for i := first; ; {
		n := strings.IndexByte(text[i:], '\n')
		if n < 0 {
			break
		}
		i += n + 1
		starts = append(starts, int32(i))
	}
	x := lineIndex{starts: append(starts, math.MaxInt32), text: text}
	if isASCII(text) {
		return x
	}
	x.inner = make([]int32, len(text)/64+1)
	n := int32(0)
	for i := 0; i < len(text); i++ {
		if i%64 == 0 {
			x.inner[i/64] = n
		}
		if text[i]&0xC0 == 0x80 {
			n++
		}
	}
	if len(text)%64 == 0 {
		x.inner[len(text)/64] = n
	}
	return x
}

func isASCII(s string) bool {
	for ; len(s) >= 8; s = s[8:] {
		if (s[0]|s[1]|s[2]|s[3]|s[4]|s[5]|s[6]|s[7])&0x80 != 0 {
			return false
		}
	}
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func (x *lineIndex) pos(off int32) diag.Pos {
	i := x.last
	for off >= x.starts[i+1] {
		i++
	}
	for i > 0 && off < x.starts[i] {
		i--
	}
	x.last = i
	column := off - x.starts[i] + 1
	if x.inner != nil {
		column -= x.innerBefore(off) - x.innerBefore(x.starts[i])
	}
	return diag.Pos{Offset: off, Line: int32(i + 1), Column: max(column, 1)}
}

func (x *lineIndex) innerBefore(off int32) int32 {
	n := x.inner[off/64]
	for i := off &^ 63; i < off; i++ {
		if x.text[i]&0xC0 == 0x80 {
			n++
		}
	}
	return n
}
