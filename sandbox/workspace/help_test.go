//go:build linux

package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"umwelt/compilers/confine"
)

// tb is what tests and property tests have in common.
type tb interface {
	Helper()
	Fatal(args ...any)
	Cleanup(func())
}

// policy makes a tree of modes from lines "mode path", where a directory's path ends in
// "/" and "." is the root. A path not listed takes no part. Links are "mode path -> text".
func policy(lines ...string) *confine.Node {
	root := &confine.Node{Kind: confine.Dir}
	modes := map[string]confine.Mode{"--": confine.Hidden, "ro": confine.ReadOnly, "rw": confine.ReadWrite}
	for _, line := range lines {
		mode, path, _ := strings.Cut(line, " ")
		path, target, link := strings.Cut(path, " -> ")
		if path == "." {
			root.Mode = modes[mode]
			continue
		}
		n := &confine.Node{Mode: modes[mode]}
		path, dir := strings.CutSuffix(path, "/")
		if dir {
			n.Kind = confine.Dir
		}
		if link {
			n.Kind, n.Target = confine.Symlink, target
		}
		in := root
		parts := strings.Split(path, "/")
		for _, part := range parts[:len(parts)-1] {
			i := slices.IndexFunc(in.Children, func(c *confine.Node) bool { return c.Name == part })
			in = in.Children[i]
		}
		n.Name = parts[len(parts)-1]
		in.Children = append(in.Children, n)
		slices.SortFunc(in.Children, func(a, b *confine.Node) int { return strings.Compare(a.Name, b.Name) })
	}
	return root
}

// lay makes files, directories ("path/") and links ("path -> text") below a directory.
func lay(t tb, root string, files map[string]string) {
	t.Helper()
	for path, text := range files {
		path, target, link := strings.Cut(path, " -> ")
		at := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		switch {
		case link:
			err = os.Symlink(target, at)
		case strings.HasSuffix(path, "/"):
			err = os.MkdirAll(at, 0o755)
		default:
			err = os.WriteFile(at, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// snapshot is all that stands below a directory: per path its kind, permissions and
// content. The name of what was written aside is an error.
func snapshot(t tb, root string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		path, _ := filepath.Rel(root, at)
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch {
		case d.IsDir():
			out[path] = fmt.Sprintf("dir %04o", info.Mode().Perm())
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(at)
			if err != nil {
				return err
			}
			out[path] = "link " + target
		case info.Mode().IsRegular():
			text, err := os.ReadFile(at)
			if err != nil {
				return err
			}
			out[path] = fmt.Sprintf("file %04o %s", info.Mode().Perm(), text)
		default:
			out[path] = "special"
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// shop is a project and a place for its workspace.
type shop struct {
	t         tb
	root, dir string
}

func newShop(t testing.TB, files map[string]string) *shop {
	t.Helper()
	return newShopIn(t, t.TempDir(), files)
}

func newShopIn(t tb, top string, files map[string]string) *shop {
	t.Helper()
	s := &shop{t, filepath.Join(top, "project"), filepath.Join(top, "ws")}
	if err := os.Mkdir(s.root, 0o755); err != nil {
		t.Fatal(err)
	}
	lay(t, s.root, files)
	return s
}

func (s *shop) build(strategy Strategy, lines ...string) *Built {
	s.t.Helper()
	b, err := Build(policy(lines...), Options{Root: s.root, Dir: s.dir, Strategy: strategy})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		if Remove(s.dir) != nil { // where the test took something away from it
			removeAll(s.dir)
		}
	})
	return b
}

func (s *shop) apply(o ApplyOptions) *Report {
	s.t.Helper()
	r, err := Apply(s.dir, o)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

func (s *shop) tree(path string) string { return filepath.Join(s.dir, TreeName, path) }
func (s *shop) real(path string) string { return filepath.Join(s.root, path) }

// said is the changes but for no-ops.
func said(r *Report) string {
	var out []string
	for _, c := range r.Changes {
		if c.Outcome == NoOp {
			continue
		}
		slash := ""
		if c.Kind == KindDir {
			slash = "/"
		}
		out = append(out, fmt.Sprintf("%s %s%s", c.Outcome, c.Path, slash))
	}
	return strings.Join(out, ", ")
}

func must(t tb, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// write replaces a file's content in place, as an editor does. Like an actor that owns the
// tree, it takes the leave that it lacks and puts the permissions back.
func write(t tb, at, text string) {
	t.Helper()
	if _, err := os.Lstat(filepath.Dir(at)); err != nil {
		defer relax(t, filepath.Dir(filepath.Dir(at)))()
	}
	must(t, os.MkdirAll(filepath.Dir(at), 0o755))
	defer relax(t, filepath.Dir(at))()
	defer relax(t, at)()
	must(t, os.WriteFile(at, []byte(text), 0o644))
}

func remove(t tb, at string) {
	t.Helper()
	defer relax(t, filepath.Dir(at))()
	must(t, os.RemoveAll(at))
}

// relax lets this user write to what is there, until the returned function is called.
func relax(t tb, at string) (restore func()) {
	t.Helper()
	info, err := os.Stat(at)
	if err != nil {
		return func() {}
	}
	must(t, os.Chmod(at, info.Mode().Perm()|0o200))
	return func() { must(t, os.Chmod(at, info.Mode().Perm())) }
}
