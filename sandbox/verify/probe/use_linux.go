package probe

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func environ(_ Op, r *Result) error {
	for _, v := range os.Environ() {
		r.List = append(r.List, []byte(v))
	}
	return nil
}

// patience is how long an answer from outside is waited for.
const patience = 2 * time.Second

// Greeting is what a listener says to whoever reaches it.
const Greeting = "umwelt"

func tcp(op Op, _ *Result) error { return greet("tcp", string(op.Path)) }

// throughProxy asks the proxy that the environment names for a tunnel.
func throughProxy(op Op, _ *Result) error {
	proxy, err := url.Parse(os.Getenv("HTTPS_PROXY"))
	if err != nil {
		return err
	}
	if proxy.Host == "" {
		return errors.New("there is no proxy")
	}
	c, err := net.DialTimeout("tcp", proxy.Host, patience)
	if err != nil {
		return err
	}
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		c.Close()
		return err
	}
	// The answer's head ends with an empty line, and what comes after it is the tunnel's.
	var head []byte
	_, err = fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", op.Path, op.Path)
	for err == nil && !bytes.HasSuffix(head, []byte("\r\n\r\n")) {
		b := []byte{0}
		_, err = io.ReadFull(c, b)
		if head = append(head, b...); len(head) > 4096 {
			err = errors.New("the proxy's answer has no end")
		}
	}
	if err == nil && !bytes.HasPrefix(head, []byte("HTTP/1.1 200 ")) {
		err = errors.New("the proxy refuses")
	}
	if err != nil {
		c.Close()
		return err
	}
	return heard(c)
}

// unixSocket connects to the socket at a path, or to an abstract one where the path begins
// with "@".
func unixSocket(op Op, _ *Result) error {
	path := string(op.Path)
	if !strings.HasPrefix(path, "@") {
		// A long path does not fit an address.
		if err := os.Chdir(filepath.Dir(path)); err != nil {
			return err
		}
		path = "./" + filepath.Base(path)
	}
	return greet("unix", path)
}

func greet(network, address string) error {
	c, err := net.DialTimeout(network, address, patience)
	if err != nil {
		return err
	}
	return heard(c)
}

// udp sends a datagram and waits for the answer.
func udp(op Op, _ *Result) error {
	c, err := net.DialTimeout("udp", string(op.Path), patience)
	if err != nil {
		return err
	}
	if _, err := c.Write([]byte(Greeting)); err != nil {
		c.Close()
		return err
	}
	return heard(c)
}

func heard(c net.Conn) error {
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(patience / 2)); err != nil {
		return err
	}
	b := [len(Greeting)]byte{}
	if n, err := c.Read(b[:]); err != nil || !bytes.Equal(b[:n], []byte(Greeting)) {
		return errors.Join(errors.New("nobody answered"), err)
	}
	return nil
}

// memory takes N bytes and writes to every page of them.
func memory(op Op, r *Result) error {
	b, err := unix.Mmap(-1, 0, int(op.N), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return err
	}
	for i := 0; i < len(b); i += 4096 {
		b[i] = 1
	}
	r.N = op.N
	return unix.Munmap(b)
}

// fds opens N files, or as many as it can.
func fds(op Op, r *Result) error {
	var opened []int
	defer func() {
		for _, fd := range opened {
			unix.Close(fd)
		}
	}()
	for r.N = 0; r.N < op.N; r.N++ {
		fd, err := unix.Dup(0)
		if err != nil {
			return err
		}
		opened = append(opened, fd)
	}
	return nil
}

// processes starts N processes that wait, or as many as it can, and ends them.
func processes(op Op, r *Result) error {
	runtime.LockOSThread()
	var started []int
	defer func() {
		for _, pid := range started {
			unix.Kill(pid, unix.SIGKILL)
			unix.Wait4(pid, nil, 0, nil)
		}
	}()
	for r.N = 0; r.N < op.N; r.N++ {
		pid, _, errno := syscall.RawSyscall6(syscall.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
		if errno != 0 {
			return errno
		}
		if pid == 0 {
			// Nothing of the runtime works in a process made like this.
			for {
				syscall.RawSyscall6(unix.SYS_PPOLL, 0, 0, 0, 0, 0, 0)
			}
		}
		started = append(started, int(pid))
	}
	return nil
}

// sleep waits for N nanoseconds.
func sleep(op Op, _ *Result) error {
	time.Sleep(time.Duration(op.N))
	return nil
}

// burn uses N nanoseconds of processor time.
func burn(op Op, _ *Result) error {
	for {
		var used unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &used); err != nil {
			return err
		}
		if used.Nano() >= op.N {
			return nil
		}
		for i := 0; i < 1<<20; i++ {
			runtime.KeepAlive(i)
		}
	}
}

// fill writes N bytes to a new file and removes it.
func fill(op Op, r *Result) error {
	signal.Ignore(unix.SIGXFSZ)
	f, err := os.OpenFile(string(op.Path), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer os.Remove(string(op.Path))
	defer f.Close()
	block := bytes.Repeat([]byte("umwelt!\n"), 1<<13)
	for r.N < op.N {
		n, err := f.Write(block[:min(int64(len(block)), op.N-r.N)])
		r.N += int64(n)
		if err != nil {
			return err
		}
	}
	return nil
}
