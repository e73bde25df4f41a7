package world

import (
	"slices"
	"strconv"
	"strings"

	"umwelt/diag"
	"umwelt/registry"
)

// The keys of a world file beside registered shorthands, in the order of messages.
var (
	knownKeys    = []string{"name", "entities", "discover", "projections", "overrides", "fixed", "require", "include", "exclude", "meta"}
	reservedKeys = []string{"vars", "when", "version"}
)

// document is one world file, read but not yet composed with others.
type document struct {
	src      *diag.Source
	dir      string // where its includes are looked up, absolute and without links; "" for nowhere
	shown    string // that directory as people know it
	root     *node
	snapshot bool // it has the key "meta": a materialized world
	whole    bool // all its sections take part
}

// readDocument reads a world file and checks its keys.
func readDocument(src *diag.Source, reg *registry.Registry, l *diag.List) *document {
	root := readYAML(src, l)
	if root == nil {
		return nil
	}
	d := &document{src: src, root: root, snapshot: root.get("meta") != nil}
	known := slices.Clone(knownKeys)
	for _, s := range reg.Shorthands() {
		known = append(known, s.Key)
	}
	for _, p := range root.pairs {
		if tooMany(l, p.keyAt) {
			break
		}
		switch {
		case slices.Contains(knownKeys, p.key) || reg.Shorthand(p.key) != nil:
		case d.snapshot && (p.key == "schema" || p.key == "withheld"):
		case slices.Contains(reservedKeys, p.key):
			l.Errorf(diag.UnknownKey, p.keyAt, "the key %s is reserved: a world file has no variables and no conditions", p.key)
		default:
			l.Errorf(diag.UnknownKey, p.keyAt, "a world file has no key %s", diag.Quote(p.key)).Hint = diag.DidYouMean(p.key, known)
		}
	}
	if d.snapshot {
		d.checkMeta(l)
	}
	return d
}

// checkMeta refuses a snapshot that leaves entities or facts out: loading it would
// silently make a smaller world.
func (d *document) checkMeta(l *diag.List) {
	meta := d.root.get("meta")
	if meta.kind != mapNode {
		l.Errorf(diag.YAML, meta.at, "meta is a map, not %s", meta.kind)
		return
	}
	level := meta.get("level")
	if level == nil || level.text != Full.String() {
		l.Errorf(diag.YAML, meta.at, "only a snapshot of level full can be loaded as a world")
	}
}

// checkDigest warns where a snapshot does not hold the entities that it was made of. grown
// says that w has more than the snapshot, which is what a view names.
func (d *document) checkDigest(w *World, grown bool, l *diag.List, dir string, o Options) {
	if grown {
		o.Named, o.Declared, o.Read = nil, nil, nil
		if w, _ = LoadText(d.src, dir, o); w == nil {
			return
		}
	}
	warn := func(n *node, format string, args ...any) {
		d := l.Warnf(diag.Altered, n.at, format, args...)
		d.Hint = "materialize the world again, or leave out the digest and the counts where the change is meant"
	}
	meta := d.root.get("meta")
	if digest := meta.get("digest"); digest != nil && digest.text != w.Digest() {
		warn(digest, "the snapshot was changed since it was made: its entities do not have this digest")
	}
	counts := meta.get("counts")
	if counts == nil {
		return
	}
	real := w.Counts()
	fits := len(real) == len(counts.pairs)
	for _, c := range real {
		n := counts.get(typeName(c.Type, w.Registry))
		fits = fits && n != nil && n.text == strconv.Itoa(c.Number)
	}
	if !fits {
		warn(counts, "the snapshot was changed since it was made: it does not hold so many entities of each type")
	}
}

// each calls f for every item of a list section; nothing written is an empty list.
func (n *node) each(what string, l *diag.List, f func(*node)) {
	switch {
	case n == nil || n.isNull():
	case n.kind != listNode:
		l.Errorf(diag.YAML, n.at, "%s is a list, not %s", what, n.kind)
	default:
		for _, item := range n.items {
			if tooMany(l, item.at) {
				return
			}
			f(item)
		}
	}
}

// maxProblems bounds the diagnostics of one load.
const maxProblems = 10_000

// tooMany reports whether reading is to stop, and sees to it that stopping is an error.
func tooMany(l *diag.List, at diag.Span) bool {
	if len(*l) < maxProblems {
		return false
	}
	if (*l)[len(*l)-1].Code != diag.TooLarge {
		l.Errorf(diag.TooLarge, at, "there are too many problems, so reading stops here")
	}
	return true
}

// eachPair calls f for every pair of a map section; nothing written is an empty map.
func (n *node) eachPair(what string, l *diag.List, f func(pair)) {
	switch {
	case n == nil || n.isNull():
	case n.kind != mapNode:
		l.Errorf(diag.YAML, n.at, "%s is a map, not %s", what, n.kind)
	default:
		for _, p := range n.pairs {
			if tooMany(l, p.keyAt) {
				return
			}
			f(p)
		}
	}
}

// textOf reads a text that must be there.
func textOf(n *node, what string, l *diag.List) (string, bool) {
	text, ok := n.scalar()
	switch {
	case ok && text != "":
		return text, true
	case n.kind == scalarNode:
		l.Errorf(diag.YAML, n.at, "%s is empty", what)
	default:
		l.Errorf(diag.YAML, n.at, "%s is one text, not %s", what, n.kind)
	}
	return "", false
}

// textsOf reads a list of texts; one text counts as a list of one.
func textsOf(n *node, what string, l *diag.List) []string {
	if n.kind == scalarNode && !n.null || n.kind == mapNode {
		if text, ok := textOf(n, what, l); ok {
			return []string{text}
		}
		return nil
	}
	var out []string
	n.each(what, l, func(item *node) {
		if text, ok := textOf(item, what, l); ok {
			out = append(out, text)
		}
	})
	return out
}

// checkKeys reports every key of a map that is not among known.
func checkKeys(n *node, what string, known []string, l *diag.List) {
	for _, p := range n.pairs {
		if tooMany(l, p.keyAt) {
			return
		}
		if !slices.Contains(known, p.key) {
			l.Errorf(diag.UnknownKey, p.keyAt, "%s has no key %s", what, diag.Quote(p.key)).Hint = diag.DidYouMean(p.key, known)
		}
	}
}

// boolOf reads "true" or "false".
func boolOf(n *node, what string, l *diag.List) bool {
	if n.kind == scalarNode {
		switch strings.ToLower(n.text) {
		case "true":
			return true
		case "false":
			return false
		}
	}
	l.Errorf(diag.BadValue, n.at, "%s is true or false", what)
	return false
}
