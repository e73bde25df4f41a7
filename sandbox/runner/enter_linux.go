//go:build amd64 || arm64

package runner

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"umwelt/sandbox/egress"
)

// A container whose network is not open starts with this program, which becomes the command.
// It lays the system call filter on itself and forbids core files. Where a proxy opens a part of the network, it
// makes the proxy's listener and hands it out before, over a socket that exists no more
// once the command runs.
const (
	stageContainer = "__sandbox-container"
	enterClosed    = "closed"
	enterProxied   = "proxied"
)

// Where the container has this program and the directory of that socket.
const (
	entryPath   = "/.umwelt-entry"
	meetingPath = "/.umwelt-proxy"
	meetingName = "listener"
)

// containerStage is that program. It comes back only where the command cannot be run.
func containerStage(network string, command []string) int {
	runtime.LockOSThread()
	env := os.Environ()
	if network == enterProxied {
		if err := meetRunner(meetingPath + "/" + meetingName); err != nil {
			fmt.Fprintf(os.Stderr, "umwelt: the listener of the proxy cannot be made: %v\n", err)
			return ExitFailed
		}
		env = proxyEnvironment(env)
	}
	f := func() failure {
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return failure{Exit: ExitFailed, What: fmt.Sprintf("new privileges cannot be renounced: %v", err)}
		}
		if err := unix.CloseRange(3, 1<<32-1, unix.CLOSE_RANGE_CLOEXEC); err != nil {
			return failure{Exit: ExitFailed, What: fmt.Sprintf("inherited descriptors cannot be closed: %v", err)}
		}
		candidates, notFound := lookUp(command[0], env)
		if notFound != nil {
			return *notFound
		}
		if err := install(filter(policy{sockets: sockets{inet: true}})); err != nil {
			return failure{Exit: ExitFailed, What: fmt.Sprintf("the system call filter cannot be installed: %v", err)}
		}
		if err := setLimit(rlimit{rlimitCore, 0}); err != nil {
			return failure{Exit: ExitFailed, What: fmt.Sprintf("core files cannot be forbidden: %v", err)}
		}
		return execute(candidates, command, env)
	}()
	fmt.Fprintf(os.Stderr, "umwelt: %s\n", f.What)
	return f.Exit
}

// meetRunner hands the listener out and waits until it is answered on.
func meetRunner(socket string) error {
	c, err := net.DialUnix("unixpacket", nil, &net.UnixAddr{Name: socket, Net: "unixpacket"})
	if err != nil {
		return err
	}
	defer c.Close()
	f, err := proxyListener()
	if err != nil {
		return err
	}
	defer f.Close()
	if _, _, err := c.WriteMsgUnix([]byte{1}, unix.UnixRights(int(f.Fd())), nil); err != nil {
		return err
	}
	if n, err := c.Read(make([]byte, 1)); n != 1 {
		return errors.Join(errors.New("the runner does not answer on it"), err)
	}
	return nil
}

// meeting is the socket to which a container sends its listener, once.
type meeting struct {
	outer string // keeps other users of the host away
	l     *net.UnixListener

	mu    sync.Mutex
	stop  func() // ends the proxy; nil until the container has sent its listener
	ended bool
}

// newMeeting makes the socket. Any user of the container may connect to it: only what runs
// first inside can, and nobody knows as whom it does.
func newMeeting() (*meeting, error) {
	outer, err := os.MkdirTemp("", "umwelt-proxy-")
	if err != nil {
		return nil, err
	}
	m := &meeting{outer: outer}
	err = os.Mkdir(m.dir(), 0o755)
	socket := filepath.Join(m.dir(), meetingName)
	if err == nil {
		m.l, err = net.ListenUnix("unixpacket", &net.UnixAddr{Name: socket, Net: "unixpacket"})
	}
	if err == nil {
		err = errors.Join(os.Chmod(m.dir(), 0o755), os.Chmod(socket, 0o666))
	}
	if err != nil {
		m.end()
		return nil, err
	}
	return m, nil
}

// dir is what the container sees of it.
func (m *meeting) dir() string { return filepath.Join(m.outer, "in") }

// serve waits for the listener, takes the socket away and answers until end is called.
func (m *meeting) serve(s *Spec, rules *egress.Rules) {
	c, err := m.l.AcceptUnix()
	m.l.Close() // which removes the socket: nobody else is heard
	if err != nil {
		return
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	oob := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := c.ReadMsgUnix(make([]byte, 1), oob)
	if err != nil {
		return
	}
	stop, err := answer(oob[:n], s, rules)
	if err != nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ended {
		stop()
		return
	}
	m.stop = stop
	_, _ = c.Write([]byte{1})
}

// met reports whether the container has sent its listener.
func (m *meeting) met() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.stop != nil
}

// end ends the proxy and removes what was made for it.
func (m *meeting) end() {
	m.mu.Lock()
	m.ended = true
	stop := m.stop
	m.mu.Unlock()
	if m.l != nil {
		m.l.Close()
	}
	if stop != nil {
		stop()
	}
	os.RemoveAll(m.outer)
}
