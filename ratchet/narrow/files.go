package narrow

import (
	"slices"
	"unicode/utf8"
)

// filePlan is the rules about the project's paths.
type filePlan struct {
	change, see, dirs []*rung
	without           []string // directories in which names came and went, and that no rule can open
	unsayable         []string // paths that no view can name
}

var fileSteps = []Step{Pattern, Suffix, Directory, Subtree}

// planFiles finds the rules for what is needed of paths.
func planFiles(o *Options, slack *int, k *known, made map[string]bool, paths []pathNeed) *filePlan {
	var entries []string
	needs := make(map[string]need, len(paths))
	for i := range paths {
		switch p := &paths[i]; {
		case p.path == ".":
			// The project itself always appears.
		case p.dir && p.entry, !p.dir && p.entry:
			entries = append(entries, k.holder(p.path))
		case p.dir && p.change:
			entries = append(entries, k.holder(p.path+"/x"))
		}
		if p := &paths[i]; !p.dir {
			needs[p.path] = see
			if p.change {
				needs[p.path] = change
			}
		}
	}
	return planFor(o, slack, k, made, paths, entries, needs)
}

// planFor finds the rules for what is needed of paths, and for new names below the
// directories of entries. What needs has may be given to known files besides, and nothing
// else.
func planFor(o *Options, slack *int, k *known, made map[string]bool, paths []pathNeed, entries []string, needs map[string]need) *filePlan {
	plan := &filePlan{}
	var changes, sees, dirs []string
	for i := range paths {
		switch p := &paths[i]; {
		case p.path == ".":
		case p.dir:
			dirs = append(dirs, p.path)
		case p.change:
			changes = append(changes, p.path)
		default:
			sees = append(sees, p.path)
		}
	}
	slices.Sort(changes)
	slices.Sort(sees)
	slices.Sort(dirs)
	entries = slices.Clone(entries)
	slices.Sort(entries)
	entries = slices.Compact(entries)
	if !o.takes(Entries) {
		plan.without, entries = entries, nil
	}
	var unchanged, unseen []string // known files
	for _, p := range k.files {
		n, needed := needs[p]
		if !needed || n != change {
			unchanged = append(unchanged, p)
		}
		if !needed {
			unseen = append(unseen, p)
		}
	}
	plan.change = plan.changeRungs(o, slack, k, made, changes, entries, unchanged)
	plan.see = plan.seeRungs(o, slack, sees, unseen)
	plan.dirs = plan.dirRungs(o, slack, k, dirs, needs)
	return plan
}

func (f *filePlan) changeRungs(o *Options, slack *int, k *known, made map[string]bool, changes, entries, others []string) []*rung {
	l := &ladder{options: o, slack: slack, steps: fileSteps, wanted: changes, others: others, made: made}
	for _, dir := range entries {
		l.wanted = append(l.wanted, markIn(dir))
	}
	slices.Sort(l.wanted)
	covered := make([]bool, len(l.wanted))
	first, without := l.entryRungs(entries, k, covered)
	f.without = append(f.without, without...)
	return f.sayable(trim(append(first, l.climb(covered)...), len(l.wanted), slack))
}

func (f *filePlan) seeRungs(o *Options, slack *int, sees, others []string) []*rung {
	var fits []func(string) bool
	for _, r := range f.change {
		if r.step != Exact {
			fits = append(fits, r.matcher())
		}
	}
	sees = slices.DeleteFunc(sees, func(p string) bool {
		return slices.ContainsFunc(fits, func(fits func(string) bool) bool { return fits(p) })
	})
	l := &ladder{options: o, slack: slack, steps: fileSteps, wanted: sees, others: others}
	return f.sayable(trim(l.climb(make([]bool, len(l.wanted))), len(l.wanted), slack))
}

// dirRungs are rules for directories that would not appear without one: nothing in them does.
func (f *filePlan) dirRungs(o *Options, slack *int, k *known, dirs []string, needs map[string]need) []*rung {
	appear := map[string]bool{"": true}
	for p := range needs {
		if _, known := k.fileAt[p]; !known {
			continue
		}
		for dir := range ancestors(p) {
			if appear[dir] && dir != "" {
				break
			}
			appear[dir] = true
		}
	}
	var whole []*rung
	for _, r := range slices.Concat(f.change, f.see) {
		if r.step == Subtree || r.step == Entries {
			whole = append(whole, r)
		}
	}
	shows := func(dir string) bool {
		if appear[dir] {
			return true
		}
		for _, r := range whole {
			if r.holdsAll(dir) {
				return true
			}
		}
		return false
	}
	wanted := slices.DeleteFunc(slices.Clone(dirs), shows)
	var others []string
	for dir := range k.dirAt {
		if _, found := slices.BinarySearch(dirs, dir); !found && dir != "." && !shows(dir) {
			others = append(others, dir)
		}
	}
	slices.Sort(others)
	l := &ladder{options: o, slack: slack, steps: []Step{Pattern, Directory, Subtree}, wanted: wanted, others: others}
	return f.sayable(trim(l.climb(make([]bool, len(l.wanted))), len(l.wanted), slack))
}

// sayable takes out what no view can name.
func (f *filePlan) sayable(rungs []*rung) []*rung {
	return slices.DeleteFunc(rungs, func(r *rung) bool {
		if r.sayable() {
			return false
		}
		if r.step == Exact && !utf8.ValidString(r.path) {
			f.unsayable = append(f.unsayable, r.path)
		}
		return true
	})
}
