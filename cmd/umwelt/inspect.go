package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"umwelt"
	"umwelt/diag"
	"umwelt/registry"
)

// onlyShipped is the value of a --vocabulary that names no file.
const onlyShipped = "\x00"

func inspectCommand(std *streams) *cobra.Command {
	var format, output string
	var flags vocabularyFlags
	c := &cobra.Command{
		Use:   "inspect [VIEW | TYPE | --vocabulary [FILE…]]",
		Short: "Show a view's rules by taxon, or what a vocabulary's words mean",
		Long: `Inspect shows the rules of views, sorted by taxon, with their specificity. Given the name of
an entity type or a taxon it shows its attributes and properties with their types and
descriptions; given --vocabulary it shows the whole vocabulary, with any files added to
it. An argument with a dot or a slash in it, or that is a file, is a view.
JSON has the schema umwelt.inspect/1, of a vocabulary umwelt.vocabulary/1.`,
		Example: `  umwelt inspect auth-fix.umw
  umwelt inspect tool
  umwelt inspect --vocabulary ratelimit.umw
  umwelt inspect --vocabulary=ratelimit.umw client`,
		ValidArgsFunction: completeInspect,
	}
	check := formatFlag(c, &format, "text", "json")
	flags.add(c)
	c.Flags().Lookup("vocabulary").NoOptDefVal = onlyShipped
	outputFlag(c, &output)
	c.RunE = func(_ *cobra.Command, given []string) error {
		if err := check(); err != nil {
			return err
		}
		all, views, words := flags.sortArguments(given)
		if len(views) > 0 && len(words) > 0 {
			return problem(diag.BadOption, "inspect them one after the other", "%s is a view and %s is not", diag.Quote(views[0]), diag.Quote(words[0]))
		}
		var doc any
		var text string
		if len(views) > 0 {
			if err := onceStdin(append(views, flags.vocabularies...)); err != nil {
				return err
			}
			p := umwelt.Parse(umwelt.Options{Vocabularies: flags.vocabularies, Stdin: std.in}, views...)
			std.readBy(p)
			if err := flags.judge(p.Diagnostics); err != nil {
				return err
			}
			if format == "text" {
				std.render(p.Diagnostics)
			}
			d := rulesDocument(p)
			doc, text = d, d.text()
		} else {
			reg, err := flags.registry(std)
			if err != nil {
				return err
			}
			types, err := pickTypes(reg, words)
			if err != nil {
				return err
			}
			d := vocabularyDocument(reg, types, all || len(words) == 0)
			doc, text = d, d.text(len(words) > 0)
		}
		if format == "json" {
			return std.writeJSON(output, doc)
		}
		return std.write(output, []byte(text))
	}
	return c
}

// sortArguments tells views from the names of types and taxa. After a --vocabulary that
// names no file, files are vocabularies.
func (f *vocabularyFlags) sortArguments(given []string) (whole bool, views, words []string) {
	var files []string
	for _, v := range f.vocabularies {
		if v == onlyShipped {
			whole = true
		} else {
			files = append(files, v)
		}
	}
	for _, arg := range given {
		switch {
		case !isFile(arg):
			words = append(words, arg)
		case whole:
			files = append(files, arg)
		default:
			views = append(views, arg)
		}
	}
	f.vocabularies = files
	return whole, views, words
}

func isFile(arg string) bool {
	if arg == "-" || strings.ContainsRune(arg, filepath.Separator) || filepath.Ext(arg) != "" {
		return true
	}
	_, err := os.Lstat(arg)
	return err == nil
}

// pickTypes finds the types that words name: a type, taxon|type, or a taxon for all of
// its types. No words name every type.
func pickTypes(reg *registry.Registry, words []string) ([]*registry.EntityType, error) {
	if len(words) == 0 {
		return reg.Types(), nil
	}
	var out []*registry.EntityType
	var faults diag.List
	for _, word := range words {
		taxon, name, qualified := strings.Cut(word, "|")
		n := len(out)
		for _, t := range reg.Types() {
			switch {
			case qualified && t.Taxon == reg.Taxon(taxon) && strings.EqualFold(t.Name, name),
				!qualified && strings.EqualFold(t.Name, word):
				out = append(out, t)
			}
		}
		if t := reg.Taxon(word); len(out) == n && t != nil {
			for _, e := range reg.Types() {
				if e.Taxon == t {
					out = append(out, e)
				}
			}
		}
		if len(out) == n {
			faults.Errorf(diag.UnknownType, diag.Span{}, "there is no entity type or taxon %s", diag.Quote(word)).Hint = hint(word, typeWords(reg))
		}
	}
	if faults != nil {
		return nil, &problemsError{faults}
	}
	return out, nil
}

// typeWords are the names of every type and taxon.
func typeWords(reg *registry.Registry) []string {
	var out []string
	seen := map[string]bool{}
	add := func(name string) {
		if !seen[name] {
			seen[name] = true
			out = append(out, name)
		}
	}
	for _, t := range reg.Types() {
		add(t.Name)
	}
	for _, t := range reg.Taxa() {
		add(t.Name)
	}
	return out
}
