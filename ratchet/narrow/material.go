package narrow

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"umwelt/ratchet"
)

// fact is one entity with what was done to it.
type fact struct {
	typ, id string
	*tally
}

// material is what a proposal is made of, put in order.
type material struct {
	paths   []pathNeed      // of the project, by path
	made    map[string]bool // directories that the runs made
	outside []fact
	byType  map[string][]fact // everything else, by id
	leftOut []Left
	gone    []Left // what no rule can say
}

// pathNeed is what is needed of one path of the project.
type pathNeed struct {
	path                string
	tally               *tally
	dir                 bool
	see, change, entry  bool
	known               bool
	seen, changed, came int // how many runs needed it
}

// atLeast reports whether a need was there in enough runs.
func (o *Options) atLeast(n int) bool { return n >= max(1, o.MinRuns) }

// material sorts out what was collected. The world decides what is a directory.
func (c *Collector) material(o *Options, k *known) *material {
	m := &material{byType: map[string][]fact{}}
	var outermost map[string]bool
	m.made, outermost = c.made()
	all := make([]fact, 0, len(c.facts))
	for key, t := range c.facts {
		all = append(all, fact{key.typ, key.id, t})
	}
	slices.SortFunc(all, func(a, b fact) int { return cmp.Or(cmp.Compare(a.typ, b.typ), cmp.Compare(a.id, b.id)) })
	for _, f := range all {
		switch {
		case f.typ == "path" && outside(f.id):
			m.outside = append(m.outside, f)
		case f.typ == "path":
			m.addPath(o, k, outermost, f)
		default:
			if !o.atLeast(f.runs[use].len()) {
				m.leftOut = append(m.leftOut, f.left("fewer runs needed it than asked for", f.runs[use].len()))
				continue
			}
			m.byType[f.typ] = append(m.byType[f.typ], f)
		}
	}
	return m
}

func outside(id string) bool {
	return strings.HasPrefix(id, "/") || id == ".." || strings.HasPrefix(id, "../")
}

// addPath takes a path of the project in.
func (m *material) addPath(o *Options, k *known, made map[string]bool, f fact) {
	_, isDir := k.dirAt[f.id]
	_, isFile := k.fileAt[f.id]
	var saw, changed, came runSet
	saw.join(&f.runs[see])
	changed.join(&f.runs[change])
	if made[f.id] {
		saw.join(&f.runs[entry])
	} else {
		came.join(&f.runs[entry])
	}
	if isFile {
		changed.join(&f.runs[opened])
	} else {
		came.join(&f.runs[opened])
	}
	n := pathNeed{path: f.id, tally: f.tally, seen: saw.len(), changed: changed.len(), came: came.len()}
	n.dir = isDir || !isFile && f.more != nil && f.more.dir
	n.known = isDir || isFile
	var any, seenOrChanged runSet
	any.join(&saw)
	any.join(&changed)
	seenOrChanged.join(&changed)
	any.join(&came)
	seenOrChanged.join(&came)
	n.entry = o.atLeast(n.came)
	n.change = o.atLeast(seenOrChanged.len())
	n.see = o.atLeast(any.len())
	few := func(verb string, runs int) {
		if runs > 0 {
			l := f.left(verb+" by fewer runs than asked for", runs)
			l.Verbs = only(l.Verbs, verb)
			m.leftOut = append(m.leftOut, l)
		}
	}
	if !n.see {
		few("seen", n.seen)
	}
	if !n.change {
		few("changed", n.changed)
	}
	if !n.entry {
		few("made, removed or renamed", n.came)
	}
	if !n.see {
		return
	}
	if !n.known && k.leftOut(n.path) {
		m.gone = append(m.gone, f.left("the world leaves it out, so no rule can grant it", any.len()))
		return
	}
	m.paths = append(m.paths, n)
}

// only is the counts of the verbs that a few words stand for.
func only(counts []Count, words string) []Count {
	var out []Count
	for _, c := range counts {
		var is string
		switch v := ratchet.Verb(c.Name); needOf("path", v, "") {
		case see:
			is = "seen"
		case change:
			is = "changed"
		default:
			is = "made, removed or renamed"
		}
		if is == words {
			out = append(out, c)
		}
	}
	return out
}

func (f fact) left(why string, runs int) Left {
	return Left{Type: plainType(f), ID: text(f.id), Verbs: f.counts(), Runs: runs, Why: why, Evidence: f.evidence()}
}

func plainType(f fact) string {
	if f.typ != "path" {
		return f.typ
	}
	if f.more != nil && f.more.dir {
		return "dir"
	}
	return "file"
}

// text is an id as JSON can carry it.
func text(id string) string {
	if utf8.ValidString(id) {
		return id
	}
	return strings.ToValidUTF8(id, "\uFFFD")
}

func (t *tally) counts() []Count {
	var out []Count
	for i, n := range t.verbs {
		if n > 0 {
			out = append(out, Count{string(verbs[i]), n})
		}
	}
	return out
}

func (t *tally) evidence() []ratchet.Place { return slices.Clone(t.places[:t.placed]) }
