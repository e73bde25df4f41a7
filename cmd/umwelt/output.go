package main

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"umwelt"
	"umwelt/diag"
)

// write puts a result where -o says: "" and "-" are standard output. A file appears
// whole or not at all.
func (s *streams) write(path string, text []byte) error {
	return s.writeBy(path, false, func(to io.Writer) error {
		_, err := to.Write(text)
		return err
	})
}

// rewrite changes a file that was read. Like write, it does so as a whole or not at all.
func (s *streams) rewrite(path string, text []byte) error {
	return s.put(path, false, func(to io.Writer) error {
		_, err := to.Write(text)
		return err
	})
}

// writeBy puts where -o says what is too long to be held as a whole. A new file is one that
// must not be there yet.
func (s *streams) writeBy(path string, isNew bool, text func(io.Writer) error) error {
	s.stopProgress()
	if path == "" || path == "-" {
		if err := text(s.out); err != nil {
			return problem(diag.Output, "", "standard output cannot be written: %v", cause(err))
		}
		return nil
	}
	if s.isRead(path) {
		return problem(diag.Output, "write to another file", "%s is read by this very command, so it is not written to", diag.Quote(path))
	}
	return s.put(path, isNew, text)
}

func (s *streams) put(path string, isNew bool, text func(io.Writer) error) error {
	if err := writeFile(path, isNew, text); err != nil {
		return problem(diag.Output, "", "%s cannot be written: %v", diag.Quote(path), cause(err))
	}
	return nil
}

// readBy notes what a policy was read from.
func (s *streams) readBy(p *umwelt.Policy) {
	for _, src := range p.Sources {
		s.reads = append(s.reads, filepath.FromSlash(src.Name))
	}
}

// isRead reports whether a path leads to a file that the command reads.
func (s *streams) isRead(path string) bool {
	to, err := os.Stat(path)
	if err != nil || !to.Mode().IsRegular() {
		return false
	}
	return slices.ContainsFunc(s.reads, func(name string) bool {
		from, err := os.Stat(name)
		return err == nil && os.SameFile(from, to)
	})
}

// writeFile writes aside in the same directory, syncs and renames. A file that is there
// keeps its permission bits, and a link to a file stays a link. What is no file, such as
// /dev/null or a pipe, is written to as it is.
//
// Where isNew is set, a file that is there is an error.
func writeFile(path string, isNew bool, text func(io.Writer) error) error {
	mode := fs.FileMode(0o666)
	exists := false
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return errors.New("it is a directory")
	case err == nil && !info.Mode().IsRegular():
		return writeThrough(path, text)
	case err == nil && isNew:
		return fs.ErrExist
	case err == nil:
		mode, exists = info.Mode().Perm(), true
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	default:
		if _, err := os.Lstat(path); err == nil {
			return errors.New("it is a symbolic link to what does not exist")
		}
	}
	dir := filepath.Dir(path)
	aside := filepath.Join(dir, ".umwelt-"+rand.Text())
	defer removeWhenStopped(aside)()
	f, err := os.OpenFile(aside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	done := false
	defer func() {
		if !done {
			f.Close()
			os.Remove(aside)
		}
	}()
	if exists { // the mask must not take away what the file had
		if err := f.Chmod(mode); err != nil {
			return err
		}
	}
	if err := text(f); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if isNew {
		// Unlike a rename, a link takes nothing's place. What lies aside is removed.
		if err := os.Link(aside, path); err != nil {
			return err
		}
		return syncDir(dir)
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(aside, path); err != nil {
		return err
	}
	done = true
	return syncDir(dir)
}

func writeThrough(path string, text func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if err := text(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// syncDir makes a rename in a directory last. Where the directory cannot be opened, or
// its filesystem cannot sync one, the file itself is still whole.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer d.Close()
	_ = d.Sync()
	return nil
}

// cause takes the operation and the path off a file error: the message names the path
// already, and the operation may be on a name the user never wrote.
func cause(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}
