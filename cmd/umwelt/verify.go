package main

import (
	"errors"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"umwelt"
	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/sandbox/runner"
	"umwelt/sandbox/verify"
)

// verifyFlags are the flags of verify alone.
type verifyFlags struct {
	policyFlags
	target, scratch string
	set             []string
	sample          int
	seed            uint64
	inPlace         bool
	format, output  string
}

func verifyCommand(std *streams) *cobra.Command {
	var f verifyFlags
	c := &cobra.Command{
		Use:   "verify VIEW… --target TARGET",
		Short: "Try in a real sandbox what a view allows and forbids",
		Long: `Verify resolves the views, starts a sandbox of the target, and tries inside, for every path
of the project, every variable, the network and every limit, what the view allows and what
it forbids. It says where the sandbox lets through what the view forbids (a false allow)
and where it stops what the view allows and the target does not declare as partial (a false
deny).

It works on a copy of the project, which it removes at the end. With --in-place it works on
the project itself, and leaves out what would change a file if the sandbox did not hold.

Exit status: 0 where the sandbox does what the view says; 1 where it does not; 3 where the
target is not here.`,
		Example: `  umwelt verify auth-fix.umw --target bwrap
  umwelt verify auth-fix.umw --target podman --sample 500 --seed 7 --format json`,
		Args:              args(1, -1, "at least one view"),
		ValidArgsFunction: completeViews,
	}
	flags := c.Flags()
	flags.StringVarP(&f.target, "target", "t", "", "`name` of the target")
	flags.StringArrayVar(&f.set, "set", nil, "an option of the target, as `key=value` (repeatable)")
	flags.IntVar(&f.sample, "sample", 0, "try `n` paths of the project (default: all)")
	flags.Uint64Var(&f.seed, "seed", 1, "`number` from which the sample follows")
	flags.BoolVar(&f.inPlace, "in-place", false, "work on the project itself, in place of a copy")
	flags.StringVar(&f.scratch, "scratch", "", "`directory` to make the copy in (default: /var/tmp)")
	check := formatFlag(c, &f.format, "text", "json")
	must(c.RegisterFlagCompletionFunc("target", cobra.FixedCompletions(verify.Targets(), cobra.ShellCompDirectiveNoFileComp)))
	must(c.MarkFlagDirname("scratch"))
	f.add(c)
	outputFlag(c, &f.output)
	c.RunE = func(_ *cobra.Command, views []string) error {
		if err := check(); err != nil {
			return err
		}
		return f.run(std, views)
	}
	return c
}

func (f *verifyFlags) run(std *streams, views []string) error {
	var faults diag.List
	set := map[string]string{}
	if names := verify.Targets(); f.target == "" {
		faults.Errorf(diag.UnknownTarget, diag.Span{}, "no --target is named").Hint = hint("", names)
	} else if !slices.Contains(names, f.target) {
		faults.Errorf(diag.UnknownTarget, diag.Span{}, "there is no target %s that can be verified here", diag.Quote(f.target)).Hint = hint(f.target, names)
	} else {
		t, err := target(f.target)
		faults = append(faults, problemsOf(err)...)
		if err == nil {
			set, err = parseSet(t.Info, f.set)
			faults = append(faults, problemsOf(err)...)
		}
	}
	if f.sample < 0 {
		faults.Errorf(diag.BadOption, diag.Span{}, "--sample takes a number of paths, not %d", f.sample)
	}
	if slices.Contains(append(append(slices.Clone(views), f.world), f.vocabularies...), "-") {
		faults.Errorf(diag.BadOption, diag.Span{}, "verify reads the policy twice, so it takes no standard input")
	}
	if faults != nil {
		return &problemsError{faults}
	}
	p, err := f.load(std, views)
	if err != nil {
		return err
	}
	std.render(p.Diagnostics)
	program, err := os.Executable()
	if err != nil {
		return statusError{exitMissing, "this program cannot be found: " + err.Error()}
	}
	report, err := verify.Run(verify.Options{
		Target: f.target, Set: set, Sample: f.sample, Seed: f.seed, InPlace: f.inPlace, Scratch: f.scratch,
		Program: program, Environ: os.Environ(), Doing: std.doing,
		Load: func(root string) (*cascade.Resolution, error) { return f.loadAt(root, std, views) },
	}, p.Resolution)
	std.stopProgress()
	var missing *runner.MissingError
	var problems *problemsError
	switch {
	case errors.As(err, &missing):
		return statusError{exitMissing, "nothing was verified: " + diag.Escape(err.Error())}
	case errors.Is(err, verify.ErrInterrupted):
		return statusError{128 + 2, "nothing was verified: " + err.Error()}
	case errors.As(err, &problems):
		return err
	case err != nil:
		return problem(diag.Invalid, "", "nothing was verified: %s", diag.Escape(err.Error()))
	}
	return f.deliver(std, report)
}

// loadAt loads the same policy over another project root.
func (f *verifyFlags) loadAt(root string, std *streams, views []string) (*cascade.Resolution, error) {
	o, err := f.options(std)
	if err != nil {
		return nil, err
	}
	o.Root = root
	p := umwelt.Load(o, views...)
	std.readBy(p)
	return p.Resolution, f.judge(p.Diagnostics)
}

func (f *verifyFlags) deliver(std *streams, report *verify.Report) error {
	var err error
	if f.format == "json" {
		err = std.writeJSON(f.output, verifyDocument(report))
	} else {
		err = std.write(f.output, verifyText(report))
	}
	if err == nil && !report.Well() {
		return findingsError{}
	}
	return err
}
