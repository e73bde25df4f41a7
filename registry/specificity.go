package registry

// specificity counts a selector by the taxa of its compounds. A compound without a type
// counts where it is tested: with the structure of the target's taxon, or, where the
// target has none, after every taxon.
func (r *Registry) specificity(parts []*Compound, taxon *Taxon) Specificity {
	s := Specificity{Triples: make([]Triple, len(r.taxa)+1)}
	named := make([]bool, len(r.taxa))
	for _, c := range parts {
		slot := len(r.taxa)
		if c.Type != nil {
			slot = c.Type.Taxon.Index
			named[slot] = true
		} else if taxon != nil {
			slot = taxon.Index
		}
		s.Triples[slot].add(c.count())
	}
	for _, n := range named {
		if n {
			s.Axes++
		}
	}
	return s
}

// count counts a compound as CSS does: :not, :is and :has as their most specific
// argument, :where as nothing.
func (c *Compound) count() Triple {
	var t Triple
	if c.Type != nil {
		t.add(Triple{0, 0, 1})
	}
	for _, test := range c.Tests {
		switch test.Kind {
		case TestID:
			t.add(Triple{1, 0, 0})
		case TestClass, TestAttr, TestGlob, TestPseudo:
			t.add(Triple{0, 1, 0})
		case TestIs, TestNot, TestHas:
			if !test.Bare {
				t.add(mostSpecific(test.Selectors))
			}
		}
	}
	return t
}

func mostSpecific(selectors []*Selector) Triple {
	var best Triple
	for _, sel := range selectors {
		sum := sel.Target.count()
		for _, link := range sel.Structure {
			sum.add(link.Compound.count())
		}
		if sum.above(best) {
			best = sum
		}
	}
	return best
}

func (t *Triple) add(u Triple) {
	for i := range t {
		t[i] += min(u[i], 0xffff-t[i]) // a count never wraps around
	}
}

func (t Triple) above(u Triple) bool {
	for i := range t {
		if t[i] != u[i] {
			return t[i] > u[i]
		}
	}
	return false
}
