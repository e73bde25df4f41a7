// Package cascade resolves a bound view against a world: which rules match which entity,
// which of their declarations wins, and why.
package cascade

import (
	"umwelt/registry"
	"umwelt/world"
)

// Ref names an entity in a context: a type name and an id.
type Ref struct {
	Type, ID string
}

// Origin says where an effective value came from.
type Origin uint8

// The origins of a value. None means that no rule set it and it has no initial value.
const (
	None Origin = iota
	Cascade
	Fixed
	Initial
	Derived
)

func (o Origin) String() string {
	return [...]string{"none", "cascade", "fixed", "initial", "derived"}[o]
}

// Effective is the answer for one property of one entity.
type Effective struct {
	Value    *registry.Value // nil where Origin is None
	Origin   Origin
	Resolved *registry.Value // what the rules alone resolved; nil where none set it
	Winner   *Candidate      // the winning declaration; nil where none set it
	Sets     [][]string      // for the comparison "overlap": every set that must be met
	Reason   *Reason         // why a derivation or a fixed constraint changed it; nil otherwise
	// From are the declarations that Resolved is made of: the winner alone for an exact
	// property and for a bound, every one that applies, highest precedence first, for the
	// other comparisons, and in order of appearance for a repeatable property.
	From []*Candidate
}

// Candidate is one declaration of one rule that applies to an entity's property.
type Candidate struct {
	Rule        *registry.Rule
	Declaration *registry.Declaration
	Value       *registry.Value
}

// Reason explains a value that the rules alone did not give.
type Reason struct {
	Text  string       // one plain sentence, no final stop
	Fixed *world.Fixed // the constraint that clamped it, if any
}
