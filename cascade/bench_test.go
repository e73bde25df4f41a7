package cascade_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/parser"
	"umwelt/registry"
	"umwelt/world"
)

// bigEntities makes a tree of that many files in directories of twenty, three deep.
func bigEntities(reg *registry.Registry, files int) []world.Entity {
	root, dir, file := reg.Type("world"), reg.Type("dir"), reg.Type("file")
	out := []world.Entity{{Type: root, ID: "dev", Parent: world.NoParent}}
	add := func(t *registry.EntityType, path string, parent int32, classes ...string) int32 {
		out = append(out, world.Entity{
			Type: t, ID: path, Parent: parent, Classes: classes,
			Attributes: world.Complete(t, path, []world.Attribute{{Name: "path", Text: path}}),
		})
		return int32(len(out) - 1)
	}
	n := 0
	for a := 0; n < files; a++ {
		top := fmt.Sprintf("pkg%d", a)
		topDir := add(dir, top, 0)
		for b := 0; b < 10 && n < files; b++ {
			mid := fmt.Sprintf("%s/part%d", top, b)
			midDir := add(dir, mid, topDir)
			for c := 0; c < 10 && n < files; c++ {
				low := fmt.Sprintf("%s/unit%d", mid, c)
				lowDir := add(dir, low, midDir)
				for f := 0; f < 20 && n < files; f++ {
					ext := []string{"go", "py", "md", "json"}[f%4]
					classes := []string(nil)
					if f == 7 {
						classes = []string{"secret"}
					}
					add(file, fmt.Sprintf("%s/file%d.%s", low, f, ext), lowDir, classes...)
					n++
				}
			}
		}
	}
	return out
}

// bigView is a view of that many rules, of every kind that real ones have, about files of
// bigEntities.
func bigView(rules, files int, r *rand.Rand) string {
	var b strings.Builder
	b.WriteString("file { visible: true; }\nfile.secret { visible: false; }\nfile[path$=\".md\"] { editable: true; }\n")
	tops := max(1, files/2000)
	for i := 3; i < rules; i++ {
		top := fmt.Sprintf("pkg%d", r.IntN(tops))
		mid := fmt.Sprintf("%s/part%d", top, r.IntN(10))
		low := fmt.Sprintf("%s/unit%d", mid, r.IntN(10))
		ext := []string{"go", "py", "md", "json"}[r.IntN(4)]
		value := []string{"true", "false"}[r.IntN(2)]
		switch i % 8 {
		case 0:
			fmt.Fprintf(&b, "file[path=\"%s/file%d.%s\"] { editable: %s; }\n", low, r.IntN(20), ext, value)
		case 1:
			fmt.Fprintf(&b, "file[path^=\"%s/\"] { editable: %s; }\n", low, value)
		case 2:
			fmt.Fprintf(&b, "file:glob(\"%s/**/*.%s\") { editable: %s; }\n", mid, ext, value)
		case 3:
			fmt.Fprintf(&b, "dir#\"%s\" file { editable: %s; }\n", low, value)
		case 4:
			fmt.Fprintf(&b, "dir#\"%s\" > file[name=\"file%d.%s\"] { visible: %s; }\n", low, r.IntN(20), ext, value)
		case 5:
			fmt.Fprintf(&b, "file[path$=\"/unit%d/file%d.%s\"][path*=\"part%d\"] { visible: %s; }\n", r.IntN(10), r.IntN(200), ext, i, value)
		case 6:
			fmt.Fprintf(&b, "dir[path^=\"%s\"] file.secret[path*=\"%s/f\"] { editable: false; }\n", mid, strings.TrimPrefix(low, top))
		case 7:
			fmt.Fprintf(&b, "file#\"%s/file%d.%s\" { editable: %s; visible: true; }\n", low, r.IntN(20), ext, value)
		}
	}
	return b.String()
}

type big struct {
	reg   *registry.Registry
	world *world.World
	bound *registry.Bound
	text  string
}

func makeBig(b *testing.B, files, rules int) big {
	b.Helper()
	reg := sandboxRegistry(b)
	w, err := world.New(reg, "dev", "", bigEntities(reg, files), nil)
	if err != nil {
		b.Fatal(err)
	}
	text := bigView(rules, files, rand.New(rand.NewPCG(1, 2)))
	return big{reg, w, bind(b, reg, text), text}
}

// linear decides by trying every rule on the entity, in order of precedence, until one
// fits: what an engine without an index does, given the same sorted rules.
func linear(w *world.World, rules []*registry.Rule, m *world.Matcher, i int, p *registry.Property) (value *registry.Value) {
	for _, rule := range rules {
		for _, d := range rule.Declarations {
			if d.Typed[0].Property == p && m.Matches(rule.Selector, i) {
				return d.Typed[0].Value
			}
		}
	}
	return p.Initial
}

// byPrecedence sorts rules without layers or flags, the strongest first.
func byPrecedence(b *registry.Bound) []*registry.Rule {
	out := append([]*registry.Rule(nil), b.Rules...)
	sortRules(out)
	return out
}

// BenchmarkDecision is one decision in 100,000 files and 10,000 rules, beside a linear
// scan of the same rules; both must agree.
func BenchmarkDecision(b *testing.B) {
	big := makeBig(b, 100_000, 10_000)
	r := resolve(b, cascade.New(big.world, big.bound))
	file := big.reg.Type("file")
	p := file.Property("editable")
	var files []int
	for i := range big.world.Entities {
		if big.world.Entities[i].Type == file {
			files = append(files, i)
		}
	}
	rand.New(rand.NewPCG(3, 4)).Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
	rules := byPrecedence(big.bound)
	m := world.NewMatcher(big.world)
	for _, i := range files[:200] {
		if got, want := r.Get(i, p).Value, linear(big.world, rules, m, i, p); !got.Equal(want) {
			b.Fatalf("%s: the engine says %s, a linear scan %s", big.world.Entities[i].ID, got.Text, want.Text)
		}
	}
	b.Run("engine", func(b *testing.B) {
		b.ReportAllocs()
		n := 0
		for b.Loop() {
			if r.Get(files[n%len(files)], p).Value.Bool() {
				n++
			}
			n++
		}
	})
	b.Run("linear", func(b *testing.B) {
		b.ReportAllocs()
		n := 0
		for b.Loop() {
			linear(big.world, rules, m, files[n%len(files)], p)
			n++
		}
	})
}

// BenchmarkIndex is the index of 100,000 files and 10,000 rules, per file, on one
// processor and on all, with the memory that it all holds.
func BenchmarkIndex(b *testing.B) {
	big := makeBig(b, 100_000, 10_000)
	for _, procs := range []int{1, runtime.GOMAXPROCS(0)} {
		b.Run(fmt.Sprintf("procs=%d", procs), func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
			for b.Loop() {
				cascade.New(big.world, big.bound)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100_000, "ns/file")
		})
	}
}

// BenchmarkBulk resolves a context and asks one property of every file, per file, beside a
// linear scan.
func BenchmarkBulk(b *testing.B) {
	big := makeBig(b, 100_000, 10_000)
	e := cascade.New(big.world, big.bound)
	p := big.reg.Type("file").Property("editable")
	for _, procs := range []int{1, runtime.GOMAXPROCS(0)} {
		b.Run(fmt.Sprintf("procs=%d", procs), func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
			for b.Loop() {
				r := resolve(b, e)
				for i := range big.world.Entities {
					r.Get(i, p)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100_000, "ns/file")
		})
	}
	b.Run("linear", func(b *testing.B) {
		rules := byPrecedence(big.bound)
		m := world.NewMatcher(big.world)
		files := 0
		for b.Loop() {
			for i := 1000; i < len(big.world.Entities); i += 500 {
				linear(big.world, rules, m, i, p)
				files++
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(files), "ns/file")
	})
}

// BenchmarkTextToAnswers is from the text of 1,000 rules to every answer for 10,000
// entities, beside a linear scan of one property.
func BenchmarkTextToAnswers(b *testing.B) {
	big := makeBig(b, 9_500, 1_000)
	src := &diag.Source{Name: "view.umw", Text: []byte(big.text)}
	b.Run("engine", func(b *testing.B) {
		for b.Loop() {
			view, _ := parser.Parse(src)
			bound := big.reg.Bind(registry.Options{}, view)
			r := resolve(b, cascade.New(big.world, bound))
			for i := range big.world.Entities {
				for _, p := range big.world.Entities[i].Type.Properties {
					r.Get(i, p)
				}
			}
		}
	})
	b.Run("linear", func(b *testing.B) {
		p := big.reg.Type("file").Property("editable")
		for b.Loop() {
			view, _ := parser.Parse(src)
			bound := big.reg.Bind(registry.Options{}, view)
			rules := byPrecedence(bound)
			m := world.NewMatcher(big.world)
			for i := range big.world.Entities {
				linear(big.world, rules, m, i, p)
			}
		}
	})
}

// BenchmarkMemory reports what 100,000 files and 10,000 rules take up when resolved: the
// world and view alone, and everything.
func BenchmarkMemory(b *testing.B) {
	reg := sandboxRegistry(b)
	for b.Loop() {
		before := heap()
		w, err := world.New(reg, "dev", "", bigEntities(reg, 100_000), nil)
		if err != nil {
			b.Fatal(err)
		}
		bound := bind(b, reg, bigView(10_000, 100_000, rand.New(rand.NewPCG(1, 2))))
		inputs := heap()
		r := resolve(b, cascade.New(w, bound))
		all := heap()
		runtime.KeepAlive(r)
		b.ReportMetric(float64(inputs-before)/1e6, "MB-input")
		b.ReportMetric(float64(all-before)/1e6, "MB-all")
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkFuture asks what new files may be in each of 10,000 directories under 10,000
// rules, beside asking every rule anew.
func BenchmarkFuture(b *testing.B) {
	big := makeBig(b, 180_000, 10_000)
	file := big.reg.Type("file")
	p := file.Property("editable")
	var dirs []int
	for i := range big.world.Entities {
		if big.world.Entities[i].Type == big.reg.Type("dir") && len(dirs) < 10_000 {
			dirs = append(dirs, i)
		}
	}
	e := cascade.New(big.world, big.bound)
	b.Run("engine", func(b *testing.B) {
		for b.Loop() {
			r := resolve(b, e)
			for _, d := range dirs {
				r.Future(d, file, p)
			}
		}
		b.ReportMetric(float64(len(dirs)), "dirs")
	})
	b.Run("one-by-one", func(b *testing.B) {
		r := resolve(b, e)
		ent := world.Entity{Type: file}
		n := 0
		for b.Loop() {
			d := dirs[n%len(dirs)]
			path := big.world.Entities[d].ID + "/new.txt"
			ent = world.Entity{Type: file, ID: path, Parent: int32(d), Attributes: world.Complete(file, path, []world.Attribute{{Name: "path", Text: path}})}
			linearEntity(big.bound.Rules, big.world, &ent)
			n++
		}
		runtime.KeepAlive(r)
	})
}

func linearEntity(rules []*registry.Rule, w *world.World, ent *world.Entity) (n int) {
	m := world.NewMatcher(w)
	for _, rule := range rules {
		if m.MatchesEntity(rule.Selector, ent, -1) {
			n++
		}
	}
	return n
}
