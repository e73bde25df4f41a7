package cascade_test

import (
	"math/rand/v2"
	"testing"

	"umwelt/cascade"
	"umwelt/registry"
	"umwelt/world"
)

// TestContestsAgreeWithAnswers holds contests to the answers about each entity: without
// qualifiers, bounds and locks, the first candidate is the winner.
func TestContestsAgreeWithAnswers(t *testing.T) {
	reg := sandboxRegistry(t)
	w, err := world.New(reg, "dev", "", bigEntities(reg, 500), nil)
	if err != nil {
		t.Fatal(err)
	}
	e := cascade.New(w, bind(t, reg, bigView(200, 500, rand.New(rand.NewPCG(5, 6)))))
	r := resolve(t, e)
	contested := 0
	for i := range w.Entities {
		seen := map[*registry.Property]bool{}
		for _, contest := range e.Contests(e.Cohort(i)) {
			seen[contest.Property] = true
			if got := r.Get(i, contest.Property); got.Winner != contest.Candidates[0] {
				t.Fatalf("%s %s: the first candidate is not the winner", w.Entities[i].ID, contest.Property.Name)
			}
			for k, c := range contest.Candidates[1:] {
				contested++
				if ahead, _ := cascade.Ahead(contest.Candidates[k], c); !ahead {
					t.Fatalf("%s %s: candidate %d is not ahead of the next", w.Entities[i].ID, contest.Property.Name, k)
				}
			}
		}
		for _, p := range w.Entities[i].Type.Properties {
			if (r.Get(i, p).Winner != nil) != seen[p] {
				t.Fatalf("%s %s: set by a rule and in no contest, or the other way round", w.Entities[i].ID, p.Name)
			}
		}
	}
	if contested < 100 {
		t.Fatalf("only %d candidates had another ahead", contested)
	}
}
