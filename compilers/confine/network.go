package confine

import (
	"slices"
	"strconv"

	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/registry"
)

// spot is one network entity: what it speaks of, and what the policy says of it.
type spot struct {
	Endpoint
	scope
	allow, deny cascade.Effective
	whole       bool              // the network, and not an endpoint of it
	barred      bool              // a rule or the world says that it may not be reached
	by          cascade.Effective // what bars it
	pattern     string            // the deny pattern that bars it; "" where its own allow does
}

// readNetwork puts the network as a whole and its endpoints together. A deny pattern beats
// an allow of equal or lower precedence, and an endpoint that may not be reached is taken
// out of whatever holds it.
func (r *reader) readNetwork() Network {
	var n Network
	t := r.typ("network")
	if t == nil {
		return n
	}
	var open, barred, wholes []*spot
	patterns := 0
	for _, i := range r.of(t) {
		s := r.spotOf(i, t)
		if s.whole {
			wholes = append(wholes, s)
		}
		switch {
		case s.barred:
			barred = append(barred, s)
			if s.allow.Value.Bool() {
				r.note(by(s.allow), partial, whyPattern)
			}
		case !s.allow.Value.Bool():
		case s.problem != "" || s.stray != "":
			r.note(s.By, dropped, s.problem+s.stray+", so the endpoint stays closed")
		default:
			open = append(open, s)
			if s.deny.Value != nil {
				patterns = max(patterns, len(s.deny.Value.List))
			}
		}
	}
	for _, s := range wholes {
		if s.deny.Value != nil {
			patterns = max(patterns, len(s.deny.Value.List))
		}
	}
	if len(open)*(len(barred)+patterns) > maxPairs {
		r.problems.Errorf(diag.TooLarge, diag.Span{}, "%d endpoints of the network are allowed and %d endpoints and patterns denied, which is too much to compare",
			len(open), len(barred)+patterns)
		return n
	}
	open = slices.DeleteFunc(open, func(s *spot) bool {
		kept, closed := patternsFor(s, wholes)
		if closed {
			r.note(s.By, partial, whyPattern)
		}
		n.Deny = append(n.Deny, kept...)
		return closed
	})
	slices.Sort(n.Deny)
	n.Deny = slices.Compact(n.Deny)
	// What a pattern takes out of everything needs no other word.
	barred = slices.DeleteFunc(barred, func(b *spot) bool {
		_, found := slices.BinarySearch(n.Deny, b.pattern)
		return b.pattern != "" && found
	})
	for _, s := range open {
		switch {
		case !r.keeps(s, barred):
		case s.whole:
			n.Open, n.By, n.Less = true, s.By, s.Less
		default:
			n.Allow = append(n.Allow, s.Endpoint)
		}
	}
	return n
}

// maxPairs bounds how many endpoints and patterns are compared with one another.
const maxPairs = 1 << 22

const whyPattern = "a deny pattern of no lower precedence closes it"

// spotOf reads a network entity.
func (r *reader) spotOf(i int, t *registry.EntityType) *spot {
	e := &r.world.Entities[i]
	s := &spot{allow: r.property(i, t, "allow"), deny: r.property(i, t, "deny")}
	s.By = by(s.allow)
	s.Host, _ = e.Attr("host")
	s.CIDR, _ = e.Attr("cidr")
	s.Protocol, _ = e.Attr("protocol")
	port, hasPort := e.Attr("port")
	s.scope = scopeOf(s.Endpoint)
	if hasPort {
		p, err := strconv.Atoi(port)
		if err != nil || p < 1 || p > 65535 {
			s.problem = "the port is none"
		} else {
			s.Port, s.port = p, p
		}
	}
	s.whole = s.Host == "" && s.CIDR == "" && s.Protocol == "" && !hasPort
	switch {
	case !s.allow.Value.Bool() && set(s.allow):
		s.barred, s.by = true, s.allow
	case beats(s.deny, s.allow):
		for _, p := range s.deny.Value.List {
			if p == "*" || !s.whole && covers(p, s.Endpoint) {
				s.barred, s.by, s.pattern = true, s.deny, p
				break
			}
		}
	}
	return s
}

// keeps takes what may not be reached out of an endpoint, or of the network, and reports
// whether anything is left.
func (r *reader) keeps(s *spot, barred []*spot) bool {
	for _, b := range barred {
		if !b.meets(s.scope) {
			continue
		}
		inside := b.contains(s.scope)
		switch {
		case b.problem != "", inside && (s.contains(b.scope) || b.outranks(s)):
			r.note(s.By, partial, "another endpoint that takes in all of it may not be reached, so it stays closed")
			return false
		case inside:
			// The narrower endpoint stands out of the wider one, which stays closed around it.
		default:
			s.Less = append(s.Less, Endpoint{Host: b.Host, CIDR: b.CIDR, Protocol: b.Protocol, Port: b.Port, By: by(b.by)})
		}
	}
	return true
}

// outranks reports whether what bars b holds against what opens a narrower endpoint.
func (b *spot) outranks(s *spot) bool {
	switch {
	case b.by.Winner == nil || b.by.Origin == cascade.Fixed || s.allow.Winner == nil:
		return true
	case b.pattern != "":
		return !stronger(s.allow.Winner, b.by.Winner)
	}
	return stronger(b.by.Winner, s.allow.Winner)
}

// patternsFor are the deny patterns, its own and those of the whole network, that hold
// against an endpoint and do not take in all of it. closed says that one does.
func patternsFor(s *spot, wholes []*spot) (kept []string, closed bool) {
	deniers := wholes
	if !s.whole {
		deniers = append(slices.Clip(wholes), s)
	}
	for _, d := range deniers {
		if !beats(d.deny, s.allow) {
			continue
		}
		for _, p := range d.deny.Value.List {
			if p == "*" || !s.whole && covers(p, s.Endpoint) {
				return nil, true
			}
			kept = append(kept, p)
		}
	}
	return kept, false
}

// beats reports whether what denies holds against what allows. Only a rule that stands
// above the one that denies gets past it, and nothing gets past the world's own word.
func beats(deny, allow cascade.Effective) bool {
	switch {
	case deny.Value == nil || len(deny.Value.List) == 0:
		return false
	case deny.Winner == nil || deny.Origin == cascade.Fixed || allow.Winner == nil:
		return true
	}
	return !stronger(allow.Winner, deny.Winner)
}

// stronger reports whether a has the higher precedence, the order of appearance aside.
func stronger(a, b *cascade.Candidate) bool {
	x, y := a.Declaration, b.Declaration
	switch {
	case x.Locked != y.Locked:
		return x.Locked
	case x.Important != y.Important:
		return x.Important
	case a.Rule.Layer != b.Rule.Layer:
		return (a.Rule.Layer > b.Rule.Layer) != x.Important
	}
	return a.Rule.Selector.Specificity.Compare(b.Rule.Selector.Specificity) > 0
}

// by is what decided a value.
func by(e cascade.Effective) Source {
	if e.Winner == nil {
		return Source{}
	}
	return Source{Rule: e.Winner.Rule, Declaration: e.Winner.Declaration}
}

// set reports whether a rule or the world's own word decided a value.
func set(e cascade.Effective) bool {
	return e.Winner != nil || e.Origin == cascade.Cascade || e.Origin == cascade.Fixed
}

// property is the value of a property that the type may lack.
func (r *reader) property(i int, t *registry.EntityType, name string) cascade.Effective {
	if p := t.Property(name); p != nil {
		return r.res.Get(i, p)
	}
	return cascade.Effective{}
}
