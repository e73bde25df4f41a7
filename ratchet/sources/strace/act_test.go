package strace

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"umwelt/ratchet"
)

// The test's own program runs itself under strace and acts: it issues system calls of which
// it knows, from the absolute path that it has in mind, what must be observed.
const actEnv = "UMWELT_STRACE_ACT"

func TestMain(m *testing.M) {
	if part := os.Getenv(actEnv); part != "" {
		act(part)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// actor knows where it acts and notes what must be observed.
type actor struct {
	mu   sync.Mutex
	root string
	log  *os.File
}

func (a *actor) path(rel string) string { return filepath.Join(a.root, rel) }

// must notes one observation. err is what the call gave.
func (a *actor) must(typ string, verb ratchet.Verb, id string, err error, attrs ...string) {
	o := ratchet.Observation{Type: typ, Verb: verb, ID: id, Outcome: ratchet.Allowed, Attributes: ratchet.Attributes(attrs...)}
	var errno unix.Errno
	if errors.As(err, &errno) {
		o.Outcome, o.Reason = ratchet.Failed, unix.ErrnoName(errno)
		switch {
		case errno == unix.EINPROGRESS:
			o.Outcome, o.Reason = ratchet.Allowed, ""
		case errno == unix.EACCES || errno == unix.EPERM || errno == unix.EROFS:
			o.Outcome = ratchet.Denied
		}
	}
	text, err := json.Marshal(key(o))
	if err != nil {
		panic(err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, err := a.log.Write(append(text, '\n')); err != nil {
		panic(err)
	}
}

func (a *actor) file(verb ratchet.Verb, rel string, err error, attrs ...string) {
	if verb == ratchet.Create || verb == ratchet.Delete {
		attrs = append(attrs, "kind", "file")
	}
	a.must("file", verb, a.path(rel), err, attrs...)
}

func (a *actor) dir(verb ratchet.Verb, rel string, err error, attrs ...string) {
	if verb == ratchet.Create || verb == ratchet.Delete {
		attrs = append(attrs, "kind", "dir")
	}
	a.must("dir", verb, a.path(rel), err, attrs...)
}

func (a *actor) renamed(typ, kind, from, to string) {
	a.must(typ, ratchet.Rename, a.path(from), nil, "to", a.path(to), "kind", kind)
	a.must(typ, ratchet.Rename, a.path(to), nil, "from", a.path(from), "kind", kind)
}

func ok(err error) {
	if err != nil {
		_, file, line, _ := runtime.Caller(1)
		fmt.Fprintf(os.Stderr, "%s:%d: %v\n", filepath.Base(file), line, err)
		os.Exit(3)
	}
}

// touch makes a file that is not there, by a name relative to dir.
func (a *actor) touch(dir int, name, rel string) {
	fd, err := unix.Openat(dir, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC, 0o644)
	ok(err)
	ok(unix.Close(fd))
	a.file(ratchet.Create, rel, nil)
}

const here = unix.AT_FDCWD

func act(part string) {
	root, err := os.Getwd()
	ok(err)
	if r := os.Getenv(actEnv + "_ROOT"); r != "" {
		root = r
	}
	log, err := os.OpenFile(os.Getenv(actEnv+"_LOG"), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	ok(err)
	a := &actor{root: root, log: log}
	runtime.LockOSThread()
	if part != "child" {
		a.dir(ratchet.Stat, ".", nil) // Getwd looks
	}
	switch part {
	case "paths":
		a.names()
		a.directories()
		a.descriptors()
		a.renames()
		a.changes()
		a.failures()
	case "processes":
		a.children()
		a.threads()
		a.apart()
	case "child":
		a.touch(here, "made-by-child", os.Getenv(actEnv+"_REL")+"/made-by-child")
	case "network":
		a.network()
	}
}

func (a *actor) names() {
	for _, name := range []string{
		"plain", "with space", `quo"te`, "new\nline", "\x80\xff", "a,b)c = d", "<x>y", "é", `back\slash\`, "a\x011b",
		") = 3", "<unfinished ...>", " resumed>) = 3", "-> x", "/*", `"...`, "tab\t", "(deleted)", "\x1b[31m", "AT_FDCWD",
	} {
		if strings.HasPrefix(name, "/") {
			name = "x" + name[1:]
		}
		a.touch(here, name, name)
		fd, err := unix.Open(name, unix.O_RDWR|unix.O_CLOEXEC, 0)
		ok(err)
		ok(unix.Fchmod(fd, 0o600))
		ok(unix.Close(fd))
		a.file(ratchet.Read, name, nil)
		a.file(ratchet.Write, name, nil)
		ok(unix.Unlink(name))
		a.file(ratchet.Delete, name, nil)
	}
}

func (a *actor) directories() {
	ok(unix.Mkdir("one", 0o755))
	a.dir(ratchet.Create, "one", nil)
	ok(unix.Chdir("one"))
	a.dir(ratchet.Stat, "one", nil)
	ok(unix.Mkdir("./two//", 0o755))
	a.dir(ratchet.Create, "one/two", nil)
	a.touch(here, "two/../in-one", "one/in-one") // two was made here, so it is no link
	a.touch(here, "../in-root", "in-root")
	ok(unix.Chdir(".."))
	a.dir(ratchet.Stat, ".", nil)
	fd, err := unix.Open("one/two", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	ok(err)
	a.dir(ratchet.Stat, "one/two", nil)
	ok(unix.Fchdir(fd))
	a.touch(here, "in-two", "one/two/in-two")
	buf := make([]byte, 4096)
	_, err = unix.Getdents(fd, buf)
	ok(err)
	a.dir(ratchet.List, "one/two", nil)
	ok(unix.Close(fd))
	// One that is opened like a file and turns out to be a directory.
	fd, err = unix.Open("../../one", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	ok(err)
	_, err = unix.Getdents(fd, buf)
	ok(err)
	a.dir(ratchet.List, "one", nil)
	ok(unix.Close(fd))
	ok(unix.Chdir(a.root))
	var st unix.Stat_t
	ok(unix.Lstat("one", &st))
	ok(unix.Stat("in-root", &st))
	a.file(ratchet.Stat, "in-root", nil)
	var stx unix.Statx_t
	ok(unix.Statx(here, "one/in-one", unix.AT_SYMLINK_NOFOLLOW, unix.STATX_TYPE|unix.STATX_MODE, &stx))
	a.file(ratchet.Stat, "one/in-one", nil)
	ok(unix.Faccessat(here, "in-root", unix.R_OK, 0))
}

func (a *actor) descriptors() {
	ok(unix.Mkdir("d", 0o755))
	a.dir(ratchet.Create, "d", nil)
	d, err := unix.Open("d", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	ok(err)
	a.dir(ratchet.Stat, "d", nil)
	a.touch(d, "x", "d/x")
	e, err := unix.Dup(d)
	ok(err)
	ok(unix.Close(d))
	a.touch(e, "y", "d/y")
	ok(unix.Dup3(e, e+40, unix.O_CLOEXEC))
	a.touch(e+40, "z", "d/z")
	f, err := unix.FcntlInt(uintptr(e), unix.F_DUPFD_CLOEXEC, 200)
	ok(err)
	ok(unix.Mkdirat(f, "sub", 0o755))
	a.dir(ratchet.Create, "d/sub", nil)
	g, err := unix.Openat2(f, "sub", &unix.OpenHow{Flags: unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH})
	ok(err)
	a.dir(ratchet.Stat, "d/sub", nil)
	h, err := unix.Openat2(f, "/sub/./rooted", &unix.OpenHow{Flags: unix.O_WRONLY | unix.O_CREAT | unix.O_EXCL | unix.O_CLOEXEC, Mode: 0o644, Resolve: unix.RESOLVE_IN_ROOT})
	ok(err)
	a.file(ratchet.Create, "d/sub/rooted", nil)
	ok(unix.Ftruncate(h, 10))
	a.file(ratchet.Write, "d/sub/rooted", nil)
	ok(unix.Close(h))
	ok(unix.Renameat(f, "x", g, "moved"))
	a.renamed("file", "file", "d/x", "d/sub/moved")
	ok(unix.Unlinkat(e, "y", 0))
	a.file(ratchet.Delete, "d/y", nil)
	// The last file of a directory through the kernel's own links.
	h, err = unix.Openat(g, "moved", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	ok(err)
	a.file(ratchet.Read, "d/sub/moved", nil)
	i, err := unix.Open("/proc/self/fd/"+strconv.Itoa(h), unix.O_WRONLY|unix.O_CLOEXEC, 0)
	ok(err)
	a.file(ratchet.Write, "d/sub/moved", nil)
	ok(unix.CloseRange(uint(g), uint(g), 0))
	for _, fd := range []int{e, e + 40, f, h, i} {
		ok(unix.Close(fd))
	}
	t, err := unix.Open("d", unix.O_RDWR|unix.O_TMPFILE|unix.O_CLOEXEC, 0o600)
	ok(err)
	a.dir(ratchet.Write, "d", nil)
	ok(unix.Ftruncate(t, 1))
	ok(unix.Linkat(here, "/proc/self/fd/"+strconv.Itoa(t), here, "d/linked", unix.AT_SYMLINK_FOLLOW))
	a.file(ratchet.Create, "d/linked", nil)
	ok(unix.Close(t))
	p, err := unix.Open("d", unix.O_PATH|unix.O_CLOEXEC, 0)
	ok(err)
	ok(unix.Unlinkat(p, "linked", 0))
	a.file(ratchet.Delete, "d/linked", nil)
	ok(unix.Close(p))
}

func (a *actor) renames() {
	ok(unix.Mkdir("r", 0o755))
	a.dir(ratchet.Create, "r", nil)
	ok(unix.Mkdir("r/in", 0o755))
	a.dir(ratchet.Create, "r/in", nil)
	d, err := unix.Open("r/in", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	ok(err)
	a.dir(ratchet.Stat, "r/in", nil)
	ok(unix.Chdir("r"))
	a.dir(ratchet.Stat, "r", nil)
	ok(unix.Rename(a.path("r"), a.path("s")))
	a.renamed("dir", "dir", "r", "s")
	a.touch(here, "after", "s/after")
	a.touch(d, "after", "s/in/after")
	ok(unix.Chdir(a.root))
	ok(unix.Close(d))
	a.touch(here, "file", "file")
	ok(unix.Renameat2(here, "file", here, "s/in", unix.RENAME_EXCHANGE))
	a.must("file", ratchet.Rename, a.path("file"), nil, "to", a.path("s/in"), "kind", "file")
	a.must("dir", ratchet.Rename, a.path("s/in"), nil, "from", a.path("file"), "kind", "dir")
	a.touch(here, "file/in", "file/in") // it is the directory now
	ok(unix.Renameat2(here, "s/in", here, "s/out", unix.RENAME_NOREPLACE))
	a.renamed("file", "file", "s/in", "s/out")
	ok(unix.Mkdir("t", 0o755))
	a.dir(ratchet.Create, "t", nil)
	ok(unix.Rmdir("t"))
	a.dir(ratchet.Delete, "t", nil)
}

func (a *actor) changes() {
	a.touch(here, "c", "c")
	ok(unix.Symlink("c", "link"))
	a.file(ratchet.Create, "link", nil)
	_, err := unix.Readlink("link", make([]byte, 100))
	ok(err)
	a.file(ratchet.Stat, "link", nil)
	ok(unix.Link("c", "hard"))
	a.file(ratchet.Stat, "c", nil)
	a.file(ratchet.Create, "hard", nil)
	for i, f := range []func(string) error{
		func(p string) error { return unix.Truncate(p, 3) },
		func(p string) error { return unix.Chmod(p, 0o600) },
		func(p string) error { return unix.Chown(p, os.Getuid(), os.Getgid()) },
		func(p string) error { return unix.Lchown(p, os.Getuid(), os.Getgid()) },
		func(p string) error { return unix.Utimes(p, make([]unix.Timeval, 2)) },
		func(p string) error {
			return unix.UtimesNanoAt(here, p, make([]unix.Timespec, 2), unix.AT_SYMLINK_NOFOLLOW)
		},
		func(p string) error { return unix.Fchmodat(here, p, 0o644, 0) },
		func(p string) error { return unix.Fchownat(here, p, os.Getuid(), os.Getgid(), 0) },
	} {
		p := "changed" + strconv.Itoa(i)
		a.touch(here, p, p)
		ok(f(p))
		a.file(ratchet.Write, p, nil)
	}
	a.touch(here, "attr", "attr")
	a.file(ratchet.Write, "attr", unix.Setxattr("attr", "user.x", []byte("1"), 0))
	ok(unix.Mkfifo("pipe", 0o644))
	a.file(ratchet.Create, "pipe", nil)
	// Without O_EXCL nothing says whether it was there: what was seen before decides.
	for _, name := range []string{"c", "never-seen"} {
		fd, err := unix.Open(name, unix.O_WRONLY|unix.O_CREAT|unix.O_TRUNC|unix.O_CLOEXEC, 0o644)
		ok(err)
		ok(unix.Close(fd))
	}
	a.file(ratchet.Write, "c", nil)
	a.file(ratchet.Create, "never-seen", nil)
}

func (a *actor) failures() {
	_, err := unix.Open("absent", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	a.file(ratchet.Read, "absent", err)
	_, err = unix.Open("absent", unix.O_WRONLY|unix.O_CLOEXEC, 0)
	a.file(ratchet.Write, "absent", err)
	_, err = unix.Open("absent/x", unix.O_WRONLY|unix.O_CREAT|unix.O_CLOEXEC, 0o644)
	a.file(ratchet.Create, "absent/x", err)
	a.dir(ratchet.Create, "d", unix.Mkdir("d", 0o755))
	a.file(ratchet.Delete, "d", unix.Unlink("d"))
	a.dir(ratchet.Delete, "d", unix.Rmdir("d"))
	a.file(ratchet.Stat, "absent", unix.Access("absent", unix.R_OK))
	err = unix.Rename("absent", "other")
	a.must("file", ratchet.Rename, a.path("absent"), err, "to", a.path("other"))
	a.must("file", ratchet.Rename, a.path("other"), err, "from", a.path("absent"))
	_, err = unix.Open("", unix.O_RDONLY, 0) // names nothing
	if err != unix.ENOENT {
		ok(err)
	}
}

// again runs this program once more, in a directory, as another part.
func (a *actor) again(part, rel string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe")
	cmd.Dir = a.path(rel)
	cmd.Env = append(os.Environ(), actEnv+"="+part, actEnv+"_ROOT="+a.root, actEnv+"_REL="+rel)
	cmd.Stderr = os.Stderr
	return cmd
}

func (a *actor) children() {
	// Several at once, so that forks of one parent are under way while children speak.
	var group sync.WaitGroup
	for i := range 6 {
		rel := "child" + strconv.Itoa(i)
		ok(unix.Mkdir(rel, 0o755))
		a.dir(ratchet.Create, rel, nil)
		group.Go(func() {
			ok(a.again("child", rel).Run())
			a.dir(ratchet.Stat, rel, nil) // chdir between fork and exec
		})
	}
	group.Wait()
	script := a.path("script")
	ok(os.WriteFile(script, []byte("#!/bin/sh\n: >made-by-script\n"), 0o755))
	a.file(ratchet.Create, "script", nil)
	cmd := exec.Command("./script")
	ok(cmd.Run())
	a.must("exec", ratchet.Exec, script, nil)
	a.file(ratchet.Read, "script", nil) // by the shell
	a.file(ratchet.Create, "made-by-script", nil)
	a.dir(ratchet.Stat, ".", nil) // the shell looks where it is
	ok(os.WriteFile(a.path("no-program"), []byte("x"), 0o755))
	a.file(ratchet.Create, "no-program", nil)
	ok(os.WriteFile(a.path("not-allowed"), []byte("x"), 0o644))
	a.file(ratchet.Create, "not-allowed", nil)
	for _, name := range []string{"no-program", "not-allowed", "absent"} {
		_, err := os.StartProcess("./"+name, []string{name}, &os.ProcAttr{})
		a.must("exec", ratchet.Exec, a.path(name), err)
	}
}

func (a *actor) threads() {
	ok(unix.Mkdir("t", 0o755))
	a.dir(ratchet.Create, "t", nil)
	ok(unix.Chdir("t")) // for all threads
	a.dir(ratchet.Stat, "t", nil)
	d, err := unix.Open(".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	ok(err)
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			runtime.LockOSThread()
			for j := range 12 {
				name := fmt.Sprintf("%d-%d", i, j)
				a.touch(here, name, "t/"+name)
				a.touch(d, name+"d", "t/"+name+"d")
				ok(unix.Unlink(name))
				a.file(ratchet.Delete, "t/"+name, nil)
			}
		})
	}
	group.Wait()
	ok(unix.Close(d))
	ok(unix.Chdir(a.root))
}

// apart lets one thread leave what the others share.
func (a *actor) apart() {
	ok(unix.Mkdir("u", 0o755))
	a.dir(ratchet.Create, "u", nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the thread ends here
		if err := unix.Unshare(unix.CLONE_FS); err != nil {
			ok(err)
		}
		ok(unix.Chdir(a.path("u")))
		a.dir(ratchet.Stat, "u", nil)
		a.touch(here, "in-u", "u/in-u")
	}()
	<-done
	a.touch(here, "not-in-u", "not-in-u")
}

func (a *actor) network() {
	// One socket by hand: package net probes what the machine can do.
	l, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	ok(err)
	ok(unix.Bind(l, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	ok(unix.Listen(l, 5))
	a.must("network", ratchet.Bind, "127.0.0.1:0", nil, "protocol", "tcp")
	name, err := unix.Getsockname(l)
	ok(err)
	port := name.(*unix.SockaddrInet4).Port
	tcp := func(port int, flags int) {
		s, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|flags, 0)
		ok(err)
		err = unix.Connect(s, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}})
		a.must("network", ratchet.Connect, "127.0.0.1:"+strconv.Itoa(port), err, "protocol", "tcp")
		ok(unix.Close(s))
	}
	tcp(port, 0)
	tcp(port, unix.SOCK_NONBLOCK)
	tcp(1, 0)
	u, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	ok(err)
	to := &unix.SockaddrInet4{Port: 5353, Addr: [4]byte{127, 0, 0, 2}}
	a.must("network", ratchet.Connect, "127.0.0.2:5353", unix.Sendto(u, []byte("msg_name={sa_family=AF_INET, sin_port=htons(1)"), 0, to), "protocol", "udp")
	to.Port = 5354
	a.must("network", ratchet.Connect, "127.0.0.2:5354", unix.Sendmsg(u, []byte("x"), nil, to, 0), "protocol", "udp")
	a.sendmmsg(u, 5355)
	ok(unix.Close(u))
	u, err = unix.Socket(unix.AF_INET6, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	ok(err)
	six := &unix.SockaddrInet6{Port: 77}
	six.Addr[15] = 1
	a.must("network", ratchet.Connect, "[::1]:77", unix.Connect(u, six), "protocol", "udp")
	ok(unix.Close(u))

	local := func(name string, bind bool) {
		s, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		ok(err)
		call, verb := unix.Connect, ratchet.Connect
		if bind {
			call, verb = unix.Bind, ratchet.Bind
		}
		err = call(s, &unix.SockaddrUnix{Name: name})
		switch {
		case name[0] == '@':
			a.must("network", verb, name, err, "protocol", "unix")
		case bind:
			a.file(ratchet.Create, name, err)
			ok(unix.Listen(s, 5))
		default:
			a.file(verb, name, err)
		}
		if !bind {
			ok(unix.Close(s))
		}
	}
	local("sock", true)
	local("sock", false)
	local("absent.sock", false)
	abstract := "@umwelt-strace-" + strconv.Itoa(os.Getpid())
	local(abstract, false)
	local(abstract, true)
	local(abstract, false) // refused: nobody listens
}

// sendmmsg sends two messages to two ports.
func (a *actor) sendmmsg(s, port int) {
	type mmsg struct {
		hdr unix.Msghdr
		len uint32
		_   [4]byte
	}
	var addrs [2]unix.RawSockaddrInet4
	var list [2]mmsg
	data := []byte("x")
	iov := unix.Iovec{Base: &data[0], Len: 1}
	for i := range list {
		addrs[i] = unix.RawSockaddrInet4{Family: unix.AF_INET, Addr: [4]byte{127, 0, 0, 3}}
		p := (*[2]byte)(unsafe.Pointer(&addrs[i].Port))
		p[0], p[1] = byte((port+i)>>8), byte(port+i)
		list[i].hdr = unix.Msghdr{Name: (*byte)(unsafe.Pointer(&addrs[i])), Namelen: unix.SizeofSockaddrInet4, Iov: &iov, Iovlen: 1}
	}
	n, _, errno := unix.Syscall6(unix.SYS_SENDMMSG, uintptr(s), uintptr(unsafe.Pointer(&list[0])), 2, 0, 0, 0)
	if errno != 0 || n != 2 {
		ok(errno)
	}
	for i := range list {
		a.must("network", ratchet.Connect, "127.0.0.3:"+strconv.Itoa(port+i), nil, "protocol", "udp")
	}
	runtime.KeepAlive(&list)
}

// TestActs compares what a program did, by its own account, with what was observed of it.
func TestActs(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"paths", "processes", "network"} {
		for _, s := range shapes {
			if part == "processes" && (s.name == "stacks" || s.name == "recommended" || s.name == "seconds" || s.name == "times" || s.name == "stderr-quiet") {
				continue // these take long and show nothing that the others do not
			}
			t.Run(part+"/"+s.name, func(t *testing.T) {
				t.Parallel()
				root := t.TempDir()
				want := filepath.Join(t.TempDir(), "want")
				in := s.record(t, root, []string{actEnv + "=" + part, actEnv + "_LOG=" + want}, self)
				list, tally := read(t, in)
				got := map[string]bool{}
				for _, o := range list {
					if o.ID == root || strings.HasPrefix(o.ID, root+"/") || o.Type == "network" {
						got[key(o)] = true
					}
				}
				text, err := os.ReadFile(want)
				if err != nil {
					t.Fatal(err)
				}
				keys := map[string]bool{}
				for line := range strings.Lines(string(text)) {
					var k string
					if err := json.Unmarshal([]byte(line), &k); err != nil {
						t.Fatal(err)
					}
					keys[k] = true
				}
				same(t, s.blind, tally, got, keys)
			})
		}
	}
}
