package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"umwelt"
	"umwelt/diag"
	"umwelt/registry"
	"umwelt/world"
)

func materializeCommand(std *streams) *cobra.Command {
	var format, output, level string
	var flags worldFlags
	c := &cobra.Command{
		Use:   "materialize [WORLD]",
		Short: "Write down everything that exists",
		Long: `Materialize runs a world file's discovery, composition and constraints, and writes what
exists: a summary (counts), an outline (types, ids, classes, parents) or a full snapshot
(everything, with where it came from). A full snapshot is itself a world file. A database
(--format sqlite) holds everything too, as one of a policy without rules.

Without a world file it takes umwelt.world.yml in the root, else the root itself. The
time in the snapshot is SOURCE_DATE_EPOCH where that is set.`,
		Example: "  umwelt materialize dev.world.yml --level summary\n  umwelt materialize dev.world.yml --level full -o before.yml",
		Args:    args(0, 1, "one world file"),
		ValidArgsFunction: func(c *cobra.Command, given []string, word string) ([]string, cobra.ShellCompDirective) {
			if len(given) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return completeWorlds(c, given, word)
		},
	}
	check := formatFlag(c, &format, "yaml", "json", "sqlite")
	levels := []string{world.Summary.String(), world.Outline.String(), world.Full.String()}
	c.Flags().StringVar(&level, "level", world.Summary.String(), "how much: `level` summary, outline or full")
	must(c.RegisterFlagCompletionFunc("level", cobra.FixedCompletions(levels, cobra.ShellCompDirectiveNoFileComp)))
	flags.add(c)
	outputFlag(c, &output)
	c.RunE = func(_ *cobra.Command, paths []string) error {
		if err := check(); err != nil {
			return err
		}
		if err := oneOf("level", level, levels...); err != nil {
			return err
		}
		if format == "sqlite" && c.Flags().Changed("level") && level != world.Full.String() {
			return problem(diag.BadOption, "leave --level out, or make it full", "a database holds everything")
		}
		when, err := timestamp(os.Getenv("SOURCE_DATE_EPOCH"))
		if err != nil {
			return err
		}
		path := ""
		if len(paths) > 0 {
			path = paths[0]
		}
		if format == "sqlite" {
			return flags.database(std, path, output)
		}
		reg, err := flags.registry(std, path)
		if err != nil {
			return err
		}
		w, source, list := flags.loadWorld(std, reg, path)
		if err := flags.judge(list); err != nil {
			return err
		}
		std.render(list)
		l, _ := world.ParseLevel(level)
		var b bytes.Buffer
		err = world.Write(&b, w, world.WriteOptions{
			Level: l, JSON: format == "json", Source: source, Version: "umwelt " + buildInfo().Version, Time: when,
		})
		if err != nil {
			return err
		}
		return std.write(output, b.Bytes())
	}
	return c
}

// database writes a world as the database of a policy without rules.
func (f *worldFlags) database(std *streams, path, output string) error {
	if err := onceStdin(append([]string{path}, f.vocabularies...)); err != nil {
		return err
	}
	o := f.options(std)
	o.World, o.Stat = path, true
	std.doing("reading the world")
	p := umwelt.Load(o)
	std.readBy(p)
	std.stopProgress()
	if err := f.judge(p.Diagnostics); err != nil {
		return err
	}
	std.render(p.Diagnostics)
	t, err := target("sqlite")
	if err != nil {
		return err
	}
	out := t.Compile(p.Input(nil, buildInfo().Version))
	if err := f.judge(out.Diagnostics); err != nil {
		return err
	}
	return std.write(output, out.Text)
}

// loadWorld materializes a world file, or what stands for none being named. It gives the
// name of what it read.
func (f *worldFlags) loadWorld(std *streams, reg *registry.Registry, path string) (*world.World, string, diag.List) {
	root, list := umwelt.ResolveRoot(f.root)
	if list.HasErrors() {
		return nil, "", list
	}
	o := f.options(std)
	o.Root, o.Stat = root, true
	options := umwelt.WorldOptions(o, reg)
	std.doing("reading the world")
	defer std.stopProgress()
	if path == "" {
		path = umwelt.FindWorld(f.root, nil)
	}
	if path == "" {
		w, list := world.Implicit(options)
		return w, f.root, list
	}
	src, err := umwelt.ReadSource(path, std.in)
	if err != nil {
		list.Errorf(diag.Unreadable, diag.Span{}, "%v", err)
		return nil, "", list
	}
	w, list := world.LoadText(src, filepath.Dir(path), options)
	return w, src.Name, list
}

// timestamp is now, or the given seconds since 1970, as RFC 3339 in UTC.
func timestamp(epoch string) (string, error) {
	if epoch == "" {
		return time.Now().UTC().Format(time.RFC3339), nil
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	const lastYear = 253402300799 // the end of the year 9999, after which RFC 3339 has no form
	if err != nil || seconds < 0 || seconds > lastYear {
		return "", problem(diag.BadOption, "", "SOURCE_DATE_EPOCH is %s, not a number of seconds since 1970", diag.Quote(epoch))
	}
	return time.Unix(seconds, 0).UTC().Format(time.RFC3339), nil
}
