// Package ratchet holds what was observed of a run: the observations, the lines they are
// written in, and what a source of them is.
//
// Its subpackages read the records of other tools (sources), take a command line apart
// (shell), record a run (record) and propose the tightest view that would have allowed what
// was observed (narrow).
package ratchet

import (
	"cmp"
	"slices"
	"time"
)

// Verb is what was done to an entity.
type Verb string

// The verbs. Rename stands once on the old name and once on the new one, so that each
// name's own permission can be found; Measure carries the attributes "value" and "unit".
const (
	Read    Verb = "read"
	Write   Verb = "write"
	Create  Verb = "create"
	Delete  Verb = "delete"
	Rename  Verb = "rename"
	List    Verb = "list"
	Stat    Verb = "stat"
	Exec    Verb = "exec"
	Connect Verb = "connect"
	Bind    Verb = "bind"
	Call    Verb = "call"
	Env     Verb = "env"
	Measure Verb = "measure"
)

// Verbs are all of them, in the order in which reports name them.
func Verbs() []Verb {
	return []Verb{Read, Write, Create, Delete, Rename, List, Stat, Exec, Connect, Bind, Call, Env, Measure}
}

// Outcome is what came of it.
type Outcome string

const (
	Allowed Outcome = "allowed" // it was done
	Denied  Outcome = "denied"  // something refused it: a policy, or permissions
	Failed  Outcome = "failed"  // it was not done for another reason, such as a missing file
)

// Attribute is a named text.
type Attribute struct{ Name, Value string }

// Place is where an observation was read: a line of a file, counted from 1; 0 where the
// record has no line, as in a database.
type Place struct {
	File string `json:"file"`
	Line int64  `json:"line,omitempty"`
}

// Observation is one thing that was done, or was tried.
//
// Of a file or a directory, ID is its path as the observed process saw it: absolute, with
// no "." or ".." and no doubled slash in it, or relative to the project's root. It may hold
// any bytes but NUL. Of a network endpoint it is host:port, of an environment variable its
// name and never its value, of a program its path, of a tool its name.
//
// These attributes have a meaning beside what the vocabulary gives them:
//
//   - kind: "dir" or "file" of what was created, deleted or renamed, where it is known
//   - existed: "unknown" of what was created or, if it was there before, written
//   - from, to: the other name of a rename
//   - process: the process, as the source numbers it
//   - command: of exec, the words as a JSON list
//   - call: of a tool, what was asked of it as one text (a command, a path, an address)
//   - value, unit: of a measure; bytes for sizes, ms for times, "" for counts
//   - of: "resident" of a measure of memory that is not of address space
//   - address: of an endpoint, the address that its host name led to
type Observation struct {
	Time       time.Time   // the zero time where it is not known
	Context    []Attribute // the actor's context: type and id, in order of types
	Taxon      string      // the taxon of Type where the source knows it
	Type       string
	ID         string
	Attributes []Attribute // in order of names
	Verb       Verb
	Outcome    Outcome
	Reason     string // why it was denied or failed
	Count      int64  // how many times the same was observed; 0 counts as 1
	At         Place
}

// Times is how many times it was observed, at least 1.
// More than maxTimes count as so many, so that sums of them stay sums.
func (o *Observation) Times() int64 { return min(max(o.Count, 1), maxTimes) }

const maxTimes = 1 << 32

// Attribute is the value of a named attribute, "" where there is none.
func (o *Observation) Attribute(name string) string {
	for _, a := range o.Attributes {
		if a.Name == name {
			return a.Value
		}
	}
	return ""
}

// Attributes puts pairs of name and value in order of names and leaves out those without
// a value.
func Attributes(pairs ...string) []Attribute {
	var out []Attribute
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			out = append(out, Attribute{pairs[i], pairs[i+1]})
		}
	}
	slices.SortFunc(out, func(a, b Attribute) int { return cmp.Compare(a.Name, b.Name) })
	return out
}
