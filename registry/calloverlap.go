package registry

import (
	"slices"
	"strings"
)

// longestCompared bounds the patterns that are compared with each other; of longer ones
// only equal ones are known to say the same.
const longestCompared = 512

// anyText stands for a star where a pattern is read as a text. It is in no UTF-8 text.
const anyText = "\xff"

// Covers reports whether the pattern, as one that refuses, surely refuses every call that
// another one admits. It may miss that it does.
func (p CallPattern) Covers(allow CallPattern) bool {
	text, ok := allow.asText()
	if !ok {
		return slices.Equal(p.literals, allow.literals)
	}
	// What a star of the other stands for is not known, so only a star can take it, and a
	// command whose beginning holds one begins nowhere that is known.
	t := readLoose(text)
	t.starts = slices.DeleteFunc(t.starts, func(start int32) bool {
		from := strings.LastIndexFunc(text[:start], func(r rune) bool { return r < 0x80 && parts(byte(r)) })
		return strings.Contains(text[from+1:start], anyText)
	})
	return slices.ContainsFunc(p.loose, func(literals []string) bool {
		return !strings.Contains(strings.Join(literals, ""), anyText) && t.fits(literals)
	})
}

// Crosses reports whether some text fits both patterns from end to end, where every "*"
// spans anything and the case of letters makes no difference.
func (p CallPattern) Crosses(allow CallPattern) bool {
	a, ok := allow.asText()
	return ok && slices.ContainsFunc(p.loose, func(literals []string) bool {
		b := strings.Join(literals, anyText)
		return len(b) <= longestCompared && crosses(a, b)
	})
}

// asText is the pattern in which anyText stands for each star. ok is false where it is too
// long.
func (p CallPattern) asText() (text string, ok bool) {
	parts := make([]string, len(p.literals))
	for i, literal := range p.literals {
		parts[i] = foldCase(literal)
	}
	text = strings.Join(parts, anyText)
	return text, len(text) <= longestCompared
}

// crosses reports whether some text fits both a and b, in which anyText spans anything.
func crosses(a, b string) bool {
	star := anyText[0]
	// reach[j] says that some text fits a[:i] and b[:j], next[j] the same of a[:i+1].
	reach := make([]bool, len(b)+1)
	next := make([]bool, len(b)+1)
	for i := 0; i <= len(a); i++ {
		for j := 0; j <= len(b); j++ {
			ok := i == 0 && j == 0
			ok = ok || i > 0 && a[i-1] == star && reach[j]
			ok = ok || j > 0 && b[j-1] == star && next[j-1]
			if i > 0 && j > 0 {
				ok = ok || reach[j-1] && a[i-1] == b[j-1]
				ok = ok || a[i-1] == star && next[j-1]
				ok = ok || b[j-1] == star && reach[j]
			}
			next[j] = ok
		}
		reach, next = next, reach
	}
	return reach[len(b)]
}
