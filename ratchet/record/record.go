// Package record records what a command does, by way of strace.
//
// A command that runs by itself is started under strace (Run); a sandbox that waits for
// its command to begin is attached to from outside (Attach), so that nothing of strace is
// within the sandbox's reach. Either way the log streams through a pipe that has no name
// anywhere: it is never on disk and never in memory as a whole.
//
// No tracer can see that a variable of the environment was read, so no such observation is
// ever made.
package record

import (
	"io"
	"os"
	"time"

	"umwelt/ratchet"
)

// Options say what becomes of a recording.
type Options struct {
	// Dir is the absolute directory in which the command begins.
	Dir string
	// Emit gets every observation in order, from one goroutine. After an error of its own
	// it gets no more, and the recording is broken.
	Emit func(ratchet.Observation) error
	// Log gets a copy of strace's log as it is; nil for none.
	Log io.Writer
}

// Command is what Run runs.
type Command struct {
	Argv []string // the name of the program, looked up as usual, and its arguments
	// Stdin, Stdout and Stderr are handed to it as they are; nil is the null device.
	Stdin, Stdout, Stderr *os.File
	// Stop forwards the signals that it receives to the command. Once the command has
	// ended, the next one ends what it left behind.
	Stop <-chan os.Signal
	// Lingering is called where processes that the command left behind keep the recording
	// from its end for longer than a second; nil for nothing.
	Lingering func()
}

// Subject is a process that waits, and under which the command will begin.
type Subject struct {
	PID int
	// Becomes says that the process itself becomes the command. Otherwise it is no part of
	// it, and nothing that it does is recorded.
	Becomes bool
	Stages  int // how many programs are run before the command, which are no part of it
}

// Result is what came of a recorded command.
type Result struct {
	// Exit is its exit status, 128+n where signal n ended it, 126 where it could not be run
	// and 127 where it was not found.
	Exit         int
	Program      string // what was run, "" where nothing was
	Started      time.Time
	Wall         time.Duration // until the command itself ended
	User, System time.Duration // of it and of those of its children that it waited for
	MaxRSS       int64         // bytes, of the largest of these processes
	Tally        ratchet.Tally
}

// The exit statuses of a command that did not run.
const (
	exitCannot   = 126
	exitNotFound = 127
)

// MissingError says that strace is not here or may not be used, and what helps.
type MissingError struct{ What, How string }

func (e *MissingError) Error() string { return e.What + " (" + e.How + ")" }
