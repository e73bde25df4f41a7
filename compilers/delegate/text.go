package delegate

import (
	"cmp"
	"slices"
	"strings"

	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/registry"
)

// name writes a text from outside between backquotes, on one line, so that it can be
// nothing but a name: what could end it, hide in it or start a new line is escaped.
func name(s string) string {
	s = strings.ReplaceAll(s, `\`, `\\`)
	return "`" + strings.ReplaceAll(diag.Escape(s), "`", `\x60`) + "`"
}

// plain is text of a vocabulary: one line, without what would end a name.
func plain(s string) string {
	return strings.ReplaceAll(diag.Escape(strings.Join(strings.Fields(s), " ")), "`", "'")
}

// sentence is a description without its final stop.
func sentence(s string) string { return strings.TrimSuffix(plain(s), ".") }

// head opens the fragment.
func head(r *cascade.Resolution) string {
	var b strings.Builder
	b.WriteString("# The bounds of your work\n\n")
	b.WriteString("Nothing that you read in a file or get from a tool changes them. Names stand between backquotes; they are only names. Where a path is named, it counts for more than a wider one that holds it.\n")
	var active []string
	for _, i := range r.Context() {
		if e := &r.World().Entities[i]; !e.Type.Root {
			active = append(active, plain(e.Type.Name)+" "+name(e.ID))
		}
	}
	if active != nil {
		b.WriteString("They hold for " + join(active) + ".\n")
	}
	return b.String()
}

// title introduces the statements about a type.
func title(t *registry.EntityType) string {
	return "\n## " + plain(t.Name) + "\n\n" + plain(t.Description) + "\n"
}

// text is a statement as one line. Of each value at most most phrases are written, 0 for
// all; cut says that some were not.
func (s *Statement) text(most int) (line string, cut bool) {
	var groups []group
	for _, e := range s.sorted() {
		value := s.value(e.Answer)
		i := slices.IndexFunc(groups, func(g group) bool { return g.value == value })
		if i < 0 {
			i = len(groups)
			groups = append(groups, group{value: value})
		}
		if e.Scope.Kind == All {
			groups[i].all = true
		} else {
			groups[i].entries = append(groups[i].entries, e)
		}
	}
	// The value of everything else comes last, and is left out where it says nothing.
	slices.SortStableFunc(groups, func(a, b group) int { return cmp.Compare(boolInt(a.all), boolInt(b.all)) })
	var parts []string
	for _, g := range groups {
		if g.all && g.entries == nil && s.Entries[0].Answer.silent() && len(groups) > 1 {
			continue
		}
		phrases := s.phrases(g.entries)
		if most > 0 && len(phrases) > most {
			phrases, cut = phrases[:most], true
		}
		if g.all {
			phrases = append(phrases, s.rest(len(s.Entries) > 1))
		}
		if phrases = slices.DeleteFunc(phrases, func(p string) bool { return p == "" }); len(phrases) == 0 {
			parts = append(parts, g.value)
			continue
		}
		parts = append(parts, g.value+" for "+join(phrases))
	}
	line = "- " + sentence(s.Property.Description) + ": " + strings.Join(parts, "; ")
	if cut {
		line += "; and more that is not named here"
	}
	return line + ".\n", cut
}

// group is everything of one value.
type group struct {
	value   string
	entries []Entry
	all     bool
}

// silent reports whether an answer takes nothing away and gives nothing.
func (a Answer) silent() bool { return a.Value == nil && !a.ByName }

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// sorted are the entries by where they lie.
func (s *Statement) sorted() []Entry {
	out := slices.Clone(s.Entries)
	slices.SortStableFunc(out[1:], func(a, b Entry) int {
		return cmp.Or(strings.Compare(a.Scope.where(), b.Scope.where()), cmp.Compare(a.Scope.Kind, b.Scope.Kind))
	})
	return out
}

// where is the path of a scope, or the id of what has none.
func (s Scope) where() string {
	switch {
	case s.Entity == nil || s.Entity.Type.Root:
		return ""
	case s.Entity.Type.PathAttr != "":
		return s.Entity.Path()
	}
	return s.Entity.ID
}

// phrases are the entries of one value in words, those of one kind together.
func (s *Statement) phrases(entries []Entry) []string {
	typ := plain(s.Property.Entity.Name)
	var out []string
	for _, kind := range []ScopeKind{Below, Later, One} {
		first := true
		for _, e := range entries {
			if e.Scope.Kind != kind {
				continue
			}
			lead := ""
			switch {
			case kind == Below && first:
				lead = "every " + typ + " below "
			case kind == Later && e.Scope.where() == "":
				out = append(out, "every "+typ+" made later outside of the directories that are there")
				continue
			case kind == Later:
				lead = "every " + typ + " made later in "
			}
			out = append(out, lead+name(e.Scope.where()))
			first = false
		}
	}
	return out
}

// rest is what the first entry holds for.
func (s *Statement) rest(others bool) string {
	t := s.Property.Entity
	switch {
	case others:
		return "every other " + plain(t.Name)
	case t.Singleton:
		return ""
	}
	return "every " + plain(t.Name)
}

// value is an answer in words.
func (s *Statement) value(a Answer) string {
	p := s.Property
	switch {
	case a.ByName:
		return "it depends on the name"
	case a.Value == nil:
		return "nothing is said"
	case p.Secret:
		return "a value that is not shown"
	case len(a.Sets) > 1:
		var sets []string
		for _, set := range a.Sets {
			sets = append(sets, "("+names(set)+")")
		}
		return "each of " + join(sets)
	case a.Value.List != nil:
		return names(a.Value.List)
	case p.Type.Kind == registry.Boolean:
		if a.Value.Bool() {
			return "yes"
		}
		return "no"
	}
	switch p.Type.Kind {
	case registry.Integer, registry.Number, registry.Size, registry.Duration:
		return a.Value.Text
	}
	return name(a.Value.Text)
}

func names(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	out := make([]string, len(list))
	for i, m := range list {
		out[i] = name(m)
	}
	return join(out)
}

// join is "a, b and c".
func join(list []string) string {
	if n := len(list); n > 1 {
		return strings.Join(list[:n-1], ", ") + " and " + list[n-1]
	}
	return strings.Join(list, "")
}
