//go:build amd64 || arm64

package runner

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// attack is something that must not work, whoever runs the sandbox and by what.
type attack struct {
	group string
	ops   []string
	// refused says that the system call itself must be refused, whatever it would have
	// come to.
	refused bool
}

// attacks are what an actor tries. R stands for the project and D for what lies outside.
var attacks = []attack{
	{"rename of a protected path, or its parent, out of, into or around a grant", []string{
		"rename R/src/lock.txt R/src/moved", "rename R/src/lock.txt R/out/moved", "rename R/src R/src2", "rename R/src R/out/src", "rename R/keep R/out/keep",
		"rename R/keep/k.txt R/out/k", "rename R/out/f R/src/lock.txt", "rename R/out/f R/keep/k.txt", "rename R/out R/keep/out", "rename R/secret R/out/secret",
		"rename R D/project2", "rename R/.env R/out/env", "exchange R/out/f R/keep/k.txt", "exchange R/out R/src", "exchange R/out/sub R/secret", "exchange R/out/f R/src/lock.txt",
		"rename R/keep/k.txt /tmp/k", "rename R/out /tmp/out",
	}, false},
	{"replacing a protected file or a mount point", []string{
		"remove R/src/lock.txt", "remove R/keep/k.txt", "remove R/.env", "remove R/secret", "stealsym R/src/lock.txt R/out/f", "steallink R/src/lock.txt R/out/f",
		"stealsym R/keep/k.txt R/out/f", "link R/keep/k.txt R/out/k", "link R/src/lock.txt R/out/lock", "link R/.env R/out/env", "link R/src/lock.txt R/src/lock2",
		"symlink R/out/f R/keep/new", "link /etc/shadow R/out/shadow", "remove R/out/../keep/k.txt", "umount R/out", "umount R/.env", "remount R", "remount R/keep",
		"setattr R/keep", "setattr R", "mkdir R/keep/new", "mkfifo R/keep/new", "write R/keep/new", "mknod R/out/null",
	}, false},
	{"writing what may only be read", []string{
		"write R/keep/k.txt", "append R/keep/k.txt", "openrw R/keep/k.txt", "trunc R/keep/k.txt", "truncate R/keep/k.txt", "write R/src/lock.txt", "append R/src/lock.txt",
		"truncate R/src/lock.txt", "write D/new", "append /etc/hostname", "write /usr/bin/umwelt-new", "chmod R/keep/k.txt", "chmod R/src/lock.txt", "chown R/keep/k.txt",
		"utimes R/keep/k.txt", "utimes R/src/lock.txt", "setxattr R/keep/k.txt", "chmod R/.env", "utimes R/.env",
	}, false},
	{"reading what is hidden", []string{
		"read R/.env", "read R/secret/s.txt", "list R/secret", "read R/out/../.env", "read /proc/self/cwd/.env", "read /proc/self/root@R/.env", "read D/outside.txt",
		"read /etc/shadow", "list /root", "read /tmp/umwelt-host-secret",
	}, false},
	{"a masked file is no writable empty one", []string{"write R/.env", "append R/.env", "openrw R/.env", "trunc R/.env", "write R/secret/new", "mkdir R/secret/new"}, false},
	{"another way to an open file or a process", []string{
		"reopen R/keep/k.txt", "reopen R/src/lock.txt", "overwrite /proc/self/fd/0", "overwrite /proc/1/root@R/keep/k.txt", "read /proc/1/root@R/.env",
		"roots D/outside.txt", "roots /etc/shadow", "inherited", "read /proc/PID/root@R/.env", "read /proc/PID/cmdline", "read /proc/PID/environ", "attach PID", "kill PID", "attach 1",
	}, false},
	{"reading the environment or arguments of processes outside", []string{"spy 2retnuh"}, false},
	{"what the kernel runs and how", []string{
		"openw /proc/sys/kernel/core_pattern", "openw /proc/sys/kernel/modprobe", "openw /proc/sys/kernel/hostname", "openw /proc/sysrq-trigger",
	}, false},
	{"the first process of the sandbox", []string{"openw /proc/1/mem", "openw /proc/1/oom_score_adj"}, false},
	{"the devices of the host", []string{"samemode /dev/null", "samemode /dev/urandom"}, false},
	{"the standard streams as files", []string{"samemode /proc/self/fd/0", "samemode /proc/self/fd/1"}, false},
	{"sockets that are files, and abstract ones", []string{
		"connect R/keep/sock", "connect @umwelt-abstract", "datagram R/keep/dgram", "raw-pair R/keep/dgram", "connect D/sock",
	}, false},
	{"network", []string{
		"dial tcp4 TCP4", "dial tcp6 TCP6", "dial udp4 UDP4", "dial udp6 UDP6", "dial tcp4 127.0.0.53:53", "vsock", "packet", "alg", "audit",
	}, false},
	{"tracing", []string{"ptrace", "vmread", "pidfd"}, true},
	{"the terminal's input", []string{"tiocsti", "tiocsti-high", "tioclinux"}, true},
	{"mounts", []string{
		"mount /tmp", "mount R/out", "bind R/keep R/out", "fsopen", "opentree R", "pivot R/out", "chroot R/out",
	}, true},
	{"namespaces nested inside", []string{"unshare", "unsharenet", "cloneuser", "clone3", "setns"}, true},
	{"parts of the kernel", []string{"iouring", "keyctl", "addkey", "bpf", "perf", "uffd", "byhandle", "persona"}, true},
	{"privileges", []string{"core", "capable"}, false},
	{"programs that run as their owner", []string{"suid R/out/f", "suidfd R/out/f", "suidopen R/out/new-suid", "openat2 R/out/new-suid2"}, true},
}

// honest is what must work, or the attacks prove nothing.
var honest = []string{
	"read R/keep/k.txt", "list R/keep", "write R/out/f", "append R/src/a.txt", "write R/out/new", "mkdir R/out/dir", "rename R/out/new R/out/dir/new",
	"link R/out/f R/out/dir/linked", "symlink f R/out/dir/sym", "mkfifo R/out/dir/fifo", "remove R/out/dir/new", "read /usr/bin/env", "exec /usr/bin/true", "pair", "append /dev/null",
	"openrw /dev/zero",
}

// isolated is what works besides where there are namespaces.
var isolated = []string{"between", "write /tmp/new", "write /dev/shm/new", "mkdir /tmp/dir", "list /proc/self", "chmod R/out/f", "utimes R/out/f"}

// outsideWorld is what lies around the sandbox.
func (s *scene) outsideWorld() *strings.Replacer {
	t := s.t
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.WriteFile(s.dir+"/outside.txt", []byte("outside"), 0o666))
	must(os.Chmod(s.dir+"/outside.txt", 0o666))
	must(os.WriteFile("/tmp/umwelt-host-secret", []byte("secret"), 0o666))
	t.Cleanup(func() { os.Remove("/tmp/umwelt-host-secret") })
	listen := func(network, address string) string {
		l, err := net.Listen(network, address)
		must(err)
		t.Cleanup(func() { l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				c.Close()
			}
		}()
		return l.Addr().String()
	}
	packets := func(network, address string) string {
		c, err := net.ListenPacket(network, address)
		must(err)
		t.Cleanup(func() { c.Close() })
		go func() {
			b := make([]byte, 64)
			for {
				n, from, err := c.ReadFrom(b)
				if err != nil {
					return
				}
				if from != nil {
					_, _ = c.WriteTo(b[:n], from)
				}
			}
		}()
		return c.LocalAddr().String()
	}
	// These come after the world was looked at, so that no plan knows them.
	for _, path := range []string{s.root + "/keep/sock", s.dir + "/sock"} {
		listen("unix", path)
		must(os.Chmod(path, 0o777))
	}
	packets("unixgram", s.root+"/keep/dgram")
	must(os.Chmod(s.root+"/keep/dgram", 0o777))
	abstract := fmt.Sprintf("@umwelt-abstract-%d", os.Getpid())
	listen("unix", abstract)
	return strings.NewReplacer("@umwelt-abstract", abstract, "@R", s.root, " R", " "+s.root, "D/", s.dir+"/", " D", " "+s.dir,
		"TCP4", listen("tcp4", "127.0.0.1:0"), "TCP6", listen("tcp6", "[::1]:0"), "UDP4", packets("udp4", "127.0.0.1:0"), "UDP6", packets("udp6", "[::1]:0"),
		"PID", fmt.Sprint(os.Getpid()))
}

func TestAttacks(t *testing.T) {
	for _, w := range ways(t) {
		t.Run(w.String(), func(t *testing.T) { attackScene(t, newScene(t, w), w) })
	}
}

// attackScene tries every attack, and then honest work. Harmless are attacks that may go
// well on a target and come to nothing.
func attackScene(t *testing.T, s *scene, w way, harmless ...string) {
	t.Helper()
	fill := s.outsideWorld()
	s.environ = []string{"SECRET=hunter2"}
	s.stdin = s.open(s.dir + "/outside.txt")
	s.files = []*os.File{s.open(s.root + "/secret/s.txt"), s.open(s.dir)}
	s.highDescriptor()
	before := listing(t, s.dir)
	for _, a := range attacks {
		ops := make([]string, len(a.ops))
		for i, op := range a.ops {
			ops[i] = fill.Replace(op)
		}
		for op, fault := range s.try(w, ops...) {
			if fault == "" && !slices.Contains(harmless, strings.ReplaceAll(op, s.root, "R")) || strings.Contains(fault, "no such operation") {
				t.Errorf("%s: %s: %q", a.group, op, fault)
			}
			if a.refused && !strings.Contains(fault, "not permitted") && !strings.Contains(fault, "not implemented") {
				t.Errorf("%s: %s failed for another reason: %s", a.group, op, fault)
			}
		}
	}
	if after := listing(t, s.dir); after != before {
		t.Errorf("something changed:\n%s\nwas\n%s", after, before)
	}
	want := honest
	if !w.bare {
		want = append(append([]string{}, honest...), isolated...)
	}
	ops := make([]string, len(want))
	for i, op := range want {
		ops[i] = fill.Replace(op)
	}
	results := s.try(w, ops...)
	for _, op := range ops {
		if results[op] != "" {
			t.Errorf("honest work: %s: %s", op, results[op])
		}
	}
	for _, path := range []string{"/tmp/new", "/dev/shm/new", "/tmp/dir"} {
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("%s stands on the host", path)
		}
	}
}

func (s *scene) open(path string) *os.File {
	s.t.Helper()
	f, err := os.Open(path)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { f.Close() })
	return f
}

// highDescriptor leaves a descriptor open that children inherit under a high number.
func (s *scene) highDescriptor() {
	s.t.Helper()
	const number = 1500
	f := s.open(s.root + "/secret")
	syscall.ForkLock.Lock()
	err := unix.Dup3(int(f.Fd()), number, 0)
	syscall.ForkLock.Unlock()
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { unix.Close(number) })
}

// A directory as a standard stream would be a way out.
func TestDirectoryAsStandardInput(t *testing.T) {
	for _, w := range ways(t) {
		s := newScene(t, w)
		s.plantOutside()
		s.stdin = s.open(s.dir)
		d := s.start(w, s.probePath(), "probe", `["upwards outside.txt"]`)
		out, err := d.wait()
		if err != nil {
			t.Fatal(err)
		}
		if out.Error == "" && strings.Contains(d.stdout.String(), `"upwards outside.txt":""`) {
			t.Errorf("%s: the file was reached", w)
		}
	}
}

func (s *scene) plantOutside() {
	if err := os.WriteFile(filepath.Join(s.dir, "outside.txt"), []byte("outside"), 0o666); err != nil {
		s.t.Fatal(err)
	}
}

// Outside of a sandbox the same operations work, so that their failure inside says
// something.
func TestAttacksWorkOutside(t *testing.T) {
	s := newScene(t, way{})
	fill := s.outsideWorld()
	ops := []string{
		"read R/.env", "list R/secret", "append R/keep/k.txt", "reopen R/keep/k.txt", "connect R/keep/sock", "connect @umwelt-abstract", "datagram R/keep/dgram",
		"raw-pair R/keep/dgram", "dial tcp4 TCP4", "dial tcp6 TCP6", "dial udp4 UDP4", "dial udp6 UDP6", "spy 2retnuh", "read /proc/PID/cmdline", "kill PID", "inherited",
		"roots D/outside.txt", "overwrite /proc/PID/root@R/.env", "vmread", "suid R/out/f", "suidopen R/out/new", "rename R/src/lock.txt R/src/moved", "rename R/keep R/out/keep",
		"link R/out/f R/out/k", "cloneuser", "openat2 R/out/new2", "pidfd", "between", "setxattr R/out/f",
	}
	for i, op := range ops {
		ops[i] = fill.Replace(op)
	}
	text, err := json.Marshal(ops)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(s.probePath(), "probe", string(text))
	cmd.Env = []string{"SECRET=hunter2"}
	cmd.ExtraFiles = []*os.File{s.open(s.dir)}
	spied := exec.Command("sleep", "10")
	spied.Env = []string{"SECRET=hunter2"}
	if err := spied.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = spied.Process.Kill()
		_ = spied.Wait()
	}()
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	results := map[string]string{}
	if err := json.Unmarshal(out, &results); err != nil {
		t.Fatal(err)
	}
	for _, op := range ops {
		if results[op] != "" {
			t.Errorf("%s: %s", op, results[op])
		}
	}
}
