package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// BenchmarkObserve measures what recording costs: a command that starts 50 programs and
// reads 50 files, and one that reads 20,000 files in one process; each alone, under a
// strace that only writes its log, observed, and in a sandbox without and with --observe.
//
//	go test -run '^$' -bench Observe ./cmd/umwelt
func BenchmarkObserve(b *testing.B) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		b.Skip("strace is not installed: apt-get install strace")
	}
	// Not in /tmp, of which the sandboxes have their own.
	dir, err := os.MkdirTemp("/var/tmp", "umwelt-bench-")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { os.RemoveAll(dir) })
	bin := filepath.Join(dir, "umwelt")
	if out, err := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", bin, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	root, view, lines := filepath.Join(dir, "project"), filepath.Join(dir, "v.umw"), filepath.Join(dir, "o.jsonl")
	if err := os.Mkdir(root, 0o755); err != nil {
		b.Fatal(err)
	}
	for path, text := range map[string]string{filepath.Join(root, "f"): "content\n", view: "file { visible: true }\n"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	for _, work := range []struct{ name, script string }{
		{"programs", "i=0; while [ $i -lt 50 ]; do cat f > /dev/null; i=$((i+1)); done"},
		{"reads", "i=0; while [ $i -lt 20000 ]; do read x < f; i=$((i+1)); done"},
	} {
		measure := func(name string, args ...string) {
			b.Run(work.name+"/"+name, func(b *testing.B) {
				for b.Loop() {
					cmd := exec.Command(args[0], append(args[1:], "--", "sh", "-c", work.script)...)
					cmd.Dir = root
					if out, err := cmd.CombinedOutput(); err != nil {
						b.Fatalf("%v\n%s", err, out)
					}
				}
			})
		}
		measure("peer-alone", "env")
		measure("peer-strace", strace, "-f", "-o", filepath.Join(dir, "log"))
		measure("peer-strace-files", strace, "-f", "-y", "--seccomp-bpf", "-e", "trace=%file,%process", "-o", filepath.Join(dir, "log"))
		measure("observe", bin, "observe", "--force", "-o", lines)
		for _, target := range []string{"bwrap", "landlock"} {
			measure("run-"+target, bin, "run", view, "--root", root, "--target", target)
			measure("run-"+target+"-observe", bin, "run", view, "--root", root, "--target", target, "--observe", lines)
		}
	}
}
