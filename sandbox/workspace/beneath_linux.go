package workspace

import (
	"errors"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// beneath is an open directory and everything below it. A path is relative to it, with
// "." for itself, and no part of it may be a symbolic link when it is used: the last part
// too is taken as it is and never followed. A directory that is swapped for a link makes
// an operation fail and cannot redirect it.
type beneath struct {
	fd int
	// step is called before every system call that changes something. Tests kill the
	// process there.
	step func()
	walk bool // open directories one by one, for kernels without openat2
}

// openBeneath opens a directory. Its own path is trusted and may lead through links.
func openBeneath(dir string, step func()) (*beneath, error) {
	fd, err := retry(func() (int, error) {
		return unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: dir, Err: err}
	}
	return &beneath{fd: fd, step: step}, nil
}

// sub is a directory below b as one of its own.
func (b *beneath) sub(name string) (*beneath, error) {
	fd, err := b.dir(name)
	if err != nil {
		return nil, err
	}
	return &beneath{fd: fd, step: b.step, walk: b.walk}, nil
}

func (b *beneath) close() { unix.Close(b.fd) }

const dirFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

// dir opens a directory below b. The caller closes it.
func (b *beneath) dir(name string) (int, error) { return b.openat(name, dirFlags) }

// openat opens what stands at a path for reading, or reports unix.ELOOP or ENOTDIR where
// a link stands on the way.
func (b *beneath) openat(name string, flags int) (int, error) {
	if name != "." && !validPath(name) {
		return -1, &os.PathError{Op: "open", Path: name, Err: unix.EINVAL}
	}
	if !b.walk {
		how := unix.OpenHow{Flags: uint64(flags), Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS}
		fd, err := retry(func() (int, error) { return unix.Openat2(b.fd, name, &how) })
		switch err {
		case nil:
			return fd, nil
		case unix.ENOSYS, unix.EPERM: // an old kernel, or a filter that does not know the call
			b.walk = true
		default:
			return -1, &os.PathError{Op: "open", Path: name, Err: err}
		}
	}
	at := b.fd
	parts := strings.Split(name, "/")
	for i, part := range parts {
		f := dirFlags
		if i == len(parts)-1 {
			f = flags
		}
		fd, err := retry(func() (int, error) { return unix.Openat(at, part, f, 0) })
		if at != b.fd {
			unix.Close(at)
		}
		if err != nil {
			return -1, &os.PathError{Op: "open", Path: name, Err: err}
		}
		at = fd
	}
	return at, nil
}

// open opens a regular file for reading. It does not wait for a FIFO's writer.
func (b *beneath) open(name string) (*os.File, error) {
	fd, err := b.openat(name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC)
	if err != nil {
		return nil, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		unix.Close(fd)
		return nil, &os.PathError{Op: "open", Path: name, Err: errNotRegular}
	}
	return os.NewFile(uintptr(fd), name), nil
}

var errNotRegular = errors.New("it is not a regular file")

// in runs an operation on a name in its directory.
func (b *beneath) in(op, name string, f func(dir int, base string) error) error {
	dir, err := b.dir(path.Dir(name))
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	if _, err := retry(func() (int, error) { return 0, f(dir, path.Base(name)) }); err != nil {
		return &os.PathError{Op: op, Path: name, Err: err}
	}
	return nil
}

// stat is what stands at a path.
func (b *beneath) stat(name string) (unix.Stat_t, error) {
	var st unix.Stat_t
	if name == "." {
		return st, unix.Fstat(b.fd, &st)
	}
	err := b.in("stat", name, func(dir int, base string) error {
		return unix.Fstatat(dir, base, &st, unix.AT_SYMLINK_NOFOLLOW)
	})
	return st, err
}

// each visits what stands in a directory, sorted by name. What goes away meanwhile is left
// out.
func (b *beneath) each(dir string, visit func(name string, st *unix.Stat_t) error) error {
	fd, err := b.dir(dir)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), dir)
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, name := range names {
		var st unix.Stat_t
		err := unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
		if err == unix.ENOENT {
			continue
		}
		if err == nil {
			err = visit(name, &st)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readlink is the text of a symbolic link.
func (b *beneath) readlink(name string) (string, error) {
	buf := make([]byte, maxPath+1)
	n := 0
	err := b.in("readlink", name, func(dir int, base string) (err error) {
		n, err = unix.Readlinkat(dir, base, buf)
		return err
	})
	if err != nil {
		return "", err
	}
	return string(buf[:n]), nil
}

// mayWrite reports whether names in a directory can be made and removed by this user.
func (b *beneath) mayWrite(dir string) error {
	fd, err := b.dir(dir)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Faccessat(fd, ".", unix.W_OK|unix.X_OK, unix.AT_EACCESS)
}

// create makes a file that must not exist.
func (b *beneath) create(name string) (*os.File, error) {
	fd := -1
	b.step()
	err := b.in("create", name, func(dir int, base string) (err error) {
		fd, err = unix.Openat(dir, base, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
		return err
	})
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

func (b *beneath) mkdir(name string, perm uint32) error {
	b.step()
	return b.in("mkdir", name, func(dir int, base string) error { return unix.Mkdirat(dir, base, perm) })
}

func (b *beneath) symlink(target, name string) error {
	b.step()
	return b.in("symlink", name, func(dir int, base string) error { return unix.Symlinkat(target, dir, base) })
}

func (b *beneath) unlink(name string) error {
	b.step()
	return b.in("unlink", name, func(dir int, base string) error { return unix.Unlinkat(dir, base, 0) })
}

func (b *beneath) rmdir(name string) error {
	b.step()
	return b.in("rmdir", name, func(dir int, base string) error { return unix.Unlinkat(dir, base, unix.AT_REMOVEDIR) })
}

// chmod sets the permission bits of a directory.
func (b *beneath) chmod(dir string, perm uint32) error {
	b.step()
	fd, err := b.dir(dir)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Fchmod(fd, perm)
}

// sync makes what was done in a directory last.
func (b *beneath) sync(dir string) error {
	b.step()
	fd, err := b.dir(dir)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.Fsync(fd); err != nil && err != unix.EINVAL { // the filesystem cannot
		return err
	}
	return nil
}

// rename gives what stands at one path another. Unless replace is set, nothing may stand
// there: it fails with EEXIST and loses nothing.
func (b *beneath) rename(from, to string, replace bool) error {
	return b.in("rename", from, func(source int, a string) error {
		return b.in("rename", to, func(target int, z string) error {
			b.step()
			if replace {
				return unix.Renameat(source, a, target, z)
			}
			err := unix.Renameat2(source, a, target, z, unix.RENAME_NOREPLACE)
			if err != unix.EINVAL && err != unix.ENOSYS {
				return err
			}
			// The filesystem cannot do both in one. A second name cannot replace anything.
			if err := unix.Linkat(source, a, target, z, 0); err != nil {
				return err
			}
			b.step()
			return unix.Unlinkat(source, a, 0)
		})
	})
}

// retry repeats what a signal or a concurrent rename interrupted.
func retry(f func() (int, error)) (int, error) {
	for i := 0; ; i++ {
		n, err := f()
		if err != unix.EINTR && err != unix.EAGAIN || i > 1000 {
			return n, err
		}
	}
}

// is reports whether an error is one of some system call errors.
func is(err error, numbers ...syscall.Errno) bool {
	return slices.ContainsFunc(numbers, func(n syscall.Errno) bool { return errors.Is(err, n) })
}
