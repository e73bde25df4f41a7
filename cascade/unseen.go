package cascade

import (
	"slices"
	"strings"

	"umwelt/registry"
	"umwelt/world"
)

// truth is three-valued: whether something holds of an entity of which not all is known.
// Larger is truer, so that "and" is min and "or" is max.
type truth uint8

const (
	no truth = iota
	maybe
	yes
)

// finding is a truth about what may be made below one directory. Settled says that the
// same holds below every directory further down.
type finding struct {
	truth
	settled bool
}

func (a finding) not() finding { return finding{yes - a.truth, a.settled} }

func (a finding) and(b finding) finding {
	if a == (finding{no, true}) || b == (finding{no, true}) {
		return finding{no, true}
	}
	return finding{min(a.truth, b.truth), a.settled && b.settled}
}

func (a finding) or(b finding) finding { return a.not().and(b.not()).not() }

func settled(t truth) finding { return finding{t, true} }
func passing(t truth) finding { return finding{t, false} }

// unseen is an entity to be made at some path below a directory. What is known of it is
// its type and how its path begins; it has no classes, and its other attributes may be
// anything.
type unseen struct {
	typ    *registry.EntityType
	dir    string // how the path begins: "" or a text that ends in "/"
	exists func(path string) bool
	glob   func(pattern string) world.Glob
}

// compound is whether a compound fits.
func (u *unseen) compound(c *registry.Compound) finding {
	if c.Type != nil && c.Type != u.typ {
		return settled(no)
	}
	out := settled(yes)
	for i := 0; i < len(c.Tests); i++ {
		t := &c.Tests[i]
		if t.Kind == registry.TestID && t.Classes > 0 && u.typ.Dotted {
			out = out.and(u.id(t.Dotted))
			i += t.Classes
			continue
		}
		out = out.and(u.test(t))
	}
	return out
}

func (u *unseen) test(t *registry.Test) finding {
	switch t.Kind {
	case registry.TestID:
		return u.id(t.Value)
	case registry.TestAttr:
		return u.attr(t)
	case registry.TestIs:
		return u.any(t.Selectors)
	case registry.TestNot:
		for _, sel := range t.Selectors {
			if sel.Never || len(sel.Qualifiers) > 0 {
				return settled(no)
			}
		}
		return u.any(t.Selectors).not()
	case registry.TestHas:
		return settled(maybe)
	case registry.TestGlob:
		if u.typ.PathAttr == "" {
			return settled(no)
		}
		return u.globs(u.glob(t.Value))
	case registry.TestPseudo:
		if len(t.Pseudo.Types) > 0 && !slices.Contains(t.Pseudo.Types, u.typ.Name) {
			return settled(no)
		}
		return settled(maybe)
	}
	return settled(no) // a class, which nothing new has, or what never fits
}

func (u *unseen) any(selectors []*registry.Selector) finding {
	out := settled(no)
	for _, sel := range selectors {
		if sel.Never || len(sel.Qualifiers) > 0 || sel.Taxon != nil && sel.Taxon != u.typ.Taxon {
			continue
		}
		f := u.compound(sel.Target)
		if len(sel.Structure) > 0 {
			f = f.and(settled(maybe))
		}
		out = out.or(f)
	}
	return out
}

func (u *unseen) id(id string) finding {
	if u.typ.PathAttr == "" {
		return settled(maybe)
	}
	id = strings.TrimPrefix(id, "./")
	if strings.Contains(id, "/") {
		return u.path(id)
	}
	return name(id)
}

// name is whether the last segment of the path may be the text.
func name(text string) finding {
	if text == "" || text == "." || text == ".." || strings.Contains(text, "/") {
		return settled(no)
	}
	return settled(maybe)
}

// path is whether the whole path may be the text.
func (u *unseen) path(text string) finding {
	rest, below := strings.CutPrefix(text, u.dir)
	if !below || rest == "" {
		return settled(no)
	}
	first, _, more := strings.Cut(rest, "/")
	if u.exists(u.dir + first) {
		return finding{no, !more}
	}
	return passing(maybe)
}

func (u *unseen) attr(t *registry.Test) finding {
	value := t.Value
	switch t.Op {
	case "^=", "$=", "*=", "~=":
		if value == "" || t.Op == "~=" && strings.ContainsAny(value, " \t\r\n\f") && t.Attr == u.typ.PathAttr {
			return settled(no)
		}
	}
	switch {
	case t.Attr == u.typ.PathAttr && t.Attr != "":
		return u.pathAttr(t)
	case t.Attr == "name" && u.typ.PathAttr != "":
		switch t.Op {
		case "":
			return settled(yes)
		case "=":
			return name(value)
		}
		if strings.Contains(value, "/") {
			return settled(no)
		}
	}
	return settled(maybe)
}

func (u *unseen) pathAttr(t *registry.Test) finding {
	dir, value := u.dir, t.Value
	if t.Fold {
		dir = strings.ToLower(dir)
	}
	if t.Op == "=" || t.Op == "^=" || t.Op == "|=" {
		value = strings.TrimPrefix(value, "./")
	}
	below := strings.HasPrefix(value, dir)
	switch t.Op {
	case "":
		return settled(yes)
	case "=":
		if t.Fold {
			return finding{truthOf(below && value != dir, maybe), !below}
		}
		return u.path(value)
	case "^=":
		switch {
		case strings.HasPrefix(dir, value):
			return settled(yes)
		case !below:
			return settled(no)
		}
		first, _, more := strings.Cut(value[len(dir):], "/")
		return passing(truthOf(t.Fold || !more || !u.exists(dir+first), maybe))
	case "$=":
		return settled(maybe)
	case "*=":
		if strings.Contains(dir, value) {
			return settled(yes)
		}
	case "|=":
		switch {
		case strings.HasPrefix(dir, value+"-"):
			return settled(yes)
		case !below:
			return settled(no)
		}
	}
	return passing(maybe)
}

func truthOf(ok bool, t truth) truth {
	if ok {
		return t
	}
	return no
}

func (u *unseen) globs(g world.Glob) finding {
	out := settled(no)
	for i := range g.Alternatives {
		out = out.or(u.globPath(&g.Alternatives[i]))
	}
	return out
}

// globPath reads the directory with the pattern and asks of every place where it can then
// stand what one or more further segments can do.
func (u *unseen) globPath(p *world.GlobPath) finding {
	at := p.Start()
	for rest := u.dir; rest != "" && at != 0; {
		var segment string
		segment, rest, _ = strings.Cut(rest, "/")
		at = p.Step(at, segment)
	}
	out, stays := no, false
	closed := true // nothing changes further down
	for i := range p.Segments {
		if at&(1<<i) == 0 {
			continue
		}
		rest := p.Segments[i:]
		deep, other := 0, 0
		for _, s := range rest {
			if s.Deep {
				deep++
			} else if !s.Any {
				other++
			}
		}
		if deep > 0 && other == 0 && len(rest)-deep <= 1 {
			return settled(yes)
		}
		if rest[0].Literal && u.exists(u.dir+rest[0].Text) {
			closed = closed && len(rest) == 1
			continue
		}
		out = maybe
		if len(rest) == 2 && rest[0].Deep && !rest[1].Deep {
			stays = true // some last segment will always do, and no directory ever will
			continue
		}
		closed = false
	}
	return finding{out, closed || stays}
}
