//go:build linux

package workspace

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"umwelt/compilers/confine"
)

// BenchmarkBuild makes a workspace of 2,000 small files and applies it unchanged, beside a
// plain cp -r of the same tree.
func BenchmarkBuild(b *testing.B) {
	s := newShopIn(b, b.TempDir(), nil)
	root := &confine.Node{Kind: confine.Dir, Mode: confine.ReadWrite}
	for d := range 20 {
		dir := &confine.Node{Name: fmt.Sprintf("d%02d", d), Kind: confine.Dir, Mode: confine.ReadWrite}
		root.Children = append(root.Children, dir)
		for f := range 100 {
			name := fmt.Sprintf("f%02d", f)
			write(b, s.real(dir.Name+"/"+name), "some text of a file "+name)
			dir.Children = append(dir.Children, &confine.Node{Name: name, Mode: confine.ReadWrite})
		}
	}
	top := filepath.Dir(s.root)
	build := func(b *testing.B, dir string) {
		_, err := Build(root, Options{Root: s.root, Dir: dir, Strategy: Copy})
		must(b, err)
	}
	b.Run("build", func(b *testing.B) {
		for b.Loop() {
			dir := filepath.Join(top, "ws")
			build(b, dir)
			b.StopTimer()
			must(b, Remove(dir))
			b.StartTimer()
		}
	})
	b.Run("cp", func(b *testing.B) {
		for b.Loop() {
			dir := filepath.Join(top, "cp")
			must(b, exec.Command("cp", "-r", s.root, dir).Run())
			b.StopTimer()
			must(b, os.RemoveAll(dir))
			b.StartTimer()
		}
	})
	b.Run("apply", func(b *testing.B) {
		dir := filepath.Join(top, "ws")
		build(b, dir)
		for b.Loop() {
			_, err := Apply(dir, ApplyOptions{})
			must(b, err)
		}
		must(b, Remove(dir))
	})
	b.Run("diff", func(b *testing.B) {
		dir := filepath.Join(top, "cp")
		must(b, exec.Command("cp", "-r", s.root, dir).Run())
		for b.Loop() {
			must(b, exec.Command("diff", "-rq", s.root, dir).Run())
		}
		must(b, os.RemoveAll(dir))
	})
}
