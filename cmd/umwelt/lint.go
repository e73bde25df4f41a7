package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"umwelt"
	compilers "umwelt/compilers/all"
	"umwelt/database"
	"umwelt/diag"
	"umwelt/lint"
	"umwelt/lint/all"
)

func lintCommand(std *streams) *cobra.Command {
	var l linter
	c := &cobra.Command{
		Use:   "lint VIEW…",
		Short: "Find what is likely to be a mistake in views that are right by the grammar",
		Long: `Lint resolves the views and reports smells: rules that never count, answers that hang on
an accident of order, grants that go further than they seem to. docs/lint has a page on
each. A comment silences one of them on one rule, before the rule or on its line:

  /* lint-ignore NAME: reason */

With --baseline, a policy as --target sqlite or --target json wrote it, answers that changed
since then are findings too. With --fix, what can be mended for certain is mended in place; nothing is
written unless the policy says the same before and after. Findings of at least --severity
exit with 1. JSON has the schema umwelt.lint/1; SARIF is of version 2.1.0.`,
		Example:           "  umwelt lint auth-fix.umw\n  umwelt lint policies/*.umw --severity warning --disable important-use\n  umwelt lint auth-fix.umw --baseline approved.db --format sarif -o lint.sarif",
		ValidArgsFunction: completeViews,
	}
	check := formatFlag(c, &l.format, "text", "json", "sarif")
	severities := []string{"note", "warning", "error"}
	c.Flags().StringVar(&l.severity, "severity", "note", "the least `severity` that is reported: note, warning or error")
	c.Flags().StringArrayVar(&l.disabled, "disable", nil, "leave out the detector of this `name` (repeatable)")
	c.Flags().StringVar(&l.baseline, "baseline", "", "`file` with an earlier policy to compare with: a database, or the JSON of the answers")
	c.Flags().StringArrayVarP(&l.targets, "target", "t", nil, "the target of this `name` is what the policy is for (repeatable; default: all)")
	c.Flags().BoolVar(&l.list, "list", false, "list the detectors")
	c.Flags().BoolVar(&l.fix, "fix", false, "mend what can be mended for certain")
	must(c.RegisterFlagCompletionFunc("severity", cobra.FixedCompletions(severities, cobra.ShellCompDirectiveNoFileComp)))
	must(c.RegisterFlagCompletionFunc("disable", cobra.FixedCompletions(detectorNames(), cobra.ShellCompDirectiveNoFileComp)))
	must(c.RegisterFlagCompletionFunc("target", completeTargets))
	l.flags.add(c)
	outputFlag(c, &l.output)
	c.Args = func(c *cobra.Command, given []string) error {
		if l.list {
			return args(0, 0, "no views with --list")(c, given)
		}
		return args(1, -1, "at least one view")(c, given)
	}
	c.RunE = func(_ *cobra.Command, views []string) error {
		if err := check(); err != nil {
			return err
		}
		if err := oneOf("severity", l.severity, severities...); err != nil {
			return err
		}
		if l.list {
			return l.writeList(std)
		}
		return l.run(std, views)
	}
	return c
}

// linter is one run of the command.
type linter struct {
	flags                              policyFlags
	format, output, severity, baseline string
	disabled, targets                  []string
	list, fix                          bool
}

func (l *linter) run(std *streams, views []string) error {
	if err := l.names(); err != nil {
		return err
	}
	p, err := l.flags.load(std, views)
	if err != nil {
		return err
	}
	in, err := l.input(std, p)
	if err != nil {
		return err
	}
	std.doing("looking for smells")
	found := lint.Run(in, all.Detectors(), l.disabled...)
	std.stopProgress()
	if l.fix {
		if found, err = l.mend(std, views, p, in, found); err != nil {
			return err
		}
	}
	found = l.severe(found)
	if l.format == "text" {
		std.render(p.Diagnostics)
	}
	if err := l.write(std, p, found); err != nil {
		return err
	}
	if countFindings(found).open() > 0 {
		return findingsError{}
	}
	return nil
}

// names refuses detectors that do not exist.
func (l *linter) names() error {
	var faults diag.List
	for _, name := range l.disabled {
		if err := oneOf("disable", name, detectorNames()...); err != nil {
			faults = append(faults, problemsOf(err)...)
		}
	}
	if faults != nil {
		return &problemsError{faults}
	}
	return nil
}

func detectorNames() []string {
	var out []string
	for _, d := range all.Detectors() {
		out = append(out, d.Name)
	}
	return out
}

// input is what the detectors look at.
func (l *linter) input(std *streams, p *umwelt.Policy) (lint.Input, error) {
	in := lint.Input{Views: p.Views, Resolution: p.Resolution}
	for _, t := range compilers.Compilers() {
		in.Targets = append(in.Targets, lint.Target{Name: t.Info.Name, Altitude: t.Info.Altitude})
	}
	if len(l.targets) > 0 {
		in.Targets = nil
	}
	for _, name := range l.targets {
		t, err := target(name)
		if err != nil {
			return in, err
		}
		in.Targets = append(in.Targets, lint.Target{Name: t.Info.Name, Altitude: t.Info.Altitude})
	}
	if l.baseline == "" {
		return in, nil
	}
	if database.Is(l.baseline) {
		context, err := parseContext(l.flags.context)
		if err != nil {
			return in, err
		}
		saved := umwelt.Open(l.baseline, context...)
		if saved.Diagnostics.HasErrors() {
			return in, &problemsError{saved.Diagnostics}
		}
		in.Baseline, err = saved.Baseline(diag.Escape(l.baseline))
		return in, err
	}
	src, err := umwelt.ReadSource(l.baseline, std.in)
	if err != nil {
		return in, problem(diag.Unreadable, "", "the baseline: %v", err)
	}
	in.Baseline, err = lint.ReadBaseline(diag.Escape(l.baseline), src.Text)
	if err != nil {
		return in, problem(diag.Unreadable, "umwelt compile VIEW --target sqlite -o "+diag.Escape(l.baseline)+" writes one", "%s is no baseline: %v", diag.Quote(l.baseline), err)
	}
	return in, nil
}

// severe leaves out what is milder than asked for.
func (l *linter) severe(found []lint.Finding) []lint.Finding {
	least := map[string]diag.Severity{"note": diag.Note, "warning": diag.Warning, "error": diag.Error}[l.severity]
	out := []lint.Finding{}
	for _, x := range found {
		if x.Severity >= least {
			out = append(out, x)
		}
	}
	return out
}

func (l *linter) write(std *streams, p *umwelt.Policy, found []lint.Finding) error {
	switch l.format {
	case "json":
		return std.writeJSON(l.output, lintDocumentOf(p, found))
	case "sarif":
		return std.writeJSON(l.output, lint.ToSARIF(found, all.Detectors(), buildInfo().Version))
	}
	var b bytes.Buffer
	colour := std.outColour && (l.output == "" || l.output == "-")
	for _, x := range found {
		if x.Silenced != "" {
			continue
		}
		if err := diag.Render(&b, x.Diagnostic, colour); err != nil {
			return err
		}
	}
	if n := countFindings(found); n.open() > 0 {
		b.WriteString(n.String() + "\n")
	}
	return std.write(l.output, b.Bytes())
}

// lintCounts are how many findings there are of each severity that nothing silences, and
// how many are silenced.
type lintCounts struct {
	Errors   int `json:"error"`
	Warnings int `json:"warning"`
	Notes    int `json:"note"`
	Silenced int `json:"silenced"`
}

func countFindings(found []lint.Finding) lintCounts {
	var n lintCounts
	for _, x := range found {
		switch {
		case x.Silenced != "":
			n.Silenced++
		case x.Severity == diag.Error:
			n.Errors++
		case x.Severity == diag.Warning:
			n.Warnings++
		default:
			n.Notes++
		}
	}
	return n
}

func (n lintCounts) open() int { return n.Errors + n.Warnings + n.Notes }

func (n lintCounts) String() string {
	var parts []string
	for _, x := range []struct {
		n    int
		what string
	}{{n.Errors, "error"}, {n.Warnings, "warning"}, {n.Notes, "note"}} {
		if x.n > 0 {
			parts = append(parts, plural(x.n, x.what))
		}
	}
	if n.Silenced > 0 {
		parts = append(parts, fmt.Sprintf("%d silenced", n.Silenced))
	}
	return strings.Join(parts, ", ")
}
