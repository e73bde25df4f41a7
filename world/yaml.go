package world

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"umwelt/diag"
)

// Bounds of a world file. They keep time and memory bounded on hostile text.
const (
	maxFile     = 16 << 20
	maxSnapshot = 64 << 20
	maxDepth    = 64
	maxMarks    = 4 << 20 // characters that can begin a YAML node; in a snapshot twice that
	maxAliased  = 100_000 // nodes that aliases may add to those written
)

type nodeKind uint8

const (
	scalarNode nodeKind = iota
	listNode
	mapNode
)

func (k nodeKind) String() string { return [...]string{"a text", "a list", "a map"}[k] }

// node is a YAML value as this package reads it: every scalar is the text its author
// wrote, never a number, a date or a boolean.
type node struct {
	kind  nodeKind
	text  string
	null  bool // nothing was written
	plain bool // a scalar without quotes
	at    diag.Span
	items []*node // of a list
	pairs []pair  // of a map, in the order written; keys are distinct
	size  int     // nodes in the tree, for the bound on aliases
}

type pair struct {
	key   string
	keyAt diag.Span
	value *node
}

// get is the value of a key of a map, or nil.
func (n *node) get(key string) *node {
	for i := range n.pairs {
		if n.pairs[i].key == key {
			return n.pairs[i].value
		}
	}
	return nil
}

// isNull reports whether nothing was written, so that an empty section is an empty one.
func (n *node) isNull() bool { return n.kind == scalarNode && n.null }

// readYAML reads one YAML document. It returns nil with an error in l where the text is not
// YAML that this package accepts, or the document is no map.
func readYAML(src *diag.Source, l *diag.List) *node {
	if !checkText(src, l) {
		return nil
	}
	if looksMaterialized(src.Text) {
		if n := readWritten(src, l); n != nil {
			return n
		}
	}
	root := decode(src, l)
	if root == nil {
		return nil
	}
	r := reader{src: src, list: l, lines: lineStarts(src.Text), made: map[*yaml.Node]*node{}, templates: true}
	if root.Kind != yaml.DocumentNode || len(root.Content) == 0 {
		return &node{kind: mapNode, at: r.span(root, 0)}
	}
	n := r.read(root.Content[0], 0)
	if n == nil {
		return nil
	}
	if n.isNull() {
		n = &node{kind: mapNode, at: n.at}
	}
	if n.kind != mapNode {
		l.Errorf(diag.YAML, n.at, "a world file is a map of keys, not %s", n.kind)
		return nil
	}
	return n
}

// checkText refuses text that is over the bounds before a YAML reader sees it.
func checkText(src *diag.Source, l *diag.List) bool {
	text := src.Text
	whole := diag.Span{Source: src, Start: diag.Pos{Line: 1, Column: 1}, End: diag.Pos{Line: 1, Column: 1}}
	bytesBound, marksBound := maxFile, maxMarks
	if looksMaterialized(text) {
		bytesBound, marksBound = maxSnapshot, 2*maxMarks
	}
	if len(text) > bytesBound {
		l.Errorf(diag.TooLarge, whole, "the world file is %d bytes long; the bound is %d", len(text), bytesBound)
		return false
	}
	if i := bytes.IndexByte(text, 0); i >= 0 {
		l.Errorf(diag.Encoding, spanAt(src, i), "a NUL byte cannot stand in a world file")
		return false
	}
	if !utf8.Valid(text) {
		l.Errorf(diag.Encoding, spanAt(src, invalidAt(text)), "the text is not UTF-8")
		return false
	}
	marks, depth := 0, 0
	for i, c := range text {
		switch c {
		case '[', '{':
			marks++
			depth++
			if depth > 1<<16 {
				l.Errorf(diag.TooDeep, spanAt(src, i), "brackets are nested too deeply; the bound is %d", maxDepth)
				return false
			}
		case ']', '}':
			depth = max(0, depth-1)
		case ',', '\n', ':', '-', '?', '&', '*', '!', '#':
			marks++
		}
	}
	if marks > marksBound {
		l.Errorf(diag.TooLarge, whole, "the world file holds too many values; the bound is about %d", marksBound)
		return false
	}
	return true
}

// looksMaterialized reports whether a text begins as Write begins a snapshot. Those are
// written by the tool and may be larger than what people write.
func looksMaterialized(text []byte) bool {
	return bytes.HasPrefix(text, []byte("meta:\n")) || bytes.HasPrefix(text, []byte(`{"schema": "`+Schema+`"`))
}

func invalidAt(text []byte) int {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(text)
}

// spanAt is the span of one byte, its line and column counted from the start.
func spanAt(src *diag.Source, i int) diag.Span {
	before := src.Text[:min(i, len(src.Text))]
	start := bytes.LastIndexByte(before, '\n') + 1
	p := diag.Pos{
		Offset: int32(i),
		Line:   int32(bytes.Count(before, []byte{'\n'}) + 1),
		Column: int32(utf8.RuneCount(before[start:]) + 1),
	}
	return diag.Span{Source: src, Start: p, End: p}
}

var yamlLine = regexp.MustCompile(`line (\d+): `)

var parserMessage = regexp.MustCompile(`did not find expected (<|node content|'-' indicator|key|',' or)|found undefined tag handle`)

// decode runs the YAML library. It is known to panic on some malformed texts, so a panic
// counts as malformed text.
func decode(src *diag.Source, l *diag.List) (root *yaml.Node) {
	fail := func(err error) {
		at := diag.Span{Source: src, Start: diag.Pos{Line: 1, Column: 1}, End: diag.Pos{Line: 1, Column: 1}}
		message := strings.TrimPrefix(err.Error(), "yaml: ")
		if strings.HasPrefix(message, "unknown anchor ") {
			message = "an alias has no anchor before it" // the name may be a value without quotes
		}
		if m := yamlLine.FindStringSubmatchIndex(message); m != nil {
			line, _ := strconv.Atoi(message[m[2]:m[3]])
			message = message[:m[0]] + message[m[1]:]
			if parserMessage.MatchString(message) {
				line++ // the library counts the lines of these from 0
			}
			starts := lineStarts(src.Text)
			if line >= 1 && line <= len(starts) {
				p := diag.Pos{Offset: starts[line-1], Line: int32(line), Column: 1}
				at.Start, at.End = p, p
			}
		}
		l.Errorf(diag.YAML, at, "this is not YAML: %s", diag.Escape(message))
		root = nil
	}
	defer func() {
		if p := recover(); p != nil {
			fail(fmt.Errorf("malformed text (%v)", p))
		}
	}()
	d := yaml.NewDecoder(bytes.NewReader(src.Text))
	var doc, second yaml.Node
	if err := d.Decode(&doc); errors.Is(err, io.EOF) {
		return &doc
	} else if err != nil {
		fail(err)
		return nil
	}
	switch err := d.Decode(&second); {
	case errors.Is(err, io.EOF):
		return &doc
	case err != nil:
		fail(err)
	default:
		fail(fmt.Errorf("line %d: a world file is one document", second.Line))
	}
	return nil
}

// reader turns the library's nodes into this package's.
type reader struct {
	src       *diag.Source
	list      *diag.List
	lines     []int32
	made      map[*yaml.Node]*node // what anchored nodes became; nil while they are being made
	aliased   int
	templates bool
	last      diag.Pos // the place of the last span: nodes come in the order of the text
}

func (r *reader) read(y *yaml.Node, depth int) *node {
	at := r.span(y, len(y.Value))
	if depth > maxDepth {
		r.list.Errorf(diag.TooDeep, at, "values are nested deeper than %d", maxDepth)
		return nil
	}
	if y.Style&yaml.TaggedStyle != 0 {
		r.list.Errorf(diag.YAML, at, "the tag %s is not accepted: every value is read as the text it is", diag.Quote(y.Tag))
		return nil
	}
	if y.Kind == yaml.AliasNode {
		return r.alias(y, at)
	}
	n := &node{at: at, size: 1}
	if y.Anchor != "" {
		r.made[y] = nil
		defer func() { r.made[y] = n }()
	}
	switch y.Kind {
	case yaml.ScalarNode:
		n.text, n.plain = y.Value, y.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0
		n.null = n.plain && (n.text == "" || n.text == "~")
		if strings.IndexByte(n.text, 0) >= 0 {
			r.list.Errorf(diag.Encoding, at, "a NUL byte cannot stand in a value")
			return nil
		}
		r.template(n)
	case yaml.SequenceNode:
		n.kind, n.items = listNode, make([]*node, 0, len(y.Content))
		for _, c := range y.Content {
			if tooMany(r.list, at) {
				break
			}
			if item := r.read(c, depth+1); item != nil {
				n.items = append(n.items, item)
				n.size += item.size
			}
		}
	case yaml.MappingNode:
		n.kind, n.pairs = mapNode, make([]pair, 0, len(y.Content)/2)
		r.mapping(n, y, depth)
	default:
		r.list.Errorf(diag.YAML, at, "this is not a value")
		return nil
	}
	return n
}

func (r *reader) mapping(n *node, y *yaml.Node, depth int) {
	var seen map[string]diag.Span
	if len(y.Content) > 2 {
		seen = make(map[string]diag.Span, len(y.Content)/2)
	}
	for i := 0; i+1 < len(y.Content); i += 2 {
		k := y.Content[i]
		keyAt := r.span(k, len(k.Value))
		if tooMany(r.list, keyAt) {
			return
		}
		switch {
		case k.Tag == "!!merge" || k.Value == "<<" && k.Style == 0:
			r.list.Errorf(diag.YAML, keyAt, "the merge key << is not accepted: write the values out")
			continue
		case k.Kind != yaml.ScalarNode:
			r.list.Errorf(diag.YAML, keyAt, "a key is one text")
			continue
		case k.Style&yaml.TaggedStyle != 0:
			r.list.Errorf(diag.YAML, keyAt, "the tag %s is not accepted", diag.Quote(k.Tag))
			continue
		}
		if first, ok := seen[k.Value]; ok {
			d := r.list.Errorf(diag.Duplicate, keyAt, "the key %s stands twice in one map", diag.Quote(k.Value))
			d.Related = []diag.Related{{Span: first, Message: "first here"}}
			continue
		}
		if seen != nil {
			seen[k.Value] = keyAt
		}
		r.template(&node{text: k.Value, at: keyAt})
		if v := r.read(y.Content[i+1], depth+1); v != nil {
			n.pairs = append(n.pairs, pair{k.Value, keyAt, v})
			n.size += v.size + 1
		}
	}
}

// alias shares the anchored node, so that a chain of aliases costs no memory; the bound
// keeps whoever walks the tree from doing exponential work.
func (r *reader) alias(y *yaml.Node, at diag.Span) *node {
	target, ok := r.made[y.Alias]
	switch {
	case !ok:
		r.list.Errorf(diag.YAML, at, "the alias *%s has no anchor before it", diag.Escape(y.Value))
	case target == nil:
		r.list.Errorf(diag.YAML, at, "the alias *%s stands inside its own anchor", diag.Escape(y.Value))
	default:
		if r.aliased > maxAliased {
			return nil // reported already
		}
		if r.aliased += target.size; r.aliased > maxAliased {
			r.list.Errorf(diag.TooLarge, at, "aliases expand to more than %d values", maxAliased)
			return nil
		}
		return target
	}
	return nil
}

var placeholder = regexp.MustCompile(`\{\{.*?\}\}|\$\{[A-Za-z_][^}]*\}`)

// template warns about what looks like an unfilled template.
func (r *reader) template(n *node) {
	if !r.templates || !strings.Contains(n.text, "{") {
		return
	}
	if m := placeholder.FindString(n.text); m != "" {
		r.list.Warnf(diag.Template, n.at, "%s is kept as it is: a world file is not a template", diag.Quote(m))
	}
}

// span is where a node stands. width is its length in bytes where that is known to lie on
// one line.
func (r *reader) span(y *yaml.Node, width int) diag.Span {
	line, column := max(1, y.Line), max(1, y.Column)
	s := diag.Span{Source: r.src}
	s.Start = diag.Pos{Line: int32(line), Column: int32(column)}
	if line <= len(r.lines) {
		i, c := int(r.lines[line-1]), 1
		if int(r.last.Line) == line && int(r.last.Column) <= column {
			i, c = int(r.last.Offset), int(r.last.Column)
		}
		for ; c < column && i < len(r.src.Text); c++ {
			_, n := utf8.DecodeRune(r.src.Text[i:])
			i += n
		}
		s.Start.Offset = int32(i)
		r.last = s.Start
	}
	s.End = s.Start
	if y.Kind == yaml.ScalarNode && y.Style == 0 && bytes.HasPrefix(r.src.Text[s.Start.Offset:], []byte(y.Value)) {
		s.End.Offset += int32(width)
		s.End.Column += int32(utf8.RuneCountInString(y.Value))
	}
	return s
}

func lineStarts(text []byte) []int32 {
	starts := []int32{0}
	for i, c := range text {
		if c == '\n' {
			starts = append(starts, int32(i+1))
		}
	}
	return starts
}

// scalar reads a text. A map with the only key "base64" stands for bytes that YAML cannot
// hold, such as a file name that is not UTF-8.
func (n *node) scalar() (string, bool) {
	if n.kind == scalarNode {
		return n.text, !n.null
	}
	if n.kind == mapNode && len(n.pairs) == 1 && n.pairs[0].key == "base64" && n.pairs[0].value.kind == scalarNode {
		b, err := base64.StdEncoding.Strict().DecodeString(n.pairs[0].value.text)
		return string(b), err == nil && bytes.IndexByte(b, 0) < 0
	}
	return "", false
}
