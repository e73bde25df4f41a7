package narrow

import (
	"slices"
	"strings"

	"umwelt/ast"
)

// What decides whether names may come and go in a directory, whether one appears by what
// lies in it, and whether an endpoint is open, is told by the engine and not by candidates
// in an order. So what a declaration is needed for there is found by leaving it out.

// maxPruned bounds how many declarations are tried so. Each costs a resolution.
const maxPruned = 64

// fewUnits is how long a view may be so that each of its declarations is tried.
const fewUnits = 24

// prune leaves one declaration out that nothing needs, and gives the text without it; nil
// where there is none.
func (p *proposer) prune() []byte {
	for k, u := range p.doubtful {
		if k == maxPruned {
			p.report.note("there are so many declarations about directories and endpoints that not each was tried for being needed")
			return nil
		}
		if text := p.without1(u); text != nil {
			p.report.Removed = append(p.report.Removed, Unused{Text: u.text, At: u.place, Why: "other rules give all of it that was needed"})
			return text
		}
	}
	return nil
}

// without1 is the current view without a unit, nil where something needs it.
func (p *proposer) without1(u *unit) []byte {
	base, err := p.base()
	if err != nil {
		return nil
	}
	decl, _, _ := strings.Cut(u.at, "@")
	base.Statements = leaveOut(base.Statements, decl)
	text, err := printed(base)
	if err != nil {
		return nil
	}
	v, err := parse(base.Source.Name, text)
	if err != nil {
		return nil
	}
	b, err := p.in.bind(v)
	if err != nil {
		return nil
	}
	t, err := p.in.resolve(v, b, p.current.world, p.current.known)
	if err != nil || slices.ContainsFunc(p.reqs, func(r *requirement) bool { return !t.meets(r).ok }) || p.noWider(t, p.current) != nil {
		return nil
	}
	return text
}

// leaveOut takes one declaration away, and what holds nothing more then.
func leaveOut(items []ast.Node, decl string) []ast.Node {
	var out []ast.Node
	for _, n := range items {
		if d, ok := n.(*ast.Declaration); ok && placeOf(d.At) == decl {
			continue
		}
		if b := ast.BlockOf(n); b != nil {
			had := len(b.Items)
			b.Items = leaveOut(b.Items, decl)
			if len(b.Items) < had && !slices.ContainsFunc(b.Items, func(x ast.Node) bool { _, note := x.(*ast.Comment); return !note }) {
				continue
			}
		}
		out = append(out, n)
	}
	return out
}

// doubt lists the units whose need only the engine can tell: each alone in its declaration.
func (n *narrower) doubt() {
	of := map[string]int{}
	for _, u := range n.units {
		decl, _, _ := strings.Cut(u.at, "@")
		of[decl]++
	}
	doubtful := map[*unit]bool{}
	for _, r := range n.reqs {
		if r.kind == seeDir || r.kind == newNames || r.kind == reach {
			for _, u := range n.c.judge(r).by {
				doubtful[u] = true
			}
		}
	}
	// Of a short view everything is tried.
	all := len(n.units) <= fewUnits
	n.doubtful = nil
	for _, u := range n.units {
		decl, _, _ := strings.Cut(u.at, "@")
		if (all || doubtful[u]) && of[decl] == 1 && u.kind == granting && u.state == alive && u.stuck == "" {
			n.doubtful = append(n.doubtful, u)
		}
	}
}
