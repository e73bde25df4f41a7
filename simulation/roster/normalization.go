package roster

import (
	"slices"

	"umwelt/diag"
)

// normalization checks that a normalization stands exactly where a value is exposed, and
// that its parameters make sense.
func (c *checker) normalization() {
	d := c.d
	n := d.Normalization
	switch {
	case n == nil && len(d.ExposedTo) > 0:
		c.fail("exposed_to", "a variable that is exposed needs a normalization")
	case n != nil && len(d.ExposedTo) == 0:
		c.fail("normalization", "a variable that is not exposed takes no normalization")
	}
	if n == nil {
		return
	}
	var names []string
	known := false
	var all []string
	for _, k := range kinds {
		all = append(all, k.name)
		if k.name == n.Kind {
			known, names = true, k.params
		}
	}
	if !known {
		c.term("normalization", n.Kind, all)
		return
	}
	if !c.names("normalization", n.Kind, n.Params, names) {
		return
	}
	for _, p := range n.Params {
		c.parameter(n, p)
	}
	if lo, hi := n.Param("min"), n.Param("max"); lo != nil && !ordered(*lo, *hi) {
		c.fail("normalization", "min must be below max")
	}
}

func (c *checker) parameter(n *Normalization, p Param) {
	number, ok := p.Value.Number()
	perAxis := slices.Contains([]string{"min", "max", "mean", "std"}, p.Name)
	switch {
	case p.Name == "clip":
		if p.Value.Kind != Bool {
			c.fail("normalization", "clip must be true or false")
		}
		return
	case perAxis && p.Value.Kind == List:
		ok = len(p.Value.List) > 0
		for _, m := range p.Value.List {
			axis, finite := m.Number()
			ok = ok && finite
			if p.Name == "std" && axis == 0 {
				c.fail("normalization", "std must not be 0")
				return
			}
		}
	}
	switch {
	case !ok:
		c.fail("normalization", "%s must be a finite number", p.Name)
	case p.Name == "std" && p.Value.Kind != List && number == 0:
		c.fail("normalization", "std must not be 0")
	case p.Name == "period" && number <= 0:
		c.fail("normalization", "period must be positive")
	case p.Name == "categories" && (p.Value.Kind != Int || number < 2):
		c.fail("normalization", "categories must be an integer from 2 up")
	}
}

// ordered reports whether lo is below hi on every axis; one number stands for all axes.
func ordered(lo, hi Literal) bool {
	los, his := axisValues(lo), axisValues(hi)
	if len(los) != len(his) && len(los) != 1 && len(his) != 1 {
		return false
	}
	for i := range max(len(los), len(his)) {
		l, lok := los[min(i, len(los)-1)].Number()
		h, hok := his[min(i, len(his)-1)].Number()
		if !lok || !hok || l >= h {
			return false
		}
	}
	return true
}

func axisValues(l Literal) []Literal {
	if l.Kind == List && len(l.List) > 0 {
		return l.List
	}
	return []Literal{l}
}

// Publishable reports what keeps a valid roster's exposed values from being shown exactly:
// agents are shown bounded values only, so a range must be clipped, the other kinds of
// normalization have no bounds, and a bool or a reference has no scale, whatever its scope.
func Publishable(r *Roster) diag.List {
	var list diag.List
	for i := range r.Declarations {
		d := &r.Declarations[i]
		if len(d.ExposedTo) == 0 || d.Normalization == nil {
			continue
		}
		c := checker{d: d, list: &list}
		n := d.Normalization
		if !slices.Contains(publishedKinds, n.Kind) {
			c.term("normalization", n.Kind, publishedKinds)
		}
		if clip := n.Param("clip"); clip != nil && !clip.Bool {
			c.fail("normalization", "what an agent is shown must be clipped to its range").Hint = "add clip"
		}
		if d.Scope == "item" && (d.Type == "bool" || slices.Contains(references, d.Type)) {
			c.fail("exposed_to", "a variable of the type %s cannot be exposed", d.Type)
		}
	}
	return list
}
