package world_test

import (
	"fmt"
	"testing"

	"gopkg.in/yaml.v3"

	"umwelt/diag"
	"umwelt/world"
)

// BenchmarkLoadSnapshot loads a full snapshot of 100,000 files, beside what the YAML
// library takes to read the same text into its own nodes.
func BenchmarkLoadSnapshot(b *testing.B) {
	reg := vocabulary(b)
	var entities []world.Entity
	entities = append(entities, world.Entity{Type: reg.Type("world"), ID: "w", Parent: world.NoParent})
	for i := range 5000 {
		dir := fmt.Sprintf("package%02d/module%02d", i/50, i%50)
		at := int32(len(entities))
		d := world.Entity{Type: reg.Type("dir"), ID: dir, Parent: 0, Listed: true}
		d.Attributes = world.Complete(d.Type, dir, nil)
		entities = append(entities, d)
		for k := range 20 {
			f := world.Entity{Type: reg.Type("file"), ID: fmt.Sprintf("%s/source_file_%02d.go", dir, k), Parent: at}
			f.Attributes = world.Complete(f.Type, f.ID, []world.Attribute{{Name: "language", Text: "go"}})
			f.Provenance = world.Provenance{Origin: world.Discovered, By: "filesystem"}
			entities = append(entities, f)
		}
	}
	w, err := world.New(reg, "w", "", entities, nil)
	if err != nil {
		b.Fatal(err)
	}
	for _, json := range []bool{false, true} {
		text := []byte(snapshot(b, w, world.WriteOptions{Level: world.Full, JSON: json}))
		b.Run(map[bool]string{false: "yaml", true: "json"}[json], func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				again, l := world.LoadText(&diag.Source{Name: "w.world.yml", Text: text}, "", world.Options{Registry: reg})
				if l.HasErrors() || len(again.Entities) != len(entities) {
					b.Fatal(l.Err())
				}
			}
		})
		if !json {
			b.Run("peer=yaml.v3", func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					var n yaml.Node
					if err := yaml.Unmarshal(text, &n); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
