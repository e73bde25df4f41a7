//go:build amd64 || arm64

package runner

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// execConfig is what the second stage lays on itself and then becomes.
type execConfig struct {
	Dir    []byte
	Argv   [][]byte
	Env    [][]byte
	Rules  ruleset
	Limits []rlimit
	Cores  int // how many processors it is bound to; 0 for all
	Filter []unix.SockFilter
}

// becomeCommand lays every restriction on this thread and replaces the process. It comes
// back only with what went wrong.
func becomeCommand(c *execConfig) failure {
	broken := func(what string, err error) failure {
		return failure{Exit: ExitFailed, What: fmt.Sprintf("%s: %v", what, err)}
	}
	if err := unix.Chdir(string(c.Dir)); err != nil {
		return broken("the project's root cannot be entered", err)
	}
	if c.Cores > 0 {
		if err := bindTo(c.Cores); err != nil {
			return broken("the processors cannot be bound", err)
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return broken("new privileges cannot be renounced", err)
	}
	if err := dropCapabilities(); err != nil {
		return broken("capabilities cannot be dropped", err)
	}
	if err := c.Rules.restrict(); err != nil {
		return broken("the Landlock rules cannot be applied", err)
	}
	// Everything but the standard streams closes when the command starts, whatever its
	// number and whoever left it open.
	if err := unix.CloseRange(3, ^uint(0)>>1&0xffffffff, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return broken("inherited descriptors cannot be closed", err)
	}
	argv, env := stringsOf(c.Argv), stringsOf(c.Env)
	candidates, notFound := lookUp(argv[0], env)
	if notFound != nil {
		return *notFound
	}
	if err := install(c.Filter); err != nil {
		return broken("the system call filter cannot be installed", err)
	}
	if err := ready(); err != nil {
		return broken("nobody says that the command may run", err)
	}
	// These come last: the limit on memory is not meant for this program.
	for _, l := range c.Limits {
		if err := setLimit(l); err != nil {
			return broken(fmt.Sprintf("resource limit %d cannot be set", l.Resource), err)
		}
	}
	return execute(candidates, argv, env)
}

// execute tries each place that the command may lie at, as a shell does.
func execute(candidates, argv, env []string) failure {
	f := failure{Exit: ExitNotFound, What: "the command was not found"}
	for _, path := range candidates {
		err := unix.Exec(path, argv, env)
		switch err {
		case unix.ENOENT, unix.ENOTDIR:
		case unix.ENOEXEC:
			// A script without a first line that names its interpreter.
			err = unix.Exec("/bin/sh", append([]string{"sh", path}, argv[1:]...), env)
			return failure{Exit: ExitCannot, What: fmt.Sprintf("the command cannot be run: %v", err)}
		default:
			f = failure{Exit: ExitCannot, What: fmt.Sprintf("the command cannot be run: %v", err)}
		}
	}
	return f
}

// lookUp is where a command may lie, by the search path of the sandbox.
func lookUp(name string, env []string) ([]string, *failure) {
	if strings.Contains(name, "/") {
		return []string{name}, nil
	}
	var out []string
	for _, v := range env {
		list, ok := strings.CutPrefix(v, "PATH=")
		if !ok {
			continue
		}
		for dir := range strings.SplitSeq(list, ":") {
			// A part that is no absolute path would look in the working directory, which
			// the actor may be able to write.
			if !strings.HasPrefix(dir, "/") {
				continue
			}
			path := strings.TrimSuffix(dir, "/") + "/" + name
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
				out = append(out, path)
			}
		}
		break
	}
	if len(out) == 0 {
		return nil, &failure{Exit: ExitNotFound, What: "the command was not found on the search path of the sandbox"}
	}
	return out, nil
}

func setLimit(l rlimit) error {
	value := l.Value
	var now unix.Rlimit
	if err := unix.Getrlimit(l.Resource, &now); err != nil {
		return err
	}
	// One that is tighter already stays, since nobody without privileges can raise it.
	value = min(value, now.Max)
	return unix.Prlimit(0, l.Resource, &unix.Rlimit{Cur: value, Max: value}, nil)
}

// bindTo leaves this thread the first n of the processors that it may run on.
func bindTo(n int) error {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return err
	}
	left := first(set, n)
	return unix.SchedSetaffinity(0, &left)
}

// first is the first n processors of a set.
func first(set unix.CPUSet, n int) unix.CPUSet {
	var left unix.CPUSet
	for i := 0; n > 0 && i < 64*len(set); i++ {
		if set.IsSet(i) {
			left.Set(i)
			n--
		}
	}
	return left
}

func stringsOf(in [][]byte) []string {
	out := make([]string, len(in))
	for i, b := range in {
		out[i] = string(b)
	}
	return out
}

func bytesOfAll(in []string) [][]byte {
	out := make([][]byte, len(in))
	for i, s := range in {
		out[i] = []byte(s)
	}
	return out
}
