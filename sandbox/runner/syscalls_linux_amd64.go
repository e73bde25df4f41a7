package runner

import "golang.org/x/sys/unix"

const (
	auditArch = unix.AUDIT_ARCH_X86_64
	// otherNumbers is where the numbers of the x32 interface begin, which are other calls.
	otherNumbers = 0x40000000
)

var machineNever = []uint32{
	unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT, unix.SYS_USELIB, unix.SYS__SYSCTL, unix.SYS_NFSSERVCTL,
	unix.SYS_CREATE_MODULE, unix.SYS_GET_KERNEL_SYMS, unix.SYS_QUERY_MODULE, unix.SYS_USTAT, unix.SYS_SYSFS,
}

// modes are the calls that set the permission bits of a file, by the place of the bits and
// of the flags among the arguments; -1 for no flags.
var modes = []struct{ nr, mode, flags int }{
	{unix.SYS_CHMOD, 1, -1}, {unix.SYS_FCHMOD, 1, -1}, {unix.SYS_FCHMODAT, 2, -1}, {unix.SYS_FCHMODAT2, 2, -1},
	{unix.SYS_MKNOD, 1, -1}, {unix.SYS_MKNODAT, 2, -1}, {unix.SYS_CREAT, 1, -1}, {unix.SYS_OPEN, 2, 1}, {unix.SYS_OPENAT, 3, 2},
}

var metadata = []int{
	unix.SYS_CHMOD, unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2,
	unix.SYS_CHOWN, unix.SYS_FCHOWN, unix.SYS_LCHOWN, unix.SYS_FCHOWNAT,
	unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT, unix.SYS_UTIMENSAT,
	unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_SETXATTRAT,
	unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR, unix.SYS_REMOVEXATTRAT, unix.SYS_FILE_SETATTR,
}
