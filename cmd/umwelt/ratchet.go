package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"umwelt"
	"umwelt/ast"
	"umwelt/diag"
	"umwelt/ratchet"
	"umwelt/ratchet/narrow"
	"umwelt/ratchet/sources"
)

// ratchetFlags are the flags of ratchet alone.
type ratchetFlags struct {
	policyFlags
	observations             []string
	report                   reportFlags
	view, output, headroom   string
	recordedRoot, recordedIn string
	steps                    []string
	slack, minRuns           int
	force, check             bool
}

func ratchetCommand(std *streams) *cobra.Command {
	f := ratchetFlags{headroom: "20%"}
	c := &cobra.Command{
		Use:   "ratchet --observations SOURCE…",
		Short: "Propose the tightest view that allows what was observed",
		Long: `Ratchet reads what was observed of one run or more and proposes a view: everything that
succeeded is allowed, and as little else as its written steps admit. What was denied is
reported and not granted. With --current-view the proposal is that view tightened; it allows
nothing that the view does not, which is checked before anything is printed.

A SOURCE is name://what, for example strace://trace.log; each one is a run. These are known,
and any other name is a program umwelt-observe-NAME on the search path:
` + sourceTable() + `
Known files that were not observed come under a rule only as far as --slack lets them. The
steps by which several paths or calls come under one rule are ` + strings.Join(stepNames(), ", ") + `;
--steps names those that may be taken.

Nothing is overwritten: -o refuses a file that is there unless --force is given, and never
writes to the current view. A summary goes to standard error, the evidence for every rule to
--report, in the schema umwelt.ratchet/1 where that is JSON.

Exit status: 0 where a view was proposed; with --check, 1 where it differs from the current
view; 2 where the input is unusable.`,
		Example: `  umwelt ratchet --observations strace://trace.log
  umwelt ratchet --observations claude://session.jsonl --current-view auth-fix.umw -o auth-fix-v2.umw
  umwelt ratchet --observations jsonl://a.jsonl --observations jsonl://b.jsonl --min-runs 2 --report evidence.json`,
		Args:              args(0, 0, "no argument beside its flags"),
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	flags := c.Flags()
	flags.StringArrayVar(&f.observations, "observations", nil, "what to read, as `source`://what (repeatable; each is a run)")
	must(c.RegisterFlagCompletionFunc("observations", completeSources))
	flags.StringVar(&f.view, "current-view", "", "the view `file` to tighten (default: a fresh view, in which nothing is allowed)")
	must(c.RegisterFlagCompletionFunc("current-view", completeViews))
	f.report.add(c, "the evidence for every rule")
	flags.StringVar(&f.headroom, "headroom", f.headroom, "by how many `percent` a bound exceeds what was measured")
	flags.IntVar(&f.slack, "slack", 0, "let rules admit up to `n` known files that were not observed")
	flags.IntVar(&f.minRuns, "min-runs", 1, "leave out what fewer than `k` runs needed, and list it")
	flags.StringSliceVar(&f.steps, "steps", stepNames(), "which `steps` may be taken")
	must(c.RegisterFlagCompletionFunc("steps", cobra.FixedCompletions(stepNames(), cobra.ShellCompDirectiveNoFileComp)))
	flags.StringVar(&f.recordedRoot, "recorded-root", "", "the absolute `path` that the project had where it was observed (default: the root)")
	flags.StringVar(&f.recordedIn, "recorded-in", "", "the absolute `path` of the directory in which the recording began, for records that do not say")
	flags.BoolVar(&f.force, "force", false, "let -o overwrite a file")
	flags.BoolVar(&f.check, "check", false, "print nothing, and exit with 1 where the proposal differs from the current view")
	f.add(c)
	outputFlag(c, &f.output)
	c.RunE = func(*cobra.Command, []string) error { return f.run(std) }
	return c
}

func stepNames() []string {
	var out []string
	for _, s := range narrow.Steps() {
		out = append(out, string(s))
	}
	return out
}

func sourceTable() string {
	var b strings.Builder
	for _, s := range sources.All() {
		fmt.Fprintf(&b, "  %-28s %s\n", s.Example, s.Summary)
	}
	return b.String()
}

func completeSources(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	if strings.Contains(word, "://") {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var out []string
	for _, s := range sources.All() {
		out = append(out, cobra.CompletionWithDesc(s.Name+"://", s.Summary))
	}
	return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// opened is a source and what it shall read.
type opened struct {
	argument string
	source   ratchet.Source
	input    ratchet.Input
}

func (f *ratchetFlags) run(std *streams) error {
	options, runs, err := f.ask()
	if err != nil {
		return err
	}
	var views []string
	if f.view != "" {
		views = []string{f.view}
	}
	p, err := f.load(std, views)
	if err != nil {
		return err
	}
	std.render(p.Diagnostics)
	if err := f.refuseOutput(std); err != nil {
		return err
	}
	root, list := umwelt.ResolveRoot(f.root)
	if err := f.judge(list); err != nil {
		return err
	}
	options.Root = root
	if options.Context, err = parseContext(f.context); err != nil {
		return err
	}
	in := narrow.Input{Options: options, World: p.World, WorldFile: f.world != "" || umwelt.FindWorld(root, views) != "", Import: umwelt.Importer()}
	if f.view != "" {
		in.View = p.Views[0]
	}
	collector := narrow.NewCollector(options)
	if in.Sources, err = f.collect(std, collector, runs); err != nil {
		return err
	}
	std.doing("narrowing")
	proposal, err := narrow.Propose(in, collector)
	std.stopProgress()
	if err != nil {
		return problem(diag.Unreadable, "", "no view can be proposed: %v", err)
	}
	return f.deliver(std, proposal, in.View)
}

// ask holds the flags against each other.
func (f *ratchetFlags) ask() (narrow.Options, []opened, error) {
	var faults diag.List
	options := narrow.Options{RecordedRoot: f.recordedRoot, Slack: f.slack, MinRuns: f.minRuns, Steps: []narrow.Step{}}
	if len(f.observations) == 0 {
		faults.Errorf(diag.BadOption, diag.Span{}, "ratchet needs --observations").Hint = "for example --observations strace://trace.log"
	}
	var runs []opened
	for _, argument := range f.observations {
		s, in, err := sources.Open(argument)
		if err != nil {
			faults.Errorf(diag.BadOption, diag.Span{}, "--observations: %v", err)
			continue
		}
		in.Dir = f.recordedIn
		runs = append(runs, opened{argument, s, in})
	}
	for _, s := range f.steps {
		faults = append(faults, problemsOf(oneOf("steps", s, stepNames()...))...)
		options.Steps = append(options.Steps, narrow.Step(s))
	}
	percent, err := strconv.ParseFloat(strings.TrimSuffix(f.headroom, "%"), 64)
	if err != nil || !(percent >= 0 && percent <= 10000) {
		faults.Errorf(diag.BadOption, diag.Span{}, "--headroom takes a percentage from 0%% to 10000%%, not %s", diag.Quote(f.headroom))
	}
	options.Headroom = percent / 100
	if f.slack < 0 {
		faults.Errorf(diag.BadOption, diag.Span{}, "--slack takes a number from 0, not %d", f.slack)
	}
	if f.minRuns < 1 || f.minRuns > max(1, len(f.observations)) {
		faults.Errorf(diag.BadOption, diag.Span{}, "--min-runs takes a number from 1 to that of the runs, not %d", f.minRuns).Hint = "each --observations is a run"
	}
	for _, flag := range []struct{ name, value string }{{"recorded-root", f.recordedRoot}, {"recorded-in", f.recordedIn}} {
		if flag.value != "" && (!filepath.IsAbs(flag.value) || filepath.Clean(flag.value) != flag.value) {
			faults.Errorf(diag.BadOption, diag.Span{}, "--%s takes an absolute path without . and .., not %s", flag.name, diag.Quote(flag.value))
		}
	}
	faults = append(faults, f.report.faults(f.output)...)
	if f.check && f.view == "" {
		faults.Errorf(diag.BadOption, diag.Span{}, "--check needs --current-view")
	}
	if f.check && f.output != "" {
		faults.Errorf(diag.BadOption, diag.Span{}, "--check writes no view, so it takes no -o")
	}
	if faults != nil {
		return options, nil, &problemsError{faults}
	}
	return options, runs, nil
}

// refuseOutput refuses an output that is there without --force, and in every case one that is
// something which was read, under whatever name.
func (f *ratchetFlags) refuseOutput(std *streams) error {
	for _, argument := range f.observations {
		_, path, _ := strings.Cut(argument, "://")
		std.reads = append(std.reads, path)
	}
	for _, to := range []string{f.output, f.report.to} {
		if to == "" || to == "-" {
			continue
		}
		info, err := os.Stat(to)
		if errors.Is(err, fs.ErrNotExist) {
			// What such a link leads to may come to be by the other file that is written.
			if _, err := os.Lstat(to); err == nil {
				return problem(diag.Output, "", "%s cannot be written: it is a symbolic link to what does not exist", diag.Quote(to))
			}
			continue
		}
		if err != nil {
			return problem(diag.Output, "", "%s cannot be written: %v", diag.Quote(to), cause(err))
		}
		if std.readsFile(info) {
			return problem(diag.Output, "write the proposal to a file of its own, and compare", "%s is what was read from, so it is not overwritten", diag.Quote(to))
		}
		if info.Mode().IsRegular() && !f.force {
			return problem(diag.Output, "take another name, or give --force", "%s is there already", diag.Quote(to))
		}
	}
	return nil
}

// collect reads every source. A source that cannot be read at all ends it: a proposal from
// the others would take away what that one needs.
func (f *ratchetFlags) collect(std *streams, c *narrow.Collector, runs []opened) ([]narrow.SourceTally, error) {
	var out []narrow.SourceTally
	for run, r := range runs {
		std.doing("reading " + r.argument)
		tally, err := r.source.Read(r.input, func(o ratchet.Observation) error {
			c.Add(run, &o)
			return nil
		})
		std.stopProgress()
		if err != nil {
			return nil, problem(diag.Unreadable, "", "%s cannot be read: %v", diag.Quote(r.argument), cause(err))
		}
		out = append(out, narrow.SourceTally{Source: r.argument, Run: run, Tally: tally})
	}
	return out, nil
}

// deliver writes the report and the view.
func (f *ratchetFlags) deliver(std *streams, p *narrow.Proposal, current *ast.View) error {
	fmt.Fprint(std.err, ratchetSummary(&p.Report))
	text := func() []byte { return []byte(ratchetText(&p.Report)) }
	if err := f.report.write(std, text, func() ([]byte, error) { return jsonText(&p.Report) }); err != nil {
		return err
	}
	if f.check {
		if !bytes.Equal(p.Text, current.Source.Text) {
			return findingsError{"the current view is wider than what was observed needs, or is written otherwise than the proposal"}
		}
		return nil
	}
	return std.write(f.output, p.Text)
}
