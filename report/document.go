// Package report turns answers about a policy into documents: JSON of a stable schema for
// tools, and text for people.
//
// Names of files may be any bytes, and JSON is UTF-8. A text that is not UTF-8 stands in
// JSON with each wrong byte as \xHH, and where it is a name its exact bytes stand beside
// it in base64, as the member NAME-bytes.
package report

import (
	"iter"

	"umwelt/diag"
	"umwelt/registry"
)

// Document is what was resolved: every entity with its effective properties, and every
// rule with the number of entities it matched.
type Document struct {
	Schema      string
	Version     string // of the tool; left out where empty
	World       *World // left out where nil
	Context     []Ref
	Entities    iter.Seq[Entity] // in vocabulary order, then by id
	Rules       []Rule
	Diagnostics []Diagnostic
}

// World names the world that was resolved.
type World struct {
	Name   string
	Root   string
	Digest string
}

// Ref names an entity.
type Ref struct {
	Type string
	ID   string
}

// Place is a position in a file; Line and Column are 1-based, Column counts code points.
type Place struct {
	File   string
	Line   int32
	Column int32
}

// Entity is one entity of the world.
type Entity struct {
	Taxon      string
	Type       string
	ID         string
	Classes    []string
	Parent     *Ref
	Attributes []Attribute // nil where the document has none
	Properties []Property
}

// Attribute is one fact. List is not nil where it is a list.
type Attribute struct {
	Name string
	Text string
	List []string
}

// Property is one effective property. Where Secret, its values are Hidden.
type Property struct {
	Name    string
	Value   string
	Values  []string   // the members of a list or set
	Sets    [][]string // every set that must be met
	Source  string
	Cascade *string // what the rules alone resolved, where that is not Value
	Because string  // why, where the rules alone did not decide
	From    *Place  // the winning rule
	Fixed   *Place  // the constraint that clamped it
	Secret  bool
}

// Hidden stands for a value that is never printed.
const Hidden = "(secret)"

// Rule is one complex selector of a rule. Matched counts the entities that it fits. Idle
// says that its context qualifiers do not hold, so that it decides nothing for them.
type Rule struct {
	Place
	Selector string
	Matched  int
	Idle     bool
}

// Diagnostic is one finding.
type Diagnostic struct {
	Severity string
	Code     string
	*Place
	Message string
	Hint    string
}

// Diagnostics are findings for a document, in their order.
func Diagnostics(list diag.List) []Diagnostic {
	out := make([]Diagnostic, len(list))
	for i, d := range list {
		out[i] = Diagnostic{Severity: d.Severity.String(), Code: string(d.Code), Place: place(d.Span), Message: d.Text(), Hint: d.Hint}
	}
	return out
}

// members is the list of a list-like value, never nil, and nil of any other.
func members(p *registry.Property, v *registry.Value) []string {
	if p.Type.Shape == registry.One && !p.Repeatable {
		return nil
	}
	return append([]string{}, v.List...)
}
