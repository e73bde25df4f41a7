package registry

import (
	"slices"
	"strings"

	"umwelt/ast"
	"umwelt/diag"
)

// Bounds on what one view may unfold to. They keep hostile text from costing more than
// its own length many times over.
const (
	maxImportDepth = 32
	maxImports     = 1000
	maxSugarDepth  = 16
	maxSelectors   = 4096    // that one nested rule may unfold to
	maxRules       = 1 << 16 // in all
	maxLayers      = 1000    // in all, those within others included
	maxLayerDepth  = 32
	maxLocked      = 4096    // locked declarations, each of which binds every other
	maxDeclared    = 1 << 18 // values, counted once for each selector and entity type
	maxVocabulary  = 1 << 12 // at-rules that define a vocabulary, in all
	maxParts       = 1 << 20 // compounds and simple selectors that are bound, in all
	maxUnfolded    = 1 << 21 // compounds of nested selectors, in all
)

// expander follows imports. It is shared by Load, which reads vocabulary, and Bind,
// which reads rules.
type expander struct {
	diag.List
	options Options
	imports int
}

// open reads the file that an @import names, unless it would close a cycle. stack holds
// the names of the files that are open.
func (x *expander) open(at *ast.AtRule, stack []string) *ast.View {
	path, _, ok := importPrelude(at)
	switch {
	case !ok:
		x.Errorf(diag.Import, at.At, "@import needs a file name in quotes").Hint = `write @import "other.umw"; or @import "other.umw" layer(name);`
		return nil
	case at.Block != nil:
		x.Errorf(diag.Import, at.At, "@import takes no block")
		return nil
	case x.options.Import == nil:
		x.Errorf(diag.Import, at.At, "nothing can be imported here")
		return nil
	case len(stack) > maxImportDepth:
		x.Errorf(diag.Import, at.At, "imports are more than %d deep", maxImportDepth)
		return nil
	case x.imports >= maxImports:
		x.Errorf(diag.Import, at.At, "more than %d imports", maxImports)
		return nil
	}
	x.imports++
	v, list, err := x.options.Import(at.At.Source, path)
	if err != nil {
		x.Errorf(diag.Import, at.At, "%s cannot be imported: %v", diag.Quote(path), err)
		return nil
	}
	if slices.Contains(stack, v.Source.Name) {
		x.Errorf(diag.ImportCycle, at.At, "%s imports itself: %s", diag.Escape(v.Source.Name), diag.Escape(strings.Join(append(stack, v.Source.Name), " → ")))
		return nil
	}
	x.List = append(x.List, list...)
	return v
}

// importPrelude takes `"path" layer(name)` apart. layer is "" for none.
func importPrelude(at *ast.AtRule) (path, layer string, ok bool) {
	if len(at.Prelude.Values) != 1 {
		return "", "", false
	}
	v := at.Prelude.Values[0]
	if v.Kind == ast.String {
		return v.Text, "", v.Text != ""
	}
	// A string and a function together are one run of words: take it apart by its quotes.
	raw := strings.TrimSpace(v.Raw)
	if raw == "" || (raw[0] != '"' && raw[0] != '\'') {
		return "", "", false
	}
	end := strings.IndexByte(raw[1:], raw[0])
	if end < 0 || strings.Contains(raw[1:end+1], `\`) {
		return "", "", false
	}
	rest := strings.TrimSpace(raw[end+2:])
	if !strings.HasPrefix(strings.ToLower(rest), "layer(") || !strings.HasSuffix(rest, ")") {
		return "", "", false
	}
	layer = strings.TrimSpace(rest[len("layer(") : len(rest)-1])
	return raw[1 : end+1], layer, validLayer(layer) && end > 0
}

// validLayer reports whether name is a layer name: identifiers joined by dots.
func validLayer(name string) bool {
	for _, part := range strings.Split(name, ".") {
		if part == "" || strings.ContainsAny(part, " \t\n\"'(){};,@#[]:") {
			return false
		}
	}
	return true
}

// vocabulary collects the vocabulary at-rules of a view and of what it imports.
func (x *expander) vocabulary(v *ast.View, stack []string, out *[]*ast.AtRule) {
	for _, n := range v.Statements {
		at, ok := n.(*ast.AtRule)
		switch {
		case !ok:
		case strings.EqualFold(at.Name, "import"):
			if inner := x.open(at, stack); inner != nil {
				x.vocabulary(inner, append(slices.Clip(stack), inner.Source.Name), out)
			}
		case isVocabularyRule(at.Name):
			*out = append(*out, at)
		}
	}
}

// layerNode is one cascade layer. A layer's own rules come after those of its children.
type layerNode struct {
	name     string // full name; "" for the root
	children []*layerNode
	index    int
}

// child finds or makes the layer below n that a dotted name leads to. An empty name
// makes a layer that nothing else can name.
func (n *layerNode) child(name string) *layerNode {
	if name == "" {
		c := &layerNode{name: n.path("(anonymous)")}
		n.children = append(n.children, c)
		return c
	}
	first, rest, more := strings.Cut(name, ".")
	full := n.path(first)
	at := slices.IndexFunc(n.children, func(c *layerNode) bool { return c.name == full })
	if at < 0 {
		at = len(n.children)
		n.children = append(n.children, &layerNode{name: full})
	}
	if more {
		return n.children[at].child(rest)
	}
	return n.children[at]
}

// find is the layer below n that a dotted name leads to, or nil.
func (n *layerNode) find(name string) *layerNode {
	first, rest, more := strings.Cut(name, ".")
	full := n.path(first)
	at := slices.IndexFunc(n.children, func(c *layerNode) bool { return c.name == full })
	switch {
	case at < 0:
		return nil
	case more:
		return n.children[at].find(rest)
	}
	return n.children[at]
}

// count is how many layers lie below n.
func (n *layerNode) count() int {
	total := len(n.children)
	for _, c := range n.children {
		total += c.count()
	}
	return total
}

func (n *layerNode) path(part string) string {
	if n.name == "" {
		return part
	}
	return n.name + "." + part
}

// number gives every layer its place: children first, in order of appearance.
func (n *layerNode) number(names *[]string) {
	for _, c := range n.children {
		c.number(names)
		c.index = len(*names)
		*names = append(*names, c.name)
	}
}
