//go:build amd64 || arm64

package runner

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// mountsConfig is what the first stage mounts. Paths are bytes, for JSON to leave alone.
type mountsConfig struct {
	Private  []privateMount
	Loopback bool
	// Writable are the paths of which anything may be changed. Everything else becomes
	// read-only, so that owners, permissions and times stay as they are as well.
	Writable []writablePath
	Root     []byte // the project's root, from which its paths are opened
}

type writablePath struct {
	Path    []byte // absolute, or relative to the root where Project
	Project bool
}

type privateMount struct {
	Path []byte
	Type string
	Size int64
}

// make makes the mounts, or says what is wrong. It stands in a mount namespace of its own.
func (c *mountsConfig) make() *failure {
	none := func(what string, err error) *failure {
		return &failure{Exit: ExitFailed, What: fmt.Sprintf("%s: %v", what, err), NoNamespaces: true}
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return none("the mounts cannot be made private", err)
	}
	for _, p := range c.Private {
		path := string(p.Path)
		flags, data := uintptr(unix.MS_NOSUID|unix.MS_NODEV), ""
		switch p.Type {
		case "tmpfs":
			if info, err := os.Lstat(path); err != nil || !info.IsDir() {
				continue // nothing is there, and nothing is allowed there
			}
			mode := "0755"
			if path == "/tmp" || path == "/dev/shm" || path == "/var/tmp" {
				mode = "1777"
			}
			data = "mode=" + mode
			if p.Size > 0 {
				data += fmt.Sprintf(",size=%d", p.Size)
			}
		case "proc":
			flags |= unix.MS_NOEXEC
		default:
			return &failure{Exit: ExitFailed, What: "a private filesystem of an unknown type is asked for"}
		}
		if err := unix.Mount(p.Type, path, p.Type, flags, data); err != nil {
			return none("a private "+p.Type+" cannot be mounted", err)
		}
	}
	if c.Loopback {
		if err := loopbackUp(); err != nil {
			return none("the loopback interface cannot be brought up", err)
		}
	}
	return c.seal(none)
}

// seal makes everything read-only but the writable paths and the private filesystems.
func (c *mountsConfig) seal(none func(string, error) *failure) *failure {
	// What the host keeps read-only stays so, and is told by looking before.
	open := make([]unix.Stat_t, len(c.Writable))
	for i, w := range c.Writable {
		fd, err := c.open(w)
		if err != nil {
			continue // it went away since, or somebody put a link there: it stays closed
		}
		var fs unix.Statfs_t
		if err := unix.Fstatfs(fd, &fs); err == nil && fs.Flags&unix.ST_RDONLY == 0 {
			_ = unix.Fstat(fd, &open[i])
		}
		unix.Close(fd)
	}
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}); err != nil {
		return none("the mounts cannot be made read-only", err)
	}
	for i, w := range c.Writable {
		if open[i].Ino == 0 {
			continue
		}
		if err := c.reopen(w, &open[i]); err != nil {
			return none("a writable path cannot be mounted", err)
		}
	}
	for _, p := range c.Private {
		if p.Type != "tmpfs" {
			continue
		}
		err := unix.MountSetattr(unix.AT_FDCWD, string(p.Path), unix.AT_SYMLINK_NOFOLLOW, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY})
		if err != nil && !os.IsNotExist(err) && err != unix.EINVAL {
			return none("a private filesystem cannot be opened again", err)
		}
	}
	return nil
}

// open opens a writable path. In the project, no symbolic link is followed: whoever may
// write there could put one in the way at any moment.
func (c *mountsConfig) open(w writablePath) (int, error) {
	if !w.Project {
		fd, err := unix.Open(string(w.Path), unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		var stat unix.Stat_t
		if err == nil && (unix.Fstat(fd, &stat) != nil || stat.Mode&unix.S_IFMT == unix.S_IFLNK) {
			unix.Close(fd)
			return -1, unix.ELOOP
		}
		return fd, err
	}
	root, err := unix.Open(string(c.Root), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	defer unix.Close(root)
	return unix.Openat2(root, string(w.Path), &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS})
}

// reopen mounts what a path leads to over itself, writable, where that is still what was
// looked at. The mount is made of the open file and on it, so that no link can lead either
// end elsewhere.
func (c *mountsConfig) reopen(w writablePath, looked *unix.Stat_t) error {
	fd, err := c.open(w)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil || stat.Dev != looked.Dev || stat.Ino != looked.Ino {
		return nil
	}
	tree, err := unix.OpenTree(fd, "", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE|unix.AT_EMPTY_PATH)
	if err != nil {
		return err
	}
	defer unix.Close(tree)
	if err := unix.MountSetattr(tree, "", unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY}); err != nil {
		return err
	}
	err = unix.MoveMount(tree, "", fd, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
	if err == unix.ENOENT {
		return nil // it was removed meanwhile
	}
	return err
}

// loopbackUp lets the processes of the sandbox talk to each other.
func loopbackUp() error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(s)
	r, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	r.SetUint16(unix.IFF_UP)
	return unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, r)
}
