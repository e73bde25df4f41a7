// Package ast is the tree of a view or vocabulary file.
//
// The tree holds what was written, including comments and things no vocabulary knows;
// what it means is decided when a registry binds it. Every node carries its span.
package ast

import "umwelt/diag"

// View is one parsed file.
type View struct {
	Source     *diag.Source
	Statements []Node // *Rule, *AtRule, *Comment
}

// Node is a statement or an item of a block: *Rule, *AtRule, *Declaration or *Comment.
type Node interface {
	// Span is where the node stands.
	Span() diag.Span
	node()
}

// Comment is one comment, with its delimiters as written. Trailing says that it follows
// another item on the same line; BlankBefore that a blank line stands before it.
type Comment struct {
	At          diag.Span
	Text        string
	Trailing    bool
	BlankBefore bool
}

// Rule is a selector list with a block.
type Rule struct {
	At          diag.Span
	Selectors   []*Selector
	Block       *Block
	BlankBefore bool // a blank line stands before it, for the formatter
}

// AtRule is "@name prelude ;" or "@name prelude { body }"; Block is nil for the first.
type AtRule struct {
	At          diag.Span
	Name        string // as written, without "@"
	NameAt      diag.Span
	Prelude     Prelude
	Block       *Block
	BlankBefore bool
}

// Prelude is what stands between an at-rule's name and its block or semicolon.
type Prelude struct {
	At     diag.Span
	Raw    string  // as written, trimmed, without comments
	Values []Value // its comma-separated parts
}

// Block is the braces of a rule or at-rule.
type Block struct {
	At    diag.Span // from "{" to "}"
	Items []Node
}

// Declaration is "property: value, value !flag;".
type Declaration struct {
	At          diag.Span
	Property    string // as written
	PropertyAt  diag.Span
	Raw         string // the value as written, trimmed, without comments and flag
	ValueAt     diag.Span
	Values      []Value
	Flag        string // lower case, without "!": "important", "locked" or what was written; "" for none
	FlagAt      diag.Span
	Label       string // set by sugar that names its lines ("test" of "test: pytest;")
	BlankBefore bool
}

// ValueKind says what a part of a value is.
type ValueKind uint8

// The kinds of value part.
const (
	Words    ValueKind = iota // a run of bare words, and anything mixed: Text is it with white space folded
	String                    // one string: Text is it decoded
	Number                    // one number: Text as written, Number and Unit taken apart
	Function                  // name(args): Text is the name, lower case; "" for bare parentheses
)

// Value is one comma-separated part of a declaration's value or an at-rule's prelude.
type Value struct {
	At     diag.Span
	Kind   ValueKind
	Text   string
	Number float64
	Unit   string  // as written; "" for none
	Key    string  // of an argument "key=value" of a Function; the other fields are the value's
	Args   []Value // of a Function
	Raw    string  // the part as written, trimmed
}

// Combinator joins two compounds.
type Combinator byte

// The combinators. None stands before the first compound of a selector that is not relative.
const (
	None       Combinator = 0
	Descendant Combinator = ' '
	Child      Combinator = '>'
	NextSib    Combinator = '+'
	LaterSib   Combinator = '~'
)

// Selector is one complex selector. Combinators[i] stands before Compounds[i];
// Combinators[0] is None unless the selector is relative (in :has, or nested "> x").
type Selector struct {
	At          diag.Span
	Compounds   []*Compound
	Combinators []Combinator
}

// Compound is one compound selector. It is not empty: it has a type, "&" or a simple.
type Compound struct {
	At      diag.Span
	Parent  bool   // "&"
	Taxon   string // of "taxon|type", as written
	Type    string // as written; "*" for the universal selector; "" where none is written
	TypeAt  diag.Span
	Simples []Simple
}

// SimpleKind says what a simple selector tests.
type SimpleKind uint8

// The kinds of simple selector.
const (
	ID SimpleKind = iota
	Class
	Attribute
	Pseudo
)

// Simple is one id, class, attribute or pseudo-class test.
type Simple struct {
	At     diag.Span
	Kind   SimpleKind
	Name   string // the id, class, attribute or pseudo-class, escapes decoded; a pseudo-class in lower case
	Quoted bool   // an id written as a string: always one id, never id and classes

	Op    string // of an attribute test: "" for presence, else = ^= $= *= ~= |=
	Value string // what the attribute is compared with, decoded
	Flag  byte   // 'i', 's' or 0

	HasArg    bool        // a pseudo-class written with parentheses
	Arg       string      // its argument: decoded where it is one string, else raw and trimmed
	Selectors []*Selector // the argument as selectors, for :not :is :where :has
}

func (c *Comment) Span() diag.Span     { return c.At }
func (r *Rule) Span() diag.Span        { return r.At }
func (a *AtRule) Span() diag.Span      { return a.At }
func (d *Declaration) Span() diag.Span { return d.At }

func (*Comment) node()     {}
func (*Rule) node()        {}
func (*AtRule) node()      {}
func (*Declaration) node() {}
