package peers

import (
	"fmt"
	"testing"
	"time"
)

// engine is one policy engine: prepare takes a policy in, and what it returns decides
// about files by their index.
type engine struct {
	name    string
	prepare func(*policy) (func(i int) bool, error)
}

var engines = []engine{
	{"umwelt", prepareUmwelt},
	{"umwelt-unseen", prepareUnseen},
	{"cedar", prepareCedar},
	{"opa", prepareOPA},
	{"casbin", prepareCasbin},
	{"naive", func(p *policy) (func(int) bool, error) { return p.decide, nil }},
}

// agree holds an engine to the naive form on the first files that are asked about: as many
// as it gets through in the time, but at least some.
func agree(t testing.TB, p *policy, e engine, decide func(int) bool, within time.Duration) {
	t.Helper()
	const least, most = 50, 2000
	begun, allowed, asked := time.Now(), 0, 0
	for _, i := range p.order[:min(most, len(p.order))] {
		if asked >= least && time.Since(begun) > within {
			break
		}
		want := p.decide(i)
		if got := decide(i); got != want {
			t.Fatalf("%s says %v of %s, and the rules %v", e.name, got, p.files[i].path, want)
		}
		if asked++; want {
			allowed++
		}
	}
	if allowed == 0 || allowed == asked {
		t.Fatalf("all of %d answers are the same", asked)
	}
}

// TestAgreement holds all engines to the same answers where that is quick.
func TestAgreement(t *testing.T) {
	p := newPolicy(3000, 150)
	for _, e := range engines {
		t.Run(e.name, func(t *testing.T) {
			decide, err := e.prepare(p)
			if err != nil {
				t.Fatal(err)
			}
			agree(t, p, e, decide, 5*time.Second)
		})
	}
}

// BenchmarkDecision is one decision of each engine about the same files under the same
// rules, in ns/op. prepare-ms is what it took to take the policy in, from its text on.
func BenchmarkDecision(b *testing.B) {
	for _, size := range []struct{ files, rules int }{{1000, 100}, {10_000, 1000}, {100_000, 10_000}} {
		p := newPolicy(size.files, size.rules)
		for _, e := range engines {
			b.Run(fmt.Sprintf("files=%d,rules=%d/%s", size.files, size.rules, e.name), func(b *testing.B) {
				begun := time.Now()
				decide, err := e.prepare(p)
				if err != nil {
					b.Fatal(err)
				}
				took := time.Since(begun)
				agree(b, p, e, decide, 2*time.Second)
				b.ReportAllocs()
				n := 0
				for b.Loop() {
					decide(p.order[n%len(p.order)])
					n++
				}
				b.ReportMetric(float64(took.Milliseconds()), "prepare-ms")
			})
		}
	}
}
