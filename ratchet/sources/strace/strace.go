// Package strace reads what strace wrote of a run and tells which files, programs and
// endpoints it used, and what came of it.
//
// A log names most objects relatively: to a working directory, to an open directory, to a
// descriptor. So the reader keeps, for every process of the log, its working directory and
// its descriptors, and follows them through fork, clone, exec, chdir, dup, close and rename.
// An object that the log does not tell for sure is counted as unresolved and never guessed.
//
// The pieces, from the bottom: lines (what stands before the call), arguments, the table of
// system calls, processes, paths, the calls themselves, the window in which equal
// observations are counted as one, and the readers of one file and of a family of files.
package strace

import "umwelt/ratchet"

// Source is the source strace://FILE. FILE is a log, or the prefix of the files that
// strace -ff wrote; "-" is the standard input.
var Source = ratchet.Source{
	Name:    "strace",
	Summary: "what strace wrote of a run, in any of its common forms",
	Example: "strace://trace.log",
	Read:    Read,
}

// Shows are the entity types of which a log shows every use, where it was recorded with
// Arguments.
func Shows() []string { return []string{"dir", "exec", "file", "network"} }
