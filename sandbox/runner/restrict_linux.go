//go:build amd64 || arm64

package runner

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ruleset is what is laid on the second stage by Landlock. The numbers are the kernel's,
// and only such as this kernel has.
type ruleset struct {
	Files, Network, Scoped uint64
	Root                   []byte // the project's root, from which its rules are opened
	Paths                  []pathRule
	Ports                  []portRule
}

type pathRule struct {
	Path    []byte // absolute, or relative to the root where Project
	Access  uint64
	Project bool
	// Optional paths may be missing. What is missing is not allowed, so that nothing is
	// lost but access.
	Optional bool
}

type portRule struct {
	Port   uint64
	Access uint64
}

// ruleNetPort is the kernel's number of the rules about ports.
const ruleNetPort = 2

// landlockABI is the version of the kernel's interface, or 0 where there is none.
func landlockABI() int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
}

// restrict lays the rules on the calling thread, for good.
func (r *ruleset) restrict() error {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: r.Files, Handled_access_net: r.Network, Scoped: r.Scoped}
	if attr == (unix.LandlockRulesetAttr{}) {
		return nil
	}
	// Older kernels know shorter forms.
	size := unsafe.Offsetof(attr.Handled_access_net)
	switch {
	case r.Scoped != 0:
		size = unsafe.Offsetof(attr.Quiet_access_fs)
	case r.Network != 0:
		size = unsafe.Offsetof(attr.Scoped)
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return errno
	}
	defer unix.Close(int(fd))
	root := -1
	if len(r.Paths) > 0 {
		var err error
		if root, err = unix.Open(string(r.Root), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err != nil {
			return fmt.Errorf("the project's root: %w", err)
		}
		defer unix.Close(root)
	}
	for _, p := range r.Paths {
		if err := p.add(int(fd), root, r.Files); err != nil {
			return err
		}
	}
	for _, p := range r.Ports {
		rule := struct{ access, port uint64 }{p.Access, p.Port}
		if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, fd, ruleNetPort, uintptr(unsafe.Pointer(&rule)), 0, 0, 0); errno != 0 {
			return errno
		}
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// add opens the path and allows access below what it finds. In the project, no symbolic
// link is followed: somebody may have put one there since the world was looked at.
func (p *pathRule) add(ruleset, root int, handled uint64) error {
	var fd int
	var err error
	if p.Project {
		how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS}
		fd, err = unix.Openat2(root, string(p.Path), &how)
	} else {
		fd, err = unix.Open(string(p.Path), unix.O_PATH|unix.O_CLOEXEC, 0)
	}
	if err != nil {
		// What went away, or became something else, stays closed.
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) || errors.Is(err, os.ErrPermission) {
			return nil
		}
		return err
	}
	defer unix.Close(fd)
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return err
	}
	access := p.Access & handled
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		access &= unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_READ_FILE |
			unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if access == 0 {
		return nil
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
	if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0); errno != 0 {
		return errno
	}
	runtime.KeepAlive(rule)
	return nil
}

// dropCapabilities takes every capability from the calling thread and from all that it
// will run.
func dropCapabilities() error {
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	for c := uintptr(0); c <= 63; c++ {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil {
			break // past the last one, or not allowed to, where there is none to drop
		}
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	return unix.Capset(&header, &none[0])
}

// install lays a filter on the calling thread.
func install(prog []unix.SockFilter) error {
	if len(prog) == 0 {
		return nil
	}
	p := unix.SockFprog{Len: uint16(len(prog)), Filter: &prog[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&p)))
	runtime.KeepAlive(prog)
	if errno != 0 {
		return errno
	}
	return nil
}
