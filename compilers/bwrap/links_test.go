package bwrap

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"umwelt/compilers/confine"
	"umwelt/compilers/confine/confinetest"
)

func node(name string, k confine.Kind, m confine.Mode, children ...*confine.Node) *confine.Node {
	return &confine.Node{Name: name, Kind: k, Mode: m, Children: children}
}

func symlink(name, target string, m confine.Mode, escapes bool) *confine.Node {
	return &confine.Node{Name: name, Kind: confine.Symlink, Mode: m, Target: target, Escapes: escapes}
}

// Links are followed inside the sandbox only, and lead to what the sandbox holds there.
func TestLinksForReal(t *testing.T) {
	needBwrap(t)
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("secret outside"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, m := range []confine.Mode{confine.ReadOnly, confine.Hidden} {
		t.Run("in a directory that is "+m.String(), func(t *testing.T) {
			tree := node("", confine.Dir, m,
				node("d", confine.Dir, confine.ReadOnly, node("x", confine.File, confine.ReadOnly)),
				node("hidden", confine.File, confine.Hidden),
				node("rw", confine.Dir, confine.ReadWrite, node("y", confine.File, confine.ReadWrite)),
				symlink("to-dir", "d", confine.ReadOnly, false),
				symlink("to-file", "d/x", confine.ReadOnly, false),
				symlink("to-hidden", "hidden", confine.ReadOnly, false),
				symlink("to-out", outside, confine.ReadOnly, true),
				symlink("to-rw", "rw", confine.ReadOnly, false),
				symlink("to-self", "to-self", confine.ReadOnly, false))
			c := planted(t, tree)
			at := func(p string) []byte { return []byte(c.Root + "/" + p) }
			for i, want := range []struct {
				op
				data string
				well bool
			}{
				{op{Do: "read", Path: at("to-dir/x")}, "content of d/x", true},
				{op{Do: "write", Path: at("to-dir/x")}, "", false},
				{op{Do: "create", Path: at("to-dir/new")}, "", false},
				{op{Do: "create", Path: at("to-rw/new")}, "", true},
				{op{Do: "write", Path: at("to-rw/y")}, "", true},
				{op{Do: "readlink", Path: at("to-file")}, "d/x", true},
				{op{Do: "readlink", Path: at("to-self")}, "to-self", true},
				{op{Do: "list", Path: at("to-self")}, "", false},
				{op{Do: "append", Path: at("to-hidden")}, "", false},
				{op{Do: "list", Path: at("to-hidden")}, "", false},
				{op{Do: "lstat", Path: at("to-out")}, "", false},
				{op{Do: "lstat", Path: []byte(outside)}, "", false},
				{op{Do: "remove", Path: at("to-file")}, "", false},
			} {
				r := sandbox{t: t, c: c, form: "sh"}.run([]op{want.op})[0]
				if (r.Error == "") != want.well || string(r.Data) != want.data {
					t.Errorf("%d: %s %s gave %q, %q", i, want.Do, want.Path, r.Data, r.Error)
				}
			}
		})
	}
}

func TestSocketsForReal(t *testing.T) {
	for _, tt := range []struct {
		dir, socket confine.Mode
		well        bool
	}{
		{confine.ReadOnly, confine.ReadOnly, false}, // a read-only mount would not keep anybody out
		{confine.ReadOnly, confine.ReadWrite, true},
		{confine.ReadWrite, confine.Hidden, false},
		{confine.Hidden, confine.ReadWrite, true},
	} {
		tree := node("", confine.Dir, tt.dir)
		c := planted(t, tree)
		l, err := net.Listen("unix", filepath.Join(c.Root, "s"))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		tree.Children = append(tree.Children, node("s", confine.Special, tt.socket))
		c.Plan, _ = confine.Plan(tree)
		r := sandbox{t: t, c: c, form: "sh"}.run([]op{{Do: "connect", Path: []byte(c.Root + "/s")}})[0]
		if (r.Error == "") != tt.well {
			t.Errorf("a socket that is %s in a directory that is %s: %q", tt.socket, tt.dir, r.Error)
		}
	}
}

// Where the project stands below a system directory, or is shown at another path,
// nothing of it is seen past the plan.
func TestProjectBelowSystemDirectoryForReal(t *testing.T) {
	tree := smallTree()
	want := confinetest.Wanted(tree)
	c := planted(t, tree)
	c.System = append(c.System, confine.Mount{Path: "/mnt", Source: filepath.Dir(filepath.Dir(c.Root)), Type: "bind", ReadOnly: true})
	above := confine.Mount{Path: filepath.Dir(c.Root), Source: filepath.Dir(c.Root), Type: "bind"}
	c.System = append(c.System, above)
	check(t, sandbox{t: t, c: c, form: "sh"}, expectations(c.Root, tree, want))

	s := sandbox{t: t, c: c, form: "sh", set: map[string]string{"workdir": "/work"}}
	check(t, s, expectations("/work", tree, want))
	shown := "/mnt/" + filepath.Base(filepath.Dir(c.Root)) + "/project"
	for _, p := range []string{shown + "/.env", shown + "/docs/a.md", c.Root + "/docs/a.md", c.Root + "/.env"} {
		if r := s.run([]op{{Do: "read", Path: []byte(p)}})[0]; r.Error == "" {
			t.Errorf("%s shows %q", p, r.Data)
		}
	}
}

// Moving a directory above the project away would free its path.
func TestDirectoriesAboveForReal(t *testing.T) {
	tree := smallTree()
	c := planted(t, tree)
	up := filepath.Dir(filepath.Dir(c.Root))
	c.System = append(c.System, confine.Mount{Path: up, Source: up, Type: "bind"})
	between := filepath.Dir(c.Root)
	r := sandbox{t: t, c: c, form: "sh"}.run([]op{
		{Do: "rename", Path: []byte(between), New: []byte(between + "-moved")},
		{Do: "create", Path: []byte(between + "/new")},
	})
	if r[0].Error == "" || r[1].Error != "" {
		t.Errorf("rename: %q, create: %q", r[0].Error, r[1].Error)
	}
}

// A plain user is confined as root is.
func TestPlainUserForReal(t *testing.T) {
	if os.Getuid() != 0 {
		return // the other tests run as a plain user already
	}
	const uid = 1000
	tree := smallTree()
	want := confinetest.Wanted(tree)
	c := planted(t, tree)
	dir := filepath.Dir(c.Root)
	binary, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	probe := filepath.Join(dir, "probe")
	if err := os.WriteFile(probe, binary, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range c.System {
		if c.System[i].Path == "/probe" {
			c.System[i].Source = probe
		}
	}
	for up := dir; up != os.TempDir() && up != "/"; up = filepath.Dir(up) {
		if err := os.Chmod(up, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	confinetest.Walk(tree, func(path string, _ *confine.Node) {
		if err := os.Chown(filepath.Join(c.Root, path), uid, uid); err != nil {
			t.Fatal(err)
		}
	})
	s := sandbox{t: t, c: c, form: "sh", as: &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}}
	check(t, s, expectations(c.Root, tree, want))
}

// A shell in the sandbox, as a person would try it.
func TestShellForReal(t *testing.T) {
	c := planted(t, smallTree())
	s := sandbox{t: t, c: c, form: "sh"}
	for _, tt := range []struct {
		script string
		well   bool
	}{
		{"cat docs/a.md", true}, {"echo x > src/new && rm src/new", true}, {"echo x >> src/a.py", true}, {"test ! -s .env", true},
		{"cat .env", false}, {"echo x > docs/a.md", false}, {"rm docs/a.md", false}, {"mv docs d2", false}, {"touch docs/new", false}, {"touch new", false},
		{"cp src/a.py src/deep/lock", false}, {"mv src/a.py src/deep/lock", false}, {"ln -sf a.py src/deep/lock", false}, {"mv src/deep src/d2", false},
		{"mv src/key.pem src/k", false}, {"rm -f src/key.pem", false}, {"cat src/key.pem", false}, {"touch /new", false}, {"touch /usr/new", false},
		{"test -r /etc/shadow", false}, {"ls " + filepath.Dir(c.Root) + "/other", false}, {"mount -t tmpfs none /tmp", false}, {"umount " + c.Root + "/.env", false},
		{"unshare -Um sh -c 'umount " + c.Root + "/.env'", false}, {"unshare -Urm sh -c 'mount --bind " + c.Root + " /tmp && cat /tmp/.env'", false},
		{"touch /tmp/new", true}, {"test \"$(ls /proc | grep -c '^[0-9]')\" -lt 10", true},
	} {
		out, err := s.command("sh", "-c", tt.script).CombinedOutput()
		if _, failed := err.(*exec.ExitError); (err == nil) != tt.well || err != nil && !failed {
			t.Errorf("%s: %v, %s", tt.script, err, out)
		}
	}
	// With no command the script runs a shell.
	cmd := s.command()
	cmd.Stdin = nil
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("no command: %v, %s", err, fmt.Sprint(string(out)))
	}
}
