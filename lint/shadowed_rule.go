package lint

import (
	"fmt"
	"slices"
	"strings"

	"umwelt/ast"
	"umwelt/diag"
	"umwelt/registry"
)

const shadowedRule = "shadowed-rule"

// ShadowedRule finds declarations that never decide anything, since whenever they apply
// another one wins.
var ShadowedRule = Detector{
	Name: shadowedRule, Severity: diag.Warning,
	Summary: "A declaration decides nothing: wherever it applies, another one wins.",
	Find: func(f *Facts) []Finding {
		out := f.repeatedDeclarations()
		for _, s := range f.shadows() {
			if s.loses() != nil {
				continue // a shadowed restriction
			}
			l := s.lives[0]
			x := finding(diag.Warning, s.decl.At, "", "take it out, or make it more specific than what wins over it", related(l.by.candidate, "this wins instead")...)
			where := f.entities(l.by.example, l.fits)
			if l.by.candidate.Value.Equal(l.first.Value) {
				x.Message = fmt.Sprintf("%s decides nothing: what wins wherever it applies says the same (%s)", s.what(), where)
			} else {
				x.Message = fmt.Sprintf("%s decides nothing: another rule wins wherever it applies (%s)", s.what(), where)
			}
			x.Fix = f.withoutRule(s.rule, l.by.candidate.Rule)
			out = append(out, x)
		}
		return out
	},
}

// shadow is a declaration that never counts, for any property it speaks of.
type shadow struct {
	rule  *registry.Rule
	decl  *registry.Declaration
	lives []*living
}

// what is the declaration for a message.
func (s *shadow) what() string {
	return said(s.decl.Typed[0].Property, s.lives[0].first.Value)
}

// loses is what lets more through than the shadowed restriction, or nil.
func (s *shadow) loses() *living {
	for _, l := range s.lives {
		if l.loose.candidate != nil && restricts(propertyOf(l), l.first.Value) {
			return l
		}
	}
	return nil
}

func propertyOf(l *living) *registry.Property {
	for _, t := range l.first.Declaration.Typed {
		if t.Value == l.first.Value {
			return t.Property
		}
	}
	return l.first.Declaration.Typed[0].Property
}

// shadows are the declarations of single values that never count although they fit
// something, in order.
func (f *Facts) shadows() []shadow {
	var out []shadow
	seen := map[int]bool{}
	for _, rule := range f.Bound.Rules {
		for _, d := range rule.Declarations {
			if d.Locked || seen[d.Order] {
				continue
			}
			seen[d.Order] = true
			s := shadow{rule: rule, decl: d}
			for _, t := range d.Typed {
				l := f.lives[life{d.Order, t.Property}]
				if l == nil {
					continue
				}
				if !l.void || !single(t.Property) {
					s.lives = nil
					break
				}
				s.lives = append(s.lives, l)
			}
			if s.lives != nil {
				out = append(out, s)
			}
		}
	}
	return out
}

// withoutRule is the edit that takes out a whole rule which a later one with the very same
// selector repeats, in every world; nil where it is not that clear.
func (f *Facts) withoutRule(rule, by *registry.Rule) []Edit {
	a, okA := f.nodeAt(rule.At)
	b, okB := f.nodeAt(by.At)
	if !okA || !okB || a.text != b.text || rule.Selector.Text != by.Selector.Text || rule.Layer != by.Layer || by.Index < rule.Index {
		return nil
	}
	ra, okA := a.node.(*ast.Rule)
	rb, okB := b.node.(*ast.Rule)
	if !okA || !okB || !a.plain || !b.plain || len(ra.Selectors) != 1 || len(rb.Selectors) != 1 {
		return nil
	}
	for _, item := range ra.Block.Items {
		if _, ok := item.(*ast.Declaration); !ok {
			return nil
		}
	}
	for _, d := range rule.Declarations {
		repeated := slices.ContainsFunc(by.Declarations, func(o *registry.Declaration) bool {
			return o.Name == d.Name && o.Important == d.Important && o.Locked == d.Locked
		})
		if !repeated || d.Locked || slices.ContainsFunc(d.Typed, func(t registry.TypedValue) bool { return !single(t.Property) }) {
			return nil
		}
	}
	return []Edit{removal(ra.At)}
}

// repeatedDeclarations are declarations that the same block makes again.
func (f *Facts) repeatedDeclarations() []Finding {
	var out []Finding
	for _, text := range f.Texts {
		ast.Walk(text, func(n ast.Node) bool {
			if rule, ok := n.(*ast.Rule); ok {
				out = append(out, f.repeatedIn(rule)...)
			}
			return true
		})
	}
	return out
}

func (f *Facts) repeatedIn(rule *ast.Rule) []Finding {
	type key struct{ property, flag string }
	last := map[key]*ast.Declaration{}
	for _, n := range rule.Block.Items {
		if d, ok := n.(*ast.Declaration); ok {
			last[key{strings.ToLower(d.Property), d.Flag}] = d
		}
	}
	var out []Finding
	for _, n := range rule.Block.Items {
		d, ok := n.(*ast.Declaration)
		if !ok {
			continue
		}
		again := last[key{strings.ToLower(d.Property), d.Flag}]
		if again == d || f.repeatable(d.Property) {
			continue
		}
		x := finding(diag.Warning, d.At, d.Property+" is set again in the same block, so this decides nothing",
			"take one of the two out", diag.Related{Span: again.At, Message: "it is set again here"})
		x.Fix = []Edit{removal(d.At)}
		out = append(out, x)
	}
	return out
}

// repeatable reports whether some property of that name takes several values, or no
// property has the name.
func (f *Facts) repeatable(name string) bool {
	known := false
	for _, t := range f.Registry.Types() {
		if p := t.Property(name); p != nil {
			known = true
			if p.Repeatable {
				return true
			}
		}
	}
	return !known
}
