package narrow

import (
	"strings"
	"unicode/utf8"

	"umwelt/ast"
	"umwelt/cascade"
	"umwelt/registry"
	"umwelt/world"
)

// glob is the glob of a rung that is written as one, "" for the others.
func (r *rung) globText() string {
	in := ""
	if r.dir != "" {
		in = globEscape(r.dir) + "/"
	}
	switch r.step {
	case Pattern:
		return in + r.glob
	case Directory:
		return in + "*"
	case Suffix:
		if r.deep {
			in += "**/"
		}
		return in + "*" + globEscape(r.tail)
	}
	return ""
}

// matcher is whether a path is one that the rung fits.
func (r *rung) matcher() func(string) bool {
	switch r.step {
	case Exact:
		return func(p string) bool { return p == r.path }
	case Subtree, Entries:
		return func(p string) bool {
			if !below(p, r.dir) {
				return false
			}
			for _, x := range r.except {
				if p == x || strings.HasSuffix(x, "/") && strings.HasPrefix(p, x) {
					return false
				}
			}
			return true
		}
	}
	g := world.CompileGlob(r.globText())
	return g.Match
}

// holdsAll is whether the rung fits every new name in a directory.
func (r *rung) holdsAll(dir string) bool {
	if r.step != Subtree && r.step != Entries || dir != r.dir && !below(dir, r.dir) {
		return false
	}
	for _, x := range r.except {
		if strings.HasSuffix(x, "/") && strings.HasPrefix(dir+"/", x) {
			return false
		}
	}
	return true
}

// tests are the simple selectors of a rung.
func (r *rung) tests() []ast.Simple {
	switch r.step {
	case Exact:
		return []ast.Simple{attrTest("path", "=", r.path)}
	case Subtree, Entries:
		var out []ast.Simple
		if r.dir != "" {
			out = append(out, attrTest("path", "^=", r.dir+"/"))
		}
		if len(r.except) == 0 {
			return out
		}
		not := ast.Simple{Kind: ast.Pseudo, Name: "not", HasArg: true}
		for _, x := range r.except {
			op := "="
			if strings.HasSuffix(x, "/") {
				op = "^="
			}
			not.Selectors = append(not.Selectors, chain(&ast.Compound{Simples: []ast.Simple{attrTest("path", op, x)}}))
		}
		return append(out, not)
	}
	return []ast.Simple{{Kind: ast.Pseudo, Name: "glob", HasArg: true, Arg: r.globText()}}
}

// sayable reports whether a view can hold the rung: its text is UTF-8, and its glob means
// what it is meant to.
func (r *rung) sayable() bool {
	for _, s := range append([]string{r.dir, r.tail, r.path, r.glob}, r.except...) {
		if !utf8.ValidString(s) || strings.ContainsAny(s, "\x00") {
			return false
		}
	}
	if g := r.globText(); g != "" {
		return len(world.CompileGlob(g).Alternatives) > 0
	}
	return true
}

func attrTest(name, op, value string) ast.Simple {
	return ast.Simple{Kind: ast.Attribute, Name: name, Op: op, Value: value}
}

// chain is a selector of compounds that stand in one another.
func chain(compounds ...*ast.Compound) *ast.Selector {
	s := &ast.Selector{Compounds: compounds, Combinators: make([]ast.Combinator, len(compounds))}
	for i := 1; i < len(compounds); i++ {
		s.Combinators[i] = ast.Descendant
	}
	return s
}

// qualified is a selector for a target in the wanted context. What is named of the target's
// own taxon would be read as a place to lie in, and is left out.
func qualified(reg *registry.Registry, context []cascade.Ref, t *registry.EntityType, tests []ast.Simple) *ast.Selector {
	var out []*ast.Compound
	for _, ref := range context {
		taxon, name, twice := strings.Cut(ref.Type, "|")
		if !twice {
			taxon, name = "", ref.Type
		}
		for _, u := range reg.TypesNamed(name) {
			if (taxon == "" || reg.Taxon(taxon) == u.Taxon) && u.Taxon != t.Taxon {
				id := ast.Simple{Kind: ast.ID, Name: ref.ID, Quoted: !u.Dotted && strings.Contains(ref.ID, ".") || !plainName(ref.ID)}
				out = append(out, &ast.Compound{Taxon: taxon, Type: u.Name, Simples: []ast.Simple{id}})
				break
			}
		}
	}
	c := &ast.Compound{Type: t.Name, Simples: tests}
	if len(reg.TypesNamed(t.Name)) > 1 {
		c.Taxon = t.Taxon.Name
	}
	return chain(append(out, c)...)
}

func plainName(id string) bool {
	for i := 0; i < len(id); i++ {
		if !wordByte(id[i]) && id[i] != '-' && id[i] != '_' {
			return false
		}
	}
	return id != "" && !(id[0] >= '0' && id[0] <= '9')
}
