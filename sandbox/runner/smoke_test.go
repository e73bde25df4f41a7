package runner

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"umwelt/compilers/confine"
)

func TestMain(m *testing.M) {
	Main()
	os.Exit(m.Run())
}

func TestSmoke(t *testing.T) {
	root := filepath.Join(t.TempDir(), "p")
	os.MkdirAll(root+"/src", 0o755)
	os.WriteFile(root+"/src/a", []byte("a\n"), 0o644)
	os.WriteFile(root+"/ro", []byte("b\n"), 0o644)
	tree := &confine.Node{Kind: confine.Dir, Mode: confine.ReadOnly, Children: []*confine.Node{
		{Name: "ro", Mode: confine.ReadOnly},
		{Name: "src", Kind: confine.Dir, Mode: confine.ReadWrite, Children: []*confine.Node{{Name: "a", Mode: confine.ReadWrite}}}}}
	plan, _ := confine.Plan(tree)
	sys := []confine.Mount{{Path: "/usr", Source: "/usr", Type: "bind", ReadOnly: true}, {Path: "/proc", Type: "proc"}, {Path: "/dev", Type: "dev"}, {Path: "/tmp", Type: "tmpfs"},
		{Path: "/bin", Source: "usr/bin", Type: "symlink"}, {Path: "/lib", Source: "usr/lib", Type: "symlink"}, {Path: "/lib64", Source: "usr/lib64", Type: "symlink"}}
	for _, target := range Targets() {
		r, err := Run(target, Spec{Confinement: &confine.Confinement{Root: root, Tree: tree, Plan: plan, System: sys}, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
			Command: []string{"sh", "-c", "id; cat src/a ro; echo x >> src/a; echo x >> ro; ls -la / /proc | head -5; ls .; env; exit 3"}})
		fmt.Println(target.Info.Name, r, err)
	}
}
