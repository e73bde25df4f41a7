// Package runner runs a command in a sandbox of this machine.
//
// It applies what the compilers of local targets write, adds what those targets have no
// word for (a system call filter, resource limits, an end to the time) and reports what
// came of it. It never runs a command outside of a sandbox: where a part of it cannot be
// set up, nothing is run.
package runner

import (
	"errors"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	"umwelt/compilers"
	"umwelt/compilers/confine"
)

// Spec is one run.
type Spec struct {
	Confinement *confine.Confinement
	Values      map[string]string // the values that the policy fixes, by name of the variable
	Environ     []string          // the caller's environment, of which only what may pass is passed
	Command     []string          // the command and its arguments
	Set         map[string]string // options of the target, already checked
	// At is where the project stands inside, where the target can move it; "" is its own
	// path. Landlock leaves everything where it is.
	At     string
	Stdin  *os.File
	Stdout *os.File
	Stderr *os.File
	// Stop forwards the signals that it receives to the command. The second one, and a
	// closed channel, end the run.
	Stop <-chan os.Signal
	// Observe gets what the proxy to the network decides, as observation lines; nil for none.
	Observe io.Writer
	// Watch, where it is there, is called once the sandbox stands and waits for the command
	// to begin. The command begins when it comes back without an error, and is ended when
	// the channel that it gives is closed. A target that sets itself up anew calls it
	// again. It is called under bwrap and Landlock alone.
	Watch func(Stand) (lost <-chan struct{}, err error)

	// bare does without namespaces where a target can, as on a kernel that gives none.
	bare bool
}

// Stand is a sandbox before its command begins.
type Stand struct {
	Leader int // its first process, which waits, as it is numbered outside
	// Becomes says that the first process itself becomes the command. Otherwise one that
	// it starts does, and the first process is no part of the command.
	Becomes bool
	Stages  int    // how many programs are run in it before the command
	Root    string // where the project stands inside
	Proxy   string // where the proxy stands inside, as host:port; "" where there is none
}

// Target is one way of holding a command on this machine.
type Target struct {
	Info compilers.Info // what it holds when this package runs it
	// Named says that it is used only where the caller names it: it needs more than a
	// program, and may do what nobody expects.
	Named bool

	available func() error
	version   func() string
	notes     func(*confine.Confinement) []compilers.Note
	start     func(*Spec, *Result) (*process, error)
}

// Available is a MissingError where something that the target needs is not there.
func (t Target) Available() error { return t.available() }

// Version is the version of what holds the command, "" where it does not say.
func (t Target) Version() string { return t.version() }

// runnable is a compiler's declaration with what running adds to it.
func runnable(info compilers.Info) compilers.Info {
	support := maps.Clone(info.Support)
	support["env.value"] = compilers.Support{Level: compilers.Enforced}
	cpu := compilers.Support{Level: compilers.Partial, Why: "where no control group can be made, the sandbox is bound to whole processors"}
	for _, name := range []string{"resource.cpu", "resource.max-cpu"} {
		if _, ok := support[name]; !ok {
			support[name] = cpu
		}
	}
	info.Support = support
	// These are the runner's to say.
	info.Options = slices.DeleteFunc(slices.Clone(info.Options), func(o compilers.Option) bool { return o.Key == "form" || o.Key == "workdir" })
	return info
}

// Result is what came of a run.
type Result struct {
	Target string
	Argv   []string // what was started; values of variables never stand in it
	// Exit is the exit status of the command, 128+n where signal n ended it, 124 where its
	// time was over, 126 where it could not be run and 127 where it was not found.
	Exit     int
	Signal   int // the signal that ended the command, or 0
	TimedOut bool
	Started  time.Time
	Duration time.Duration
	Usage    Usage
	Limits   []Held
	// Remarks say what this machine could not give, and what stands for it.
	Remarks []string
}

// Usage is what the sandbox used, as far as the kernel says.
type Usage struct {
	User, System time.Duration
	MaxRSS       int64 // bytes, of the largest process
}

// Held says how one limit is held. Strict limits hold for the sandbox as a whole and
// cannot be got round; others are requests.
type Held struct {
	Name   string
	Value  string
	How    string
	Strict bool
}

// The exit statuses that are not the command's own.
const (
	ExitTimeout  = 124
	ExitFailed   = 125 // of the tool itself
	ExitCannot   = 126
	ExitNotFound = 127
)

// MissingError says that something a target needs is not there, and how to get it.
type MissingError struct {
	Target, What, How string
}

func (e *MissingError) Error() string {
	return e.Target + " cannot be used: " + e.What + " (" + e.How + ")"
}

// startError is a command that could not be started in a sandbox that stood.
type startError struct {
	exit int
	what string
}

func (e *startError) Error() string { return e.what }

// errNoNamespaces says that the kernel gives this user no namespaces.
var errNoNamespaces = errors.New("the kernel gives this user no namespaces")
