package main

import (
	"bytes"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"umwelt"
	"umwelt/ast"
	"umwelt/diag"
	"umwelt/parser"
)

func fmtCommand(std *streams) *cobra.Command {
	var check, showDiff, rewrite bool
	c := &cobra.Command{
		Use:   "fmt VIEW…",
		Short: "Lay views out in their canonical form",
		Long: `Fmt prints views in their canonical layout. What stands on one line stays on one; the
braces of neighbouring one-line blocks stand below each other, and so do the comments
behind neighbouring lines. Comments and blank lines stay, and the meaning does not change.
With --check it prints the names of the files that are not in that form,
with --diff what would change; both exit with 1 where there are any. With -w it rewrites
the files in place, each whole or not at all.

A view with a syntax error is left as it is, and so are the others that were named with it.`,
		Example:           "  umwelt fmt auth-fix.umw\n  umwelt fmt -w policies/*.umw\n  umwelt fmt --check policies/*.umw",
		Args:              args(1, -1, "at least one view"),
		ValidArgsFunction: completeViews,
	}
	c.Flags().BoolVar(&check, "check", false, "list the files that are not in canonical form")
	c.Flags().BoolVar(&showDiff, "diff", false, "show what would change")
	c.Flags().BoolVarP(&rewrite, "write", "w", false, "rewrite the files")
	c.RunE = func(_ *cobra.Command, paths []string) error {
		if rewrite && (check || showDiff) {
			return problem(diag.BadOption, "", "-w changes files, and --check and --diff do not; name one")
		}
		files, err := formatAll(std, paths, rewrite)
		if err != nil {
			return err
		}
		if rewrite {
			for _, f := range files {
				if f.changed() {
					if err := std.rewrite(f.path, f.new); err != nil {
						return err
					}
				}
			}
			return nil
		}
		return std.showFormatted(files, check, showDiff)
	}
	return c
}

// formatted is one file before and after.
type formatted struct {
	path, name string
	old, new   []byte
}

func (f formatted) changed() bool { return !bytes.Equal(f.old, f.new) }

// formatAll formats every file, or reports every fault of all of them.
func formatAll(std *streams, paths []string, rewrite bool) ([]formatted, error) {
	if err := onceStdin(paths); err != nil {
		return nil, err
	}
	var out []formatted
	var faults diag.List
	for _, path := range paths {
		if path == "-" && rewrite {
			faults.Errorf(diag.BadOption, diag.Span{}, "standard input cannot be rewritten")
			continue
		}
		src, err := umwelt.ReadSource(path, std.in)
		if err != nil {
			faults.Errorf(diag.Unreadable, diag.Span{}, "%v", err)
			continue
		}
		view, list := parser.Parse(src)
		if list.HasErrors() {
			faults = append(faults, list...)
			continue
		}
		var b bytes.Buffer
		if err := ast.Print(&b, view); err != nil {
			return nil, err
		}
		out = append(out, formatted{path, diag.Escape(src.Name), src.Text, b.Bytes()})
	}
	if faults.HasErrors() {
		return nil, &problemsError{faults}
	}
	return out, nil
}

func (s *streams) showFormatted(files []formatted, check, showDiff bool) error {
	var b bytes.Buffer
	different := false
	for _, f := range files {
		if !check && !showDiff {
			b.Write(f.new)
			continue
		}
		if !f.changed() {
			continue
		}
		different = true
		if check && !showDiff {
			b.WriteString(f.name + "\n")
		}
		if showDiff {
			for line := range bytes.Lines(diff.Diff(f.name, f.old, f.name+" (canonical)", f.new)) {
				text := bytes.TrimSuffix(line, []byte("\n"))
				b.WriteString(s.tint(text) + "\n")
			}
		}
	}
	if err := s.print(b.Bytes()); err != nil {
		return err
	}
	if different {
		return findingsError{}
	}
	return nil
}

// tint is a line of a difference, harmless on a terminal and coloured where that is wanted.
func (s *streams) tint(line []byte) string {
	text := diag.Escape(string(line))
	if !s.outColour || text == "" {
		return text
	}
	switch text[0] {
	case '+':
		return "\x1b[32m" + text + "\x1b[0m"
	case '-':
		return "\x1b[31m" + text + "\x1b[0m"
	}
	return text
}
