//go:build linux

package workspace

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// The project of the state table, and what the policy says of it.
var (
	shopFiles = map[string]string{
		"w/a": "a", "w/b": "b", "w/sub/c": "c", "w/sub/d": "d", "w/secret": "s", "w/mixed/x": "x", "w/mixed/p": "p",
		"r/a": "ra", "r/w": "rw", "hid/x": "hx", "unknown/u": "u", "w/link -> a": "", "r/link -> a": "", "w/empty/": "",
	}
	shopPolicy = []string{
		"ro .", "rw w/", "rw w/a", "rw w/b", "rw w/sub/", "rw w/sub/c", "rw w/sub/d", "-- w/secret", "rw w/mixed/", "rw w/mixed/x",
		"ro w/mixed/p", "ro r/", "ro r/a", "rw r/w", "-- hid/", "-- hid/x", "rw w/link -> a", "ro r/link -> a", "rw w/empty/",
		"rw w/later", "-- w/never",
	}
)

func TestStates(t *testing.T) {
	for _, tt := range []struct {
		name string
		act  func(t *testing.T, tree, root string) // what the actor does, and what happens in the project
		want string
		// real is what the project has afterwards where it differs from before both; "" for
		// nothing.
		real map[string]string
	}{
		{"nothing", func(t *testing.T, tree, root string) {}, "", nil},
		{"a change", func(t *testing.T, tree, root string) { write(t, tree+"/w/a", "A") }, "applied w/a", map[string]string{"w/a": "file 0644 A"}},
		{"a change of a protected file", func(t *testing.T, tree, root string) {
			write(t, tree+"/r/a", "A")
		}, "rejected r/a", nil},
		{"a protected file of the same content", func(t *testing.T, tree, root string) {
			remove(t, tree+"/r/a")
			write(t, tree+"/r/a", "ra")
			must(t, os.Chmod(tree+"/r/a", 0o444))
		}, "", nil},
		{"a writable file in a protected directory", func(t *testing.T, tree, root string) { write(t, tree+"/r/w", "W") }, "applied r/w", map[string]string{"r/w": "file 0644 W"}},
		{"a change against a change", func(t *testing.T, tree, root string) {
			write(t, tree+"/w/a", "A")
			write(t, root+"/w/a", "mine")
		}, "conflict w/a", map[string]string{"w/a": "file 0644 mine"}},
		{"the same change twice", func(t *testing.T, tree, root string) {
			write(t, tree+"/w/a", "A")
			write(t, root+"/w/a", "A")
		}, "", map[string]string{"w/a": "file 0644 A"}},
		{"only the project's change", func(t *testing.T, tree, root string) { write(t, root+"/w/a", "mine") }, "", map[string]string{"w/a": "file 0644 mine"}},
		{"a change of what is gone", func(t *testing.T, tree, root string) {
			write(t, tree+"/w/a", "A")
			remove(t, root+"/w/a")
		}, "conflict w/a", map[string]string{"w/a": ""}},
		{"a new file", func(t *testing.T, tree, root string) { write(t, tree+"/w/new", "n") }, "created w/new", map[string]string{"w/new": "file 0644 n"}},
		{"a new file where none may be", func(t *testing.T, tree, root string) { write(t, tree+"/r/new", "n") }, "rejected r/new", nil},
		{"a new file in the root", func(t *testing.T, tree, root string) { write(t, tree+"/new", "n") }, "rejected new", nil},
		{"a new file that the project made too", func(t *testing.T, tree, root string) {
			write(t, tree+"/w/new", "n")
			write(t, root+"/w/new", "m")
		}, "conflict w/new", map[string]string{"w/new": "file 0644 m"}},
		{"a new file where the project has an unknown one", func(t *testing.T, tree, root string) { write(t, tree+"/unknown/u", "n") }, "rejected unknown/u", nil},
		{"a file over a hidden one", func(t *testing.T, tree, root string) { write(t, tree+"/w/secret", "mine now") }, "rejected w/secret", nil},
		{"a file over a hidden one that is gone", func(t *testing.T, tree, root string) {
			write(t, tree+"/w/secret", "mine now")
			remove(t, root+"/w/secret")
		}, "rejected w/secret", map[string]string{"w/secret": ""}},
		{"a file for a hidden directory", func(t *testing.T, tree, root string) { write(t, tree+"/hid", "mine now") }, "rejected hid", nil},
		{"a directory over a hidden one", func(t *testing.T, tree, root string) { write(t, tree+"/hid/y", "mine now") }, "rejected hid/, rejected hid/y", nil},
		{"a file that only the policy knew", func(t *testing.T, tree, root string) { write(t, tree+"/w/later", "l") }, "created w/later", map[string]string{"w/later": "file 0644 l"}},
		{"a file that the policy forbids to make", func(t *testing.T, tree, root string) { write(t, tree+"/w/never", "l") }, "rejected w/never", nil},
		{"a new directory", func(t *testing.T, tree, root string) { write(t, tree+"/w/n/m/f", "n") }, "created w/n/, created w/n/m/, created w/n/m/f",
			map[string]string{"w/n": "dir 0755", "w/n/m": "dir 0755", "w/n/m/f": "file 0644 n"}},
		{"a new directory that the project made too", func(t *testing.T, tree, root string) {
			write(t, tree+"/w/n/f", "n")
			lay(t, root, map[string]string{"w/n/": ""})
		}, "created w/n/f", map[string]string{"w/n": "dir 0755", "w/n/f": "file 0644 n"}},
		{"a deletion", func(t *testing.T, tree, root string) { remove(t, tree+"/w/a") }, "deleted w/a", map[string]string{"w/a": ""}},
		{"a deletion of a protected file", func(t *testing.T, tree, root string) { remove(t, tree+"/r/a") }, "rejected r/a", nil},
		{"a deletion of what changed", func(t *testing.T, tree, root string) {
			remove(t, tree+"/w/a")
			write(t, root+"/w/a", "mine")
		}, "conflict w/a", map[string]string{"w/a": "file 0644 mine"}},
		{"a deletion of what is gone", func(t *testing.T, tree, root string) {
			remove(t, tree+"/w/a")
			remove(t, root+"/w/a")
		}, "", map[string]string{"w/a": ""}},
		{"a directory deleted", func(t *testing.T, tree, root string) { remove(t, tree+"/w/sub") }, "deleted w/sub/, deleted w/sub/c, deleted w/sub/d",
			map[string]string{"w/sub": "", "w/sub/c": "", "w/sub/d": ""}},
		{"an empty directory deleted", func(t *testing.T, tree, root string) { remove(t, tree+"/w/empty") }, "deleted w/empty/", map[string]string{"w/empty": ""}},
		{"a directory deleted that holds a protected file", func(t *testing.T, tree, root string) { remove(t, tree+"/w/mixed") },
			"rejected w/mixed/, rejected w/mixed/p, deleted w/mixed/x", map[string]string{"w/mixed/x": ""}},
		{"a directory deleted in which the project made a file", func(t *testing.T, tree, root string) {
			remove(t, tree+"/w/sub")
			write(t, root+"/w/sub/new", "m")
		}, "conflict w/sub/, deleted w/sub/c, deleted w/sub/d", map[string]string{"w/sub/c": "", "w/sub/d": "", "w/sub/new": "file 0644 m"}},
		{"a file becomes a directory", func(t *testing.T, tree, root string) {
			remove(t, tree+"/w/a")
			write(t, tree+"/w/a/x", "x")
		}, "deleted w/a, created w/a/, created w/a/x", map[string]string{"w/a": "dir 0755", "w/a/x": "file 0644 x"}},
		{"a protected file becomes a directory", func(t *testing.T, tree, root string) {
			remove(t, tree+"/w/mixed/p")
			write(t, tree+"/w/mixed/p/x", "x")
		}, "rejected w/mixed/p, rejected w/mixed/p/, rejected w/mixed/p/x", nil},
		{"a changed file becomes a directory", func(t *testing.T, tree, root string) {
			remove(t, tree+"/w/a")
			write(t, tree+"/w/a/x", "x")
			write(t, root+"/w/a", "mine")
		}, "conflict w/a, conflict w/a/, conflict w/a/x", map[string]string{"w/a": "file 0644 mine"}},
		{"a directory becomes a file", func(t *testing.T, tree, root string) {
			remove(t, tree+"/w/sub")
			write(t, tree+"/w/sub", "f")
		}, "created w/sub, deleted w/sub/, deleted w/sub/c, deleted w/sub/d", map[string]string{"w/sub": "file 0644 f", "w/sub/c": "", "w/sub/d": ""}},
		{"a directory with a protected file becomes a file", func(t *testing.T, tree, root string) {
			remove(t, tree+"/w/mixed")
			write(t, tree+"/w/mixed", "f")
		}, "rejected w/mixed, rejected w/mixed/, rejected w/mixed/p, deleted w/mixed/x", map[string]string{"w/mixed/x": ""}},
		{"a directory with a new file becomes a file", func(t *testing.T, tree, root string) {
			remove(t, tree+"/w/empty")
			write(t, tree+"/w/empty", "f")
			write(t, root+"/w/empty/new", "m")
		}, "conflict w/empty, conflict w/empty/", map[string]string{"w/empty/new": "file 0644 m"}},
		{"an executable bit", func(t *testing.T, tree, root string) { must(t, os.Chmod(tree+"/w/a", 0o755)) }, "applied w/a", map[string]string{"w/a": "file 0755 a"}},
		{"an executable bit of a protected file", func(t *testing.T, tree, root string) { must(t, os.Chmod(tree+"/r/a", 0o555)) }, "rejected r/a", nil},
		{"an executable bit against another", func(t *testing.T, tree, root string) {
			must(t, os.Chmod(tree+"/w/a", 0o755), os.Chmod(root+"/w/a", 0o600))
		}, "conflict w/a", map[string]string{"w/a": "file 0600 a"}},
		{"a set-user-ID bit", func(t *testing.T, tree, root string) { must(t, os.Chmod(tree+"/w/a", 0o755|os.ModeSetuid)) }, "rejected w/a", nil},
		{"a directory's permissions", func(t *testing.T, tree, root string) { must(t, os.Chmod(tree+"/w/sub", 0o750)) }, "applied w/sub/", map[string]string{"w/sub": "dir 0750"}},
		{"a protected directory's permissions", func(t *testing.T, tree, root string) { must(t, os.Chmod(tree+"/r", 0o777)) }, "rejected r/", nil},
		{"names that differ in case", func(t *testing.T, tree, root string) { must(t, os.Rename(tree+"/w/a", tree+"/w/A")) }, "created w/A, deleted w/a",
			map[string]string{"w/a": "", "w/A": "file 0644 a"}},
		{"a directory whose name changes in case", func(t *testing.T, tree, root string) { must(t, os.Rename(tree+"/w/sub", tree+"/w/Sub")) },
			"created w/Sub/, created w/Sub/c, created w/Sub/d, deleted w/sub/, deleted w/sub/c, deleted w/sub/d",
			map[string]string{"w/sub": "", "w/sub/c": "", "w/sub/d": "", "w/Sub": "dir 0755", "w/Sub/c": "file 0644 c", "w/Sub/d": "file 0644 d"}},
		{"two files exchanged", func(t *testing.T, tree, root string) {
			must(t, unix.Renameat2(unix.AT_FDCWD, tree+"/w/a", unix.AT_FDCWD, tree+"/w/b", unix.RENAME_EXCHANGE))
		}, "applied w/a, applied w/b", map[string]string{"w/a": "file 0644 b", "w/b": "file 0644 a"}},
		{"a link moved", func(t *testing.T, tree, root string) {
			remove(t, tree+"/w/link")
			must(t, os.Symlink("b", tree+"/w/link"))
		}, "applied w/link", map[string]string{"w/link": "link b"}},
		{"a protected link moved", func(t *testing.T, tree, root string) {
			remove(t, tree+"/r/link")
			defer relax(t, tree+"/r")()
			must(t, os.Symlink("w", tree+"/r/link"))
		}, "rejected r/link", nil},
		{"a file becomes a link", func(t *testing.T, tree, root string) {
			remove(t, tree+"/w/a")
			must(t, os.Symlink("b", tree+"/w/a"))
		}, "applied w/a", map[string]string{"w/a": "link b"}},
		{"a link becomes a file", func(t *testing.T, tree, root string) {
			remove(t, tree+"/w/link")
			write(t, tree+"/w/link", "f")
		}, "applied w/link", map[string]string{"w/link": "file 0644 f"}},
		{"a link out of the project", func(t *testing.T, tree, root string) {
			must(t, os.Symlink("../../../etc/passwd", tree+"/w/out"), os.Symlink("/etc/passwd", tree+"/w/abs"),
				os.Symlink("sub/../../../x", tree+"/w/deep"), os.Symlink("sub/..", tree+"/w/up"), os.Symlink("../r/a", tree+"/w/in"))
		}, "rejected w/abs, rejected w/deep, created w/in, rejected w/out, rejected w/up", map[string]string{"w/in": "link ../r/a"}},
		{"a directory becomes a link to a protected one", func(t *testing.T, tree, root string) {
			remove(t, tree+"/w/sub")
			must(t, os.Symlink("../r", tree+"/w/sub"))
		}, "created w/sub, deleted w/sub/, deleted w/sub/c, deleted w/sub/d", map[string]string{"w/sub": "link ../r", "w/sub/c": "", "w/sub/d": ""}},
		{"special files", func(t *testing.T, tree, root string) {
			remove(t, tree+"/w/a")
			must(t, unix.Mkfifo(tree+"/w/a", 0o644), unix.Mkfifo(tree+"/w/fifo", 0o644))
			socket(t, tree+"/w/socket")
		}, "rejected w/a, rejected w/fifo, rejected w/socket", nil},
		{"a hard link inside", func(t *testing.T, tree, root string) {
			remove(t, tree+"/w/b")
			must(t, os.Link(tree+"/w/a", tree+"/w/b"))
		}, "applied w/b", map[string]string{"w/b": "file 0644 a"}},
		{"a hard link to a protected file, written through", func(t *testing.T, tree, root string) {
			must(t, os.Chmod(tree+"/r/a", 0o644), os.Link(tree+"/r/a", tree+"/w/new"))
			write(t, tree+"/w/new", "through")
		}, "rejected r/a, created w/new", map[string]string{"w/new": "file 0644 through"}},
		{"a hard link to the outside", func(t *testing.T, tree, root string) {
			lay(t, tree+"/../..", map[string]string{"outside": "o"})
			must(t, os.Link(tree+"/../../outside", tree+"/w/new"))
		}, "rejected w/new", nil},
		{"a hard link in the project", func(t *testing.T, tree, root string) {
			must(t, os.Link(root+"/w/a", root+"/../other"))
			write(t, tree+"/w/a", "A")
		}, "applied w/a", map[string]string{"w/a": "file 0644 A"}},
		{"the project's directory became a link", func(t *testing.T, tree, root string) {
			write(t, tree+"/w/sub/c", "C")
			write(t, tree+"/w/sub/new", "n")
			must(t, os.Rename(root+"/w/sub", root+"/r/moved"), os.Symlink("../r", root+"/w/sub"))
		}, "conflict w/sub/c, conflict w/sub/new", map[string]string{
			"w/sub": "link ../r", "w/sub/c": "", "w/sub/d": "", "r/moved": "dir 0755", "r/moved/c": "file 0644 c", "r/moved/d": "file 0644 d"}},
		{"the project's directory is gone", func(t *testing.T, tree, root string) {
			write(t, tree+"/w/sub/new", "n")
			remove(t, root+"/w/sub")
		}, "conflict w/sub/new", map[string]string{"w/sub": "", "w/sub/c": "", "w/sub/d": ""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newShop(t, shopFiles)
			s.build(Copy, shopPolicy...)
			want := snapshot(t, s.root)
			tt.act(t, s.tree(""), s.root)
			strict := snapshot(t, s.root)
			for path, state := range tt.real {
				want[path] = state
				if state == "" {
					delete(want, path)
				}
			}
			bad := strings.Contains(tt.want, "rejected") || strings.Contains(tt.want, "conflict")
			if bad {
				r := s.apply(ApplyOptions{Strict: true})
				if r.Applied || r.Clean() {
					t.Errorf("strict: applied %v, clean %v", r.Applied, r.Clean())
				}
				if d := cmp.Diff(strict, snapshot(t, s.root)); d != "" {
					t.Errorf("strict changed the project:\n%s", d)
				}
			}
			r := s.apply(ApplyOptions{})
			if got := said(r); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if r.Clean() == bad {
				t.Errorf("clean is %v", r.Clean())
			}
			if d := cmp.Diff(want, snapshot(t, s.root)); d != "" {
				t.Errorf("the project:\n%s", d)
			}
			// A second apply finds nothing new to do.
			again := s.apply(ApplyOptions{Digest: r.Digest})
			if again.Changed() || again.Counts[Rejected] != r.Counts[Rejected] {
				t.Errorf("again: %s", said(again))
			}
		})
	}
}

func socket(t *testing.T, at string) {
	t.Helper()
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	must(t, err)
	defer unix.Close(fd)
	dir, err := unix.Open(at[:strings.LastIndexByte(at, '/')], unix.O_PATH|unix.O_DIRECTORY, 0)
	must(t, err)
	defer unix.Close(dir)
	must(t, unix.Mknodat(dir, at[strings.LastIndexByte(at, '/')+1:], unix.S_IFSOCK|0o644, 0))
}
