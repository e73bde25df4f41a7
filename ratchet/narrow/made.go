package narrow

import (
	"fmt"
	"slices"
	"strings"

	"umwelt/diag"
	"umwelt/ratchet"
	"umwelt/world"
)

// A directory that the runs made and left there is taken as given: the proposal speaks of
// what lies in it, and not of the place that it was made in. To let it be made, every other
// new name would have to be let in beside it, such as a file that the next program reads as
// its configuration. The report names these directories: on a fresh copy of the project they
// have to be made first.

// made are the paths of the project that were made as directories, and neither removed nor
// renamed. Outermost are those that lie in no other one.
func (c *Collector) made() (all, outermost map[string]bool) {
	all, outermost = map[string]bool{}, map[string]bool{}
	for key, t := range c.facts {
		if key.typ == "path" && key.id != "." && !outside(key.id) && t.more != nil && t.more.dir &&
			t.verbs[verbIndex(ratchet.Create)] > 0 && t.verbs[verbIndex(ratchet.Delete)] == 0 && t.verbs[verbIndex(ratchet.Rename)] == 0 {
			all[key.id] = true
		}
	}
	for p := range all {
		inner := false
		for dir := range ancestors(p) {
			inner = inner || all[dir]
		}
		if !inner {
			outermost[p] = true
		}
	}
	return all, outermost
}

// given adds the directories that the runs made to the world, where it does not have them,
// and lists all that they made.
func given(w *world.World, c *Collector) (*world.World, []string, error) {
	k := knownOf(w)
	var made []string
	_, outermost := c.made()
	for p := range outermost {
		if _, isFile := k.fileAt[p]; !isFile && !k.leftOut(p) {
			made = append(made, p)
		}
	}
	if k.dir == nil || len(made) == 0 {
		return w, nil, nil
	}
	slices.Sort(made)
	there := slices.Clone(made) // and what they lie in
	for _, p := range made {
		for dir := range ancestors(p) {
			if dir != "" {
				there = append(there, dir)
			}
		}
	}
	slices.Sort(there)
	var more []world.Entity
	for _, p := range slices.Compact(there) {
		if _, known := k.dirAt[p]; known || strings.ContainsRune(p, '\n') {
			continue
		}
		k.dirAt[p] = len(w.Entities) + len(more)
		more = append(more, world.Entity{Type: k.dir, ID: p, Parent: int32(k.dirIndex(k.holder(p))), Listed: true,
			Attributes: world.Complete(k.dir, p, []world.Attribute{{Name: k.dir.PathAttr, Text: p}}), Provenance: world.Provenance{Origin: world.Referenced}})
	}
	if len(more) == 0 {
		return w, made, nil
	}
	out, err := w.With(more)
	return out, made, err
}

// mostNamed bounds the directories that the head of a proposal names.
const mostNamed = 8

// madeText is the line of the head that names the directories which were made; "" for none.
func madeText(made []string) string {
	if len(made) == 0 {
		return ""
	}
	var names []string
	for _, p := range made[:min(len(made), mostNamed)] {
		names = append(names, diag.Quote(p))
	}
	text := strings.ReplaceAll(strings.Join(names, ", "), "*/", "*\\/")
	if n := len(made) - mostNamed; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return "Directories that the work made, and that are to be there before: " + text + "."
}
