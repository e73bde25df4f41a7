// Package narrow proposes the tightest view that would have allowed what was observed.
//
// A Collector takes observations in, one at a time, and keeps what is distinct of them.
// Propose turns what it holds into a view: a fresh one, or the current one tightened. It
// guesses nothing: every rule comes out of what was observed and a written step, and every
// step can be switched off. The result does not depend on the order of observations, files
// or runs.
//
// What comes out is checked before it is returned: it allows every observation that was kept
// and that a view can express, and nothing that the current view does not.
package narrow

import (
	"umwelt/ast"
	"umwelt/cascade"
	"umwelt/ratchet"
	"umwelt/registry"
	"umwelt/world"
)

// Step is a step of the ladder by which several things come under one rule.
type Step string

// The steps, narrowest first. Exact is always there. Entries is for directories in which
// names came and went; on an operating system that takes a rule that holds for every new name.
const (
	Exact     Step = "exact"     // one path, one call
	Pattern   Step = "pattern"   // names of one directory that numbers, hashes, dates or random suffixes tell apart; calls that share their first words
	Suffix    Step = "suffix"    // names of one ending, in a directory or below it
	Directory Step = "directory" // all that lies directly in a directory
	Subtree   Step = "subtree"   // all that lies below a directory
	Entries   Step = "entries"   // new names below a directory, known ones that were not changed left out
)

// Steps are all of them, narrowest first.
func Steps() []Step { return []Step{Exact, Pattern, Suffix, Directory, Subtree, Entries} }

// Options steer Propose and the Collector.
type Options struct {
	Root         string        // the project's absolute path; "" takes the world's
	RecordedRoot string        // the path that it had where it was observed; "" where that is the same
	Context      []cascade.Ref // the context that the proposal is for
	Steps        []Step        // the steps that may be taken; nil for all
	Slack        int           // how many known files may be admitted, in all, that were not observed
	MinRuns      int           // what fewer runs needed is left out; 0 counts as 1
	Headroom     float64       // by which a bound exceeds what was measured, 0.2 for 20%; below 0 counts as 0
	MaxFacts     int           // how many distinct facts are kept; 0 for DefaultMaxFacts
}

// DefaultMaxFacts is how many distinct facts a Collector keeps where nothing else is asked.
const DefaultMaxFacts = 1 << 20

// DefaultHeadroom is the headroom that the command gives bounds.
const DefaultHeadroom = 0.2

func (o *Options) takes(s Step) bool {
	if o.Steps == nil || s == Exact {
		return true
	}
	for _, t := range o.Steps {
		if t == s {
			return true
		}
	}
	return false
}

// Input is what a proposal is made over.
type Input struct {
	Options
	// World is what exists, with its vocabulary. It is loaded with the current view, or
	// without any for a fresh one.
	World *world.World
	// WorldFile says that a world file was read, so that a view brings nothing into being
	// by naming it but what the vocabulary lets it.
	WorldFile bool
	// View is the current view; nil for a fresh one.
	View *ast.View
	// Import reads what View imports. What is imported is not rewritten.
	Import registry.Importer
	// Sources are what the observations were read from, in any order.
	Sources []SourceTally

	made []string // directories that the runs made
}

// SourceTally is what a source says of what it read for a run.
type SourceTally struct {
	Source string // the argument, such as strace://trace.log
	Run    int
	ratchet.Tally
}

// Proposal is a proposed view and the reasons for it.
type Proposal struct {
	Text   []byte // the view, formatted
	Report Report
}
