package registry

import "slices"

// Equal reports whether two values of one type say the same. Either may be nil.
func (v *Value) Equal(w *Value) bool {
	if v == nil || w == nil {
		return v == w
	}
	return v.Text == w.Text && slices.Equal(v.List, w.List)
}

// Tighter is the more restrictive of two values of p by its restrictive direction; for
// sets, the intersection (subset) or union (superset). Without a direction it is b.
func (p *Property) Tighter(a, b *Value) *Value {
	switch p.Restrictive {
	case Subset:
		return NewList(p.Type.Shape, intersect(a.List, b.List))
	case Superset:
		return NewList(p.Type.Shape, union(a.List, b.List))
	}
	if p.AsTight(a, b) && p.Restrictive != NoDirection {
		return a
	}
	return b
}

// AsTight reports whether a is at least as restrictive as b. Without a direction only
// equal values are.
func (p *Property) AsTight(a, b *Value) bool {
	switch p.Restrictive {
	case False:
		return !a.Bool() || b.Bool()
	case True:
		return a.Bool() || !b.Bool()
	case Min:
		return a.Num <= b.Num
	case Max:
		return a.Num >= b.Num
	case Subset:
		return contains(b.List, a.List)
	case Superset:
		return contains(a.List, b.List)
	}
	return a.Equal(b)
}

// RestrictiveBool is the restrictive value of a boolean property with a direction.
func (p *Property) RestrictiveBool() *Value {
	if p.Restrictive == True {
		return &Value{Text: "true", Num: 1}
	}
	return &Value{Text: "false"}
}

// PermissiveBool is the opposite of RestrictiveBool.
func (p *Property) PermissiveBool() *Value {
	if p.Restrictive == True {
		return &Value{Text: "false"}
	}
	return &Value{Text: "true", Num: 1}
}

func intersect(a, b []string) []string {
	var out []string
	for _, x := range a {
		if slices.Contains(b, x) {
			out = append(out, x)
		}
	}
	return out
}

func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, x := range b {
		if !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out
}

// contains reports whether every member of part is in whole.
func contains(whole, part []string) bool {
	for _, x := range part {
		if !slices.Contains(whole, x) {
			return false
		}
	}
	return true
}
