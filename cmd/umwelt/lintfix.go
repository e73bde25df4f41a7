package main

import (
	"os"
	"slices"

	"umwelt"
	"umwelt/ast"
	"umwelt/cascade"
	"umwelt/database"
	"umwelt/diag"
	"umwelt/lint"
	"umwelt/lint/all"
	"umwelt/parser"
	"umwelt/registry"
)

// mostTries bounds how many findings are mended one by one, where all of them together
// would not leave the policy as it is.
const mostTries = 200

// mostRounds bounds how often mending starts over, since one mend can show another.
const mostRounds = 20

// mend makes the edits that leave the policy saying the same, until there are none left,
// writes the views and gives what is left to find.
func (l *linter) mend(std *streams, paths []string, p *umwelt.Policy, in lint.Input, found []lint.Finding) ([]lint.Finding, error) {
	if err := fixableFiles(paths, p); err != nil {
		return nil, err
	}
	m := mender{policy: p, views: p.Views}
	total := 0
	for range mostRounds {
		n, best := m.round(found)
		if best == nil {
			break
		}
		total += n
		m.views = best.views
		in.Views, in.Resolution = best.views, best.resolution
		found = lint.Run(in, all.Detectors(), l.disabled...)
	}
	for i, v := range m.views {
		if v == p.Views[i] {
			continue
		}
		if err := std.rewrite(paths[i], v.Source.Text); err != nil {
			return nil, err
		}
	}
	if total > 0 {
		std.render(diag.List{{Severity: diag.Note, Code: "lint", Message: "mended " + plural(total, "finding")}})
	}
	return found, nil
}

// fixableFiles refuses what is no view in a file of its own: an edit of what is read twice
// would count twice.
func fixableFiles(paths []string, p *umwelt.Policy) error {
	var infos []os.FileInfo
	for _, path := range paths {
		if path == "-" {
			return problem(diag.BadOption, "", "--fix changes files, and standard input is none")
		}
		if database.Is(path) {
			return problem(diag.BadOption, "mend the views that it was saved from", "--fix changes views, and %s is a saved policy", diag.Quote(path))
		}
		info, err := os.Stat(path)
		if err != nil {
			return problem(diag.Unreadable, "", "%v", err)
		}
		if slices.ContainsFunc(infos, func(other os.FileInfo) bool { return os.SameFile(info, other) }) {
			return problem(diag.BadOption, "", "--fix cannot mend %s, which is read twice", diag.Quote(path))
		}
		infos = append(infos, info)
	}
	own := map[*diag.Source]bool{}
	for _, v := range p.Views {
		own[v.Source] = true
	}
	for _, r := range p.Bound.Rules {
		src := r.At.Source
		if src == nil || own[src] {
			continue
		}
		own[src] = true // imported: looked at once
		info, err := os.Stat(src.Name)
		if err == nil && slices.ContainsFunc(infos, func(other os.FileInfo) bool { return os.SameFile(info, other) }) {
			return problem(diag.BadOption, "", "--fix cannot mend %s, which is imported, too", diag.Quote(src.Name))
		}
	}
	return nil
}

type mender struct {
	policy *umwelt.Policy
	views  []*ast.View // as they are after the rounds so far
}

// round makes as many of the certain edits as leave the policy saying the same. n is how many
// findings they mend; the result is nil where there are none.
func (m mender) round(found []lint.Finding) (n int, best *mended) {
	own := map[*diag.Source]bool{}
	for _, v := range m.views {
		own[v.Source] = true
	}
	var fixable []lint.Finding
	for _, x := range found {
		if x.Fix != nil && x.Silenced == "" && own[x.Fix[0].At.Source] {
			fixable = append(fixable, x)
		}
	}
	if len(fixable) == 0 {
		return 0, nil
	}
	if best = m.try(fixable); best != nil {
		return len(fixable), best
	}
	var kept []lint.Finding
	for _, x := range fixable[:min(len(fixable), mostTries)] {
		if got := m.try(append(kept[:len(kept):len(kept)], x)); got != nil {
			kept, best = append(kept, x), got
		}
	}
	return len(kept), best
}

// mended is the policy after edits.
type mended struct {
	views      []*ast.View
	resolution *cascade.Resolution
}

// try makes edits, and is nil unless the policy then says the same, in this world and in
// any other.
func (m mender) try(found []lint.Finding) *mended {
	p := m.policy
	texts := lint.Apply(found)
	out := &mended{}
	for _, v := range m.views {
		if text, ok := texts[v.Source]; ok {
			changed, list := parser.Parse(&diag.Source{Name: v.Source.Name, Text: text})
			if list.HasErrors() {
				return nil
			}
			v = changed
		}
		out.views = append(out.views, v)
	}
	bound := p.Registry.Bind(registry.Options{Import: umwelt.Importer()}, out.views...)
	if bound.Diagnostics.HasErrors() || !lint.SamePolicy(p.Bound, bound) {
		return nil
	}
	var context []cascade.Ref
	for _, i := range p.Resolution.Context() {
		e := &p.World.Entities[i]
		context = append(context, cascade.Ref{Type: e.Type.Taxon.Name + "|" + e.Type.Name, ID: e.ID})
	}
	res, list := cascade.New(p.World, bound).Resolve(context)
	if list.HasErrors() || !lint.SameAnswers(p.Resolution, res) {
		return nil
	}
	out.resolution = res
	return out
}
