package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"umwelt/diag"
	"umwelt/lint/all"
)

func docCommand(std *streams) *cobra.Command {
	c := &cobra.Command{
		Use:     "doc",
		Short:   "Print the reference",
		Long:    "Doc prints the reference as Markdown, made from the program itself.",
		Example: "  umwelt doc codes\n  umwelt doc vocabulary -o docs/reference/vocabulary.md",
		Args:    unknownCommand,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(
		docPage(std, "codes", "Print what every diagnostic code means", func(*cobra.Command) (string, error) { return codesPage(), nil }),
		docVocabulary(std),
		docPage(std, "commands", "Print every command with its flags", func(c *cobra.Command) (string, error) { return commandsPage(c.Root()), nil }),
		docPage(std, "man", "Print the manual page", func(c *cobra.Command) (string, error) { return manPage(c.Root()), nil }),
	)
	return c
}

func docPage(std *streams, name, short string, page func(*cobra.Command) (string, error)) *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:               name,
		Short:             short,
		Example:           "  umwelt doc " + name,
		Args:              args(0, 0, "no arguments"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, _ []string) error {
			text, err := page(c)
			if err != nil {
				return err
			}
			return std.write(output, []byte(text))
		},
	}
	outputFlag(c, &output)
	return c
}

func docVocabulary(std *streams) *cobra.Command {
	var flags vocabularyFlags
	c := docPage(std, "vocabulary", "Print every taxon, entity type, attribute and property", func(*cobra.Command) (string, error) {
		reg, err := flags.registry(std)
		if err != nil {
			return "", err
		}
		return vocabularyDocument(reg, reg.Types(), true).markdown(), nil
	})
	flags.add(c)
	return c
}

const generated = "<!-- Made by umwelt doc. Change the program, then run make docs. -->\n\n"

func codesPage() string {
	var b strings.Builder
	b.WriteString("# Diagnostic codes\n\n" + generated)
	b.WriteString("Every diagnostic reads `file:line:column: severity[code]: message`. The codes are stable.\n\n| code | meaning |\n|---|---|\n")
	for _, c := range diag.Codes {
		fmt.Fprintf(&b, "| `%s` | %s |\n", c.Code, cell(c.Meaning))
	}
	b.WriteString("\n## Smells\n\nWhat `umwelt lint` reports has the name of the smell for its code. Each has [a page](../lint/README.md).\n\n| code | meaning |\n|---|---|\n")
	for _, d := range all.Detectors() {
		fmt.Fprintf(&b, "| [`%s`](../lint/%s.md) | %s |\n", d.Name, d.Name, cell(d.Summary))
	}
	return b.String()
}

// cell is text for a cell of a Markdown table: vocabularies may be anybody's, so nothing
// in it ends the cell or becomes markup.
func cell(s string) string {
	var b strings.Builder
	for _, r := range diag.Escape(s) {
		if strings.ContainsRune("|\\`*_<>[]&", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// code is text as code in a cell of a Markdown table.
func code(s string) string {
	s = strings.ReplaceAll(diag.Escape(s), "|", `\|`)
	if strings.ContainsRune(s, '`') {
		return "`` " + strings.ReplaceAll(s, "``", "` `") + " ``"
	}
	return "`" + s + "`"
}

// commandsPage is every command, in the order of the help text.
func commandsPage(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString("# Commands\n\n" + generated)
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		fmt.Fprintf(&b, "## %s\n\n%s.\n\n```\n%s\n```\n\n", c.CommandPath(), c.Short, c.UseLine())
		if c.Long != "" {
			b.WriteString(c.Long + "\n\n")
		}
		if c.Example != "" {
			fmt.Fprintf(&b, "Examples:\n\n```sh\n%s\n```\n\n", unindent(c.Example))
		}
		flagTable(&b, c)
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				visit(sub)
			}
		}
	}
	visit(root)
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func flagTable(b *strings.Builder, c *cobra.Command) {
	head := false
	c.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		if !head {
			b.WriteString("| flag | meaning |\n|---|---|\n")
			head = true
		}
		kind, usage := pflag.UnquoteUsage(f)
		name := strings.TrimSpace("--" + f.Name + " " + kind)
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "[]" {
			usage += " (default " + f.DefValue + ")"
		}
		fmt.Fprintf(b, "| %s | %s |\n", code(name), cell(usage))
	})
	if head {
		b.WriteByte('\n')
	}
}

func unindent(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], "  ")
	}
	return strings.Join(lines, "\n")
}
