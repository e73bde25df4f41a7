//go:build amd64 || arm64

package runner

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"umwelt/compilers"
	"umwelt/compilers/confine"
	"umwelt/sandbox/egress"
)

// proxyAddress is where the sandbox finds the proxy: on its own loopback, where nothing
// else can be. The listener is made inside and served outside, so that the sandbox needs
// no way out at all.
const proxyAddress = "127.0.0.1:3128"

// throughProxy reports whether the policy opens a part of the network, which only a proxy
// can tell from the rest.
func throughProxy(n confine.Network) (*egress.Rules, bool) {
	if n.Whole() {
		return nil, false
	}
	rules, _ := egress.Compile(n)
	return rules, !rules.Empty()
}

// proxyNotes say what of the network a proxy cannot carry out.
func proxyNotes(n confine.Network) []compilers.Note {
	_, problems := egress.Compile(n)
	notes := []compilers.Note{{Level: compilers.Partial, Why: "what the network rules open is reached through a proxy alone, by programs that know how to use one"}}
	for _, p := range problems {
		notes = append(notes, compilers.Note{Rule: p.By.Rule, Declaration: p.By.Declaration, Level: compilers.Partial, Why: p.Error()})
	}
	return notes
}

// proxyEnvironment is an environment in which programs find the proxy.
func proxyEnvironment(env []string) []string {
	var out []string
	variables := egress.Env(proxyAddress)
	for _, v := range env {
		name, _, _ := strings.Cut(v, "=")
		ours := false
		for _, p := range variables {
			ours = ours || p.Name == name
		}
		if !ours {
			out = append(out, v)
		}
	}
	for _, p := range variables {
		out = append(out, p.Name+"="+p.Value)
	}
	return out
}

// handover is the two ends of a socket over which a listener comes out of the sandbox.
type handover struct{ mine, theirs *os.File }

func newHandover() (*handover, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return &handover{os.NewFile(uintptr(pair[0]), "listener"), os.NewFile(uintptr(pair[1]), "listener")}, nil
}

// serve takes the listener and answers on it until end is called.
func (h *handover) serve(s *Spec, rules *egress.Rules) (end func(), err error) {
	defer h.mine.Close()
	buffer, oob := make([]byte, 1), make([]byte, unix.CmsgSpace(4))
	var n, m int
	for {
		n, m, _, _, err = unix.Recvmsg(int(h.mine.Fd()), buffer, oob, unix.MSG_CMSG_CLOEXEC)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil || n == 0 {
		return nil, fmt.Errorf("the sandbox has no listener for the proxy: %w", errors.Join(err, errors.New("it sent none")))
	}
	return answer(oob[:m], s, rules)
}

// answer takes the listener out of a control message and answers on it until end is called.
func answer(control []byte, s *Spec, rules *egress.Rules) (end func(), err error) {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil || len(messages) != 1 {
		return nil, errors.New("the sandbox has no listener for the proxy")
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return nil, errors.New("the sandbox has no listener for the proxy")
	}
	f := os.NewFile(uintptr(fds[0]), "proxy")
	defer f.Close()
	l, err := net.FileListener(f)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	proxy := egress.New(rules, egress.Options{Log: s.Observe})
	done := make(chan struct{})
	go func() {
		_ = proxy.Serve(ctx, l)
		close(done)
	}()
	return func() {
		cancel()
		<-done
	}, nil
}

// proxyListener makes the listener, inside. The socket stays open in f.
func proxyListener() (f *os.File, err error) {
	l, err := net.Listen("tcp4", proxyAddress)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	return l.(*net.TCPListener).File()
}

// give makes the listener, inside, and hands it out over a socket.
func give(fd int) error {
	unix.CloseOnExec(fd)
	f, err := proxyListener()
	if err != nil {
		return err
	}
	defer f.Close()
	if err := unix.Sendmsg(fd, []byte{1}, unix.UnixRights(int(f.Fd())), nil, 0); err != nil {
		return err
	}
	return unix.Close(fd)
}

// stageNet is the stage that stands in a network of its own, hands a listener out and
// becomes a helper program.
const stageNet = "__sandbox-net"

// netConfig is what it reads, on the descriptor netConfigFD.
type netConfig struct {
	Path string
	Argv [][]byte
}

// The descriptors of that stage, behind those of bubblewrap.
const (
	netConfigFD = bwrapBlock + 1 + iota
	netListenerFD
)

func netStage() int {
	runtime.LockOSThread()
	var c netConfig
	err := decodeFrom(netConfigFD, &c)
	if err == nil {
		err = loopbackUp()
	}
	if err == nil {
		err = give(netListenerFD)
	}
	if err == nil {
		// The helper makes a sandbox as anybody does, and wants no capabilities for that.
		if os.Geteuid() != 0 {
			err = dropCapabilities()
		}
	}
	if err == nil {
		err = unix.Exec(c.Path, stringsOf(c.Argv), os.Environ())
	}
	fmt.Fprintf(os.Stderr, "umwelt: the network of the sandbox cannot be made: %v\n", err)
	return ExitFailed
}

// inNetwork is attributes of a process in a network of its own.
func inNetwork(a *syscall.SysProcAttr) {
	a.Cloneflags = unix.CLONE_NEWNET
	if uid := os.Geteuid(); uid != 0 {
		gid := os.Getegid()
		a.Cloneflags |= unix.CLONE_NEWUSER
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		a.AmbientCaps = []uintptr{unix.CAP_NET_ADMIN}
	}
}
