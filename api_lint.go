package umwelt

import (
	"slices"
	"strings"

	compilers "umwelt/compilers/all"
	"umwelt/diag"
	"umwelt/lint"
	"umwelt/lint/all"
)

// LintOptions steer Lint. The zero value looks for everything that needs no baseline.
type LintOptions struct {
	Targets  []string       // what the policy is to be compiled for; nil is every target
	Disabled []string       // names of detectors to leave out
	Baseline *lint.Baseline // an earlier answer to compare with, see Policy.Baseline; nil for none
}

// Lint is what is likely to be a mistake in the views, by file and place. The Code of a
// finding is the name of its detector. Findings that a comment in a view leaves be are among
// them, with the comment's reason in Silenced.
func (p *Policy) Lint(o LintOptions) ([]lint.Finding, error) {
	if err := p.usable(); err != nil {
		return nil, err
	}
	in := lint.Input{Views: p.Views, Resolution: p.Resolution.Complete(), Baseline: o.Baseline}
	for _, c := range compilers.Compilers() {
		if o.Targets == nil || slices.Contains(o.Targets, c.Info.Name) {
			in.Targets = append(in.Targets, lint.Target{Name: c.Info.Name, Altitude: c.Info.Altitude})
		}
	}
	detectors := all.Detectors()
	var names []string
	for _, d := range detectors {
		names = append(names, d.Name)
	}
	for _, name := range o.Disabled {
		if !slices.Contains(names, name) {
			return nil, question(diag.BadOption, diag.DidYouMean(name, names), "there is no detector %s", diag.Quote(name))
		}
	}
	for _, name := range o.Targets {
		if !slices.Contains(Targets(), name) {
			return nil, question(diag.UnknownTarget, "one of "+strings.Join(Targets(), ", "), "there is no target %s", diag.Quote(name))
		}
	}
	return lint.Run(in, detectors, o.Disabled...), nil
}

// Baseline is what the policy says now, for Lint to compare a later policy with. name is
// what findings call it. It is the same whether it is made of a policy or of its database.
func (p *Policy) Baseline(name string) (*lint.Baseline, error) {
	c, err := p.Compile("json", nil)
	if err != nil {
		return nil, err
	}
	return lint.ReadBaseline(name, c.Text)
}
