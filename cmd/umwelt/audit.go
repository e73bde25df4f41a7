package main

import (
	"bytes"
	"slices"

	"github.com/spf13/cobra"

	"umwelt"
	"umwelt/compilers"
	"umwelt/diag"
	"umwelt/lint"
	detectors "umwelt/lint/all"
	"umwelt/policydiff"
)

// auditFlags are the flags of audit alone.
type auditFlags struct {
	policyFlags
	format, output string
	baseline       []string
	targets        []string
	limit          int
}

func auditCommand(std *streams) *cobra.Command {
	var f auditFlags
	c := &cobra.Command{
		Use:   "audit VIEW…",
		Short: "Write one report of everything: world, answers with proofs, findings, coverage",
		Long: `Audit writes one report of a policy for somebody who has to approve it: what exists and
where it came from, every answer with its proof, what lint finds, how far each target
carries each rule, and digests of everything that was read. With --baseline it says which
answers differ from those of an earlier policy, given as views or as the database that it
was saved as, and which of them are widenings.

HTML is one file that holds no script and loads nothing. Entities that no rule and no
property can tell apart share one proof. The same inputs give the same bytes. JSON has the
schema umwelt.audit/1.

Exit status 1 says that the policy may give more than the baseline.`,
		Example: `  umwelt audit auth-fix.umw --format html -o audit.html
  umwelt audit auth-fix.umw --baseline approved.umw --format json
  umwelt audit auth-fix.umw --baseline approved.db`,
		Args:              args(1, -1, "at least one view"),
		ValidArgsFunction: completeViews,
	}
	check := formatFlag(c, &f.format, "text", "json", "html")
	c.Flags().StringArrayVar(&f.baseline, "baseline", nil, "a `view` of the earlier policy (repeatable), or the database that it was saved as")
	c.Flags().StringArrayVarP(&f.targets, "target", "t", nil, "only the coverage of the target of this `name` (repeatable)")
	c.Flags().IntVar(&f.limit, "limit", 200, "how many entities to name in one place of text and HTML; 0 for all")
	must(c.RegisterFlagCompletionFunc("baseline", completeViews))
	must(c.RegisterFlagCompletionFunc("target", completeTargets))
	f.add(c)
	outputFlag(c, &f.output)
	c.RunE = func(_ *cobra.Command, views []string) error {
		if err := check(); err != nil {
			return err
		}
		if f.limit < 0 {
			return problem(diag.BadOption, "", "--limit takes a number from 0, not %d", f.limit)
		}
		if len(f.baseline) > 0 && slices.Contains(append(slices.Concat(views, f.baseline, f.vocabularies), f.world), "-") {
			return problem(diag.BadOption, "", "with --baseline everything is read twice, so nothing can be standard input")
		}
		return f.run(std, views)
	}
	return c
}

func (f *auditFlags) run(std *streams, views []string) error {
	chosen, err := checkTargets(f.targets, "")
	if err != nil {
		return err
	}
	p, err := f.load(std, views)
	if err != nil {
		return err
	}
	doc, err := f.document(std, p, views, chosen)
	if err != nil {
		return err
	}
	switch f.format {
	case "json":
		err = std.writeJSON(f.output, doc)
	case "html":
		var b bytes.Buffer
		if err = doc.html(&b, f.limit); err == nil {
			err = std.write(f.output, b.Bytes())
		}
	default:
		std.render(p.Diagnostics)
		err = std.write(f.output, []byte(doc.text(f.limit)))
	}
	if err == nil && doc.Baseline != nil && (doc.Baseline.Widens || doc.Baseline.Left > 0) {
		return findingsError{"the policy may give more than the baseline"}
	}
	return err
}

// document is the whole report.
func (f *auditFlags) document(std *streams, p *umwelt.Policy, views []string, chosen []compilers.Compiler) (*auditDocument, error) {
	std.doing("proving every answer")
	doc := newAudit(p)
	std.doing("looking for smells")
	in := lint.Input{Views: p.Views, Resolution: p.Resolution}
	for _, t := range chosen {
		in.Targets = append(in.Targets, lint.Target{Name: t.Info.Name, Altitude: t.Info.Altitude})
	}
	doc.Lint = lintDocumentOf(p, lint.Run(in, detectors.Detectors())).Findings
	std.doing("compiling for the targets")
	columns, list := coverAll(p, chosen, false)
	doc.Coverage = auditCoverageOf(p, columns, list)
	if len(f.baseline) == 0 {
		std.stopProgress()
		return doc, nil
	}
	pair, err := f.loadPair(std, f.baseline, views)
	if err != nil {
		return nil, err
	}
	std.doing("comparing with the baseline")
	context, err := parseContext(f.context)
	if err != nil {
		return nil, err
	}
	result, found := policydiff.Compare(pair.pairs, pair.options(context, 0))
	std.stopProgress()
	if err := f.judge(found); err != nil {
		return nil, err
	}
	if result.Equivalence.Verdict != policydiff.Equivalent {
		result.Left += pair.left
	}
	diff := viewsDocument(pair, result)
	doc.Baseline = &diff
	return doc, nil
}

// auditCoverageOf is the coverage of every target that the policy concerns, with what is
// said of it.
func auditCoverageOf(p *umwelt.Policy, columns []column, list diag.List) auditCoverage {
	check := checkDocumentOf(p, columns, list)
	out := auditCoverage{Targets: []auditTarget{}, Rules: check.Rules}
	for _, c := range columns {
		t := auditTarget{Target: c.Target, Refused: c.refused, Summary: utf8Text(c.Summary()), Counts: map[string]int{}, Dropped: len(c.DroppedRestrictions())}
		for l := compilers.Dropped; l <= compilers.Enforced; l++ {
			t.Counts[l.String()] = 0
		}
		for _, r := range c.Rules {
			for _, d := range r.Declarations {
				t.Counts[d.Level.String()]++
			}
		}
		out.Targets = append(out.Targets, t)
	}
	out.Diagnostics = check.Diagnostics[len(p.Diagnostics):]
	return out
}
