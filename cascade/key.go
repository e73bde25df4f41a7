package cascade

import (
	"cmp"
	"encoding/binary"
	"strings"

	"umwelt/registry"
	"umwelt/world"
)

// keyKind says by what an entity is found to be a candidate for a compound.
type keyKind uint8

// The kinds of key, the most selective first. The order is the guess that decides
// between kinds; how often a very same key occurs corrects it.
const (
	keyID keyKind = iota
	keyEqual
	keyPrefix
	keySuffix
	keyContains
	keyMember
	keyDash
	keyClass
	keyPresent
	keyType
	keyAny
)

// indexKey is a necessary condition of a compound: no entity without it can fit.
type indexKey struct {
	kind keyKind
	attr string // of the kinds that test an attribute; pathSlot for the path-like one
	fold bool
	text string
	typ  *registry.EntityType
}

// pathSlot stands for "the attribute that holds the path" in place of an attribute name.
const pathSlot = "\x00path"

// keysOf lists the alternatives for finding the compound: each alternative is a set of
// keys of which every entity that fits has at least one.
func keysOf(c *registry.Compound, glob func(string) world.Glob) [][]indexKey {
	var out [][]indexKey
	one := func(k indexKey) { out = append(out, []indexKey{k}) }
	for i := range c.Tests {
		t := &c.Tests[i]
		switch t.Kind {
		case registry.TestID:
			set := []indexKey{{kind: keyID, text: strings.TrimPrefix(t.Value, "./")}, {kind: keyID, text: t.Value}}
			if t.Classes > 0 {
				set = append(set, indexKey{kind: keyID, text: t.Dotted})
			}
			if set[0] == set[1] {
				set = set[1:]
			}
			out = append(out, set)
		case registry.TestClass:
			// A class may turn out to be part of a dotted id of an untyped compound.
			if c.Type != nil || !partOfDotted(c.Tests, i) {
				one(indexKey{kind: keyClass, text: t.Value})
			}
		case registry.TestAttr:
			out = append(out, attrKeys(t)...)
		case registry.TestGlob:
			out = append(out, globKeys(glob(t.Value))...)
		case registry.TestIs:
			if set := isKeys(t, glob); set != nil {
				out = append(out, set)
			}
		}
	}
	if c.Type != nil {
		one(indexKey{kind: keyType, typ: c.Type})
	} else {
		one(indexKey{kind: keyAny})
	}
	return out
}

// globKeys finds a glob by a literal of each of its alternatives.
func globKeys(g world.Glob) [][]indexKey {
	present := []indexKey{{kind: keyPresent, attr: pathSlot}}
	literals := g.Literals()
	if len(literals) == 0 || len(literals) > 64 {
		return [][]indexKey{present}
	}
	var prefixes, suffixes, insides []indexKey
	for _, l := range literals {
		switch {
		case l.Whole:
			k := indexKey{kind: keyEqual, attr: pathSlot, text: l.Prefix}
			prefixes, suffixes, insides = append(prefixes, k), append(suffixes, k), append(insides, k)
			continue
		case l.Prefix != "":
			prefixes = append(prefixes, indexKey{kind: keyPrefix, attr: pathSlot, text: l.Prefix})
		}
		if l.Suffix != "" {
			suffixes = append(suffixes, indexKey{kind: keySuffix, attr: pathSlot, text: l.Suffix})
		}
		if l.Inside != "" {
			insides = append(insides, indexKey{kind: keyContains, attr: pathSlot, text: l.Inside})
		}
	}
	out := [][]indexKey{present}
	for _, set := range [][]indexKey{prefixes, suffixes, insides} {
		if len(set) == len(literals) {
			out = append(out, set)
		}
	}
	return out
}

// isKeys joins the best keys of the alternatives of :is; nil where it has none.
func isKeys(t *registry.Test, glob func(string) world.Glob) []indexKey {
	var set []indexKey
	for _, sel := range t.Selectors {
		var best []indexKey
		for _, keys := range keysOf(sel.Target, glob) {
			if best == nil || worst(keys) < worst(best) {
				best = keys
			}
		}
		set = append(set, best...)
	}
	return set
}

func worst(keys []indexKey) keyKind {
	w := keyID
	for _, k := range keys {
		w = max(w, k.kind)
	}
	return w
}

func partOfDotted(tests []registry.Test, i int) bool {
	for k := i - 1; k >= 0; k-- {
		if tests[k].Kind == registry.TestID {
			return k+tests[k].Classes >= i
		}
	}
	return false
}

func attrKeys(t *registry.Test) [][]indexKey {
	k := indexKey{attr: t.Attr, fold: t.Fold, text: t.Value}
	bare := k
	bare.text = strings.TrimPrefix(k.text, "./")
	present := []indexKey{{kind: keyPresent, attr: t.Attr}}
	switch t.Op {
	case "=":
		k.kind, bare.kind = keyEqual, keyEqual
	case "^=":
		k.kind, bare.kind = keyPrefix, keyPrefix
	case "|=":
		k.kind, bare.kind = keyDash, keyDash
	case "$=":
		k.kind, bare = keySuffix, k
		bare.kind = keySuffix
	case "*=":
		k.kind, bare = keyContains, k
		bare.kind = keyContains
	case "~=":
		k.kind, bare = keyMember, k
		bare.kind = keyMember
	default:
		return [][]indexKey{present}
	}
	if k.text == "" && t.Op != "=" && t.Op != "|=" || bare.text == "" && t.Op == "^=" {
		return [][]indexKey{present}
	}
	if bare == k {
		return [][]indexKey{{k}, present}
	}
	return [][]indexKey{{bare, k}, present}
}

// chooseKeys picks, for each compound, the alternative that finds it with the least work:
// the one whose keys the fewest other compounds share, once that is more than a few, and
// else the most selective kind with the longest text.
func chooseKeys(alternatives [][][]indexKey) [][]indexKey {
	const few = 8
	uses := map[indexKey]int{}
	for _, sets := range alternatives {
		for _, set := range sets {
			for _, k := range set {
				uses[k]++
			}
		}
	}
	cost := func(set []indexKey) (shared int, kind keyKind, short int) {
		for _, k := range set {
			if n := uses[k]; n > few {
				shared = max(shared, n)
			}
			short = min(short, -len(k.text))
		}
		return shared, worst(set), short
	}
	out := make([][]indexKey, len(alternatives))
	for i, sets := range alternatives {
		best := sets[0]
		for _, set := range sets[1:] {
			s1, k1, t1 := cost(set)
			s0, k0, t0 := cost(best)
			if cmp.Or(cmp.Compare(s1, s0), cmp.Compare(k1, k0), cmp.Compare(t1, t0)) < 0 {
				best = set
			}
		}
		out[i] = best
	}
	return out
}

// fingerprint is equal for compounds that test the same.
func fingerprint(b []byte, c *registry.Compound) []byte {
	n := -1
	if c.Type != nil {
		n = c.Type.Index
	}
	b = binary.AppendVarint(b, int64(n))
	b = binary.AppendUvarint(b, uint64(len(c.Tests)))
	for i := range c.Tests {
		t := &c.Tests[i]
		b = append(b, byte(t.Kind))
		for _, s := range [...]string{t.Attr, t.Op, t.Value, t.Dotted} {
			b = binary.AppendUvarint(b, uint64(len(s)))
			b = append(b, s...)
		}
		b = binary.AppendUvarint(b, uint64(t.Classes))
		b = append(b, flag(t.Fold), flag(t.Pseudo != nil))
		if t.Pseudo != nil {
			b = binary.AppendUvarint(b, uint64(len(t.Pseudo.Name)))
			b = append(b, t.Pseudo.Name...)
		}
		b = binary.AppendUvarint(b, uint64(len(t.Selectors)))
		for k, sel := range t.Selectors {
			b = fingerprintSelector(b, sel)
			b = append(b, flag(k < len(t.RelativeChild) && t.RelativeChild[k]))
		}
	}
	return b
}

func fingerprintSelector(b []byte, sel *registry.Selector) []byte {
	n := -1
	if sel.Taxon != nil {
		n = sel.Taxon.Index
	}
	b = binary.AppendVarint(b, int64(n))
	b = append(b, flag(sel.Never))
	b = fingerprint(b, sel.Target)
	b = binary.AppendUvarint(b, uint64(len(sel.Structure)))
	for _, link := range sel.Structure {
		b = append(b, flag(link.Child))
		b = fingerprint(b, link.Compound)
	}
	b = binary.AppendUvarint(b, uint64(len(sel.Qualifiers)))
	for _, q := range sel.Qualifiers {
		b = fingerprint(b, q)
	}
	return b
}

func flag(on bool) byte {
	if on {
		return 1
	}
	return 0
}
