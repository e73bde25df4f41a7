package cascade

import "slices"

// interner gives equal lists of numbers one id.
type interner struct {
	ids   map[uint64][]int32 // by hash
	lists [][]int32
	arena []int32
	size  int // of all lists together
}

func newInterner() *interner { return &interner{ids: map[uint64][]int32{}} }

// intern copies the list where it is new.
func (n *interner) intern(list []int32) int32 {
	h := uint64(1469598103934665603)
	for _, v := range list {
		h = (h ^ uint64(uint32(v))) * 0x9E3779B97F4A7C15
		h ^= h >> 29
	}
	for _, id := range n.ids[h] {
		if slices.Equal(n.lists[id], list) {
			return id
		}
	}
	if cap(n.arena)-len(n.arena) < len(list) {
		n.arena = make([]int32, 0, max(4096, len(list)))
	}
	n.size += len(list)
	from := len(n.arena)
	n.arena = append(n.arena, list...)
	id := int32(len(n.lists))
	n.lists = append(n.lists, n.arena[from:len(n.arena):len(n.arena)])
	n.ids[h] = append(n.ids[h], id)
	return id
}
