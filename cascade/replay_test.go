package cascade_test

import (
	"testing"

	"pgregory.net/rapid"

	"umwelt/cascade"
	"umwelt/registry"
	"umwelt/world"
)

// TestReplay replays every proof of random cases and of extensions of them, and then
// proofs that claim something else.
func TestReplay(t *testing.T) {
	kinds := map[cascade.StepKind]int{}
	rapid.Check(t, func(t *rapid.T) {
		c := drawCase(t)
		d := &drawer{t: t, c: c}
		s := makeStaged(t, c, d.stages())
		for _, r := range s.steps {
			for i := range r.Len() {
				for _, p := range r.Entity(i).Type.Properties {
					proof := r.Explain(i, p)
					if err := proof.Replay(); err != nil {
						t.Fatalf("%s\n%s of %s: %v", c, p.Name, r.Entity(i).ID, err)
					}
					for _, s := range proof.Steps {
						kinds[s.Kind]++
					}
					tamper(t, c, proof)
				}
			}
		}
	})
	for k := cascade.StepRules; k <= cascade.StepGate; k++ {
		if kinds[k] == 0 {
			t.Errorf("no proof had a step %s", k)
		}
	}
}

// tamper changes a proof so that it must no longer hold.
func tamper(t *rapid.T, c *mCase, proof cascade.Proof) {
	refuse := func(what string, p cascade.Proof) {
		if p.Replay() == nil {
			t.Fatalf("%s\n%s of %s replays with %s", c, p.Property.Name, p.Entity.ID, what)
		}
	}
	other := proof
	other.Effective.Value = &registry.Value{Text: "something else", List: []string{"something", "else"}}
	refuse("another value", other)

	other = proof
	other.Steps = other.Steps[1:]
	refuse("its first step left out", other)

	if from := proof.Effective.From; len(from) == 1 && proof.Property.Comparison == registry.Exact && len(proof.Losers) == 0 {
		other = proof
		other.Effective.From = nil
		refuse("its only candidate left out", other)
	}
	for i, l := range proof.Losers {
		if l.Why == cascade.LowerSpecificity {
			other = proof
			other.Losers = append([]cascade.Loser(nil), proof.Losers...)
			other.Losers[i].Why = cascade.WeakerLayer
			refuse("another reason", other)
		}
	}
	last := proof.Steps[len(proof.Steps)-1]
	if before := len(proof.Steps) - 2; before >= 0 && last.After.Origin != proof.Steps[before].After.Origin {
		other = proof
		other.Steps = other.Steps[:before+1]
		refuse("its last step left out", other)
	}
}

// TestReplayOutsideWorld replays proofs about what does not exist.
func TestReplayOutsideWorld(t *testing.T) {
	reg := sandboxRegistry(t)
	w, err := world.New(reg, "dev", "", bigEntities(reg, 50), nil)
	if err != nil {
		t.Fatal(err)
	}
	r := resolve(t, cascade.New(w, bind(t, reg, `dir#"pkg0/part0/unit0" file { editable: true; }`)))
	file := reg.Type("file")
	ent := world.Entity{Type: file, ID: "pkg0/part0/unit0/new.go", Parent: int32(w.Find(reg.Type("dir"), "pkg0/part0/unit0"))}
	ent.Attributes = world.Complete(file, ent.ID, []world.Attribute{{Name: "path", Text: ent.ID}})
	proof := r.ExplainEntity(&ent, file.Property("editable"))
	if err := proof.Replay(); err != nil || !proof.Effective.Value.Bool() {
		t.Errorf("%v, %v", proof.Effective.Value, err)
	}
}
