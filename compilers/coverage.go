package compilers

import (
	"slices"
	"strings"

	"umwelt/cascade"
	"umwelt/registry"
)

// Coverage says of every declaration of a view how far a target carries it.
type Coverage struct {
	Target  string
	Rules   []RuleCoverage // in order of appearance
	Remarks []string       // on the whole text
}

// RuleCoverage is the coverage of one rule.
type RuleCoverage struct {
	Rule         *registry.Rule
	Matched      int // entities that its selector fits
	Declarations []DeclarationCoverage
}

// DeclarationCoverage is the coverage of one declaration. Restricts says that it takes
// something away from the actor, so that dropping it would let more through than written.
type DeclarationCoverage struct {
	Declaration *registry.Declaration
	Level       Level
	Why         string // "" only where nothing is to be said
	Restricts   bool
}

// Cover compares what a target declares with a resolved policy. Notes are those of the
// compilation; without them, it is what the target could do with such rules at best.
func Cover(info Info, res *cascade.Resolution, notes []Note) Coverage {
	c := Coverage{Target: info.Name}
	byRule := map[*registry.Rule][]Note{}
	for _, n := range notes {
		switch {
		case n.Rule != nil:
			byRule[n.Rule] = append(byRule[n.Rule], n)
		case !slices.Contains(c.Remarks, n.Why):
			c.Remarks = append(c.Remarks, n.Why)
		}
	}
	for _, rule := range res.Bound().Rules {
		rc := RuleCoverage{Rule: rule, Matched: res.Matched(rule)}
		notesOn := sorted(byRule[rule])
		for _, d := range rule.Declarations {
			dc := DeclarationCoverage{Declaration: d, Restricts: d.Restricts()}
			dc.Level, dc.Why = info.level(d)
			for _, n := range notesOn(d) {
				dc.lower(n.Level, n.Why)
			}
			rc.Declarations = append(rc.Declarations, info.inContext(dc, rule, res))
		}
		c.Rules = append(c.Rules, rc)
	}
	return c
}

// sorted finds the notes on a declaration, and those on all of its rule, in the order of the
// list.
func sorted(notes []Note) func(*registry.Declaration) []Note {
	if len(notes) == 0 {
		return func(*registry.Declaration) []Note { return nil }
	}
	on := map[*registry.Declaration][]int{}
	for i, n := range notes {
		on[n.Declaration] = append(on[n.Declaration], i)
	}
	all := on[nil]
	return func(d *registry.Declaration) []Note {
		places := slices.Concat(all, on[d])
		slices.Sort(places)
		out := make([]Note, len(places))
		for k, i := range places {
			out[k] = notes[i]
		}
		return out
	}
}

// Carries reports whether the target carries any declaration at all.
func (c Coverage) Carries() bool {
	return slices.ContainsFunc(c.Rules, func(r RuleCoverage) bool {
		return slices.ContainsFunc(r.Declarations, func(d DeclarationCoverage) bool { return d.Level > Dropped })
	})
}

// inContext is the coverage of a declaration once it is clear whether its rule applies.
func (info Info) inContext(d DeclarationCoverage, rule *registry.Rule, res *cascade.Resolution) DeclarationCoverage {
	switch {
	case rule.Selector.Never:
		d.Level, d.Why = Dropped, "selector: it can never match anything"
	case res.Holds(rule):
		if res.Matched(rule) == 0 && d.Why == "" {
			d.Why = "it matches nothing in this world"
		}
	case info.Contexts:
	case res.Open(rule):
		d.Level, d.Why = Dropped, "qualifier: the context leaves it open, and the target cannot tell when it would hold"
	default:
		d.Level, d.Why = Enforced, "the context decides that it does not apply"
	}
	return d
}

// Reasons beyond this many bytes are not listed.
const (
	longestWhy = 4 << 10
	andMore    = "; and more like these"
)

// lower takes a level down and adds a reason. A reason for what is so anyway is kept too.
func (d *DeclarationCoverage) lower(to Level, why string) {
	d.Level = min(d.Level, to)
	switch {
	case d.Why == "":
		d.Why = why
	case len(d.Why) > longestWhy:
		if !strings.HasSuffix(d.Why, andMore) {
			d.Why += andMore
		}
	case !strings.Contains(d.Why, why):
		d.Why += "; " + why
	}
}

// level is what a target declares about a declaration. Where the rule names no type, its
// declaration speaks of several properties, and is carried as far as all of them are.
func (info Info) level(d *registry.Declaration) (Level, string) {
	if len(d.Typed) == 0 {
		return Dropped, "property: no entity type that the rule may stand on has it"
	}
	strongest, weakest := Dropped, Enforced
	var whys []string
	for _, t := range d.Typed {
		s := info.Supports(t.Property)
		strongest, weakest = max(strongest, s.Level), min(weakest, s.Level)
		if s.Why == "" {
			continue
		}
		why := s.Why
		if len(d.Typed) > 1 {
			why = t.Property.Entity.Name + ": " + why
		}
		if !slices.Contains(whys, why) {
			whys = append(whys, why)
		}
	}
	if weakest == Dropped && strongest > Dropped {
		weakest = Partial
	}
	return weakest, strings.Join(whys, "; ")
}

// Supports is what the target does with a property.
func (info Info) Supports(p *registry.Property) Support {
	for _, key := range []string{p.Entity.Name + "." + p.Name, p.Entity.Name + ".*", "*"} {
		if s, ok := info.Support[key]; ok {
			return s
		}
	}
	if p.Altitude > info.Altitude {
		return Support{Dropped, "altitude: it is decided at the " + p.Altitude.String() + " level, and the target works at the " + info.Altitude.String() + " level"}
	}
	return Support{Dropped, "mechanism: the target has none for " + p.Entity.Name + "." + p.Name}
}

// Level is the level of the whole rule: that of its declarations where they agree,
// requested where the others are enforced, else partial.
func (r RuleCoverage) Level() Level {
	if len(r.Declarations) == 0 {
		return Enforced
	}
	least, most := Enforced, Dropped
	for _, d := range r.Declarations {
		least, most = min(least, d.Level), max(most, d.Level)
	}
	switch {
	case least == most, least == Partial && most == Enforced:
		return least
	case least == Requested && most == Enforced:
		return Requested
	}
	return Partial
}

// Lost is one declaration that the target drops.
type Lost struct {
	Rule *registry.Rule
	DeclarationCoverage
}

// DroppedRestrictions are the declarations that take something away and are dropped: what
// is compiled lets more through than the view says.
func (c Coverage) DroppedRestrictions() []Lost {
	var out []Lost
	for _, r := range c.Rules {
		for _, d := range r.Declarations {
			if d.Level == Dropped && d.Restricts {
				out = append(out, Lost{r.Rule, d})
			}
		}
	}
	return out
}
