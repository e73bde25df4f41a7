package main

import (
	"bytes"

	"github.com/spf13/cobra"

	"umwelt/report"
)

func dryRunCommand(std *streams) *cobra.Command {
	var format, output, only string
	var flags policyFlags
	c := &cobra.Command{
		Use:   "dry-run VIEW…",
		Short: "Show the effective properties of every entity, and what every rule matched",
		Long: `Dry-run resolves the views and shows, for every entity of the world, each property with
where its value came from, and for every rule how many entities it matched. With
--only set it leaves out initial values. JSON has the schema umwelt.dry-run/1.`,
		Example:           "  umwelt dry-run auth-fix.umw --only set\n  umwelt dry-run auth-fix.umw --context mode=review --format json",
		Args:              args(1, -1, "at least one view"),
		ValidArgsFunction: completeViews,
	}
	check := formatFlag(c, &format, "text", "json")
	c.Flags().StringVar(&only, "only", "all", "which properties: `all`, or set (no initial values)")
	must(c.RegisterFlagCompletionFunc("only", cobra.FixedCompletions([]string{"all", "set"}, cobra.ShellCompDirectiveNoFileComp)))
	flags.add(c)
	outputFlag(c, &output)
	c.RunE = func(_ *cobra.Command, views []string) error {
		if err := check(); err != nil {
			return err
		}
		if err := oneOf("only", only, "all", "set"); err != nil {
			return err
		}
		p, err := flags.load(std, views)
		if err != nil {
			return err
		}
		std.doing("listing the entities")
		doc := report.DryRun(p.Resolution, only == "set")
		doc.Diagnostics = report.Diagnostics(p.Diagnostics)
		var b bytes.Buffer
		if format == "json" {
			err = doc.WriteJSON(&b)
		} else {
			std.render(p.Diagnostics)
			err = doc.WriteText(&b)
		}
		if err != nil {
			return err
		}
		return std.write(output, b.Bytes())
	}
	return c
}
