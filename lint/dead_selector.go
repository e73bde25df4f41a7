package lint

import (
	"fmt"
	"slices"
	"strings"

	"umwelt/diag"
	"umwelt/registry"
	"umwelt/world"
)

const deadSelector = "dead-selector"

// DeadSelector finds rules that fit nothing in this world, and could fit nothing that is
// still to come.
var DeadSelector = Detector{
	Name: deadSelector, Severity: diag.Warning,
	Summary: "A rule fits nothing in this world, or contradicts itself and fits nothing in any.",
	Find: func(f *Facts) []Finding {
		h := hopes{f: f, types: map[*registry.EntityType]bool{}}
		var around []*registry.Compound
		for _, rule := range f.Bound.Rules {
			for _, link := range rule.Selector.Structure {
				if f.Resolution.Matched(rule) == 0 {
					around = append(around, link.Compound)
				}
			}
		}
		h.fits = f.countFits(around)
		for i := range f.World.Entities {
			if e := &f.World.Entities[i]; e.Provenance.Origin != world.Referenced {
				h.types[e.Type] = true
			}
		}
		var out []Finding
		for _, group := range f.selectorLists() {
			contradiction, alive := "", false
			for _, rule := range group {
				contradiction = contradicts(rule.Selector)
				if f.Resolution.Matched(rule) > 0 || rule.Selector.Never || contradiction == "" && (h.mayCome(rule.Selector) || h.elsewhere(rule.Selector) || isDefault(rule)) {
					alive = true
					break
				}
			}
			if alive {
				continue
			}
			rule := group[0]
			switch t := rule.Selector.Target.Type; {
			case contradiction != "" && len(group) == 1:
				out = append(out, finding(diag.Warning, rule.At, fmt.Sprintf("%s fits nothing in any world: %s", rule.Selector.Text, contradiction), "take one of the two off"))
			case t != nil && !h.types[t]:
				out = append(out, finding(diag.Warning, rule.At, fmt.Sprintf("%s fits nothing: this world holds no %s", rule.Selector.Text, t.Name), "name the world it is meant for, or take the rule out"))
			default:
				out = append(out, finding(diag.Warning, rule.At, rule.Selector.Text+" fits nothing in this world", "correct the selector, or take the rule out"))
			}
		}
		return out
	},
}

// selectorLists are the rules, those that are written as one together.
func (f *Facts) selectorLists() [][]*registry.Rule {
	var out [][]*registry.Rule
	at := map[int]int{}
	for _, rule := range f.Bound.Rules {
		if len(rule.Declarations) == 0 {
			continue
		}
		order := rule.Declarations[0].Order
		if i, ok := at[order]; ok {
			out[i] = append(out[i], rule)
			continue
		}
		at[order] = len(out)
		out = append(out, []*registry.Rule{rule})
	}
	return out
}

// isDefault reports whether a rule does nothing but withhold every entity of a type. It
// says what holds for those that other worlds have.
func isDefault(rule *registry.Rule) bool {
	if rule.Selector.Target.Type == nil || len(rule.Selector.Target.Tests) > 0 {
		return false
	}
	for _, d := range rule.Declarations {
		for _, t := range d.Typed {
			if !restricts(t.Property, t.Value) {
				return false
			}
		}
	}
	return true
}

// hopes says what may still come into being: a thing with a path is made while the actor
// works, and so is what lies in it. A class, or any fact but the path, comes from the
// world alone.
type hopes struct {
	f     *Facts
	types map[*registry.EntityType]bool // that the world holds something of
	fits  map[*registry.Compound]int    // of what stands around the targets
}

// elsewhere reports whether a rule is meant for another environment: it names one that
// this run is not in.
func (h *hopes) elsewhere(s *registry.Selector) bool {
	return slices.ContainsFunc(s.Structure, func(l registry.Link) bool {
		return l.Compound.Type != nil && l.Compound.Type.Root && h.fits[l.Compound] == 0
	})
}

func (h *hopes) mayCome(s *registry.Selector) bool {
	t := s.Target.Type
	if t != nil && t.PathAttr == "" {
		return !h.types[t] && h.inPath(t)
	}
	for _, link := range s.Structure {
		if !h.pathOnly(link.Compound) && h.fits[link.Compound] == 0 {
			return false
		}
	}
	return h.pathOnly(s.Target)
}

// inPath reports whether entities of a type lie inside of things with a path, which
// discovery does not look into.
func (h *hopes) inPath(t *registry.EntityType) bool {
	for _, name := range t.Parents {
		for _, parent := range h.f.Registry.TypesNamed(name) {
			if parent.PathAttr != "" {
				return true
			}
		}
	}
	return false
}

// pathOnly reports whether a path alone decides whether a compound fits.
func (h *hopes) pathOnly(c *registry.Compound) bool {
	if c.Type != nil {
		return c.Type.PathAttr != "" && pathTests(c.Tests, c.Type)
	}
	return slices.ContainsFunc(h.f.Registry.Types(), func(t *registry.EntityType) bool {
		return t.PathAttr != "" && pathTests(c.Tests, t)
	})
}

func pathTests(tests []registry.Test, t *registry.EntityType) bool {
	for i := range tests {
		test := &tests[i]
		switch test.Kind {
		case registry.TestID, registry.TestGlob:
		case registry.TestAttr:
			if test.Attr != t.PathAttr && test.Attr != "name" {
				return false
			}
		case registry.TestNot, registry.TestIs:
			for _, s := range test.Selectors {
				if !pathTests(s.Target.Tests, t) {
					return test.Kind == registry.TestNot
				}
			}
		default:
			return false
		}
	}
	return true
}

// contradicts says what in a selector excludes what, or "".
func contradicts(s *registry.Selector) string {
	if what := contradictsCompound(s.Target); what != "" {
		return what
	}
	for _, link := range s.Structure {
		if what := contradictsCompound(link.Compound); what != "" {
			return what
		}
	}
	return ""
}

func contradictsCompound(c *registry.Compound) string {
	for i := range c.Tests {
		for k := range c.Tests[:i] {
			a, b := &c.Tests[k], &c.Tests[i]
			if a.Kind != registry.TestAttr || a.Attr != b.Attr || b.Kind != registry.TestAttr || a.Fold || b.Fold {
				continue
			}
			if excludes(a, b) || excludes(b, a) {
				return fmt.Sprintf("%s cannot be %s%s and %s%s at once", a.Attr, a.Op, diag.Quote(a.Value), b.Op, diag.Quote(b.Value))
			}
		}
	}
	return ""
}

// excludes reports whether a whole value rules out what another test asks of it.
func excludes(a, b *registry.Test) bool {
	switch {
	case a.Op == "^=" && b.Op == "^=":
		return !strings.HasPrefix(a.Value, b.Value) && !strings.HasPrefix(b.Value, a.Value)
	case a.Op == "$=" && b.Op == "$=":
		return !strings.HasSuffix(a.Value, b.Value) && !strings.HasSuffix(b.Value, a.Value)
	case a.Op != "=":
		return false
	}
	switch b.Op {
	case "=":
		return a.Value != b.Value
	case "^=":
		return !strings.HasPrefix(a.Value, b.Value)
	case "$=":
		return !strings.HasSuffix(a.Value, b.Value)
	case "*=":
		return !strings.Contains(a.Value, b.Value)
	}
	return false
}
