package main

import (
	"bytes"
	"strings"

	"github.com/spf13/cobra"

	"umwelt"
	"umwelt/compilers/all"
	"umwelt/diag"
	"umwelt/registry"
)

func completionCommand(std *streams) *cobra.Command {
	shells := []string{"bash", "zsh", "fish"}
	return &cobra.Command{
		Use:   "completion bash|zsh|fish",
		Short: "Print a completion script for a shell",
		Long: `Completion prints a script that makes a shell complete commands, flags, targets and their
options, kinds of file, and the entities that a policy knows.`,
		Example: `  source <(umwelt completion bash)
  umwelt completion zsh > "${fpath[1]}/_umwelt"
  umwelt completion fish > ~/.config/fish/completions/umwelt.fish`,
		Args:              args(1, 1, "one of bash, zsh, fish"),
		ValidArgs:         shells,
		ValidArgsFunction: cobra.FixedCompletions(shells, cobra.ShellCompDirectiveNoFileComp),
		RunE: func(c *cobra.Command, given []string) error {
			var b bytes.Buffer
			var err error
			switch given[0] {
			case "bash":
				err = c.Root().GenBashCompletionV2(&b, true)
			case "zsh":
				err = c.Root().GenZshCompletion(&b)
			case "fish":
				err = c.Root().GenFishCompletion(&b, true)
			default:
				return problem(diag.BadOption, hint(given[0], shells), "there is no completion for %s", diag.Quote(given[0]))
			}
			if err != nil {
				return err
			}
			return std.print(b.Bytes())
		},
	}
}

// completeViews offers views and directories.
func completeViews(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"umw"}, cobra.ShellCompDirectiveFilterFileExt
}

// completeWorlds offers world files and snapshots.
func completeWorlds(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"yml", "yaml"}, cobra.ShellCompDirectiveFilterFileExt
}

// completeInspect offers the words of the vocabulary beside views.
func completeInspect(c *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	var flags vocabularyFlags
	flags.vocabularies, _ = c.Flags().GetStringArray("vocabulary")
	flags.sortArguments(nil)
	reg, _ := umwelt.Vocabulary(flags.vocabularies)
	out := matching(typeWords(reg), word)
	if len(out) == 0 {
		return completeViews(nil, nil, "")
	}
	return out, cobra.ShellCompDirectiveDefault
}

func completeTargets(_ *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	var out []string
	for _, c := range all.Compilers() {
		out = append(out, cobra.CompletionWithDesc(c.Info.Name, c.Info.Description))
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// completeSet offers the keys of the chosen target's options, then the values of a key.
func completeSet(c *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	name, _ := c.Flags().GetString("target")
	t, err := target(name)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	key, _, valued := strings.Cut(word, "=")
	var out []string
	for _, o := range t.Info.Options {
		switch {
		case !valued:
			out = append(out, cobra.CompletionWithDesc(o.Key+"=", o.Description))
		case o.Key == key:
			for _, v := range o.Values {
				out = append(out, o.Key+"="+v)
			}
		}
	}
	if valued {
		return out, cobra.ShellCompDirectiveNoFileComp
	}
	return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// completeContext offers entity types, then the ids of the type's entities in the world
// that the command line names.
func (f *policyFlags) completeContext(_ *cobra.Command, views []string, word string) ([]string, cobra.ShellCompDirective) {
	done, part := "", word
	if i := strings.LastIndexByte(word, ','); i >= 0 {
		done, part = word[:i+1], word[i+1:]
	}
	p := umwelt.Load(umwelt.Options{Vocabularies: f.vocabularies, World: f.world, Root: f.root, Env: f.env}, views...)
	typ, _, named := strings.Cut(part, "=")
	var out []string
	if named {
		if p.World == nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		for _, id := range ids(p, p.Registry.Type(typ)) {
			out = append(out, done+typ+"="+id)
		}
		return matching(out, word), cobra.ShellCompDirectiveNoFileComp
	}
	if p.Registry != nil {
		for _, t := range p.Registry.Types() {
			out = append(out, done+t.Name+"=")
		}
	}
	return matching(out, word), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// completeExplain offers a view, then a selector (a type, and then its entities), then a
// property of the type.
func (f *policyFlags) completeExplain(_ *cobra.Command, given []string, word string) ([]string, cobra.ShellCompDirective) {
	if len(given) == 0 {
		return completeViews(nil, nil, "")
	}
	o := umwelt.Options{Vocabularies: f.vocabularies, World: f.world, Root: f.root, Env: f.env}
	var out []string
	switch typ, _, named := strings.Cut(word, "#"); {
	case len(given) > 2:
		return nil, cobra.ShellCompDirectiveNoFileComp
	case len(given) == 2:
		p := umwelt.Parse(o, given[0])
		if t := typeOfSelector(p.Registry, given[1]); t != nil {
			for _, prop := range t.Properties {
				out = append(out, cobra.CompletionWithDesc(prop.Name, prop.Description))
			}
		}
		return matching(out, word), cobra.ShellCompDirectiveNoFileComp
	case named:
		p := umwelt.Load(o, given[0])
		if p.World != nil {
			for _, id := range ids(p, p.Registry.Type(typ)) {
				if strings.ContainsAny(id, "\"\\") {
					continue
				}
				if !isPlain(id) {
					id = `"` + id + `"`
				}
				out = append(out, typ+"#"+id)
			}
		}
		return matching(out, word), cobra.ShellCompDirectiveNoFileComp
	}
	p := umwelt.Parse(o, given[0])
	if p.Registry != nil {
		for _, t := range p.Registry.Types() {
			out = append(out, t.Name+"#")
		}
	}
	return matching(out, word), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// typeOfSelector is the entity type that a selector's text begins with, or nil.
func typeOfSelector(reg *registry.Registry, selector string) *registry.EntityType {
	if reg == nil {
		return nil
	}
	end := strings.IndexFunc(selector, func(r rune) bool { return strings.ContainsRune("#.[: >+~", r) })
	if end < 0 {
		end = len(selector)
	}
	return reg.Type(selector[:end])
}

// mostIDs bounds how many entities a completion offers.
const mostIDs = 500

// ids are the ids of a type's entities that can stand on a command line.
func ids(p *umwelt.Policy, t *registry.EntityType) []string {
	var out []string
	for i := range p.World.Entities {
		e := &p.World.Entities[i]
		if e.Type == t && diag.Escape(e.ID) == e.ID {
			out = append(out, e.ID)
			if len(out) == mostIDs {
				break
			}
		}
	}
	return out
}

func isPlain(id string) bool {
	return id != "" && !strings.ContainsFunc(id, func(r rune) bool {
		return !(r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z')
	})
}

func matching(words []string, prefix string) []string {
	var out []string
	for _, w := range words {
		if strings.HasPrefix(w, prefix) {
			out = append(out, w)
		}
	}
	return out
}
