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

// hold settles where -o leads before a command runs that could lead it elsewhere. A link
// in the project may have been made for the purpose before, and is not followed.
func (s *streams) hold(path, root string) error {
	if path == "" || path == "-" {
		return nil
	}
	if s.isRead(path) {
		return problem(diag.Output, "write to another file", "%s is read by this very command, so it is not written to", diag.Quote(path))
	}
	if linked(path, root) {
		return problem(diag.Output, "write to a file outside of the project", "%s lies in the project and goes through a symbolic link, which whoever works there may have made", diag.Quote(path))
	}
	p, err := placeFor(path, false)
	if err != nil {
		return problem(diag.Output, "", "%s cannot be written: %v", diag.Quote(path), cause(err))
	}
	if s.held == nil {
		s.held = map[string]*outputPlace{}
	}
	s.held[path] = p
	return nil
}

// release forgets what was held.
func (s *streams) release() {
	for _, p := range s.held {
		p.close()
	}
	s.held = nil
}

// linked reports whether a path lies in a directory, and goes through a symbolic link there.
func linked(path, root string) bool {
	full, err := filepath.Abs(path)
	if err != nil {
		return true
	}
	within := func(path string) bool {
		rel, err := filepath.Rel(root, path)
		return err == nil && filepath.IsLocal(rel)
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(full))
	if !within(full) {
		if err != nil || !within(dir) {
			return false
		}
		// The caller came by way of a link of his own.
		full = filepath.Join(dir, filepath.Base(full))
	}
	if err == nil && dir != filepath.Dir(full) {
		return true
	}
	info, err := os.Lstat(full)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
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
	if p := s.held[path]; p != nil {
		if err := p.write(text); err != nil {
			return problem(diag.Output, "", "%s cannot be written: %v", diag.Quote(path), cause(err))
		}
		return nil
	}
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
	return err == nil && to.Mode().IsRegular() && s.readsFile(to)
}

// readsFile reports whether the command reads a file, of whatever kind and by whatever name.
func (s *streams) readsFile(to fs.FileInfo) bool {
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
	p, err := placeFor(path, isNew)
	if err != nil {
		return err
	}
	defer p.close()
	return p.write(text)
}

// outputPlace is where an output goes. It stays the same place whatever becomes of the
// path: links that are made later lead nowhere else.
type outputPlace struct {
	through *os.File // what is no file, or nil
	dir     *os.Root
	name    string // in dir
	exists  bool
	mode    fs.FileMode
	isNew   bool
}

// placeFor finds the place that a path leads to now.
func placeFor(path string, isNew bool) (*outputPlace, error) {
	p := &outputPlace{mode: 0o666, isNew: isNew}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return nil, errors.New("it is a directory")
	case err == nil && !info.Mode().IsRegular():
		p.through, err = os.OpenFile(path, os.O_WRONLY, 0)
		return p, err
	case err == nil && isNew:
		return nil, fs.ErrExist
	case err == nil:
		p.mode, p.exists = info.Mode().Perm(), true
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return nil, err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	default:
		if _, err := os.Lstat(path); err == nil {
			return nil, errors.New("it is a symbolic link to what does not exist")
		}
	}
	p.name = filepath.Base(path)
	p.dir, err = os.OpenRoot(filepath.Dir(path))
	return p, err
}

func (p *outputPlace) close() {
	if p.through != nil {
		p.through.Close()
	}
	if p.dir != nil {
		p.dir.Close()
	}
}

func (p *outputPlace) write(text func(io.Writer) error) error {
	if p.through != nil {
		return text(p.through)
	}
	aside := ".umwelt-" + rand.Text()
	defer removeWhenStopped(filepath.Join(p.dir.Name(), aside))()
	f, err := p.dir.OpenFile(aside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, p.mode)
	if err != nil {
		return err
	}
	done := false
	defer func() {
		if !done {
			f.Close()
			p.dir.Remove(aside)
		}
	}()
	if p.exists { // the mask must not take away what the file had
		if err := f.Chmod(p.mode); err != nil {
			return err
		}
	}
	if err := text(f); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if p.isNew {
		// Unlike a rename, a link takes nothing's place. What lies aside is removed.
		if err := p.dir.Link(aside, p.name); err != nil {
			return err
		}
		return syncDir(p.dir)
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := p.dir.Rename(aside, p.name); err != nil {
		return err
	}
	done = true
	return syncDir(p.dir)
}

// syncDir makes a rename in a directory last. Where the directory cannot be opened, or
// its filesystem cannot sync one, the file itself is still whole.
func syncDir(dir *os.Root) error {
	d, err := dir.Open(".")
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
