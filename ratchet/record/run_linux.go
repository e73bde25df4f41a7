package record

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"umwelt/ratchet"
)

// lingering is how long what a command left behind may go on before it is said.
const lingering = time.Second

// Run runs a command under strace and comes back when the last process that it started
// has ended. The command is the direct child of this process, and its standard streams are
// those that it was given. An error says that nothing ran, or that nobody recorded it to
// its end; the result holds what is known.
func Run(program string, c Command, o Options) (Result, error) {
	r := Result{Started: time.Now()}
	if problem := r.lookUp(c.Argv[0]); problem {
		return r, nil
	}
	emit, executed, tried := o.Emit, false, false
	o.Emit = func(ob ratchet.Observation) error {
		tried = tried || ob.Verb == ratchet.Exec
		executed = executed || ob.Verb == ratchet.Exec && ob.Outcome == ratchet.Allowed
		return emit(ob)
	}
	s, err := newStream(o, nil)
	if err != nil {
		return r, err
	}
	// strace opens the pipe by its name among the descriptors of this process, so that no
	// descriptor has to be inherited, and so reaches the command.
	log := fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), s.w.Fd())
	// With -DDD the command is the child, and strace is in a session of its own, where no
	// key of the terminal reaches it.
	cmd := &exec.Cmd{Path: program, Args: append(arguments(log, "-q", "-DDD", "--seccomp-bpf", "--"), c.Argv...), Env: os.Environ()}
	// A file that is nil is none in an interface, either.
	if c.Stdin != nil {
		cmd.Stdin = c.Stdin
	}
	if c.Stdout != nil {
		cmd.Stdout = c.Stdout
	}
	if c.Stderr != nil {
		cmd.Stderr = c.Stderr
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: unix.SIGKILL}
	// strace is left without a parent, and would stay as a zombie where nobody collects it.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		s.held()
		return r, err
	}
	ended, err := start(cmd)
	if err != nil {
		s.held()
		return r, err
	}
	lost := r.follow(cmd, s, c, ended)
	r.Tally, err = s.wait()
	own, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
	r.note(cmd.ProcessState, own)
	switch clean := collect(); {
	case err != nil:
		return r, err
	case !tried:
		return r, errors.New("strace could not run the command; what it says stands above")
	case !executed:
		r.Exit, r.Program = exitCannot, ""
	case lost, !clean:
		r.Tally.Cut(errLost.Error())
		return r, errLost
	}
	return r, nil
}

// note takes what is known of the command's end.
func (r *Result) note(state *os.ProcessState, how syscall.WaitStatus) {
	r.Exit = how.ExitStatus()
	if how.Signaled() {
		r.Exit = 128 + int(how.Signal())
	}
	r.User, r.System = state.UserTime(), state.SystemTime()
	if u, ok := state.SysUsage().(*syscall.Rusage); ok {
		r.MaxRSS = u.Maxrss * 1024
	}
}

// lookUp finds the program as a shell does, and reports whether there is none.
func (r *Result) lookUp(name string) (missing bool) {
	path, err := exec.LookPath(name)
	switch {
	case err == nil:
		r.Program, err = filepath.Abs(path)
		if err != nil {
			r.Program = path
		}
		return false
	case errors.Is(err, os.ErrPermission), strings.Contains(name, "/") && !errors.Is(err, os.ErrNotExist):
		r.Exit = exitCannot
	default:
		r.Exit = exitNotFound
	}
	return true
}

// start starts a command whose end is bound to the end of this process.
func start(cmd *exec.Cmd) (ended chan struct{}, err error) {
	ended = make(chan struct{})
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait()
			close(ended)
		}
	}()
	return ended, <-started
}

// follow hands signals on until the last process of the recording has ended. It reports
// whether strace ended before the command did, which is then ended, too.
func (r *Result) follow(cmd *exec.Cmd, s *stream, c Command, ended chan struct{}) (lost bool) {
	stop, over := c.Stop, s.done
	running := true
	var late <-chan time.Time
	for {
		select {
		case <-ended:
			// The log may never have begun.
			s.held()
			r.Wall, running, ended = time.Since(r.Started), false, nil
			late = time.After(lingering)
		case <-over:
			if !running {
				return lost
			}
			// As a rule the end of the log comes a moment before the end of the command.
			over = nil
			select {
			case <-ended:
			case <-time.After(lingering):
				lost = true
				_ = cmd.Process.Kill()
				<-ended
			}
			r.Wall = time.Since(r.Started)
			return lost
		case <-late:
			if c.Lingering != nil {
				c.Lingering()
			}
		case sig, open := <-stop:
			switch number, _ := sig.(syscall.Signal); {
			case !open:
				stop = nil
			case running && !fromTerminal(number):
				_ = cmd.Process.Signal(number)
			case running:
			case number != unix.SIGWINCH:
				endLeft()
			}
		}
	}
}

// fromTerminal reports whether a signal came from a key of the terminal, which has sent it
// to the command as well: both are in the group that the terminal belongs to.
func fromTerminal(s syscall.Signal) bool {
	switch s {
	case unix.SIGINT, unix.SIGQUIT, unix.SIGWINCH:
	default:
		return false
	}
	tty, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	defer tty.Close()
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}
