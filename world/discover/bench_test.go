package discover

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"umwelt/world"
)

// hundredThousand is a tree of 100,000 files in 5,000 directories.
func hundredThousand(b *testing.B) string {
	b.Helper()
	root := b.TempDir()
	for i := range 100 {
		for j := range 50 {
			dir := filepath.Join(root, fmt.Sprintf("package%02d", i), fmt.Sprintf("module%02d", j))
			if err := os.MkdirAll(dir, 0o755); err != nil {
				b.Fatal(err)
			}
			for k := range 20 {
				if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("source_file_%02d.go", k)), nil, 0o644); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	return root
}

// BenchmarkDiscovery walks 100,000 files, beside what the standard library takes for the
// names alone.
func BenchmarkDiscovery(b *testing.B) {
	root := hundredThousand(b)
	reg := vocabulary(b)
	b.Run("discover", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			res := filesystem(world.Request{Registry: reg, Root: root, Recipe: &world.Recipe{}})
			if len(res.Entities) != 105_100 {
				b.Fatal(len(res.Entities))
			}
		}
	})
	b.Run("world", func(b *testing.B) {
		b.ReportAllocs()
		o := world.Options{Registry: reg, Root: root, Matchers: Matchers(Host{})}
		for b.Loop() {
			if w, l := world.Implicit(o); w == nil {
				b.Fatal(l)
			}
		}
	})
	b.Run("peer=filepath.WalkDir", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			n := 0
			if err := filepath.WalkDir(root, func(string, fs.DirEntry, error) error { n++; return nil }); err != nil || n != 105_101 {
				b.Fatal(n, err)
			}
		}
	})
}
