//go:build !linux

package discover

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// tree is a directory below which others are read.
type tree struct{ dir string }

func openTree(dir string) (*tree, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: syscall.ENOTDIR}
	}
	return &tree{dir}, nil
}

func (t *tree) close() {}

// list reads a directory. A link in place of any part of its path is not followed.
func (t *tree) list(dir string, _ []byte, l *lister) error {
	full := t.dir
	for _, name := range components(dir) {
		full = filepath.Join(full, name)
		info, err := os.Lstat(full)
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return syscall.ENOTDIR
		}
	}
	entries, err := os.ReadDir(full)
	for _, e := range entries {
		l.add([]byte(e.Name()), kindOfMode(e.Type()), 0)
	}
	return err
}

func kindOfMode(m fs.FileMode) kind {
	switch {
	case m.IsDir():
		return directory
	case m&fs.ModeSymlink != 0:
		return symlink
	case m&fs.ModeNamedPipe != 0:
		return fifo
	case m&fs.ModeSocket != 0:
		return socket
	case m.IsRegular():
		return regular
	}
	return device
}

// went reports whether an error says that a directory is no longer there.
func went(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP)
}
