package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"umwelt"
	"umwelt/diag"
)

// governing are the files that the policy was read from, as far as they have a path.
func governing(p *umwelt.Policy) []string {
	var out []string
	for _, src := range p.Sources {
		// What came from standard input has a name and no file.
		if _, err := os.Lstat(src.Name); err == nil {
			out = append(out, src.Name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// inRoot are the paths in the project that lead to a file: its own, and that of what a
// link leads to.
func inRoot(root, file string) []string {
	var out []string
	full, err := filepath.Abs(file)
	if err != nil {
		return nil
	}
	real, err := filepath.EvalSymlinks(full)
	if err != nil {
		real = full
	}
	// The directory of a file may be reached through a link as well.
	dir, err := filepath.EvalSymlinks(filepath.Dir(full))
	if err != nil {
		dir = filepath.Dir(full)
	}
	realRoot, err := filepath.EvalSymlinks(root)
	if err != nil {
		realRoot = root
	}
	for _, path := range []string{full, filepath.Join(dir, filepath.Base(full)), real} {
		for _, base := range []string{root, realRoot} {
			if rel, ok := strings.CutPrefix(path, strings.TrimSuffix(base, "/")+"/"); ok && !slices.Contains(out, rel) {
				out = append(out, rel)
			}
		}
	}
	return out
}

// protect keeps the files of the policy from being changed from inside: this run has read
// them, but the next one will read them again.
func (r *runReport) protect(std *streams, f *runFlags, views []string) {
	root := r.confinement.Root
	var paths []string
	for _, file := range governing(r.policy) {
		paths = append(paths, inRoot(root, file)...)
	}
	slices.Sort(paths)
	r.protected = r.confinement.Protect(slices.Compact(paths)...)
	for _, path := range r.protected {
		fmt.Fprintf(std.err, "umwelt: %s is part of the policy, so it cannot be changed from inside, whatever the view says\n", diag.Escape(path))
	}
	// World files that are not there, but that the next run would find.
	if f.world != "" || len(views) == 0 {
		return
	}
	candidates := []string{filepath.Join(r.policy.World.Root, "umwelt.world.yml")}
	if views[0] != "-" {
		candidates = append(candidates, strings.TrimSuffix(views[0], filepath.Ext(views[0]))+".world.yml")
	}
	for _, candidate := range candidates {
		if _, err := os.Lstat(candidate); err != nil {
			r.absent = append(r.absent, candidate)
		}
	}
}

// finish looks for files that were made inside and that would govern the next run.
func (r *runReport) finish(std *streams) {
	for _, candidate := range r.absent {
		if _, err := os.Lstat(candidate); err == nil {
			r.appeared = append(r.appeared, candidate)
			fmt.Fprintf(std.err, "umwelt: %s was made during the run, and the next run would take it for its world: look at it first\n", diag.Escape(candidate))
		}
	}
}
