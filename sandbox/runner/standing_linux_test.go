//go:build amd64 || arm64

package runner

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"umwelt/compilers/confine"
)

// Somebody who may write in the project swaps a directory for a link out of it, back and
// forth, while runs start. None of them reaches what the link leads to.
func TestLinksAreSwappedIn(t *testing.T) {
	for _, w := range ways(t) {
		if w.user || w.bare {
			continue // the place in which the race is won is the same
		}
		t.Run(w.String(), func(t *testing.T) {
			s := newScene(t, w)
			s.c.Tree = dir("", confine.ReadOnly, dir("out", confine.ReadOnly, dir("sub", confine.ReadWrite)))
			s.c.Plan, _ = confine.Plan(s.c.Tree)
			victim := filepath.Join(s.dir, "victim")
			for _, err := range []error{os.Mkdir(victim, 0o777), os.WriteFile(victim+"/secret", []byte("outside"), 0o666), os.Symlink(victim, s.root+"/out/link")} {
				if err != nil {
					t.Fatal(err)
				}
			}
			stop, stopped := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(stopped)
				for {
					select {
					case <-stop:
						return
					default:
						_ = unix.Renameat2(unix.AT_FDCWD, s.root+"/out/sub", unix.AT_FDCWD, s.root+"/out/link", unix.RENAME_EXCHANGE)
					}
				}
			}()
			for range 100 {
				_, stdout, _ := s.run(w, "sh", "-c", "cat out/sub/secret; echo x > out/sub/new")
				if stdout != "" {
					t.Errorf("%q was read", stdout)
					break
				}
			}
			close(stop)
			<-stopped
			if _, err := os.Lstat(victim + "/new"); err == nil {
				t.Error("a file was made outside of the project")
			}
		})
	}
}

// What stands for a sandbox that is ready is what bubblewrap of this machine makes.
func TestSealed(t *testing.T) {
	if sealed("") || sealed("1 0 8:1 / / ro - ext4 x rw\n") || sealed("1 0 0:1 /newroot / rw - tmpfs x rw\n") ||
		sealed("1 0 0:1 /newroot / ro - tmpfs x rw\n2 1 8:1 / /oldroot rw - ext4 x rw\n") {
		t.Error("what does not stand is taken for a sandbox")
	}
	if !sealed("1 0 0:1 /newroot / ro,nosuid - tmpfs x rw\n2 1 8:1 /usr /usr ro - ext4 x rw\n") {
		t.Error("a sandbox is not taken for one")
	}
	if _, err := exec.LookPath("bwrap"); err != nil {
		return // the ways that need it say so
	}
	out, err := exec.Command("bwrap", "--unshare-all", "--ro-bind", "/usr", "/usr", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64",
		"--proc", "/proc", "--remount-ro", "/", "/usr/bin/cat", "/proc/self/mountinfo").Output()
	if err != nil || !sealed(string(bytes.TrimSpace(out))) {
		t.Errorf("%v\n%s", err, out)
	}
}
