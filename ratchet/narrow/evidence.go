package narrow

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"umwelt/ast"
	"umwelt/ratchet"
)

// The comments that a proposal writes. They have a form of their own, so that the next
// proposal puts its own in their place and leaves everybody else's alone.
var (
	evidenceComment = regexp.MustCompile(`^/\* observed: (never|[0-9][^\n]*) \*/$`)
	headComment     = regexp.MustCompile(`(?s)^/\* Proposed by umwelt ratchet .*\*/$`)
)

// ours reports whether a comment is one that a proposal wrote.
func ours(n ast.Node) bool {
	c, ok := n.(*ast.Comment)
	return ok && (evidenceComment.MatchString(c.Text) || headComment.MatchString(c.Text))
}

// withoutOurs takes the comments of earlier proposals out of a list of nodes.
func withoutOurs(items []ast.Node) []ast.Node {
	out := make([]ast.Node, 0, len(items))
	for _, n := range items {
		if ours(n) {
			continue
		}
		if b := ast.BlockOf(n); b != nil {
			b.Items = withoutOurs(b.Items)
		}
		out = append(out, n)
	}
	return out
}

// evidence is what speaks for one rule.
type evidence struct {
	total tally
	facts map[*tally]bool
}

func (e *evidence) add(t *tally) {
	if t == nil || e.facts[t] {
		return
	}
	if e.facts == nil {
		e.facts = map[*tally]bool{}
	}
	e.facts[t] = true
	e.total.merge(t)
}

func (e *evidence) runs() int {
	var all runSet
	for i := range e.total.runs {
		all.join(&e.total.runs[i])
	}
	return all.len()
}

// nouns are how comments and tables name what verbs were done.
var nouns = map[ratchet.Verb][2]string{
	ratchet.Read: {"read", "reads"}, ratchet.Write: {"write", "writes"}, ratchet.Create: {"creation", "creations"}, ratchet.Delete: {"removal", "removals"},
	ratchet.Rename: {"renaming", "renamings"}, ratchet.List: {"listing", "listings"}, ratchet.Stat: {"look", "looks"}, ratchet.Exec: {"run", "runs"},
	ratchet.Connect: {"connection", "connections"}, ratchet.Bind: {"binding", "bindings"}, ratchet.Call: {"call", "calls"}, ratchet.Env: {"use", "uses"},
	ratchet.Measure: {"measure", "measures"},
}

func counted(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// comment is the evidence as a comment, such as /* observed: 14 reads of 3 files in 2 runs */.
func (e *evidence) comment(what string) string {
	var parts []string
	for i, n := range e.total.verbs {
		if n > 0 {
			w := nouns[verbs[i]]
			parts = append(parts, counted(n, w[0], w[1]))
		}
	}
	if parts == nil {
		return "/* observed: never */"
	}
	text := strings.Join(parts, ", ")
	if n := len(e.facts); n > 1 || what == "file" || what == "dir" {
		many := what + "s"
		switch what {
		case "dir":
			what, many = "directory", "directories"
		case "network":
			what, many = "endpoint", "endpoints"
		case "env":
			what, many = "variable", "variables"
		case "exec":
			what, many = "program", "programs"
		}
		text += " of " + counted(int64(n), what, many)
	}
	return "/* observed: " + text + " in " + counted(int64(e.runs()), "run", "runs") + " */"
}

// rulesOf are the rules of a view in the order of its text.
func rulesOf(v *ast.View) []*ast.Rule {
	var out []*ast.Rule
	ast.Walk(v, func(n ast.Node) bool {
		if r, ok := n.(*ast.Rule); ok {
			out = append(out, r)
		}
		return true
	})
	return out
}

// declarationsOf are the declarations that stand in a block itself.
func declarationsOf(b *ast.Block) []*ast.Declaration {
	var out []*ast.Declaration
	if b != nil {
		for _, n := range b.Items {
			if d, ok := n.(*ast.Declaration); ok {
				out = append(out, d)
			}
		}
	}
	return out
}

// annotate puts a comment behind every rule and at-rule that has one.
func annotate(items []ast.Node, comment func(ast.Node) string) []ast.Node {
	out := make([]ast.Node, 0, len(items))
	for _, n := range items {
		if b := ast.BlockOf(n); b != nil {
			b.Items = annotate(b.Items, comment)
		}
		out = append(out, n)
		if text := comment(n); text != "" {
			out = append(out, &ast.Comment{Text: text, Trailing: true})
		}
	}
	return slices.Clip(out)
}
