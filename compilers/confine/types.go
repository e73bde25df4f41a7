// Package confine reads a resolved sandbox policy into the plain terms that every
// OS-altitude target renders: a mount plan, environment names, network rules and limits.
// It is computed once, is independent of any target, and touches no host.
package confine

import (
	"umwelt/compilers"
	"umwelt/registry"
)

// Confinement is the whole of what an OS-altitude target needs to know.
type Confinement struct {
	Root       string     // the project root on the host, absolute
	System     []Mount    // mounts the world declares (system directories, explicit mounts), parents first
	Plan       []Entry    // the project's files, parents before children; the first is the root itself
	Tree       *Node      // the paths that Plan was made from, each with the mode that it gives
	Twins      [][]string // paths that lead to one and the same file, which have one mode: each list sorted, the lists by their first
	Env        []Env      // the variables that may pass, by name
	Network    Network
	Limits     Limits
	SearchPath string   // PATH inside; "" where no rule sets it
	Allowed    []string // exec entities that rules allow, by path; nil where no rule speaks of any
	Notes      []compilers.Note
	ByName     []Source // the declarations that fit new files by their names, those that most directories depend on first
	Usual      bool     // Options.Usual
}

// Mode is what the actor may do at a path.
type Mode uint8

// The modes, most restrictive first.
const (
	Hidden Mode = iota
	ReadOnly
	ReadWrite
)

func (m Mode) String() string { return [...]string{"hidden", "ro", "rw"}[m] }

// Kind is what stands at a path.
type Kind uint8

// The kinds of path.
const (
	File Kind = iota
	Dir
	Symlink
	Special // FIFO, socket, device
)

// Entry is one line of the mount plan: from Path down, until another entry says
// otherwise, the mode is Mode. Path is relative to the root with forward slashes and "."
// for the root itself, and holds the exact bytes of the name.
//
// A Hidden directory is covered by an empty, unwritable tmpfs, which also carries what
// is mounted below it; a Hidden file is covered by something unreadable. A Symlink entry
// is made anew (Target is its text). Pin says that the entry repeats its parent's mode
// only so that it is a mount point and cannot be renamed away with what is below it.
type Entry struct {
	Path   string
	Mode   Mode
	Kind   Kind
	Target string
	Pin    bool
	Shown  bool   // a Hidden directory that may itself be seen: it can be listed, and holds only what is mounted in it
	Why    string // the rule that decided, as "file:line", "no rule" or "not in the world"; for comments and reports
}

// Mount is a mount from outside the project.
type Mount struct {
	Path     string // absolute, inside
	Source   string // absolute, on the host; the link's text for "symlink"; "" for tmpfs, proc, dev
	Type     string // bind, tmpfs, proc, dev, symlink
	ReadOnly bool
	Size     int64 // bytes, tmpfs only; 0 for no limit
}

// Env is a variable that may pass. Set says that the policy fixes its value, which the
// runner supplies: it never stands in emitted text.
type Env struct {
	Name string
	Set  bool
	By   Source
}

// Network says what may be reached. Where Open, everything but Less; and Allow in any case,
// each but its own Less. Nothing that a pattern of Deny fits may be reached.
type Network struct {
	Open  bool
	By    Source // what opened it
	Less  []Endpoint
	Allow []Endpoint
	Deny  []string // patterns of hosts; "*" for everything
}

// Whole reports whether everything may be reached.
func (n Network) Whole() bool { return n.Open && len(n.Less) == 0 && len(n.Deny) == 0 }

// Endpoint is one endpoint. Host or CIDR may be empty, Port 0 and Protocol "" for any. Less
// are endpoints that may be in it and may not be reached; they have no Less of their own.
type Endpoint struct {
	Host, CIDR, Protocol string
	Port                 int
	By                   Source // what allows it or, in Less, denies it
	Less                 []Endpoint
}

// Source is the declaration that decided, to hang a note on.
type Source struct {
	Rule        *registry.Rule
	Declaration *registry.Declaration
}

// Limits are resource limits; nil where no rule sets one, which means no limit.
type Limits struct {
	Memory, Tmpfs, Disk  *int64 // bytes
	WallTime, CPUTime    *int64 // nanoseconds
	MaxFDs, MaxProcesses *int64
	CPU                  *float64 // cores
	By                   []Limit  // every declaration that sets one, in the order of the vocabulary
}

// Limit is the declaration of one limit. Name is the property's.
type Limit struct {
	Name string
	Source
}
