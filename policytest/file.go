// Package policytest reads and runs unit tests of policies: files that say which answers a
// view must give. It also finds the rules that no test would miss.
package policytest

import (
	"bytes"
	"slices"
	"strings"

	"umwelt/cascade"
	"umwelt/diag"
)

// Suffix is how the names of test files end.
const Suffix = "_test.umw.yml"

// File is one test file.
type File struct {
	Source       *diag.Source
	Views        []Text // paths, relative to the file's directory
	Vocabularies []Text
	World        *Text        // the path of a world file; nil for none named
	Inline       *diag.Source // a world that the file itself holds; nil for none
	Root, Env    *Text        // nil for the default
	Cases        []Case
}

// Text is a text with its place.
type Text struct {
	Value string
	At    diag.Span
}

// Case is what must hold in one context.
type Case struct {
	Name    string
	At      diag.Span
	Context []Active
	Checks  []Check
}

// Active says which entities of a type are active in a case.
type Active struct {
	Type string
	IDs  []string
	At   diag.Span
}

// Refs is a context as the cascade takes it.
func (c *Case) Refs() []cascade.Ref {
	var out []cascade.Ref
	for _, a := range c.Context {
		for _, id := range a.IDs {
			out = append(out, cascade.Ref{Type: a.Type, ID: id})
		}
	}
	return out
}

// Check is one answer that must be given for every entity that a selector fits: about a
// property, or where Call is there, about that call, which is wanted allowed or denied.
type Check struct {
	Selector Text
	Property Text
	Call     *Text
	Want     Want
	At       diag.Span // of the value
}

// Want is the answer that a check asks for.
type Want struct {
	Kind WantKind
	Sets [][]string // of WantValue: one list, of one text for a single value; several for sets
	List bool       // it was written as a list
}

// WantKind says how an answer is asked for.
type WantKind uint8

// The kinds.
const (
	WantValue   WantKind = iota
	WantNone             // no value
	WantAllowed          // the permissive value
	WantDenied           // the restrictive value
)

var (
	fileKeys = []string{"view", "vocabulary", "world", "root", "env", "context", "cases"}
	caseKeys = []string{"name", "context", "expect", "allowed", "denied", "calls"}
)

// Parse reads a test file. Everything that is wrong is in the list; the file is of use only
// where that holds no error.
func Parse(src *diag.Source) (*File, diag.List) {
	p := parser{file: &File{Source: src}}
	if root := read(src, &p.List); root != nil {
		p.top(root)
	}
	return p.file, p.List
}

type parser struct {
	diag.List
	file    *File
	context []Active
}

func (p *parser) top(root *node) {
	p.keys(root, "a test file", fileKeys)
	f := p.file
	for i, x := range root.pairs {
		switch x.key {
		case "view":
			f.Views = p.paths(x)
		case "vocabulary":
			f.Vocabularies = p.paths(x)
		case "root":
			f.Root = p.path(x.key, x.value)
		case "env":
			f.Env = p.text(x.key, x.value)
		case "world":
			if x.value.kind == mapNode {
				p.inline(root, i)
			} else {
				f.World = p.path(x.key, x.value)
			}
		case "context":
			p.context = p.active(nil, x.value)
		}
	}
	if len(f.Views) == 0 && !p.HasErrors() {
		p.Errorf(diag.BadValue, root.at, "a test file needs the key view").Hint = "view: policy.umw"
	}
	i := slices.IndexFunc(root.pairs, func(x pair) bool { return x.key == "cases" })
	if i < 0 {
		p.Errorf(diag.BadValue, root.at, "a test file needs the key cases")
		return
	}
	cases := root.pairs[i].value
	if cases.kind != listNode || len(cases.items) == 0 {
		p.Errorf(diag.BadValue, cases.at, "cases is a list of at least one case")
		return
	}
	names := map[string]diag.Span{}
	for _, n := range cases.items {
		p.oneCase(n, names)
	}
}

func (p *parser) oneCase(n *node, names map[string]diag.Span) {
	if n.kind != mapNode {
		p.Errorf(diag.BadValue, n.at, "a case is a map with the key name and what is expected, not %s", n.kind)
		return
	}
	p.keys(n, "a case", caseKeys)
	c := Case{At: n.at, Context: p.context}
	before := len(p.List)
	for _, x := range n.pairs {
		switch x.key {
		case "name":
			if t := p.text(x.key, x.value); t != nil {
				c.Name, c.At = t.Value, t.At
				if first, twice := names[c.Name]; twice {
					d := p.Errorf(diag.Duplicate, t.At, "two cases are called %s", diag.Quote(c.Name))
					d.Related = []diag.Related{{Span: first, Message: "first here"}}
				}
				names[c.Name] = t.At
			}
		case "context":
			c.Context = p.active(p.context, x.value)
		case "expect":
			p.eachPair(x, func(sel pair) {
				p.eachPair(sel, func(prop pair) {
					if w, ok := p.want(prop.value); ok {
						c.Checks = append(c.Checks, Check{Text{sel.key, sel.at}, Text{prop.key, prop.at}, nil, w, prop.value.at})
					}
				})
			})
		case "calls":
			p.eachPair(x, func(sel pair) { c.Checks = append(c.Checks, p.calls(sel)...) })
		case "allowed", "denied":
			kind := WantAllowed
			if x.key == "denied" {
				kind = WantDenied
			}
			p.eachPair(x, func(prop pair) {
				for _, sel := range p.texts(prop.key, prop.value) {
					c.Checks = append(c.Checks, Check{sel, Text{prop.key, prop.at}, nil, Want{Kind: kind}, sel.At})
				}
			})
		}
	}
	switch {
	case len(p.List) > before:
	case c.Name == "":
		p.Errorf(diag.BadValue, n.at, "a case needs the key name")
	case len(c.Checks) == 0:
		p.Errorf(diag.BadValue, c.At, "the case %s expects nothing", diag.Quote(c.Name)).Hint = "give it expect, allowed, denied or calls"
	}
	p.file.Cases = append(p.file.Cases, c)
}

// calls are the calls of what a selector fits, those that must be allowed and those that
// must not.
func (p *parser) calls(sel pair) (out []Check) {
	p.eachPair(sel, func(verdict pair) {
		kind := WantAllowed
		switch verdict.key {
		case "allowed":
		case "denied":
			kind = WantDenied
		default:
			d := p.Errorf(diag.UnknownKey, verdict.at, "calls are allowed or denied, not %s", diag.Quote(verdict.key))
			d.Hint = diag.DidYouMean(verdict.key, []string{"allowed", "denied"})
			return
		}
		for _, call := range p.texts(verdict.key, verdict.value) {
			out = append(out, Check{Selector: Text{sel.key, sel.at}, Call: &call, Want: Want{Kind: kind}, At: call.At})
		}
	})
	return out
}

func (p *parser) want(n *node) (Want, bool) {
	if n.isEmpty() {
		return Want{Kind: WantNone}, true
	}
	if n.kind == scalarNode {
		return Want{Sets: [][]string{{n.text}}}, true
	}
	w := Want{List: true}
	if n.kind == listNode && len(n.items) > 0 && !slices.ContainsFunc(n.items, func(x *node) bool { return x.kind != listNode }) {
		for _, item := range n.items {
			w.Sets = append(w.Sets, values(p.texts("a set", item)))
		}
		return w, true
	}
	if n.kind != listNode {
		p.Errorf(diag.BadValue, n.at, "a value is a text or a list, not %s", n.kind)
		return w, false
	}
	w.Sets = [][]string{values(p.texts("a value", n))}
	return w, true
}

func values(list []Text) []string {
	out := make([]string, len(list))
	for i, t := range list {
		out[i] = t.Value
	}
	return out
}

// active reads a context over another: what it says of a type takes the other's place, and
// nothing written for a type takes it out.
func (p *parser) active(base []Active, n *node) []Active {
	out := slices.Clone(base)
	if n.isEmpty() {
		return out
	}
	if n.kind != mapNode {
		p.Errorf(diag.BadValue, n.at, "a context is a map of types and ids, not %s", n.kind)
		return out
	}
	for _, x := range n.pairs {
		out = slices.DeleteFunc(out, func(a Active) bool { return strings.EqualFold(a.Type, x.key) })
		if !x.value.isEmpty() {
			out = append(out, Active{x.key, values(p.texts(x.key, x.value)), x.at})
		}
	}
	return out
}

// inline makes a world of the map at root.pairs[i]: the text of the file with everything
// else taken out, so that every place in it stays what it is.
func (p *parser) inline(root *node, i int) {
	text := p.file.Source.Text
	n := root.pairs[i].value
	end := len(text)
	if i+1 < len(root.pairs) {
		end = int(root.pairs[i+1].at.Start.Offset)
	}
	start := int(n.at.Start.Offset)
	last := root.pairs[len(root.pairs)-1]
	if root.at.Start.Line == last.at.Start.Line && len(root.pairs) > 1 || bytes.IndexByte(text[start:end], '\n') < 0 && end < len(text) {
		p.Errorf(diag.YAML, n.at, "a world in a test file stands on lines of its own")
		return
	}
	if n.pairs == nil {
		end = start
	}
	out := bytes.Repeat([]byte{' '}, end)
	for k, c := range text[:end] {
		if c == '\n' || k >= start {
			out[k] = c
		}
	}
	p.file.Inline = &diag.Source{Name: p.file.Source.Name, Text: out, Private: p.file.Source.Private}
}

// keys reports keys that are not known.
func (p *parser) keys(n *node, what string, known []string) {
	for _, x := range n.pairs {
		if !slices.Contains(known, x.key) {
			d := p.Errorf(diag.UnknownKey, x.at, "%s has no key %s", what, diag.Quote(x.key))
			if d.Hint = diag.DidYouMean(x.key, known); d.Hint == "" {
				d.Hint = "its keys are " + strings.Join(known, ", ")
			}
		}
	}
}

func (p *parser) eachPair(x pair, yield func(pair)) {
	if x.value.kind != mapNode || len(x.value.pairs) == 0 {
		p.Errorf(diag.BadValue, x.value.at, "%s is a map with at least one key", diag.Quote(x.key))
		return
	}
	for _, inner := range x.value.pairs {
		yield(inner)
	}
}

func (p *parser) text(key string, n *node) *Text {
	if n.kind != scalarNode || n.null || n.text == "" {
		p.Errorf(diag.BadValue, n.at, "%s is a text", key)
		return nil
	}
	return &Text{n.text, n.at}
}

// texts reads a text, or a list of texts.
func (p *parser) texts(key string, n *node) []Text {
	if n.kind == scalarNode {
		n = &node{kind: listNode, at: n.at, items: []*node{n}}
	}
	if n.kind != listNode {
		p.Errorf(diag.BadValue, n.at, "%s is a text or a list of texts, not %s", diag.Quote(key), n.kind)
		return nil
	}
	var out []Text
	for _, item := range n.items {
		if t := p.text(key, item); t != nil {
			out = append(out, *t)
		}
	}
	return out
}

// path reads a path relative to the test file, so that a test means the same wherever its
// directory lies.
func (p *parser) path(key string, n *node) *Text {
	t := p.text(key, n)
	if t != nil && strings.HasPrefix(t.Value, "/") {
		p.Errorf(diag.BadPath, t.At, "%s is absolute; paths are relative to the test file", diag.Quote(t.Value))
		return nil
	}
	return t
}

func (p *parser) paths(x pair) []Text {
	list := p.texts(x.key, x.value)
	for _, t := range list {
		p.path(x.key, &node{text: t.Value, at: t.At})
	}
	return list
}
