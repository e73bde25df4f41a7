package cascade

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"umwelt/registry"
	"umwelt/world"
)

// Proof is why a property of an entity has its value.
type Proof struct {
	Entity    *world.Entity
	Property  *registry.Property
	Effective Effective
	// Losers are the candidates that do not make the value, highest precedence first, those
	// whose context does not hold last.
	Losers []Loser
	// Context is which active entities met the qualifiers of the declarations that make the
	// value, in order.
	Context []Held
	// Fixed are the constraints that fit the entity and speak of the property, in order.
	Fixed []FixedStep
	// Steps are how the value comes about, in order: each changes what the one before made.
	// Replay goes through them.
	Steps []Step
	// Derived is why a derivation changed the value, "" where none did.
	Derived string
}

// Loser is a candidate that does not make the value, and why.
type Loser struct {
	Candidate *Candidate
	Why       Why
	// Against is the candidate that it lost to; nil where it lost to none.
	Against *Candidate
	// Text says the reason in a few plain words, no final stop.
	Text string
	// Key and AgainstKey are the two specificities, where Why is LowerSpecificity.
	Key, AgainstKey string
}

// Why is the kind of reason for which a candidate does not make a value.
type Why uint8

// The kinds of reason.
const (
	NotImportant     Why = iota // the other is !important
	WeakerLayer                 // the other's layer wins
	LowerSpecificity            // the other's selector is more specific
	Earlier                     // the other stands later
	LooserBound                 // the comparison takes the other's value
	LockedOut                   // the other is locked and this would loosen it
	ContextNotHeld              // a context qualifier does not hold
	CountedOnce                 // the other is the same declaration, under another selector of its rule
)

func (w Why) String() string {
	return [...]string{"importance", "layer", "specificity", "order", "comparison", "locked", "context", "once"}[w]
}

// Held says which active entity met a qualifier. Entity is -1 where none did.
type Held struct {
	Rule      *registry.Rule
	Qualifier string
	Entity    int
}

// FixedStep is one fixed constraint on the property.
type FixedStep struct {
	Constraint *world.Fixed
	Value      *registry.Value
}

// Explain is the proof for one property of one entity of the world. For a property that
// the entity's type does not have it is a Proof of nothing.
func (r *Resolution) Explain(entity int, p *registry.Property) Proof {
	if r.more != nil {
		return r.more.explain(entity, p)
	}
	ent := &r.engine.world.Entities[entity]
	set := r.engine.sets[r.engine.classes[r.engine.class[entity]].set]
	return r.prove(ent, p, r.Get(entity, p), set, r.engine.matcher.Fork())
}

// ExplainEntity is Explain for an entity that need not be in the world; see ResolveEntity.
func (r *Resolution) ExplainEntity(ent *world.Entity, p *registry.Property) Proof {
	if p.Entity != ent.Type {
		return Proof{Entity: ent, Property: p}
	}
	if r.more != nil {
		return r.more.explainEntity(ent, p)
	}
	return r.prove(ent, p, *r.ResolveEntity(ent)[p.Index], r.engine.fitting(ent), r.engine.matcher.Fork())
}

func (r *Resolution) prove(ent *world.Entity, p *registry.Property, got Effective, set []int32, m *world.Matcher) Proof {
	proof := Proof{Entity: ent, Property: p, Effective: got}
	if got.Reason != nil && got.Origin == Derived {
		proof.Derived = got.Reason.Text
	}
	e := r.engine
	var held, outside []int32
	for _, s := range set {
		if constraint := e.constraint(s); constraint != nil {
			for _, v := range constraint.Values {
				if v.Property == p && r.held(s) {
					proof.Fixed = append(proof.Fixed, FixedStep{constraint, v.Value})
				}
			}
			continue
		}
		list, ranked := e.ranked.of(s)
		for _, c := range list {
			if ranked.property[c] != p {
				continue
			}
			if at := e.ranked.place(c, ranked); r.held(s) {
				held = append(held, at)
			} else {
				outside = append(outside, at)
			}
		}
	}
	slices.Sort(held)
	slices.Sort(outside)
	proof.Losers = r.losers(p, held, got)
	proof.Steps = r.trace(ent, p, set)
	for _, c := range outside {
		proof.Losers = append(proof.Losers, r.outOfContext(e.ranked.candidate(c), m))
	}
	seen := map[*registry.Rule]bool{}
	for _, c := range got.From {
		if !seen[c.Rule] {
			seen[c.Rule] = true
			for _, h := range r.met(c.Rule, m) {
				if !slices.Contains(proof.Context, h) {
					proof.Context = append(proof.Context, h)
				}
			}
		}
	}
	return proof
}

func (r *Resolution) losers(p *registry.Property, held []int32, got Effective) []Loser {
	e := r.engine
	locked := map[int32]int32{}
	e.ranked.withoutLoosened(p, held, func(c, lock int32) { locked[c] = lock })
	var out []Loser
	for _, c := range held {
		candidate := e.ranked.candidate(c)
		if lock, ok := locked[c]; ok {
			by := e.ranked.candidate(lock)
			out = append(out, Loser{
				Candidate: candidate, Why: LockedOut, Against: by,
				Text: printed(p, candidate.Value) + " would loosen the locked " + printed(p, by.Value),
			})
			continue
		}
		if got.Winner == nil || candidate == got.Winner {
			continue
		}
		switch {
		case p.Repeatable:
			for _, kept := range got.From {
				if kept != candidate && kept.Declaration.Order == candidate.Declaration.Order {
					out = append(out, Loser{Candidate: candidate, Why: CountedOnce, Against: kept, Text: "it is the same declaration, which counts once"})
				}
			}
		case p.Comparison == registry.AtMost || p.Comparison == registry.AtLeast:
			out = append(out, looserBound(p, candidate, got.Winner))
		case slices.Contains(got.From, candidate):
		default:
			out = append(out, r.lost(candidate, got.Winner))
		}
	}
	return out
}

func looserBound(p *registry.Property, c, winner *Candidate) Loser {
	relation := " is above "
	switch {
	case c.Value.Equal(winner.Value):
		relation = " is no tighter than "
	case p.Comparison == registry.AtLeast:
		relation = " is below "
	}
	return Loser{Candidate: c, Why: LooserBound, Against: winner, Text: printed(p, c.Value) + relation + printed(p, winner.Value)}
}

// lost is why c has a lower precedence than the winner.
func (r *Resolution) lost(c, winner *Candidate) Loser {
	switch by, _ := compareBy(winner, c); by {
	case byImportance:
		return Loser{Candidate: c, Why: NotImportant, Against: winner, Text: "the winner is !important"}
	case byLayer:
		text := "the winner's layer comes later"
		switch {
		case winner.Declaration.Important:
			text = "the winner's layer comes earlier, which counts among !important ones"
		case winner.Rule.Layer == registry.Unlayered:
			text = "the winner stands outside every layer"
		}
		return Loser{Candidate: c, Why: WeakerLayer, Against: winner, Text: text}
	case bySpecificity:
		a, b := c.Rule.Selector.Specificity, winner.Rule.Selector.Specificity
		return Loser{
			Candidate: c, Why: LowerSpecificity, Against: winner, Key: r.key(a), AgainstKey: r.key(b),
			Text: "specificity " + r.key(a) + " is below " + r.key(b),
		}
	}
	return lostByOrder(c, winner)
}

func lostByOrder(c, winner *Candidate) Loser {
	return Loser{Candidate: c, Why: Earlier, Against: winner, Text: "the winner stands later at equal specificity"}
}

func (r *Resolution) outOfContext(c *Candidate, m *world.Matcher) Loser {
	var unmet []string
	for _, h := range r.met(c.Rule, m) {
		if h.Entity < 0 {
			unmet = append(unmet, h.Qualifier)
		}
	}
	return Loser{Candidate: c, Why: ContextNotHeld, Text: "nothing active is " + strings.Join(unmet, ", nor ")}
}

// met is which active entity meets each qualifier of a rule.
func (r *Resolution) met(rule *registry.Rule, m *world.Matcher) []Held {
	var out []Held
	for _, q := range rule.Selector.Qualifiers {
		h := Held{Rule: rule, Qualifier: q.Text, Entity: -1}
		for _, i := range r.context {
			if m.Compound(q, r.engine.entity(i), i) {
				h.Entity = i
				break
			}
		}
		out = append(out, h)
	}
	return out
}

// key prints a specificity: the number of axes, then per taxon, where any counts, ids,
// classes and types.
func (r *Resolution) key(s registry.Specificity) string {
	var b strings.Builder
	b.WriteString("axes " + strconv.Itoa(s.Axes))
	for i, t := range s.Triples {
		if t == (registry.Triple{}) {
			continue
		}
		name := "any"
		if taxa := r.Registry().Taxa(); i < len(taxa) {
			name = taxa[i].Name
		}
		fmt.Fprintf(&b, ", %s %d-%d-%d", name, t[0], t[1], t[2])
	}
	return b.String()
}
