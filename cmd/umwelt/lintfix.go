package main

import (
	"fmt"

	"umwelt"
	"umwelt/ast"
	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/lint"
	"umwelt/lint/all"
	"umwelt/parser"
	"umwelt/registry"
)

// mostTries bounds how many findings are mended one by one, where all of them together
// would not leave the policy as it is.
const mostTries = 200

// mend makes the edits that leave the policy saying the same, writes the views and gives
// what is left to find.
func (l *linter) mend(std *streams, paths []string, p *umwelt.Policy, in lint.Input, found []lint.Finding) ([]lint.Finding, error) {
	for _, path := range paths {
		if path == "-" {
			return nil, problem(diag.BadOption, "", "--fix changes files, and standard input is none")
		}
	}
	own := map[*diag.Source]string{}
	for i, v := range p.Views {
		own[v.Source] = paths[i]
	}
	var fixable []lint.Finding
	for _, x := range found {
		if x.Fix != nil && x.Silenced == "" && own[x.Fix[0].At.Source] != "" {
			fixable = append(fixable, x)
		}
	}
	m := mender{policy: p}
	best := m.try(fixable)
	if best == nil {
		var kept []lint.Finding
		for _, x := range fixable[:min(len(fixable), mostTries)] {
			if got := m.try(append(kept[:len(kept):len(kept)], x)); got != nil {
				kept, best = append(kept, x), got
			}
		}
		fixable = kept
	}
	if best == nil || len(fixable) == 0 {
		return found, nil
	}
	for src, text := range lint.Apply(fixable) {
		if err := std.write(own[src], text); err != nil {
			return nil, err
		}
	}
	std.render(diag.List{{Severity: diag.Note, Code: "lint", Message: fmt.Sprintf("mended %s", plural(len(fixable), "finding"))}})
	in.Views, in.Resolution = best.views, best.resolution
	return lint.Run(in, all.Detectors(), l.disabled...), nil
}

type mender struct{ policy *umwelt.Policy }

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
	for _, v := range p.Views {
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
