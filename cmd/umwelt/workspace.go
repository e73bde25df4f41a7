package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"umwelt"
	"umwelt/compilers/confine"
	"umwelt/diag"
	"umwelt/sandbox/workspace"
)

func workspaceCommand(std *streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "workspace",
		Short: "Work on a copy of what a view shows, and bring back what it allows",
		Long: `Workspace makes a directory that holds exactly the files that a view makes visible, and
brings what was done there back into the project as far as the view allows it.

Only the directory "tree" in a workspace is the actor's. What lies beside it says what was
put there and what is allowed, so it must stay out of the actor's reach.`,
		Example: "  umwelt workspace build auth-fix.umw -o ../ws\n  umwelt workspace apply ../ws",
		Args:    unknownCommand,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(workspaceBuildCommand(std), workspaceApplyCommand(std), workspaceRemoveCommand(std))
	return c
}

// buildFlags are the flags of workspace build alone.
type buildFlags struct {
	policyFlags
	dir, strategy, format string
	confined              bool
}

func workspaceBuildCommand(std *streams) *cobra.Command {
	var f buildFlags
	c := &cobra.Command{
		Use:   "build VIEW…",
		Short: "Make a workspace of what views show",
		Long: `Build makes a directory with the files that the views make visible in its "tree". Files
that may be changed are copies. For files that may only be read, the strategy says:

  copy     copies without permission to write; they share blocks where the filesystem can
  link     symbolic links to the project's files, but copies where this user could write
           through them. With --confined all are links: it says that whoever works in the
           tree is kept from writing to the project
  overlay  nothing is copied before it is changed; needs the right to mount

The files that the policy was read from cannot be changed in a workspace, whatever the
views say. JSON has the schema umwelt.workspace-build/1, and the workspace's own record,
manifest.json, has umwelt.workspace/1.`,
		Example:           "  umwelt workspace build auth-fix.umw -o ../ws\n  umwelt workspace build review.umw --context mode=review --strategy link --confined",
		Args:              args(1, -1, "at least one view"),
		ValidArgsFunction: completeViews,
	}
	c.Flags().StringVarP(&f.dir, "output", "o", "", "the `directory` to make (default: the project root's name with .workspace after it, beside it)")
	c.Flags().StringVar(&f.strategy, "strategy", string(workspace.Copy), "how read-only files come in: "+strings.Join(workspace.Strategies(), ", "))
	c.Flags().BoolVar(&f.confined, "confined", false, "whoever works in the tree cannot write to the project, so links to it are safe")
	must(c.MarkFlagDirname("output"))
	must(c.RegisterFlagCompletionFunc("strategy", cobra.FixedCompletions(workspace.Strategies(), cobra.ShellCompDirectiveNoFileComp)))
	check := formatFlag(c, &f.format, "text", "json")
	f.add(c)
	c.RunE = func(_ *cobra.Command, views []string) error {
		if err := check(); err != nil {
			return err
		}
		if err := oneOf("strategy", f.strategy, workspace.Strategies()...); err != nil {
			return err
		}
		if f.confined && f.strategy != string(workspace.Link) {
			return problem(diag.BadOption, "", "--confined is about links, so it needs --strategy link")
		}
		return f.run(std, views)
	}
	return c
}

func (f *buildFlags) run(std *streams, views []string) error {
	p, err := f.load(std, views)
	if err != nil {
		return err
	}
	list := slices.Clone(p.Diagnostics)
	tree, problems := confine.Tree(p.Resolution)
	if list = append(list, problems...); list.HasErrors() {
		return &problemsError{list}
	}
	for _, path := range f.capPolicy(tree, p, views) {
		list.Warnf(diag.Unenforced, diag.Span{}, "%s is part of the policy, so it cannot be changed in the workspace, whatever the view says", diag.Quote(path))
	}
	dir := f.dir
	if dir == "" {
		dir = p.World.Root + ".workspace"
	}
	std.doing("building the workspace")
	built, err := workspace.Build(tree, workspace.Options{Root: p.World.Root, Dir: dir, Strategy: workspace.Strategy(f.strategy), Confined: f.confined})
	std.stopProgress()
	if err != nil {
		return problem(diag.Output, "", "no workspace is made: %v", err)
	}
	for _, s := range built.Skipped {
		list.Warnf(diag.Unreadable, diag.Span{}, "%s is not in the workspace: %s", diag.Quote(s.Path), s.Why)
	}
	if err := f.judge(list); err != nil {
		if removing := workspace.Remove(built.Dir); removing != nil {
			list.Errorf(diag.Output, diag.Span{}, "the workspace cannot be removed again: %v", removing)
			return &problemsError{list}
		}
		return err
	}
	doc := builtDocumentOf(built, list)
	if f.format == "json" {
		return std.writeJSON("", doc)
	}
	std.render(list)
	return std.print(doc.text())
}

// capPolicy keeps the files that the policy was read from, and world files that are not
// there but would be read the next time, from being changed or made. It gives those that
// the views would have let be changed.
func (f *buildFlags) capPolicy(tree *confine.Node, p *umwelt.Policy, views []string) []string {
	files := governing(p)
	if f.world == "" {
		files = append(files, filepath.Join(p.World.Root, "umwelt.world.yml"))
		if views[0] != "-" {
			files = append(files, strings.TrimSuffix(views[0], filepath.Ext(views[0]))+".world.yml")
		}
	}
	there := map[string]bool{}
	confineWalk(tree, "", func(path string) { there[path] = true })
	var out []string
	for _, file := range files {
		for _, path := range inRoot(p.World.Root, file) {
			if tree.Cap(path, confine.ReadOnly) && there[path] {
				out = append(out, path)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// confineWalk visits the paths of the files of a tree.
func confineWalk(n *confine.Node, path string, visit func(path string)) {
	for _, c := range n.Children {
		at := c.Name
		if path != "" {
			at = path + "/" + c.Name
		}
		if c.Kind != confine.Dir {
			visit(at)
		}
		confineWalk(c, at, visit)
	}
}

// builtDocument is a workspace that was made, in JSON.
type builtDocument struct {
	Schema      string           `json:"schema"`
	Workspace   string           `json:"workspace"`
	Tree        string           `json:"tree"` // what to give to the actor
	Root        string           `json:"root"`
	Strategy    string           `json:"strategy"`
	Counts      workspace.Counts `json:"counts"`
	Copied      int              `json:"copied-instead-of-linked,omitempty"`
	Manifest    string           `json:"manifest"` // its digest
	Diagnostics []diagnostic     `json:"diagnostics"`
}

func builtDocumentOf(b *workspace.Built, list diag.List) builtDocument {
	return builtDocument{
		Schema: "umwelt.workspace-build/1", Workspace: utf8Text(b.Dir), Tree: utf8Text(filepath.Join(b.Dir, workspace.TreeName)),
		Root: utf8Text(string(b.Manifest.Root)), Strategy: string(b.Manifest.Strategy), Counts: b.Manifest.Counts(), Copied: b.Copied,
		Manifest: b.Manifest.Digest, Diagnostics: diagnostics(list),
	}
}

func (d builtDocument) text() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "tree      %s\n", diag.Escape(d.Tree))
	fmt.Fprintf(&b, "files     %d writable, %d read-only, %d hidden\n", d.Counts.Writable, d.Counts.ReadOnly, d.Counts.Hidden)
	if d.Copied > 0 {
		fmt.Fprintf(&b, "copied    %d read-only files, since this user could write through links to them\n", d.Copied)
	}
	fmt.Fprintf(&b, "manifest  %s\n", d.Manifest)
	return []byte(b.String())
}

func workspaceApplyCommand(std *streams) *cobra.Command {
	var format, output string
	var o workspace.ApplyOptions
	c := &cobra.Command{
		Use:   "apply DIR",
		Short: "Bring what was done in a workspace into the project",
		Long: `Apply compares the tree of a workspace with what was put there and with the project as it
is now, decides about every entry, and then does it:

  no-op     unchanged, or the project has it already
  applied   a change came into the project; created and deleted likewise
  rejected  the policy does not allow the change
  conflict  the project changed meanwhile, so it was left as it is

Each file is replaced at once. Where apply is interrupted, every file is the old or the new
one, and applying again finishes. With --strict nothing is applied where anything is
rejected or in conflict; then, as whenever there is any such entry, it exits with 1. JSON
has the schema umwelt.workspace-apply/1.`,
		Example:           "  umwelt workspace apply ../ws\n  umwelt workspace apply ../ws --strict --format json",
		Args:              args(1, 1, "one workspace"),
		ValidArgsFunction: completeWorkspace,
	}
	c.Flags().BoolVar(&o.Strict, "strict", false, "apply nothing where anything is rejected or in conflict")
	c.Flags().StringVar(&o.Digest, "digest", "", "the `digest` that the workspace's manifest must have, as build or the last apply gave it")
	check := formatFlag(c, &format, "text", "json")
	outputFlag(c, &output)
	c.RunE = func(_ *cobra.Command, dirs []string) error {
		if err := check(); err != nil {
			return err
		}
		std.doing("applying the workspace")
		report, err := workspace.Apply(dirs[0], o)
		std.stopProgress()
		if report == nil {
			return problem(diag.Output, "", "nothing is applied: %v", err)
		}
		if writing := writeReport(std, format, output, report); writing != nil {
			return writing
		}
		switch bad := report.Counts[workspace.Rejected] + report.Counts[workspace.Conflict]; {
		case err != nil:
			return problem(diag.Output, "", "%v", err)
		case bad > 0 && !report.Applied:
			return findingsError{"nothing is applied, since not everything can be"}
		case bad > 0:
			return findingsError{"not everything is applied"}
		}
		return nil
	}
	return c
}

func writeReport(std *streams, format, output string, r *workspace.Report) error {
	if format != "json" {
		return std.write(output, []byte(r.Text()))
	}
	doc := *r
	doc.Dir, doc.Root = workspace.Name(utf8Text(string(r.Dir))), workspace.Name(utf8Text(string(r.Root)))
	doc.Changes = slices.Clone(r.Changes)
	for i := range doc.Changes {
		doc.Changes[i].Path = workspace.Name(utf8Text(string(doc.Changes[i].Path)))
	}
	return std.writeJSON(output, &doc)
}

func workspaceRemoveCommand(std *streams) *cobra.Command {
	return &cobra.Command{
		Use:               "remove DIR",
		Short:             "Remove a workspace, and what was not applied with it",
		Example:           "  umwelt workspace remove ../ws",
		Args:              args(1, 1, "one workspace"),
		ValidArgsFunction: completeWorkspace,
		RunE: func(_ *cobra.Command, dirs []string) error {
			std.doing("removing the workspace")
			if err := workspace.Remove(dirs[0]); err != nil {
				return problem(diag.Output, "", "%v", err)
			}
			return nil
		},
	}
}

// completeWorkspace offers directories.
func completeWorkspace(_ *cobra.Command, given []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(given) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveFilterDirs
}
