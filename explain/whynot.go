package explain

import (
	"fmt"
	"slices"
	"strings"

	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/registry"
)

// WhyNot says why a property does not have a value, and what would have to change for it
// to have it: all of Changes, as far as the rules and the world are known. Holds says that
// it has it after all.
type WhyNot struct {
	Value   string   `json:"value"`
	Holds   bool     `json:"holds"`
	Reasons []string `json:"reasons"`
	Changes []string `json:"changes"`
}

// mostRules bounds how many rules that do not fit are named.
const mostRules = 5

// Not is why the property of a proof that r gave does not have a value. problem says why
// the question makes no sense, "" where it does.
func Not(r *cascade.Resolution, proof cascade.Proof, text string) (answer *WhyNot, problem string) {
	prop := proof.Property
	if prop.Secret {
		return nil, "the value of " + prop.Name + " is a secret, so it is not compared"
	}
	want, fault := r.Registry().TypeText(prop.Type, text)
	if fault != "" {
		return nil, fault
	}
	w := &whyNot{r: r, proof: &proof, want: want}
	w.out = WhyNot{Value: UTF8(want.Text), Holds: want.Equal(proof.Effective.Value), Reasons: []string{}, Changes: []string{}}
	if !w.out.Holds {
		w.reasons()
		w.changes()
	}
	return &w.out, ""
}

type whyNot struct {
	r     *cascade.Resolution
	proof *cascade.Proof
	want  *registry.Value
	out   WhyNot
}

// reasons are who asks for the value and does not get it, and who would if it fitted.
func (w *whyNot) reasons() {
	proof, prop := w.proof, w.proof.Property
	say := func(at diag.Span, text string) {
		w.out.Reasons = append(w.out.Reasons, at.String()+" "+diag.Escape(text))
	}
	if r := proof.Effective.Reason; r != nil && w.want.Equal(proof.Effective.Resolved) {
		w.out.Reasons = append(w.out.Reasons, "the rules ask for it, but "+diag.Escape(r.Text))
	}
	fits := map[*registry.Rule]bool{}
	for _, c := range proof.Effective.From {
		fits[c.Rule] = true
	}
	for _, l := range proof.Losers {
		fits[l.Candidate.Rule] = true
		if w.want.Equal(l.Candidate.Value) {
			say(placeIn(l.Candidate), "asks for it, but "+reasonOf(w.r, l))
		}
	}
	more := 0
	for _, rule := range w.r.Bound().Rules {
		d := setting(rule, prop, w.want)
		switch {
		case d == nil || fits[rule]:
		case len(w.out.Reasons) >= mostRules:
			more++
		default:
			say(d.At, "would set it, but "+rule.Selector.Text+" does not fit this "+proof.Entity.Type.Name)
		}
	}
	switch {
	case more == 1:
		w.out.Reasons = append(w.out.Reasons, "1 more rule would set it and does not fit")
	case more > 1:
		w.out.Reasons = append(w.out.Reasons, fmt.Sprintf("%d more rules would set it and do not fit", more))
	case len(w.out.Reasons) == 0:
		w.out.Reasons = append(w.out.Reasons, "no rule asks for it")
	}
}

// setting is the declaration of a rule that sets the property to the value, or nil.
func setting(rule *registry.Rule, prop *registry.Property, want *registry.Value) *registry.Declaration {
	for _, d := range rule.Declarations {
		for _, t := range d.Typed {
			if t.Property == prop && want.Equal(t.Value) {
				return d
			}
		}
	}
	return nil
}

// changes are what the rules would have to say, and then every later step of the proof
// that would still take the value away.
func (w *whyNot) changes() {
	if !w.want.Equal(w.proof.Effective.Resolved) {
		switch {
		case w.fromElsewhere():
		case w.proof.Property.Comparison == registry.AtMost, w.proof.Property.Comparison == registry.AtLeast:
			w.bound()
		case w.proof.Property.Comparison == registry.Exact && !w.proof.Property.Repeatable:
			w.exact()
		default:
			w.sets()
		}
	}
	e := &cascade.Effective{Value: w.want, Resolved: w.want, Origin: cascade.Cascade}
	for i := range w.proof.Steps {
		if i == 0 {
			continue // what the rules say was dealt with
		}
		s := &w.proof.Steps[i]
		next := s.Apply(w.proof, e)
		switch {
		case next == nil, w.want.Equal(next.Value):
			continue
		case s.Kind == cascade.StepFixed:
			c := s.Fixed.Constraint
			w.need("the world's constraint on %s at %s, which fixes it at %s, would have to go", c.Selector.Text, c.At, s.Fixed.Value.Text)
		case next.Reason != nil:
			w.need("%s, which would have to change", next.Reason.Text)
		}
	}
}

func (w *whyNot) need(format string, args ...any) {
	w.out.Changes = append(w.out.Changes, diag.Escape(fmt.Sprintf(format, args...)))
}

func (w *whyNot) subject() string {
	return RefOf(w.proof.Entity).String()
}

// fromElsewhere deals with what is unset and gets its value from something else.
func (w *whyNot) fromElsewhere() bool {
	s := &w.proof.Steps[0]
	switch {
	case s.Kind == cascade.StepRules, w.want.Equal(s.After.Value):
		return s.Kind != cascade.StepRules
	case s.Kind == cascade.StepFollows:
		w.need("a rule that fits %s would have to set it, or %s would have to be %s", w.subject(), s.Property.Name, w.want.Text)
		return true
	}
	return false
}

// exact is for a property of which one declaration wins.
func (w *whyNot) exact() {
	winner := w.proof.Effective.Winner
	for _, l := range w.proof.Losers {
		if !w.want.Equal(l.Candidate.Value) {
			continue
		}
		w.need("%s would have to %s", placeIn(l.Candidate), w.win(l, winner))
		return
	}
	switch {
	case winner == nil:
		w.need("a rule that fits %s would have to set it", w.subject())
	case winner.Declaration.Locked && !w.proof.Property.AsTight(w.want, winner.Value):
		w.need("a rule that fits %s would have to set it, and %s would have to be no lock", w.subject(), placeIn(winner))
	case winner.Declaration.Important:
		w.need("a rule that fits %s would have to set it, !important, and win over %s, whose specificity is %s", w.subject(), placeIn(winner), w.key(winner))
	default:
		w.need("a rule that fits %s would have to set it, and win over %s, whose specificity is %s", w.subject(), placeIn(winner), w.key(winner))
	}
}

func (w *whyNot) key(c *cascade.Candidate) string {
	return Specificity(w.r.Registry(), c.Rule.Selector.Specificity)
}

// win is what a declaration that lost would have to do.
func (w *whyNot) win(l cascade.Loser, winner *cascade.Candidate) string {
	switch l.Why {
	case cascade.NotImportant:
		return fmt.Sprintf("be !important, as %s is, and win over it", placeIn(l.Against))
	case cascade.WeakerLayer:
		return fmt.Sprintf("stand in a layer that wins over that of %s, or in none", placeIn(l.Against))
	case cascade.LowerSpecificity:
		return fmt.Sprintf("be more specific than %s, which has %s", placeIn(l.Against), w.key(l.Against))
	case cascade.LockedOut:
		return fmt.Sprintf("be let through by %s, which locks the property", placeIn(l.Against))
	case cascade.ContextNotHeld:
		text := "hold, but " + l.Text
		if ahead, why := winnerAhead(winner, l.Candidate); ahead {
			text += fmt.Sprintf("; and it would then lose to %s by %s", placeIn(winner), why)
		}
		return text
	}
	return fmt.Sprintf("stand after %s", placeIn(l.Against))
}

func winnerAhead(winner, c *cascade.Candidate) (bool, cascade.Why) {
	if winner == nil {
		return false, 0
	}
	return cascade.Ahead(winner, c)
}

// candidates are the declarations that apply.
func (w *whyNot) candidates() []*cascade.Candidate {
	out := slices.Clone(w.proof.Effective.From)
	for _, l := range w.proof.Losers {
		if l.Why != cascade.ContextNotHeld && l.Why != cascade.LockedOut && !slices.Contains(out, l.Candidate) {
			out = append(out, l.Candidate)
		}
	}
	return out
}

// bound is for a property of which the tightest declaration counts.
func (w *whyNot) bound() {
	asked := false
	for _, c := range w.candidates() {
		asked = asked || w.want.Equal(c.Value)
		if most := w.proof.Property.Comparison == registry.AtMost; most && c.Value.Num < w.want.Num || !most && c.Value.Num > w.want.Num {
			w.need("%s, which says %s, would have to go or say %s", placeIn(c), c.Value.Text, w.want.Text)
		}
	}
	if !asked {
		w.need("a rule that fits %s would have to set it", w.subject())
	}
}

// sets is for a property of which several declarations are joined.
func (w *whyNot) sets() {
	missing := slices.Clone(w.want.List)
	narrows := w.proof.Property.Comparison == registry.In
	for _, c := range w.candidates() {
		lacks := without(w.want.List, c.Value.List)
		over := without(c.Value.List, w.want.List)
		missing = without(missing, c.Value.List)
		switch {
		case narrows && len(lacks) > 0:
			w.need("%s would have to allow %s", placeIn(c), strings.Join(lacks, ", "))
		case !narrows && len(over) > 0:
			w.need("%s would have to leave out %s", placeIn(c), strings.Join(over, ", "))
		}
	}
	switch resolved := w.proof.Effective.Resolved; {
	case len(w.candidates()) == 0, !narrows && len(missing) > 0:
		w.need("a rule that fits %s would have to add %s", w.subject(), w.want.Text)
	case narrows && resolved != nil && len(without(resolved.List, w.want.List)) > 0:
		w.need("a rule that fits %s would have to allow %s alone", w.subject(), w.want.Text)
	}
}

// without is what of a is not in b.
func without(a, b []string) []string {
	var out []string
	for _, x := range a {
		if !slices.Contains(b, x) {
			out = append(out, x)
		}
	}
	return out
}
