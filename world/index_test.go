package world_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"umwelt/registry"
	"umwelt/world"
)

// Find gives what a map gives, and New refuses what stands twice.
func TestFind(t *testing.T) {
	reg := vocabulary(t)
	types := []*registry.EntityType{reg.Type("tool"), reg.Type("file"), reg.Type("dir")}
	rapid.Check(t, func(t *rapid.T) {
		type key struct {
			typ int
			id  string
		}
		keys := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) key {
			return key{rapid.IntRange(0, 2).Draw(t, "type"), rapid.StringOfN(rapid.RuneFrom([]rune("abé")), 1, 3, -1).Draw(t, "id")}
		}), 0, 40).Draw(t, "keys")
		want := map[key]int{}
		var entities []world.Entity
		for i, k := range keys {
			if _, twice := want[k]; !twice {
				want[k] = i
			}
			entities = append(entities, world.Entity{Type: types[k.typ], ID: k.id, Parent: world.NoParent})
		}
		w, err := world.New(reg, "w", "", entities, nil)
		if (err == nil) != (len(want) == len(keys)) {
			t.Fatalf("%d of %d keys differ: %v", len(want), len(keys), err)
		}
		if err != nil {
			return
		}
		for typ := range types {
			for _, id := range []string{"a", "b", "é", "ab", "aaa", "", "nowhere"} {
				i, ok := want[key{typ, id}]
				if !ok {
					i = -1
				}
				if got := w.Find(types[typ], id); got != i {
					t.Fatalf("%s %q is %d, want %d", types[typ].Name, id, got, i)
				}
			}
		}
	})
	if (&world.World{}).Find(types[0], "a") != -1 {
		t.Error("an empty world holds something")
	}
}

// BenchmarkNew makes a world of 100,000 files, beside what an index in a map takes alone.
func BenchmarkNew(b *testing.B) {
	reg := vocabulary(b)
	file := reg.Type("file")
	entities := make([]world.Entity, 100_000)
	for i := range entities {
		entities[i] = world.Entity{Type: file, ID: fmt.Sprintf("package%02d/module%02d/file%05d.go", i/2000, i/20%100, i), Parent: world.NoParent}
	}
	b.Run("new", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := world.New(reg, "w", "", entities, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("peer=map", func(b *testing.B) {
		b.ReportAllocs()
		type key struct {
			typ *registry.EntityType
			id  string
		}
		for b.Loop() {
			index := make(map[key]int32, len(entities))
			for i := range entities {
				index[key{entities[i].Type, entities[i].ID}] = int32(i)
			}
			if len(index) != len(entities) {
				b.Fatal(len(index))
			}
		}
	})
}
