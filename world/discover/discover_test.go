package discover

import (
	"bytes"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"umwelt/diag"
	"umwelt/world"
)

func TestFilesystemRecipes(t *testing.T) {
	root := t.TempDir()
	mustWrite(t, root, "src/a.py", "src/core/b.go", "src/__pycache__/a.pyc", "docs/x.md", ".hidden/y", "Makefile", "empty/", "a b/[1].txt")
	cases := []struct{ name, recipe, want string }{
		{"all", "{matcher: filesystem}", `file ".hidden/y"|dir ".hidden"|file "Makefile" language=make|dir "a b"|file "a b/[1].txt"|dir "docs"|file "docs/x.md" language=markdown|dir "empty"|dir "src"|dir "src/__pycache__"|file "src/__pycache__/a.pyc"|file "src/a.py" language=python|dir "src/core"|file "src/core/b.go" language=go`},
		{"include", `{matcher: filesystem, include: ["src/**/*.py", "./docs/*"]}`, `dir "docs"|file "docs/x.md" language=markdown|dir "src"|file "src/a.py" language=python`},
		{"exclude", `{matcher: filesystem, hidden: false, exclude: ["**/__pycache__/**", docs, "a b"]}`, `file "Makefile" language=make|dir "empty"|dir "src"|file "src/a.py" language=python|dir "src/core"|file "src/core/b.go" language=go`},
		{"depth", "{matcher: filesystem, hidden: false, max-depth: 1}", `file "Makefile" language=make|dir "a b"|dir "docs"|dir "empty"|dir "src"`},
		{"root", "{matcher: filesystem, root: ./src/, include: [core]}", `dir "src"|dir "src/core"`},
		{"root inside", "{matcher: filesystem, root: src/core}", `dir "src"|dir "src/core"|file "src/core/b.go" language=go`},
		{"nothing", "{matcher: filesystem, include: [gone/**]}", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w, l := load(t, Host{}, root, c.recipe)
			got := strings.Split(strings.TrimSuffix(lines(w, l), "\n"), "\n")
			want := strings.Split(c.want, "|")
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("got %s", strings.Join(got, "|"))
			}
		})
	}
}

func TestOutsideRootByRecipe(t *testing.T) {
	root, other := t.TempDir(), t.TempDir()
	mustWrite(t, other, "shared/data.json")
	w, l := load(t, Host{}, root, "{matcher: filesystem, root: "+other+"/shared}")
	want := fmt.Sprintf("file %q language=json\n", other+"/shared/data.json")
	if got := lines(w, l); got != want {
		t.Errorf("got %s", got)
	}
}

// Every name that Linux allows is kept byte for byte.
func TestHostileNames(t *testing.T) {
	root := t.TempDir()
	names := []string{
		"new\nline", "quote'\"", "co:lon", "com,ma", "$HOME", "%s", "project[1]", "-rf", "bad\xff\xfeutf8", "esc\x1b[31m",
		" lead", "trail ", "*", "{a,b}", `back\slash`, "~", "#x", "...", strings.Repeat("n", 255), "é", "e\u0301",
	}
	for _, n := range names {
		mustWrite(t, root, n, filepath.Join("d"+n[:min(len(n), 200)], n))
	}
	w, l := load(t, Host{}, root, "{matcher: filesystem}")
	if err := l.Err(); err != nil || len(l) > 0 {
		t.Fatal(l)
	}
	for _, n := range names {
		for _, id := range []string{n, "d" + n[:min(len(n), 200)] + "/" + n} {
			i := w.Find(w.Registry.Type("file"), id)
			if i < 0 {
				t.Errorf("%q is missing", id)
				continue
			}
			if name, _ := w.Entities[i].Attr("name"); name != n || w.Entities[i].Path() != id {
				t.Errorf("%q has name %q and path %q", id, name, w.Entities[i].Path())
			}
		}
	}
	if got, want := len(w.Entities), 1+3*len(names); got != want {
		t.Errorf("%d entities, want %d", got, want)
	}
}

func TestLinksAndSpecialFiles(t *testing.T) {
	base := t.TempDir()
	root := filepath.Join(base, "project")
	mustWrite(t, base, "secret", "project/a.txt", "project/sub/b.txt")
	symlinks(t, root,
		"file", "a.txt", "dir", "sub", "self", "self", "loop1", "loop2", "loop2", "loop1", "dangling", "gone/away",
		"outside", "../secret", "absolute", "/etc/passwd", "inside-absolute", filepath.Join(root, "a.txt"),
		"up-and-back", "sub/../a.txt", "via", "hop/../../secret", "hop", "sub", "root", "/", "parent", "..",
		"dot", ".", "second", "outside", "through", "up/secret", "up", "sub/../..", "abs-up", root+"/../secret",
	)
	symlinks(t, filepath.Join(root, "sub"), "back", "../a.txt", "out", "../../secret")
	if err := unix.Mkfifo(filepath.Join(root, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	socket, err := net.Listen("unix", filepath.Join(root, "sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	w, l := load(t, Host{}, root, "{matcher: filesystem}")
	got := strings.ReplaceAll(lines(w, l), root, "ROOT")
	want := `file "a.txt"
file "abs-up" .escapes kind=symlink target=ROOT/../secret
file "absolute" .escapes kind=symlink target=/etc/passwd
file "dangling" kind=symlink target=gone/away
file "dir" kind=symlink target=sub
file "dot" kind=symlink target=.
file "file" kind=symlink target=a.txt
file "hop" kind=symlink target=sub
file "inside-absolute" kind=symlink target=ROOT/a.txt
file "loop1" kind=symlink target=loop2
file "loop2" kind=symlink target=loop1
file "outside" .escapes kind=symlink target=../secret
file "parent" .escapes kind=symlink target=..
file "pipe" kind=fifo
file "root" .escapes kind=symlink target=/
file "second" .escapes kind=symlink target=outside
file "self" kind=symlink target=self
file "sock" kind=socket
dir "sub"
file "sub/b.txt"
file "sub/back" kind=symlink target=../a.txt
file "sub/out" .escapes kind=symlink target=../../secret
file "through" .escapes kind=symlink target=up/secret
file "up" .escapes kind=symlink target=sub/../..
file "up-and-back" kind=symlink target=sub/../a.txt
file "via" .escapes kind=symlink target=hop/../../secret
`
	if got != want {
		t.Errorf("got:\n%s", got)
	}
}

func TestUnreadableDirectory(t *testing.T) {
	root := t.TempDir()
	mustWrite(t, root, "open/a", "closed/b")
	// A name too long to open stands for a directory that cannot be read, so that the test
	// says something for root, too.
	long := strings.Repeat("d", 250)
	at, err := unix.Open(root, unix.O_DIRECTORY|unix.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	for range 17 {
		if err := unix.Mkdirat(at, long, 0o755); err != nil {
			t.Fatal(err)
		}
		next, err := unix.Openat(at, long, unix.O_DIRECTORY|unix.O_RDONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		unix.Close(at)
		at = next
	}
	unix.Close(at)
	if os.Geteuid() != 0 {
		if err := os.Chmod(filepath.Join(root, "closed"), 0); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(filepath.Join(root, "closed"), 0o755)
	}
	w, l := load(t, Host{}, root, "{matcher: filesystem}")
	if w == nil {
		t.Fatal(l)
	}
	unreadable := 0
	for i := range w.Entities {
		if w.Entities[i].HasClass("unreadable") {
			unreadable++
		}
	}
	want := 1
	if os.Geteuid() != 0 {
		want = 2
	}
	if unreadable != want || l.Count(diag.Warning) != want {
		t.Errorf("%d unreadable, diagnostics %v", unreadable, l)
	}
}

func TestStat(t *testing.T) {
	root := t.TempDir()
	mustWrite(t, root, "a", "d/")
	if err := os.WriteFile(filepath.Join(root, "a"), make([]byte, 2048), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(root, "a"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(root, "a"), filepath.Join(root, "b")); err != nil {
		t.Fatal(err)
	}
	o := world.Options{Registry: vocabulary(t), Root: root, Matchers: Matchers(Host{}), Stat: true}
	w, l := world.LoadText(&diag.Source{Name: "w", Text: []byte("discover: [{matcher: filesystem}]\n")}, "", o)
	if w == nil {
		t.Fatal(l)
	}
	e := &w.Entities[w.Find(w.Registry.Type("file"), "a")]
	for name, want := range map[string]string{"size": "2KB", "mode": "0640", "links": "2"} {
		if got, _ := e.Attr(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	var names []string
	for _, a := range e.Attributes {
		names = append(names, a.Name)
	}
	if want := []string{"path", "name", "size", "mtime", "mode", "links", "twin"}; !slices.Equal(names, want) {
		t.Errorf("attributes %v are not in the order of the vocabulary", names)
	}
}

// The result depends on what exists, not on the order in which it was made or read, nor on
// how many workers read it.
func TestOrderAndParallelism(t *testing.T) {
	var names []string
	for i := range 200 {
		names = append(names, fmt.Sprintf("d%d/e%d/f%d", i%7, i%11, i))
	}
	digest := ""
	for round := range 4 {
		root := t.TempDir()
		shuffled := slices.Clone(names)
		if round%2 == 1 {
			slices.Reverse(shuffled)
		}
		mustWrite(t, root, shuffled...)
		for _, workers := range []int{1, 2, 7} {
			req := world.Request{Registry: vocabulary(t), Root: root, Recipe: &world.Recipe{}}
			var res world.Result
			f := filter{hidden: true}
			scan(&req, &res, place{base: root, inside: "."}, f.judge, workers)
			w, err := world.New(req.Registry, "w", root, res.Entities, nil)
			if err != nil {
				t.Fatal(err)
			}
			if digest == "" {
				digest = w.Digest()
			}
			if w.Digest() != digest {
				t.Fatalf("round %d with %d workers differs", round, workers)
			}
		}
	}
}

func TestSystem(t *testing.T) {
	host := t.TempDir()
	mustWrite(t, host, "usr/bin/sh", "etc/passwd", "etc/shadow", "run/resolv", "home/u/x")
	symlinks(t, host, "bin", "usr/bin", "lib64", "usr/lib64", "etc/resolv.conf", "../run/resolv")
	w, l := load(t, Host{Root: host}, host, "{matcher: system}")
	want := `mount "/bin" source=usr/bin type=symlink
mount "/dev" type=dev
mount "/etc/passwd" source=/etc/passwd type=bind readonly=true
mount "/etc/resolv.conf" source=/run/resolv type=bind readonly=true
mount "/lib64" source=usr/lib64 type=symlink
mount "/proc" type=proc
mount "/tmp" type=tmpfs
mount "/usr" source=/usr type=bind readonly=true
`
	if got := lines(w, l); got != want {
		t.Errorf("got:\n%s", got)
	}
}

func TestHostMatchers(t *testing.T) {
	root := t.TempDir()
	mustWrite(t, root, "bin/tool", "bin/data", "bin/dir/")
	if err := os.Chmod(filepath.Join(root, "bin/tool"), 0o755); err != nil {
		t.Fatal(err)
	}
	tools := `{"jsonrpc": "2.0", "result": {"tools": [{"name": "search", "description": "Look\nup", "inputSchema": {"properties": {"q": {}, "n": {}}}}, {"name": "fetch"}]}}`
	if err := os.WriteFile(filepath.Join(root, "tools.json"), []byte(tools), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "bad.json"), []byte(`{"other": []}`), 0o644); err != nil {
		t.Fatal(err)
	}
	symlinks(t, root, "link.json", "/etc/hostname")
	h := Host{Root: root, Environ: func() []string { return []string{"CI=1", "HOME=/secret", "GIT_DIR=x", "GIT_AUTHOR=y", "=odd", "ODD"} }}
	cases := []struct{ recipe, want string }{
		{"{matcher: executables, names: [tool, data, dir, gone], search-path: /nope:/bin}", "exec \"tool\" path=/bin/tool\nwarning there is no program \"data\" on the search path\nwarning there is no program \"dir\" on the search path\nwarning there is no program \"gone\" on the search path\n"},
		{"{matcher: env, names: [CI, \"GIT_*\"]}", "env \"CI\"\nenv \"GIT_AUTHOR\"\nenv \"GIT_DIR\"\n"},
		{"{matcher: env}", "env \"CI\"\nenv \"GIT_AUTHOR\"\nenv \"GIT_DIR\"\nenv \"HOME\"\nenv \"ODD\"\n"},
		{"{matcher: mcp, file: tools.json}", "tool \"fetch\" param-count=0\ntool \"search\" description=Look\\nup param-count=2\n"},
		{"{matcher: mcp, file: bad.json}", "no world: [error[matcher]: \"bad.json\" holds no tool list: the key tools is missing]"},
		{"{matcher: mcp, file: link.json}", "no world: [error[bad-path]: \"link.json\" lies outside the project root]"},
	}
	for _, c := range cases {
		w, l := load(t, h, root, c.recipe)
		got := lines(w, l)
		for i := range l {
			got = strings.ReplaceAll(got, l[i].Span.String()+": ", "")
		}
		if got != c.want {
			t.Errorf("%s:\n%s", c.recipe, got)
		}
	}
}

// On the Go toolchain's own tree, discovery agrees with the standard library's walk, and the
// snapshot makes the same world again.
func TestGoTree(t *testing.T) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.EvalSymlinks(filepath.Join(strings.TrimSpace(string(out)), "src"))
	if err != nil {
		t.Fatal(err)
	}
	o := world.Options{Registry: vocabulary(t), Root: root, Matchers: Matchers(Host{Root: "/nowhere"})[:1]}
	w, l := world.Implicit(o)
	if w == nil {
		t.Fatal(l)
	}
	seen := 1 // the root entity
	err = filepath.WalkDir(root, func(full string, d fs.DirEntry, err error) error {
		if err != nil || full == root {
			return err
		}
		seen++
		rel, _ := filepath.Rel(root, full)
		typ := map[bool]string{true: dirType, false: fileType}[d.IsDir()]
		i := w.Find(o.Registry.Type(typ), filepath.ToSlash(rel))
		if i < 0 {
			return fmt.Errorf("%s %s is missing", typ, rel)
		}
		parent := &w.Entities[w.Entities[i].Parent]
		if dir := filepath.Dir(rel); dir != "." && parent.Path() != dir || dir == "." && !parent.Type.Root {
			return fmt.Errorf("the parent of %s is %s", rel, parent.ID)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(w.Entities) != seen || seen < 10_000 {
		t.Errorf("%d entities, the standard library sees %d", len(w.Entities), seen)
	}
	var text bytes.Buffer
	if err := world.Write(&text, w, world.WriteOptions{Level: world.Full}); err != nil {
		t.Fatal(err)
	}
	again, l := world.LoadText(&diag.Source{Name: "s", Text: text.Bytes()}, "", o)
	if again == nil {
		t.Fatal(l)
	}
	if again.Digest() != w.Digest() {
		t.Error("the snapshot makes another world")
	}
}
