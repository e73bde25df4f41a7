// Package roster holds the variable roster of a simulation: which variables exist, how
// they are stored, and who may read, write and be shown each. The roster is one YAML
// document; this package has its plain data types, a strict reader, a deterministic
// writer, and the rules that a roster must keep.
package roster

import "umwelt/diag"

// Version is the only version of the format there is.
const Version = "1.0"

// Roster is the content of the document's one key, "variables".
type Roster struct {
	Version        string
	EvaluationMode string // "mark_and_sweep" or "eager"
	DebugLogging   bool
	Extents        Extents
	ItemProfiles   []string
	Declarations   []Declaration
	At             Places
}

// Extents counts the rows of the scopes that have no count of their own. Zero means that
// the document gives none.
type Extents struct {
	Zones, Groups, MessageSlots, Affordances int64
}

// Declaration is one variable. A string is "" and a pointer or slice nil where the
// document has no such key; an empty role list is a policy, not an absence, and the three
// role lists are required.
type Declaration struct {
	ID            string
	Scope         string
	Type          string
	Lifetime      string
	SemanticType  string
	ReadableBy    []string // "engine", "agent"
	WritableBy    []string // "engine"
	ExposedTo     []string // "agent"
	Profile       string   // item scope only
	Dims          *int64   // vecNi, vecNf and message_token only
	Shape         []int64  // tensors only; not nil where the key stands
	Initial       *Literal // exactly one of Initial and InitialMode
	InitialMode   string
	InitialParams []Param // not nil where the key stands
	Expression    *string
	Normalization *Normalization // exactly where ExposedTo is not empty
	Description   *string
	At            Places
}

// Normalization says how an exposed value is scaled for whoever is shown it.
type Normalization struct {
	Kind   string
	Params []Param // in the order they are written
}

// Param is one named parameter.
type Param struct {
	Name  string
	Value Literal
}

// Param is the value of a parameter, or nil.
func (n *Normalization) Param(name string) *Literal { return find(n.Params, name) }

func find(params []Param, name string) *Literal {
	for i := range params {
		if params[i].Name == name {
			return &params[i].Value
		}
	}
	return nil
}

// Places says where things come from, so that a complaint can point at them: All is the
// whole, Key one of its keys. Both may be empty.
type Places struct {
	All diag.Span
	Key map[string]diag.Span
}

// Of is the place of a key, or of the whole where the key has none.
func (p Places) Of(key string) diag.Span {
	if at, ok := p.Key[key]; ok && at.Source != nil {
		return at
	}
	return p.All
}
