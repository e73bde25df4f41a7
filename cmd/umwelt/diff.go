package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"umwelt/diag"
	"umwelt/world"
)

func diffCommand(std *streams) *cobra.Command {
	var format, output string
	var flags worldFlags
	c := &cobra.Command{
		Use:   "diff A.world.yml B.world.yml",
		Short: "Say what came, went and changed between two worlds",
		Long: `Diff compares two worlds: which entities and fixed constraints were removed, added or
changed, and in what. A and B are full snapshots (umwelt materialize --level full) or
world files, whose discovery then runs now. Where things came from is no difference.
It compares worlds only, not views. Exit status 1 says that the worlds differ. JSON has
the schema umwelt.diff/1.`,
		Example:           "  umwelt materialize dev.world.yml --level full -o before.yml\n  umwelt materialize dev.world.yml --level full -o after.yml\n  umwelt diff before.yml after.yml",
		Args:              args(2, 2, "two world files"),
		ValidArgsFunction: completeWorlds,
	}
	check := formatFlag(c, &format, "text", "json")
	flags.add(c)
	outputFlag(c, &output)
	c.RunE = func(_ *cobra.Command, paths []string) error {
		if err := check(); err != nil {
			return err
		}
		for _, path := range paths {
			if filepath.Ext(path) == ".umw" {
				return problem(diag.BadOption, "materialize the worlds with --level full and compare those", "%s is a view, and diff compares worlds", diag.Quote(path))
			}
		}
		reg, err := flags.registry(std, paths...)
		if err != nil {
			return err
		}
		a, _, list := flags.loadWorld(std, reg, paths[0])
		b, _, more := flags.loadWorld(std, reg, paths[1])
		if list = append(list, more...); flags.judge(list) != nil {
			return flags.judge(list)
		}
		changes := world.Diff(a, b)
		if format == "json" {
			err = std.writeJSON(output, diffDocument{"umwelt.diff/1", changesOf(changes), diagnostics(list)})
		} else {
			std.render(list)
			err = std.write(output, std.changesText(changes, output == "" || output == "-"))
		}
		if err == nil && len(changes) > 0 {
			return findingsError{}
		}
		return err
	}
	return c
}

// diffDocument is a comparison in JSON.
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
