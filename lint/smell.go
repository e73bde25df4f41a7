package lint

import (
	"umwelt/cascade"
	"umwelt/registry"
)

// smell says which kind of smell a duel is; "" for none. It is decided here and nowhere
// else, so that no duel is reported twice.
func (f *Facts) smell(d *duel) string {
	switch d.why {
	case cascade.NotImportant, cascade.WeakerLayer:
		if d.loosens() && !f.exception(d) {
			return permissiveOverride
		}
		return ""
	case cascade.Earlier:
		return f.orderSmell(d)
	case cascade.LowerSpecificity:
	default:
		return ""
	}
	if f.exception(d) {
		return ""
	}
	w, l := d.winner.Rule.Selector.Specificity, d.loser.Rule.Selector.Specificity
	own := d.property.Entity.Taxon.Index
	switch {
	case w.Axes > l.Axes && above(triple(l, own), triple(w, own)):
		return crossAxisDominance
	case w.Axes == l.Axes && triple(w, own) == triple(l, own) && !sameAxes(w, l):
		return crossAxisTie
	case w.Axes == l.Axes && sameAxes(w, l) && distance(w, l) == 1:
		return narrowWin
	case d.loosens():
		return permissiveOverride
	}
	return ""
}

func (f *Facts) orderSmell(d *duel) string {
	w, l := d.winner.Rule, d.loser.Rule
	switch {
	case w.Selector.Text == l.Selector.Text && w.At.Source == l.At.Source:
		return "" // the same selector twice: the earlier rule is shadowed
	case w.At.Source != l.At.Source, f.exception(d):
		return sourceOrderDependence
	}
	return specificityTie
}

func triple(s registry.Specificity, i int) registry.Triple {
	if i < len(s.Triples) {
		return s.Triples[i]
	}
	return registry.Triple{}
}

func above(a, b registry.Triple) bool {
	for i := range a {
		if a[i] != b[i] {
			return a[i] > b[i]
		}
	}
	return false
}

// sameAxes reports whether two keys count in the same taxa.
func sameAxes(a, b registry.Specificity) bool {
	for i := range max(len(a.Triples), len(b.Triples)) {
		if (triple(a, i) == registry.Triple{}) != (triple(b, i) == registry.Triple{}) {
			return false
		}
	}
	return true
}

// distance is by how many ids, classes and types two keys differ in all.
func distance(a, b registry.Specificity) int {
	n := 0
	for i := range max(len(a.Triples), len(b.Triples)) {
		x, y := triple(a, i), triple(b, i)
		for k := range x {
			n += max(int(x[k]), int(y[k])) - min(int(x[k]), int(y[k]))
		}
	}
	return n
}
