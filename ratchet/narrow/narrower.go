package narrow

import (
	"cmp"
	"slices"
	"strings"

	"umwelt/ast"
)

// narrower makes one tightened view.
type narrower struct {
	*proposer
	t      *trial
	refine bool // replacements keep the old selector, with a condition
	exact  bool // and are about one path each
	units  []*unit
	c      *choices
	users  map[*unit][]*requirement // the requirements that a unit may decide
	needed map[string]need          // known files that are needed
	shows  map[*unit]int            // what each unit admits as units stand
	late   bool                     // units that imply a permission are judged, too
}

func (n *narrower) run() (*ast.View, map[*ast.Rule]draft, error) {
	n.units = n.proposer.units(n.t)
	n.c = newChoices(n.t, n.units)
	n.stuckInNests()
	n.needed = map[string]need{}
	for _, r := range n.reqs {
		switch r.kind {
		case changeFile:
			n.needed[r.id] = change
		case seeFile:
			n.needed[r.id] = see
		}
	}
	n.dirsByContent()
	// What speaks of something shows it, and may be there to restrict: whether it still does
	// is known when the rest is settled.
	for _, n.late = range []bool{false, true} {
		n.removeUnused()
		n.removeRedundant()
		n.replaceWide()
	}
	n.shrinkBounds()
	n.tell()
	n.doubt()
	v, meta := n.apply()
	return v, meta, nil
}

// removable reports whether a unit may be taken away at all.
func (n *narrower) removable(u *unit) bool {
	if u.stuck != "" || u.state != alive {
		return false
	}
	switch u.kind {
	case granting:
		return true
	case implying:
		return n.late && !n.refine && !n.restricts(u)
	}
	return false
}

// restricts reports whether a unit that speaks of something keeps from it what another one
// still gives, or shows nothing and so can only be there to restrict.
func (n *narrower) restricts(u *unit) bool {
	file := n.t.known.file
	if file == nil || file.Property(u.name) == nil || n.shows[u] == 0 && len(n.users[u]) == 0 {
		return true
	}
	for path, i := range n.t.known.fileAt {
		list := n.c.entity(i, file.Property(u.name))
		if !slices.ContainsFunc(list, func(c choice) bool { return c.unit == u }) {
			continue
		}
		for _, c := range list {
			if c.yes && (c.unit == nil || c.unit.state == alive || c.unit.state == replaced && n.needed[path] == change && n.carriesPath(c.unit, path)) {
				return true
			}
		}
	}
	return false
}

func (n *narrower) carriesPath(u *unit, path string) bool {
	for r := range u.carries {
		if r.id == path && r.kind == changeFile {
			return true
		}
	}
	return false
}

// removeUnused drops what decided nothing that was needed.
func (n *narrower) removeUnused() {
	n.users = map[*unit][]*requirement{}
	for _, r := range n.reqs {
		for _, u := range n.c.judge(r).by {
			n.users[u] = append(n.users[u], r)
		}
	}
	n.shows = n.admitted()
	for _, u := range n.units {
		if len(n.users[u]) > 0 || !n.removable(u) || n.unobserved(u) {
			continue
		}
		u.state = dropped
		n.report.Removed = append(n.report.Removed, Unused{Text: u.text, At: u.place})
	}
}

// unobserved reports whether no observation at all was of the kind that would have shown
// what a unit is for.
func (n *narrower) unobserved(u *unit) bool {
	for _, r := range u.rules {
		for _, v := range r.decl.Typed {
			if n.couldBeSeen(v.Property.Entity.Name) {
				return false
			}
		}
	}
	u.stuck = "no source that was given can observe what it is for"
	return true
}

// couldBeSeen reports whether anything was observed that shows what a type is needed for.
func (n *narrower) couldBeSeen(typ string) bool {
	if slices.ContainsFunc(n.in.Sources, func(s SourceTally) bool { return !s.Partial && slices.Contains(s.Shows, typ) }) {
		return true
	}
	switch typ {
	case "file", "dir", "node", "source":
		return len(n.material.paths) > 0 || len(n.material.outside) > 0 || n.c0("path")
	case "kit", "tool", "effect":
		return len(n.material.byType["tool"]) > 0 || n.c0("tool")
	case "network":
		return len(n.material.byType["network"]) > 0
	case "exec":
		return len(n.material.byType["exec"]) > 0
	case "env":
		return len(n.material.byType["env"]) > 0
	}
	return false
}

func (n *narrower) c0(typ string) bool {
	for k := range n.proposer.c.facts {
		if k.typ == typ {
			return true
		}
	}
	return false
}

// removeRedundant drops what others would decide in the same way, that which gives most
// beyond what was needed first.
func (n *narrower) removeRedundant() {
	order := slices.Clone(n.units)
	admits := n.admitted()
	slices.SortStableFunc(order, func(a, b *unit) int { return cmp.Compare(admits[b], admits[a]) })
	deciding := map[*unit][]*requirement{}
	note := func(r *requirement) {
		for _, u := range n.c.judge(r).by {
			if !slices.Contains(deciding[u], r) {
				deciding[u] = append(deciding[u], r)
			}
		}
	}
	for _, r := range n.reqs {
		for _, u := range n.c.judge(r).by {
			deciding[u] = append(deciding[u], r)
		}
	}
	for _, u := range order {
		if !n.removable(u) || n.unobserved(u) {
			continue
		}
		u.state = dropped
		// Only what it decides can come out differently without it.
		if slices.ContainsFunc(deciding[u], func(r *requirement) bool { return !n.c.judge(r).ok }) {
			u.state = alive
			continue
		}
		for _, r := range deciding[u] {
			note(r)
		}
		n.report.Removed = append(n.report.Removed, Unused{Text: u.text, At: u.place, Why: "other rules give all of it that was needed"})
	}
}

// shrinkBounds lowers bounds to what was measured, and takes out patterns that fitted no call.
func (n *narrower) shrinkBounds() {
	for _, u := range n.units {
		if u.stuck != "" || u.state != alive {
			continue
		}
		switch u.kind {
		case bounding:
			n.shrinkBound(u)
		case admitting:
			n.shrinkPatterns(u)
		}
	}
}

// tell reports what is kept though nothing needed it.
func (n *narrower) tell() {
	fired := map[*unit]bool{}
	for _, r := range n.reqs {
		for _, u := range n.c.judge(r).by {
			fired[u] = true
		}
	}
	for _, u := range n.units {
		told := slices.ContainsFunc(n.report.Kept, func(k Unused) bool { return k.At == u.place && k.Text == u.text })
		if !told && u.state == alive && !fired[u] && u.stuck != "" && (u.kind != other || strings.HasPrefix(u.stuck, "it is imported")) {
			n.report.Kept = append(n.report.Kept, Unused{Text: u.text, At: u.place, Why: u.stuck})
		}
	}
}

// stuckInNests marks units of rules that hold other rules and have several selectors: what
// is left of such a rule cannot be written without writing the others again.
func (n *narrower) stuckInNests() {
	at := map[string][]*unit{}
	for _, u := range n.units {
		decl, _, _ := strings.Cut(u.at, "@")
		at[decl] = append(at[decl], u)
	}
	ast.Walk(n.t.view, func(node ast.Node) bool {
		r, ok := node.(*ast.Rule)
		if !ok || len(r.Selectors) < 2 || !nests(r.Block) {
			return true
		}
		for _, d := range declarationsOf(r.Block) {
			for _, u := range at[placeOf(d.At)] {
				u.stuck = cmp.Or(u.stuck, "its rule has several selectors and holds other rules")
			}
		}
		return true
	})
}

func nests(b *ast.Block) bool {
	return slices.ContainsFunc(b.Items, func(n ast.Node) bool { return ast.BlockOf(n) != nil })
}
