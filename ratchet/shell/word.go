package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// word reads a word, without what it runs; see substitutions.
func (s *splitter) word(w *syntax.Word) Word {
	if text, ok := static(w); ok {
		return Word{Text: text}
	}
	from, to := int(w.Pos().Offset()), int(w.End().Offset())
	if from < 0 || to > len(s.text) || from > to {
		return Word{Dynamic: true}
	}
	return Word{Text: s.text[from:to], Dynamic: true}
}

// static is what a word stands for, where nothing in it is expanded.
func static(w *syntax.Word) (string, bool) {
	if w == nil {
		return "", true
	}
	var b strings.Builder
	for i, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			text, ok := plain(p.Value, i == 0)
			if !ok {
				return "", false
			}
			b.WriteString(text)
		case *syntax.SglQuoted:
			if p.Dollar && strings.Contains(p.Value, `\`) {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok {
					return "", false
				}
				b.WriteString(quoted(lit.Value))
			}
		default:
			return "", false
		}
	}
	text := b.String()
	return text, !hasBraces(w)
}

// plain takes the backslashes out of text that stands outside quotes. ok is false where a
// shell puts something else in its place: the name of a file, a home.
func plain(text string, first bool) (out string, ok bool) {
	if first && strings.HasPrefix(text, "~") {
		return "", false
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '\\':
			if i++; i < len(text) && text[i] != '\n' {
				b.WriteByte(text[i])
			}
		case '*', '?':
			return "", false
		case '[':
			if strings.IndexByte(text[i:], ']') > 1 {
				return "", false
			}
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), true
}

// quoted takes the backslashes out of text that stands in double quotes.
func quoted(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && strings.IndexByte("$`\"\\\n", text[i+1]) >= 0 {
			if i++; text[i] == '\n' {
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// hasBraces reports whether a word may stand for several, as in a{b,c}.
func hasBraces(w *syntax.Word) bool {
	open, parted := false, false
	for _, part := range w.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			continue
		}
		for i := 0; i < len(lit.Value); i++ {
			switch c := lit.Value[i]; {
			case c == '\\':
				i++
			case c == '{':
				open = true
			case open && (c == ',' || c == '.' && strings.HasPrefix(lit.Value[i:], "..")):
				parted = true
			case c == '}' && parted:
				return true
			}
		}
	}
	return false
}

// substitutions takes apart what a node runs while it is expanded.
func (s *splitter) substitutions(n syntax.Node, c context, st *state) {
	if c.depth++; c.depth > maxNesting {
		s.fail("it is nested deeper than %d", maxNesting)
		return
	}
	syntax.Walk(n, func(m syntax.Node) bool {
		inner := c
		inner.substitution, inner.apart, inner.ok = true, true, false
		switch m := m.(type) {
		case *syntax.CmdSubst:
			s.statements(m.Stmts, inner, st.copy())
			return false
		case *syntax.ProcSubst:
			inner.background = true
			s.statements(m.Stmts, inner, st.copy())
			return false
		}
		if m == nil || m == n || !conditional(m) {
			return true
		}
		s.within(m, maybe(c), st)
		return false
	})
}

// within takes apart what a node that is conditional runs.
func (s *splitter) within(n syntax.Node, c context, st *state) {
	syntax.Walk(n, func(m syntax.Node) bool {
		if m == nil || m == n {
			return m != nil
		}
		s.substitutions(m, c, st)
		return false
	})
}

// conditional reports whether a part of a word expands what is in it only sometimes.
func conditional(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.ParamExp:
		return true
	case *syntax.BinaryArithm:
		return n.Op == syntax.AndArit || n.Op == syntax.OrArit || n.Op == syntax.TernQuest
	case *syntax.BinaryTest:
		return n.Op == syntax.AndTest || n.Op == syntax.OrTest
	}
	return false
}
