//go:build linux

package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// TestSwappedForLinks applies while directories, in the project and in the tree, are
// exchanged with links to other places all the time. Nothing may be written there, and
// nothing read from there may come into the project.
func TestSwappedForLinks(t *testing.T) {
	t.Parallel()
	for _, strategy := range []string{"project", "tree"} {
		t.Run(strategy, func(t *testing.T) {
			const rounds = 60
			applied, refused := 0, 0
			for i := range rounds {
				s := newShop(t, map[string]string{"w/sub/a": "a", "w/sub/b": "b", "w/sub/c": "c", "r/a": "protected", "r/b": "protected"})
				outside := filepath.Join(filepath.Dir(s.root), "outside")
				lay(t, outside, map[string]string{"a": "foreign", "b": "foreign", "secret": "foreign"})
				s.build(Copy, "ro .", "rw w/", "rw w/sub/", "rw w/sub/a", "rw w/sub/b", "rw w/sub/c", "ro r/", "ro r/a", "ro r/b")
				write(t, s.tree("w/sub/a"), "changed")
				write(t, s.tree("w/sub/n/new"), "new")
				remove(t, s.tree("w/sub/b"))
				target := outside
				if i%2 == 1 {
					target = s.real("r")
				}
				swapped := s.real("w/sub")
				if strategy == "tree" {
					swapped = s.tree("w/sub")
				}
				link := filepath.Join(filepath.Dir(s.root), "link")
				must(t, os.Symlink(target, link))
				stop := swapper(swapped, link, time.Duration(i%6)*400*time.Microsecond)
				r, err := Apply(s.dir, ApplyOptions{})
				stop()
				if err != nil || !r.Clean() {
					refused++
				} else {
					applied++
				}
				if d := cmp.Diff(map[string]string{".": "dir 0755", "a": "file 0644 foreign", "b": "file 0644 foreign", "secret": "file 0644 foreign"}, snapshot(t, outside)); d != "" {
					t.Fatalf("the outside was changed:\n%s", d)
				}
				real := snapshot(t, s.root)
				if real["r/a"] != "file 0644 protected" || real["r/b"] != "file 0644 protected" || real["r/n"] != "" {
					t.Fatalf("a protected file was changed: %v", real)
				}
				for path, state := range real {
					if strings.Contains(state, "foreign") {
						t.Fatalf("%s came from outside: %s", path, state)
					}
				}
				// When it is quiet again, everything comes out as intended.
				r, err = Apply(s.dir, ApplyOptions{})
				must(t, err)
				want := map[string]string{
					".": "dir 0755", "w": "dir 0755", "w/sub": "dir 0755", "w/sub/a": "file 0644 changed", "w/sub/c": "file 0644 c", "w/sub/n": "dir 0755",
					"w/sub/n/new": "file 0644 new", "r": "dir 0755", "r/a": "file 0644 protected", "r/b": "file 0644 protected",
				}
				if d := cmp.Diff(want, snapshot(t, s.root)); d != "" {
					t.Fatalf("when it is quiet again (%s):\n%s", said(r), d)
				}
			}
			t.Logf("%d applied, %d refused", applied, refused)
			if refused == 0 {
				t.Error("the swaps never hit, so nothing was tested")
			}
		})
	}
}

// swapper exchanges two paths until it is stopped. It leaves them as they were.
func swapper(a, b string, pace time.Duration) (stop func()) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-done:
				if n%2 == 0 {
					return
				}
			default:
			}
			if err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE); err != nil {
				panic(fmt.Sprint(a, b, err))
			}
			time.Sleep(time.Duration(n*7919%200)*time.Microsecond + pace)
		}
	})
	return func() { close(done); wg.Wait() }
}
