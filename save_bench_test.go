package umwelt_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"umwelt"
)

// BenchmarkSaved opens a policy and answers 1,000 questions: from a saved database, and from
// the sources as the naive form, which reads a snapshot of the world and the view, and
// resolves anew. 1,000 rules, and as many files as the name says.
func BenchmarkSaved(b *testing.B) {
	for _, files := range []int{1_000, 10_000, 100_000} {
		dir := b.TempDir()
		view, world := bigPolicy(files, 1_000)
		for name, text := range map[string]string{"v.umw": view, "w.world.yml": world} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				b.Fatal(err)
			}
		}
		load := func() *umwelt.Policy {
			return umwelt.Load(umwelt.Options{Root: dir, World: filepath.Join(dir, "w.world.yml")}, filepath.Join(dir, "v.umw"))
		}
		saved := filepath.Join(dir, "policy.db")
		p := load()
		if err := p.Err(); err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("save/%d", files), func(b *testing.B) {
			for b.Loop() {
				if err := p.Save(saved); err != nil {
					b.Fatal(err)
				}
			}
			if info, err := os.Stat(saved); err == nil {
				b.ReportMetric(float64(info.Size()), "bytes")
			}
		})
		if err := p.Save(saved); err != nil {
			b.Fatal(err)
		}
		want := ask(b, p, files)
		for _, c := range []struct {
			name string
			open func() *umwelt.Policy
		}{{"database", func() *umwelt.Policy { return umwelt.Open(saved) }}, {"sources", load}} {
			b.Run(fmt.Sprintf("%s/%d", c.name, files), func(b *testing.B) {
				for b.Loop() {
					if got := ask(b, c.open(), files); got != want {
						b.Fatalf("%d answers are true, not %d", got, want)
					}
				}
			})
		}
	}
}

// ask asks 1,000 questions and counts how many are true.
func ask(b *testing.B, p *umwelt.Policy, files int) (yes int) {
	if err := p.Err(); err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 1_000 {
		s, err := p.Find("file", bigFile(r.IntN(files)))
		if err != nil {
			b.Fatal(err)
		}
		a, err := p.Property(s, "editable")
		if err != nil {
			b.Fatal(err)
		}
		if a.Value == "true" {
			yes++
		}
	}
	return yes
}

func bigFile(i int) string {
	return fmt.Sprintf("pkg%d/unit%d/file%d.%s", i/400, i/20%20, i, []string{"go", "md", "json"}[i%3])
}

// bigPolicy is a view of that many rules over a world of that many files.
func bigPolicy(files, rules int) (view, world string) {
	var w, v strings.Builder
	w.WriteString("meta: { level: full }\nname: big\nentities:\n")
	for i := range files {
		path := bigFile(i)
		if i%400 == 0 {
			fmt.Fprintf(&w, "- {type: dir, id: %s, attributes: {path: %s}}\n", filepath.Dir(filepath.Dir(path)), filepath.Dir(filepath.Dir(path)))
		}
		if i%20 == 0 {
			fmt.Fprintf(&w, "- {type: dir, id: %s, attributes: {path: %s}}\n", filepath.Dir(path), filepath.Dir(path))
		}
		fmt.Fprintf(&w, "- {type: file, id: %s, attributes: {path: %s}}\n", path, path)
	}
	r := rand.New(rand.NewPCG(3, 4))
	v.WriteString("file { visible: true; }\n")
	for i := 1; i < rules; i++ {
		path := bigFile(r.IntN(files))
		value := r.IntN(2) == 0
		switch i % 4 {
		case 0:
			fmt.Fprintf(&v, "file[path=%q] { editable: %v; }\n", path, value)
		case 1:
			fmt.Fprintf(&v, "file[path^=\"%s/\"] { editable: %v; }\n", filepath.Dir(path), value)
		case 2:
			fmt.Fprintf(&v, "dir#%q file { editable: %v; }\n", filepath.Dir(filepath.Dir(path)), value)
		case 3:
			fmt.Fprintf(&v, "file:glob(\"**/unit%d/*%d.md\") { editable: %v; }\n", r.IntN(20), r.IntN(100), value)
		}
	}
	return v.String(), w.String()
}
