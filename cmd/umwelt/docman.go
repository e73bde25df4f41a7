package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manPage is one manual page, umwelt(1), for the program and all of its commands.
func manPage(root *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH UMWELT 1 \"\" umwelt umwelt\n.SH NAME\numwelt \\- %s\n", roff(root.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B umwelt\n.I command\n[flags] [arguments]\n.SH DESCRIPTION\n%s\n.SH COMMANDS\n", roff(root.Long))
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			if !sub.IsAvailableCommand() {
				continue
			}
			fmt.Fprintf(&b, ".SS %s\n%s\n", roff(sub.UseLine()), roff(sub.Short)+".")
			if sub.Long != "" {
				fmt.Fprintf(&b, ".PP\n%s\n", roff(sub.Long))
			}
			sub.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
				if f.Hidden || f.Name == "help" {
					return
				}
				kind, usage := pflag.UnquoteUsage(f)
				name := "--" + f.Name
				if f.Shorthand != "" {
					name = "-" + f.Shorthand + ", " + name
				}
				fmt.Fprintf(&b, ".TP\n\\fB%s\\fR \\fI%s\\fR\n%s\n", roff(name), roff(kind), roff(usage))
			})
			if sub.Example != "" {
				fmt.Fprintf(&b, ".PP\n.EX\n%s\n.EE\n", roff(sub.Example))
			}
			visit(sub)
		}
	}
	visit(root)
	return b.String()
}

// roff is text in which nothing is an instruction to the formatter. An empty line begins
// a paragraph.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		switch {
		case l == "":
			lines[i] = ".PP"
		case l[0] == '.' || l[0] == '\'':
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
