package parser

import (
	"strings"

	"umwelt/diag"
)

// item is the text of one statement or declaration up to what ends it: the tokens from
// (included) to end (not included) of the window. Token end is ";", "{", "}" or the end
// of the text.
type item struct {
	from, end int
	bad       bool // a fault in it has been reported
}

// peek is the next token.
func (p *parser) peek() token {
	if p.next == len(p.toks) {
		p.toks, p.comments = p.toks[:0], p.comments[:0]
		p.next, p.nextComment = 0, 0
		p.lex()
	}
	return p.toks[p.next]
}

// scan reads the next item into the window and pairs its brackets.
func (p *parser) scan() item {
	p.peek()
	it := item{from: p.next}
	p.open = p.open[:0]
	over := 0      // brackets open beyond the bound on depth
	semicolon := 0 // the first ";" inside the outermost open bracket
	crossed := false
	i := p.next
	for ; ; i++ {
		if i == len(p.toks) {
			p.lex()
		}
		t := &p.toks[i]
		switch t.kind {
		case tBad:
			it.bad = true
			continue
		case '(', '[':
			switch {
			case over > 0:
				over++
			case p.depth+len(p.open) >= MaxDepth:
				p.tooDeep(*t)
				it.bad = true
				over++
			default:
				if len(p.open) == 0 {
					semicolon = 0
				}
				p.open = append(p.open, int32(i))
			}
			continue
		case ')', ']':
			if over > 0 {
				over--
			} else if !p.closeBracket(i, it.bad) {
				it.bad, crossed = true, true
			}
			continue
		case ';':
			if len(p.open) > 0 && t.start >= p.looseUntil && !crossed {
				if semicolon == 0 {
					semicolon = i
				}
				continue
			}
		case '{', '}', tEOF:
		default:
			continue
		}
		break
	}
	it.end = i
	if len(p.open) == 0 {
		return it
	}
	t := p.toks[p.open[0]]
	if !it.bad && !p.cut {
		p.errorf(diag.Syntax, t.start, t.end, "%s is never closed", diag.Quote(p.text[t.start:t.end]))
	}
	it.bad = true
	p.looseUntil = max(p.looseUntil, p.toks[i].start)
	if semicolon > 0 {
		it.end = semicolon
	}
	return it
}

func (p *parser) tooDeep(t token) {
	p.errorf(diag.TooDeep, t.start, t.end, "nested deeper than %d", MaxDepth)
}

// closeBracket pairs the closing bracket at i and reports whether it fits. A bracket
// that closes an outer one closes those inside it too.
func (p *parser) closeBracket(i int, quiet bool) bool {
	t := p.toks[i]
	want := kind('(')
	if t.kind == ']' {
		want = '['
	}
	for n := len(p.open) - 1; n >= 0; n-- {
		o := &p.toks[p.open[n]]
		if o.kind != want {
			continue
		}
		fits := n == len(p.open)-1
		if inner := p.toks[p.open[len(p.open)-1]]; !fits && !quiet {
			p.errorf(diag.Syntax, inner.start, inner.end, "%s is never closed", diag.Quote(p.text[inner.start:inner.end]))
		}
		o.aux = int32(i)
		p.open = p.open[:n]
		return fits
	}
	if !quiet {
		p.errorf(diag.Syntax, t.start, t.end, "%s closes nothing", diag.Quote(p.text[t.start:t.end]))
	}
	return false
}

// after is the token behind i, or behind the bracket that i opens.
func (p *parser) after(i int) int {
	if t := &p.toks[i]; (t.kind == '(' || t.kind == '[') && t.aux >= 0 {
		return int(t.aux) + 1
	}
	return i + 1
}

// glued reports whether nothing stands between token i and the one before.
func (p *parser) glued(i int) bool { return p.toks[i].flags&(fSpace|fComment) == 0 }

// cleaned is the text of one item without comments and with LF line ends, and where its
// tokens stand in it. It is made only for items that have either.
type cleaned struct {
	from, end  int // the tokens it holds; none where both are 0
	text       string
	start, fin []int32
}

// clean prepares raw for the tokens of an item.
func (p *parser) clean(from, end int) {
	c := &p.cleaned
	c.from, c.end = 0, 0
	if from == end {
		return
	}
	needed := p.hasCR && strings.Contains(p.text[p.toks[from].start:p.toks[end-1].end], "\r\n")
	for i := p.nextComment; i < len(p.comments) && p.comments[i].before < end && !needed; i++ {
		needed = p.comments[i].before > from
	}
	if !needed {
		return
	}
	c.from, c.end = from, end
	c.start, c.fin = c.start[:0], c.fin[:0]
	var b strings.Builder
	for i := from; i < end; i++ {
		t := p.toks[i]
		if i > from {
			switch {
			case t.flags&fComment != 0:
				b.WriteByte(' ')
			case t.flags&fSpace != 0:
				writeLF(&b, p.text[p.toks[i-1].end:t.start])
			}
		}
		c.start = append(c.start, int32(b.Len()))
		writeLF(&b, p.text[t.start:t.end])
		c.fin = append(c.fin, int32(b.Len()))
	}
	c.text = b.String()
}

func writeLF(b *strings.Builder, s string) {
	for {
		i := strings.Index(s, "\r\n")
		if i < 0 {
			b.WriteString(s)
			return
		}
		b.WriteString(s[:i])
		s = s[i+1:]
	}
}

// raw is the text from token i up to token j (not included) as written, each comment as
// one blank. The item must have been given to clean.
func (p *parser) raw(i, j int) string {
	if i >= j {
		return ""
	}
	c := &p.cleaned
	if c.end > 0 {
		return c.text[c.start[i-c.from]:c.fin[j-1-c.from]]
	}
	return p.text[p.toks[i].start:p.toks[j-1].end]
}
