package narrow

import (
	"cmp"
	"container/heap"
	"slices"
)

// A ladder finds the fewest rules that cover wanted paths and admit no other known one.
type ladder struct {
	options *Options
	slack   *int // how many known paths may still be admitted that were not wanted
	steps   []Step
	wanted  []string // sorted, distinct
	// others are known paths that must not be admitted.
	others []string
	made   map[string]bool // directories that the runs made
}

// rung is one rule of a ladder: a step with what it fits.
type rung struct {
	step   Step
	dir    string // "" for the whole project
	tail   string // the ending of a suffix step
	deep   bool   // a suffix step that holds below the directory, too
	path   string // of an exact step
	glob   string // of a pattern step, the pattern of the name
	except []string
	covers []int32 // indices into wanted
	admits int     // known paths that it admits beside what is wanted
}

// order puts narrower steps first.
func (r *rung) order() int {
	n := 2 * slices.Index(Steps(), r.step)
	if r.deep {
		n++
	}
	return n
}

func (r *rung) compare(s *rung) int {
	return cmp.Or(cmp.Compare(r.order(), s.order()), cmp.Compare(r.dir, s.dir), cmp.Compare(r.tail, s.tail), cmp.Compare(r.glob, s.glob), cmp.Compare(r.path, s.path))
}

// spot is where a rung that is no exact one stands.
type spot struct {
	step Step
	deep bool
	dir  string
	tail string
}

// climb is the rungs that are taken: the one that covers most first, each only where it
// stands for two rules or more, and what is left exactly. covered are indices into wanted
// that need no rule any more; it is added to.
func (l *ladder) climb(covered []bool) []*rung {
	h := &rungHeap{}
	for _, r := range l.candidates() {
		h.items = append(h.items, scored{r, len(r.covers)})
	}
	heap.Init(h)
	var taken []*rung
	for h.Len() > 0 {
		top := h.items[0]
		left := 0
		for _, i := range top.covers {
			if !covered[i] {
				left++
			}
		}
		switch {
		case left < 2 || top.admits > *l.slack:
			heap.Pop(h)
			continue
		case left < top.left:
			h.items[0].left = left
			heap.Fix(h, 0)
			continue
		}
		heap.Pop(h)
		*l.slack -= top.admits
		for _, i := range top.covers {
			covered[i] = true
		}
		taken = append(taken, top.rung)
	}
	for i, p := range l.wanted {
		if !covered[i] {
			covered[i] = true
			taken = append(taken, &rung{step: Exact, path: p, covers: []int32{int32(i)}})
		}
	}
	return taken
}

// candidates are all rungs but the exact ones that may be taken, patterns included.
func (l *ladder) candidates() []*rung {
	at := map[spot]*rung{}
	var out []*rung
	add := func(s spot, i int32) {
		r := at[s]
		if r == nil {
			r = &rung{step: s.step, dir: s.dir, tail: s.tail, deep: s.deep}
			at[s] = r
			out = append(out, r)
		}
		r.covers = append(r.covers, i)
	}
	var spots []spot
	for i, p := range l.wanted {
		spots = l.spots(p, spots[:0], ending(p))
		for _, s := range spots {
			add(s, int32(i))
		}
	}
	for _, p := range l.others {
		spots = l.spots(p, spots[:0], tailOf(p))
		for _, s := range spots {
			if r := at[s]; r != nil {
				r.admits++
			}
		}
	}
	if l.takes(Pattern) {
		out = append(out, l.patterns()...)
	}
	return slices.DeleteFunc(out, func(r *rung) bool { return len(r.covers) < 2 || r.admits > *l.slack || !r.sayable() })
}

func (l *ladder) takes(s Step) bool { return slices.Contains(l.steps, s) && l.options.takes(s) }

// spots are the rungs that a path stands under.
func (l *ladder) spots(p string, out []spot, tail string) []spot {
	if l.takes(Directory) && !isMark(p) {
		out = append(out, spot{step: Directory, dir: dirOf(p)})
	}
	suffix := l.takes(Suffix) && tail != ""
	if suffix {
		out = append(out, spot{step: Suffix, dir: dirOf(p), tail: tail})
	}
	for dir := range ancestors(p) {
		if l.takes(Subtree) {
			out = append(out, spot{step: Subtree, dir: dir})
		}
		if suffix {
			out = append(out, spot{step: Suffix, deep: true, dir: dir, tail: tail})
		}
	}
	return out
}

// scored is a rung with how many wanted paths it would newly cover, as last counted.
type scored struct {
	*rung
	left int
}

type rungHeap struct{ items []scored }

func (h *rungHeap) Len() int { return len(h.items) }
func (h *rungHeap) Less(i, j int) bool {
	a, b := h.items[i], h.items[j]
	if a.left != b.left {
		return a.left > b.left
	}
	return cmp.Or(cmp.Compare(a.admits, b.admits), a.compare(b.rung)) < 0
}
func (h *rungHeap) Swap(i, j int) { h.items[i], h.items[j] = h.items[j], h.items[i] }
func (h *rungHeap) Push(x any)    { h.items = append(h.items, x.(scored)) }
func (h *rungHeap) Pop() any {
	last := h.items[len(h.items)-1]
	h.items = h.items[:len(h.items)-1]
	return last
}

// trim takes rungs away that cover nothing alone, those taken last first, and gives back
// the slack that they used.
func trim(rungs []*rung, n int, slack *int) []*rung {
	count := make([]int32, n)
	for _, r := range rungs {
		for _, i := range r.covers {
			count[i]++
		}
	}
	out := slices.Clone(rungs)
	for k := len(out) - 1; k >= 0; k-- {
		if slices.ContainsFunc(out[k].covers, func(i int32) bool { return count[i] == 1 }) {
			continue
		}
		for _, i := range out[k].covers {
			count[i]--
		}
		*slack += out[k].admits
		out = slices.Delete(out, k, k+1)
	}
	return out
}
