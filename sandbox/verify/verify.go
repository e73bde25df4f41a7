// Package verify tries in a real sandbox what a policy allows and forbids, and counts where
// the sandbox does something else.
//
// What is expected comes from the resolution, path by path, and not from the mounts that a
// compiler made of it. Where the target has declared beforehand that it gives less than the
// policy says, less is no fault; more always is one.
package verify

import (
	"errors"

	"umwelt/cascade"
	"umwelt/compilers"
	"umwelt/compilers/confine"
)

// Options say what to verify and how.
type Options struct {
	Target string
	Set    map[string]string // target options, already checked
	// Sample is how many paths of the project to try; 0 for all. Which ones follows from
	// Seed alone.
	Sample int
	Seed   uint64
	// InPlace works on the project itself, where only what changes nothing is tried, in
	// place of a copy.
	InPlace bool
	Scratch string   // directory to make the copy in; "" for /var/tmp
	Program string   // the program that is a probe when it is run with probe.Argument
	Environ []string // the caller's environment
	// Load resolves the same policy over another project root.
	Load func(root string) (*cascade.Resolution, error)
	// Doing, where it is set, is told what is done next.
	Doing func(what string)

	tamper func(*confine.Confinement) // tests make the sandbox wrong with it
}

// ErrInterrupted ends a verification that somebody does not want to wait for.
var ErrInterrupted = errors.New("it was interrupted")

// Report is what came of it.
type Report struct {
	Target, Version string
	Paths           int // of the project that were tried
	Of              int // of the project in all
	Variables       int
	Endpoints       int
	Limits          int
	Probes          int
	Kinds           []Count // probes by what was tried, in alphabetical order
	FalseAllows     []Finding
	FalseDenies     []Finding
	// Remarks say what could not be tried, or was declared partial and turned out so.
	Remarks []string
	// Coverage is how far the target says that it carries the policy.
	Coverage compilers.Coverage
}

// Count is how many probes of a kind there were.
type Count struct {
	Do string
	N  int
}

// Finding is one probe that did not give what the policy says.
type Finding struct {
	Do     string // what was tried
	Path   string // of the project, or what else it was tried on
	Policy string // what the policy says, and where
	Got    string // what happened
}

// Well reports whether the sandbox does what the policy says.
func (r *Report) Well() bool { return len(r.FalseAllows)+len(r.FalseDenies) == 0 }
