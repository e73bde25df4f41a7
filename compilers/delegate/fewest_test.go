package delegate

import (
	"testing"

	"pgregory.net/rapid"

	"umwelt/registry"
)

// TestFewest tries every choice of answers for the places that have none of their own.
func TestFewest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &shape{p: &registry.Property{Type: registry.ValueType{Kind: registry.Integer}, Restrictive: registry.Min, Entity: &registry.EntityType{}}, known: map[string]int{}, places: []place{{Scope{}, -1, -1}}}
		k := rapid.IntRange(1, 3).Draw(t, "answers")
		for a := range k {
			s.answer(Answer{Value: &registry.Value{Text: string(rune('a' + a))}})
		}
		free := []int{0}
		for range rapid.IntRange(0, 4).Draw(t, "inner") {
			free = append(free, s.add(Scope{Kind: Below}, rapid.SampledFrom(free).Draw(t, "parent"), -1))
		}
		for range rapid.IntRange(1, 7).Draw(t, "leaves") {
			s.add(Scope{Kind: One}, rapid.SampledFrom(free).Draw(t, "parent"), rapid.IntRange(0, k-1).Draw(t, "answer"))
		}
		least := 1 << 30
		given := make([]int, len(s.places))
		var try func(i int)
		try = func(i int) {
			if i < len(free) {
				for a := range k {
					given[free[i]] = a
					try(i + 1)
				}
				return
			}
			n := 1
			for v := 1; v < len(s.places); v++ {
				if own := s.places[v].answer; own >= 0 {
					given[v] = own
				}
				if given[v] != given[s.places[v].parent] {
					n++
				}
			}
			least = min(least, n)
		}
		try(0)
		if got := len(s.statement().Entries); got != least {
			t.Fatalf("%d entries, and %d do: %+v", got, least, s.places)
		}
	})
}
