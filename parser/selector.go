package parser

import (
	"strings"

	"umwelt/ast"
	"umwelt/diag"
)

// partCount counts the parts of one selector, arguments included.
type partCount struct{ compounds, simples int }

// selectorList reads the selectors from token i up to j; nil with an error reported
// where it cannot. A relative selector begins with a combinator.
func (p *parser) selectorList(i, j int, relative bool) []*ast.Selector {
	p.clean(i, j)
	// A fault leaves these stacks as they were where it was found.
	p.sels, p.comps, p.combs = p.sels[:0], p.comps[:0], p.combs[:0]
	out, _ := p.selectors(i, j, relative, true)
	return out
}

// selectors is selectorList for a nested list too, which counts towards the selector that
// holds it.
func (p *parser) selectors(i, j int, relative, outer bool) ([]*ast.Selector, bool) {
	base := len(p.sels)
	ok := true
	for ok {
		if outer {
			p.parts = partCount{}
			if t := p.toks[i]; len(p.sels)-base >= MaxSelectors {
				p.errorf(diag.TooLarge, t.start, t.end, "the rule has more than %d selectors", MaxSelectors)
				ok = false
				break
			}
		}
		var sel *ast.Selector
		if sel, i, ok = p.complex(i, j, relative); !ok {
			break
		}
		p.sels = append(p.sels, sel)
		if i == j {
			break
		}
		i++ // the comma
	}
	var out []*ast.Selector
	if ok {
		out = p.slabs.selectorPs.copyOf(p.sels[base:])
	}
	p.sels = p.sels[:base]
	return out, ok
}

// complex reads one selector up to a comma or j.
func (p *parser) complex(i, j int, relative bool) (*ast.Selector, int, bool) {
	compBase, combBase := len(p.comps), len(p.combs)
	start := p.toks[i].start
	comb := ast.None
	if i < j && isCombinator(p.toks[i].kind) {
		if !relative {
			t := p.toks[i]
			p.errorf(diag.Syntax, t.start, t.end, "a selector that begins with %q needs a rule around it to relate to", p.text[t.start:t.end])
			return nil, 0, false
		}
		comb = ast.Combinator(p.toks[i].kind)
		i++
	}
	for {
		c, k, ok := p.compound(i, j)
		if !ok {
			return nil, 0, false
		}
		p.comps = append(p.comps, c)
		p.combs = append(p.combs, comb)
		i = k
		if i == j || p.toks[i].kind == ',' {
			break
		}
		switch t := p.toks[i]; {
		case isCombinator(t.kind):
			comb = ast.Combinator(t.kind)
			i++
		case t.flags&fSpace != 0:
			comb = ast.Descendant
		default:
			p.unexpected(i, "a selector")
			return nil, 0, false
		}
	}
	s := p.slabs.selectors.new()
	s.At = p.span(start, p.toks[i-1].end)
	s.Compounds = p.slabs.compoundPs.copyOf(p.comps[compBase:])
	s.Combinators = p.slabs.combinators.copyOf(p.combs[combBase:])
	p.comps, p.combs = p.comps[:compBase], p.combs[:combBase]
	return s, i, true
}

func isCombinator(k kind) bool { return k == '>' || k == '+' || k == '~' }

// compound reads one compound: everything up to white space, a combinator or a comma.
func (p *parser) compound(i, j int) (*ast.Compound, int, bool) {
	start := p.toks[i].start
	p.parts.compounds++
	if p.tooMany(p.parts.compounds, i) {
		return nil, 0, false
	}
	c := p.slabs.compounds.new()
	k := i
	hasID := false
	simples := p.slabs.simples.take(min(p.countSimples(i, j), MaxSelectorParts))
	used := 0
	for k < j && (k == i || !p.endsCompound(k)) {
		ok := true
		switch t := p.toks[k]; {
		case t.kind == '&' && !c.Parent:
			c.Parent = true
			k++
		case (t.kind == tIdent || t.kind == '*') && c.Type == "" && used == 0 && (k == i || p.glued(k)):
			k, ok = p.typeName(c, k, j)
		case p.startsSimple(k):
			p.parts.simples++
			if p.tooMany(p.parts.simples, k) {
				return nil, 0, false
			}
			s := &simples[used]
			used++
			k, ok = p.simple(s, hasID, k, j)
			hasID = hasID || s.Kind == ast.ID
		default:
			d := p.unexpected(k, "a selector")
			if t.kind == '/' && k > i {
				d.Hint = "put an id or value that holds such a sign in quotes"
			}
			ok = false
		}
		if !ok {
			return nil, 0, false
		}
	}
	if k == i {
		p.unexpected(i, "a selector")
		return nil, 0, false
	}
	c.At = p.span(start, p.toks[k-1].end)
	if used > 0 {
		c.Simples = simples[:used:used]
	}
	return c, k, true
}

// endsCompound reports whether a compound that has begun ends before token k.
func (p *parser) endsCompound(k int) bool {
	t := &p.toks[k]
	return t.flags&fSpace != 0 || t.kind == ',' || isCombinator(t.kind)
}

// startsSimple reports whether token k can begin an id, class, attribute test or
// pseudo-class.
func (p *parser) startsSimple(k int) bool {
	switch t := &p.toks[k]; t.kind {
	case tHash, '#', '.', '[', ':':
		return true
	case tNumber:
		return p.text[t.start] == '.'
	}
	return false
}

// countSimples is at least the number of simple selectors in the compound at token i.
func (p *parser) countSimples(i, j int) int {
	n := 0
	for k := i; k < j && (k == i || !p.endsCompound(k)); k = p.after(k) {
		if p.startsSimple(k) {
			n++
		}
	}
	return n
}

func (p *parser) tooMany(n, i int) bool {
	if n <= MaxSelectorParts {
		return false
	}
	t := p.toks[i]
	p.errorf(diag.TooLarge, t.start, t.end, "the selector has more than %d parts", MaxSelectorParts)
	return true
}

// typeName reads "type", "*", "taxon|type" or "taxon|*".
func (p *parser) typeName(c *ast.Compound, k, j int) (int, bool) {
	first, last := p.toks[k], k
	if first.kind == tIdent && k+1 < j && p.toks[k+1].kind == '|' && p.glued(k+1) {
		if k+2 == j || p.toks[k+2].kind != tIdent && p.toks[k+2].kind != '*' || !p.glued(k+2) {
			p.unexpected(k+2, "an entity type behind the taxon")
			return 0, false
		}
		c.Taxon = decode(p.text[first.start:first.end], false)
		last = k + 2
	}
	t := p.toks[last]
	c.Type = decode(p.text[t.start:t.end], false)
	c.TypeAt = p.span(first.start, t.end)
	if t.kind == tIdent && c.Type == "*" {
		p.errorf(diag.Syntax, t.start, t.end, "an escaped * is no entity type")
		return 0, false
	}
	return last + 1, true
}

// simple reads one id, class, attribute test or pseudo-class; hasID says that an id
// stands before it in its compound.
func (p *parser) simple(s *ast.Simple, hasID bool, k, j int) (next int, ok bool) {
	t := p.toks[k]
	switch t.kind {
	case tHash:
		s.Kind, s.Name = ast.ID, decode(p.text[t.start+1:t.end], false)
		next, ok = k+1, true
	case '#':
		next, ok = k+2, true
		if k+1 == j || p.toks[k+1].kind != tString || !p.glued(k+1) {
			p.unexpected(k+1, "an id behind #").Hint = `an id with other signs is written #"in quotes"`
			return 0, false
		}
		q := p.toks[k+1]
		s.Kind, s.Quoted, s.Name = ast.ID, true, decode(p.text[q.start+1:q.end-1], true)
	case '[':
		next = int(t.aux) + 1
		ok = p.attribute(s, k+1, int(t.aux))
	case ':':
		next, ok = p.pseudo(s, k, j)
	default:
		next, ok = p.class(s, hasID, k, j)
	}
	if ok {
		s.At = p.span(t.start, p.toks[next-1].end)
	}
	return next, ok
}

// class reads ".name". Behind an id the name may start as no identifier does, since ids
// are names from outside that may hold dots: "#v1.2.3".
func (p *parser) class(s *ast.Simple, hasID bool, k, j int) (int, bool) {
	t := p.toks[k]
	start := int(t.start) + 1
	end := nameEnd(p.text, start)
	switch {
	case end == start:
		p.unexpected(k+1, "a class name behind the dot")
		return 0, false
	case !hasID && !startsIdent(p.text, start):
		p.errorf(diag.Syntax, t.start, t.end, "a class name starts with a letter, - or _")
		return 0, false
	}
	for k < j && int(p.toks[k].end) <= end {
		k++
	}
	if int(p.toks[k-1].end) != end {
		t = p.toks[k]
		p.errorf(diag.Syntax, t.start, t.end, "expected a class name").Hint = `an id with other signs is written #"in quotes"`
		return 0, false
	}
	s.Kind, s.Name = ast.Class, decode(p.text[start:end], false)
	return k, true
}

// attribute reads what stands between the brackets of an attribute test.
func (p *parser) attribute(s *ast.Simple, i, close int) bool {
	s.Kind = ast.Attribute
	if i == close || p.toks[i].kind != tIdent {
		p.unexpected(i, "an attribute name")
		return false
	}
	s.Name = decode(p.text[p.toks[i].start:p.toks[i].end], false)
	i++
	if i == close {
		return true
	}
	switch k := p.toks[i].kind; {
	case k == '=':
		s.Op = "="
		i++
	case strings.IndexByte("^$*~|", byte(k)) >= 0 && i+1 < close && p.toks[i+1].kind == '=' && p.glued(i+1):
		s.Op = p.text[p.toks[i].start:p.toks[i+1].end]
		i += 2
	default:
		p.unexpected(i, `"]" or one of = ^= $= *= ~= |=`)
		return false
	}
	if i == close {
		p.unexpected(i, "a value")
		return false
	}
	switch t := p.toks[i]; t.kind {
	case tString:
		s.Value = decode(p.text[t.start+1:t.end-1], true)
	case tIdent:
		s.Value = decode(p.text[t.start:t.end], false)
	case tNumber:
		s.Value = decode(p.text[t.start:t.end], false)
	default:
		p.unexpected(i, "a value").Hint = "put the value in quotes"
		return false
	}
	i++
	if i < close && p.toks[i].kind == tIdent && p.toks[i].end-p.toks[i].start == 1 {
		switch f := p.text[p.toks[i].start] | 0x20; f {
		case 'i', 's':
			s.Flag = f
			i++
		}
	}
	if i < close {
		p.unexpected(i, `"]"`).Hint = "put a value of several words or signs in quotes"
		return false
	}
	return true
}

// pseudo reads ":name" or ":name(argument)".
func (p *parser) pseudo(s *ast.Simple, k, j int) (int, bool) {
	s.Kind = ast.Pseudo
	if k+1 == j || !p.glued(k+1) || p.toks[k+1].kind != tIdent && p.toks[k+1].kind != tURL {
		d := p.unexpected(k+1, `the name of a pseudo-class behind ":"`)
		if k+1 < j && p.toks[k+1].flags&fSpace != 0 {
			d.Hint = "if this is a declaration, a ; is missing at its end"
		}
		return 0, false
	}
	t := p.toks[k+1]
	if t.kind == tURL {
		s.Name, s.HasArg = "url", true
		if args := p.urlArgs(t); args != nil {
			s.Arg = args[0].Text
		}
		return k + 2, true
	}
	s.Name = strings.ToLower(decode(p.text[t.start:t.end], false))
	open := k + 2
	if open >= j || p.toks[open].kind != '(' || !p.glued(open) {
		return open, true
	}
	s.HasArg = true
	i, end := open+1, int(p.toks[open].aux)
	switch s.Name {
	case "not", "is", "where", "has":
		sels, ok := p.selectors(i, end, s.Name == "has", false)
		s.Selectors = sels
		return end + 1, ok
	}
	if end == i+1 && p.toks[i].kind == tString {
		s.Arg = decode(p.text[p.toks[i].start+1:p.toks[i].end-1], true)
	} else {
		s.Arg = p.raw(i, end)
	}
	return end + 1, true
}
