package registry

import "strings"

// CallPattern is a pattern for calls, read. A call is the one text that was asked for: a
// command, an address. In a pattern "*" stands for text, a backslash makes the letter
// after it stand for itself, and every other letter does so anyway.
//
// Patterns are read in two ways, each on its safe side: Admits for those that allow, and
// Refuses for those that refuse.
type CallPattern struct {
	literals []string   // what stands before, between and behind the stars, in order
	loose    [][]string // the same as Refuses reads it: each fits on its own, see looseLiterals
}

// ReadCallPattern reads a pattern. Every text is one.
func ReadCallPattern(text string) CallPattern {
	var p CallPattern
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '*':
			p.literals = append(p.literals, b.String())
			b.Reset()
		case c == '\\' && i+1 < len(text):
			i++
			b.WriteByte(text[i])
		default:
			b.WriteByte(c)
		}
	}
	p.literals = append(p.literals, b.String())
	p.loose = looseLiterals(p.literals)
	return p
}

// Call is a call that was prepared to be held against patterns.
type Call struct {
	text     string
	barriers []int32 // the places that no "*" of a pattern that allows goes beyond, in order
	plain    looseText
	bare     looseText // without quotes and doubled blanks
	unclear  bool
	tooLong  bool
}

// MaxCall bounds the calls, in bytes, that are held against patterns. No pattern admits a
// longer one.
const MaxCall = 4 << 20

// ReadCall prepares a call, in time and memory that grow as it does.
func ReadCall(text string) *Call {
	if len(text) > MaxCall {
		return &Call{tooLong: true, unclear: true}
	}
	c := &Call{text: text, barriers: barriers(text)}
	c.plain = readLoose(foldCase(text))
	c.bare = readLoose(collapse(unquote(foldCase(text))))
	c.unclear = c.plain.unclear || c.bare.unclear
	return c
}

// OneCommand reports whether "*" may stand for a text: no part of it could begin another
// command, end this one, or name what it reads and writes.
func OneCommand(text string) bool { return len(barriers(text)) == 0 }

// Admits reports whether the pattern fits the whole call, letter by letter, where "*" stands
// for any text that OneCommand holds for in this place. It takes time in proportion to the
// call's length.
func (p CallPattern) Admits(c *Call) bool {
	last := len(p.literals) - 1
	if last == 0 || c.tooLong {
		return c.text == p.literals[0] && !c.tooLong
	}
	if !strings.HasPrefix(c.text, p.literals[0]) {
		return false
	}
	at, ahead := len(p.literals[0]), c.barriers
	stop := func() int { // the first place that the star at this place does not go beyond
		for len(ahead) > 0 && int(ahead[0]) < at {
			ahead = ahead[1:]
		}
		if len(ahead) == 0 {
			return len(c.text)
		}
		return int(ahead[0])
	}
	// The first place where a literal fits leaves most room for what follows. One that holds a
	// barrier cannot fit further on, since the star before it would have to span that.
	for _, literal := range p.literals[1:last] {
		i := strings.Index(c.text[at:min(stop()+len(literal), len(c.text))], literal)
		if i < 0 {
			return false
		}
		at += i + len(literal)
	}
	end := len(c.text) - len(p.literals[last])
	return end >= at && end <= stop() && strings.HasSuffix(c.text, p.literals[last])
}

// AdmitsButFor reports whether only text that no "*" may stand for keeps the pattern from
// fitting the call.
func (p CallPattern) AdmitsButFor(c *Call) bool {
	return !c.tooLong && !p.Admits(c) && fitsWithin(c.text, p.literals, []int32{0}, []int32{int32(len(c.text))})
}

// barriers are the places of a call's text at which another command could begin, this one
// end, or a redirection stand. Quotes are no shelter, since what reads the call may not see
// them as they look here; but to a parenthesis they are, as commands are full of
// parentheses that are only text. Where shells differ about a quote, nothing after it
// counts as quoted.
func barriers(text string) []int32 {
	var out []int32
	var quote byte
	trust := true
	for i := 0; i < len(text); i++ {
		c := text[i]
		var before byte
		if i > 0 {
			before = text[i-1]
		}
		switch {
		case c < ' ', c == 0x7f, c == 0xc2 && i+1 < len(text) && text[i+1] >= 0x80 && text[i+1] < 0xa0,
			strings.IndexByte(";&|`<>", c) >= 0:
			out = append(out, int32(i))
		case c == '$' && i+1 < len(text) && text[i+1] == '(':
			out = append(out, int32(i))
		case c == '(' && (quote == 0 || !trust || strings.IndexByte("${=", before) >= 0):
			out = append(out, int32(i))
		case c == '\\' && quote == '\'':
			trust = trust && (i+1 == len(text) || text[i+1] != '\'')
		case c == '\\' && i+1 < len(text) && strings.IndexByte("\"'\\", text[i+1]) >= 0:
			i++ // it neither begins nor ends a quote
		case c == quote:
			quote = 0
		case (c == '"' || c == '\'') && quote == 0:
			quote = c
			trust = trust && before != '$'
		}
	}
	return out
}
