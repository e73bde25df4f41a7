package kubernetes

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"umwelt/compilers"
	"umwelt/compilers/confine"
)

// actor is the user that the container runs as. It has no capability whoever it is.
// Without root, the only user that a container can have is the one that runs the tests,
// as its own root.
func actor() int {
	if os.Geteuid() != 0 {
		return 0
	}
	return 1000
}

// TestRunc does what a kubelet and a container runtime do with a pod's mounts, with runc
// itself, and tries every path of the project from inside.
func TestRunc(t *testing.T) {
	needRunc(t)
	for i := range 12 {
		tree := rapid.Custom(func(t *rapid.T) *confine.Node { return drawFiles(t, ".", 3) }).Example(i)
		t.Run(fmt.Sprint("tree ", i), func(t *testing.T) { probe(t, tree) })
	}
	keys := &confine.Node{Name: "keys", Kind: confine.Dir, Children: []*confine.Node{
		{Name: "private.pem"},
		{Name: "public", Kind: confine.Dir, Mode: confine.ReadOnly, Children: []*confine.Node{{Name: "a.pub", Mode: confine.ReadOnly}}},
		{Name: "test.pem", Mode: confine.ReadOnly},
	}}
	t.Run("cover that carries mounts", func(t *testing.T) {
		probe(t, &confine.Node{Kind: confine.Dir, Children: []*confine.Node{
			{Name: "src", Kind: confine.Dir, Mode: confine.ReadWrite, Children: []*confine.Node{keys, {Name: "main.py", Mode: confine.ReadWrite}, {Name: "secret.txt"}}},
		}})
	})
}

// needRunc skips, or fails where tools are required, unless runc can start a container.
func needRunc(t *testing.T) {
	t.Helper()
	miss := t.Skip
	if os.Getenv("UMWELT_REQUIRE_TOOLS") == "1" {
		miss = t.Fatal
	}
	for _, tool := range []string{"runc", "busybox"} {
		if _, err := find(tool); err != nil {
			miss("missing tool: ", tool, " (apt-get install runc busybox-static)")
		}
	}
	if out, err := runc(t, nil, "exit 0"); err != nil {
		miss("runc cannot start a container here: ", err, out)
	}
}

// find looks a program up, also where the search path of plain users does not reach.
func find(tool string) (string, error) {
	file, err := exec.LookPath(tool)
	if err == nil {
		return file, nil
	}
	return exec.LookPath("/usr/sbin/" + tool)
}

// drawFiles makes a tree of files and directories with hostile names.
func drawFiles(t *rapid.T, name string, depth int) *confine.Node {
	n := drawTree(t, name, depth)
	var plain func(n *confine.Node)
	plain = func(n *confine.Node) {
		for _, c := range n.Children {
			if c.Kind != confine.Dir {
				c.Kind = confine.File
			}
			plain(c)
		}
	}
	plain(n)
	return n
}

// probe makes the tree, starts the pod and compares what the actor can do with the modes.
func probe(t *testing.T, tree *confine.Node) {
	plan, _ := confine.Plan(tree)
	out := Render(&confine.Confinement{Plan: plan}, compilers.Input{Set: map[string]string{"kind": "pod"}})
	if err := out.Diagnostics.Err(); err != nil {
		t.Fatal(err)
	}
	p := readPod(t, out.Text)
	claim := t.TempDir()
	var paths []string
	var nodes []*confine.Node
	var grow func(n *confine.Node, at string)
	grow = func(n *confine.Node, at string) {
		paths, nodes = append(paths, path.Join("/workspace", at)), append(nodes, n)
		file := filepath.Join(claim, at)
		if n.Kind != confine.Dir {
			must(t, os.WriteFile(file, []byte("content\n"), 0o644))
		} else {
			must(t, os.MkdirAll(file, 0o755))
		}
		if os.Geteuid() == 0 {
			must(t, os.Chown(file, actor(), actor()))
		}
		for _, c := range n.Children {
			grow(c, path.Join(at, c.Name))
		}
	}
	grow(tree, ".")

	// One line a path: whether it holds what the project holds, and whether it can be
	// written to (a directory: whether a file can be made in it and removed again).
	const script = `for p; do
		r=-; w=-
		if [ -d "$p" ]; then
			r=d
			if (: >"$p/.probe") 2>/dev/null; then w=w; rm "$p/.probe"; fi
		else
			[ "$(cat "$p" 2>/dev/null)" = content ] && r=r
			(: >>"$p") 2>/dev/null && w=w
			mv "$p" "$p.moved" 2>/dev/null && { w=m; mv "$p.moved" "$p"; }
		fi
		echo "$r$w"
	done`
	got, err := runc(t, mounts(t, p, claim), script, paths...)
	if err != nil {
		t.Fatal(err, got)
	}
	lines := strings.Split(strings.TrimSpace(got), "\n")
	if len(lines) != len(paths) {
		t.Fatalf("%d answers to %d questions:\n%s", len(lines), len(paths), got)
	}
	for i, n := range nodes {
		writable := strings.HasSuffix(lines[i], "w") || strings.HasSuffix(lines[i], "m")
		readable := strings.HasPrefix(lines[i], "r")
		switch {
		case writable != (n.Mode == confine.ReadWrite),
			n.Kind == confine.File && readable != (n.Mode != confine.Hidden):
			if !said(out.Notes, strings.TrimPrefix(strings.TrimPrefix(paths[i], "/workspace"), "/")) || writable && n.Mode != confine.ReadWrite {
				t.Errorf("%q is %s, and the actor finds %q\n%s", paths[i], n.Mode, lines[i], out.Text)
			}
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// mounts are the pod's mounts as a kubelet hands them to the runtime.
func mounts(t *testing.T, p pod, claim string) []any {
	dirs := map[string]string{}
	for _, v := range p.Volumes {
		dir := claim
		if v.Claim == nil {
			dir = t.TempDir()
			must(t, os.Chmod(dir, 0o777))
		}
		if v.Config != nil {
			configVolume(t, dir, v)
		}
		dirs[v.Name] = dir
	}
	var out []any
	for _, m := range p.Containers[0].Mounts {
		source, err := filepath.EvalSymlinks(filepath.Join(dirs[m.Name], m.SubPath))
		must(t, err)
		options := []string{"rbind", "rprivate"}
		if m.ReadOnly {
			options = append(options, "ro")
		}
		out = append(out, map[string]any{"destination": m.Path, "type": "bind", "source": source, "options": options})
	}
	return out
}

// configVolume lays out a ConfigMap's files as a kubelet does: in a directory named for
// the time, with symbolic links to the current one.
func configVolume(t *testing.T, dir string, v volume) {
	const now = "..2026_11_30_00_00_00.1"
	for _, item := range v.Config.Items {
		file := filepath.Join(dir, now, item.Path)
		must(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must(t, os.WriteFile(file, nil, 0))
		top, _, _ := strings.Cut(item.Path, "/")
		if err := os.Symlink("..data/"+top, filepath.Join(dir, top)); err != nil && !os.IsExist(err) {
			t.Fatal(err)
		}
	}
	must(t, os.Symlink(now, filepath.Join(dir, "..data")))
}

// runc runs a shell script in a container with a read-only root filesystem.
func runc(t *testing.T, mounts []any, script string, args ...string) (string, error) {
	t.Helper()
	bundle := t.TempDir()
	for _, dir := range []string{"bin", "proc", "dev", "workspace"} {
		must(t, os.MkdirAll(filepath.Join(bundle, "rootfs", dir), 0o755))
	}
	busybox, err := find("busybox")
	must(t, err)
	binary, err := os.ReadFile(busybox)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(bundle, "rootfs/bin/busybox"), binary, 0o755))
	for _, applet := range []string{"sh", "cat", "mv", "rm"} {
		must(t, os.Symlink("busybox", filepath.Join(bundle, "rootfs/bin", applet)))
	}
	system := []any{
		map[string]any{"destination": "/proc", "type": "proc", "source": "proc"},
		map[string]any{"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": []string{"nosuid", "mode=755"}},
	}
	namespaces := []any{map[string]any{"type": "pid"}, map[string]any{"type": "mount"}, map[string]any{"type": "ipc"}}
	linux := map[string]any{}
	if os.Geteuid() != 0 {
		namespaces = append(namespaces, map[string]any{"type": "user"})
		linux["uidMappings"] = []any{map[string]any{"containerID": 0, "hostID": os.Geteuid(), "size": 1}}
		linux["gidMappings"] = []any{map[string]any{"containerID": 0, "hostID": os.Getegid(), "size": 1}}
	}
	linux["namespaces"] = namespaces
	config, err := json.Marshal(map[string]any{
		"ociVersion": "1.0.2",
		"process": map[string]any{
			"user": map[string]any{"uid": actor(), "gid": actor()}, "cwd": "/workspace", "env": []string{"PATH=/bin"}, "noNewPrivileges": true,
			"args": append([]string{"/bin/sh", "-c", script, "sh"}, args...),
		},
		"root":   map[string]any{"path": "rootfs", "readonly": true},
		"mounts": append(system, mounts...),
		"linux":  linux,
	})
	must(t, err)
	must(t, os.WriteFile(filepath.Join(bundle, "config.json"), config, 0o644))
	id := fmt.Sprintf("umwelt-%d-%x", os.Getpid(), []byte(bundle)[len(bundle)-6:])
	program, err := find("runc")
	must(t, err)
	cmd := exec.CommandContext(t.Context(), program, "--root", filepath.Join(bundle, "state"), "run", "--bundle", bundle, id)
	out, err := cmd.CombinedOutput()
	return string(out), err
}
