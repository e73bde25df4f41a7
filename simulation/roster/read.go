package roster

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strconv"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"umwelt/diag"
)

// The bounds of a document and of what is said about it.
const (
	maxText   = 8 << 20
	maxErrors = 200
)

// Read reads a roster document. It accepts only what every reader of YAML takes the same
// way: one document; no anchors, aliases, merge keys or tags; no key twice; no plain word
// or number that versions of YAML disagree about. Unknown keys, missing keys and values
// of the wrong kind are errors.
//
// The roster is nil where there are errors. One that was read still has to be validated.
func Read(src *diag.Source) (*Roster, diag.List) {
	var list diag.List
	doc := parse(src, &list)
	if doc == nil {
		return nil, list
	}
	r := &reader{list: &list, src: src, index: newIndex(src.Text)}
	r.sane(doc, 0)
	if list.HasErrors() {
		return nil, list
	}
	top := r.mapping(doc, "the document", []string{"variables"}, []string{"variables"})
	if top == nil {
		return nil, list
	}
	out := &Roster{}
	if n := top.node("variables"); n != nil {
		out = r.roster(n)
	}
	if list.HasErrors() {
		return nil, list
	}
	return out, list
}

// parse makes a node of the text, or reports why it cannot.
func parse(src *diag.Source, list *diag.List) *yaml.Node {
	start := diag.Pos{Line: 1, Column: 1}
	at := diag.Span{Source: src, Start: start, End: start}
	switch {
	case len(src.Text) > maxText:
		list.Errorf(diag.TooLarge, at, "the roster is larger than %d bytes", maxText)
		return nil
	case !utf8.Valid(src.Text) || bytes.IndexByte(src.Text, 0) >= 0:
		list.Errorf(diag.Encoding, at, "the roster is not UTF-8 text")
		return nil
	}
	dec := yaml.NewDecoder(bytes.NewReader(src.Text))
	var doc, more yaml.Node
	if err := dec.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			list.Errorf(diag.YAML, at, "the roster is empty")
		} else {
			list.Errorf(diag.YAML, errorPlace(src, err), "not YAML: %s", errorText(err))
		}
		return nil
	}
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		list.Errorf(diag.YAML, at, "a roster is exactly one YAML document")
		return nil
	}
	return doc.Content[0]
}

// yamlError is what the YAML library says of broken text: "yaml: line 3: did not find …".
var yamlError = regexp.MustCompile(`^yaml: (?:line ([0-9]+): )?`)

// errorPlace is the start of the line that an error of the YAML library names.
func errorPlace(src *diag.Source, err error) diag.Span {
	line := 1
	if m := yamlError.FindStringSubmatch(err.Error()); m != nil && m[1] != "" {
		line, _ = strconv.Atoi(m[1])
	}
	at := diag.Pos{Line: int32(line), Column: 1, Offset: int32(newIndex(src.Text).offset(line, 1))}
	return diag.Span{Source: src, Start: at, End: at}
}

func errorText(err error) string { return yamlError.ReplaceAllString(err.Error(), "") }

type reader struct {
	list  *diag.List
	src   *diag.Source
	index *index
}

// full reports whether enough errors were found; hostile text could give millions.
func (r *reader) full() bool { return len(*r.list) >= maxErrors }

// sane refuses what readers of YAML disagree about, all through the tree.
func (r *reader) sane(n *yaml.Node, depth int) bool {
	switch {
	case depth > maxDepth+8:
		r.list.Errorf(diag.TooDeep, r.at(n), "the roster is nested too deep")
		return false
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		r.list.Errorf(diag.YAML, r.at(n), "anchors and aliases are not read")
		return false
	case n.Style&yaml.TaggedStyle != 0:
		r.list.Errorf(diag.YAML, r.at(n), "tags are not read")
		return false
	}
	for _, c := range n.Content {
		if !r.sane(c, depth+1) {
			return false
		}
	}
	return true
}

// at is the place of a node. YAML readers count columns in code points, as diagnostics do.
func (r *reader) at(n *yaml.Node) diag.Span {
	offset := r.index.offset(n.Line, n.Column)
	start := diag.Pos{Line: int32(n.Line), Column: int32(n.Column), Offset: int32(offset)}
	end := start
	if n.Kind == yaml.ScalarNode && n.Style == 0 && bytes.HasPrefix(r.src.Text[offset:], []byte(n.Value)) {
		end.Offset += int32(len(n.Value))
		end.Column += int32(utf8.RuneCountInString(n.Value))
	}
	return diag.Span{Source: r.src, Start: start, End: end}
}
