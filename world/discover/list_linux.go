package discover

import (
	"encoding/binary"
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// tree is an open directory below which others are read. Nothing below it is ever reached
// through a symbolic link, not even one that appears while the tree is read.
type tree struct {
	fd    int
	plain bool // the kernel lacks openat2
}

func openTree(dir string) (*tree, error) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: dir, Err: err}
	}
	t := &tree{fd: fd}
	probe, err := t.open(".")
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) {
		t.plain = true // an old kernel, or a sandbox that filters the call
	} else if err == nil {
		unix.Close(probe)
	}
	return t, nil
}

func (t *tree) close() { unix.Close(t.fd) }

func (t *tree) open(dir string) (int, error) {
	const flags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC | unix.O_NOFOLLOW
	for {
		var fd int
		var err error
		if t.plain {
			fd, err = t.openSteps(dir, flags)
		} else {
			fd, err = unix.Openat2(t.fd, dir, &unix.OpenHow{Flags: flags, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS})
		}
		if err != unix.EINTR && err != unix.EAGAIN {
			return fd, err
		}
	}
}

// openSteps opens one path component after another, so that no link is followed.
func (t *tree) openSteps(dir string, flags int) (int, error) {
	at, fd := t.fd, -1
	for _, name := range components(dir) {
		next, err := unix.Openat(at, name, flags, 0)
		if fd >= 0 {
			unix.Close(fd)
		}
		if err != nil {
			return -1, err
		}
		at, fd = next, next
	}
	return fd, nil
}

// list reads a directory. Names are appended to l in the order the kernel gives them.
func (t *tree) list(dir string, buf []byte, l *lister) error {
	fd, err := t.open(dir)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	for {
		n, err := unix.ReadDirent(fd, buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		if n <= 0 {
			return nil
		}
		for rest := buf[:n]; len(rest) >= 19; {
			size := int(binary.NativeEndian.Uint16(rest[16:]))
			if size < 19 || size > len(rest) {
				return unix.EIO
			}
			ino := binary.NativeEndian.Uint64(rest)
			name := rest[19:size]
			for i, c := range name {
				if c == 0 {
					name = name[:i]
					break
				}
			}
			if k, ok := kindOfType(rest[18]); ino != 0 && !dots(name) {
				if !ok {
					if k, ok = t.statKind(fd, string(name)); !ok {
						l.partial = true // it went away, or nobody may look
						rest = rest[size:]
						continue
					}
				}
				l.add(name, k, ino)
			}
			rest = rest[size:]
		}
	}
}

func dots(name []byte) bool {
	return len(name) == 1 && name[0] == '.' || len(name) == 2 && name[0] == '.' && name[1] == '.'
}

func kindOfType(t byte) (kind, bool) {
	switch t {
	case unix.DT_REG:
		return regular, true
	case unix.DT_DIR:
		return directory, true
	case unix.DT_LNK:
		return symlink, true
	case unix.DT_FIFO:
		return fifo, true
	case unix.DT_SOCK:
		return socket, true
	case unix.DT_CHR, unix.DT_BLK:
		return device, true
	}
	return 0, false
}

func (t *tree) statKind(fd int, name string) (kind, bool) {
	var st unix.Stat_t
	if err := unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return 0, false
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		return regular, true
	case unix.S_IFDIR:
		return directory, true
	case unix.S_IFLNK:
		return symlink, true
	case unix.S_IFIFO:
		return fifo, true
	case unix.S_IFSOCK:
		return socket, true
	}
	return device, true
}

// went reports whether an error says that a directory is no longer there.
func went(err error) bool {
	return err == unix.ENOENT || err == unix.ENOTDIR || err == unix.ELOOP
}
