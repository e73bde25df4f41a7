//go:build amd64 || arm64

package runner

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"umwelt/compilers/docker"
	"umwelt/compilers/podman"
)

// Targets are the targets that this package can run, the strongest first.
func Targets() []Target {
	return []Target{bwrapTarget, landlockTarget, containerTarget(podman.Tool, "podman runc"), containerTarget(docker.Tool, "docker.io"), nsjailTarget}
}

// grace is how long the command has to end after a signal, once a second one says that
// waiting is over.
const grace = 100 * time.Millisecond

// Run runs a command under a target and waits for its end. Where an error comes back, the
// command did not run, or nobody can say how it ended.
func Run(t Target, s Spec) (Result, error) {
	r := Result{Target: t.Info.Name, Argv: s.Command, Started: time.Now()}
	if len(s.Command) == 0 || s.Command[0] == "" {
		return r, errors.New("there is no command to run")
	}
	for _, a := range s.Command {
		if strings.ContainsRune(a, 0) {
			return r, errors.New("an argument of the command holds a NUL byte")
		}
	}
	if err := t.available(); err != nil {
		return r, err
	}
	// Whatever this process inherited, or opened for itself, stays out of the sandbox.
	if err := unix.CloseRange(3, 1<<32-1, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return r, &MissingError{t.Info.Name, "the kernel cannot close inherited descriptors", "Linux 5.11 or later"}
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return r, err
	}
	p, err := t.start(&s, &r)
	var start *startError
	if errors.As(err, &start) {
		r.Exit = start.exit
		r.Remarks = append(r.Remarks, start.what)
		return r, nil
	}
	if err != nil {
		return r, err
	}
	r.TimedOut = p.wait(&s)
	r.Duration = time.Since(r.Started)
	r.Limits = held(s.Confinement.Limits, p.group.held, p.group.otherwise)
	status, known := p.outcome(p.own)
	p.reap()
	if p.drain != nil {
		p.drain()
	}
	if p.clean != nil {
		p.clean()
	}
	r.Usage = usageOf(p.usage)
	switch {
	case p.blind:
		r.Exit = ExitFailed
		r.Remarks = append(r.Remarks, "what recorded the command ended before it, so the command was ended")
	case r.TimedOut:
		r.Exit = ExitTimeout
	case p.ended != 0 && !known:
		r.Signal, r.Exit = int(p.ended), 128+int(p.ended)
	case !known && p.own.Exited() && p.own.ExitStatus() == 1 && t.Info.Name == bwrapTarget.Info.Name:
		// It reports the end of every command that began.
		r.Exit = ExitCannot
		r.Remarks = append(r.Remarks, "the command could not be run; what bwrap says stands above")
	case !known:
		return r, errors.New("the sandbox ended, and nobody said how the command did")
	case p.ended != 0 && status.ExitStatus() == 128+int(p.ended):
		r.Signal, r.Exit = int(p.ended), 128+int(p.ended)
	case status.Signaled():
		r.Signal, r.Exit = int(status.Signal()), 128+int(status.Signal())
	default:
		r.Exit = status.ExitStatus()
	}
	return r, nil
}

// wait waits for the end of the sandbox, forwards signals and keeps the time.
func (p *process) wait(s *Spec) (timedOut bool) {
	var over <-chan time.Time
	if limit := s.Confinement.Limits.WallTime; limit != nil {
		timer := time.NewTimer(time.Duration(*limit))
		defer timer.Stop()
		over = timer.C
	}
	stop := s.Stop
	for {
		select {
		case <-p.exited:
			return timedOut
		case <-p.lost:
			p.lost, p.blind = nil, true
			p.kill()
		case <-over:
			timedOut = true
			p.kill()
		case sig, open := <-stop:
			number, _ := sig.(syscall.Signal)
			switch {
			case !open:
				p.ended, stop = unix.SIGKILL, nil
				p.kill()
			case number == unix.SIGWINCH:
				p.signal(number)
			case p.ended != 0:
				// Whoever asks twice does not want to wait.
				p.signal(number)
				time.AfterFunc(grace, p.kill)
			default:
				p.ended = number
				p.signal(number)
			}
		}
	}
}

// kill ends the sandbox: the first process takes all others with it.
func (p *process) kill() {
	if p.killer != nil {
		p.killer()
	}
	_ = unix.Kill(-p.leader, unix.SIGKILL)
	_ = unix.Kill(p.leader, unix.SIGKILL)
}

func usageOf(u *syscall.Rusage) Usage {
	if u == nil {
		return Usage{}
	}
	return Usage{User: time.Duration(u.Utime.Nano()), System: time.Duration(u.Stime.Nano()), MaxRSS: u.Maxrss * 1024}
}

// Signals are those that a caller should hand on in Spec.Stop.
func Signals() []os.Signal {
	return []os.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT, unix.SIGWINCH}
}
