package lint

import (
	"umwelt/ast"
	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/registry"
)

const importantUse = "important-use"

// ImportantUse finds every !important.
var ImportantUse = Detector{
	Name: importantUse, Severity: diag.Note,
	Summary: "A declaration is !important: it wins over every layer and specificity, and can only be answered by another one.",
	Find: func(f *Facts) []Finding {
		var out []Finding
		seen := map[int]bool{}
		candidates := f.candidates()
		budget := mostCompared
		for _, rule := range f.Bound.Rules {
			for _, d := range rule.Declarations {
				if !d.Important || seen[d.Order] {
					continue
				}
				seen[d.Order] = true
				x := finding(diag.Note, d.At, d.Name+" is !important, so specificity and layers say nothing about it",
					"win by a layer or a narrower selector; to keep others from loosening it, use !locked in an early layer")
				if idleImportance(d, candidates, &budget) {
					x.Message = d.Name + " is !important, which changes nothing"
					x.Hint = "take the !important off"
					x.Fix = f.withoutImportance(d)
				}
				out = append(out, x)
			}
		}
		return out
	},
}

// candidates are the declarations of the view by property.
func (f *Facts) candidates() map[*registry.Property][]*cascade.Candidate {
	out := map[*registry.Property][]*cascade.Candidate{}
	for _, rule := range f.Bound.Rules {
		for _, d := range rule.Declarations {
			for _, t := range d.Typed {
				out[t.Property] = append(out[t.Property], &cascade.Candidate{Rule: rule, Declaration: d, Value: t.Value})
			}
		}
	}
	return out
}

// mostCompared bounds how many pairs of declarations are compared to find importance that
// changes nothing. Beyond it, importance is taken to change something.
const mostCompared = 4 << 20

// idleImportance reports whether a declaration would stand where it does among all others
// about its properties without being important, whatever the world is.
func idleImportance(d *registry.Declaration, all map[*registry.Property][]*cascade.Candidate, budget *int) bool {
	plain := *d
	plain.Important = false
	for _, t := range d.Typed {
		list := all[t.Property]
		for _, c := range list {
			if c.Declaration.Order != d.Order {
				continue
			}
			if *budget -= len(list); *budget < 0 {
				return false
			}
			without := &cascade.Candidate{Rule: c.Rule, Declaration: &plain, Value: c.Value}
			for _, o := range list {
				if o.Declaration.Order == d.Order {
					continue
				}
				before, _ := cascade.Ahead(c, o)
				after, _ := cascade.Ahead(without, o)
				if before != after {
					return false
				}
			}
		}
	}
	return true
}

// withoutImportance is the edit that takes a flag off.
func (f *Facts) withoutImportance(d *registry.Declaration) []Edit {
	x, ok := f.nodeAt(d.At)
	if !ok || !x.plain {
		return nil
	}
	decl, ok := x.node.(*ast.Declaration)
	if _, inRule := x.parent.(*ast.Rule); !ok || !inRule || !decl.FlagAt.IsValid() {
		return nil
	}
	return []Edit{{At: diag.Span{Source: decl.At.Source, Start: decl.ValueAt.End, End: decl.FlagAt.End}}}
}
