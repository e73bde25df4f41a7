package lint

import (
	"math/rand/v2"
	"testing"
)

// TestAgainstNaive compares what is found with the index and without it.
func TestAgainstNaive(t *testing.T) {
	reg := vocabulary(t)
	w := bigWorld(t, reg, 400)
	codes := map[string]int{}
	for seed := range uint64(20) {
		in := input(t, reg, w, bigView(60+int(seed)*10, 400, rand.New(rand.NewPCG(seed, 1))))
		got, want := Run(in, detectors()), run(naiveFacts(in), detectors(), nil)
		if a, b := lines(got), lines(want); a != b {
			t.Fatalf("seed %d: with the index\n%s\nwithout\n%s", seed, a, b)
		}
		for _, x := range got {
			codes[string(x.Code)]++
		}
	}
	t.Log(codes)
	if len(codes) < 12 {
		t.Errorf("only %d kinds of smell came up: %v", len(codes), codes)
	}
}

// BenchmarkLint looks for every smell in 10,000 entities and 1,000 rules, beside the same
// detectors on facts that are worked out by trying every rule on every entity; both must
// find the same. The other sizes show how the cost grows.
func BenchmarkLint(b *testing.B) {
	reg := vocabulary(b)
	w := bigWorld(b, reg, 10_000)
	in := input(b, reg, w, bigView(1000, 10_000, rand.New(rand.NewPCG(1, 2))))
	if got, want := lines(Run(in, detectors())), lines(run(naiveFacts(in), detectors(), nil)); got != want {
		b.Fatal("the two find different things")
	}
	b.Run("entities=10000/rules=1000/index", func(b *testing.B) {
		for b.Loop() {
			Run(in, detectors())
		}
	})
	b.Run("entities=10000/rules=1000/naive", func(b *testing.B) {
		for b.Loop() {
			run(naiveFacts(in), detectors(), nil)
		}
	})
	for _, size := range []struct {
		name         string
		files, rules int
	}{{"entities=20000/rules=1000/index", 20_000, 1000}, {"entities=10000/rules=2000/index", 10_000, 2000}, {"entities=20000/rules=2000/index", 20_000, 2000}} {
		in := input(b, reg, bigWorld(b, reg, size.files), bigView(size.rules, size.files, rand.New(rand.NewPCG(1, 2))))
		b.Run(size.name, func(b *testing.B) {
			for b.Loop() {
				Run(in, detectors())
			}
		})
	}
}
