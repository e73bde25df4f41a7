package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"umwelt/diag"
)

// newRoot is the command tree. Every command is one file and is listed here, once.
func newRoot(std *streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "umwelt",
		Short: "Say what an actor may do, prove it, and compile it to sandboxes",
		Long: `umwelt reads views (what applies), a world (what exists) and a vocabulary (what the
words mean), resolves them as CSS does, explains every answer and compiles the result to
what enforcement tools read.

Exit status: 0 all well; 1 findings, denials or differences; 2 unusable input or
arguments; 3 a needed outside program is missing.`,
		Example:       "  umwelt compile auth-fix.umw --target bwrap\n  umwelt explain auth-fix.umw 'file[path=\"src/auth/login.py\"]' editable",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          unknownCommand,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetIn(std.in)
	root.SetOut(std.out)
	root.SetErr(std.err)
	root.AddCommand(
		parseCommand(std), fmtCommand(std), checkCommand(std), lintCommand(std), inspectCommand(std), dryRunCommand(std),
		explainCommand(std), compileCommand(std), runCommand(std), observeCommand(std), verifyCommand(std), workspaceCommand(std), materializeCommand(std), diffCommand(std), testCommand(std), auditCommand(std), queryCommand(std), ratchetCommand(std),
		completionCommand(std), versionCommand(std), docCommand(std),
	)
	root.SetHelpCommand(helpCommand())
	root.PersistentPreRun = func(c *cobra.Command, args []string) { std.reads = append(std.reads, named(c, args)...) }
	return root
}

// takeOnce makes every flag that holds one value refuse a second one, for all commands:
// which of two the author meant nobody can tell.
func takeOnce(c *cobra.Command) {
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if _, list := f.Value.(pflag.SliceValue); !list {
			f.Value = &single{Value: f.Value}
		}
	})
	for _, sub := range c.Commands() {
		takeOnce(sub)
	}
}

// single is a flag's value that may be set once.
type single struct {
	pflag.Value
	set bool
}

func (s *single) Set(text string) error {
	if s.set {
		return errors.New("the flag is given twice and takes one value")
	}
	s.set = true
	return s.Value.Set(text)
}

// named is every word of a command line that may name a file to be read: arguments, and what
// flags hold that name none to be written.
func named(c *cobra.Command, args []string) []string {
	out := slices.Clone(args)
	c.Flags().Visit(func(f *pflag.Flag) {
		if list, ok := f.Value.(pflag.SliceValue); ok {
			out = append(out, list.GetSlice()...)
		} else if f.Name != "output" && f.Name != "report" && f.Name != "observe" {
			out = append(out, f.Value.String())
		}
	})
	return out
}

// helpCommand is cobra's own help command, but one that fails on what does not exist.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Show help for a command",
		Example: "  umwelt help compile",
		ValidArgsFunction: func(c *cobra.Command, _ []string, _ string) (names []string, _ cobra.ShellCompDirective) {
			for _, sub := range c.Root().Commands() {
				if sub.IsAvailableCommand() {
					names = append(names, cobra.CompletionWithDesc(sub.Name(), sub.Short))
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, words []string) error {
			found, rest, err := c.Root().Find(words)
			if err != nil || len(rest) > 0 {
				return unknownCommand(c.Root(), words)
			}
			found.InitDefaultHelpFlag()
			return found.Help()
		},
	}
}

// unknownCommand refuses arguments of a command that only has subcommands.
func unknownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return problem(diag.BadOption, hint(args[0], names), "%s has no command %s", c.CommandPath(), diag.Quote(args[0]))
}

// usage turns an error of cobra's own, about flags or the number of arguments, into a
// diagnostic.
func usage(c *cobra.Command, err error) diag.Diagnostic {
	path := "umwelt"
	h := ""
	if c != nil {
		path = c.CommandPath()
		h = suggestFlag(c, err.Error())
	}
	if h == "" {
		h = "see " + path + " --help"
	}
	return diag.Diagnostic{Severity: diag.Error, Code: diag.BadOption, Message: path + ": " + err.Error(), Hint: h}
}

// suggestFlag is "did you mean" for an unknown flag, or "".
func suggestFlag(c *cobra.Command, message string) string {
	word, ok := strings.CutPrefix(message, "unknown flag: --")
	if !ok {
		return ""
	}
	word, _, _ = strings.Cut(word, "=")
	if s := diag.Suggest(word, flagNames(c)); s != "" {
		return "did you mean --" + s + "?"
	}
	return ""
}

// args bounds the number of arguments and says what they are.
func args(least, most int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, given []string) error {
		switch {
		case len(given) < least:
			return problem(diag.BadOption, "see "+c.CommandPath()+" --help", "%s needs %s", c.CommandPath(), what)
		case most >= 0 && len(given) > most:
			return problem(diag.BadOption, "see "+c.CommandPath()+" --help", "%s takes %s, so %s is too many", c.CommandPath(), what, diag.Quote(given[most]))
		}
		return nil
	}
}
