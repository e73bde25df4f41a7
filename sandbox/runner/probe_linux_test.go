//go:build amd64 || arm64

package runner

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// probe tries operations from inside. Each is a word and arguments, separated by blanks.
func probe(args []string) {
	var ops []string
	if err := json.Unmarshal([]byte(args[0]), &ops); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	results := map[string]string{}
	for _, op := range ops {
		results[op] = ""
		words := strings.Split(op, " ")
		do := operations[words[0]]
		if do == nil {
			results[op] = "there is no such operation"
		} else if err := do(append(words[1:], "", "")); err != nil {
			results[op] = err.Error()
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(results); err != nil {
		os.Exit(2)
	}
	os.Exit(0)
}

func call(nr uintptr, args ...uintptr) error {
	args = append(args, 0, 0, 0, 0, 0, 0)
	if _, _, errno := unix.Syscall6(nr, args[0], args[1], args[2], args[3], args[4], args[5]); errno != 0 {
		return errno
	}
	return nil
}

func open(path string, flags int) error {
	fd, err := unix.Open(path, flags|unix.O_NONBLOCK|unix.O_CLOEXEC, 0o644)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

// reopen opens a path for reading and the open file again, by way of /proc, for writing.
func reopen(path string) error {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return open("/proc/self/fd/"+strconv.Itoa(fd), unix.O_WRONLY)
}

// overwrite writes into what a path of /proc leads to.
func overwrite(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() && !info.Mode().IsDir() {
		return errors.New("it is no file")
	}
	_, err = f.WriteString("overwritten")
	return err
}

// inherited looks for descriptors that lead anywhere but to the standard streams.
func inherited() error {
	for fd := 3; fd < 8192; fd++ {
		var stat unix.Stat_t
		if unix.Fstat(fd, &stat) != nil {
			continue
		}
		if link, _ := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd)); strings.HasPrefix(link, "/sys/fs/cgroup/") {
			continue // this program's own runtime looks there for how many processors it has
		}
		switch stat.Mode & unix.S_IFMT {
		case unix.S_IFREG, unix.S_IFDIR, unix.S_IFSOCK, unix.S_IFIFO:
			// This program's own runtime makes a pipe or an eventfd at most once it needs
			// the network, which it did not yet.
			return nil
		}
	}
	return errors.New("nothing was inherited")
}

// spy looks for a text, given backwards, in the environment and arguments of all processes
// that show.
func spy(backwards string) error {
	text := []byte(backwards)
	slices.Reverse(text)
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil || e.Name() == strconv.Itoa(os.Getpid()) {
			continue
		}
		for _, name := range []string{"environ", "cmdline"} {
			content, _ := os.ReadFile("/proc/" + e.Name() + "/" + name)
			if bytes.Contains(content, text) {
				return nil
			}
		}
	}
	return errors.New("nothing was found")
}

// sameMode sets the permissions of what is not the sandbox's own to what they are.
func sameMode(path string) error {
	var stat unix.Stat_t
	if err := unix.Stat(path, &stat); err != nil {
		return err
	}
	if stat.Mode&unix.S_IFMT == unix.S_IFIFO {
		return errors.New("it is a pipe")
	}
	return unix.Chmod(path, stat.Mode&0o777)
}

// roots tries to reach a path through the roots and working directories of all processes.
func roots(path string) error {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return err
	}
	for _, e := range entries {
		for _, way := range []string{"/root", "/cwd"} {
			if open("/proc/"+e.Name()+way+path, unix.O_RDONLY) == nil {
				return nil
			}
		}
	}
	return errors.New("no process leads there")
}

// sendPair sends a datagram to a socket that is a file, from one half of a pair.
func sendPair(path string, kind int) error {
	pair, err := unix.Socketpair(unix.AF_UNIX, kind, 0)
	if err != nil {
		return err
	}
	defer unix.Close(pair[0])
	defer unix.Close(pair[1])
	return unix.Sendto(pair[0], []byte("x"), 0, &unix.SockaddrUnix{Name: path})
}

func connectUnix(name string) error {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Connect(fd, &unix.SockaddrUnix{Name: name})
}

func dial(network, address string) error {
	c, err := net.DialTimeout(network, address, time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	if !strings.HasPrefix(network, "udp") {
		return nil
	}
	// A datagram that nobody answers may have arrived or not: ask for an answer.
	if err := c.SetDeadline(time.Now().Add(300 * time.Millisecond)); err != nil {
		return err
	}
	if _, err := c.Write([]byte("ping")); err != nil {
		return err
	}
	_, err = c.Read(make([]byte, 8))
	return err
}

// get fetches through the proxy that the environment names. The address of the loopback is
// asked of the proxy too, which programs do not do by themselves.
func get(address string) error {
	proxy, err := url.Parse(os.Getenv("HTTP_PROXY"))
	if err != nil {
		return err
	}
	client := http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(proxy)}, Timeout: 2 * time.Second}
	r, err := client.Get(address)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK {
		return errors.New(r.Status)
	}
	return nil
}

// between talks over the loopback inside.
func between() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	return dial("tcp", l.Addr().String())
}

func socket(family, kind, proto int) error {
	fd, err := unix.Socket(family, kind, proto)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

func write(path string, append bool) error {
	flags := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if append {
		flags = os.O_WRONLY | os.O_APPEND
	}
	f, err := os.OpenFile(path, flags, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString("changed")
	return err
}

// steal takes the place of a protected file by a link.
func steal(path string, link func(old, new string) error, target string) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	return link(target, path)
}

var handle [128]byte

// operations are what the probe can try. Each ends well where the attacker, or the honest
// program, got what it wanted.
var operations = map[string]func(a []string) error{
	"read": func(a []string) error {
		_, err := os.ReadFile(a[0])
		return err
	},
	"list": func(a []string) error {
		_, err := os.ReadDir(a[0])
		return err
	},
	"write":    func(a []string) error { return write(a[0], false) },
	"append":   func(a []string) error { return write(a[0], true) },
	"openrw":   func(a []string) error { return open(a[0], unix.O_RDWR) },
	"openw":    func(a []string) error { return open(a[0], unix.O_WRONLY) },
	"trunc":    func(a []string) error { return open(a[0], unix.O_RDONLY|unix.O_TRUNC) },
	"truncate": func(a []string) error { return os.Truncate(a[0], 0) },
	"mkdir":    func(a []string) error { return os.Mkdir(a[0], 0o755) },
	"remove":   func(a []string) error { return os.Remove(a[0]) },
	"rename":   func(a []string) error { return os.Rename(a[0], a[1]) },
	"exchange": func(a []string) error {
		return unix.Renameat2(unix.AT_FDCWD, a[0], unix.AT_FDCWD, a[1], unix.RENAME_EXCHANGE)
	},
	"link":      func(a []string) error { return os.Link(a[0], a[1]) },
	"symlink":   func(a []string) error { return os.Symlink(a[0], a[1]) },
	"stealsym":  func(a []string) error { return steal(a[0], os.Symlink, a[1]) },
	"steallink": func(a []string) error { return steal(a[0], os.Link, a[1]) },
	"mkfifo":    func(a []string) error { return unix.Mkfifo(a[0], 0o644) },
	"mknod":     func(a []string) error { return unix.Mknod(a[0], unix.S_IFCHR|0o666, int(unix.Mkdev(1, 5))) },
	"chmod":     func(a []string) error { return os.Chmod(a[0], 0o600) },
	"samemode":  func(a []string) error { return sameMode(a[0]) },
	"suid":      func(a []string) error { return unix.Chmod(a[0], 0o4755) },
	"suidfd": func(a []string) error {
		fd, err := unix.Open(a[0], unix.O_RDONLY, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		return unix.Fchmod(fd, 0o2755)
	},
	"suidopen": func(a []string) error {
		fd, err := unix.Open(a[0], unix.O_CREAT|unix.O_WRONLY, 0o4755)
		if err != nil {
			return err
		}
		return unix.Close(fd)
	},
	"chown":  func(a []string) error { return os.Chown(a[0], os.Getuid(), os.Getgid()) },
	"utimes": func(a []string) error { return os.Chtimes(a[0], time.Unix(1, 0), time.Unix(1, 0)) },
	"setxattr": func(a []string) error {
		return unix.Setxattr(a[0], "user.umwelt", []byte("x"), 0)
	},
	"reopen":    func(a []string) error { return reopen(a[0]) },
	"overwrite": func(a []string) error { return overwrite(a[0]) },
	"upwards": func(a []string) error { // from an inherited directory
		fd, err := unix.Openat(0, a[0], unix.O_RDONLY, 0)
		if err != nil {
			return err
		}
		return unix.Close(fd)
	},
	"inherited": func([]string) error { return inherited() },
	"spy":       func(a []string) error { return spy(a[0]) },
	"roots":     func(a []string) error { return roots(a[0]) },
	"kill": func(a []string) error {
		pid, err := strconv.Atoi(a[0])
		if err != nil {
			return err
		}
		return unix.Kill(pid, 0)
	},
	"killall":  func([]string) error { return unix.Kill(-1, 0) },
	"connect":  func(a []string) error { return connectUnix(a[0]) },
	"datagram": func(a []string) error { return sendPair(a[0], unix.SOCK_DGRAM) },
	"raw-pair": func(a []string) error { return sendPair(a[0], unix.SOCK_RAW) },
	"pair": func([]string) error {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		unix.Close(pair[0])
		return unix.Close(pair[1])
	},
	"dial": func(a []string) error { return dial(a[0], a[1]) },
	"get":  func(a []string) error { return get(a[0]) },
	"environ": func(a []string) error {
		if !slices.Contains(os.Environ(), a[0]) {
			return errors.New("it is not there")
		}
		return nil
	},
	"between": func([]string) error { return between() },
	"vsock":   func([]string) error { return socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0) },
	"packet":  func([]string) error { return socket(unix.AF_PACKET, unix.SOCK_RAW, 0) },
	"alg":     func([]string) error { return socket(unix.AF_ALG, unix.SOCK_SEQPACKET, 0) },
	"audit":   func([]string) error { return socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_AUDIT) },
	"ptrace":  func([]string) error { return call(unix.SYS_PTRACE, unix.PTRACE_TRACEME) },
	"attach": func(a []string) error {
		pid, _ := strconv.Atoi(a[0])
		return call(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(pid))
	},
	"vmread": func([]string) error {
		var b [8]byte
		l := unix.Iovec{Base: &b[0], Len: 8}
		return call(unix.SYS_PROCESS_VM_READV, uintptr(os.Getpid()), uintptr(unsafe.Pointer(&l)), 1, uintptr(unsafe.Pointer(&l)), 1)
	},
	"pidfd": func([]string) error {
		fd, err := unix.PidfdOpen(os.Getpid(), 0)
		if err != nil {
			return err
		}
		return call(unix.SYS_PIDFD_GETFD, uintptr(fd), 0, 0)
	},
	"tiocsti": func([]string) error {
		c := byte('x')
		return call(unix.SYS_IOCTL, 0, unix.TIOCSTI, uintptr(unsafe.Pointer(&c)))
	},
	"tiocsti-high": func([]string) error {
		c := byte('x')
		return call(unix.SYS_IOCTL, 0, 1<<32|unix.TIOCSTI, uintptr(unsafe.Pointer(&c)))
	},
	"tioclinux": func([]string) error {
		c := byte(3)
		return call(unix.SYS_IOCTL, 0, unix.TIOCLINUX, uintptr(unsafe.Pointer(&c)))
	},
	"mount":   func(a []string) error { return unix.Mount("tmpfs", a[0], "tmpfs", 0, "") },
	"bind":    func(a []string) error { return unix.Mount(a[0], a[1], "", unix.MS_BIND, "") },
	"remount": func(a []string) error { return unix.Mount("", a[0], "", unix.MS_REMOUNT|unix.MS_BIND, "") },
	"umount":  func(a []string) error { return unix.Unmount(a[0], unix.MNT_DETACH) },
	"setattr": func(a []string) error {
		return unix.MountSetattr(unix.AT_FDCWD, a[0], 0, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY})
	},
	"fsopen":   func([]string) error { _, err := unix.Fsopen("tmpfs", 0); return err },
	"opentree": func(a []string) error { _, err := unix.OpenTree(unix.AT_FDCWD, a[0], 1); return err },
	"pivot":    func(a []string) error { return unix.PivotRoot(a[0], a[0]) },
	"chroot":   func(a []string) error { return unix.Chroot(a[0]) },
	"unshare":  func([]string) error { return unix.Unshare(unix.CLONE_NEWUSER) },
	"unsharenet": func([]string) error {
		return unix.Unshare(unix.CLONE_NEWNET)
	},
	"cloneuser": func([]string) error {
		cmd := exec.Command("/proc/self/exe", "probe", "[]")
		cmd.SysProcAttr = &unix.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER}
		return cmd.Run()
	},
	"clone3": func([]string) error { return call(unix.SYS_CLONE3, 0, 0) },
	"setns": func([]string) error {
		fd, err := unix.Open("/proc/self/ns/mnt", unix.O_RDONLY, 0)
		if err != nil {
			return err
		}
		return unix.Setns(fd, 0)
	},
	"iouring": func([]string) error { return call(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&handle))) },
	"keyctl": func([]string) error {
		_, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, true)
		return err
	},
	"addkey": func([]string) error {
		_, err := unix.AddKey("user", "umwelt", []byte("x"), unix.KEY_SPEC_PROCESS_KEYRING)
		return err
	},
	"bpf": func([]string) error { return call(unix.SYS_BPF, 0, uintptr(unsafe.Pointer(&handle)), 128) },
	"perf": func([]string) error {
		return call(unix.SYS_PERF_EVENT_OPEN, uintptr(unsafe.Pointer(&handle)), 0, ^uintptr(0), ^uintptr(0))
	},
	"uffd":     func([]string) error { return call(unix.SYS_USERFAULTFD, 1) },
	"byhandle": func([]string) error { return call(unix.SYS_OPEN_BY_HANDLE_AT, 0, uintptr(unsafe.Pointer(&handle)), 0) },
	"persona":  func([]string) error { return call(unix.SYS_PERSONALITY, 0x0040000) },
	"openat2": func(a []string) error {
		_, err := unix.Openat2(unix.AT_FDCWD, a[0], &unix.OpenHow{Flags: unix.O_CREAT | unix.O_WRONLY, Mode: 0o4755})
		return err
	},
	"core": func([]string) error {
		var l unix.Rlimit
		if err := unix.Getrlimit(unix.RLIMIT_CORE, &l); err != nil || l.Max == 0 {
			return errors.New("no core files")
		}
		return nil
	},
	"capable": func([]string) error {
		header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var data [2]unix.CapUserData
		if err := unix.Capget(&header, &data[0]); err != nil {
			return err
		}
		if data[0].Effective|data[0].Permitted|data[0].Inheritable|data[1].Effective|data[1].Permitted|data[1].Inheritable == 0 {
			return errors.New("no capabilities")
		}
		return nil
	},
	"exec": func(a []string) error { return exec.Command(a[0]).Run() },
}
