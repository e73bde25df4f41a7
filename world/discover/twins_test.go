package discover

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Names of one file are told from files that are alike, whether they lie in the world or are
// left out of it.
func TestTwins(t *testing.T) {
	root := t.TempDir()
	mustWrite(t, root, "a/one", "a/other", "b/", "c/left", "d/out", "z")
	outside := filepath.Join(t.TempDir(), "elsewhere")
	for _, l := range [][2]string{{"a/one", "b/two"}, {"a/one", "a/third"}, {"c/left", "b/kept"}, {"z", outside}} {
		to := l[1]
		if !filepath.IsAbs(to) {
			to = filepath.Join(root, to)
		}
		if err := os.Link(filepath.Join(root, l[0]), to); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"s1", "b/s2"} {
		if err := os.Symlink("z", filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	w, l := load(t, Host{}, root, `{matcher: filesystem, exclude: ["c/*", d]}`)
	if err := l.Err(); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"a/one": "a/one", "a/third": "a/one", "b/two": "a/one", "b/kept": "b/kept", "c/left": "b/kept"}
	got := map[string]string{}
	for _, e := range append(append(w.Entities[:0:0], w.Entities...), w.Withheld...) {
		if twin, ok := e.Attr("twin"); ok {
			got[e.Path()] = twin
		}
	}
	for path, twin := range want {
		if got[path] != twin {
			t.Errorf("%s is a twin of %q, want %q", path, got[path], twin)
		}
		delete(got, path)
	}
	if len(got) > 0 {
		t.Errorf("these have twins: %v", got)
	}
}

// A recipe whose root lies below the project's names files by their paths in the project.
func TestTwinsBelow(t *testing.T) {
	root := t.TempDir()
	mustWrite(t, root, "src/deep/one", "src/x")
	if err := os.Link(filepath.Join(root, "src/deep/one"), filepath.Join(root, "src/two")); err != nil {
		t.Fatal(err)
	}
	w, l := load(t, Host{}, root, `{matcher: filesystem, root: src}`)
	if got := lines(w, l); !strings.Contains(got, `file "src/two" twin=src/deep/one`) || strings.Count(got, "twin=") != 2 {
		t.Error(got)
	}
}

func TestNumbers(t *testing.T) {
	s := newNumbers(3000)
	for _, stride := range []uint64{1, 64, 4096, 1 << 20, 1 << 40} {
		for i := range uint64(600) {
			n := stride<<8 + i*stride + 7
			if first, again := s.add(n), s.add(n); !first || again {
				t.Fatalf("%d: %v, then %v", n, first, again)
			}
		}
	}
}
