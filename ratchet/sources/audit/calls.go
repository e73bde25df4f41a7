package audit

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// The kernel's numbers of system calls: a number and a name a line.
var (
	//go:embed syscalls_x86_64.txt
	x86Text string
	//go:embed syscalls_aarch64.txt
	armText string

	x86 = sync.OnceValue(func() map[string]string { return table(x86Text) })
	arm = sync.OnceValue(func() map[string]string { return table(armText) })
)

func table(text string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(text) {
		number, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		out[number] = name
	}
	return out
}

// callName is the name of a record's system call. Where its machine's numbers are not
// known it is the name that the enriched form gives.
func callName(f fields) (string, bool) {
	number := f["syscall"]
	name := ""
	switch strings.ToLower(f["arch"]) {
	case "c000003e":
		name = x86()[number]
	case "c00000b7":
		name = arm()[number]
	}
	if name == "" {
		name = f["SYSCALL"]
	}
	if name == "" {
		return fmt.Sprintf("system call %s of %s", number, f["arch"]), false
	}
	return name, true
}

// action is what a system call does to the names that its PATH records give.
type action int

const (
	nothing  action = iota // of descriptors, memory, processes: it names nothing, or names what was opened before
	opening                // by its flags
	stating                // it asks after a name
	writing                // it changes what is there
	making                 // its CREATE record, and what it is made of is asked after
	removing               // its DELETE record
	renaming
	running
	connecting
	binding
)

// call is what is known of a system call.
type call struct {
	does action
	dirs []string // the arguments that hold the directory's descriptor
}

// calls are those that name something, and those that are known to name nothing new.
var calls = func() map[string]call {
	out := map[string]call{}
	put := func(does action, dirs []string, names string) {
		for _, n := range strings.Fields(names) {
			out[n] = call{does, dirs}
		}
	}
	a0 := []string{"a0"}
	put(opening, nil, "open creat")
	put(opening, a0, "openat openat2")
	put(stating, nil, `stat lstat access readlink statfs chdir inotify_add_watch getxattr lgetxattr listxattr llistxattr`)
	put(stating, a0, "newfstatat fstatat statx faccessat faccessat2 readlinkat name_to_handle_at")
	put(writing, nil, `truncate chmod chown lchown utime utimes setxattr lsetxattr removexattr lremovexattr
		fchmod fchown ftruncate fsetxattr fremovexattr`)
	put(writing, a0, "fchmodat fchmodat2 fchownat utimensat futimesat")
	put(making, nil, "mkdir mknod link symlink")
	put(making, a0, "mkdirat mknodat")
	put(making, []string{"a0", "a2"}, "linkat")
	put(making, []string{"a1"}, "symlinkat")
	put(removing, nil, "unlink rmdir")
	put(removing, a0, "unlinkat")
	put(renaming, nil, "rename")
	put(renaming, []string{"a0", "a2"}, "renameat renameat2")
	put(running, nil, "execve")
	put(running, a0, "execveat")
	put(connecting, nil, "connect sendto sendmsg sendmmsg")
	put(binding, nil, "bind")
	put(nothing, nil, `read write readv writev pread64 pwrite64 close close_range lseek fstat fstatfs fsync fdatasync fcntl flock dup dup2 dup3
		ioctl mmap munmap mprotect mremap madvise brk msync mlock munlock poll ppoll select pselect6 epoll_wait epoll_pwait epoll_ctl epoll_create1
		getdents getdents64 fchdir fgetxattr flistxattr sendfile splice copy_file_range pipe pipe2 eventfd2
		socket socketpair accept accept4 listen shutdown getsockname getpeername getsockopt setsockopt recvfrom recvmsg recvmmsg
		clone clone3 fork vfork exit exit_group wait4 waitid kill tkill tgkill futex nanosleep clock_nanosleep
		rt_sigaction rt_sigprocmask rt_sigreturn sigaltstack getpid getppid gettid getuid geteuid getgid getegid getgroups
		setuid setgid setreuid setregid setresuid setresgid setgroups setsid setpgid getpgid getpgrp getsid umask capget capset
		prlimit64 getrlimit setrlimit getrusage times sysinfo uname clock_gettime gettimeofday time getrandom arch_prctl prctl
		set_tid_address set_robust_list rseq sched_yield sched_getaffinity sched_setaffinity personality`)
	return out
}()

// Of the flags of open, which are the same on both machines.
const (
	accessMode = 3
	create     = 0o100
	truncate   = 0o1000
	pathOnly   = 0o10000000
	tmpfile    = 0o20000000
)

// flags are the flags with which a file was opened.
func (e *event) flags(name string) (uint64, bool) {
	switch name {
	case "open":
		return e.syscall.hex("a1")
	case "openat":
		return e.syscall.hex("a2")
	case "creat":
		return 1 | create | truncate, true
	}
	n, err := strconv.ParseUint(e.how["oflag"], 0, 64)
	return n, err == nil
}

// errnos are the names of the errors that calls fail with.
var errnos = map[string]string{
	"-1": "EPERM", "-2": "ENOENT", "-4": "EINTR", "-5": "EIO", "-6": "ENXIO", "-8": "ENOEXEC", "-9": "EBADF", "-11": "EAGAIN",
	"-12": "ENOMEM", "-13": "EACCES", "-16": "EBUSY", "-17": "EEXIST", "-18": "EXDEV", "-20": "ENOTDIR", "-21": "EISDIR",
	"-22": "EINVAL", "-26": "ETXTBSY", "-28": "ENOSPC", "-30": "EROFS", "-36": "ENAMETOOLONG", "-38": "ENOSYS", "-39": "ENOTEMPTY",
	"-40": "ELOOP", "-97": "EAFNOSUPPORT", "-98": "EADDRINUSE", "-99": "EADDRNOTAVAIL", "-101": "ENETUNREACH", "-106": "EISCONN",
	"-110": "ETIMEDOUT", "-111": "ECONNREFUSED", "-113": "EHOSTUNREACH", "-114": "EALREADY", "-115": "EINPROGRESS",
}
