//go:build linux

package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"umwelt/compilers/confine"
)

var shown = map[string]string{
	".": "dir 0555", "w": "dir 0755", "w/a": "file 0644 a", "w/b": "file 0644 b", "w/sub": "dir 0755", "w/sub/c": "file 0644 c", "w/sub/d": "file 0644 d",
	"w/mixed": "dir 0755", "w/mixed/x": "file 0644 x", "w/mixed/p": "file 0444 p", "r": "dir 0555", "r/a": "file 0444 ra", "r/w": "file 0644 rw",
	"w/link": "link a", "r/link": "link a", "w/empty": "dir 0755",
}

// TestBuildHoldsWhatIsVisible: nothing more and nothing less, whatever the strategy.
func TestBuildHoldsWhatIsVisible(t *testing.T) {
	for _, tt := range []struct {
		strategy Strategy
		confined bool
		perms    string // of protected files
		copied   int
	}{
		{Copy, false, "file 0444", 0},
		{Link, false, "file 0444", 2}, // this user owns the files
		{Link, true, "link", 0},
		{Overlay, false, "file 0644", 0},
	} {
		t.Run(fmt.Sprint(tt.strategy, tt.confined), func(t *testing.T) {
			s := newShop(t, shopFiles)
			before := snapshot(t, s.root)
			b, err := Build(policy(shopPolicy...), Options{Root: s.root, Dir: s.dir, Strategy: tt.strategy, Confined: tt.confined})
			if tt.strategy == Overlay {
				needOverlay(t, err)
			}
			must(t, err)
			t.Cleanup(func() { must(t, Remove(s.dir)) })
			got := snapshot(t, s.tree(""))
			for _, path := range []string{"r/a", "w/mixed/p"} {
				want := tt.perms + strings.TrimPrefix(shown[path], "file 0444")
				if tt.perms == "link" {
					want = "link " + s.real(path)
				}
				if got[path] != want {
					t.Errorf("%s is %q, want %q", path, got[path], want)
				}
				got[path] = shown[path]
			}
			if d := cmp.Diff(shown, got); d != "" {
				t.Error(d)
			}
			if b.Copied != tt.copied || len(b.Skipped) > 0 {
				t.Errorf("%d copied, %v skipped", b.Copied, b.Skipped)
			}
			if d := cmp.Diff(before, snapshot(t, s.root)); d != "" {
				t.Errorf("the project was changed:\n%s", d)
			}
			if want := (Counts{Writable: 7, ReadOnly: 3, Hidden: 2, Directories: 6}); b.Manifest.Counts() != want {
				t.Errorf("counts %+v, want %+v", b.Manifest.Counts(), want)
			}
			if r := s.apply(ApplyOptions{Strict: true, Digest: b.Manifest.Digest}); said(r) != "" || r.Changed() {
				t.Errorf("untouched, and still %s", said(r))
			}
			write(t, s.tree("w/a"), "A")
			write(t, s.tree("w/new"), "n")
			remove(t, s.tree("w/sub"))
			if r := s.apply(ApplyOptions{}); said(r) != "applied w/a, created w/new, deleted w/sub/, deleted w/sub/c, deleted w/sub/d" {
				t.Errorf("got %s", said(r))
			}
			if got := snapshot(t, s.root); got["w/a"] != "file 0644 A" || got["w/new"] != "file 0644 n" || got["w/sub"] != "" {
				t.Errorf("the project: %v", got)
			}
		})
	}
}

func needOverlay(t *testing.T, err error) {
	t.Helper()
	if err != nil && strings.Contains(err.Error(), "cannot mount") {
		if os.Getenv("UMWELT_REQUIRE_TOOLS") == "1" && os.Geteuid() == 0 {
			t.Fatal(err)
		}
		t.Skipf("SKIPPED: the right to mount an overlay is missing: %v", err)
	}
}

// TestOverlayIsNotTakenForDeletions: without its mount, the tree is empty.
func TestOverlayIsNotTakenForDeletions(t *testing.T) {
	s := newShop(t, shopFiles)
	_, err := Build(policy(shopPolicy...), Options{Root: s.root, Dir: s.dir, Strategy: Overlay})
	needOverlay(t, err)
	must(t, err)
	before := snapshot(t, s.root)
	write(t, s.tree("r/a"), "through") // no permission stops the superuser
	if d := cmp.Diff(before, snapshot(t, s.root)); d != "" {
		t.Errorf("the overlay writes through:\n%s", d)
	}
	if r := s.apply(ApplyOptions{}); said(r) != "rejected r/a" {
		t.Errorf("got %s", said(r))
	}
	must(t, unix.Unmount(s.tree(""), 0))
	if _, err := Apply(s.dir, ApplyOptions{}); err == nil || !strings.Contains(err.Error(), "is not mounted; mount it again with: mount -t overlay") {
		t.Errorf("got %v", err)
	}
	if d := cmp.Diff(before, snapshot(t, s.root)); d != "" {
		t.Errorf("the project was changed:\n%s", d)
	}
	must(t, Remove(s.dir))
}

func TestBuildSkips(t *testing.T) {
	s := newShop(t, map[string]string{"d -> e": "", "e/x": "x", "f -> e/x": "", "g/y": "y", "abs -> /etc/passwd": "", "out -> ../x": "", "ok": "ok", "moved -> e": ""})
	must(t, unix.Mkfifo(s.real("fifo"), 0o644))
	p := policy("rw .", "rw d/", "rw d/x", "rw f", "rw g", "rw abs -> /etc/passwd", "rw out -> ../x", "rw ok", "rw fifo", "ro moved -> other", "rw gone", "rw gonedir/", "rw gonedir/x")
	for _, n := range p.Children {
		n.Escapes = n.Name == "out"
	}
	b, err := Build(p, Options{Root: s.root, Dir: s.dir, Strategy: Copy})
	must(t, err)
	var got []string
	for _, k := range b.Skipped {
		got = append(got, k.Path)
	}
	if d := cmp.Diff([]string{"abs", "d", "f", "fifo", "g", "moved", "out"}, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(map[string]string{".": "dir 0755", "ok": "file 0644 ok"}, snapshot(t, s.tree(""))); d != "" {
		t.Error(d)
	}
	for _, name := range []string{"d/x", "f", "fifo", "g/z", "moved", "abs", "out"} {
		write(t, s.tree(name), "mine")
	}
	write(t, s.tree("gonedir/x"), "x")
	want := "rejected abs, rejected d/, rejected d/x, rejected f, rejected fifo, rejected g/, rejected g/z, created gonedir/, created gonedir/x, rejected moved, rejected out"
	if r := s.apply(ApplyOptions{}); said(r) != want {
		t.Errorf("got  %s\nwant %s", said(r), want)
	}
}

func TestBuildRefuses(t *testing.T) {
	s := newShop(t, map[string]string{"a": "a", "sub/b": "b"})
	top := filepath.Dir(s.root)
	lay(t, top, map[string]string{"full/x": "", "link -> project": "", "file": ""})
	for _, tt := range []struct {
		name, root, dir string
		strategy        Strategy
		want            string
	}{
		{"in the project", s.root, s.root + "/ws", Copy, "may not lie in one another"},
		{"in the project by a link", s.root, top + "/link/ws", Copy, "may not lie in one another"},
		{"the project itself", s.root, s.root, Copy, "may not lie in one another"},
		{"round the project", s.root, top, Copy, "may not lie in one another"},
		{"not empty", s.root, top + "/full", Copy, "is not empty"},
		{"a file in the way", s.root, top + "/file", Copy, "is in the way"},
		{"nowhere", s.root, top + "/no/ws", Copy, "cannot be used"},
		{"no project", top + "/no", top + "/ws", Copy, "cannot be used"},
		{"not absolute", "project", top + "/ws", Copy, "no clean absolute path"},
		{"no strategy", s.root, top + "/ws", "magic", "there is no strategy"},
		{"an overlay's name", s.root, top + "/w:s", Overlay, "because of its name"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := snapshot(t, top)
			_, err := Build(policy("rw .", "rw a"), Options{Root: tt.root, Dir: tt.dir, Strategy: tt.strategy})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v", err)
			}
			if d := cmp.Diff(before, snapshot(t, top)); d != "" {
				t.Errorf("something is left:\n%s", d)
			}
		})
	}
	// Names that lead out are no names.
	for _, name := range []string{"..", "../x", "", ".", "a\x00b", "/etc"} {
		n := &confine.Node{Kind: confine.Dir, Mode: confine.ReadWrite, Children: []*confine.Node{{Name: name, Mode: confine.ReadWrite}}}
		b, err := Build(n, Options{Root: s.root, Dir: top + "/ws", Strategy: Copy})
		if err == nil && len(b.Skipped) == 0 {
			t.Errorf("%q is a name", name)
		}
		if err == nil {
			must(t, Remove(top+"/ws"))
		}
	}
}

func TestLinkWithoutConfinement(t *testing.T) {
	b := &builder{}
	mine := unix.Stat_t{Uid: uint32(os.Geteuid())}
	if b.cannotWrite("x", &mine) {
		t.Error("the owner of a file can make it writable")
	}
}

// TestManifest is the form that other tools read.
func TestManifest(t *testing.T) {
	s := newShop(t, map[string]string{"a": "a", "\xff\n": "odd", "d/r": "r", "l -> a": "", "hid": "h"})
	s.build(Copy, "rw .", "rw a", "ro \xff\n", "ro d/", "ro d/r", "rw l -> a", "-- hid", "rw later")
	text, err := os.ReadFile(filepath.Join(s.dir, ManifestName))
	must(t, err)
	i := strings.LastIndex(string(text), `"digest"`)
	got := strings.ReplaceAll(string(text[:i]), s.root, "ROOT")
	want := `{"schema":"umwelt.workspace/1","root":"ROOT","strategy":"copy","entries":[` +
		`{"path":".","kind":"dir","present":true,"mode":"rw","perm":"0755"},` +
		`{"path":"a","kind":"file","present":true,"size":1,"sha256":"ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb","mode":"rw","perm":"0644"},` +
		`{"path":"d","kind":"dir","present":true,"mode":"ro","perm":"0755"},` +
		`{"path":"d/r","kind":"file","present":true,"size":1,"sha256":"454349e422f05297191ead13e21d3db520e5abef52055e4964b82fb213f593a1","mode":"ro","perm":"0644"},` +
		`{"path":"hid","kind":"file","mode":"hidden"},` +
		`{"path":"l","kind":"symlink","present":true,"target":"a","mode":"rw"},` +
		`{"path":"later","kind":"absent","mode":"rw"},` +
		`{"path":{"base64":"/wo="},"kind":"file","present":true,"size":3,"sha256":"ba8382275a51aab5bcf3b2e6fe2fdb0a4caa1dd8c4fd2c4d6a6eb5bb2d0e5e8f","mode":"ro","perm":"0644"}],`
	// The hash of the odd file is taken from the manifest: what it must be is tested above.
	k := strings.LastIndex(got, `"sha256":"`) + len(`"sha256":"`)
	w := strings.LastIndex(want, `"sha256":"`) + len(`"sha256":"`)
	want = want[:w] + got[k:k+64] + want[w+64:]
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if _, err := decode(text); err != nil {
		t.Error(err)
	}
	for _, tt := range []struct{ name, from, to, want string }{
		{"another mode", `"mode":"ro"`, `"mode":"rw"`, "digest does not fit"},
		{"another hash", "ca978112", "da978112", "digest does not fit"},
		{"another schema", "workspace/1", "workspace/2", "its schema is"},
		{"a key of its own", `"present":true`, `"present":true,"extra":1`, "unknown field"},
		{"another key", `"digest"`, `"diges"`, "unknown field"},
		{"more after the end", "}\n", "}{}", "something follows"},
	} {
		if _, err := decode([]byte(strings.Replace(string(text), tt.from, tt.to, 1))); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v", tt.name, err)
		}
	}
	for _, tt := range []struct {
		name   string
		change func(m *Manifest)
	}{
		{"out of the root", func(m *Manifest) { m.Entries[1].Path = "../a" }},
		{"absolute", func(m *Manifest) { m.Entries[1].Path = "/a" }},
		{"out of order", func(m *Manifest) { m.Entries[1].Path = "z" }},
		{"twice", func(m *Manifest) { m.Entries[2].Path = m.Entries[1].Path }},
		{"no root", func(m *Manifest) { m.Entries = m.Entries[1:] }},
		{"nothing", func(m *Manifest) { m.Entries = nil }},
		{"a kind of its own", func(m *Manifest) { m.Entries[1].Kind = "door" }},
		{"a relative root", func(m *Manifest) { m.Root = "x" }},
	} {
		m, err := decode(text)
		must(t, err)
		tt.change(m)
		bad, err := m.encode()
		must(t, err)
		if _, err := decode(bad); err == nil {
			t.Errorf("%s: it is taken", tt.name)
		}
		must(t, os.WriteFile(filepath.Join(s.dir, ManifestName), bad, 0o600))
		if _, err := Apply(s.dir, ApplyOptions{}); err == nil {
			t.Errorf("%s: it is applied", tt.name)
		}
	}
}

// TestApplyRefuses what is not a whole workspace of its own.
func TestApplyRefuses(t *testing.T) {
	for _, tt := range []struct {
		name string
		act  func(t *testing.T, s *shop)
		want string
	}{
		{"no tree", func(t *testing.T, s *shop) { must(t, removeAll(s.tree(""))) }, "cannot be opened"},
		{"a link for the tree", func(t *testing.T, s *shop) {
			must(t, removeAll(s.tree("")), os.Symlink("/", strings.TrimSuffix(s.tree(""), "/")))
		}, "a symbolic link stands on the way"},
		{"no manifest", func(t *testing.T, s *shop) { remove(t, s.dir+"/manifest.json") }, "manifest cannot be read"},
		{"a link for the manifest", func(t *testing.T, s *shop) {
			defer relax(t, s.tree(""))()
			must(t, os.Rename(s.dir+"/manifest.json", s.tree("m")), os.Symlink("tree/m", s.dir+"/manifest.json"))
		}, "a symbolic link stands on the way"},
		{"no project", func(t *testing.T, s *shop) { must(t, os.Rename(s.root, s.root+"2")) }, "cannot be opened"},
		{"no workspace", func(t *testing.T, s *shop) { must(t, Remove(s.dir)) }, "cannot be opened"},
		{"another manifest", func(t *testing.T, s *shop) {}, "not the expected one"},
		{"a second apply", func(t *testing.T, s *shop) {
			fd, err := unix.Open(s.dir, unix.O_RDONLY|unix.O_DIRECTORY, 0)
			must(t, err, unix.Flock(fd, unix.LOCK_EX))
			t.Cleanup(func() { unix.Close(fd) })
		}, "another apply"},
		{"a journal with a name of its own", func(t *testing.T, s *shop) {
			must(t, os.WriteFile(s.dir+"/journal.json", []byte(`{"schema":"umwelt.workspace-journal/1","aside":["w/a"]}`), 0o600))
		}, "which no apply made"},
		{"a journal that leads out", func(t *testing.T, s *shop) {
			must(t, os.WriteFile(s.dir+"/journal.json", []byte(`{"schema":"umwelt.workspace-journal/1","aside":["../.umwelt-AAAAAAAAAAAAAAAAAAAAAAAAAA"]}`), 0o600))
		}, "which no apply made"},
		{"a journal in pieces", func(t *testing.T, s *shop) {
			must(t, os.WriteFile(s.dir+"/journal.json", []byte(`{"sch`), 0o600))
		}, "cannot be understood"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newShop(t, shopFiles)
			s.build(Copy, shopPolicy...)
			before := snapshot(t, s.root)
			write(t, s.tree("w/a"), "A")
			tt.act(t, s)
			var o ApplyOptions
			if tt.name == "another manifest" {
				o.Digest = "sha256:0"
			}
			_, err := Apply(s.dir, o)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v", err)
			}
			if _, err := os.Stat(s.root); err == nil {
				if d := cmp.Diff(before, snapshot(t, s.root)); d != "" {
					t.Errorf("the project was changed:\n%s", d)
				}
			}
		})
	}
}

// TestHostileNames come through both ways.
func TestHostileNames(t *testing.T) {
	names := []string{"new\nline", "\xff\xfe", "-rf", "$(id)", " ", "\x1b[31m", "..a", "...", "{\"a\":1}", `back\slash`, strings.Repeat("n", 255), "é", "e\u0301", ".umwelt-AAAAAAAAAAAAAAAAAAAAAAAAAA"}
	files, lines := map[string]string{}, []string{"rw .", "rw d/"}
	for _, n := range names {
		files["d/"+n] = n
		lines = append(lines, "rw d/"+n)
	}
	s := newShop(t, files)
	s.build(Copy, lines...)
	for _, n := range names {
		write(t, s.tree("d/"+n), "changed "+n)
		write(t, s.tree("new/"+n), "new "+n)
	}
	r := s.apply(ApplyOptions{Strict: true})
	if !r.Applied || r.Counts[Applied] != len(names) || r.Counts[Created] != len(names)+1 {
		t.Errorf("got %v", r.Counts)
	}
	for _, n := range names {
		for path, want := range map[string]string{"d/": "changed ", "new/": "new "} {
			if got, err := os.ReadFile(s.real(path + n)); err != nil || string(got) != want+n {
				t.Errorf("%q: %q, %v", path+n, got, err)
			}
		}
	}
	if text := r.Text(); strings.Contains(text, "\x1b") || strings.Contains(text, "\xff") || strings.Count(text, "\n") != 2*len(names)+2 {
		t.Errorf("the report can be steered by names:\n%q", text)
	}
}

// TestDeepTree: what is deeper than any path is rejected and kills nothing.
func TestDeepTree(t *testing.T) {
	s := newShop(t, map[string]string{"a": "a"})
	s.build(Copy, "rw .", "rw a")
	at, err := unix.Open(s.tree(""), unix.O_RDONLY|unix.O_DIRECTORY, 0)
	must(t, err)
	name := strings.Repeat("d", 200)
	for range 40 {
		must(t, unix.Mkdirat(at, name, 0o755))
		next, err := unix.Openat(at, name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
		must(t, err)
		unix.Close(at)
		at = next
	}
	unix.Close(at)
	r := s.apply(ApplyOptions{})
	if r.Counts[Created] != 20 {
		t.Errorf("got %v", r.Counts)
	}
}

// TestOwnerIsKept: a replaced file belongs to whom it belonged to, a new one to whom the
// project belongs to.
func TestOwnerIsKept(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only the superuser can give files away")
	}
	s := newShop(t, map[string]string{"a": "a", "b": "b"})
	must(t, os.Chown(s.root, 1234, 1235), os.Chown(s.real("a"), 1236, 1237))
	s.build(Copy, "rw .", "rw a", "rw b")
	write(t, s.tree("a"), "A")
	write(t, s.tree("n/f"), "n")
	must(t, os.Symlink("f", s.tree("n/l")))
	s.apply(ApplyOptions{Strict: true})
	for path, want := range map[string]string{"a": "1236 1237", "n": "1234 1235", "n/f": "1234 1235", "n/l": "1234 1235", "b": "0 0"} {
		info, err := os.Lstat(s.real(path))
		must(t, err)
		st := info.Sys().(*syscall.Stat_t)
		if got := fmt.Sprint(st.Uid, " ", st.Gid); got != want {
			t.Errorf("%s belongs to %s, want %s", path, got, want)
		}
	}
}

// TestLargeFiles: more than 1 GiB goes through in blocks, and holes stay holes.
func TestLargeFiles(t *testing.T) {
	s := newShop(t, map[string]string{"big": ""})
	const size = 1<<30 + 4096
	must(t, os.Truncate(s.real("big"), size))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s.build(Copy, "rw .", "rw big")
	f, err := os.OpenFile(s.tree("big"), os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteAt([]byte("end"), size)
	must(t, err, f.Close())
	r := s.apply(ApplyOptions{Strict: true})
	runtime.ReadMemStats(&after)
	if said(r) != "applied big" {
		t.Errorf("got %s", said(r))
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 32<<20 {
		t.Errorf("%d MiB were allocated on the way", used>>20)
	}
	f, err = os.Open(s.real("big"))
	must(t, err)
	defer f.Close()
	end := make([]byte, 3)
	_, err = f.ReadAt(end, size)
	must(t, err)
	info, err := f.Stat()
	must(t, err)
	if blocks := info.Sys().(*syscall.Stat_t).Blocks; string(end) != "end" || info.Size() != size+3 || blocks*512 > 16<<20 {
		t.Errorf("ends in %q, %d bytes long, %d on disk", end, info.Size(), blocks*512)
	}
}

// TestWithoutOpenat2 opens directories one by one, as old kernels need it.
func TestWithoutOpenat2(t *testing.T) {
	s := newShop(t, map[string]string{"d/e/x": "x", "l -> d": "", "d/e/l -> x": "", "up -> ..": ""})
	for _, walk := range []bool{false, true} {
		b, err := openBeneath(s.root, func() {})
		must(t, err)
		defer b.close()
		b.walk = walk
		for path, ok := range map[string]bool{"d/e/x": true, "l/e/x": false, "d/e/l": false, "../project/d/e/x": false, "up/project/d/e/x": false, "/etc/passwd": false, "d": false, "no": false, "d/./e/x": false} {
			f, err := b.open(path)
			if (err == nil) != ok {
				t.Errorf("walk %v: %s: %v", walk, path, err)
			}
			if err == nil {
				f.Close()
			}
		}
	}
}
