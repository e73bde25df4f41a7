package narrow

import (
	"maps"
	"slices"
	"strings"
)

// On an operating system a name can come and go only in a directory that may be changed,
// whatever the name: a rule that goes by names opens none. So a directory in which names
// came or went takes a rule for all that lies below it, and what is known to lie there and
// was not changed is taken out by exceptions in the selector. The exceptions name only what
// exists, so that every new name still fits.

// mark stands for "any new name" in a directory, among paths. No file is called so.
const mark = "\x00"

func markIn(dir string) string {
	if dir == "" {
		return mark
	}
	return dir + "/" + mark
}

func isMark(p string) bool { return strings.HasSuffix(p, mark) }

// maxExceptions bounds the exceptions of one rule. A selector may have more parts, but
// nobody would read them.
const maxExceptions = 256

// entryRungs are the rules for directories in which names came or went, outermost first. It
// marks what they cover. Directories that cannot have one are in the second result.
func (l *ladder) entryRungs(dirs []string, k *known, covered []bool) (rungs []*rung, without []string) {
	if len(dirs) == 0 {
		return nil, nil
	}
	t := newTree(l, k)
	for _, dir := range dirs {
		i, ok := slices.BinarySearch(l.wanted, markIn(dir))
		if ok && covered[i] {
			continue
		}
		r := &rung{step: Entries, dir: dir}
		if !t.except(dir, &r.except) || !r.sayable() {
			without = append(without, dir)
			if ok {
				covered[i] = true
			}
			continue
		}
		if len(r.except) == 0 && l.takes(Subtree) {
			r.step = Subtree
		}
		fits := r.matcher()
		from, _ := slices.BinarySearch(l.wanted, strings.TrimSuffix(markIn(dir), mark))
		for i := from; i < len(l.wanted) && below(l.wanted[i], dir); i++ {
			if fits(l.wanted[i]) {
				r.covers = append(r.covers, int32(i))
				covered[i] = true
			}
		}
		rungs = append(rungs, r)
	}
	return rungs, without
}

// tree is what lies directly in each directory.
type tree struct {
	wantedBelow map[string]int // wanted paths and marks below a directory
	othersBelow map[string]int
	files       map[string][]string // known ones that are not wanted, in order
	dirs        map[string]map[string]bool
	made        map[string]bool // directories that the runs made
}

func newTree(l *ladder, k *known) *tree {
	t := &tree{wantedBelow: map[string]int{}, othersBelow: map[string]int{}, files: map[string][]string{}, dirs: map[string]map[string]bool{}, made: l.made}
	hang := func(p string) {
		for p != "" && p != "." {
			dir := dirOf(p)
			if t.dirs[dir] == nil {
				t.dirs[dir] = map[string]bool{}
			}
			if t.dirs[dir][p] {
				return
			}
			t.dirs[dir][p] = true
			p = dir
		}
	}
	for dir := range k.dirAt {
		hang(dir)
	}
	for _, p := range l.wanted {
		for dir := range ancestors(p) {
			t.wantedBelow[dir]++
		}
	}
	for _, p := range l.others {
		t.files[dirOf(p)] = append(t.files[dirOf(p)], p)
		hang(dirOf(p))
		for dir := range ancestors(p) {
			t.othersBelow[dir]++
		}
	}
	return t
}

// except lists what of a directory is not wanted: files, and directories with a final "/".
// A directory in which nothing was wanted is taken out whole, unless the runs made it, and so
// is one that holds anything else, since its wanted files have rules of their own.
//
// Stores that go by hashes spread their files over directories of two hexadecimal digits.
// Which of those the next name falls into nobody knows, so where one was wanted all are open
// for new names, and what lies in them is taken out file by file.
func (t *tree) except(dir string, out *[]string) bool {
	subs := slices.Sorted(maps.Keys(t.dirs[dir]))
	spread := slices.ContainsFunc(subs, func(sub string) bool { return isFan(sub) && (t.wantedBelow[sub] > 0 || t.made[sub]) })
	for _, sub := range subs {
		if spread && isFan(sub) {
			if !t.except(sub, out) {
				return false
			}
		} else if t.othersBelow[sub] > 0 || t.wantedBelow[sub] == 0 && !t.made[sub] {
			*out = append(*out, sub+"/")
		} else if !t.except(sub, out) {
			return false
		}
	}
	*out = append(*out, t.files[dir]...)
	return len(*out) <= maxExceptions
}

// isFan is whether a directory is named by two hexadecimal digits.
func isFan(dir string) bool {
	name := dir[strings.LastIndexByte(dir, '/')+1:]
	hex := func(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' }
	return len(name) == 2 && hex(name[0]) && hex(name[1])
}
