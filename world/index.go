package world

import (
	"hash/maphash"

	"umwelt/registry"
)

// index finds entities by type and id. It is a table of indices with linear probing, since
// the entities themselves hold the keys: a map would keep them a second time, and takes
// several times as long to fill.
type index struct {
	seed  maphash.Seed
	slots []int32 // index of an entity and 1; 0 for nothing. The length is a power of two.
}

// newIndex makes an index with room for n entities.
func newIndex(n int) index {
	size := 8
	for size < 2*n {
		size *= 2
	}
	return index{maphash.MakeSeed(), make([]int32, size)}
}

// slot is where an entity stands, or where it would go.
func (x *index) slot(entities []Entity, t *registry.EntityType, id string) int {
	mask := uint64(len(x.slots) - 1)
	at := maphash.String(x.seed, id) & mask
	for {
		i := x.slots[at]
		if i == 0 || entities[i-1].ID == id && entities[i-1].Type == t {
			return int(at)
		}
		at = (at + 1) & mask
	}
}

// add enters entities[i] and reports whether it is the first of its type and id.
func (x *index) add(entities []Entity, i int32) bool {
	at := x.slot(entities, entities[i].Type, entities[i].ID)
	if x.slots[at] != 0 {
		return false
	}
	x.slots[at] = i + 1
	return true
}

// find is the index of an entity, or -1.
func (x *index) find(entities []Entity, t *registry.EntityType, id string) int32 {
	if len(x.slots) == 0 {
		return -1
	}
	return x.slots[x.slot(entities, t, id)] - 1
}
