package narrow

import (
	"slices"
	"strings"

	"umwelt/ast"
	"umwelt/registry"
)

// unit is one declaration under one selector of the current view, as written: what can be
// kept, taken away or replaced on its own. Sugar makes one unit of each rule that it stands
// for. Several bound rules belong to a unit where a selector was unfolded.
type unit struct {
	at      string // where it is written
	rules   []decided
	name    string // the property
	kind    unitKind
	holds   bool   // in the wanted context
	stuck   string // why it cannot be edited, "" where it can
	whole   string // why it cannot be replaced by less, "" where it can
	state   unitState
	raw     string // what stands for its value, where that shrinks
	carries map[*requirement]bool
	text    string // for the report
	place   string
	instead []draft
}

type unitKind uint8

const (
	other     unitKind = iota
	granting           // a permission is given
	implying           // a permission follows from being spoken of
	bounding           // a number that nothing may exceed
	admitting          // patterns of calls that may be made
)

type unitState uint8

const (
	alive unitState = iota
	dropped
	replaced
)

// units finds the units of the current view that hold in the wanted context.
func (p *proposer) units(t *trial) []*unit {
	at := map[string]*unit{}
	var out []*unit
	for _, r := range t.bound.Rules {
		for _, d := range r.Declarations {
			key := placeOf(d.At) + "@" + placeOf(r.At)
			if d.At.Source != t.view.Source {
				key = d.At.Source.Name + "|" + key
			}
			u := at[key]
			if u == nil {
				u = &unit{at: key, name: d.Name, kind: kindOf(d), carries: map[*requirement]bool{}, place: d.At.String()}
				u.holds = t.res.Holds(r)
				u.text = text(r.Selector.Text + " { " + declarationText(d) + " }")
				switch {
				case d.At.Source != t.view.Source:
					u.stuck = "it is imported, and what is imported is not rewritten"
				case !u.holds:
					u.stuck = "it does not hold in this context"
				case u.kind == other:
					u.stuck = "nothing can observe what it is for"
				}
				at[key] = u
				out = append(out, u)
			}
			u.rules = append(u.rules, decided{r, d})
			if k := kindOf(d); k != u.kind {
				u.kind = other
			}
		}
	}
	return out
}

func declarationText(d *registry.Declaration) string {
	value := d.Typed[0].Value.Text
	if d.Typed[0].Property.Secret {
		value = "…"
	}
	return d.Name + ": " + value + ";"
}

// kindOf says what a declaration does.
func kindOf(d *registry.Declaration) unitKind {
	kind := other
	for _, v := range d.Typed {
		switch p := v.Property; {
		case p.Type.Shape == registry.One && p.Type.Kind == registry.Boolean && p.Restrictive != registry.NoDirection && p.Comparison == registry.Exact:
			switch {
			case v.Value.Equal(p.PermissiveBool()):
				kind = granting
			case kind == other && impliesOther(p):
				kind = implying
			}
		case p.Restrictive == registry.Min && p.Type.Shape == registry.One:
			kind = bounding
		case p.Comparison == registry.Pattern && p.Restrictive == registry.Subset:
			kind = admitting
		}
	}
	return kind
}

// impliesOther reports whether speaking of p makes another property permissive.
func impliesOther(p *registry.Property) bool {
	return slices.ContainsFunc(p.Entity.Properties, func(q *registry.Property) bool { return slices.Contains(q.ImpliedBy, p.Name) })
}

// parseSelector reads the canonical text of a bound selector.
func parseSelector(text string) *ast.Selector {
	v, err := parse("selector", []byte(text+" {}"))
	if err != nil || len(v.Statements) != 1 {
		return nil
	}
	r, ok := v.Statements[0].(*ast.Rule)
	if !ok || len(r.Selectors) != 1 {
		return nil
	}
	return r.Selectors[0]
}

// prefixOf is everything of a selector but its target.
func prefixOf(s *ast.Selector) ([]*ast.Compound, []ast.Combinator) {
	n := len(s.Compounds) - 1
	return s.Compounds[:n:n], s.Combinators[: n+1 : n+1]
}

func nameTest(t *registry.EntityType, id string) ast.Simple {
	if t.Name == "exec" && strings.HasPrefix(id, "/") {
		return attrTest("path", "=", id)
	}
	return attrTest(t.Key(), "=", id)
}
