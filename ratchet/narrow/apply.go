package narrow

import (
	"slices"
	"strings"

	"umwelt/ast"
)

// editor applies what was decided of units to the tree that they were read from.
type editor struct {
	n     *narrower
	byAt  map[string]*unit   // by declaration and selector
	byDec map[string][]*unit // by declaration
	meta  map[*ast.Rule]draft
}

// apply is the view with every decision carried out.
func (n *narrower) apply() (*ast.View, map[*ast.Rule]draft) {
	e := &editor{n: n, byAt: map[string]*unit{}, byDec: map[string][]*unit{}, meta: map[*ast.Rule]draft{}}
	for _, u := range n.units {
		e.byAt[u.at] = u
		decl, _, _ := strings.Cut(u.at, "@")
		e.byDec[decl] = append(e.byDec[decl], u)
	}
	v := &ast.View{Source: n.t.view.Source}
	v.Statements = e.container(n.t.view.Statements)
	for i, d := range n.added() {
		d.rule.BlankBefore = i == 0
		e.meta[d.rule] = d
		v.Statements = append(v.Statements, d.rule)
	}
	return v, e.meta
}

// container edits the statements of a view or of a layer. What replaces parts of one stands
// behind it, or in its place where nothing is left of it.
func (e *editor) container(items []ast.Node) []ast.Node {
	var out []ast.Node
	for i, n := range items {
		if a, ok := n.(*ast.AtRule); ok && a.Block != nil && !e.n.sugar(a) {
			a.Block.Items = e.container(a.Block.Items)
			out = append(out, a)
			continue
		}
		var instead []draft
		before := blankBefore(n)
		kept := e.node(n, &instead)
		if len(kept) == 0 && len(instead) == 0 {
			out = e.withoutNotes(out, items, i)
			continue
		}
		if len(kept) > 0 {
			setBlank(kept[0], before)
			before = false
		}
		out = append(out, kept...)
		for _, d := range instead {
			d.rule.BlankBefore, before = before, false
			e.meta[d.rule] = d
			out = append(out, d.rule)
		}
	}
	return out
}

// withoutNotes takes away the comments that belong to a statement that is gone: those on
// the lines right above it, unless the next statement stands right below and may share them.
func (e *editor) withoutNotes(out, items []ast.Node, i int) []ast.Node {
	if i+1 < len(items) {
		switch next := items[i+1].(type) {
		case *ast.Comment:
			if next.Trailing {
				// It spoke of what is gone.
				next.Text, next.Trailing = "", false
			}
		default:
			if !blankBefore(next) {
				if blankBefore(items[i]) {
					setBlank(next, true)
				}
				return out
			}
		}
	}
	if blankBefore(items[i]) {
		return out
	}
	for len(out) > 0 {
		c, ok := out[len(out)-1].(*ast.Comment)
		if !ok || c.Trailing {
			break
		}
		out = out[:len(out)-1]
		if c.BlankBefore {
			break
		}
	}
	return out
}

// node edits one statement. What replaces parts of it is added to instead.
func (e *editor) node(n ast.Node, instead *[]draft) []ast.Node {
	switch n := n.(type) {
	case *ast.Comment:
		if n.Text == "" {
			return nil
		}
	case *ast.Rule:
		return e.rule(n, instead)
	case *ast.AtRule:
		if n.Block == nil {
			break
		}
		had := len(n.Block.Items)
		n.Block.Items = e.sugar(n.Block.Items, instead)
		if had > 0 && !slices.ContainsFunc(n.Block.Items, func(x ast.Node) bool { _, note := x.(*ast.Comment); return !note }) {
			return nil
		}
	}
	return []ast.Node{n}
}

// sugar edits the block of an at-rule that stands for rules.
func (e *editor) sugar(items []ast.Node, instead *[]draft) []ast.Node {
	var out []ast.Node
	for _, n := range items {
		d, ok := n.(*ast.Declaration)
		if !ok {
			out = append(out, e.node(n, instead)...)
			continue
		}
		units := e.byDec[placeOf(d.At)]
		e.collect(units, instead)
		if e.shrink(d, units) || e.values(d) {
			out = append(out, d)
		}
	}
	return out
}

// shrink writes a lower bound or fewer patterns. It reports whether the declaration is
// settled by that, or stands as it was since nothing of it goes.
func (e *editor) shrink(d *ast.Declaration, units []*unit) bool {
	if len(units) == 0 {
		return true
	}
	if raw := agreed(units); raw != "" {
		d.Raw, d.Values = raw, nil
	}
	return !slices.ContainsFunc(units, func(u *unit) bool { return u.state != alive })
}

// agreed is what stands for the value of a declaration by all the units that are left of it,
// "" where one of them leaves it or takes another.
func agreed(units []*unit) string {
	raw, first := "", true
	for _, u := range units {
		if u.state != alive {
			continue
		}
		if !first && u.raw != raw {
			return ""
		}
		raw, first = u.raw, false
	}
	return raw
}

// values leaves out the values of a list whose units are gone, such as names of tools. It
// reports whether anything is left.
func (e *editor) values(d *ast.Declaration) bool {
	var kept []ast.Value
	for _, v := range d.Values {
		u := e.byAt[placeOf(d.At)+"@"+placeOf(v.At)]
		if u == nil || u.state == alive {
			kept = append(kept, v)
		}
	}
	if len(kept) == len(d.Values) {
		// Its units are not one a value: the whole declaration is one thing.
		return false
	}
	texts := make([]string, len(kept))
	for i, v := range kept {
		texts[i] = v.Raw
	}
	d.Values, d.Raw = kept, strings.Join(texts, ", ")
	return len(kept) > 0
}

// collect adds what replaces units, once.
func (e *editor) collect(units []*unit, instead *[]draft) {
	for _, u := range units {
		*instead = append(*instead, u.instead...)
		u.instead = nil
	}
}

// left is what is left of a declaration for one selector of its rule.
type left struct {
	stands bool
	raw    string // what stands for its value, "" where that stays
}

func (e *editor) left(s *ast.Selector, d *ast.Declaration) left {
	if u := e.byAt[placeOf(d.At)+"@"+placeOf(s.At)]; u != nil {
		return left{u.state == alive, u.raw}
	}
	all := e.byDec[placeOf(d.At)]
	return left{len(all) == 0 || slices.ContainsFunc(all, func(u *unit) bool { return u.state == alive }), agreed(all)}
}

// rule edits a rule. Selectors of which the same is left stay together.
func (e *editor) rule(r *ast.Rule, instead *[]draft) []ast.Node {
	decls := declarationsOf(r.Block)
	type variant struct {
		of        []left // by declaration
		selectors []*ast.Selector
	}
	var variants []variant
	for _, s := range r.Selectors {
		var of []left
		for _, d := range decls {
			l := e.left(s, d)
			if !l.stands {
				l.raw = ""
			}
			of = append(of, l)
		}
		i := slices.IndexFunc(variants, func(v variant) bool { return slices.Equal(v.of, of) })
		if i < 0 {
			variants = append(variants, variant{of: of})
			i = len(variants) - 1
		}
		variants[i].selectors = append(variants[i].selectors, s)
	}
	for _, d := range decls {
		e.collect(e.byDec[placeOf(d.At)], instead)
	}
	var out []ast.Node
	for _, v := range variants {
		if len(variants) == 1 && !nests(r.Block) && !slices.ContainsFunc(v.of, func(l left) bool { return !l.stands }) {
			for i, l := range v.of {
				if l.raw != "" {
					decls[i].Raw, decls[i].Values = l.raw, nil
				}
			}
			return []ast.Node{r}
		}
		copied := *r
		copied.Selectors = v.selectors
		block := *r.Block
		copied.Block = &block
		block.Items = nil
		k := 0
		for _, item := range r.Block.Items {
			if d, ok := item.(*ast.Declaration); ok {
				l := v.of[k]
				if k++; !l.stands {
					continue
				}
				if l.raw != "" {
					lower := *d
					lower.Raw, lower.Values = l.raw, nil
					item = &lower
				}
			} else if ast.BlockOf(item) != nil {
				block.Items = append(block.Items, e.node(item, instead)...)
				continue
			}
			block.Items = append(block.Items, item)
		}
		if slices.ContainsFunc(block.Items, func(x ast.Node) bool { _, note := x.(*ast.Comment); return !note }) || len(r.Block.Items) == 0 {
			if len(out) > 0 {
				copied.BlankBefore = false
			}
			out = append(out, &copied)
		}
	}
	return out
}

func blankBefore(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.Comment:
		return n.BlankBefore
	case *ast.Rule:
		return n.BlankBefore
	case *ast.AtRule:
		return n.BlankBefore
	}
	return false
}

func setBlank(n ast.Node, blank bool) {
	switch n := n.(type) {
	case *ast.Comment:
		n.BlankBefore = blank
	case *ast.Rule:
		n.BlankBefore = blank
	case *ast.AtRule:
		n.BlankBefore = blank
	}
}
