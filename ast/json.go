package ast

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"umwelt/diag"
)

// Schema names the shape of Document.
const Schema = "umwelt.parse/1"

// Document is the tree of a view as JSON. Fields that do not apply to a kind, and those
// that are empty, are left out.
type Document struct {
	Schema     string  `json:"schema"`
	File       string  `json:"file"`
	Statements []*Item `json:"statements"`
}

// Item is one node. Kind is "rule", "at-rule", "declaration" or "comment". A rule has
// selectors and items; an at-rule a name, a prelude and, with a block, items; a
// declaration a property, its raw value, values and flag; a comment its text.
type Item struct {
	Kind        string         `json:"kind"`
	Span        SpanJSON       `json:"span"`
	Selectors   []SelectorJSON `json:"selectors,omitempty"`
	Name        string         `json:"name,omitempty"`
	Prelude     string         `json:"prelude,omitempty"`
	Property    string         `json:"property,omitempty"`
	Raw         string         `json:"raw,omitempty"`
	Values      []ValueJSON    `json:"values,omitempty"`
	Flag        string         `json:"flag,omitempty"`
	Text        string         `json:"text,omitempty"`
	Trailing    bool           `json:"trailing,omitempty"`
	BlankBefore bool           `json:"blankBefore,omitempty"`
	Items       *[]*Item       `json:"items,omitempty"`
}

// SpanJSON is a place: lines and columns count from 1, columns in code points, offsets in
// bytes from 0. The end is the place just behind.
type SpanJSON struct {
	Line      int32 `json:"line"`
	Column    int32 `json:"column"`
	Offset    int32 `json:"offset"`
	EndLine   int32 `json:"endLine"`
	EndColumn int32 `json:"endColumn"`
	EndOffset int32 `json:"endOffset"`
}

// ValueJSON is one part of a value. Kind is "words", "string", "number" or "function".
type ValueJSON struct {
	Kind   string      `json:"kind"`
	Span   SpanJSON    `json:"span"`
	Key    string      `json:"key,omitempty"`
	Text   string      `json:"text"`
	Number *float64    `json:"number,omitempty"`
	Unit   string      `json:"unit,omitempty"`
	Args   []ValueJSON `json:"args,omitempty"`
}

// SelectorJSON is one complex selector; Text is its canonical form.
type SelectorJSON struct {
	Text      string         `json:"text"`
	Span      SpanJSON       `json:"span"`
	Compounds []CompoundJSON `json:"compounds"`
}

// CompoundJSON is one compound and the combinator before it: " ", ">", "+", "~" or none.
type CompoundJSON struct {
	Combinator string       `json:"combinator,omitempty"`
	Span       SpanJSON     `json:"span"`
	Parent     bool         `json:"parent,omitempty"`
	Taxon      string       `json:"taxon,omitempty"`
	Type       string       `json:"type,omitempty"`
	Simples    []SimpleJSON `json:"simples,omitempty"`
}

// SimpleJSON is one test. Kind is "id", "class", "attribute" or "pseudo-class".
type SimpleJSON struct {
	Kind      string         `json:"kind"`
	Span      SpanJSON       `json:"span"`
	Name      string         `json:"name"`
	Op        string         `json:"op,omitempty"`
	Value     *string        `json:"value,omitempty"`
	Flag      string         `json:"flag,omitempty"`
	Argument  *string        `json:"argument,omitempty"`
	Selectors []SelectorJSON `json:"selectors,omitempty"`
}

// NewDocument is the view in the shape of its JSON.
func NewDocument(v *View) *Document {
	d := &Document{Schema: Schema, Statements: itemsJSON(v.Statements)}
	if v.Source != nil {
		d.File = v.Source.Name
	}
	return d
}

// MarshalJSON gives a Document, so that a view can stand in a larger report.
func (v *View) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(NewDocument(v))
	return bytes.TrimSpace(b.Bytes()), err
}

// WriteJSON writes the view's Document, indented.
func WriteJSON(w io.Writer, v *View) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(NewDocument(v))
}

func itemsJSON(items []Node) []*Item {
	out := make([]*Item, len(items))
	for i, n := range items {
		out[i] = itemJSON(n)
	}
	return out
}

func itemJSON(n Node) *Item {
	out := &Item{Span: spanJSON(n.Span()), BlankBefore: blankBefore(n)}
	switch n := n.(type) {
	case *Rule:
		out.Kind = "rule"
		out.Selectors = selectorsJSON(n.Selectors)
	case *AtRule:
		out.Kind = "at-rule"
		out.Name = n.Name
		out.Prelude = n.Prelude.Raw
		out.Values = valuesJSON(n.Prelude.Values)
	case *Declaration:
		out.Kind = "declaration"
		out.Property = n.Property
		out.Raw = n.Raw
		out.Values = valuesJSON(n.Values)
		out.Flag = n.Flag
	case *Comment:
		out.Kind = "comment"
		out.Text = n.Text
		out.Trailing = n.Trailing
	}
	if b := BlockOf(n); b != nil {
		items := itemsJSON(b.Items)
		out.Items = &items
	}
	return out
}

func spanJSON(s diag.Span) SpanJSON {
	return SpanJSON{s.Start.Line, s.Start.Column, s.Start.Offset, s.End.Line, s.End.Column, s.End.Offset}
}

func valuesJSON(values []Value) []ValueJSON {
	var out []ValueJSON
	for _, v := range values {
		j := ValueJSON{Kind: v.Kind.String(), Span: spanJSON(v.At), Key: v.Key, Text: v.Text, Unit: v.Unit, Args: valuesJSON(v.Args)}
		if v.Kind == Number {
			j.Number = &v.Number
		}
		out = append(out, j)
	}
	return out
}

// String is the word for the kind in JSON and messages.
func (k ValueKind) String() string {
	return [...]string{"words", "string", "number", "function"}[k]
}

func selectorsJSON(list []*Selector) []SelectorJSON {
	var out []SelectorJSON
	for _, s := range list {
		j := SelectorJSON{Text: FormatSelector(s), Span: spanJSON(s.At), Compounds: []CompoundJSON{}}
		for i, c := range s.Compounds {
			cj := CompoundJSON{Span: spanJSON(c.At), Parent: c.Parent, Taxon: c.Taxon, Type: c.Type}
			if s.Combinators[i] != None {
				cj.Combinator = string(rune(s.Combinators[i]))
			}
			for k := range c.Simples {
				cj.Simples = append(cj.Simples, simpleJSON(&c.Simples[k]))
			}
			j.Compounds = append(j.Compounds, cj)
		}
		out = append(out, j)
	}
	return out
}

func simpleJSON(s *Simple) SimpleJSON {
	j := SimpleJSON{
		Kind: [...]string{"id", "class", "attribute", "pseudo-class"}[s.Kind],
		Span: spanJSON(s.At), Name: s.Name, Op: s.Op, Selectors: selectorsJSON(s.Selectors),
	}
	if s.Op != "" {
		j.Value = &s.Value
	}
	if s.Flag != 0 {
		j.Flag = string(rune(s.Flag))
	}
	if s.HasArg && len(s.Selectors) == 0 {
		j.Argument = &s.Arg
	}
	return j
}

// WriteOutline writes the tree for people: a line per node with its place, indented by
// its block, without the comments. Outside text is escaped so that it cannot drive a
// terminal.
func WriteOutline(w io.Writer, v *View) error {
	var b strings.Builder
	outline(&b, v.Statements, 0)
	_, err := io.WriteString(w, b.String())
	return err
}

func outline(b *strings.Builder, items []Node, depth int) {
	for _, n := range items {
		line := ""
		switch n := n.(type) {
		case *Comment:
			continue
		case *Rule:
			line = "rule " + FormatSelectors(n.Selectors)
		case *AtRule:
			line = strings.TrimSuffix(atRuleHead(n), ";")
		case *Declaration:
			line = strings.TrimSuffix(formatDeclaration(n), ";")
		}
		at := n.Span().Start
		place := fmt.Sprintf("%d:%d", at.Line, at.Column)
		fmt.Fprintf(b, "%-8s%s%s\n", place, strings.Repeat("  ", depth), diag.Escape(line))
		if block := BlockOf(n); block != nil {
			outline(b, block.Items, depth+1)
		}
	}
}
