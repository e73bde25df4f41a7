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
	Writable [][]byte
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
	var writable []string
	for _, w := range c.Writable {
		path := string(w)
		if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeSymlink != 0 {
			continue // it went away since, or somebody put a link there: it stays closed
		}
		// What the host keeps read-only stays so.
		var fs unix.Statfs_t
		if err := unix.Statfs(path, &fs); err != nil || fs.Flags&unix.ST_RDONLY != 0 {
			continue
		}
		if err := unix.Mount(path, path, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return none("a writable path cannot be mounted", err)
		}
		writable = append(writable, path)
	}
	for _, p := range c.Private {
		if p.Type == "tmpfs" {
			writable = append(writable, string(p.Path))
		}
	}
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}); err != nil {
		return none("the mounts cannot be made read-only", err)
	}
	for _, path := range writable {
		err := unix.MountSetattr(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY})
		if err != nil && !os.IsNotExist(err) && err != unix.EINVAL {
			return none("a writable path cannot be opened again", err)
		}
	}
	return nil
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
