package confine

import (
	"slices"

	"umwelt/compilers"
	"umwelt/registry"
)

// laterAnswer is what a permission is for files created later: the tightest that it may be,
// or the usual one.
type laterAnswer struct {
	least   bool
	by      Source
	depends []*registry.Rule // what fits some names only
	decided bool
}

func (r *reader) later(dir int, t *registry.EntityType, p *registry.Property, usual bool) laterAnswer {
	v := r.res.Future(dir, t, p)
	a := laterAnswer{depends: v.Depends, decided: v.Decided()}
	if usual {
		v = r.res.FutureUsual(dir, t, p)
	}
	a.least = v.Tightest(p).Bool()
	if v.Winner != nil {
		a.by = Source{Rule: v.Winner.Rule, Declaration: v.Winner.Declaration}
	}
	return a
}

// unsure collects the directories in which the name of a new file decides, by the
// declaration that it depends on.
type unsure struct {
	dirs  map[Source][]string
	order []Source
}

const (
	whyLater      = "which new files it fits depends on their names, so the tightest reading holds for files created later in "
	whyFixed      = "which new files a fixed constraint fits depends on their names, so the tightest reading holds for files created later in "
	whyUsual      = "a file created later whose name it fits is treated like its neighbours, in "
	whyUsualFixed = "a file created later whose name a fixed constraint fits is treated like its neighbours, in "
)

func (u *unsure) add(path string, a laterAnswer, properties ...*registry.Property) {
	sources := []Source{{}}
	if len(a.depends) > 0 {
		sources = nil
		for _, rule := range a.depends {
			sources = append(sources, Source{Rule: rule, Declaration: declarationOf(rule, properties)})
		}
	}
	for _, s := range sources {
		if u.dirs == nil {
			u.dirs = map[Source][]string{}
		}
		if u.dirs[s] == nil {
			u.order = append(u.order, s)
		}
		if known := u.dirs[s]; len(known) == 0 || known[len(known)-1] != path {
			u.dirs[s] = append(known, path)
		}
	}
}

// declarationOf is the rule's declaration of one of some properties, or nil.
func declarationOf(rule *registry.Rule, properties []*registry.Property) *registry.Declaration {
	for _, p := range properties {
		for _, d := range rule.Declarations {
			if slices.ContainsFunc(d.Typed, func(t registry.TypedValue) bool { return t.Property == p }) {
				return d
			}
		}
	}
	return nil
}

// notes are one for each declaration, in order of appearance, those of the world last.
func (u *unsure) notes(ofRule, ofFixed string) []compilers.Note {
	slices.SortStableFunc(u.order, func(a, b Source) int { return order(a) - order(b) })
	var out []compilers.Note
	for _, s := range u.order {
		why := ofRule
		if s.Rule == nil {
			why = ofFixed
		}
		dirs := u.dirs[s]
		slices.SortFunc(dirs, ComparePaths)
		out = append(out, s.note(partial, why+some(dirs)))
	}
	return out
}

// most are the declarations by the number of directories in which they decide, most first.
func (u *unsure) most() []Source {
	out := slices.Clone(u.order)
	slices.SortStableFunc(out, func(a, b Source) int { return len(u.dirs[b]) - len(u.dirs[a]) })
	return out
}

func order(s Source) int {
	if s.Rule == nil {
		return registry.Unlayered
	}
	return s.Rule.Index
}
