package verify

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// copyTree makes a private copy of a project: its directories, files, links and FIFOs, with
// their permissions and times, and with the names that share one file still sharing one.
// What else there is (sockets, devices) is left out and counted. It stops where stopped says
// so.
func copyTree(from, to string, stopped func() bool) (left int, err error) {
	type id struct{ dev, ino uint64 }
	names := map[id]string{}
	type dir struct {
		path string
		st   unix.Stat_t
	}
	var dirs []dir
	err = filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if stopped() {
			return ErrInterrupted
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		at := filepath.Join(to, rel)
		var st unix.Stat_t
		if err := unix.Lstat(path, &st); err != nil {
			return &fs.PathError{Op: "lstat", Path: path, Err: err}
		}
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFDIR:
			dirs = append(dirs, dir{at, st})
			return os.Mkdir(at, 0o700)
		case unix.S_IFLNK:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			if err := os.Symlink(target, at); err != nil {
				return err
			}
			return setTimes(at, &st)
		case unix.S_IFREG, unix.S_IFIFO:
		default:
			left++
			return nil
		}
		if first, ok := names[id{uint64(st.Dev), st.Ino}]; ok && st.Nlink > 1 {
			return os.Link(first, at)
		}
		names[id{uint64(st.Dev), st.Ino}] = at
		if st.Mode&unix.S_IFMT == unix.S_IFIFO {
			err = unix.Mkfifo(at, 0o600)
		} else {
			err = copyFile(path, at)
		}
		if err != nil {
			return err
		}
		if err := unix.Chmod(at, st.Mode&0o777); err != nil {
			return err
		}
		return setTimes(at, &st)
	})
	if err != nil {
		return left, fmt.Errorf("the project cannot be copied: %w", err)
	}
	// What is made in a directory changes its time, and may need permissions that it has not.
	for i := len(dirs) - 1; i >= 0; i-- {
		d := dirs[i]
		if err := errors.Join(unix.Chmod(d.path, d.st.Mode&0o777), setTimes(d.path, &d.st)); err != nil {
			return left, fmt.Errorf("the project cannot be copied: %w", err)
		}
	}
	return left, nil
}

func setTimes(path string, st *unix.Stat_t) error {
	return unix.UtimesNanoAt(unix.AT_FDCWD, path, []unix.Timespec{st.Atim, st.Mtim}, unix.AT_SYMLINK_NOFOLLOW)
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// removeTree removes a copy, whatever permissions its directories have.
func removeTree(path string) error {
	_ = filepath.WalkDir(path, func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			return os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(path)
}
