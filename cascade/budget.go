package cascade

import (
	"fmt"
	"math"
	"sync/atomic"

	"umwelt/diag"
)

// The bounds on rules and entities together. A hostile view is small and can still ask for
// as much as both have pairs.
const (
	maxTests = 1 << 28 // compounds tested and chains of them found to fit, over all entities
	maxKept  = 1 << 25 // likewise what is kept: chains over sets of them, values over classes
)

// budget counts what matching costs. It is safe for many goroutines.
type budget struct {
	tests, kept         atomic.Int64
	mostTests, mostKept int64
}

func newBudget() *budget { return &budget{mostTests: maxTests, mostKept: maxKept} }

// unlimited is for what has been counted before.
func unlimited() *budget { return &budget{mostTests: math.MaxInt64, mostKept: math.MaxInt64} }

// match counts what a walker has just done.
func (b *budget) match(w *walker) { b.tests.Add(int64(len(w.found) + len(w.whole))) }

// keep counts what takes memory.
func (b *budget) keep(n int) { b.kept.Add(int64(n)) }

func (b *budget) over() bool {
	return b.tests.Load() > b.mostTests || b.kept.Load() > b.mostKept
}

// excess says which bound is passed where so many values apply, or "".
func (b *budget) excess(values int64) string {
	switch {
	case b.tests.Load() > b.mostTests:
		return fmt.Sprintf("more than %d tests would have to be made", b.mostTests)
	case b.kept.Load() > b.mostKept || values > b.mostKept:
		return fmt.Sprintf("more than %d values would apply to entities that rules tell apart", b.mostKept)
	}
	return ""
}

// Usable holds an error where rules and entities are too many together. Nothing that the
// engine says then is to be used.
func (e *Engine) Usable() diag.List {
	var list diag.List
	if e.excess != "" {
		list.Errorf(diag.TooLarge, diag.Span{}, "%d rules and %d entities are too many together: %s", len(e.bound.Rules), len(e.world.Entities), e.excess)
	}
	return list
}

// values is how many values, and selectors, apply to the classes of entities that the
// given sets of chains and derivations tell apart.
func (e *Engine) values(sets [][]int32) int64 {
	weights := e.weights()
	size := make([]int64, len(sets))
	for i, chains := range sets {
		for _, n := range chains {
			size[i] += weights[n]
		}
	}
	total := int64(0)
	for _, c := range e.classes {
		total += size[c.set]
	}
	return total
}

// weights are how many values the selectors of each chain bring to what it fits, and one
// for each selector.
func (e *Engine) weights() []int64 {
	out := make([]int64, len(e.plan.nodes))
	for s, n := range e.plan.end {
		if n == noNode {
			continue
		}
		out[n]++
		if s >= len(e.bound.Rules) {
			continue
		}
		for _, d := range e.bound.Rules[s].Declarations {
			for _, v := range d.Typed {
				out[n] += 1 + int64(len(v.Value.List))
			}
		}
	}
	return out
}
