//go:build amd64 || arm64

package runner

import (
	"errors"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// process is a sandbox that runs.
type process struct {
	cmd    *exec.Cmd
	leader int // the first process of the sandbox, which leads its session
	group  *group
	exited chan struct{}
	// own is how what was started ended, and outcome how the command did, where that is
	// known.
	own     syscall.WaitStatus
	usage   *syscall.Rusage
	outcome func(own syscall.WaitStatus) (syscall.WaitStatus, bool)
	ended   syscall.Signal  // the first signal that was forwarded
	lost    <-chan struct{} // closed where what watches the command ended before it
	blind   bool            // it was, and the command was ended
	// These may be nil.
	forward func(unix.Signal) // sends a signal to what is no child of this process
	proxy   func()            // ends the proxy
	killer  func()            // ends what is no child of this process
	drain   func()            // waits until the output has arrived
	clean   func()            // removes what was made for the run
}

// begin starts a program whose end is bound to the end of this one. The kernel binds it to
// a thread, which therefore does nothing else and lives as long. before runs on the thread.
func begin(cmd *exec.Cmd, before func() error) (*process, error) {
	p := &process{cmd: cmd, exited: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The thread is never given back, since before may have confined it.
		runtime.LockOSThread()
		if before != nil {
			if err := before(); err != nil {
				started <- err
				return
			}
		}
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		_ = cmd.Wait()
		if state := cmd.ProcessState; state != nil {
			p.own, _ = state.Sys().(syscall.WaitStatus)
			p.usage, _ = state.SysUsage().(*syscall.Rusage)
		}
		close(p.exited)
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// signal sends a signal to the command and what belongs to it.
func (p *process) signal(s unix.Signal) {
	if p.forward != nil {
		p.forward(s)
		return
	}
	_ = unix.Kill(-p.leader, s)
}

// watch lets the caller look at a sandbox that waits.
func (p *process) watch(s *Spec, stand Stand) (err error) {
	if s.Watch != nil {
		stand.Leader = p.leader
		p.lost, err = s.Watch(stand)
	}
	return err
}

// end ends the sandbox at once and waits until nothing of it is left.
func (p *process) end() {
	_ = unix.Kill(p.leader, unix.SIGKILL)
	_ = p.cmd.Process.Kill()
	<-p.exited
	p.reap()
}

// reap ends what is left of the session, and takes note of what the first process used.
func (p *process) reap() {
	if p.proxy != nil {
		p.proxy()
	}
	for range 2000 {
		ended := unix.Kill(-p.leader, unix.SIGKILL)
		if p.adopt(); ended != nil {
			break // nobody is left
		}
		time.Sleep(time.Millisecond)
	}
	p.group.remove()
}

// adopt waits for those of the session that became children of this process, as they do
// where whoever started them ended first.
func (p *process) adopt() {
	for {
		var status unix.WaitStatus
		var u unix.Rusage
		pid, err := unix.Wait4(-p.leader, &status, unix.WNOHANG, &u)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil || pid <= 0:
			return
		case pid == p.leader:
			p.usage = &syscall.Rusage{Utime: syscall.Timeval(u.Utime), Stime: syscall.Timeval(u.Stime), Maxrss: u.Maxrss}
		}
	}
}
