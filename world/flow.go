package world

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"umwelt/diag"
)

// readWritten reads a snapshot in the form in which Write writes it, many times faster than
// a YAML reader. Whatever it accepts it reads as that would, places included; for all other
// text it returns nil, and the YAML reader has the word.
func readWritten(src *diag.Source, l *diag.List) *node {
	f := flow{src: src, text: string(src.Text), pos: diag.Pos{Line: 1, Column: 1}}
	f.reader = reader{src: src, list: &f.found, templates: true}
	var root *node
	if strings.HasPrefix(f.text, "{") {
		f.lines = true
		root = f.value(0)
		f.blanks()
	} else {
		root = f.document()
	}
	if f.failed || f.text == "" || f.at < len(f.text) || len(f.found) >= maxProblems {
		return nil
	}
	*l = append(*l, f.found...)
	return root
}

// flow is the reading of one text.
type flow struct {
	reader
	src    *diag.Source
	found  diag.List
	text   string
	at     int
	pos    diag.Pos // of text[at]; the offset is not kept
	lines  bool     // a value may go over several lines
	failed bool
	slab   []node
}

// longestKey is how long a key may be on one line with its value; YAML has a bound, too.
const longestKey = 1000

func (f *flow) fail() *node {
	f.failed = true
	return nil
}

func (f *flow) rest() string { return f.text[f.at:] }

// take moves on by one token of n bytes without a line break.
func (f *flow) take(n int) {
	for i := f.at; i < f.at+n; i++ {
		if f.text[i]&0xc0 != 0x80 {
			f.pos.Column++
		}
	}
	f.at += n
}

// accept takes a token if it comes next.
func (f *flow) accept(token string) bool {
	if !strings.HasPrefix(f.rest(), token) {
		return false
	}
	if token == "\n" {
		f.at++
		f.pos.Line, f.pos.Column = f.pos.Line+1, 1
	} else {
		f.take(len(token))
	}
	return true
}

func (f *flow) blanks() {
	for f.accept(" ") || f.lines && f.accept("\n") {
	}
}

func (f *flow) span() diag.Span {
	p := f.pos
	p.Offset = int32(f.at)
	return diag.Span{Source: f.src, Start: p, End: p}
}

func (f *flow) node(kind nodeKind, at diag.Span) *node {
	if len(f.slab) == 0 {
		f.slab = make([]node, 256)
	}
	n := &f.slab[0]
	f.slab = f.slab[1:]
	n.kind, n.at, n.size = kind, at, 1
	return n
}

// document reads top-level keys, each with a value on its line, with a map of one key a
// line, or with a list of such maps.
func (f *flow) document() *node {
	root := f.node(mapNode, f.span())
	for f.at < len(f.text) && !f.failed {
		key, keyAt := f.key()
		if f.failed {
			return nil
		}
		if f.accept(" ") {
			f.add(root, key, keyAt, f.line(1))
			continue
		}
		if !f.accept("\n") {
			return f.fail()
		}
		var value *node
		if strings.HasPrefix(f.rest(), "- ") {
			value = f.node(listNode, f.span())
			for f.accept("- ") && !f.failed {
				if item := f.block(false); item != nil {
					value.items = append(value.items, item)
					value.size += item.size
				}
			}
		} else {
			value = f.block(true)
		}
		f.add(root, key, keyAt, value)
	}
	return root
}

// block reads a map of one key a line, each indented by two blanks; those of the first have
// been read where indented is false.
func (f *flow) block(indented bool) *node {
	if indented && !f.accept("  ") {
		return f.fail()
	}
	n := f.node(mapNode, f.span())
	for !f.failed {
		key, at := f.key()
		if !f.accept(" ") {
			return f.fail()
		}
		f.add(n, key, at, f.line(2))
		if !f.accept("  ") {
			return n
		}
	}
	return nil
}

// line reads a value and the end of its line.
func (f *flow) line(depth int) *node {
	n := f.value(depth)
	if !f.accept("\n") {
		return f.fail()
	}
	return n
}

// key reads a key and its colon.
func (f *flow) key() (string, diag.Span) {
	from := f.at
	n := node{at: f.span()}
	if !f.scalar(&n) || f.at-from > longestKey || !f.accept(":") || f.at < len(f.text) && f.text[f.at] != ' ' && f.text[f.at] != '\n' {
		f.fail()
		return "", diag.Span{}
	}
	return n.text, n.at
}

// add enters a pair. A key that stands twice is for the YAML reader to report.
func (f *flow) add(n *node, key string, keyAt diag.Span, value *node) {
	if f.failed || n.get(key) != nil || len(n.pairs) > maxPairs {
		f.fail()
		return
	}
	if n.pairs == nil {
		n.pairs = make([]pair, 0, 4)
	}
	n.pairs = append(n.pairs, pair{key, keyAt, value})
	n.size += value.size + 1
}

// maxPairs keeps the search for keys that stand twice short. Longer maps are for the YAML
// reader.
const maxPairs = 1000

func (f *flow) value(depth int) *node {
	if depth > maxDepth || f.failed {
		return f.fail()
	}
	at := f.span()
	switch {
	case f.accept("["):
		n := f.node(listNode, at)
		f.members("]", func() {
			if item := f.value(depth + 1); item != nil {
				n.items = append(n.items, item)
				n.size += item.size
			}
		})
		return n
	case f.accept("{"):
		n := f.node(mapNode, at)
		f.members("}", func() {
			key, keyAt := f.key()
			f.blanks()
			if value := f.value(depth + 1); value != nil {
				f.add(n, key, keyAt, value)
			}
		})
		return n
	}
	n := f.node(scalarNode, at)
	if !f.scalar(n) {
		return f.fail()
	}
	return n
}

// members reads what stands between brackets, of which the first has been read.
func (f *flow) members(end string, one func()) {
	f.blanks()
	if f.accept(end) {
		return
	}
	for !f.failed {
		one()
		f.blanks()
		switch {
		case f.accept(end):
			return
		case !f.accept(","):
			f.fail()
		}
		f.blanks()
	}
}

// scalar reads a text between double quotes, or a word, into n.
func (f *flow) scalar(n *node) bool {
	if strings.HasPrefix(f.rest(), `"`) {
		if !f.quoted(n) {
			return false
		}
	} else {
		rest, end := f.rest(), 0
		for end < len(rest) && wordByte(rest[end], end == 0) {
			end++
		}
		if end == 0 || end < len(rest) && strings.IndexByte(",:]} \n", rest[end]) < 0 {
			return false
		}
		n.text, n.plain = rest[:end], true
		f.take(end)
		n.at.End = f.span().Start
	}
	f.template(n)
	return true
}

// wordByte reports whether a byte may stand, or stand first, in a word that every YAML reader
// takes for the text it is.
func wordByte(c byte, first bool) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '/' || !first && (c == '.' || c == '-')
}

// quoted reads a text between double quotes into n.
func (f *flow) quoted(n *node) bool {
	rest := f.rest()
	for i := 1; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == '"':
			n.text = rest[1:i]
			f.take(i + 1)
			return true
		case c < ' ' || c > '~' || c == '\\':
			return f.unquote(n, rest, i)
		}
	}
	return false
}

// unquote is quoted from the first byte on that does not stand for itself.
func (f *flow) unquote(n *node, rest string, i int) bool {
	var b strings.Builder
	b.WriteString(rest[1:i])
	for i < len(rest) {
		r, size := utf8.DecodeRuneInString(rest[i:])
		switch {
		case r == '"':
			n.text = b.String()
			f.take(i + 1)
			return true
		case r != '\\' && (r == ' ' || unicode.IsPrint(r)):
			b.WriteRune(r)
			i += size
		case r != '\\' || i+1 == len(rest):
			return false
		default:
			r, size = escape(rest[i+1:])
			if size == 0 {
				return false
			}
			b.WriteRune(r)
			i += 1 + size
		}
	}
	return false
}

// escape reads what follows a backslash. size is 0 for what Write does not write.
func escape(s string) (r rune, size int) {
	digits := 0
	switch s[0] {
	case '"', '\\':
		return rune(s[0]), 1
	case 'n':
		return '\n', 1
	case 't':
		return '\t', 1
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	default:
		return 0, 0
	}
	if len(s) <= digits {
		return 0, 0
	}
	v, err := strconv.ParseUint(s[1:1+digits], 16, 32)
	if err != nil || v == 0 || v > unicode.MaxRune || v >= 0xd800 && v < 0xe000 {
		return 0, 0
	}
	return rune(v), 1 + digits
}
