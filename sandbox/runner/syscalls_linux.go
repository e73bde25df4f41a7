//go:build amd64 || arm64

package runner

import "golang.org/x/sys/unix"

// sockets says which sockets a sandbox may make.
type sockets struct {
	inet bool // of the Internet families
	unix bool // that are files, beside pairs
	tcp  bool // of the Internet families, TCP alone
}

// policy is what the filter depends on.
type policy struct {
	sockets sockets
	// keepMeta forbids changing owners, permissions and times, which neither mounts nor
	// Landlock protect on this machine.
	keepMeta bool
	// keepGroup forbids leaving the process group, by which the sandbox is ended where it
	// has no process namespace.
	keepGroup bool
	affinity  bool // the binding to processors must stay
}

// never are the calls that nothing in a sandbox needs and that reach out of it: into other
// processes, the mounts, new namespaces with all capabilities, and parts of the kernel
// that have often been the way out.
var never = []uint32{
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE,
	unix.SYS_OPEN_TREE_ATTR, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR,
	unix.SYS_SETNS, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_FANOTIFY_INIT,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_ACCT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_REBOOT, unix.SYS_QUOTACTL,
	unix.SYS_QUOTACTL_FD, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
	unix.SYS_SYSLOG, unix.SYS_VHANGUP, unix.SYS_LOOKUP_DCOOKIE,
}

// absent are calls that programs try and can do without, where the kernel lacks them: they
// take what decides from memory, where a filter cannot look.
var absent = []uint32{
	unix.SYS_CLONE3, unix.SYS_OPENAT2, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
}

const (
	newNamespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER |
		unix.CLONE_NEWPID | unix.CLONE_NEWNET
	setIDs = unix.S_ISUID | unix.S_ISGID
)

// filter is the program for a policy.
func filter(p policy) []unix.SockFilter {
	var checks []check
	for _, nr := range never {
		checks = append(checks, check{nr: nr, deny: uint16(unix.EPERM)})
	}
	for _, nr := range machineNever {
		checks = append(checks, check{nr: nr, deny: uint16(unix.EPERM)})
	}
	for _, nr := range absent {
		checks = append(checks, check{nr: nr, deny: uint16(unix.ENOSYS)})
	}
	any := func(arg int, bits uint32) test { return test{arg: arg, mask: bits, values: []uint32{0}, not: true} }
	is := func(arg int, values ...uint32) test { return test{arg: arg, mask: ^uint32(0), values: values} }
	isNot := func(arg int, values ...uint32) test {
		return test{arg: arg, mask: ^uint32(0), values: values, not: true}
	}
	add := func(nr int, deny unix.Errno, tests ...test) {
		checks = append(checks, check{nr: uint32(nr), tests: tests, deny: uint16(deny)})
	}
	add(unix.SYS_UNSHARE, unix.EPERM, any(0, newNamespaces|unix.CLONE_NEWTIME))
	add(unix.SYS_CLONE, unix.EPERM, any(0, newNamespaces))
	// Characters put into a terminal's input are read by whoever uses it next.
	add(unix.SYS_IOCTL, unix.EPERM, is(1, unix.TIOCSTI, unix.TIOCLINUX))
	add(unix.SYS_PERSONALITY, unix.EPERM, isNot(0, 0, 8, 0x20000, 0x20008, ^uint32(0)))
	// A program that runs as its owner whoever starts it would be a way out for later.
	for _, m := range modes {
		tests := []test{any(m.mode, setIDs)}
		if m.flags >= 0 {
			tests = append(tests, any(m.flags, unix.O_CREAT|unix.O_TMPFILE&^unix.O_DIRECTORY))
		}
		add(m.nr, unix.EPERM, tests...)
	}
	if p.keepMeta {
		for _, nr := range metadata {
			add(nr, unix.EPERM)
		}
	}
	if p.keepGroup {
		add(unix.SYS_SETSID, unix.EPERM)
		add(unix.SYS_SETPGID, unix.EPERM)
	}
	if p.affinity {
		add(unix.SYS_SCHED_SETAFFINITY, unix.EPERM)
	}
	return assemble(append(checks, p.sockets.checks(is, isNot)...))
}

// kindOfSocket is the part of a socket's type that is no flag.
const kindOfSocket = 0xf

func (s sockets) checks(is, isNot func(int, ...uint32) test) []check {
	var out []check
	add := func(nr int, deny unix.Errno, tests ...test) {
		out = append(out, check{nr: uint32(nr), tests: tests, deny: uint16(deny)})
	}
	add(unix.SYS_SOCKETPAIR, unix.EACCES, isNot(0, unix.AF_UNIX))
	families := []uint32{}
	if s.unix {
		families = append(families, unix.AF_UNIX)
	} else {
		// A pair of datagram sockets could send to any socket that is a file.
		add(unix.SYS_SOCKETPAIR, unix.EACCES, test{arg: 1, mask: kindOfSocket, values: []uint32{unix.SOCK_STREAM, unix.SOCK_SEQPACKET}, not: true})
	}
	if s.inet {
		families = append(families, unix.AF_INET, unix.AF_INET6)
	}
	if s.inet && !s.tcp {
		families = append(families, unix.AF_NETLINK)
		add(unix.SYS_SOCKET, unix.EPERM, is(0, unix.AF_NETLINK), isNot(2, unix.NETLINK_ROUTE))
	}
	if len(families) == 0 {
		add(unix.SYS_SOCKET, unix.EACCES)
		return out
	}
	add(unix.SYS_SOCKET, unix.EACCES, isNot(0, families...))
	if s.tcp {
		inet := is(0, unix.AF_INET, unix.AF_INET6)
		add(unix.SYS_SOCKET, unix.EACCES, inet, test{arg: 1, mask: kindOfSocket, values: []uint32{unix.SOCK_STREAM}, not: true})
		add(unix.SYS_SOCKET, unix.EACCES, inet, isNot(2, 0, unix.IPPROTO_TCP))
		// Sending with this flag connects as well, past the rules about connecting.
		for _, f := range []struct{ nr, flags int }{{unix.SYS_SENDTO, 3}, {unix.SYS_SENDMSG, 2}, {unix.SYS_SENDMMSG, 3}} {
			add(f.nr, unix.EOPNOTSUPP, test{arg: f.flags, mask: unix.MSG_FASTOPEN, values: []uint32{0}, not: true})
		}
	}
	return out
}
