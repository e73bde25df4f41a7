package main

import (
	"bytes"

	"github.com/spf13/cobra"

	"umwelt"
	"umwelt/ast"
	"umwelt/diag"
	"umwelt/parser"
)

func parseCommand(std *streams) *cobra.Command {
	var format, output string
	var common vocabularyFlags
	c := &cobra.Command{
		Use:   "parse VIEW",
		Short: "Show the tree of a view",
		Long: `Parse reads one view (or vocabulary) and shows what was read, as an outline or as JSON of
the schema umwelt.parse/1. No vocabulary is asked, so unknown words are no error here, and
values that are secret elsewhere are shown as they stand in the view, as fmt shows them.`,
		Example:           "  umwelt parse auth-fix.umw\n  umwelt parse auth-fix.umw --format json | jq '.statements[].kind'",
		Args:              args(1, 1, "one view"),
		ValidArgsFunction: completeViews,
	}
	check := formatFlag(c, &format, "text", "json")
	common.addStrict(c)
	outputFlag(c, &output)
	c.RunE = func(_ *cobra.Command, paths []string) error {
		if err := check(); err != nil {
			return err
		}
		src, err := umwelt.ReadSource(paths[0], std.in)
		if err != nil {
			return problem(diag.Unreadable, "", "%v", err)
		}
		view, list := parser.Parse(src)
		if err := common.judge(list); err != nil {
			return err
		}
		if format == "json" {
			doc := ast.NewDocument(view)
			doc.File = utf8Text(doc.File)
			return std.writeJSON(output, parseDocument{doc, diagnostics(list)})
		}
		std.render(list)
		var b bytes.Buffer
		if err := ast.WriteOutline(&b, view); err != nil {
			return err
		}
		return std.write(output, b.Bytes())
	}
	return c
}

// parseDocument is the tree in JSON.
type parseDocument struct {
	*ast.Document
	Diagnostics []diagnostic `json:"diagnostics"`
}
