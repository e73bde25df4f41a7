package trace

import (
	"fmt"
	"strings"
	"testing"

	"umwelt/ratchet"
	"umwelt/ratchet/sources/internal/sourcetest"
	"umwelt/simulation"
)

func TestGolden(t *testing.T) {
	t.Run("town", func(t *testing.T) { sourcetest.Golden(t, Town, "town/*.jsonl") })
	t.Run("biomata", func(t *testing.T) { sourcetest.Golden(t, Biomata, "biomata/*.jsonl") })
}

// TestTypesAreTheVocabularys holds every type that a rule names, and the context, to the
// vocabulary of the simulation.
func TestTypesAreTheVocabularys(t *testing.T) {
	text := string(simulation.Vocabulary().Text)
	types := []string{"role"}
	for _, rules := range []map[string]rule{townRules, biomataRules} {
		for _, r := range rules {
			types = append(types, r.typ)
		}
	}
	for _, typ := range types {
		if !strings.Contains(text, "@entity "+typ+" {") {
			t.Errorf("the vocabulary has no %s", typ)
		}
	}
	if !strings.Contains(text, "@taxon simulation {") {
		t.Error("the vocabulary has no taxon simulation")
	}
}

func TestBounded(t *testing.T) {
	for _, s := range []ratchet.Source{Town, Biomata} {
		t.Run(s.Name, func(t *testing.T) {
			sourcetest.Bounded(t, s, "", func(i int) string {
				return fmt.Sprintf(`{"type":"board_post","event":"board_post","tick":%d,"agent":"a","board":"b%d","outcome":"allowed","text":%q}`+"\n", i, i, strings.Repeat("x", 500))
			})
		})
	}
}

func FuzzTown(f *testing.F) {
	sourcetest.Fuzz(f, Town, "town/*.jsonl", `{"event":"action","action":"a","success":0,"denied":1}`, `{"changes":{"events":[{"event":"lock","lock":"x"}]}}`)
}

func FuzzBiomata(f *testing.F) {
	sourcetest.Fuzz(f, Biomata, "biomata/*.jsonl", `{"type":"action_failed","data":{"action":"x","tick":9}}`)
}
