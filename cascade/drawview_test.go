package cascade_test

import (
	"slices"
	"strings"
)

func (d *drawer) rule(depth int) mRule {
	var r mRule
	t := pick(d, d.focus)
	if d.chance(20) {
		t = pick(d, d.c.vocabulary.types)
	}
	for range 1 + d.n(1) {
		r.selectors = append(r.selectors, d.complex(t, true, 2))
	}
	props := t.props
	for range 1 + d.n(2) {
		if len(props) == 0 {
			break
		}
		p := pick(d, props)
		decl := mDecl{prop: p.name, values: d.value(p, true)}
		switch {
		case d.chance(25):
			decl.flag = "important"
		case p.direction != "none" && d.chance(20):
			decl.flag = "locked"
		}
		r.decls = append(r.decls, decl)
	}
	if depth > 0 && len(r.selectors) == 1 && d.chance(20) {
		r.nested = append(r.nested, d.rule(depth-1))
	}
	return r
}

// complex draws a selector whose target is of type t or of none.
func (d *drawer) complex(t *mType, qualified bool, depth int) mComplex {
	target := d.compound(t, depth)
	c := mComplex{parts: []mCompound{target}, combs: []string{""}}
	for d.chance(40) && len(c.parts) < 4 {
		left := t
		switch {
		case qualified && d.chance(40):
			left = pick(d, d.c.vocabulary.types)
		default:
			var own []*mType
			for _, u := range d.c.vocabulary.types {
				if u.taxon == t.taxon {
					own = append(own, u)
				}
			}
			left = pick(d, own)
		}
		part := d.compound(left, depth)
		if !qualified && target.typ == nil {
			part.typ = nil // else it might turn out to be a qualifier
			part.simples = append(part.simples, mSimple{kind: "class", name: "x"})
		}
		comb := pick(d, []string{" ", " ", " ", ">", ">", "+"})
		if comb == "+" && d.chance(80) {
			comb = " "
		}
		c.parts = slices.Insert(c.parts, 0, part)
		c.combs = append([]string{"", comb}, c.combs[1:]...)
	}
	return c
}

func (d *drawer) compound(t *mType, depth int) mCompound {
	c := mCompound{typ: t}
	switch {
	case d.chance(20):
		c.typ = nil
	case d.chance(2):
		return mCompound{unknown: true}
	}
	for d.chance(50) && len(c.simples) < 3 {
		c.simples = append(c.simples, d.simple(t, c.typ, depth))
	}
	// Ids and classes next to each other can read as one dotted id, so an id comes first.
	slices.SortStableFunc(c.simples, func(a, b mSimple) int { return rankSimple(a) - rankSimple(b) })
	return c
}

func rankSimple(x mSimple) int {
	switch x.kind {
	case "id", "qid":
		return 0
	case "class":
		return 1
	}
	return 2
}

func (d *drawer) simple(t, typed *mType, depth int) mSimple {
	var ids []string
	for _, e := range d.c.entities {
		if e.typ == t {
			ids = append(ids, e.id, e.name())
		}
	}
	ids = append(ids, "k1", "src")
	kinds := []string{"id", "qid", "class", "attr", "attr", "attr"}
	if depth > 0 {
		kinds = append(kinds, "is", "not", "where", "has")
	}
	if t.path || typed == nil {
		kinds = append(kinds, "glob")
	}
	x := mSimple{kind: pick(d, kinds)}
	if d.chance(2) {
		return mSimple{kind: "bad"}
	}
	switch x.kind {
	case "id":
		x.name = pick(d, ids)
		if strings.ContainsAny(x.name, "/#") || strings.HasPrefix(x.name, ".") {
			x.kind = "qid"
		}
	case "qid":
		x.name = pick(d, ids)
	case "class":
		x.name = pick(d, classNames)
	case "glob":
		x.value = pick(d, []string{"**", "src/**", "*.py", "**/*.py", "src/*", "s?c/**", "{src,lib}/**", "**/src/**", "src/**/a.py", "[a-m]*", "./src/*"})
	case "attr":
		x.name = pick(d, []string{"level", "kit", "tags", "name", "path", "path"})
		x.op = pick(d, []string{"", "=", "^=", "$=", "*=", "~=", "|="})
		if x.op == "" {
			break
		}
		switch x.name {
		case "level":
			x.value = pick(d, levels)
		case "kit":
			x.value = pick(d, append([]string{"k", "core", "x"}, kits...))
		case "tags":
			x.value = pick(d, append([]string{"c", ", b"}, tagNames...))
		default:
			x.value = pick(d, append(ids, "", "src/", "a", ".py", "/", "m", "s"))
		}
		if x.fold = d.chance(15); x.fold {
			x.value = pick(d, []string{x.value, strings.ToUpper(x.value)})
		}
	default:
		for range 1 + d.n(1) {
			x.list = append(x.list, d.inner(x.kind, t, typed, depth-1))
		}
	}
	return x
}

// inner draws an argument of :is, :not, :where or :has. It holds no qualifier: all its
// compounds are of one taxon, or name no type.
func (d *drawer) inner(kind string, t, typed *mType, depth int) mComplex {
	of := t
	if kind == "has" {
		var own []*mType
		for _, u := range d.c.vocabulary.types {
			if u.taxon == t.taxon {
				own = append(own, u)
			}
		}
		of = pick(d, own)
	}
	c := d.complex(of, false, depth)
	if typed == nil && c.parts[len(c.parts)-1].typ == nil {
		// Nothing says which taxon it is of, so what stands left may not either.
		for i := range c.parts {
			c.parts[i].typ = nil
			c.parts[i].unknown = false
			if len(c.parts[i].simples) == 0 {
				c.parts[i].simples = []mSimple{{kind: "class", name: "x"}}
			}
		}
	}
	if kind == "has" && d.chance(50) {
		c.combs[0] = ">"
	}
	return c
}
