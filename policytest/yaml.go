package policytest

import (
	"bytes"
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

// Bounds of a test file.
const (
	maxFile  = 1 << 20
	maxDepth = 16
)

type nodeKind uint8

const (
	scalarNode nodeKind = iota
	listNode
	mapNode
)

func (k nodeKind) String() string { return [...]string{"a text", "a list", "a map"}[k] }

// node is a YAML value. Every scalar is the text that its author wrote, never a number or
// a boolean.
type node struct {
	kind  nodeKind
	text  string
	null  bool
	at    diag.Span
	items []*node
	pairs []pair
}

type pair struct {
	key   string
	at    diag.Span
	value *node
}

// isEmpty reports whether nothing was written.
func (n *node) isEmpty() bool { return n.kind == scalarNode && n.null }

// read reads one YAML document that is a map. It is nil, with an error in l, for anything
// else. Aliases and tags are refused: a test says what it means in place.
func read(src *diag.Source, l *diag.List) *node {
	at := func(i int) diag.Span { return spanAt(src, i) }
	switch i := bytes.IndexByte(src.Text, 0); {
	case len(src.Text) > maxFile:
		l.Errorf(diag.TooLarge, at(0), "the test file is %d bytes long; the bound is %d", len(src.Text), maxFile)
		return nil
	case i >= 0:
		l.Errorf(diag.Encoding, at(i), "a NUL byte cannot stand in a test file")
		return nil
	case !utf8.Valid(src.Text):
		l.Errorf(diag.Encoding, at(invalidAt(src.Text)), "the text is not UTF-8")
		return nil
	}
	doc, err := decode(src.Text)
	if err != nil {
		line, message := place(err)
		l.Errorf(diag.YAML, spanOf(src, line, 1), "this is not YAML: %s", diag.Escape(message))
		return nil
	}
	r := reader{src: src, list: l}
	if doc == nil {
		l.Errorf(diag.YAML, at(0), "the test file is empty")
		return nil
	}
	n := r.read(doc, 0)
	if n != nil && n.kind != mapNode {
		l.Errorf(diag.YAML, n.at, "a test file is a map of keys, not %s", n.kind)
		return nil
	}
	return n
}

// decode runs the YAML library. It is known to panic on some malformed texts, so a panic
// counts as malformed text.
func decode(text []byte) (root *yaml.Node, err error) {
	defer func() {
		if p := recover(); p != nil {
			root, err = nil, fmt.Errorf("malformed text (%v)", p)
		}
	}()
	d := yaml.NewDecoder(bytes.NewReader(text))
	var doc, second yaml.Node
	if err := d.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	switch err := d.Decode(&second); {
	case err == nil:
		return nil, fmt.Errorf("yaml: line %d: a test file is one document", second.Line)
	case !errors.Is(err, io.EOF):
		return nil, err
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) == 0 {
		return nil, nil
	}
	return doc.Content[0], nil
}

var yamlLine = regexp.MustCompile(`line (\d+): `)

// place takes the line out of an error of the YAML library.
func place(err error) (line int, message string) {
	message = strings.TrimPrefix(err.Error(), "yaml: ")
	if m := yamlLine.FindStringSubmatchIndex(message); m != nil {
		line, _ = strconv.Atoi(message[m[2]:m[3]])
		message = message[:m[0]] + message[m[1]:]
	}
	return max(1, line), message
}

type reader struct {
	src  *diag.Source
	list *diag.List
}

func (r *reader) read(y *yaml.Node, depth int) *node {
	at := spanOf(r.src, y.Line, y.Column)
	switch {
	case depth > maxDepth:
		r.list.Errorf(diag.TooDeep, at, "values are nested deeper than %d", maxDepth)
		return nil
	case y.Style&yaml.TaggedStyle != 0:
		r.list.Errorf(diag.YAML, at, "the tag %s is not accepted: every value is read as the text it is", diag.Quote(y.Tag))
		return nil
	case y.Kind == yaml.AliasNode || y.Anchor != "":
		r.list.Errorf(diag.YAML, at, "anchors and aliases are not accepted")
		return nil
	}
	n := &node{at: at}
	switch y.Kind {
	case yaml.ScalarNode:
		plain := y.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0
		n.text = y.Value
		n.null = plain && (n.text == "" || n.text == "~")
	case yaml.SequenceNode:
		n.kind = listNode
		for _, c := range y.Content {
			if item := r.read(c, depth+1); item != nil {
				n.items = append(n.items, item)
			}
		}
	case yaml.MappingNode:
		n.kind = mapNode
		r.mapping(n, y, depth)
	default:
		r.list.Errorf(diag.YAML, at, "this is not a value")
		return nil
	}
	return n
}

func (r *reader) mapping(n *node, y *yaml.Node, depth int) {
	seen := map[string]diag.Span{}
	for i := 0; i+1 < len(y.Content); i += 2 {
		k := y.Content[i]
		at := spanOf(r.src, k.Line, k.Column)
		switch {
		case k.Tag == "!!merge", k.Value == "<<" && k.Style == 0:
			r.list.Errorf(diag.YAML, at, "merge keys are not accepted")
			continue
		case k.Kind != yaml.ScalarNode, k.Style&yaml.TaggedStyle != 0, k.Anchor != "":
			r.list.Errorf(diag.YAML, at, "a key must be a text")
			continue
		}
		if first, twice := seen[k.Value]; twice {
			d := r.list.Errorf(diag.Duplicate, at, "the key %s stands twice", diag.Quote(k.Value))
			d.Related = []diag.Related{{Span: first, Message: "first here"}}
			continue
		}
		seen[k.Value] = at
		if v := r.read(y.Content[i+1], depth+1); v != nil {
			n.pairs = append(n.pairs, pair{k.Value, at, v})
		}
	}
}

// spanOf is a place of the text, given its line and column, both from 1.
func spanOf(src *diag.Source, line, column int) diag.Span {
	offset := 0
	for n := 1; n < line; n++ {
		i := bytes.IndexByte(src.Text[offset:], '\n')
		if i < 0 {
			break
		}
		offset += i + 1
	}
	for c := 1; c < column && offset < len(src.Text); c++ {
		_, n := utf8.DecodeRune(src.Text[offset:])
		offset += n
	}
	p := diag.Pos{Offset: int32(offset), Line: int32(max(1, line)), Column: int32(max(1, column))}
	return diag.Span{Source: src, Start: p, End: p}
}

// spanAt is a place of the text, given its offset.
func spanAt(src *diag.Source, i int) diag.Span {
	before := src.Text[:min(i, len(src.Text))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return spanOf(src, bytes.Count(before, []byte{'\n'})+1, utf8.RuneCount(before[start:])+1)
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
