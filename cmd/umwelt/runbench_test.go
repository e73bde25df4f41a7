package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// BenchmarkRunStartup measures how long it takes to run true in a sandbox, beside true
// alone and beside bubblewrap started by hand with the same mounts, on a project of few
// and of many files; and discovery with planning beside a bare find over the same files.
//
//	go test -run '^$' -bench RunStartup ./cmd/umwelt
func BenchmarkRunStartup(b *testing.B) {
	bin := filepath.Join(b.TempDir(), "umwelt")
	if out, err := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", bin, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	for _, files := range []int{100, 100_000} {
		b.Run(fmt.Sprintf("files=%d", files), func(b *testing.B) { benchmarkStartup(b, bin, files) })
	}
}

func benchmarkStartup(b *testing.B, bin string, files int) {
	// Not in /tmp, of which the sandboxes have their own.
	dir, err := os.MkdirTemp("/var/tmp", "umwelt-bench-")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { os.RemoveAll(dir) })
	root := filepath.Join(dir, "project")
	const perDir = 50
	for i := range files {
		d := filepath.Join(root, fmt.Sprintf("pkg%d/sub%d", i/perDir/20, i/perDir%20))
		if i%perDir == 0 {
			if err := os.MkdirAll(d, 0o755); err != nil {
				b.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(d, fmt.Sprintf("file%d.go", i)), []byte("package p\n"), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	view := filepath.Join(dir, "v.umw")
	if err := os.WriteFile(view, []byte("file { visible: true }\nfile[path^=\"pkg0/\"] { editable: true }\n"), 0o644); err != nil {
		b.Fatal(err)
	}
	measure := func(name string, args ...string) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
					b.Fatalf("%v\n%s", err, out)
				}
			}
		})
	}
	measure("peer-true", "true")
	if byHand, err := bwrapByHand(bin, view, root); err != nil {
		b.Logf("bwrap by hand: %v", err)
	} else {
		measure("peer-bwrap-by-hand", byHand...)
		measure("run-bwrap", bin, "run", view, "--root", root, "--target", "bwrap", "--", "true")
	}
	measure("run-landlock", bin, "run", view, "--root", root, "--target", "landlock", "--", "true")
	measure("peer-find", "find", root)
	measure("compile-bwrap", bin, "compile", view, "--root", root, "--target", "bwrap")
}

// bwrapByHand is the command line that somebody would write for the same mounts.
func bwrapByHand(bin, view, root string) ([]string, error) {
	if _, err := exec.LookPath("bwrap"); err != nil {
		return nil, err
	}
	out, err := exec.Command(bin, "compile", view, "--root", root, "--target", "bwrap").Output()
	if err != nil {
		return nil, err
	}
	var doc struct{ Argv []string }
	if err := json.Unmarshal(out, &doc); err != nil {
		return nil, err
	}
	return append(doc.Argv, "true"), nil
}
