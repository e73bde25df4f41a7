package sqlite

import (
	"encoding/base64"

	"umwelt/world"
)

// world fills the entities with all that is known of them.
func (db *database) world() {
	w := db.res.World()
	e := db.res.Engine()
	depth := make([]int, len(w.Entities))
	total := 0
	var groups []int32
	for i := range w.Entities {
		ent := &w.Entities[i]
		var parent any
		if ent.Parent != world.NoParent {
			parent = int(ent.Parent)
		}
		db.add("entities", i, ent.Type.Taxon.Name, typeName(ent.Type, db.reg), ent.ID, jsonTexts(ent.Classes), parent, bit(ent.Listed), e.Cohort(i))
		for k, a := range ent.Attributes {
			var members any
			if a.List != nil {
				members = jsonTexts(a.List)
			}
			db.add("entity_attributes", i, k, a.Name, a.Text, members)
		}
		p := ent.Provenance
		cells := []any{i, p.Origin.String(), bit(p.Overridden), orNull(p.By)}
		db.add("entity_provenance", append(cells, place(p.At)...)...)
		groups = w.AppendGroups(groups[:0], ent)
		for _, g := range groups {
			if !isAbove(w, int32(i), g) {
				db.add("entity_closure", int(g), i, nil)
			}
		}
		total += depthOf(w, depth, int32(i)) + len(groups)
		if total > maxRows {
			db.fail("the entities of this world have more than %d ancestors in all", maxRows)
			return
		}
	}
	for i := range w.Withheld {
		ent := &w.Withheld[i]
		db.add("withheld", i, typeName(ent.Type, db.reg), ent.ID, jsonTexts(ent.Classes), attributesJSON(ent.Attributes))
	}
}

// isAbove reports whether a stands in the chain of parents above i, or is i.
func isAbove(w *world.World, i, a int32) bool {
	for ; i != world.NoParent; i = w.Entities[i].Parent {
		if i == a {
			return true
		}
	}
	return false
}

// depthOf is how many entities stand above one, itself included. It is worked out from the
// nearest known one down.
func depthOf(w *world.World, depth []int, i int32) int {
	var walk []int32
	for i != world.NoParent && depth[i] == 0 {
		walk = append(walk, i)
		i = w.Entities[i].Parent
	}
	n := 0
	if i != world.NoParent {
		n = depth[i]
	}
	for k := len(walk) - 1; k >= 0; k-- {
		n++
		depth[walk[k]] = n
	}
	return n
}

// attributesJSON is attributes as an array of objects with name, text and, of a list,
// members.
func attributesJSON(list []world.Attribute) string {
	b := []byte{'['}
	for i, a := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(append(appendJSON(append(b, `{"name":`...), a.Name), `,"text":`...), a.Text)
		if a.List != nil {
			b = append(append(b, `,"members":`...), jsonTexts(a.List)...)
		}
		b = append(b, '}')
	}
	return string(append(b, ']'))
}

func appendText(b []byte, s string) []byte {
	if printable(s) {
		return appendJSON(b, s)
	}
	return append(append(append(b, `{"base64":"`...), base64.StdEncoding.EncodeToString([]byte(s))...), `"}`...)
}
