package record

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"umwelt/ratchet"
)

// Recording is a strace that is attached to a process and to all that this starts.
type Recording struct {
	cmd    *exec.Cmd
	stream *stream
	begin  *beginning
	ended  chan struct{} // strace ended
	lost   chan struct{}
}

// patience is how long strace has to attach, and to end after what it recorded.
const patience = 10 * time.Second

// Attach lets strace record a process that waits, from outside: the process gets no
// descriptor and sees no file. When it comes back, nothing that the process does from then
// on is missed.
func Attach(program string, subject Subject, o Options) (*Recording, error) {
	b := newBeginning(subject)
	s, err := newStream(o, b)
	if err != nil {
		return nil, err
	}
	messages, said, err := os.Pipe()
	if err != nil {
		s.held()
		return nil, err
	}
	// Its descriptor 3 is the pipe. It runs nothing, so that nobody inherits it.
	cmd := &exec.Cmd{Path: program, Args: arguments("/dev/fd/3", "--decode-pids=pidns", "-p", strconv.Itoa(subject.PID)), Env: environment, Dir: "/"}
	cmd.Stderr, cmd.ExtraFiles = said, []*os.File{s.w}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: unix.SIGKILL}
	r := &Recording{cmd: cmd, stream: s, begin: b, ended: make(chan struct{}), lost: make(chan struct{})}
	err = r.start()
	said.Close()
	s.held()
	if err != nil {
		messages.Close()
		return nil, err
	}
	attached := make(chan struct{})
	text := make(chan []byte, 1)
	go func() {
		text <- listen(messages, func() { close(attached) })
		messages.Close()
	}()
	select {
	case <-attached:
		err = r.everyThread(subject.PID)
	case <-r.ended:
		err = refused(<-text, errLost)
	case <-time.After(patience):
		err = errors.New("strace did not attach in time")
	}
	if err != nil {
		r.stop()
		return nil, err
	}
	return r, nil
}

// start starts strace, whose end is bound to the end of the thread that started it.
func (r *Recording) start() error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := r.cmd.Start()
		started <- err
		if err != nil {
			return
		}
		if r.cmd.Wait() != nil {
			close(r.lost)
		}
		close(r.ended)
	}()
	return <-started
}

// listen reads strace's messages to their end, keeps the first of them, and says when it
// has attached to the process that it was told.
func listen(messages *os.File, attached func()) []byte {
	var kept []byte
	in := bufio.NewReaderSize(messages, 1<<12)
	once := false
	for {
		line, err := in.ReadSlice('\n')
		if len(kept) < 1<<12 {
			kept = append(kept, line...)
		}
		if !once && bytes.Contains(line, []byte(" attached")) {
			once = true
			attached()
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return kept
		}
	}
}

// everyThread makes sure that no thread of the process began beside strace.
func (r *Recording) everyThread(pid int) error {
	threads := tasks(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if len(threads) == 0 {
		return errors.New("the process that was to be recorded is gone")
	}
	for _, t := range threads {
		if t.tracer != r.cmd.Process.Pid {
			return errors.New("strace missed a thread of the process that was to be recorded")
		}
	}
	return nil
}

func (r *Recording) stop() {
	_ = r.cmd.Process.Kill()
	<-r.ended
	_, _ = r.stream.wait()
}

// Lost is closed where strace ends before its time: whatever it recorded goes on without
// a witness.
func (r *Recording) Lost() <-chan struct{} { return r.lost }

// Began reports whether the command itself was seen to begin. It is for after Wait.
func (r *Recording) Began() bool { return r.begin.command }

// Wait waits until what was recorded has ended and everything is read.
func (r *Recording) Wait() (ratchet.Tally, error) {
	select {
	case <-r.ended:
	case <-time.After(patience):
		// Something of it lives on, beyond the end of what was recorded.
		_ = r.cmd.Process.Kill()
		<-r.ended
	}
	tally, err := r.stream.wait()
	select {
	case <-r.lost:
		tally.Cut(errLost.Error())
	default:
	}
	return tally, err
}
