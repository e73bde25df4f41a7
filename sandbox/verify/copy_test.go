//go:build linux && (amd64 || arm64)

package verify

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"umwelt/cascade"
	"umwelt/compilers/confine/confinetest"
)

// tree is everything that a copy keeps, one line a path.
func tree(t *testing.T, root string) string {
	t.Helper()
	var b strings.Builder
	names := map[uint64]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		var st unix.Stat_t
		if err := unix.Lstat(path, &st); err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		content, _ := os.Readlink(path)
		if d.Type().IsRegular() {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			content = string(text)
		}
		first := names[st.Ino]
		if first == "" {
			names[st.Ino] = rel
		}
		fmt.Fprintf(&b, "%q %o %d %q %q\n", rel, st.Mode, st.Mtim.Nano(), content, first)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A copy is the same project, and removing it leaves nothing.
func TestCopy(t *testing.T) {
	for i := range 20 {
		base := t.TempDir()
		from, to := filepath.Join(base, "from"), filepath.Join(base, "to")
		plant(t, from, draw(confinetest.Odd).Example(i).tree)
		for _, err := range []error{
			os.WriteFile(from+"/one", []byte("1"), 0o604), os.Link(from+"/one", from+"/two"), os.Symlink("/no\xffwhere", from+"/out"), unix.Mkfifo(from+"/ff", 0o640),
			os.Mkdir(from+"/closed", 0o700), os.WriteFile(from+"/closed/file", nil, 0o400), os.Chmod(from+"/closed", 0o500), os.Chtimes(from, fixed, fixed), os.Chtimes(from+"/one", fixed, fixed),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		before := tree(t, from)
		left, err := copyTree(from, to, func() bool { return false })
		if err != nil || left != 0 {
			t.Fatal(left, err)
		}
		if got := tree(t, to); got != before || tree(t, from) != before {
			t.Fatalf("the copy is\n%s\nof\n%s", got, before)
		}
		if err := removeTree(to); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if err := os.Chmod(from+"/closed", 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

var fixed = time.Unix(1_000_000_000, 123_456_789)

// Whoever interrupts leaves nothing behind.
func TestInterrupt(t *testing.T) {
	need(t, "bwrap")
	root := filepath.Join(t.TempDir(), "project")
	plant(t, root, sample())
	scratch := t.TempDir()
	load := func(root string) (*cascade.Resolution, error) {
		return confinetest.Resolve(t, sampleView, sampleWorld, root), nil
	}
	res, _ := load(root)
	for _, at := range []string{"copying the project", "resolving the policy over the copy", "starting bwrap", "trying 15 of 15 paths"} {
		o := Options{Target: "bwrap", Program: program, Environ: os.Environ(), Load: load, Scratch: scratch, Doing: func(what string) {
			if what == at {
				_ = unix.Kill(os.Getpid(), unix.SIGTERM)
				time.Sleep(50 * time.Millisecond)
			}
		}}
		if _, err := Run(o, res); !errors.Is(err, ErrInterrupted) {
			t.Errorf("at %q: %v", at, err)
		}
		if left, _ := os.ReadDir(scratch); len(left) != 0 {
			t.Errorf("at %q: %v stays behind", at, left)
		}
	}
}
