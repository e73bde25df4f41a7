package world

import (
	"math/bits"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
)

// The bounds of a glob. A pattern beyond them fits nothing.
const (
	maxGlobAlternatives = 1024
	maxGlobSegments     = 62
)

// Glob is a compiled path pattern. "*", "?" and "[…]" stay within one segment of a path,
// "**" as a whole segment spans any number of them, none included, and "{a,b}" is either.
// The zero Glob fits nothing.
type Glob struct {
	Alternatives []GlobPath
}

// GlobPath is one brace-free alternative of a Glob.
type GlobPath struct {
	Segments []GlobSegment
	deep     uint64 // the bits of those that are Deep; no two are neighbours
}

// GlobSegment is one segment of a pattern.
type GlobSegment struct {
	Text    string // a literal's text, else the pattern
	Literal bool
	Any     bool // "*"
	Deep    bool // "**"

	oneStar    bool // head, "*" and tail are all of it
	head, tail string
}

// CompileGlob compiles a pattern. A pattern that is malformed or over the bounds gives a
// Glob that fits nothing. A leading "./" and a final "/" do not count.
func CompileGlob(pattern string) Glob {
	pattern = strings.TrimPrefix(pattern, "./")
	if len(pattern) > 1 {
		pattern = strings.TrimSuffix(pattern, "/")
	}
	if pattern == "" || !doublestar.ValidatePattern(pattern) {
		return Glob{}
	}
	alternatives, ok := expandBraces(pattern)
	if !ok {
		return Glob{}
	}
	var g Glob
	for _, alt := range alternatives {
		if p, ok := compilePath(alt); ok {
			g.Alternatives = append(g.Alternatives, p)
		}
	}
	return g
}

func compilePath(pattern string) (GlobPath, bool) {
	var p GlobPath
	for segment := range strings.SplitSeq(pattern, "/") {
		if len(p.Segments) == maxGlobSegments || !doublestar.ValidatePattern(segment) {
			return GlobPath{}, false
		}
		s := GlobSegment{Text: segment}
		switch {
		case segment == "**":
			// Two in a row say the same as one.
			if n := len(p.Segments); n > 0 && p.Segments[n-1].Deep {
				continue
			}
			s.Deep = true
			p.deep |= 1 << len(p.Segments)
		case strings.Trim(segment, "*") == "" && segment != "":
			s.Any = true
		case !strings.ContainsAny(segment, `*?[`):
			s.Literal = true
			s.Text = unescape(segment)
		case strings.Count(segment, "*") == 1 && !strings.ContainsAny(segment, `?[\`):
			s.oneStar = true
			s.head, s.tail, _ = strings.Cut(segment, "*")
		}
		p.Segments = append(p.Segments, s)
	}
	return p, true
}

// Match reports whether the glob fits a path, which has no leading "./".
func (g Glob) Match(path string) bool {
	for i := range g.Alternatives {
		if g.Alternatives[i].match(path) {
			return true
		}
	}
	return false
}

func (p *GlobPath) match(path string) bool {
	if last := &p.Segments[len(p.Segments)-1]; !last.Deep && !last.Match(path[strings.LastIndexByte(path, '/')+1:]) {
		return false
	}
	at := p.Start()
	for at != 0 {
		i := strings.IndexByte(path, '/')
		if i < 0 {
			return p.Final(p.Step(at, path))
		}
		at = p.Step(at, path[:i])
		path = path[i+1:]
	}
	return false
}

// Start is the set of places in the pattern (bit i stands before segment i) before any
// segment of a path is read.
func (p *GlobPath) Start() uint64 { return p.skip(1) }

// Step is the set of places after one more segment of a path, from the set before it; 0
// says that no path which continues so can fit.
func (p *GlobPath) Step(at uint64, segment string) uint64 {
	next := at & p.deep
	for rest := at &^ p.deep &^ (1 << len(p.Segments)); rest != 0; rest &= rest - 1 {
		i := bits.TrailingZeros64(rest)
		if p.Segments[i].Match(segment) {
			next |= 1 << (i + 1)
		}
	}
	return p.skip(next)
}

// Final reports whether a path that has been read to its end at these places fits.
func (p *GlobPath) Final(at uint64) bool { return at&(1<<len(p.Segments)) != 0 }

// skip adds the places behind each "**", which may span nothing.
func (p *GlobPath) skip(at uint64) uint64 { return at | at&p.deep<<1 }

// Match reports whether the segment's pattern fits one segment of a path.
func (s *GlobSegment) Match(segment string) bool {
	switch {
	case s.Literal:
		return s.Text == segment
	case s.Any, s.Deep:
		return true
	case s.oneStar:
		return len(segment) >= len(s.head)+len(s.tail) && strings.HasPrefix(segment, s.head) && strings.HasSuffix(segment, s.tail)
	}
	// The library reads a byte that is not UTF-8 as U+FFFD, which must not fit one that
	// the pattern writes.
	if strings.ContainsRune(s.Text, utf8.RuneError) && !utf8.ValidString(segment) {
		return false
	}
	return doublestar.MatchUnvalidated(s.Text, segment)
}

// GlobLiterals are texts that every path which an alternative of a glob fits must hold:
// at its beginning, at its end, and anywhere; whole says that the path must be Prefix.
// Each may be empty.
type GlobLiterals struct {
	Prefix, Suffix, Inside string
	Whole                  bool
}

// Literals are the literals of each alternative.
func (g Glob) Literals() []GlobLiterals {
	out := make([]GlobLiterals, len(g.Alternatives))
	for i := range g.Alternatives {
		p := &g.Alternatives[i]
		out[i].Prefix, out[i].Whole = p.literalPrefix()
		out[i].Suffix = p.literalSuffix()
		for _, s := range p.Segments {
			if text := s.longestLiteral(); len(text) > len(out[i].Inside) {
				out[i].Inside = text
			}
		}
	}
	return out
}

// LiteralPrefix is a text that every path which fits begins with, and whether only that
// text itself fits.
func (g Glob) LiteralPrefix() (prefix string, whole bool) {
	for i, l := range g.Literals() {
		if i == 0 {
			prefix, whole = l.Prefix, l.Whole
			continue
		}
		n := 0
		for n < len(prefix) && n < len(l.Prefix) && prefix[n] == l.Prefix[n] {
			n++
		}
		prefix, whole = prefix[:n], false
	}
	return prefix, whole
}

// longestLiteral is the longest text that a segment which fits must hold.
func (s *GlobSegment) longestLiteral() string {
	if s.Literal {
		return s.Text
	}
	if strings.ContainsAny(s.Text, `[\`) {
		return ""
	}
	best := ""
	for run := range strings.FieldsFuncSeq(s.Text, func(r rune) bool { return r == '*' || r == '?' }) {
		if len(run) > len(best) {
			best = run
		}
	}
	return best
}

func (p *GlobPath) literalPrefix() (string, bool) {
	var b strings.Builder
	for i, s := range p.Segments {
		switch {
		case s.Literal:
			if i > 0 {
				b.WriteByte('/')
			}
			b.WriteString(s.Text)
		case s.Deep:
			return b.String(), false // "a/**" fits "a" itself
		default:
			if i > 0 {
				b.WriteByte('/')
			}
			end := strings.IndexAny(s.Text, `*?[\`)
			b.WriteString(s.Text[:end])
			return b.String(), false
		}
	}
	return b.String(), true
}

func (p *GlobPath) literalSuffix() string {
	last := p.Segments[len(p.Segments)-1]
	if last.Literal {
		return last.Text
	}
	if last.Any || last.Deep || strings.ContainsAny(last.Text, `\`) {
		return ""
	}
	return last.Text[strings.LastIndexAny(last.Text, `*?]`)+1:]
}

func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// expandBraces writes out "{a,b}". ok is false where that makes too many patterns or the
// braces do not close.
func expandBraces(pattern string) (out []string, ok bool) {
	open, end, commas := findBraces(pattern)
	switch {
	case open < 0:
		return []string{pattern}, true
	case end < 0:
		return nil, false
	}
	rests, ok := expandBraces(pattern[end+1:])
	if !ok {
		return nil, false
	}
	from := open + 1
	for _, to := range append(commas, end) {
		middles, ok := expandBraces(pattern[from:to])
		if !ok || len(out)+len(middles)*len(rests) > maxGlobAlternatives {
			return nil, false
		}
		for _, middle := range middles {
			for _, rest := range rests {
				out = append(out, pattern[:open]+middle+rest)
			}
		}
		from = to + 1
	}
	return out, true
}

// findBraces finds the first group of braces outside brackets: its ends and its commas.
// open is -1 where there is none, end -1 where it does not close.
func findBraces(pattern string) (open, end int, commas []int) {
	open, depth, bracket := -1, 0, false
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\':
			i++
		case bracket:
			bracket = c != ']'
		case c == '[':
			bracket = true
		case c == '{':
			if depth == 0 {
				open = i
			}
			depth++
		case c == '}' && depth > 0:
			if depth--; depth == 0 {
				return open, i, commas
			}
		case c == ',' && depth == 1:
			commas = append(commas, i)
		}
	}
	return open, -1, commas
}
