package ast

// Walk calls fn for every node of the view in the order of the text, a block's items
// after the node that holds them. Where fn returns false the node's block is left out.
func Walk(v *View, fn func(Node) bool) { walkItems(v.Statements, fn) }

func walkItems(items []Node, fn func(Node) bool) {
	for _, n := range items {
		if !fn(n) {
			continue
		}
		if b := BlockOf(n); b != nil {
			walkItems(b.Items, fn)
		}
	}
}

// BlockOf is the block of a rule or at-rule; nil for every other node.
func BlockOf(n Node) *Block {
	switch n := n.(type) {
	case *Rule:
		return n.Block
	case *AtRule:
		return n.Block
	}
	return nil
}

// WalkSelectors calls fn for every selector of the list and every selector among the
// arguments of their pseudo-classes, outer ones first.
func WalkSelectors(list []*Selector, fn func(*Selector)) {
	for _, s := range list {
		fn(s)
		for _, c := range s.Compounds {
			for i := range c.Simples {
				WalkSelectors(c.Simples[i].Selectors, fn)
			}
		}
	}
}
