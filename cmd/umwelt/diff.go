package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"umwelt/database"
	"umwelt/diag"
	"umwelt/policydiff"
	"umwelt/world"
)

// diffFlags are the flags of diff alone.
type diffFlags struct {
	policyFlags
	format, output, require string
	contexts, limit         int
}

func diffCommand(std *streams) *cobra.Command {
	var f diffFlags
	c := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Say which answers two views give differently, or how two worlds differ",
		Long: `Diff compares two views, a view with a saved database, or two worlds.

Of two views it says which answers differ over one world: for which entities and
properties, in which contexts, and whether the actor gets more (a widening) or less (a
narrowing). Contexts are all that the qualifiers of the rules tell apart, and what may be
made later counts too. Where no order tells which answer is the tighter one, it is a
change, and counts as a widening. With --require no-widening only a widening, or a context
that was left out, exits with 1: a gate for changes to a policy. Where nothing differs,
diff says whether the views can be shown to be equivalent in every world.

Of a view and a database (umwelt compile --target sqlite) it says how the view, over the
world as it is now, has drifted from what was saved. The database is the old one, in
whichever order they are given. What is in only one of their worlds grants nothing in the
other, only the environment that was saved is compared, and secrets are not, since no
database holds them.

Of two worlds it says which entities and fixed constraints were removed, added or changed,
and in what. They are full snapshots (umwelt materialize --level full) or world files,
whose discovery then runs now. Where things came from is no difference.

Exit status 1 says that there are differences. JSON has the schema umwelt.diff/1.`,
		Example: `  git show HEAD:agent.umw | umwelt diff - agent.umw --require no-widening
  umwelt diff old.umw new.umw --world dev.world.yml --format json
  umwelt diff agent.umw approved.db --require no-widening
  umwelt diff before.yml after.yml`,
		Args: args(2, 2, "two views, a view and a database, or two world files"),
		ValidArgsFunction: func(_ *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return []string{"umw", "db", "yml", "yaml", "json"}, cobra.ShellCompDirectiveFilterFileExt
		},
	}
	check := formatFlag(c, &f.format, "text", "json")
	c.Flags().StringVar(&f.require, "require", "", "`what` must hold of two views: no-widening")
	c.Flags().IntVar(&f.contexts, "contexts", policydiff.DefaultContexts, "compare views in `n` contexts at most, in each environment")
	c.Flags().IntVar(&f.limit, "limit", 5, "how many entities to name for each difference; 0 for all")
	must(c.RegisterFlagCompletionFunc("require", cobra.FixedCompletions([]string{"no-widening"}, cobra.ShellCompDirectiveNoFileComp)))
	f.add(c)
	outputFlag(c, &f.output)
	c.RunE = func(_ *cobra.Command, paths []string) error {
		if err := check(); err != nil {
			return err
		}
		a, b := isView(paths[0], paths[1]), isView(paths[1], paths[0])
		old, now := database.Is(paths[0]), database.Is(paths[1])
		switch {
		case old && !b || now && !a:
			return problem(diag.BadOption, "", "a saved policy is compared with a view, or with another one, and %s is neither", diag.Quote(paths[boolInt(old)]))
		case old:
			return f.views(std, paths[0], paths[1])
		case now:
			return f.views(std, paths[1], paths[0])
		case a != b:
			return problem(diag.BadOption, "compare a view with a view, or a world with a world", "%s is a view, and %s is none", diag.Quote(paths[boolInt(b)]), diag.Quote(paths[boolInt(a)]))
		case a:
			return f.views(std, paths[0], paths[1])
		case f.require != "" || f.world != "" || f.context != nil:
			return problem(diag.BadOption, "", "--require, --world and --context are for two views")
		}
		return f.worlds(std, paths[0], paths[1])
	}
	return c
}

func (f *diffFlags) worlds(std *streams, old, now string) error {
	reg, err := f.registry(std, old, now)
	if err != nil {
		return err
	}
	a, _, list := f.loadWorld(std, reg, old)
	b, _, more := f.loadWorld(std, reg, now)
	if list = append(list, more...); f.judge(list) != nil {
		return f.judge(list)
	}
	changes := world.Diff(a, b)
	if f.format == "json" {
		err = std.writeJSON(f.output, diffDocument{"umwelt.diff/1", changesOf(changes), diagnostics(list)})
	} else {
		std.render(list)
		err = std.write(f.output, std.changesText(changes, f.output == "" || f.output == "-"))
	}
	if err == nil && len(changes) > 0 {
		return findingsError{}
	}
	return err
}

// diffDocument is a comparison of worlds in JSON.
type diffDocument struct {
	Schema      string       `json:"schema"`
	Changes     []change     `json:"changes"`
	Diagnostics []diagnostic `json:"diagnostics"`
}

// change is one difference. What is "entity" or "fixed"; of a fixed constraint the ID is
// its selector.
type change struct {
	Kind   string        `json:"kind"` // removed, changed or added
	What   string        `json:"what"`
	Taxon  string        `json:"taxon,omitempty"`
	Type   string        `json:"type,omitempty"`
	ID     string        `json:"id"`
	Fields []fieldChange `json:"fields,omitempty"`
}

// fieldChange is one fact; what a world lacks is left out.
type fieldChange struct {
	Name string  `json:"name"`
	Old  *string `json:"old,omitempty"`
	New  *string `json:"new,omitempty"`
}

func changesOf(changes []world.Change) []change {
	out := make([]change, 0, len(changes))
	for _, c := range changes {
		j := change{Kind: c.Kind.String(), What: "fixed", ID: utf8Text(c.ID)}
		if c.Type != nil {
			j.What, j.Taxon, j.Type = "entity", c.Type.Taxon.Name, c.Type.Name
		}
		for _, f := range c.Fields {
			field := fieldChange{Name: f.Name}
			if f.Had {
				old := utf8Text(f.Old)
				field.Old = &old
			}
			if f.Has {
				now := utf8Text(f.New)
				field.New = &now
			}
			j.Fields = append(j.Fields, field)
		}
		out = append(out, j)
	}
	return out
}

// changesText is one line per entity, and one per changed fact below it.
func (s *streams) changesText(changes []world.Change, terminal bool) []byte {
	signs := map[world.ChangeKind]string{world.Removed: "-", world.Changed: "~", world.Added: "+"}
	var b strings.Builder
	for _, c := range changes {
		line := signs[c.Kind] + " fixed " + diag.Escape(c.ID)
		if c.Type != nil {
			line = fmt.Sprintf("%s %s %s", signs[c.Kind], c.Type.Name, diag.Quote(c.ID))
		}
		if terminal {
			line = s.tint([]byte(line))
		}
		b.WriteString(line + "\n")
		for _, f := range c.Fields {
			fmt.Fprintf(&b, "    %s: %s → %s\n", f.Name, factText(f.Old, f.Had), factText(f.New, f.Has))
		}
	}
	return []byte(b.String())
}

func factText(text string, has bool) string {
	if !has {
		return "(none)"
	}
	return diag.Quote(text)
}
