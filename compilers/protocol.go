// Package compilers is the protocol between a resolved policy and the texts that
// enforcement tools read.
//
// A compiler is a pure function: it touches no file, clock, environment or network, and
// the same input gives the same bytes. Each target lives in its own subpackage and is
// listed once, in the package compilers/all.
package compilers

import (
	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/registry"
)

// Level says how far a target carries a part of the policy.
type Level uint8

// The levels, weakest first.
const (
	Dropped   Level = iota // not carried at all
	Requested              // asked for; the tool may not hold it
	Partial                // carried, but more tightly than written or only in part
	Enforced
)

func (l Level) String() string {
	return [...]string{"dropped", "requested", "partial", "enforced"}[l]
}

// Support is what a target does with one property, and why where that is not Enforced.
type Support struct {
	Level Level
	Why   string
}

// Option is one "--set key=value" that a target takes.
type Option struct {
	Key, Default, Description string
	Values                    []string // the only values it takes; empty for any
}

// Info declares a compiler.
type Info struct {
	Name        string
	Description string // one line, no final stop
	Altitude    registry.Altitude
	Locality    string // "local" or "remote"
	Model       string // "sync" or "async"
	Format      string // what the text is, for people
	Options     []Option
	// Support is keyed by "type.property", "type.*" and "*", the nearest first. A property that is not listed is
	// dropped, because of its altitude where that is above the target's, else because the
	// target has no such mechanism.
	Support map[string]Support
	// Contexts says that the text itself answers for every context, so that a rule is carried
	// whether or not its qualifiers hold.
	Contexts bool
}

// Input is everything a compiler may look at.
type Input struct {
	Resolution *cascade.Resolution
	Set        map[string]string // target options, already checked against Info.Options
	Version    string            // of the tool, for header comments; may be empty
	// Unwritten says that only diagnostics and notes are wanted. A compiler for which the text
	// is most of the work, and gives neither, may leave it empty.
	Unwritten bool
	// Sources gives the texts that the policy was made of, with secrets blanked. Only what
	// saves a policy whole asks for them; nil where they are not known.
	Sources func() ([]Source, error)
}

// Source is one text that a policy was made of. What a view or a vocabulary imports is of
// the kind Import.
type Source struct {
	Kind, Name string
	Text       []byte
}

// The kinds of Source.
const (
	Vocabulary = "vocabulary"
	View       = "view"
	Import     = "import"
)

// Option is the value of an option, or its default.
func (in Input) Option(info Info, key string) string {
	if v, ok := in.Set[key]; ok {
		return v
	}
	for _, o := range info.Options {
		if o.Key == key {
			return o.Default
		}
	}
	return ""
}

// Output is a compiled text.
type Output struct {
	Text        []byte
	Notes       []Note    // what this particular policy could not get exactly
	Diagnostics diag.List // an error makes Text void
}

// Note lowers the coverage of one declaration (or, without one, of all of a rule's), or
// with neither is a remark on the whole text.
type Note struct {
	Rule        *registry.Rule
	Declaration *registry.Declaration
	Level       Level
	Why         string
}

// Compiler is one target.
type Compiler struct {
	Info    Info
	Compile func(Input) Output
}
