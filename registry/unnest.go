package registry

import (
	"umwelt/ast"
	"umwelt/diag"
)

// parentSelector is "&" as a selector.
func parentSelector(at diag.Span) *ast.Selector {
	return &ast.Selector{At: at, Compounds: []*ast.Compound{{At: at, Parent: true}}, Combinators: []ast.Combinator{ast.None}}
}

// unnest writes the selectors of a nested rule out in full: each stands once per parent,
// with "&" replaced by the parent, or after the parent where it has no "&".
func (b *binder) unnest(n *ast.Rule, parents []*ast.Selector) []*ast.Selector {
	if len(n.Selectors)*len(parents) > maxSelectors {
		b.Errorf(diag.TooLarge, n.At, "nesting unfolds to %d selectors; %d is the most", len(n.Selectors)*len(parents), maxSelectors)
		return nil
	}
	var out []*ast.Selector
	for _, sel := range n.Selectors {
		for _, parent := range parents {
			full, problem := nest(parent, sel)
			if problem != "" {
				b.Errorf(diag.BadSelector, sel.At, "%s", problem)
				continue
			}
			if len(full.Compounds) > maxSelectors {
				b.Errorf(diag.TooLarge, sel.At, "nesting unfolds to a selector of %d parts; %d is the most", len(full.Compounds), maxSelectors)
				continue
			}
			if b.unfolded += len(full.Compounds); b.unfolded > maxUnfolded {
				b.tooLarge(sel.At, "nesting unfolds to more than %d compound selectors in all", maxUnfolded)
				return nil
			}
			out = append(out, full)
		}
	}
	return out
}

// nest is one nested selector below one parent.
func nest(parent, sel *ast.Selector) (*ast.Selector, string) {
	out := &ast.Selector{At: sel.At}
	used := false
	for i, c := range sel.Compounds {
		comb := sel.Combinators[i]
		inner, innerUsed, problem := nestArguments(parent, c)
		if problem != "" {
			return nil, problem
		}
		used = used || innerUsed
		if !c.Parent {
			out.Compounds = append(out.Compounds, inner)
			out.Combinators = append(out.Combinators, comb)
			continue
		}
		used = true
		merged := *parent.Compounds[len(parent.Compounds)-1]
		if c.Type != "" {
			if merged.Type != "" {
				return nil, "& and a type cannot stand together where the parent has a type"
			}
			merged.Taxon, merged.Type, merged.TypeAt = c.Taxon, c.Type, c.TypeAt
		}
		merged.Simples = append(append([]ast.Simple{}, merged.Simples...), inner.Simples...)
		for k, pc := range parent.Compounds {
			pcomb := parent.Combinators[k]
			if k == 0 && i > 0 {
				pcomb = comb
			}
			if k == len(parent.Compounds)-1 {
				pc = &merged
			}
			out.Compounds = append(out.Compounds, pc)
			out.Combinators = append(out.Combinators, pcomb)
		}
	}
	if used {
		return out, ""
	}
	if out.Combinators[0] == ast.None {
		out.Combinators[0] = ast.Descendant
	}
	out.Compounds = append(append([]*ast.Compound{}, parent.Compounds...), out.Compounds...)
	out.Combinators = append(append([]ast.Combinator{}, parent.Combinators...), out.Combinators...)
	return out, ""
}

// nestArguments replaces "&" inside the selector arguments of a compound's
// pseudo-classes, where only a parent of one compound can stand.
func nestArguments(parent *ast.Selector, c *ast.Compound) (*ast.Compound, bool, string) {
	used := false
	out := *c
	out.Simples = append([]ast.Simple{}, c.Simples...)
	for i, s := range out.Simples {
		replaced := make([]*ast.Selector, len(s.Selectors))
		for k, sel := range s.Selectors {
			replaced[k] = sel
			if !mentionsParent(sel) {
				continue
			}
			used = true
			if len(parent.Compounds) != 1 {
				return nil, false, "& inside a pseudo-class needs a parent of one compound"
			}
			full, problem := nest(parent, sel)
			if problem != "" {
				return nil, false, problem
			}
			replaced[k] = full
		}
		if s.Selectors != nil {
			out.Simples[i].Selectors = replaced
		}
	}
	return &out, used, ""
}

func mentionsParent(sel *ast.Selector) bool {
	for _, c := range sel.Compounds {
		if c.Parent {
			return true
		}
		for _, s := range c.Simples {
			for _, inner := range s.Selectors {
				if mentionsParent(inner) {
					return true
				}
			}
		}
	}
	return false
}
