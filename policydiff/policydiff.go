// Package policydiff compares two policies over one world: which answers differ, in which
// contexts, and whether the difference gives the actor more or less.
//
// It compares answers, not texts. Every context that the qualifiers of either view can
// tell apart is looked at, up to a bound, and so is what may be made later. What cannot be
// put in order counts as a widening, so that a gate built on the comparison fails closed.
package policydiff

import (
	"umwelt/cascade"
	"umwelt/registry"
	"umwelt/world"
)

// Kind says what a difference means for the actor.
type Kind uint8

// The kinds of difference, the gravest first.
const (
	Widening  Kind = iota // the new answer is less restrictive
	Change                // no direction tells which answer is the more restrictive
	Narrowing             // the new answer is more restrictive
	Neutral               // another value that is exactly as restrictive
)

func (k Kind) String() string {
	return [...]string{"widening", "change", "narrowing", "neutral"}[k]
}

// Widens reports whether the difference must be taken for a widening: it is one, or it
// cannot be told that it is none.
func (k Kind) Widens() bool { return k <= Change }

// Pair is one environment in which two policies are compared. The two engines share a
// registry. Their worlds may be one, or come from the same files, or be those of two times:
// then what is in one of them only grants nothing in the other.
type Pair struct {
	Env      string // the id of the root entity where the caller set it; "" else
	Old, New *cascade.Engine
}

// Options steer Compare.
type Options struct {
	Context     []cascade.Ref // what is active in every context
	MaxContexts int           // how many contexts to compare at most, per environment; 0 means DefaultContexts
	// NoSecrets leaves out properties that are never printed, which a side may not know.
	NoSecrets bool
}

// DefaultContexts is how many contexts are compared where nothing else is asked.
const DefaultContexts = 64

// Result is everything that differs.
type Result struct {
	Contexts    []Context
	Left        int // contexts that were not compared because of the bound
	Groups      []Group
	Entities    int // how many existing entities were compared
	Equivalence Equivalence
}

// Context is one context that was compared.
type Context struct {
	Env  string
	Refs []cascade.Ref // what has to be named; what is active by itself is left out
}

// Group is one change of one property, with everything that it befalls.
type Group struct {
	Kind     Kind
	Type     *registry.EntityType
	Property *registry.Property // nil: whether the entity exists at all for the actor
	// Later says that the change befalls what may be made later below the directories in
	// Entities, and not those themselves.
	Later    bool
	Old, New Answer
	Entities []*world.Entity // in vocabulary order, then by id
	Contexts []int           // indices into Result.Contexts; all of them where it does not matter
}

// Answer is what one of the two policies says.
type Answer struct {
	// Values is the one value, or every one that is possible for what is made later. nil
	// among them stands for no value.
	Values []*registry.Value
	Sets   [][]string // every set that must be met
	Origin cascade.Origin
	Reason string // why, where the rules alone did not decide
	// Absent says that the entity exists only because the other view names it, or, where
	// Reason says so, that it is in the other world only.
	Absent bool
	Causes []Cause
}

// Cause is a declaration or a fixed constraint that an answer rests on. One of Rule and
// Fixed is nil; Declaration may be nil where all of the rule bears on it.
type Cause struct {
	Rule        *registry.Rule
	Declaration *registry.Declaration
	Fixed       *world.Fixed
}

// Widens reports whether anything must be taken for a widening.
func (r *Result) Widens() bool { return r.Count(Widening)+r.Count(Change) > 0 }

// Count is the number of groups of a kind.
func (r *Result) Count(k Kind) int {
	n := 0
	for i := range r.Groups {
		if r.Groups[i].Kind == k {
			n++
		}
	}
	return n
}
