package bwrap

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"umwelt/compilers"
	"umwelt/compilers/confine"
	"umwelt/diag"
)

// wrapper is the commands that hold the limits which bubblewrap has no flag for. Each
// runs the rest of the line as its command.
func wrapper(l confine.Limits) []string {
	var w, rlimits []string
	if l.WallTime != nil {
		// The time 0 would switch the limit off.
		limit := max(time.Millisecond, time.Duration(*l.WallTime).Truncate(time.Millisecond))
		w = append(w, "timeout", "--kill-after=5", strconv.FormatFloat(limit.Seconds(), 'f', -1, 64))
	}
	set := func(name string, n int64) {
		rlimits = append(rlimits, fmt.Sprintf("--%s=%d", name, n))
	}
	if l.Memory != nil {
		set("as", *l.Memory)
	}
	if l.CPUTime != nil {
		set("cpu", max(1, *l.CPUTime/int64(time.Second)))
	}
	if l.MaxFDs != nil {
		set("nofile", *l.MaxFDs)
	}
	if l.MaxProcesses != nil {
		set("nproc", *l.MaxProcesses)
	}
	if l.Disk != nil {
		set("fsize", *l.Disk)
	}
	if rlimits != nil {
		w = append(append(w, "prlimit"), rlimits...)
	}
	return w
}

// unwrapped notes the limits that a bare list of options leaves out.
func unwrapped(l confine.Limits) []compilers.Note {
	var notes []compilers.Note
	for _, s := range l.By {
		// The one limit that is an option, and the one that no form can carry.
		if name := strings.TrimPrefix(s.Name, "max-"); name == "tmpfs" || name == "cpu" {
			continue
		}
		notes = append(notes, note(s.Source, compilers.Dropped, "a list of options carries no such limit; the forms json and sh do"))
	}
	return notes
}

// shrink says how to come to a plan with fewer mounts.
func shrink(c *confine.Confinement) string {
	if len(c.ByName) > 0 && !c.Usual {
		by := c.ByName[0]
		rule := "a fixed constraint of the world"
		if by.Rule != nil {
			rule = diag.Escape(by.Rule.Selector.Text) + " (" + by.String() + ")"
		}
		return rule + " goes by the names of files, so that each file is a mount of its own; --set new-files=usual leaves it aside for files created later"
	}
	most, count := "", map[string]int{}
	for _, e := range c.Plan {
		if count[e.Why]++; count[e.Why] > count[most] {
			most = e.Why
		}
	}
	return "most of the mounts come of " + most + ": let rules and recipes speak of directories (a path prefix, a descendant), so that a directory is one mount; or use nsjail"
}

func note(by confine.Source, level compilers.Level, why string) compilers.Note {
	return compilers.Note{Rule: by.Rule, Declaration: by.Declaration, Level: level, Why: why}
}
