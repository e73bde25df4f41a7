//go:build !linux

package discover

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// directoryAt is one directory of a tree, for what its listing does not tell.
type directoryAt struct{ dir string }

func (t *tree) at(dir string) (*directoryAt, error) {
	return &directoryAt{filepath.Join(t.dir, filepath.FromSlash(dir))}, nil
}

func (d *directoryAt) close() {}

func (d *directoryAt) readlink(name string) (string, error) {
	return os.Readlink(filepath.Join(d.dir, name))
}

// kindOf is what stands at a path whose directories are known to be no links. ok is false
// where nothing does, or nobody may look.
func (t *tree) kindOf(path string) (k kind, ok bool) {
	info, err := os.Lstat(filepath.Join(t.dir, filepath.FromSlash(path)))
	if err != nil {
		return 0, false
	}
	return kindOfMode(info.Mode()), true
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
	info, err := os.Lstat(filepath.Join(d.dir, name))
	if err != nil {
		return facts{}, err
	}
	f := facts{size: info.Size(), mode: uint32(info.Mode().Perm()), links: 1, mtime: info.ModTime()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		f.mode, f.links = uint32(st.Mode)&0o7777, uint64(st.Nlink)
	}
	return f, nil
}

// readFile reads a regular file of at most limit bytes. A symbolic link is not followed.
func (t *tree) readFile(dir, name string, limit int64) ([]byte, error) {
	full := filepath.Join(t.dir, filepath.FromSlash(dir), name)
	info, err := os.Lstat(full)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fs.ErrNotExist // as good as none
	}
	return readSmall(full, limit)
}
