package narrow

import (
	"fmt"
	"slices"
	"strings"
)

// The pattern step: names of one directory that are the same but for a part that counts, is
// a hash, a date or a random suffix. The part is written as precisely as a glob can: so many
// characters, each of its kind.

// part is one variable part of a name.
type part struct {
	kind   byte // 'd' digits, 'h' lower-case hexadecimal, 'r' letters and digits that a program drew
	length int
}

// shape is a name with its variable parts taken out: names of one shape are siblings.
type shape struct {
	text  string // the fixed text, a NUL for each variable part and its kind
	parts []part
}

// The shortest run of characters that counts as a hash, and as a random suffix.
const (
	minHash   = 7
	minRandom = 6
)

// shapeOf takes a name apart. ok is false where it has no variable part.
func shapeOf(name string) (s shape, ok bool) {
	var b strings.Builder
	for i := 0; i < len(name); {
		if !wordByte(name[i]) {
			b.WriteByte(name[i])
			i++
			continue
		}
		j := i
		for j < len(name) && wordByte(name[j]) {
			j++
		}
		word := name[i:j]
		switch {
		case hashLike(word):
			s.parts = append(s.parts, part{'h', len(word)})
			b.WriteString("\x00h")
		case randomLike(word):
			s.parts = append(s.parts, part{'r', len(word)})
			b.WriteString("\x00r")
		default:
			s.digits(word, &b)
		}
		i = j
	}
	s.text = b.String()
	return s, len(s.parts) > 0
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// digits takes runs of digits out of a word.
func (s *shape) digits(word string, b *strings.Builder) {
	for i := 0; i < len(word); {
		j := i
		for j < len(word) && word[j] >= '0' && word[j] <= '9' {
			j++
		}
		if j > i {
			s.parts = append(s.parts, part{'d', j - i})
			b.WriteString("\x00d")
			i = j
			continue
		}
		b.WriteByte(word[i])
		i++
	}
}

// hashLike: lower-case hexadecimal digits, long, with a letter and a digit among them.
func hashLike(word string) bool {
	if len(word) < minHash {
		return false
	}
	letters, digits := 0, 0
	for i := 0; i < len(word); i++ {
		switch c := word[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'a' && c <= 'f':
			letters++
		default:
			return false
		}
	}
	return letters > 0 && digits > 0
}

// randomLike: letters and digits that change kind at least twice, as programs draw them for
// temporary names.
func randomLike(word string) bool {
	if len(word) < minRandom {
		return false
	}
	kind := func(c byte) int {
		switch {
		case c >= '0' && c <= '9':
			return 0
		case c >= 'a':
			return 1
		}
		return 2
	}
	changes, digits, upper := 0, 0, 0
	for i := 0; i < len(word); i++ {
		k := kind(word[i])
		if k == 0 {
			digits++
		}
		if k == 2 {
			upper++
		}
		if i > 0 && k != kind(word[i-1]) {
			changes++
		}
	}
	return changes >= 3 && digits+upper >= 2 || changes >= 2 && digits > 0 && upper > 0
}

// class is one character of a kind as a glob says it.
func (p part) class() string {
	switch p.kind {
	case 'd':
		return "[0-9]"
	case 'h':
		return "[0-9a-f]"
	}
	return "[0-9A-Za-z]"
}

// maxVariants bounds the lengths that one variable part may have in a pattern.
const maxVariants = 8

// maxGlob bounds the text of a pattern; a longer one says less than the names do.
const maxGlob = 400

// patterns are the rungs of the pattern step.
func (l *ladder) patterns() []*rung {
	type place struct{ dir, text string }
	type family struct {
		place
		covers []int32
		shapes []shape
	}
	at := map[place]*family{}
	var order []*family
	for i, p := range l.wanted {
		s, ok := shapeOf(baseOf(p))
		if !ok {
			continue
		}
		k := place{dirOf(p), s.text}
		f := at[k]
		if f == nil {
			f = &family{place: k}
			at[k] = f
			order = append(order, f)
		}
		f.covers, f.shapes = append(f.covers, int32(i)), append(f.shapes, s)
	}
	others := map[string][]string{} // by directory
	for _, p := range l.others {
		others[dirOf(p)] = append(others[dirOf(p)], p)
	}
	var out []*rung
	for _, f := range order {
		if len(f.covers) < 2 {
			continue
		}
		glob, ok := globOf(f.text, f.shapes)
		if !ok {
			continue
		}
		r := &rung{step: Pattern, dir: f.dir, glob: glob, covers: f.covers}
		fits := r.matcher()
		for _, p := range others[f.dir] {
			if fits(p) {
				r.admits++
			}
		}
		out = append(out, r)
	}
	return out
}

// globOf is the glob of names of one shape: each variable part has the lengths that were seen.
func globOf(text string, shapes []shape) (string, bool) {
	var b strings.Builder
	at, variants := 0, 1
	for i := 0; i < len(text); i++ {
		if text[i] != 0 {
			b.WriteString(globEscape(text[i : i+1]))
			continue
		}
		i++
		var lengths []int
		for _, s := range shapes {
			lengths = append(lengths, s.parts[at].length)
		}
		slices.Sort(lengths)
		lengths = slices.Compact(lengths)
		if variants *= len(lengths); len(lengths) > maxVariants || variants > 512 {
			return "", false
		}
		class := shapes[0].parts[at].class()
		if len(lengths) == 1 {
			b.WriteString(strings.Repeat(class, lengths[0]))
		} else {
			texts := make([]string, len(lengths))
			for i, n := range lengths {
				texts[i] = strings.Repeat(class, n)
			}
			fmt.Fprintf(&b, "{%s}", strings.Join(texts, ","))
		}
		at++
	}
	return b.String(), b.Len() <= maxGlob
}

// globEscape writes a text so that a glob means it.
func globEscape(s string) string {
	if !strings.ContainsAny(s, `*?[]{}\,!^`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if strings.IndexByte(`*?[]{}\`, s[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
