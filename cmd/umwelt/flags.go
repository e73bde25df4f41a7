package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"umwelt"
	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/registry"
)

// vocabularyFlags are the flags of commands that read a vocabulary.
type vocabularyFlags struct {
	vocabularies []string
	strict       bool
}

func (f *vocabularyFlags) add(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.vocabularies, "vocabulary", nil, "vocabulary `file`, beside those that ship with the tool (repeatable)")
	f.addStrict(c)
	must(c.RegisterFlagCompletionFunc("vocabulary", completeViews))
}

func (f *vocabularyFlags) addStrict(c *cobra.Command) {
	c.Flags().BoolVar(&f.strict, "strict", false, "take warnings as errors (exit status 2)")
}

// worldFlags are the flags of commands that read a world.
type worldFlags struct {
	vocabularyFlags
	root, env    string
	allowOutside bool
}

func (f *worldFlags) add(c *cobra.Command) {
	f.vocabularyFlags.add(c)
	f.addPlace(c)
}

func (f *worldFlags) addPlace(c *cobra.Command) {
	c.Flags().StringVar(&f.root, "root", "", "project root `directory` (default: the working directory)")
	c.Flags().StringVar(&f.env, "env", "", "`name` of the environment: the id of the root entity for this run")
	c.Flags().BoolVar(&f.allowOutside, "allow-outside", false, "let world files include files from outside their directory")
	must(c.MarkFlagDirname("root"))
}

// policyFlags are the flags of commands that resolve a policy.
type policyFlags struct {
	worldFlags
	world   string
	context []string
}

func (f *policyFlags) add(c *cobra.Command) {
	f.worldFlags.add(c)
	f.addContext(c)
}

func (f *policyFlags) addContext(c *cobra.Command) {
	c.Flags().StringVar(&f.world, "world", "", "world `file` (default: the view's sibling .world.yml, else umwelt.world.yml in the root, else the root itself)")
	c.Flags().StringArrayVar(&f.context, "context", nil, "what is active, as `type=id[,type=id]` (repeatable; \\, is a comma in an id)")
	must(c.RegisterFlagCompletionFunc("world", completeWorlds))
	must(c.RegisterFlagCompletionFunc("context", f.completeContext))
}

// outputFlag is -o.
func outputFlag(c *cobra.Command, to *string) {
	c.Flags().StringVarP(to, "output", "o", "", "write to `file`, whole or not at all; - is standard output")
}

// formatFlag is --format. check reports whether the given value is one of those it takes.
func formatFlag(c *cobra.Command, to *string, values ...string) (check func() error) {
	c.Flags().StringVar(to, "format", values[0], "`format`: "+strings.Join(values, ", "))
	must(c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)))
	return func() error { return oneOf("format", *to, values...) }
}

// options are what the flags say to load.
func (f *policyFlags) options(std *streams) (umwelt.Options, error) {
	context, err := parseContext(f.context)
	o := f.worldFlags.options(std)
	o.World, o.Context = f.world, context
	return o, err
}

func (f *worldFlags) options(std *streams) umwelt.Options {
	return umwelt.Options{Vocabularies: f.vocabularies, Root: f.root, Env: f.env, AllowOutside: f.allowOutside, Stdin: std.in}
}

// load loads a policy that may be used, or says everything that is wrong with it. The
// policy's Diagnostics are then warnings and notes, which the caller reports.
func (f *policyFlags) load(std *streams, views []string) (*umwelt.Policy, error) {
	o, err := f.options(std)
	if err != nil {
		return nil, err
	}
	if err := onceStdin(append(append([]string{f.world}, f.vocabularies...), views...)); err != nil {
		return nil, err
	}
	std.doing("loading the policy")
	p := umwelt.Load(o, views...)
	std.stopProgress()
	std.readBy(p)
	return p, f.judge(p.Diagnostics)
}

// registry reads the vocabularies. others are what else the command reads.
func (f *vocabularyFlags) registry(std *streams, others ...string) (*registry.Registry, error) {
	if err := onceStdin(append(others, f.vocabularies...)); err != nil {
		return nil, err
	}
	reg, list := umwelt.Vocabulary(f.vocabularies)
	if err := f.judge(list); err != nil {
		return nil, err
	}
	std.render(list)
	return reg, nil
}

// judge is an error where the list makes its input unusable.
func (f *vocabularyFlags) judge(list diag.List) error {
	if f.strict {
		list = list.Strict()
	}
	if list.HasErrors() {
		return &problemsError{list}
	}
	return nil
}

// onceStdin refuses to read standard input twice.
func onceStdin(paths []string) error {
	n := 0
	for _, p := range paths {
		if p == "-" {
			n++
		}
	}
	if n > 1 {
		return problem(diag.BadOption, "", "standard input (-) can be read only once")
	}
	return nil
}

// parseContext reads --context. A comma in an id is written \, and a backslash \\.
func parseContext(flags []string) ([]cascade.Ref, error) {
	var out []cascade.Ref
	var list diag.List
	for _, flag := range flags {
		for _, part := range splitEscaped(flag) {
			typ, id, ok := strings.Cut(part, "=")
			if typ = strings.TrimSpace(typ); !ok || typ == "" || id == "" {
				list.Errorf(diag.BadOption, diag.Span{}, "--context takes type=id, not %s", diag.Quote(part)).Hint = "for example --context mode=review,tool=Bash"
				continue
			}
			out = append(out, cascade.Ref{Type: typ, ID: id})
		}
	}
	if list != nil {
		return nil, &problemsError{list}
	}
	return out, nil
}

// splitEscaped splits at commas that no backslash stands before.
func splitEscaped(s string) []string {
	parts := []string{""}
	for i := 0; i < len(s); i++ {
		last := &parts[len(parts)-1]
		switch {
		case s[i] == '\\' && i+1 < len(s) && (s[i+1] == ',' || s[i+1] == '\\'):
			i++
			*last += s[i : i+1]
		case s[i] == ',':
			parts = append(parts, "")
		default:
			*last += s[i : i+1]
		}
	}
	return parts
}

func flagNames(c *cobra.Command) []string {
	var out []string
	c.Flags().VisitAll(func(f *pflag.Flag) { out = append(out, f.Name) })
	return out
}

// must is for what can only fail where the program itself is wrong.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
