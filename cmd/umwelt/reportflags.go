package main

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"umwelt/diag"
)

// reportFlags are --report and --report-format, of commands that write a report beside
// their result.
type reportFlags struct{ to, format string }

// add registers them. what names the report in the help text.
func (f *reportFlags) add(c *cobra.Command, what string) {
	formats := []string{"text", "json"}
	c.Flags().StringVar(&f.to, "report", "", "write "+what+" to `file`; - is standard error")
	c.Flags().StringVar(&f.format, "report-format", "", "`format` of the report: text or json (default: json for a file that ends in .json)")
	must(c.RegisterFlagCompletionFunc("report-format", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp)))
}

// faults are what is wrong with them beside a result that goes to output.
func (f *reportFlags) faults(output string) diag.List {
	var faults diag.List
	if f.format != "" {
		faults = problemsOf(oneOf("report-format", f.format, "text", "json"))
	}
	if f.to != "" && f.to != "-" && standsAt(f.to) == standsAt(output) {
		faults.Errorf(diag.BadOption, diag.Span{}, "--report and -o name the same file")
	}
	return faults
}

// write puts the report where --report says, in the form that it asks for.
func (f *reportFlags) write(std *streams, text func() []byte, json func() ([]byte, error)) error {
	if f.to == "" {
		return nil
	}
	var out []byte
	if f.format == "json" || f.format == "" && strings.EqualFold(filepath.Ext(f.to), ".json") {
		var err error
		if out, err = json(); err != nil {
			return err
		}
	} else {
		out = text()
	}
	if f.to == "-" {
		if _, err := std.err.Write(out); err != nil {
			return problem(diag.Output, "", "standard error cannot be written: %v", err)
		}
		return nil
	}
	return std.write(f.to, out)
}

// standsAt is where a file that may not be there yet would be, with the links to its directory
// followed.
func standsAt(path string) string {
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(dir, filepath.Base(path))
	}
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return filepath.Clean(path)
}
