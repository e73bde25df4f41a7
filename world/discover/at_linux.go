package discover

import (
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// directoryAt is one open directory of a tree, for what its listing does not tell.
type directoryAt struct{ fd int }

func (t *tree) at(dir string) (*directoryAt, error) {
	fd, err := t.open(dir)
	if err != nil {
		return nil, err
	}
	return &directoryAt{fd}, nil
}

func (d *directoryAt) close() { unix.Close(d.fd) }

func (d *directoryAt) readlink(name string) (string, error) {
	for size := 256; ; size *= 4 {
		buf := make([]byte, size)
		n, err := unix.Readlinkat(d.fd, name, buf)
		if err != nil {
			return "", err
		}
		if n < size {
			return string(buf[:n]), nil
		}
	}
}

// kindOf is what stands at a path, which is reached through no link. ok is false where
// nothing does, or nobody may look.
func (t *tree) kindOf(path string) (k kind, ok bool) {
	dir, name := ".", path
	if cut := strings.LastIndexByte(path, '/'); cut >= 0 {
		dir, name = path[:cut], path[cut+1:]
	}
	fd, err := t.open(dir)
	if err != nil {
		return 0, false
	}
	defer unix.Close(fd)
	return t.statKind(fd, name)
}

// facts are what a look at a file itself tells.
type facts struct {
	size  int64
	mode  uint32 // permission bits
	links uint64
	mtime time.Time
	identity
}

// identity tells one file from all others.
type identity struct{ dev, ino uint64 }

func (d *directoryAt) stat(name string) (facts, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return facts{}, err
	}
	return facts{st.Size, st.Mode & 0o7777, uint64(st.Nlink), time.Unix(st.Mtim.Unix()), identity{uint64(st.Dev), st.Ino}}, nil
}

// readFile reads a regular file of at most limit bytes. A symbolic link is not followed.
func (t *tree) readFile(dir, name string, limit int64) ([]byte, error) {
	d, err := t.at(dir)
	if err != nil {
		return nil, err
	}
	defer d.close()
	fd, err := unix.Openat(d.fd, name, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fs.ErrNotExist // as good as none
	}
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = unix.EFBIG
	}
	return text, err
}
