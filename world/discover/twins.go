package discover

import "slices"

// twinned reports whether several names of a kind of thing matter: a directory has one, and
// a link is only a text.
func twinned(k kind) bool { return k != directory && k != symlink }

// findTwins finds the names below a listing that lead to one and the same file, and gives
// each of them the first of its file's names. Directories tell the number of each file for
// nothing, so that only files with a number that is there twice are looked at.
func (e *emitter) findTwins(top *listing) {
	seen := newNumbers(e.walker.found)
	var double map[uint64]bool
	eachTwinned(top, "", func(_ string, x *entry) {
		if !seen.add(x.number) {
			if double == nil {
				double = map[uint64]bool{}
			}
			double[x.number] = true
		}
	})
	if double == nil {
		return
	}
	// The same number in another filesystem is another file.
	names := map[identity][]string{}
	var last string
	var at *directoryAt
	defer func() {
		if at != nil {
			at.close()
		}
	}()
	eachTwinned(top, "", func(dir string, x *entry) {
		if !double[x.number] {
			return
		}
		if at == nil || dir != last {
			if at != nil {
				at.close()
			}
			inside := e.place.inside
			if dir != "" {
				inside = e.walker.relative(dir)
			}
			var err error
			if at, err = e.walker.tree.at(inside); err != nil {
				at = nil
				return
			}
			last = dir
		}
		if f, err := at.stat(x.path[x.name:]); err == nil && f.links > 1 {
			names[f.identity] = append(names[f.identity], x.path)
		}
	})
	for _, list := range names {
		if len(list) < 2 {
			continue
		}
		if e.twins == nil {
			e.twins = map[string]string{}
		}
		first := slices.Min(list)
		for _, path := range list {
			e.twins[path] = first
		}
	}
}

// eachTwinned visits what may have several names, with the path of its directory.
func eachTwinned(l *listing, dir string, visit func(dir string, x *entry)) {
	for i := range l.entries {
		x := &l.entries[i]
		if x.number != 0 && twinned(x.kind) {
			visit(dir, x)
		}
		if x.sub != nil {
			eachTwinned(x.sub, x.path, visit)
		}
	}
}

// numbers is a set of numbers that are not 0: a table with linear probing, which takes a
// fraction of what a map does.
type numbers struct{ slots []uint64 }

// newNumbers makes a set with room for n numbers.
func newNumbers(n int) *numbers {
	size := 8
	for size < 2*n {
		size *= 2
	}
	return &numbers{make([]uint64, size)}
}

// add reports whether the number is new. Files that were made together have neighbouring
// numbers, which share a part of the table.
func (s *numbers) add(n uint64) bool {
	const block = 6 // 64 slots
	mask := uint64(len(s.slots) - 1)
	for at := (n>>block*0x9E3779B97F4A7C15>>20<<block | n&(1<<block-1)) & mask; ; at = (at + 1) & mask {
		switch s.slots[at] {
		case 0:
			s.slots[at] = n
			return true
		case n:
			return false
		}
	}
}
