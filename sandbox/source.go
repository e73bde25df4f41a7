package sandbox

import (
	"strings"

	"umwelt/ast"
	"umwelt/diag"
	"umwelt/registry"
)

// nodeClasses are the class words that stand for a kind of definition inside a file.
var nodeClasses = map[string]string{"fn": "function", "function": "function", "class": "class", "method": "method"}

// rewriteSource writes @source("path") and @source(name="n", path="p") out: the rules
// inside it speak of the files below the path, and of definitions in them.
func rewriteSource(at *ast.AtRule, out *registry.SugarOutput) {
	arg, problem := sourceArgument(at)
	if problem != "" {
		out.Diagnostics.Errorf(diag.Syntax, at.Prelude.At, "@source %s", problem).Hint = `write @source("src") { … } or @source(name="auth", path="src/auth") { … }`
		return
	}
	if arg.name != "" {
		out.Entities = append(out.Entities, registry.Entity{
			Type: "source", ID: arg.name, Attributes: map[string]string{"name": arg.name, "root": arg.path}, At: at.At,
		})
	}
	var loose []ast.Node
	for _, n := range at.Block.Items {
		switch n := n.(type) {
		case *ast.Declaration:
			loose = append(loose, n)
		case *ast.Rule:
			r := *n
			r.Selectors = nil
			for _, sel := range n.Selectors {
				placed := arg.place(sel)
				if placed == nil {
					out.Diagnostics.Errorf(diag.BadSelector, sel.At, "%s is not about the files of a source", ast.FormatSelector(sel))
				}
				r.Selectors = append(r.Selectors, placed...)
			}
			out.Nodes = append(out.Nodes, &r)
		case *ast.AtRule:
			out.Diagnostics.Errorf(diag.BadSelector, n.At, "@%s cannot stand inside @source, whose path it would not follow", n.Name).Hint =
				"write it outside, with the whole path"
		default:
			out.Nodes = append(out.Nodes, n)
		}
	}
	if loose != nil {
		r := rule(at.At, nil, loose...)
		r.Selectors = arg.place(chain(at.NameAt, compound(at.NameAt, "*")))
		out.Nodes = append(out.Nodes, r)
	}
}

// argument is what @source was given.
type argument struct {
	name string // of a named source
	path string // without "./" and a final "/"; "" for the whole project
	dir  bool   // written with a final "/"
}

func sourceArgument(at *ast.AtRule) (a argument, problem string) {
	if at.Block == nil {
		return a, "needs a block"
	}
	if len(at.Prelude.Values) != 1 {
		return a, "needs one path"
	}
	v := at.Prelude.Values[0]
	if v.Kind == ast.Function && v.Text == "" {
		path := -1
		for i, arg := range v.Args {
			switch {
			case arg.Key == "name":
				a.name = text(arg)
			case (arg.Key == "path" || arg.Key == "") && path < 0:
				path = i
			default:
				return a, "takes a path and a name"
			}
		}
		if path < 0 {
			return a, "needs a path"
		}
		v = v.Args[path]
	}
	a.dir = strings.HasSuffix(text(v), "/")
	for _, part := range strings.Split(text(v), "/") {
		if part != "" && part != "." {
			a.path += "/" + part
		}
	}
	a.path = strings.TrimPrefix(a.path, "/")
	switch {
	case text(v) == "":
		return a, "has an empty path"
	case strings.HasPrefix(text(v), "/"):
		return a, "takes a path below the project root, not an absolute one"
	case a.name != "" && isGlob(a.path):
		return a, "with a name takes a directory, not a glob"
	}
	for _, part := range strings.Split(a.path, "/") {
		if part == ".." {
			return a, "has a .. in its path"
		}
	}
	return a, ""
}

// isGlob reports whether a path is a pattern. Brackets alone make none: "project[1]" is
// more often a directory's name than a choice of one letter.
func isGlob(path string) bool { return strings.ContainsAny(path, "*?{") }

// place puts a selector of the block below the source: its last compound that is about
// files ("*" is every file) is narrowed to the source's; ".fn#name" alone is a definition
// in one. It is nil where no compound is about files.
func (a argument) place(sel *ast.Selector) []*ast.Selector {
	last := len(sel.Compounds) - 1
	if c := *sel.Compounds[last]; c.Type == "" || c.Type == "*" {
		if node, ok := definition(c); ok {
			return a.narrowed(sel, last, compound(c.At, "file"), node)
		}
	}
	for i := last; i >= 0; i-- {
		c := *sel.Compounds[i]
		switch strings.ToLower(c.Type) {
		case "", "*":
			c.Type, c.TypeAt = "file", c.At
		case "file", "dir":
		case "node":
			if i == 0 {
				return a.narrowed(sel, 0, compound(c.At, "file"), &c)
			}
			continue
		default:
			return nil
		}
		return a.narrowed(sel, i, &c)
	}
	return nil
}

// narrowed is sel with its compound i replaced by with, of which the first is narrowed to
// the source's files.
func (a argument) narrowed(sel *ast.Selector, i int, with ...*ast.Compound) []*ast.Selector {
	var out []*ast.Selector
	for _, f := range a.files(with[0]) {
		for _, c := range with[1:] {
			f.Compounds = append(f.Compounds, c)
			f.Combinators = append(f.Combinators, ast.Descendant)
		}
		n := &ast.Selector{At: sel.At}
		n.Compounds = append(append(append(n.Compounds, sel.Compounds[:i]...), f.Compounds...), sel.Compounds[i+1:]...)
		n.Combinators = append(n.Combinators, sel.Combinators[:i+1]...)
		n.Combinators = append(append(n.Combinators, f.Combinators[1:]...), sel.Combinators[i+1:]...)
		out = append(out, n)
	}
	return out
}

// files narrows a compound to the source's files: one selector for what lies below its
// path, and one for a file that the path itself names.
func (a argument) files(c *ast.Compound) []*ast.Selector {
	narrowed := func(test ast.Simple) *ast.Selector {
		n := *c
		n.Simples = append([]ast.Simple{test}, c.Simples...)
		return chain(c.At, &n)
	}
	switch {
	case a.name != "":
		return []*ast.Selector{chain(c.At, compound(c.At, "source", attr(c.At, "name", "=", a.name)), c)}
	case a.path == "":
		return []*ast.Selector{chain(c.At, c)}
	case isGlob(a.path):
		glob := a.path
		if a.dir {
			glob += "/**"
		}
		return []*ast.Selector{narrowed(ast.Simple{At: c.At, Kind: ast.Pseudo, Name: "glob", HasArg: true, Arg: glob})}
	}
	below := narrowed(attr(c.At, "path", "^=", a.path+"/"))
	if a.dir {
		return []*ast.Selector{below}
	}
	return []*ast.Selector{below, narrowed(attr(c.At, "path", "=", a.path))}
}

// definition is the node compound that ".fn#name" stands for.
func definition(c ast.Compound) (*ast.Compound, bool) {
	node := compound(c.At, "node")
	found := false
	for _, s := range c.Simples {
		kind := nodeClasses[s.Name]
		switch {
		case s.Kind == ast.Class && kind != "" && !found:
			found = true
			node.Simples = append(node.Simples, attr(s.At, "kind", "=", kind))
		case s.Kind == ast.ID:
			node.Simples = append(node.Simples, attr(s.At, "name", "=", s.Name))
		default:
			node.Simples = append(node.Simples, s)
		}
	}
	return node, found
}
