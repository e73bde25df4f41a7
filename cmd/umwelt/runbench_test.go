package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
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
	run := func(b *testing.B, args []string) time.Duration {
		start := time.Now()
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		return time.Since(start)
	}
	// A peer runs in turn with what it stands beside, and the least times of both are
	// compared: other work on the machine only ever adds to them.
	measure := func(name string, args, peer []string, report func(b *testing.B, own, peer time.Duration)) {
		b.Run(name, func(b *testing.B) {
			least, leastPeer := time.Hour, time.Hour
			for b.Loop() {
				least = min(least, run(b, args))
				if peer != nil {
					b.StopTimer()
					leastPeer = min(leastPeer, run(b, peer))
					b.StartTimer()
				}
			}
			b.ReportMetric(float64(least.Microseconds())/1000, "least-ms")
			if peer != nil {
				report(b, least, leastPeer)
			}
		})
	}
	over := func(what string) func(b *testing.B, own, peer time.Duration) {
		return func(b *testing.B, own, peer time.Duration) {
			b.ReportMetric(float64((own-peer).Microseconds())/1000, "ms-over-"+what)
		}
	}
	ratio := func(b *testing.B, own, peer time.Duration) { b.ReportMetric(float64(own)/float64(peer), "times-find") }
	nothing, find := []string{"true"}, []string{"find", root}
	umwelt := func(target string) []string {
		return []string{bin, "run", view, "--root", root, "--target", target, "--", "true"}
	}
	measure("peer-true", nothing, nil, nil)
	if byHand, err := bwrapByHand(bin, view, root); err != nil {
		b.Logf("bwrap by hand: %v", err)
	} else {
		measure("peer-bwrap-by-hand", byHand, nil, nil)
		measure("run-bwrap", umwelt("bwrap"), byHand, over("by-hand"))
	}
	measure("run-landlock", umwelt("landlock"), nothing, over("true"))
	measure("peer-find", find, nil, nil)
	measure("compile-bwrap", []string{bin, "compile", view, "--root", root, "--target", "bwrap"}, find, ratio)
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
