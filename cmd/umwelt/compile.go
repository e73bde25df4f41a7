package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"umwelt"
	"umwelt/compilers"
	"umwelt/compilers/all"
	"umwelt/diag"
)

// compileFlags are the flags of compile alone.
type compileFlags struct {
	policyFlags
	report          reportFlags
	target, require string
	output, format  string
	set             []string
	list            bool
}

func compileCommand(std *streams) *cobra.Command {
	var f compileFlags
	c := &cobra.Command{
		Use:   "compile VIEW… --target TARGET",
		Short: "Write what an enforcement tool reads",
		Long: `Compile resolves the views and writes them as the text that a target reads. What the
target cannot enforce is said in one line on standard error, and whole in the report that
--report writes. With --require enforced, a restriction that the target drops exits with 1
and writes nothing.

umwelt compile --list shows the targets, and with --target the options that --set takes.`,
		Example: `  umwelt compile auth-fix.umw --target nsjail -o auth-fix.cfg
  umwelt compile auth-fix.umw --target bwrap --set form=sh --require enforced
  umwelt compile village.umw --world village.world.yml --target vfs --report coverage.json
  umwelt compile --list`,
		ValidArgsFunction: completeViews,
	}
	flags := c.Flags()
	flags.StringVarP(&f.target, "target", "t", "", "`name` of the target")
	flags.StringArrayVar(&f.set, "set", nil, "an option of the target, as `key=value` (repeatable)")
	f.report.add(c, "the coverage report")
	flags.StringVar(&f.require, "require", "", "`level` that every restriction must reach: enforced")
	flags.BoolVar(&f.list, "list", false, "list the targets")
	check := formatFlag(c, &f.format, "text", "json")
	flags.Lookup("format").Usage = "`format` of --list: text, json"
	must(c.RegisterFlagCompletionFunc("target", completeTargets))
	must(c.RegisterFlagCompletionFunc("set", completeSet))
	must(c.RegisterFlagCompletionFunc("require", cobra.FixedCompletions([]string{"enforced"}, cobra.ShellCompDirectiveNoFileComp)))
	f.add(c)
	outputFlag(c, &f.output)
	c.RunE = func(c *cobra.Command, views []string) error {
		if err := check(); err != nil {
			return err
		}
		if f.list {
			return f.showTargets(std, views)
		}
		if err := args(1, -1, "at least one view")(c, views); err != nil {
			return err
		}
		return f.run(std, views)
	}
	return c
}

func (f *compileFlags) showTargets(std *streams, views []string) error {
	if len(views) > 0 {
		return problem(diag.BadOption, "", "--list takes no view, so %s is too many", diag.Quote(views[0]))
	}
	list := all.Compilers()
	if f.target != "" {
		t, err := target(f.target)
		if err != nil {
			return err
		}
		list = []compilers.Compiler{t}
	}
	if f.format == "json" {
		return std.writeJSON(f.output, targetsDocument(list))
	}
	return std.write(f.output, targetsText(list))
}

func (f *compileFlags) run(std *streams, views []string) error {
	// Everything about the arguments is checked, and said, before anything is read.
	t, err := target(f.target)
	faults := problemsOf(err)
	set := map[string]string{}
	if err == nil {
		set, err = parseSet(t.Info, f.set)
		faults = append(faults, problemsOf(err)...)
	}
	if f.require != "" {
		faults = append(faults, problemsOf(oneOf("require", f.require, "enforced"))...)
	}
	faults = append(faults, f.report.faults(f.output)...)
	if faults != nil {
		return &problemsError{faults}
	}
	p, err := f.load(std, views)
	if err != nil {
		return err
	}
	std.doing("compiling for " + t.Info.Name)
	out := t.Compile(p.Input(set, buildInfo().Version))
	return f.deliver(std, p, t, out)
}

// deliver reports what the target does not enforce, and writes the text unless that must
// not be.
func (f *compileFlags) deliver(std *streams, p *umwelt.Policy, t compilers.Compiler, out compilers.Output) error {
	list := slices.Concat(p.Diagnostics, out.Diagnostics)
	if err := f.judge(list); err != nil {
		return err
	}
	std.render(list)
	coverage := compilers.Cover(t.Info, p.Resolution, out.Notes)
	json := func() ([]byte, error) { return coverage.JSON(), nil }
	if err := f.report.write(std, func() []byte { return []byte(coverage.Text()) }, json); err != nil {
		return err
	}
	if f.require == "enforced" {
		if err := allEnforced(coverage, ", so nothing is written"); err != nil {
			return err
		}
	}
	if summary := coverage.Summary(); summary != "" {
		fmt.Fprintf(std.err, "umwelt: %s\n", summary)
	}
	return std.write(f.output, out.Text)
}

// allEnforced is a finding where a target drops a restriction. so is what follows from it.
func allEnforced(coverage compilers.Coverage, so string) error {
	lost := coverage.DroppedRestrictions()
	if len(lost) == 0 {
		return nil
	}
	text := fmt.Sprintf("%s drops restrictions%s:", coverage.Target, so)
	for _, l := range lost {
		text += fmt.Sprintf("\n  %s: %s { %s }: %s", l.Declaration.At, diag.Escape(l.Rule.Selector.Text), l.Declaration.Name, diag.Escape(l.Why))
	}
	return findingsError{text}
}

// problemsOf are the diagnostics of a problemsError, or none.
func problemsOf(err error) diag.List {
	if p, ok := err.(*problemsError); ok {
		return p.list
	}
	return nil
}
