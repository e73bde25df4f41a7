package cascade

import (
	"slices"

	"umwelt/diag"
	"umwelt/registry"
)

// CallStep is what one property says of a call.
type CallStep struct {
	Property  *registry.Property
	Effective *Effective
	Holds     bool
	Pattern   string     // the pattern that fits, where one does
	From      *Candidate // the declaration that it stands in, or else that decides; nil where none does
	Why       string     // one plain sentence without a stop; of a secret property it tells no value
}

// Verdict is what an entity's properties say of a call.
type Verdict struct {
	// Steps are the permissions, then the patterns that refuse, then those that allow, each in
	// vocabulary order. A property without a value asks for nothing and has no step.
	Steps []CallStep
}

// Allowed reports whether every step holds.
func (v *Verdict) Allowed() bool { return v.Decisive() == nil }

// Decisive is the first step that does not hold; nil where all do.
func (v *Verdict) Decisive() *CallStep {
	for i := range v.Steps {
		if !v.Steps[i].Holds {
			return &v.Steps[i]
		}
	}
	return nil
}

// Callable reports whether calls of entities of a type are decided by anything: it has a
// property of patterns with a direction.
func Callable(t *registry.EntityType) bool {
	return slices.ContainsFunc(t.Properties, func(p *registry.Property) bool { return refuses(p) || admits(p) })
}

func refuses(p *registry.Property) bool {
	return p.Comparison == registry.Pattern && p.Restrictive == registry.Superset
}

func admits(p *registry.Property) bool {
	return p.Comparison == registry.Pattern && p.Restrictive == registry.Subset
}

// permits reports whether a property is a permission in itself: yes or no with a
// restrictive direction, and not made to follow another one of its type.
func permits(p *registry.Property) bool {
	return gateable(p) && (p.Follows == "" || p.Through != "")
}

// Judge holds a call of an entity of type t against its properties, whose answers get
// gives. Every permission must be given; no pattern of a property whose more restrictive
// side is the larger one may fit; and of each property whose more restrictive side is the
// smaller one, some pattern must.
func Judge(t *registry.EntityType, get func(*registry.Property) *Effective, call *registry.Call) Verdict {
	var v Verdict
	for _, kind := range []struct {
		of   func(*registry.Property) bool
		step func(*CallStep, *registry.Call)
	}{{permits, (*CallStep).permission}, {refuses, (*CallStep).refusal}, {admits, (*CallStep).admission}} {
		for _, p := range t.Properties {
			if !kind.of(p) {
				continue
			}
			s := CallStep{Property: p, Effective: get(p)}
			if s.Effective.Value == nil && p.Comparison == registry.Pattern {
				continue
			}
			s.From = s.Effective.Winner
			kind.step(&s, call)
			if p.Secret {
				s.Pattern = ""
			}
			v.Steps = append(v.Steps, s)
		}
	}
	return v
}

// BreaksPatterns says how some of the calls does not fit what a property of patterns
// demands, "" where each does.
func BreaksPatterns(p *registry.Property, e *Effective, calls []string) string {
	if e.Value == nil {
		return ""
	}
	for _, text := range calls {
		s, call := CallStep{Property: p, Effective: e}, registry.ReadCall(text)
		if refuses(p) {
			s.refusal(call)
		} else {
			s.admission(call)
		}
		if !s.Holds {
			return s.Why
		}
	}
	return ""
}

func (s *CallStep) permission(*registry.Call) {
	value := "no value"
	if v := s.Effective.Value; v != nil {
		value = printed(s.Property, v)
		s.Holds = v.Equal(s.Property.PermissiveBool())
	}
	s.Why = s.Property.Name + " is " + value
}

func (s *CallStep) refusal(call *registry.Call) {
	for _, text := range s.Effective.Value.List {
		if p := registry.ReadCallPattern(text); p.Refuses(call) {
			s.found(text)
			return
		}
	}
	switch {
	case len(s.Effective.Value.List) > 0 && call.TooLong():
		s.Why = "the call is too long to be held against " + s.Property.Name
	case len(s.Effective.Value.List) > 0 && call.Unclear():
		s.Why = "what it runs is known only once it runs, so that " + s.Property.Name + " may fit it"
	default:
		s.Holds, s.Why = true, "no pattern of "+s.Property.Name+" fits"
	}
}

func (s *CallStep) admission(call *registry.Call) {
	almost := ""
	for _, text := range s.Effective.Value.List {
		p := registry.ReadCallPattern(text)
		if p.Admits(call) {
			s.Holds = true
			s.found(text)
			return
		}
		if almost == "" && p.AdmitsButFor(call) {
			almost = text
		}
	}
	s.Why = "no pattern of " + s.Property.Name + " fits"
	switch {
	case call.TooLong():
		s.Why += ", since the call is too long"
	case almost != "" && !s.Property.Secret:
		s.Why += ", since the * of " + diag.Quote(almost) + " spans nothing that could hold another command"
	}
}

// found notes the pattern that fits and where it stands.
func (s *CallStep) found(pattern string) {
	s.Pattern = pattern
	s.Why = s.Property.Name + " " + diag.Quote(pattern) + " fits"
	if s.Property.Secret {
		s.Why = "a pattern of " + s.Property.Name + " fits"
	}
	for _, c := range s.Effective.From {
		if slices.Contains(c.Value.List, pattern) {
			s.From = c
			return
		}
	}
}
