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
	in := membership(b)
	var out []string
	for _, x := range a {
		if in(x) {
			out = append(out, x)
		}
	}
	return out
}

func union(a, b []string) []string {
	in := make(map[string]bool, len(a)+len(b))
	for _, x := range a {
		in[x] = true
	}
	out := slices.Clone(a)
	for _, x := range b {
		if !in[x] {
			in[x] = true
			out = append(out, x)
		}
	}
	return out
}

// contains reports whether every member of part is in whole.
func contains(whole, part []string) bool {
	in := membership(whole)
	for _, x := range part {
		if !in(x) {
			return false
		}
	}
	return true
}

// membership tests for the members of a list; a long one is indexed.
func membership(list []string) func(string) bool {
	const few = 16
	if len(list) <= few {
		return func(x string) bool { return slices.Contains(list, x) }
	}
	in := make(map[string]bool, len(list))
	for _, x := range list {
		in[x] = true
	}
	return func(x string) bool { return in[x] }
}

// Restricts reports whether a declaration takes something away: a value on the
// restrictive side, any bound, any pattern that calls are measured against.
func (d *Declaration) Restricts() bool {
	return slices.ContainsFunc(d.Typed, func(t TypedValue) bool {
		switch t.Property.Restrictive {
		case False, True:
			return t.Value.Equal(t.Property.RestrictiveBool())
		case Superset:
			return len(t.Value.List) > 0
		}
		return t.Property.Restrictive != NoDirection
	})
}
