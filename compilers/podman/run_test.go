//go:build linux

package podman

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"umwelt/compilers"
	"umwelt/compilers/confine"
	"umwelt/compilers/confine/confinetest"
)

// image is busybox and nothing else, imported once.
func image(t *testing.T) string {
	t.Helper()
	miss := t.Skip
	if os.Getenv("UMWELT_REQUIRE_TOOLS") == "1" {
		miss = t.Fatal
	}
	for _, tool := range []string{"podman", "busybox", "/usr/sbin/runc"} {
		if _, err := exec.LookPath(tool); err != nil {
			miss("missing tool: ", tool, " (apt-get install podman runc busybox-static)")
		}
	}
	path, _ := exec.LookPath("busybox")
	binary, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	add := func(h tar.Header, content []byte) {
		h.Size = int64(len(content))
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	add(tar.Header{Name: "bin/", Typeflag: tar.TypeDir, Mode: 0o755}, nil)
	add(tar.Header{Name: "bin/busybox", Typeflag: tar.TypeReg, Mode: 0o755}, binary)
	for _, name := range []string{"sh", "cat", "env", "sleep", "head", "stat", "ls", "df", "id", "touch", "rm", "mv", "grep"} {
		add(tar.Header{Name: "bin/" + name, Typeflag: tar.TypeSymlink, Linkname: "busybox"}, nil)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	name := "localhost/umwelt-test-" + strconv.Itoa(os.Getpid()) + ":busybox"
	cmd := exec.Command("podman", "import", "-", name)
	cmd.Stdin = &b
	if out, err := cmd.CombinedOutput(); err != nil {
		miss("podman cannot import an image here: ", err, string(out))
	}
	t.Cleanup(func() { _ = exec.Command("podman", "rmi", "--force", name).Run() })
	return name
}

// sandbox is a confinement and how to run it.
type sandbox struct {
	t     *testing.T
	c     *confine.Confinement
	image string
	form  string
	env   []string
}

// command is the compiled text made to run args inside, as its form wants to be run.
func (r sandbox) command(args ...string) *exec.Cmd {
	set := map[string]string{"form": r.form, "image": r.image, "max-fds": "1024"}
	out := Tool.Render(r.c, compilers.Input{Set: set, Version: "test"})
	if out.Diagnostics.HasErrors() {
		r.t.Fatal(out.Diagnostics.Err())
	}
	argv := []string{"podman"}
	switch r.form {
	case "sh":
		script := filepath.Join(r.t.TempDir(), "run.sh")
		if err := os.WriteFile(script, out.Text, 0o755); err != nil {
			r.t.Fatal(err)
		}
		argv = []string{"sh", script}
	case "json":
		var doc struct{ Argv, Wrapper []string }
		if err := json.Unmarshal(out.Text, &doc); err != nil {
			r.t.Fatal(err)
		}
		argv = append(doc.Wrapper, doc.Argv...)
	case "nul":
		argv = append(argv, strings.Split(strings.TrimSuffix(string(out.Text), "\x00"), "\x00")...)
	case "lines":
		argv = append(argv, strings.Split(strings.TrimSuffix(string(out.Text), "\n"), "\n")...)
	}
	argv = append(argv, args...)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "http_proxy=http://user:password@proxy"}, r.env...)
	return cmd
}

// project makes a small project, and its confinement.
func project(t *testing.T) *confine.Confinement {
	t.Helper()
	n := func(name string, k confine.Kind, m confine.Mode, children ...*confine.Node) *confine.Node {
		return &confine.Node{Name: name, Kind: k, Mode: m, Children: children}
	}
	tree := n("", confine.Dir, confine.ReadOnly,
		n(".env", confine.File, confine.Hidden),
		n("docs", confine.Dir, confine.ReadOnly, n("a.md", confine.File, confine.ReadOnly)),
		n("keys", confine.Dir, confine.Hidden, n("a.pem", confine.File, confine.Hidden), n("a.pub", confine.File, confine.ReadOnly)),
		n("src", confine.Dir, confine.ReadWrite, n("a.py", confine.File, confine.ReadWrite), n("lock", confine.File, confine.ReadOnly)))
	return planted(t, tree)
}

func planted(t *testing.T, tree *confine.Node) *confine.Confinement {
	t.Helper()
	root := filepath.Join(t.TempDir(), "pro ject")
	confinetest.Walk(tree, func(path string, n *confine.Node) {
		at := filepath.Join(root, path)
		var err error
		if n.Kind == confine.Dir {
			err = os.MkdirAll(at, 0o755)
		} else {
			err = os.WriteFile(at, []byte("content of "+path), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	})
	plan, _ := confine.Plan(tree)
	return &confine.Confinement{Root: root, Tree: tree, Plan: plan}
}

// A shell in the container, as a person would try it, in every form.
func TestShellForReal(t *testing.T) {
	name := image(t)
	for _, form := range []string{"json", "lines", "nul", "sh"} {
		c := project(t)
		c.Env = []confine.Env{{Name: "ALLOWED"}, {Name: "ABSENT"}, {Name: "FIXED", Set: true}}
		r := sandbox{t, c, name, form, []string{"ALLOWED=it's \"so\"", "SECRET=s3cret", "FIXED=outside", "UMWELT_ENV_FIXED=inside"}}
		script := `try() { if eval "$1" >/dev/null 2>&1; then echo "yes: $1"; else echo "no: $1"; fi; }
try 'cat docs/a.md'; try 'cat .env'; try 'echo x >> .env'; try 'echo x >> docs/a.md'; try 'cat keys/a.pub'; try 'cat keys/a.pem'; try 'touch keys/new'
try 'echo x >> src/a.py'; try 'touch src/new && rm src/new'; try 'echo x >> src/lock'; try 'rm -f src/lock'; try 'mv src/a.py src/lock'; try 'mv src src2'; try 'touch new'
try 'touch /new'; try 'touch /tmp/new'; try 'cat ../other'; try 'grep -q "CapEff:.*0000000000000000" /proc/self/status'; try 'grep -q "NoNewPrivs:.1" /proc/self/status'
try '[ "$ALLOWED" = "it'"'"'s \"so\"" ]'; try '[ -z "$SECRET$http_proxy$HTTP_PROXY" ]'; try '[ "$FIXED" = inside ]'; try '[ "$FIXED" = outside ]'; ls /sys/class/net`
		out, err := r.command("sh", "-c", script).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", form, err, out)
		}
		inside := form == "json" || form == "sh"
		for _, tt := range []struct {
			well bool
			what string
		}{
			{true, "cat docs/a.md"}, {false, "cat .env"}, {false, "echo x >> .env"}, {false, "echo x >> docs/a.md"}, {true, "cat keys/a.pub"}, {false, "cat keys/a.pem"}, {false, "touch keys/new"},
			{true, "echo x >> src/a.py"}, {true, "touch src/new && rm src/new"}, {false, "echo x >> src/lock"}, {false, "rm -f src/lock"}, {false, "mv src/a.py src/lock"}, {false, "mv src src2"},
			{false, "touch new"}, {false, "touch /new"}, {true, "touch /tmp/new"}, {false, "cat ../other"}, {true, "grep -q \"CapEff:.*0000000000000000\" /proc/self/status"}, {true, "grep -q \"NoNewPrivs:.1\" /proc/self/status"},
			{true, "[ \"$ALLOWED\" = \"it's \\\"so\\\"\" ]"}, {true, "[ -z \"$SECRET$http_proxy$HTTP_PROXY\" ]"}, {inside, "[ \"$FIXED\" = inside ]"}, {false, "[ \"$FIXED\" = outside ]"},
		} {
			line := "no: " + tt.what
			if tt.well {
				line = "yes: " + tt.what
			}
			if !slices.Contains(strings.Split(string(out), "\n"), line) {
				t.Errorf("%s: %q is missing in\n%s", form, line, out)
			}
		}
		if !strings.HasSuffix(string(out), "\nlo\n") {
			t.Errorf("%s: the network is more than its own loopback:\n%s", form, out)
		}
	}
}

// Every name that can be said reaches the container exactly.
func TestHostileNamesForReal(t *testing.T) {
	tree := &confine.Node{Kind: confine.Dir, Mode: confine.Hidden}
	for i, name := range confinetest.Odd {
		if utf8.ValidString(name) {
			tree.Children = append(tree.Children, &confine.Node{Name: name, Mode: []confine.Mode{confine.ReadOnly, confine.ReadWrite, confine.Hidden}[i%3]})
		}
	}
	slices.SortFunc(tree.Children, func(a, b *confine.Node) int { return strings.Compare(a.Name, b.Name) })
	c := planted(t, tree)
	for _, form := range []string{"json", "nul", "sh"} {
		r := sandbox{t, c, image(t), form, nil}
		args := []string{"sh", "-c", `for f in "$@"; do cat "./$f" 2>/dev/null || printf hidden; (: >> "./$f") 2>/dev/null && printf w; printf '\000'; done`, "sh"}
		want := ""
		for _, n := range tree.Children {
			args = append(args, n.Name)
			want += map[confine.Mode]string{confine.Hidden: "hidden", confine.ReadOnly: "content of " + n.Name, confine.ReadWrite: "content of " + n.Name + "w"}[n.Mode] + "\x00"
		}
		out, err := r.command(args...).Output()
		if err != nil || string(out) != want {
			t.Errorf("%s: %v\n%q\nwant\n%q", form, err, out, want)
		}
	}
}

func TestLimitsForReal(t *testing.T) {
	name := image(t)
	c := project(t)
	n := func(n int64) *int64 { return &n }
	c.Limits = confine.Limits{WallTime: n(2e9), MaxFDs: n(64), Tmpfs: n(1 << 20), Disk: n(4096), CPUTime: n(7e9), Memory: n(64 << 20), MaxProcesses: n(20)}
	r := sandbox{t, c, name, "sh", nil}
	out, err := r.command("sh", "-c", `ulimit -n; ulimit -t; ulimit -f; cat /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/pids/pids.max 2>/dev/null ||
cat /sys/fs/cgroup/memory.max /sys/fs/cgroup/pids.max; df -k /tmp | grep -o '^tmpfs *[0-9]*'`).CombinedOutput()
	if got := strings.Fields(string(out)); err != nil || fmt.Sprint(got) != "[64 7 8 67108864 20 tmpfs 1024]" {
		t.Errorf("%v: limits inside: %v", err, got)
	}
	if err := r.command("sleep", "30").Run(); err == nil {
		t.Error("a command over its time went well")
	}
	c.Limits = confine.Limits{}
	out, err = r.command("sh", "-c", "cat /sys/fs/cgroup/pids/pids.max 2>/dev/null || cat /sys/fs/cgroup/pids.max; ulimit -t; ulimit -f").Output()
	if got := strings.Fields(string(out)); err != nil || fmt.Sprint(got) != "[max unlimited unlimited]" {
		t.Errorf("%v: what no rule limits is limited: %v", err, got)
	}
}

// What is mounted below a read-only directory would be writable, so it does not appear.
func TestMountsBelowForReal(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("missing tool: only root can mount")
	}
	name := image(t)
	c := project(t)
	docs := filepath.Join(c.Root, "docs")
	if err := os.Mkdir(filepath.Join(docs, "below"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("umwelt", filepath.Join(docs, "below"), "tmpfs", 0, ""); err != nil {
		t.Skip("missing tool: nothing can be mounted here: ", err)
	}
	defer unix.Unmount(filepath.Join(docs, "below"), 0)
	out, err := sandbox{t, c, name, "json", nil}.command("sh", "-c", "touch docs/below/new 2>/dev/null && echo written; ls docs").Output()
	if err != nil || string(out) != "a.md\nbelow\n" {
		t.Errorf("%v: %s", err, out)
	}
}
