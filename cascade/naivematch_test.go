package cascade_test

import (
	"slices"
	"strings"
)

// ancestors are the parents up to the root, and the groups whose root the path of the
// entity, or of the nearest parent with a path, lies below.
func (n *naive) ancestors(i int) []int {
	var out []int
	path := ""
	for at := i; at >= 0; at = n.entities[at].parent {
		if at != i {
			out = append(out, at)
		}
		if a, ok := n.entities[at].attrs["path"]; ok && path == "" && n.entities[at].typ.path {
			path = a.text
		}
	}
	if path == "" || n.entities[i].typ.group {
		return out
	}
	for g, e := range n.entities {
		root, ok := e.attrs["root"]
		if !e.typ.group || !ok || e.typ.taxon != n.entities[i].typ.taxon {
			continue
		}
		below := strings.TrimSuffix(root.text, "/")
		if below == "." || strings.HasPrefix(path, below+"/") {
			out = append(out, g)
		}
	}
	return out
}

// never reports whether a selector can match nothing because it holds something unknown,
// or "+" or "~".
func never(c mComplex) bool {
	for i, comb := range c.combs {
		if i > 0 && (comb == "+" || comb == "~") {
			return true
		}
	}
	for _, p := range c.parts {
		if p.unknown {
			return true
		}
		for _, x := range p.simples {
			if x.kind == "bad" || x.kind == "not" && doubtful(x.list, p.typ) {
				return true
			}
		}
	}
	return false
}

// doubtful reports whether selectors in the parentheses of a compound of type typ hold,
// at any depth, something that is unknown or can match nothing: excluding by it would
// exclude too little, so :not then matches nothing at all.
func doubtful(list []mComplex, typ *mType) bool {
	return slices.ContainsFunc(list, func(c mComplex) bool {
		if slices.Contains(c.combs, "+") || slices.Contains(c.combs, "~") {
			return true
		}
		for i, p := range c.parts {
			tested := p.typ
			if tested == nil && i == len(c.parts)-1 {
				tested = typ
			}
			for _, x := range p.simples {
				inner := tested
				if x.kind == "has" {
					inner = nil // what it holds is another entity
				}
				if x.kind == "bad" || x.kind == "glob" && tested != nil && !tested.path || doubtful(x.list, inner) {
					return true
				}
			}
			if p.unknown {
				return true
			}
		}
		return false
	})
}

// fits reports whether the selector's target and structure match entity i; met reports
// whether its context qualifiers hold.
func (n *naive) fits(c mComplex, i int) bool {
	if never(c) {
		return false
	}
	last := len(c.parts) - 1
	return n.compound(c.parts[last], i) && n.left(c, last-1, i, c.parts[last], nil)
}

// left matches parts[k] and all before it above entity i. Where top is not nil, it is
// asked whether the entity that the first part fell on will do.
func (n *naive) left(c mComplex, k, i int, target mCompound, top func(int) bool) bool {
	for k >= 0 && n.qualifier(c, k, i) {
		k--
	}
	if k < 0 {
		return top == nil || top(i)
	}
	for _, a := range n.ancestors(i) {
		if c.combs[k+1] == ">" && a != n.entities[i].parent {
			continue
		}
		if n.compound(c.parts[k], a) && n.left(c, k-1, a, target, top) {
			return true
		}
	}
	return false
}

// qualifier reports whether parts[k] is of another taxon than the target, for entity i.
func (n *naive) qualifier(c mComplex, k, i int) bool {
	taxon := n.entities[i].typ.taxon
	if t := c.parts[len(c.parts)-1].typ; t != nil {
		taxon = t.taxon
	}
	return c.parts[k].typ != nil && c.parts[k].typ.taxon != taxon
}

func (n *naive) met(c mComplex, i int) bool {
	for k := range c.parts[:len(c.parts)-1] {
		if n.qualifier(c, k, i) && !slices.ContainsFunc(n.active, func(a int) bool { return n.compound(c.parts[k], a) }) {
			return false
		}
	}
	return true
}

func (n *naive) compound(p mCompound, i int) bool {
	e := &n.entities[i]
	if p.unknown || p.typ != nil && p.typ != e.typ {
		return false
	}
	for k := 0; k < len(p.simples); k++ {
		x := p.simples[k]
		if x.kind == "id" {
			dotted, classes := x.name, 0
			for _, next := range p.simples[k+1:] {
				if next.kind != "class" {
					break
				}
				dotted += "." + next.name
				classes++
			}
			if e.typ.dotted {
				if !called(e, dotted) {
					return false
				}
			} else {
				parts := strings.Split(dotted, ".")
				if !called(e, parts[0]) {
					return false
				}
				for _, class := range parts[1:] {
					if !slices.Contains(e.classes, class) {
						return false
					}
				}
			}
			k += classes
			continue
		}
		if !n.simple(x, p, i) {
			return false
		}
	}
	return true
}

func called(e *mEntity, id string) bool { return e.id == id || e.name() == id }

func (n *naive) simple(x mSimple, p mCompound, i int) bool {
	e := &n.entities[i]
	switch x.kind {
	case "qid":
		return called(e, x.name)
	case "class":
		return slices.Contains(e.classes, x.name)
	case "attr":
		return attribute(x, p, e)
	case "glob":
		path, ok := e.attrs["path"]
		return ok && e.typ.path && glob(strings.TrimPrefix(x.value, "./"), path.text)
	case "is", "where":
		return slices.ContainsFunc(x.list, func(c mComplex) bool { return n.fits(c, i) })
	case "not":
		return !slices.ContainsFunc(x.list, func(c mComplex) bool { return n.fits(c, i) })
	case "has":
		return slices.ContainsFunc(x.list, func(c mComplex) bool { return n.has(c, i) })
	}
	return false
}

func (n *naive) has(c mComplex, i int) bool {
	if never(c) {
		return false
	}
	last := len(c.parts) - 1
	for d := range n.entities {
		ok := n.compound(c.parts[last], d) && n.left(c, last-1, d, c.parts[last], func(top int) bool {
			if c.combs[0] == ">" {
				return n.entities[top].parent == i
			}
			return slices.Contains(n.ancestors(top), i)
		})
		if ok {
			return true
		}
	}
	return false
}

func attribute(x mSimple, p mCompound, e *mEntity) bool {
	a, ok := e.attr(x.name)
	if !ok {
		return false
	}
	if x.op == "" {
		return true
	}
	text, value := a.text, x.value
	if x.op == "=" && x.name == "path" && p.typ != nil && p.typ.path && len(value) > 1 {
		value = strings.TrimSuffix(value, "/")
	}
	list := a.list
	if x.fold {
		text, value = strings.ToLower(text), strings.ToLower(value)
		list = slices.Clone(list)
		for i := range list {
			list[i] = strings.ToLower(list[i])
		}
	}
	switch x.op {
	case "=":
		return text == value
	case "^=":
		return value != "" && strings.HasPrefix(text, value)
	case "$=":
		return value != "" && strings.HasSuffix(text, value)
	case "*=":
		return value != "" && strings.Contains(text, value)
	case "|=":
		return text == value || strings.HasPrefix(text, value+"-")
	}
	if a.list == nil {
		list = strings.Fields(text)
	}
	return slices.Contains(list, value)
}

// glob matches by trying everything.
func glob(pattern, path string) bool {
	if open := strings.IndexByte(pattern, '{'); open >= 0 {
		end := strings.IndexByte(pattern, '}')
		for alternative := range strings.SplitSeq(pattern[open+1:end], ",") {
			if glob(pattern[:open]+alternative+pattern[end+1:], path) {
				return true
			}
		}
		return false
	}
	return globSegments(strings.Split(pattern, "/"), strings.Split(path, "/"))
}

func globSegments(pattern, path []string) bool {
	switch {
	case len(pattern) == 0:
		return len(path) == 0
	case pattern[0] == "**":
		return globSegments(pattern[1:], path) || len(path) > 0 && globSegments(pattern, path[1:])
	}
	return len(path) > 0 && globSegment(pattern[0], path[0]) && globSegments(pattern[1:], path[1:])
}

func globSegment(pattern, s string) bool {
	switch {
	case pattern == "":
		return s == ""
	case pattern[0] == '*':
		return globSegment(pattern[1:], s) || s != "" && globSegment(pattern, s[1:])
	case s == "":
		return false
	case pattern[0] == '[': // one range, as in [a-m]
		return pattern[1] <= s[0] && s[0] <= pattern[3] && globSegment(pattern[5:], s[1:])
	}
	return (pattern[0] == '?' || pattern[0] == s[0]) && globSegment(pattern[1:], s[1:])
}
