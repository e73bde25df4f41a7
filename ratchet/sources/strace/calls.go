package strace

import "strings"

// op is what is done with a call.
type op uint8

const (
	opNone     op = iota // it names no file, program or endpoint, and makes no descriptor
	opOpen               // opens a path
	opCreat              // creat(2)
	opStat               // looks a path up, following a last link
	opLstat              // looks a path up, not following a last link
	opLook               // looks a path up and learns nothing else of it
	opWrite              // changes what a path leads to
	opWriteFd            // changes what a descriptor leads to
	opMkdir              // makes a directory
	opMknod              // makes a file of another kind
	opSymlink            // makes a symbolic link
	opLink               // gives a file another name
	opUnlink             // removes a name
	opRmdir              // removes a directory
	opRename             // moves a name
	opReadlink           // reads a link
	opList               // lists the directory of a descriptor
	opChdir              // moves into a path
	opFchdir             // moves into the directory of a descriptor
	opGetcwd             // tells where the process is
	opChroot             // moves the root
	opPivot              // puts another tree in place of the root
	opSetns              // enters other namespaces
	opExec               // runs a program
	opFork               // makes a process or a thread
	opUnshare            // stops sharing
	opClose              // closes a descriptor
	opCloseAll           // close_range(2)
	opDup                // dup, dup2, dup3
	opFcntl              // may duplicate a descriptor or mark it
	opIoctl              // may mark a descriptor
	opSocket             // makes a socket
	opMemory             // makes a file without a name
	opConnect            // connects a socket
	opBind               // binds a socket
	opSendto             // sends to an address
	opSendmsg            // sends to an address, or several
	opHandle             // opens a file by a handle, whose path only -y tells
	opOpaque             // does something with paths that this reader does not follow
)

// spec says where the arguments of a call stand; -1 where it has none of that kind. Of
// calls with two paths, path2 is the new one.
type spec struct {
	name                          string
	op                            op
	dir, path, dir2, path2, flags int8
}

// specs are the calls that matter, by name.
var specs = func() map[string]*spec {
	m := map[string]*spec{}
	add := func(o op, dir, path, dir2, path2, flags int8, names string) {
		for name := range strings.FieldsSeq(names) {
			m[name] = &spec{name, o, dir, path, dir2, path2, flags}
		}
	}
	one := func(o op, path int8, names string) { add(o, -1, path, -1, -1, -1, names) }
	at := func(o op, flags int8, names string) { add(o, 0, 1, -1, -1, flags, names) }

	add(opOpen, -1, 0, -1, -1, 1, "open")
	at(opOpen, 2, "openat openat2 open_tree")
	one(opCreat, 0, "creat")
	one(opStat, 0, "stat stat64 oldstat")
	one(opLstat, 0, "lstat lstat64 oldlstat")
	at(opStat, 3, "newfstatat fstatat64")
	at(opStat, 2, "statx")
	one(opLook, 0, "access statfs statfs64 getxattr listxattr lgetxattr llistxattr")
	at(opLook, 3, "faccessat2")
	at(opLook, -1, "faccessat name_to_handle_at getxattrat listxattrat file_getattr")
	one(opLook, 1, "inotify_add_watch")
	one(opReadlink, 0, "readlink")
	at(opReadlink, -1, "readlinkat")
	one(opWrite, 0, "truncate truncate64 chmod chown lchown chown32 lchown32 utime utimes "+
		"setxattr lsetxattr removexattr lremovexattr")
	at(opWrite, -1, "fchmodat futimesat setxattrat removexattrat file_setattr")
	at(opWrite, 3, "fchmodat2 utimensat utimensat_time64")
	at(opWrite, 4, "fchownat")
	one(opWriteFd, 0, "ftruncate ftruncate64 fchmod fchown fchown32 fsetxattr fremovexattr")
	one(opMkdir, 0, "mkdir")
	at(opMkdir, -1, "mkdirat")
	one(opMknod, 0, "mknod")
	at(opMknod, -1, "mknodat")
	add(opSymlink, -1, -1, -1, 1, -1, "symlink")
	add(opSymlink, -1, -1, 1, 2, -1, "symlinkat")
	add(opLink, -1, 0, -1, 1, -1, "link")
	add(opLink, 0, 1, 2, 3, 4, "linkat")
	one(opUnlink, 0, "unlink")
	at(opUnlink, 2, "unlinkat")
	one(opRmdir, 0, "rmdir")
	add(opRename, -1, 0, -1, 1, -1, "rename")
	add(opRename, 0, 1, 2, 3, -1, "renameat")
	add(opRename, 0, 1, 2, 3, 4, "renameat2")
	one(opList, 0, "getdents getdents64 readdir")
	one(opChdir, 0, "chdir")
	one(opFchdir, 0, "fchdir")
	one(opGetcwd, 0, "getcwd")
	one(opChroot, 0, "chroot")
	one(opPivot, 0, "pivot_root")
	one(opSetns, 1, "setns")
	add(opExec, -1, 0, -1, 1, -1, "execve") // path2 is the list of words
	add(opExec, 0, 1, -1, 2, 4, "execveat")
	one(opFork, -1, "fork vfork clone clone2 __clone2 clone3")
	one(opUnshare, 0, "unshare")
	one(opClose, 0, "close")
	one(opCloseAll, 0, "close_range")
	one(opDup, 0, "dup dup2 dup3")
	one(opFcntl, 0, "fcntl fcntl64")
	one(opIoctl, 0, "ioctl")
	one(opSocket, 0, "socket")
	one(opMemory, -1, "memfd_create memfd_secret")
	one(opConnect, 0, "connect")
	one(opBind, 0, "bind")
	one(opSendto, 0, "sendto")
	one(opSendmsg, 0, "sendmsg sendmmsg")
	one(opHandle, -1, "open_by_handle_at")
	one(opOpaque, -1, "mount umount umount2 oldumount move_mount mount_setattr acct swapon swapoff quotactl uselib "+
		"fanotify_mark nfsservctl io_uring_setup pidfd_getfd fsopen fspick fsmount open_tree_attr")

	for name := range strings.FieldsSeq(plainCalls) {
		m[name] = plain
	}
	return m
}()

var plain = &spec{}

// plainCalls are those that name no file, program or endpoint, of every architecture. A
// call that is in neither list is reported as unknown.
const plainCalls = `
accept accept4 bpf epoll_create epoll_create1 eventfd eventfd2 fanotify_init inotify_init inotify_init1
inotify_rm_watch io_uring_enter io_uring_register landlock_create_ruleset mq_open perf_event_open pidfd_open
signalfd signalfd4 timerfd_create userfaultfd
_llseek _newselect _sysctl add_key adjtimex afs_syscall alarm arch_prctl arm_fadvise64_64 arm_sync_file_range
atomic_barrier atomic_cmpxchg_32 bdflush break breakpoint brk cachectl cacheflush cachestat capget capset clock_adjtime
clock_adjtime64 clock_getres clock_getres_time64 clock_gettime clock_gettime64 clock_nanosleep
clock_nanosleep_time64 clock_settime clock_settime64 copy_file_range create_module delete_module dipc
epoll_ctl epoll_ctl_old epoll_pwait epoll_pwait2 epoll_wait epoll_wait_old exit exit_group fadvise64
fadvise64_64 fallocate fdatasync fgetxattr finit_module flistxattr flock fsconfig fstat fstat64 fstatfs
fstatfs64 fsync ftime futex futex_requeue futex_time64 futex_wait futex_waitv futex_wake get_kernel_syms
get_mempolicy get_robust_list get_thread_area get_tls getcpu getegid getegid32 geteuid geteuid32 getgid
getgid32 getgroups getgroups32 gethostname getitimer getpagesize getpeername getpgid getpgrp getpid getpmsg
getppid getpriority getrandom getresgid getresgid32 getresuid getresuid32 getrlimit getrusage getsid
getsockname getsockopt gettid gettimeofday getuid getuid32 gtty idle init_module io_cancel io_destroy
io_getevents io_pgetevents io_pgetevents_time64 io_setup io_submit ioperm iopl ioprio_get ioprio_set ipc
kcmp kexec_file_load kexec_load keyctl kill landlock_add_rule landlock_restrict_self listen listmount lock
lookup_dcookie lseek lsm_get_self_attr lsm_list_modules lsm_set_self_attr madvise map_shadow_stack mbind
membarrier migrate_pages mincore mlock mlock2 mlockall mmap mmap2 modify_ldt move_pages mprotect mpx
mq_getsetattr mq_notify mq_timedreceive mq_timedreceive_time64 mq_timedsend mq_timedsend_time64 mq_unlink
mremap mseal msgctl msgget msgrcv msgsnd msync multiplexer munlock munlockall munmap nanosleep nice
old_getrlimit old_mmap old_select olduname oldolduname oldfstat pause personality pidfd_send_signal pipe
pipe2 pkey_alloc pkey_free pkey_mprotect poll ppoll ppoll_time64 prctl pread pread64 preadv preadv2
prlimit64 process_madvise process_mrelease process_vm_readv process_vm_writev prof profil pselect6
pselect6_time64 ptrace putpmsg pwrite pwrite64 pwritev pwritev2 query_module read readahead readv reboot
recv recvfrom recvmmsg recvmmsg_time64 recvmsg remap_file_pages request_key restart_syscall riscv_flush_icache
riscv_hwprobe rseq rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend
rt_sigtimedwait rt_sigtimedwait_time64 rt_tgsigqueueinfo rtas s390_guarded_storage s390_pci_mmio_read
s390_pci_mmio_write s390_runtime_instr s390_sthyi sched_get_priority_max sched_get_priority_min
sched_getaffinity sched_getattr sched_getparam sched_getscheduler sched_rr_get_interval
sched_rr_get_interval_time64 sched_setaffinity sched_setattr sched_setparam sched_setscheduler sched_yield
seccomp security select semctl semget semop semtimedop semtimedop_time64 send sendfile sendfile64
set_mempolicy set_mempolicy_home_node set_robust_list set_thread_area set_tid_address set_tls setdomainname
setfsgid setfsgid32 setfsuid setfsuid32 setgid setgid32 setgroups setgroups32 sethostname setitimer setpgid
setpriority setregid setregid32 setresgid setresgid32 setresuid setresuid32 setreuid setreuid32 setrlimit
setsid setsockopt settimeofday setuid setuid32 sgetmask shmat shmctl shmdt shmget shutdown sigaction
sigaltstack signal sigpending sigprocmask sigreturn sigsuspend socketpair splice spu_create spu_run
ssetmask statmount stime stty subpage_prot switch_endian swapcontext sync sync_file_range sync_file_range2
syncfs sys_debug_setcontext syscall sysfs sysinfo syslog sysmips tee tgkill time timer_create timer_delete
timer_getoverrun timer_gettime timer_gettime64 timer_settime timer_settime64 timerfd_gettime
timerfd_gettime64 timerfd_settime timerfd_settime64 times tkill tuxcall ugetrlimit ulimit umask uname
unused uprobe uretprobe usr26 usr32 ustat utrap_install vhangup vm86 vm86old vmsplice vserver wait4 waitid
waitpid write writev`
