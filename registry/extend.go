package registry

import (
	"slices"
	"strings"

	"umwelt/ast"
	"umwelt/diag"
)

// Extension is further views, bound as if they followed those of a Bound.
type Extension struct {
	Of *Bound // what was extended
	// Base is Of or, where a new layer comes before one of its own,
	// a copy with its rules in the new places of their layers.
	Base        *Bound
	Rules       []*Rule  // the new ones alone; their indices and orders go on from Base
	Layers      []string // of both
	Entities    []Entity // declared by sugar in the new views
	Diagnostics diag.List

	lastOrder int
}

// Extend binds further views, in time that depends on them and on the number of layers;
// only where a new layer comes before an old one, on b's rules too. Where Diagnostics
// holds an error, nothing of the result is to be used. It is one to add to the vocabulary.
func (b *Bound) Extend(o Options, views ...*ast.View) *Extension {
	root, layers := layerTree(b.Layers)
	x := &binder{reg: b.Registry, root: root, closed: true, order: b.highestOrder()}
	x.options = o
	for _, v := range views {
		x.statements(v.Statements, scope{layer: root, stack: []string{v.Source.Name}})
	}
	out := &Extension{Of: b, Base: b, Entities: x.entities}
	root.number(&out.Layers)
	out.Rules = x.place(len(b.Rules))
	if len(b.Rules)+len(out.Rules) > maxRules {
		x.Errorf(diag.TooLarge, diag.Span{}, "more than %d rules", maxRules)
	}
	for i, n := range layers {
		if n.index != i {
			out.Base = b.moveLayers(layers, out.Layers)
			break
		}
	}
	out.Diagnostics, out.lastOrder = x.diagnostics(), x.order
	return out
}

// Bound is both as one.
func (x *Extension) Bound() *Bound {
	return &Bound{
		Registry: x.Base.Registry, Layers: x.Layers,
		Rules:       slices.Concat(x.Base.Rules, x.Rules),
		Entities:    slices.Concat(x.Base.Entities, x.Entities),
		Diagnostics: slices.Concat(x.Base.Diagnostics, x.Diagnostics),
		lastOrder:   x.lastOrder,
	}
}

// moveLayers is a copy of b in which layers[i] tells where layer i has gone.
func (b *Bound) moveLayers(layers []*layerNode, names []string) *Bound {
	out := *b
	out.Layers = names
	out.Rules = make([]*Rule, len(b.Rules))
	for i, r := range b.Rules {
		moved := *r
		if r.Layer != Unlayered {
			moved.Layer = layers[r.Layer].index
		}
		out.Rules[i] = &moved
	}
	return &out
}

// highestOrder is the highest order of a declaration.
func (b *Bound) highestOrder() int {
	last := b.lastOrder
	if last == 0 {
		for _, r := range b.Rules {
			for _, d := range r.Declarations {
				last = max(last, d.Order)
			}
		}
	}
	return last
}

// layerTree makes the tree of which names are the layers in order, and lists its nodes in
// that order. A layer comes after those in it, so that they are read from the end.
func layerTree(names []string) (root *layerNode, nodes []*layerNode) {
	root = &layerNode{}
	nodes = make([]*layerNode, len(names))
	latest := map[string]*layerNode{}
	for i := len(names) - 1; i >= 0; i-- {
		n := &layerNode{name: names[i], index: i}
		above := root
		if cut := strings.LastIndexByte(n.name, '.'); cut >= 0 && latest[n.name[:cut]] != nil {
			above = latest[n.name[:cut]]
		}
		above.children = append(above.children, n)
		nodes[i], latest[n.name] = n, n
	}
	slices.Reverse(root.children)
	for _, n := range nodes {
		slices.Reverse(n.children)
	}
	return root, nodes
}
