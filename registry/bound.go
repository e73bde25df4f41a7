package registry

import (
	"umwelt/ast"
	"umwelt/diag"
)

// Bound is a set of views bound to a vocabulary: every selector split into target,
// structure and context, every value typed, every rule placed in its layer and order.
type Bound struct {
	Registry    *Registry
	Rules       []*Rule  // in order of appearance; one per complex selector
	Layers      []string // in order, the weakest first for normal declarations
	Entities    []Entity // declared by sugar
	Diagnostics diag.List

	lastOrder int // no declaration's Order is higher; 0 where that is not known
}

// Rule is one complex selector with its declarations.
type Rule struct {
	Index        int // position in Bound.Rules
	Selector     *Selector
	Layer        int // index into Bound.Layers, or Unlayered
	Declarations []*Declaration
	At           diag.Span // of the selector as written
}

// Unlayered is the layer of rules outside every @layer: they win over all layers.
const Unlayered = 1 << 30

// Declaration is one "property: value" of a rule. Typed holds it once per entity type that the
// rule's target may have and that has the property (exactly one where the target has a
// type).
type Declaration struct {
	Name      string // canonical property name
	Typed     []TypedValue
	Important bool
	Locked    bool
	Label     string
	Order     int // over all rules, in order of appearance
	At        diag.Span
}

// TypedValue is a declaration's value for one property.
type TypedValue struct {
	Property *Property
	Value    *Value
}

// Selector is a bound complex selector.
type Selector struct {
	Text        string // canonical text
	At          diag.Span
	Taxon       *Taxon    // the target's taxon; nil where the target names no type
	Target      *Compound // tested on the entity
	Structure   []Link    // tested along the chain of parents, nearest first
	Qualifiers  []*Compound
	Specificity Specificity
	Never       bool // holds a sibling combinator, an unknown type or pseudo-class: matches nothing
}

// Link is one structural compound left of the target. Child says that it must be the
// parent of what stands right of it, else any ancestor.
type Link struct {
	Compound *Compound
	Child    bool
}

// Compound is a bound compound selector.
type Compound struct {
	Type  *EntityType // nil for any type
	Tests []Test      // all must hold
	At    diag.Span
	Text  string
}

// TestKind says what a Test tests.
type TestKind uint8

// The kinds of test.
const (
	TestID     TestKind = iota // Value is the id; an entity's "name" attribute counts too
	TestClass                  // Value is the class
	TestAttr                   // Attr Op Value
	TestIs                     // any of Selectors (both :is and :where)
	TestNot                    // none of Selectors
	TestHas                    // a descendant fits one of Selectors, each relative to the entity
	TestGlob                   // Value is a glob on the type's path attribute
	TestPseudo                 // Pseudo with argument Value
	TestNever                  // nothing fits
)

// Test is one condition of a compound.
type Test struct {
	Kind  TestKind
	Attr  string // canonical attribute name
	Op    string // "" (presence) = ^= $= *= ~= |=
	Value string // without a leading "./" for paths; lower case where Fold
	Fold  bool   // compare without case
	// Dotted is the id as one dotted id where the compound has no type and an id was
	// followed by classes: entities of a dotted type are tested for it instead of for
	// Value and the following Classes tests.
	Dotted  string
	Classes int
	Pseudo  *PseudoClass
	// Selectors of :is, :not and :has. Those of :has are relative: their first Link
	// chain ends at the entity itself, see RelativeChild.
	Selectors []*Selector
	// RelativeChild says, per selector of :has, that its leftmost compound must be a child
	// (not any descendant) of the entity.
	RelativeChild []bool
	Bare          bool // of :where and "taxon|*": it counts nothing towards specificity
}

// Triple counts ids, then classes with attributes and pseudo-classes, then types.
type Triple [3]uint16

// Specificity is the key of language section 4: the number of distinct axes, then a
// triple per taxon in axis order, the last for compounds that name no type.
type Specificity struct {
	Axes    int
	Triples []Triple
}

// Compare is -1, 0 or +1 as s is lower than, equal to or higher than t.
func (s Specificity) Compare(t Specificity) int {
	if s.Axes != t.Axes {
		return sign(s.Axes - t.Axes)
	}
	for i := 0; i < max(len(s.Triples), len(t.Triples)); i++ {
		a, b := s.triple(i), t.triple(i)
		for k := range a {
			if a[k] != b[k] {
				return sign(int(a[k]) - int(b[k]))
			}
		}
	}
	return 0
}

func (s Specificity) triple(i int) Triple {
	if i < len(s.Triples) {
		return s.Triples[i]
	}
	return Triple{}
}

func sign(n int) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}

// Importer reads and parses the file that an @import names. from is the importing file.
type Importer func(from *diag.Source, path string) (*ast.View, diag.List, error)

// Options steer Bind.
type Options struct {
	Import Importer // nil: @import is an error
}
