package main

import (
	"fmt"
	"os"
	"path/filepath"

	"umwelt/compilers/confine"
	"umwelt/diag"
	"umwelt/sandbox/workspace"
)

// virtual is the workspace of a run.
type virtual struct {
	built       *workspace.Built
	confinement *confine.Confinement // over the workspace's tree
}

// enter makes a workspace of what the policy shows, for the command to work on in place of
// the project. It lies beside the project, so that files can be moved over at the end, or
// where that is not to be, among temporary files.
func (f *runFlags) enter(std *streams, r *runReport) error {
	c := r.confinement
	dir, err := os.MkdirTemp(filepath.Dir(c.Root), ".umwelt-run-")
	if err != nil {
		if dir, err = os.MkdirTemp("/var/tmp", "umwelt-run-"); err != nil {
			return statusError{exitUnusable, "no workspace can be made: " + diag.Escape(err.Error())}
		}
	}
	std.doing("building the workspace")
	built, err := workspace.Build(c.Tree, workspace.Options{Root: c.Root, Dir: filepath.Join(dir, "ws"), Strategy: workspace.Copy})
	std.stopProgress()
	if err != nil {
		os.RemoveAll(dir)
		return statusError{exitUnusable, "no workspace can be made: " + diag.Escape(err.Error())}
	}
	inside := *c
	inside.Root = filepath.Join(built.Dir, workspace.TreeName)
	inside.Tree = visibleOnly(c.Tree, inside.Root)
	inside.Plan, _ = confine.Plan(inside.Tree)
	r.workspace = &virtual{built, &inside}
	return nil
}

// visibleOnly is a tree without what a workspace does not hold.
func visibleOnly(n *confine.Node, at string) *confine.Node {
	out := *n
	out.Children = nil
	for _, c := range n.Children {
		path := filepath.Join(at, c.Name)
		if _, err := os.Lstat(path); err == nil {
			out.Children = append(out.Children, visibleOnly(c, path))
		}
	}
	return &out
}

// leave brings what was done in the workspace into the project, as far as the policy allows
// it, and removes the workspace unless something of it would be lost.
func (r *runReport) leave(std *streams) (changed bool) {
	dir := r.workspace.built.Dir
	report, err := workspace.Apply(dir, workspace.ApplyOptions{Digest: r.workspace.built.Manifest.Digest})
	if err != nil {
		fmt.Fprintf(std.err, "umwelt: the workspace %s could not be applied: %s\n", diag.Quote(dir), diag.Escape(err.Error()))
		return report != nil && report.Changed()
	}
	r.applied = report
	if report.Clean() {
		r.discard(std)
		return report.Changed()
	}
	fmt.Fprintf(std.err, "umwelt: not everything in the workspace could be applied; it is kept in %s\n", diag.Quote(dir))
	fmt.Fprint(std.err, report.Text())
	return report.Changed()
}

// discard removes the workspace.
func (r *runReport) discard(std *streams) {
	dir := r.workspace.built.Dir
	err := workspace.Remove(dir)
	if err == nil {
		err = os.Remove(filepath.Dir(dir))
	}
	if err != nil {
		fmt.Fprintf(std.err, "umwelt: the workspace %s could not be removed: %s\n", diag.Quote(dir), diag.Escape(err.Error()))
	}
}
