// Package workspace makes a virtual workspace that holds exactly what a policy makes
// visible of a project, and reconciles it with the project afterwards.
//
// A workspace is a directory with two parts. "tree" is the actor's: everything in it is
// outside text, and Apply believes nothing of it. "manifest.json" is the record of what
// was put there and of what the policy allows; it must lie out of the actor's reach, so
// only "tree" is handed out.
//
// Every access to the tree and to the project goes beneath an open directory and through
// no symbolic link, so that nobody who swaps a directory for a link can redirect it.
package workspace

import (
	"fmt"

	"umwelt/compilers/confine"
)

// The names in a workspace directory.
const (
	TreeName     = "tree"
	ManifestName = "manifest.json"
	journalName  = "journal.json" // only while an apply runs, or after one was killed
	lowerName    = "lower"        // of Overlay: hard links to the project's files
	upperName    = "upper"        // of Overlay: what the actor wrote
	workName     = "work"         // of Overlay: the kernel's own
)

// Strategy says how a file that the actor may not change comes into the tree. A file that
// it may change is a copy, whatever the strategy.
type Strategy string

// The strategies.
//
// Copy makes a copy without permission to write. On filesystems that can, it shares its
// blocks with the project's file.
//
// Link makes a symbolic link to the project's file, so it costs nothing. Whoever follows
// it reaches the project's own file, so a link is made only where nobody can write through
// it: where Options.Confined says that the actor is kept from writing to the project, or
// where this user itself neither owns the file nor may write to it. Any other file is
// copied. Hard links are never made in the actor's tree: nothing tells them from the file.
//
// Overlay mounts the tree as an overlay over hard links, so that nothing is copied until
// the actor changes it. It needs the right to mount, and the workspace on the project's
// filesystem.
const (
	Copy    Strategy = "copy"
	Link    Strategy = "link"
	Overlay Strategy = "overlay"
)

// Strategies are all strategies, the default first.
func Strategies() []string { return []string{string(Copy), string(Link), string(Overlay)} }

// Options say what to build.
type Options struct {
	Root     string // the project, an absolute path
	Dir      string // the workspace to make; it must not exist, or be an empty directory
	Strategy Strategy
	// Confined says that whoever works in the tree cannot write to the project, because a
	// sandbox shows it read-only or not at all. Link then links every protected file.
	Confined bool
}

// Built is a workspace that was made.
type Built struct {
	Dir      string
	Manifest *Manifest
	Skipped  []Skipped // what the policy shows and the workspace does not have
	Copied   int       // protected files that Link had to copy
}

// Skipped is a path that is not in the workspace although the policy shows it. The actor
// can then neither see nor make anything there.
type Skipped struct {
	Path string
	Why  string // no final stop
}

// Counts are the files and links of a manifest by what the actor may do with them, and
// the directories it sees.
type Counts struct {
	Writable    int `json:"writable"`
	ReadOnly    int `json:"read-only"`
	Hidden      int `json:"hidden"`
	Directories int `json:"directories"`
}

// Counts counts the entries.
func (m *Manifest) Counts() Counts {
	var c Counts
	for i := range m.Entries {
		switch e := &m.Entries[i]; {
		case e.Kind == KindDir:
			if e.Present {
				c.Directories++
			}
		case e.Kind == KindAbsent:
		case e.Mode == confine.Hidden:
			c.Hidden++
		case e.Mode == confine.ReadWrite:
			c.Writable++
		default:
			c.ReadOnly++
		}
	}
	return c
}

// tempPrefix begins the name of everything that is written aside.
const tempPrefix = ".umwelt-"

// maxEntries bounds what a workspace may hold, so that an actor cannot exhaust memory.
const maxEntries = 5_000_000

var errTooMany = fmt.Errorf("it holds more than %d entries", maxEntries)
