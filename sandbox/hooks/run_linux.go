package hooks

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// mark is the variable by which a hook's descendants are found that left its process
// group. Its value differs for every hook.
const mark = "UMWELT_HOOK"

// drain is how long output is still read once a hook is over and its processes are killed.
const drain = 500 * time.Millisecond

// run runs one hook and fills in its result.
func (o Options) run(ctx context.Context, root string, h Hook, r *Result) {
	env := o.Env
	if env == nil {
		env = os.Environ()
	}
	token := mark + "=" + rand.Text()
	read, write, err := os.Pipe()
	if err != nil {
		r.Error = err.Error()
		return
	}
	defer read.Close()
	cmd := exec.Command("/bin/sh", "-c", h.Command)
	cmd.Dir = root
	cmd.Env = append(env[:len(env):len(env)], token)
	cmd.Stdout, cmd.Stderr = write, write
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	start := time.Now()
	err = cmd.Start()
	write.Close()
	if err != nil {
		r.Error = err.Error()
		return
	}
	kept := newTail(o.Tail)
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		_, _ = io.Copy(kept, read) // it ends by the deadline at the latest
	}()
	r.TimedOut = o.wait(ctx, cmd, h.Timeout, token, r)
	r.Seconds = time.Since(start).Seconds()
	_ = read.SetReadDeadline(time.Now().Add(drain))
	<-copied
	r.Output, r.Dropped = kept.text()
}

// wait waits for a hook's shell to end, ends it where it takes too long, and leaves none
// of its processes behind. It reports whether it took too long.
func (o Options) wait(ctx context.Context, cmd *exec.Cmd, timeout time.Duration, token string, r *Result) (late bool) {
	group := &group{leader: cmd.Process.Pid, token: token}
	ended := make(chan error, 1)
	go func() {
		// The shell is not reaped before its group is killed: until then nothing else can
		// have its number.
		awaitExit(cmd.Process.Pid)
		group.kill()
		ended <- cmd.Wait()
	}()
	var limit <-chan time.Time
	if timeout > 0 {
		t := time.NewTimer(timeout)
		defer t.Stop()
		limit = t.C
	}
	var err error
	select {
	case err = <-ended:
		exited(err, r)
		return false
	case <-limit:
		late = true
	case <-ctx.Done():
		r.Error = "it was stopped, because the run was stopped"
	}
	group.signal(unix.SIGTERM)
	grace := time.NewTimer(o.Grace)
	defer grace.Stop()
	select {
	case err = <-ended:
	case <-grace.C:
		group.kill()
		err = <-ended
	}
	exited(err, r)
	return late
}

// exited fills in how the shell ended.
func exited(err error, r *Result) {
	var exit *exec.ExitError
	switch {
	case err == nil:
		r.Exit = 0
	case !errors.As(err, &exit):
		r.Error = err.Error()
	default:
		status, _ := exit.Sys().(syscall.WaitStatus)
		r.Exit = status.ExitStatus()
		if status.Signaled() {
			r.Signal = unix.SignalName(status.Signal())
		}
	}
}
