//go:build linux

package workspace

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// TestMain is also the program that is killed: with killAt set, it applies a workspace
// and dies before the given system call that changes something.
func TestMain(m *testing.M) {
	at, err := strconv.Atoi(os.Getenv(killAt))
	if err != nil {
		os.Exit(m.Run())
	}
	step := func() {
		if at--; at < 0 {
			unix.Kill(os.Getpid(), unix.SIGKILL)
			select {}
		}
	}
	if _, err := Apply(os.Getenv(killDir), ApplyOptions{step: step}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

const killAt, killDir = "UMWELT_TEST_KILL_AT", "UMWELT_TEST_KILL_DIR"

// TestKilledAnywhere kills an apply before every system call that changes something. Each
// file must then be the old one or the new one, and applying again must finish.
func TestKilledAnywhere(t *testing.T) {
	t.Parallel()
	large := func(c string) string { return strings.Repeat(c, 2*blockSize+17) }
	files := map[string]string{
		"w/a": large("a"), "w/b": "b", "w/gone": "g", "w/sub/c": "c", "w/sub/d": "d", "w/file": "f", "w/dir/x": "x", "w/link -> b": "", "w/kept/k": "k",
		"r/p": "p", "w/secret": "s",
	}
	lines := []string{
		"ro .", "rw w/", "rw w/a", "rw w/b", "rw w/gone", "rw w/sub/", "rw w/sub/c", "rw w/sub/d", "rw w/file", "rw w/dir/", "rw w/dir/x", "rw w/link -> b",
		"rw w/kept/", "rw w/kept/k", "ro r/", "ro r/p", "-- w/secret",
	}
	act := func(s *shop) {
		write(t, s.tree("w/a"), large("A"))
		must(t, os.Chmod(s.tree("w/b"), 0o755), os.Chmod(s.tree("w/kept"), 0o700))
		for _, gone := range []string{"w/gone", "w/sub", "w/file", "w/dir", "w/link"} {
			remove(t, s.tree(gone))
		}
		write(t, s.tree("w/file/in/it"), "i")
		write(t, s.tree("w/dir"), "now a file")
		must(t, os.Symlink("a", s.tree("w/link")), os.Symlink("a", s.tree("w/newlink")))
		write(t, s.tree("w/new/deep/n"), "n")
		write(t, s.tree("w/secret"), "S")
		write(t, s.tree("r/p"), "P")
	}
	// What must come out, and what stands before.
	s := newShop(t, files)
	s.build(Copy, lines...)
	before := snapshot(t, s.root)
	act(s)
	want := said(s.apply(ApplyOptions{}))
	after := snapshot(t, s.root)

	torn := func(path, state string, there bool) bool {
		old, wasThere := before[path]
		now, isThere := after[path]
		switch {
		case !there:
			return wasThere && isThere && strings.HasPrefix(old, "dir") == strings.HasPrefix(now, "dir")
		case wasThere && state == old, isThere && state == now:
			return false
		}
		return true
	}
	points := 0
	for ; ; points++ {
		s := newShop(t, files)
		s.build(Copy, lines...)
		act(s)
		killed := child(t, s.dir, points)
		mid := snapshot(t, s.root)
		for at, state := range mid {
			if !ours(path.Base(at)) && torn(at, state, true) {
				t.Fatalf("killed at %d, %s is torn: %.80s", points, at, state)
			}
		}
		for at := range before {
			if _, there := mid[at]; torn(at, "", there) && !there {
				t.Fatalf("killed at %d, %s is missing", points, at)
			}
		}
		if killed && points%3 == 0 { // and once more, while it finishes
			child(t, s.dir, points/2)
		}
		r := s.apply(ApplyOptions{})
		if d := cmp.Diff(after, snapshot(t, s.root)); d != "" {
			t.Fatalf("killed at %d, applied again (%s):\n%s", points, said(r), d)
		}
		if _, err := os.Lstat(filepath.Join(s.dir, journalName)); !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("killed at %d, the journal stays", points)
		}
		// The workspace is in order, too: nothing is left to do but what stays refused.
		if again := s.apply(ApplyOptions{}); again.Changed() || said(again) != "rejected r/p, rejected w/secret" {
			t.Fatalf("killed at %d, then %s", points, said(again))
		}
		if !killed {
			break
		}
	}
	if points < 80 || !strings.Contains(want, "created w/dir, deleted w/dir/") {
		t.Errorf("only %d points; %s", points, want)
	}
	t.Logf("killed at %d points", points)
}

// child applies a workspace in a process that is killed before a system call, and reports
// whether it was.
func child(t *testing.T, dir string, at int) bool {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), killAt+"="+strconv.Itoa(at), killDir+"="+dir)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == -1 {
		return true
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return false
}
