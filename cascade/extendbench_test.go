package cascade_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"umwelt/cascade"
	"umwelt/registry"
	"umwelt/world"
)

// BenchmarkExtend extends the engine of 100,000 files and 10,000 rules by ten rules, from
// their parsed text on, and asks it about so many files; beside it, the same by resolving
// everything anew. The answers of both must agree first.
func BenchmarkExtend(b *testing.B) {
	big := makeBig(b, 100_000, 10_000)
	base := resolve(b, cascade.New(big.world, big.bound))
	more := parse(b, "more.umw", bigView(13, 100_000, rand.New(rand.NewPCG(5, 6))))
	more.Statements = more.Statements[3:]
	p := big.reg.Type("file").Property("editable")
	var files []int
	for i := range big.world.Entities {
		if big.world.Entities[i].Type == p.Entity {
			files = append(files, i)
		}
	}
	rand.New(rand.NewPCG(3, 4)).Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
	extend := func() *cascade.Resolution {
		r, list := base.Extend(nil, base.Bound().Extend(registry.Options{}, more))
		if list.HasErrors() {
			b.Fatal(list.Err())
		}
		return r
	}
	anew := func() *cascade.Resolution {
		return resolve(b, cascade.New(big.world, base.Bound().Extend(registry.Options{}, more).Bound()))
	}
	fast, slow := extend(), anew()
	changed := 0
	for _, i := range files {
		got, want := fast.Get(i, p).Value, slow.Get(i, p).Value
		if !got.Equal(want) {
			b.Fatalf("%s is %s extended and %s made anew", big.world.Entities[i].ID, got.Text, want.Text)
		}
		if !want.Equal(base.Get(i, p).Value) {
			changed++
		}
	}
	if changed == 0 {
		b.Fatal("the rules change nothing")
	}
	for _, c := range []struct {
		name string
		make func() *cascade.Resolution
		ask  int
	}{{"extended/asked=1", extend, 1}, {"extended/asked=1000", extend, 1000}, {"extended/asked=all", extend, len(files)}, {"anew/asked=all", anew, len(files)}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r := c.make()
				for _, i := range files[:c.ask] {
					r.Get(i, p)
				}
			}
		})
	}
	ent := slices.Clone(big.world.Entities[files[0] : files[0]+1])
	ent[0].ID, ent[0].Parent = "new.go", world.NoParent
	ent[0].Attributes = world.Complete(p.Entity, "new.go", []world.Attribute{{Name: "path", Text: "new.go"}})
	b.Run("entity/asked=1", func(b *testing.B) {
		for b.Loop() {
			r, list := base.Extend(ent, nil)
			if list.HasErrors() {
				b.Fatal(list.Err())
			}
			r.Get(r.Len()-1, p)
		}
	})
}
