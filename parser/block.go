package parser

import (
	"strings"

	"umwelt/ast"
	"umwelt/diag"
)

// scope says what may stand among the items being read.
type scope struct {
	top    bool // the file itself, not a block
	inRule bool // a rule encloses it, so selectors may begin with a combinator
}

// items reads to the end of a block or file. The closing brace is left unread.
func (p *parser) items(sc scope) []ast.Node {
	base := len(p.nodes)
	for {
		t := p.peek()
		p.leadingComments(base, sc)
		switch t.kind {
		case tEOF:
			return p.take(base)
		case '}':
			if !sc.top {
				return p.take(base)
			}
			if int(t.start) >= p.quietUntil {
				p.errorf(diag.Syntax, t.start, t.end, "} closes nothing")
			}
			p.skipToken()
		case ';':
			p.skipToken()
		case tAt:
			p.atRule(base, sc)
		default:
			p.ruleOrDeclaration(base, sc)
		}
	}
}

// take ends the list of items that starts at base.
func (p *parser) take(base int) []ast.Node {
	out := p.slabs.nodes.copyOf(p.nodes[base:])
	p.nodes = p.nodes[:base]
	return out
}

func (p *parser) skipToken() {
	p.prev = p.toks[p.next].end
	p.next++
}

// blankBefore reports whether a blank line stands between what was read last and start.
// Nothing counts as blank before the first item of a block.
func (p *parser) blankBefore(base int, start int32) bool {
	return len(p.nodes) > base && start > p.prev && strings.Count(p.text[p.prev:start], "\n") > 1
}

// leadingComments turns the comments before the next token into items.
func (p *parser) leadingComments(base int, sc scope) {
	for p.nextComment < len(p.comments) && p.comments[p.nextComment].before <= p.next {
		c := p.comments[p.nextComment]
		p.nextComment++
		gap := p.text[p.prev:c.start]
		follows := (len(p.nodes) > base || !sc.top) && !strings.Contains(gap, "\n")
		p.addComment(base, c, follows, p.blankBefore(base, c.start))
		p.prev = c.end
	}
}

func (p *parser) addComment(base int, c comment, trailing, blank bool) {
	text := strings.TrimRight(p.text[c.start:c.end], " \t\r\n\f")
	if p.hasCR {
		text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	if len(p.nodes) > base {
		if before, ok := p.nodes[len(p.nodes)-1].(*ast.Comment); ok && !strings.HasPrefix(before.Text, "/*") {
			trailing = false
		}
	}
	n := p.slabs.comments.new()
	*n = ast.Comment{
		At:          p.span(c.start, c.start+int32(len(strings.TrimRight(p.text[c.start:c.end], " \t\r\n\f")))),
		Text:        text,
		Trailing:    trailing && text[0] != '#',
		BlankBefore: blank,
	}
	p.nodes = append(p.nodes, n)
}

// headComments turns the comments inside the head of a rule into items before it.
func (p *parser) headComments(base int, it item, blank bool) {
	p.checkComments(it)
	for p.nextComment < len(p.comments) && p.comments[p.nextComment].before <= it.end {
		p.addComment(base, p.comments[p.nextComment], false, blank)
		p.nextComment++
		blank = false
	}
}

// tailComments turns the comments inside a declaration into items behind it.
func (p *parser) tailComments(base int, it item) {
	p.checkComments(it)
	end := int32(0)
	for p.nextComment < len(p.comments) && p.comments[p.nextComment].before <= it.end {
		c := p.comments[p.nextComment]
		p.nextComment++
		breaks := strings.Count(p.text[max(end, p.toks[c.before-1].end):c.start], "\n")
		p.addComment(base, c, breaks == 0, breaks > 1)
		end = c.end
	}
}

// checkComments warns of text inside an item that reads like part of a word and is a
// comment: the "//" of an address, the "/**" of a glob.
func (p *parser) checkComments(it item) {
	for i := p.nextComment; i < len(p.comments) && p.comments[i].before <= it.end; i++ {
		c := p.comments[i]
		if c.before <= it.from {
			continue
		}
		before, text := p.text[c.start-1], p.text[c.start:c.end]
		if is(before, cSpace) || strings.IndexByte(";{},", before) >= 0 {
			continue
		}
		if strings.HasPrefix(text, "//") || strings.HasPrefix(text, "/**") {
			p.report(diag.Warning, diag.CommentInValue, c.start, c.start+2, "%s here begins a comment, so the text behind it is not read", []any{text[:2]}).
				Hint = "put the value in quotes if this is part of it, else a blank before the comment"
		}
	}
}

// dropComments forgets the comments inside an item that is left out.
func (p *parser) dropComments(it item) {
	p.checkComments(it)
	for p.nextComment < len(p.comments) && p.comments[p.nextComment].before <= it.end {
		p.nextComment++
	}
}

func (p *parser) ruleOrDeclaration(base int, sc scope) {
	it := p.scan()
	end := p.toks[it.end]
	if !it.bad && !sc.top {
		p.splitMissing(&it)
	}
	switch {
	case end.kind == '{':
		p.rule(base, sc, it)
		return
	case it.bad || p.cut && end.kind == tEOF:
		p.dropComments(it)
	case sc.top:
		p.unexpected(it.end, `"{" behind the selector`)
		p.dropComments(it)
	default:
		p.declaration(base, it)
	}
	p.endItem(it)
}

// endItem steps over an item without a block, and over its ";".
func (p *parser) endItem(it item) {
	end := p.toks[it.end]
	p.next = it.end
	p.prev = end.start
	if end.kind == ';' {
		p.skipToken()
	}
}

// splitMissing reports every line end inside a declaration at which a ";" was surely
// forgotten, since the next line begins like another declaration, and leaves in the item
// only what follows the last.
func (p *parser) splitMissing(it *item) {
	beforeBlock := p.toks[it.end].kind == '{'
	if beforeBlock && !p.looksDeclared(it.from, it.end) || it.from+1 >= it.end || p.toks[it.from+1].kind != ':' {
		return
	}
	for i := it.from + 2; i < it.end; i = p.after(i) {
		if p.toks[i].flags&fNewline != 0 && p.looksDeclared(i, it.end) {
			p.missing(it, i)
		}
	}
	for i := it.from + 2; beforeBlock && i < it.end; i = p.after(i) {
		if p.toks[i].flags&fNewline != 0 {
			p.missing(it, i)
			return
		}
	}
}

func (p *parser) missing(it *item, at int) {
	last := p.toks[at-1]
	p.errorf(diag.Syntax, last.end, last.end, "a ; is missing at the end of this declaration").
		Hint = "put a value of several lines in quotes"
	p.dropComments(item{from: it.from, end: at})
	p.prev = last.end
	it.from = at
}

// looksDeclared reports whether "name:" and a blank stand at token i.
func (p *parser) looksDeclared(i, end int) bool {
	return i+1 < end && p.toks[i].kind == tIdent && p.toks[i+1].kind == ':' && p.glued(i+1) &&
		(i+2 == end || p.toks[i+2].flags&fSpace != 0)
}

func (p *parser) rule(base int, sc scope, it item) {
	start := p.toks[it.from].start
	if it.from == it.end {
		p.errorf(diag.Syntax, start, start+1, "a block without a selector")
		it.bad = true
	}
	var sels []*ast.Selector
	if !it.bad {
		sels = p.selectorList(it.from, it.end, sc.inRule)
	}
	if sels == nil {
		p.dropComments(it)
		p.next = it.end
		p.block(scope{inRule: true})
		return
	}
	blank := p.blankBefore(base, start)
	n := len(p.nodes)
	p.headComments(base, it, blank)
	r := p.slabs.rules.new()
	r.Selectors = sels
	r.BlankBefore = blank && len(p.nodes) == n
	r.At.Source, r.At.Start = p.src, p.lines.pos(start)
	p.next = it.end
	if r.Block = p.block(scope{inRule: true}); r.Block == nil {
		return
	}
	r.At.End = r.Block.At.End
	p.nodes = append(p.nodes, r)
}

// block reads from "{", the next token, to its "}". It is nil where the block is nested
// too deep, and is then skipped.
func (p *parser) block(sc scope) *ast.Block {
	open := p.peek()
	p.skipToken()
	if p.depth == MaxDepth {
		p.tooDeep(open)
		p.skipBlock()
		return nil
	}
	p.depth++
	b := p.slabs.blocks.new()
	b.At.Source, b.At.Start = p.src, p.lines.pos(open.start)
	b.Items = p.items(sc)
	p.depth--
	t := p.peek()
	b.At.End = p.lines.pos(t.end)
	if t.kind == '}' {
		p.skipToken()
	} else if !p.cut {
		p.errorf(diag.Unterminated, open.start, open.end, "the block that begins here is never closed")
	}
	return b
}

// skipBlock reads on behind the "}" of a block whose "{" has been read.
func (p *parser) skipBlock() {
	for n := 1; n > 0; {
		switch p.peek().kind {
		case '{':
			n++
		case '}':
			n--
		case tEOF:
			p.stop()
			return
		}
		p.nextComment = len(p.comments)
		p.skipToken()
	}
}

func (p *parser) atRule(base int, sc scope) {
	it := p.scan()
	name, end := p.toks[it.from], p.toks[it.end]
	switch {
	case end.kind != '{' && it.bad, p.cut && end.kind == tEOF:
		p.dropComments(it)
		p.endItem(it)
		return
	case end.kind == '}' || end.kind == tEOF:
		p.unexpected(it.end, `";" or a block behind the at-rule`)
		p.dropComments(it)
		p.endItem(it)
		return
	}
	blank := p.blankBefore(base, name.start)
	a := p.slabs.atRules.new()
	a.Name = decode(p.text[name.start+1:name.end], false)
	a.At = p.span(name.start, end.end)
	a.NameAt = p.span(name.start, name.end)
	p.clean(it.from+1, it.end)
	ok := !it.bad
	if ok {
		a.Prelude, ok = p.prelude(it.from+1, it.end)
	}
	if end.kind == ';' {
		if ok {
			a.BlankBefore = blank
			p.nodes = append(p.nodes, a)
			p.tailComments(base, it)
		}
		p.dropComments(it)
		p.endItem(it)
		return
	}
	if ok {
		n := len(p.nodes)
		p.headComments(base, it, blank)
		a.BlankBefore = blank && len(p.nodes) == n
	}
	p.dropComments(it)
	p.next = it.end
	a.Block = p.block(scope{inRule: sc.inRule})
	if !ok || a.Block == nil {
		return
	}
	a.At.End = a.Block.At.End
	p.nodes = append(p.nodes, a)
}

func (p *parser) prelude(from, end int) (ast.Prelude, bool) {
	if from == end {
		at := p.toks[from-1].end
		return ast.Prelude{At: p.span(at, at)}, true
	}
	values, ok := p.valueList(from, end, false)
	return ast.Prelude{At: p.span(p.toks[from].start, p.toks[end-1].end), Raw: p.raw(from, end), Values: values}, ok
}
