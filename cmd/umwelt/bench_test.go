package main

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// BenchmarkProcess measures whole processes, from start to exit, beside the least that a
// process costs here: true, started the same way.
//
//	go test -run '^$' -bench Process ./cmd/umwelt
func BenchmarkProcess(b *testing.B) {
	bin := filepath.Join(b.TempDir(), "umwelt")
	if out, err := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", bin, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	example, err := filepath.Abs("../../examples/auth-fix")
	if err != nil {
		b.Fatal(err)
	}
	view := filepath.Join(example, "auth-fix.umw")
	root := filepath.Join(example, "project")
	for _, bench := range []struct {
		name string
		args []string
	}{
		{"peer-true", []string{"true"}},
		{"version", []string{bin, "version"}},
		{"compile-nsjail", []string{bin, "compile", view, "--root", root, "--target", "nsjail"}},
		{"compile-bwrap", []string{bin, "compile", view, "--root", root, "--target", "bwrap"}},
		{"compile-kubernetes", []string{bin, "compile", view, "--root", root, "--target", "kubernetes"}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			for b.Loop() {
				if out, err := exec.Command(bench.args[0], bench.args[1:]...).CombinedOutput(); err != nil {
					b.Fatalf("%v\n%s", err, out)
				}
			}
		})
	}
}
