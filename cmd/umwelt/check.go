package main

import (
	"slices"

	"github.com/spf13/cobra"

	"umwelt"
	"umwelt/compilers"
	"umwelt/compilers/all"
	"umwelt/diag"
	"umwelt/registry"
)

func checkCommand(std *streams) *cobra.Command {
	var format, output, require string
	var targets []string
	var flags policyFlags
	c := &cobra.Command{
		Use:   "check VIEW…",
		Short: "Find faults in views, and show what each target can carry of them",
		Long: `Check reads and types the views, resolves them and shows for every rule how far each
target carries it: enforced, partial, requested or dropped. A "!" marks a restriction that
is dropped. With one --target the reasons stand beside it. Targets that no rule concerns
are left out unless they are named.

Warnings are listed and exit with 0, with --strict they exit with 2, as errors do. With
--require enforced, a restriction that a named target drops exits with 1. JSON has the
schema umwelt.check/1, and is written for unusable views too, with their diagnostics.`,
		Example:           "  umwelt check auth-fix.umw\n  umwelt check auth-fix.umw --target bwrap --require enforced\n  umwelt check policies/*.umw --strict --format json",
		Args:              args(1, -1, "at least one view"),
		ValidArgsFunction: completeViews,
	}
	check := formatFlag(c, &format, "text", "json")
	c.Flags().StringArrayVarP(&targets, "target", "t", nil, "only the target of this `name` (repeatable)")
	c.Flags().StringVar(&require, "require", "", "`level` that every restriction must reach with the named targets: enforced")
	must(c.RegisterFlagCompletionFunc("target", completeTargets))
	must(c.RegisterFlagCompletionFunc("require", cobra.FixedCompletions([]string{"enforced"}, cobra.ShellCompDirectiveNoFileComp)))
	flags.add(c)
	outputFlag(c, &output)
	c.RunE = func(_ *cobra.Command, views []string) error {
		if err := check(); err != nil {
			return err
		}
		chosen, err := checkTargets(targets, require)
		if err != nil {
			return err
		}
		p, err := flags.load(std, views)
		if err != nil {
			return checkFailed(std, output, format, err)
		}
		std.doing("compiling for every target")
		columns, list := coverAll(p, chosen, len(targets) > 0)
		if err := flags.judge(list); err != nil {
			return checkFailed(std, output, format, err)
		}
		if format == "json" {
			err = std.writeJSON(output, checkDocumentOf(p, columns, list))
		} else {
			std.render(list)
			err = std.write(output, checkText(p, columns))
		}
		if err != nil || require == "" {
			return err
		}
		return requireAll(columns)
	}
	return c
}

// checkFailed is unusable input. In JSON the document is written all the same, with nothing
// but the diagnostics, since finding them is what check is for.
func checkFailed(std *streams, output, format string, err error) error {
	if list := problemsOf(err); format == "json" && list != nil {
		doc := checkDocument{Schema: checkSchema, Targets: []string{}, Rules: []checkRule{}, Diagnostics: diagnostics(list)}
		if err := std.writeJSON(output, doc); err != nil {
			return err
		}
	}
	return err
}

func checkTargets(names []string, require string) ([]compilers.Compiler, error) {
	if require != "" {
		if err := oneOf("require", require, "enforced"); err != nil {
			return nil, err
		}
		if len(names) == 0 {
			return nil, problem(diag.BadOption, "name it with --target", "--require asks what a target enforces")
		}
	}
	if len(names) == 0 {
		return all.Compilers(), nil
	}
	var out []compilers.Compiler
	var faults diag.List
	for _, name := range names {
		t, err := target(name)
		if err != nil {
			faults = append(faults, problemsOf(err)...)
			continue
		}
		out = append(out, t)
	}
	if faults != nil {
		return nil, &problemsError{faults}
	}
	return out, nil
}

// column is one target's coverage. Refused says that the target cannot write the policy at
// all.
type column struct {
	compilers.Coverage
	refused bool
	of      map[*registry.Rule]*compilers.RuleCoverage
}

func newColumn(c compilers.Coverage, refused bool) column {
	out := column{c, refused, make(map[*registry.Rule]*compilers.RuleCoverage, len(c.Rules))}
	for i := range c.Rules {
		out.of[c.Rules[i].Rule] = &c.Rules[i]
	}
	return out
}

// coverAll compiles for every target. Where the targets were named, what one refuses is an
// error; else it is a warning, since the view may be meant for another.
func coverAll(p *umwelt.Policy, targets []compilers.Compiler, named bool) ([]column, diag.List) {
	list := slices.Clone(p.Diagnostics)
	type fault struct {
		at      diag.Span
		message string
	}
	said := map[fault]bool{}
	var columns []column
	version := buildInfo().Version
	for _, t := range targets {
		best := compilers.Cover(t.Info, p.Resolution, nil)
		if !best.Carries() && !named {
			continue
		}
		out := t.Compile(compilers.Input{Resolution: p.Resolution, Set: map[string]string{}, Version: version, Unwritten: true})
		for _, d := range out.Diagnostics {
			d.Message = t.Info.Name + ": " + d.Message
			if d.Severity == diag.Error && !named {
				d.Severity = diag.Warning
			}
			if key := (fault{d.Span, d.Message}); !said[key] {
				said[key] = true
				list = append(list, d)
			}
		}
		columns = append(columns, newColumn(compilers.Cover(t.Info, p.Resolution, out.Notes), out.Diagnostics.HasErrors()))
	}
	return columns, list
}

func requireAll(columns []column) error {
	var text string
	for _, c := range columns {
		if f, ok := allEnforced(c.Coverage, "").(findingsError); ok {
			if text != "" {
				text += "\n"
			}
			text += f.text
		}
	}
	if text == "" {
		return nil
	}
	return findingsError{text}
}
