package probe

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Digest is what "read" gives for a content.
func Digest(content []byte) []byte {
	sum := sha256.Sum256(content[:min(len(content), Most)])
	return sum[:]
}

func read(op Op, r *Result) error {
	f, err := open(op.Path, unix.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return err
	}
	content, err := io.ReadAll(io.LimitReader(f, Most))
	if err != nil {
		return err
	}
	r.Data, r.Size, r.Dev, r.Ino, r.N = Digest(content), st.Size, uint64(st.Dev), st.Ino, int64(len(content))
	return nil
}

// write opens for writing and changes nothing.
func write(op Op, _ *Result) error {
	f, err := open(op.Path, unix.O_WRONLY)
	if err != nil {
		return err
	}
	return f.Close()
}

func fifo(op Op, _ *Result) error {
	f, err := open(op.Path, unix.O_RDWR)
	if err != nil {
		return err
	}
	return f.Close()
}

func appendTo(op Op, r *Result) error {
	f, err := open(op.Path, unix.O_WRONLY|unix.O_APPEND)
	if err != nil {
		return err
	}
	defer f.Close()
	before, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if _, err := f.Write([]byte("umwelt")); err != nil {
		return err
	}
	r.after("cutting it off again", f.Truncate(before))
	return nil
}

// truncate cuts a file to the length that it has.
func truncate(op Op, _ *Result) error {
	info, err := os.Lstat(string(op.Path))
	if err != nil {
		return err
	}
	return unix.Truncate(string(op.Path), info.Size())
}

// chmod gives a file the permissions that it has.
func chmod(op Op, _ *Result) error {
	info, err := os.Lstat(string(op.Path))
	if err != nil {
		return err
	}
	return os.Chmod(string(op.Path), info.Mode())
}

func lstat(op Op, r *Result) error {
	var st unix.Stat_t
	err := unix.Lstat(string(op.Path), &st)
	r.Dev, r.Ino, r.Size = uint64(st.Dev), st.Ino, st.Size
	return err
}

func readlink(op Op, r *Result) error {
	target, err := os.Readlink(string(op.Path))
	r.Data = []byte(target)
	return err
}

func list(op Op, r *Result) error {
	entries, err := os.ReadDir(string(op.Path))
	if err != nil {
		return err
	}
	for _, e := range entries {
		r.List = append(r.List, []byte(e.Name()))
	}
	return nil
}

// fresh is what a new file holds.
var fresh = []byte("made by umwelt verify\n")

// put makes a new file, whole or not at all.
func put(path string, content []byte, mode os.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(path)
	}
	return err
}

// create makes a file, reads it back and removes it.
func create(op Op, r *Result) error {
	path := string(op.Path)
	if err := put(path, fresh, 0o600); err != nil {
		return err
	}
	content, err := os.ReadFile(path)
	if err == nil && !bytes.Equal(content, fresh) {
		err = errors.New("it holds something else")
	}
	r.after("reading it back", err)
	r.after("removing it", os.Remove(path))
	return nil
}

func mkdir(op Op, r *Result) error {
	if err := os.Mkdir(string(op.Path), 0o700); err != nil {
		return err
	}
	r.after("removing it", os.Remove(string(op.Path)))
	return nil
}

// createBelow makes a file in a new directory.
func createBelow(op Op, r *Result) error {
	dir := filepath.Dir(string(op.Path))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	err := create(op, r)
	r.after("removing the directory", os.Remove(dir))
	return err
}

// remove takes a file away and puts another one with the same content there.
func remove(op Op, r *Result) error {
	path := string(op.Path)
	info, _ := os.Lstat(path)
	content, target, err := contentOf(path, info)
	if err := unix.Unlink(path); err != nil {
		return err
	}
	r.after("reading it first", err)
	switch {
	case info == nil:
	case target != "":
		r.after("making it again", os.Symlink(target, path))
	case info.Mode().Type() == os.ModeNamedPipe:
		r.after("making it again", unix.Mkfifo(path, uint32(info.Mode().Perm())))
	default:
		r.after("making it again", put(path, content, info.Mode().Perm()))
	}
	return nil
}

// contentOf is what it takes to make a file again.
func contentOf(path string, info os.FileInfo) (content []byte, target string, err error) {
	switch {
	case info == nil:
	case info.Mode().Type() == os.ModeSymlink:
		target, err = os.Readlink(path)
	case info.Mode().IsRegular():
		content, err = os.ReadFile(path)
	}
	return content, target, err
}

// rename moves to another path and back.
func rename(op Op, r *Result) error {
	if err := os.Rename(string(op.Path), string(op.New)); err != nil {
		return err
	}
	r.after("moving it back", os.Rename(string(op.New), string(op.Path)))
	return nil
}

// replace makes a file at New, with the content of the one at Path where that can be read,
// and moves it over that one.
func replace(op Op, r *Result) error {
	path, aside := string(op.Path), string(op.New)
	content, mode := fresh, os.FileMode(0o600)
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
		if text, err := os.ReadFile(path); err == nil {
			content, mode = text, info.Mode().Perm()
		}
	}
	if err := put(aside, content, mode); err != nil {
		return err
	}
	if err := os.Rename(aside, path); err != nil {
		os.Remove(aside)
		return err
	}
	return nil
}

// replaceLink moves a symbolic link over what stands at Path.
func replaceLink(op Op, _ *Result) error {
	if err := os.Symlink("umwelt", string(op.New)); err != nil {
		return err
	}
	if err := os.Rename(string(op.New), string(op.Path)); err != nil {
		os.Remove(string(op.New))
		return err
	}
	return nil
}

// exchange swaps what stands at Path with a new file at New, and back.
func exchange(op Op, r *Result) error {
	path, aside := string(op.Path), string(op.New)
	if err := put(aside, fresh, 0o600); err != nil {
		return err
	}
	swap := func() error {
		return unix.Renameat2(unix.AT_FDCWD, path, unix.AT_FDCWD, aside, unix.RENAME_EXCHANGE)
	}
	err := swap()
	if err == nil {
		r.after("swapping back", swap())
	}
	os.Remove(aside)
	return err
}

// link gives the file at Path a second name at New.
func link(op Op, r *Result) error {
	if err := os.Link(string(op.Path), string(op.New)); err != nil {
		return err
	}
	r.after("removing it", os.Remove(string(op.New)))
	return nil
}

// atExecveCheck asks the kernel whether it would run a file, since Linux 6.14.
const atExecveCheck = 0x10000

// execute asks whether a file could be run, without running it.
func execute(op Op, _ *Result) error {
	path, err := unix.BytePtrFromString(string(op.Path))
	if err != nil {
		return err
	}
	argv, env := [2]*byte{path}, [1]*byte{}
	here := unix.AT_FDCWD
	_, _, errno := unix.Syscall6(unix.SYS_EXECVEAT, uintptr(here), uintptr(unsafe.Pointer(path)), uintptr(unsafe.Pointer(&argv)), uintptr(unsafe.Pointer(&env)), atExecveCheck, 0)
	if errno == 0 {
		return nil
	}
	if errno != unix.EINVAL {
		return errno
	}
	return unix.Faccessat(unix.AT_FDCWD, string(op.Path), unix.X_OK, unix.AT_EACCESS)
}
