package roster

import "unicode/utf8"

// stride is how many code points lie between two marks of an index.
const stride = 64

// index finds byte offsets of lines and columns in constant time, however long a line is.
type index struct {
	text  []byte
	lines []int32 // per line, the code points before it
	marks []int32 // the byte offset of every stride-th code point
}

// newIndex indexes a text. Lines are counted as YAML counts them.
func newIndex(text []byte) *index {
	x := &index{text: text, lines: []int32{0}}
	points := int32(0)
	for i := 0; i < len(text); points++ {
		if points%stride == 0 {
			x.marks = append(x.marks, int32(i))
		}
		c, size := utf8.DecodeRune(text[i:])
		i += size
		switch {
		case c == '\r' && i < len(text) && text[i] == '\n':
		case c == '\n' || c == '\r' || c == '\u0085' || c == '\u2028' || c == '\u2029':
			x.lines = append(x.lines, points+1)
		}
	}
	return x
}

// offset is the byte offset of a line and column, both from 1; the end of the text where
// it has no such place.
func (x *index) offset(line, column int) int {
	if line < 1 || line > len(x.lines) || column < 1 {
		return len(x.text)
	}
	point := int(x.lines[line-1]) + column - 1
	if point/stride >= len(x.marks) {
		return len(x.text)
	}
	at := int(x.marks[point/stride])
	for range point % stride {
		_, size := utf8.DecodeRune(x.text[at:])
		at += size
	}
	return at
}
