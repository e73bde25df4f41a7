package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"umwelt"
	"umwelt/compilers/confine"
	"umwelt/diag"
	"umwelt/sandbox/hooks"
	"umwelt/sandbox/runner"
)

// runFlags are the flags of run alone.
type runFlags struct {
	policyFlags
	target, reportTo, hooks, observeTo string
	allowUnenforced, set               []string
	workspace                          bool
}

func runCommand(std *streams) *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run VIEW… -- COMMAND [ARGUMENT…]",
		Short: "Run a command within the bounds of a view",
		Long: `Run resolves the views, confines a command to what they allow on this machine and gives
the command's exit status. Without --target it takes the strongest target that is here and
that enforces every restriction for the operating system, and names it. Where none does,
nothing runs. Restrictions on tools and the like are left to the harness that calls umwelt
run, and are named.

Hooks run in the project's root: before-call ones first, and where one fails nothing runs;
after-change ones where a file changed; on-failure and on-timeout ones after such an end. They
may run what the actor wrote, so they run within the same bounds.

The files that the policy was read from cannot be changed from inside, even where the view
makes them editable.

Exit status: the command's own; 128+n where signal n ended it; 124 where its time was over;
125 where the sandbox failed, or a before-call hook did; 126 where the command could not be run and 127 where it was
not found; 2 where the input is unusable; 3 where nothing here can hold the command.`,
		Example: `  umwelt run auth-fix.umw -- pytest tests/auth
  umwelt run review.umw --context mode=review --target landlock --report run.json -- ./agent`,
		ValidArgsFunction: completeViews,
	}
	flags := c.Flags()
	flags.StringVarP(&f.target, "target", "t", "", "`name` of the target (default: the strongest that enforces the view)")
	flags.StringArrayVar(&f.allowUnenforced, "allow-unenforced", nil, "do without the restrictions that `type.property` makes, where the target cannot enforce them (repeatable)")
	flags.StringVar(&f.reportTo, "report", "", "write a report of the run to `file`, as JSON")
	flags.StringVar(&f.observeTo, "observe", "", "write what was observed of the run to `file`, as JSON lines")
	flags.BoolVar(&f.workspace, "workspace", false, "let the command work on a copy of what the view shows, and bring back at the end what the view allows")
	flags.StringArrayVar(&f.set, "set", nil, "an option of the target, as `key=value` (repeatable)")
	must(c.RegisterFlagCompletionFunc("set", completeSet))
	flags.StringVar(&f.hooks, "hooks", "inside", "`where` hooks run: inside, within the bounds of the view; outside, where what the actor wrote can do what the caller can; off")
	must(c.RegisterFlagCompletionFunc("hooks", cobra.FixedCompletions([]string{"inside", "outside", "off"}, cobra.ShellCompDirectiveNoFileComp)))
	must(c.RegisterFlagCompletionFunc("target", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return runnableNames(), cobra.ShellCompDirectiveNoFileComp
	}))
	f.add(c)
	c.RunE = func(c *cobra.Command, words []string) error {
		dash := c.ArgsLenAtDash()
		switch {
		case dash < 0:
			return problem(diag.BadOption, "for example umwelt run view.umw -- make test", "%s needs -- and a command after it", c.CommandPath())
		case dash == 0:
			return problem(diag.BadOption, "see "+c.CommandPath()+" --help", "%s needs at least one view before --", c.CommandPath())
		case dash == len(words) || words[dash] == "":
			return problem(diag.BadOption, "see "+c.CommandPath()+" --help", "%s needs a command after --", c.CommandPath())
		}
		return f.run(std, words[:dash], words[dash:])
	}
	return c
}

func runnableNames() []string {
	var out []string
	for _, t := range runner.Targets() {
		out = append(out, t.Info.Name)
	}
	return out
}

func (f *runFlags) run(std *streams, views, command []string) error {
	if err := oneOf("hooks", f.hooks, "inside", "outside", "off"); err != nil {
		return err
	}
	targets := runner.Targets()
	if f.target != "" {
		i := slices.IndexFunc(targets, func(t runner.Target) bool { return t.Info.Name == f.target })
		if i < 0 {
			return problem(diag.UnknownTarget, hint(f.target, runnableNames()), "there is no target %s that can be run here", diag.Quote(f.target))
		}
		targets = targets[i : i+1]
	} else {
		targets = slices.DeleteFunc(targets, func(t runner.Target) bool { return t.Named })
	}
	// Where several come into question, an option is for all of them.
	var set map[string]string
	for _, t := range targets {
		var err error
		if set, err = parseSet(t.Info, f.set); err != nil {
			return err
		}
	}
	p, err := f.load(std, views)
	if err != nil {
		return err
	}
	if err := f.named(p); err != nil {
		return err
	}
	c, list := confine.FromWith(p.Resolution, confine.Options{Usual: set[confine.NewFiles.Key] == "usual"})
	if err := f.judge(list); err != nil {
		return err
	}
	std.render(append(p.Diagnostics, list...))
	r := runReport{policy: p, confinement: c, command: command, context: f.context, set: set}
	r.protect(std, f, views)
	t, err := f.choose(std, targets, p, c, &r)
	if err != nil {
		return err
	}
	defer std.release()
	for _, to := range []string{f.reportTo, f.observeTo} {
		if err := std.hold(to, c.Root); err != nil {
			return err
		}
	}
	if f.observeTo != "" {
		if err := f.observe(t, &r); err != nil {
			return err
		}
		defer r.forget()
	}
	stop := make(chan os.Signal, 4)
	signal.Notify(stop, runner.Signals()...)
	defer signal.Stop(stop)
	r.stop = stop
	if !f.runHooks(std, t, &r, beforeCall) {
		return statusError{runner.ExitFailed, "nothing was run: a hook that has to go well before did not"}
	}
	var before map[string]stamp
	watched := f.hooks != "off" && len(hooks.FromResolution(p.Resolution, afterChange)) > 0
	if watched && !f.workspace {
		before = stamps(c)
	}
	if f.workspace {
		if err := f.enter(std, &r); err != nil {
			return err
		}
	}
	if err := f.runCommand(std, t, &r, views); err != nil {
		if f.workspace {
			r.discard(std)
		}
		return err
	}
	var touched bool
	if f.workspace {
		touched = r.leave(std)
	} else {
		touched = watched && changed(before, stamps(c))
	}
	for _, event := range r.events(touched) {
		f.runHooks(std, t, &r, event)
	}
	r.finish(std)
	return f.status(std, t, &r)
}

// named refuses what --allow-unenforced names where the vocabulary has no such property,
// so that a typo does not look like a waiver.
func (f *runFlags) named(p *umwelt.Policy) error {
	for _, name := range f.allowUnenforced {
		var there []string
		for _, t := range p.Registry.Types() {
			for _, property := range t.Properties {
				there = append(there, t.Name+"."+property.Name)
			}
		}
		if !slices.Contains(there, name) {
			return problem(diag.UnknownProperty, diag.DidYouMean(name, there), "there is no property %s to do without", diag.Quote(name))
		}
	}
	return nil
}

// runCommand runs the command itself.
func (f *runFlags) runCommand(std *streams, t runner.Target, r *runReport, views []string) error {
	spec := runner.Spec{Confinement: r.confinement, Values: runner.Values(r.policy.Resolution), Environ: os.Environ(), Command: r.command, Set: r.set, Stop: r.stop}
	if r.observed != nil {
		spec.Observe, spec.Watch = &r.observed.proxy, r.observed.watch
	}
	if r.workspace != nil {
		spec.Confinement, spec.At = r.workspace.confinement, r.confinement.Root
	}
	consumed := slices.Contains(append(append([]string{f.world}, f.vocabularies...), views...), "-")
	done, err := attach(std, &spec, consumed)
	if err != nil {
		return statusError{runner.ExitFailed, err.Error()}
	}
	r.result, err = runner.Run(t, spec)
	done()
	if err != nil {
		return runFailed(err)
	}
	return nil
}

// runFailed is a run of which nothing came.
func runFailed(err error) error {
	var missing *runner.MissingError
	if errors.As(err, &missing) {
		return statusError{exitMissing, "nothing was run: " + err.Error()}
	}
	return statusError{runner.ExitFailed, "nothing was run: " + err.Error()}
}

// status writes the report and the observations and gives the exit status of the run.
func (f *runFlags) status(std *streams, t runner.Target, r *runReport) error {
	for _, remark := range r.result.Remarks {
		fmt.Fprintf(std.err, "umwelt: %s\n", diag.Escape(remark))
	}
	if r.result.TimedOut {
		fmt.Fprintf(std.err, "umwelt: the command was ended: its %s were over\n", time.Duration(*r.confinement.Limits.WallTime))
	}
	if f.reportTo != "" {
		if err := std.writeJSON(f.reportTo, r.document(t)); err != nil {
			return err
		}
	}
	if f.observeTo != "" {
		if err := r.finishObserve(std, f.observeTo); err != nil {
			return err
		}
	}
	if r.result.Exit == 0 {
		return nil
	}
	return statusError{r.result.Exit, ""}
}

// choose takes the first target that is here and enforces what it has to, and says so.
func (f *runFlags) choose(std *streams, targets []runner.Target, p *umwelt.Policy, c *confine.Confinement, r *runReport) (runner.Target, error) {
	text := "nothing was run: no target here enforces the whole view"
	if f.target != "" {
		text = "nothing was run"
	}
	var unenforced []string
	for _, t := range targets {
		if err := t.Available(); err != nil {
			text += "\n  " + diag.Escape(err.Error())
			continue
		}
		a := runner.Assess(t, p.Resolution, c, f.allowUnenforced)
		if len(a.Unenforced) == 0 {
			r.assessment = a
			f.announce(std, t, a)
			return t, nil
		}
		for _, l := range a.Unenforced {
			text += fmt.Sprintf("\n  %s does not enforce %s: %s", t.Info.Name, runner.Describe(l), diag.Escape(l.Why))
			unenforced = append(unenforced, runner.Names(l)...)
		}
	}
	if len(targets) == 0 {
		text += "\n  this system has none: umwelt run works on Linux, on amd64 and arm64"
	}
	slices.Sort(unenforced)
	for _, name := range slices.Compact(unenforced) {
		text += "\n  hint: --allow-unenforced " + name + " does without it"
	}
	return runner.Target{}, statusError{exitMissing, text}
}

// announce names the target, unless the caller did, and what it does not hold as written.
func (f *runFlags) announce(std *streams, t runner.Target, a runner.Assessment) {
	if f.target == "" {
		fmt.Fprintf(std.err, "umwelt: running under %s\n", t.Info.Name)
	}
	if len(a.Harness) > 0 {
		fmt.Fprintf(std.err, "umwelt: left to the harness: %s\n", runner.DescribeAll(a.Harness))
	}
	if len(a.Less) > 0 {
		fmt.Fprintf(std.err, "umwelt: enforced in part or more tightly: %s\n", runner.DescribeAll(a.Less))
	}
	if len(f.allowUnenforced) > 0 {
		fmt.Fprintf(std.err, "umwelt: not enforced where %s cannot: %s\n", t.Info.Name, diag.Escape(strings.Join(f.allowUnenforced, ", ")))
	}
}
