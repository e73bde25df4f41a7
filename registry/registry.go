// Package registry holds a vocabulary (taxa, entity types, attributes, properties, units,
// shorthands, sugar, pseudo-classes) and binds parsed views to it.
//
// A Registry is a plain value that is passed around: two may live side by side, and the
// package knows no vocabulary of its own. Fill one with Load (from parsed .umw files) or
// with the Add functions, then only read it; a filled registry is safe for many readers.
package registry

import (
	"strings"

	"umwelt/ast"
	"umwelt/diag"
)

// Registry is one vocabulary. The zero value is not usable; call New.
type Registry struct {
	taxa       []*Taxon
	types      []*EntityType
	shorthands []*Shorthand
	units      []*Unit
	taxonNamed map[string]*Taxon        // by name and alias, lower case
	typesNamed map[string][]*EntityType // by name, lower case: one per taxon that registers it
	sugar      map[string]*Sugar        // by at-rule name, lower case
	pseudos    map[string]*PseudoClass  // by name, lower case
	shorthand  map[string]*Shorthand    // by key
	unitNamed  map[string]*Unit         // by name, lower case
}

// Taxon is one axis of the vocabulary.
type Taxon struct {
	Name        string
	Aliases     []string
	Axis        int // order in specificity keys, lowest first
	Index       int // position in Registry.Taxa, which is sorted by Axis then registration
	Description string
	At          diag.Span
}

// EntityType is a kind of thing a world may hold.
type EntityType struct {
	Name        string
	Taxon       *Taxon
	Index       int      // position in Registry.Types, the vocabulary order
	Parents     []string // names of the types its parent may have, most usual first
	Dotted      bool     // ids may hold dots: "#a.b" is one id
	PathAttr    string   // the attribute that :glob reads and path-like behaviour follows; "" for none
	GroupAttr   string   // entities whose path lies below this attribute have it as an ancestor; "" for none
	SoleActive  bool     // the only entity of the type is active where no context names one
	Root        bool     // the one type whose entity is the root of its taxon's parent chains
	Named       bool     // an entity exists because a view names it: it grants the actor nothing
	Singleton   bool     // a bare type selector names the one entity of the type
	Keys        []string // attributes that together name an entity of the type, where no required one does
	Description string
	At          diag.Span

	Attributes []*Attribute // in registration order
	Properties []*Property  // in registration order
}

// Attribute is a fact an entity may carry.
type Attribute struct {
	Entity      *EntityType
	Name        string
	Type        ValueType
	Required    bool
	Description string
	At          diag.Span
}

// Comparison says how the values of several applicable rules combine.
type Comparison uint8

// The comparisons of the language.
const (
	Exact   Comparison = iota // the winner's value
	AtMost                    // "<=": the smallest
	AtLeast                   // ">=": the largest
	In                        // the intersection of all sets
	Overlap                   // every set is kept; each must be met
	Pattern                   // the union of the patterns, in order of precedence
)

func (c Comparison) String() string {
	return [...]string{"exact", "<=", ">=", "in", "overlap", "pattern"}[c]
}

// Direction says which of two values of a property is the more restrictive.
type Direction uint8

// The restrictive directions.
const (
	NoDirection Direction = iota
	False                 // false is more restrictive than true
	True
	Min
	Max
	Subset
	Superset
)

func (d Direction) String() string {
	return [...]string{"none", "false", "true", "min", "max", "subset", "superset"}[d]
}

// Altitude is the level at which a property can be enforced.
type Altitude uint8

// The altitudes, lowest first.
const (
	OS Altitude = iota
	Language
	Semantic
	Conversational
)

func (a Altitude) String() string {
	return [...]string{"os", "language", "semantic", "conversational"}[a]
}

// Property is something a rule may decide about an entity.
type Property struct {
	Entity      *EntityType
	Name        string
	Index       int // position in Entity.Properties
	Type        ValueType
	Initial     *Value // nil for none
	Comparison  Comparison
	Restrictive Direction
	Altitude    Altitude
	Repeatable  bool
	Secret      bool // its value is never printed
	Attribute   string
	Gates       string   // where Attribute breaks the resolved comparison, that property takes its restrictive value
	Follows     string   // where no rule sets it, it takes what that property has; with Through, of another entity
	FollowsType string   // the entity type of Follows, with Through
	Through     string   // the attribute that names the other entity; a rule that restricts there restricts here whatever rules say
	ImpliedBy   []string // where no rule sets it, a rule that sets one of these makes it permissive
	Description string
	At          diag.Span
}

// Unit is a suffix of numbers. Kind is "size" (Factor counts bytes), "duration" (Factor
// counts nanoseconds) or a vocabulary's own word.
type Unit struct {
	Name   string
	Kind   string
	Factor float64
	At     diag.Span
}

// Shorthand is a world-file key that stands for entities. Form is "scalar" (one id),
// "list" (ids), or "map" (attributes of the one entity).
type Shorthand struct {
	Key    string
	Entity string
	Form   string
	At     diag.Span
}

// Sugar rewrites an at-rule into ordinary rules. It keeps the positions of what it
// rewrites and reports what it cannot understand.
type Sugar struct {
	Name    string
	Rewrite func(at *ast.AtRule, out *SugarOutput)
}

// SugarOutput is what a rewrite makes: nodes to stand in place of the at-rule (they may
// hold further sugar), entities that the at-rule brings into being, and complaints.
type SugarOutput struct {
	Nodes       []ast.Node
	Entities    []Entity
	Diagnostics diag.List
}

// Entity is an entity that a view itself declares. Values of Attributes are text.
type Entity struct {
	Type       string
	ID         string
	Attributes map[string]string
	At         diag.Span
}

// PseudoClass is a registered test. Test gets the entity's attribute text by name (ok is
// false where it lacks the attribute) and the pseudo-class's argument.
type PseudoClass struct {
	Name  string
	Types []string // the entity types it may stand on; empty for all
	// Check reports what is wrong with an argument, or "".
	Check func(arg string) string
	Test  func(attr func(name string) (text string, ok bool), arg string) bool
}

// New makes an empty registry. It knows the units of the language (sizes, durations, %)
// and nothing else.
func New() *Registry {
	r := &Registry{
		taxonNamed: map[string]*Taxon{},
		typesNamed: map[string][]*EntityType{},
		sugar:      map[string]*Sugar{},
		pseudos:    map[string]*PseudoClass{},
		shorthand:  map[string]*Shorthand{},
		unitNamed:  map[string]*Unit{},
	}
	r.addCoreUnits()
	return r
}

// Taxa are the taxa in axis order.
func (r *Registry) Taxa() []*Taxon { return r.taxa }

// Types are the entity types in vocabulary order: by taxon, then as registered.
func (r *Registry) Types() []*EntityType { return r.types }

// Shorthands are the world-file shorthands in the order they were registered.
func (r *Registry) Shorthands() []*Shorthand { return r.shorthands }

// Taxon finds a taxon by name or alias, without regard to case; nil where there is none.
func (r *Registry) Taxon(name string) *Taxon { return r.taxonNamed[strings.ToLower(name)] }

// TypesNamed are the entity types of that name, one per taxon that registers it.
func (r *Registry) TypesNamed(name string) []*EntityType { return r.typesNamed[strings.ToLower(name)] }

// Type finds an entity type by name where exactly one taxon registers it, else nil.
func (r *Registry) Type(name string) *EntityType {
	if ts := r.TypesNamed(name); len(ts) == 1 {
		return ts[0]
	}
	return nil
}

// Shorthand finds a world-file shorthand by its key; nil where there is none.
func (r *Registry) Shorthand(key string) *Shorthand { return r.shorthand[key] }

// Attribute finds a registered attribute by name, without regard to case; nil for none.
func (t *EntityType) Attribute(name string) *Attribute {
	for _, a := range t.Attributes {
		if strings.EqualFold(a.Name, name) {
			return a
		}
	}
	return nil
}

// Property finds a property by name, without regard to case; nil for none.
func (t *EntityType) Property(name string) *Property {
	for _, p := range t.Properties {
		if strings.EqualFold(p.Name, name) {
			return p
		}
	}
	return nil
}

// Key is the attribute that names an entity of the type beside its id: the first required
// one, or "name".
func (t *EntityType) Key() string {
	for _, a := range t.Attributes {
		if a.Required {
			return a.Name
		}
	}
	return "name"
}
