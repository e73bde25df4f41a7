package ratchet

import (
	"cmp"
	"slices"
)

// Source reads the records of one tool.
type Source struct {
	Name    string // what stands before "://"
	Summary string // one line
	Example string // a whole argument, such as strace://trace.log
	Read    Reader
}

// Reader reads what in names and hands every observation to emit, in the order of the
// records. An observation is emit's to keep. It stops at an error of emit and returns it.
// Its memory does not depend on the length of what it reads.
//
// What is broken, cut off or not understood is counted in the tally, never guessed. The
// error is for what cannot be read at all: no such file, not this kind of file.
type Reader func(in Input, emit func(Observation) error) (Tally, error)

// Input is what to read.
type Input struct {
	Name string // what stands after "://": as a rule a path, relative to the working directory
	// Dir is the absolute directory in which what was recorded began, where the record does
	// not say; "" where nobody knows, and then a relative path cannot be placed.
	Dir string
}

// GapKind says why a record gave no observation.
type GapKind string

const (
	Broken     GapKind = "broken"     // the record is not of the form
	Truncated  GapKind = "truncated"  // the record, or a text in it, was cut off
	Unresolved GapKind = "unresolved" // its object cannot be told, such as a relative path without a directory
	Unknown    GapKind = "unknown"    // the form is right, and its meaning is not known
)

// Gap is a count of records that gave no observation for one reason.
type Gap struct {
	Kind  GapKind
	What  string // such as the name of the system call; made of the source's own words
	Count int64
	First []Place // the first few
}

// Tally is what a source says of what it read.
type Tally struct {
	Records      int64 // lines, or what stands for them
	Observations int64
	Gaps         []Gap // in order of kind, then of what
	// Partial says that the record ends before its end: a process did not end in it, its
	// last line has no end, or a file of it is missing. Why says which.
	Partial bool
	Why     string
	// Shows are the entity types of which the record shows every use, so that one which is
	// not in it was not made. Of the others, nothing follows from silence.
	Shows []string
}

const (
	maxPlaces = 5
	maxGaps   = 200
)

// Miss counts a record that gave no observation. Where there are too many reasons to name
// each, what is left out of it.
func (t *Tally) Miss(kind GapKind, what string, at Place) {
	i, found := t.gap(kind, what)
	if !found && len(t.Gaps) >= maxGaps {
		what = ""
		i, found = t.gap(kind, what)
	}
	if !found {
		t.Gaps = slices.Insert(t.Gaps, i, Gap{Kind: kind, What: what})
	}
	g := &t.Gaps[i]
	if g.Count++; len(g.First) < maxPlaces {
		g.First = append(g.First, at)
	}
}

func (t *Tally) gap(kind GapKind, what string) (int, bool) {
	return slices.BinarySearchFunc(t.Gaps, Gap{Kind: kind, What: what}, func(a, b Gap) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.What, b.What))
	})
}

// Missed is how many records gave no observation.
func (t *Tally) Missed() int64 {
	var n int64
	for _, g := range t.Gaps {
		n += g.Count
	}
	return n
}

// Cut marks the record as partial. The first reason stays.
func (t *Tally) Cut(why string) {
	if !t.Partial {
		t.Partial, t.Why = true, why
	}
}
