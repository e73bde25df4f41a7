package cascade_test

import (
	"slices"
	"sort"
	"strconv"
	"strings"
)

// naive answers what a view says, as directly as the language's definition puts it and
// with no thought of speed. It works on the tests' model and shares no code with the tool.
type naive struct {
	c        *mCase
	entities []mEntity
	rules    []nRule
	layers   []string // the weakest first
	active   []int
}

// nRule is one selector with the declarations of its block, nesting undone.
type nRule struct {
	sel   mComplex
	layer string // "" outside all layers
	decls []nDecl
}

type nDecl struct {
	mDecl
	order int
}

// nCand is a declaration that applies to an entity and property.
type nCand struct {
	spec      nSpec
	important bool
	locked    bool
	layer     int // larger is later; outside all layers is the largest
	order     int
	values    []string
}

// nSpec is a specificity: axes, then a triple per axis and one for what has no axis.
type nSpec []int

type nAnswer struct {
	origin   string // none cascade fixed initial derived
	value    []string
	has      bool
	resolved []string
	ruled    bool // some rule sets it; then resolved is what the rules make of it
	sets     [][]string
}

func newNaive(c *mCase) *naive {
	n := &naive{c: c, entities: slices.Clone(c.entities)}
	layer := func(name string) {
		if name != "" && !slices.Contains(n.layers, name) {
			n.layers = append(n.layers, name)
		}
	}
	for _, l := range c.view.layers {
		layer(l)
	}
	order := 0
	var flatten func(r mRule, parent *mComplex, within string)
	flatten = func(r mRule, parent *mComplex, within string) {
		if r.layer != "" {
			within = r.layer
			layer(within)
		}
		var decls []nDecl
		for _, d := range r.decls {
			order++
			decls = append(decls, nDecl{d, order})
		}
		// Of several declarations of one property in one block the last counts, per flag,
		// unless it is repeatable.
		decls = slices.DeleteFunc(slices.Clone(decls), func(d nDecl) bool {
			return d.prop != "run" && slices.ContainsFunc(decls, func(later nDecl) bool {
				return later.order > d.order && later.prop == d.prop && later.flag == d.flag
			})
		})
		for _, sel := range r.selectors {
			full := sel
			if parent != nil {
				full = mComplex{parts: append(slices.Clone(parent.parts), sel.parts...), combs: append(slices.Clone(parent.combs), sel.combs...)}
				full.combs[len(parent.combs)] = " "
			}
			n.rules = append(n.rules, nRule{sel: full, layer: within, decls: decls})
			for _, inner := range r.nested {
				flatten(inner, &full, within)
			}
		}
	}
	for _, r := range c.view.rules {
		flatten(r, nil, "")
	}
	n.active = slices.Clone(c.context)
	for _, t := range c.vocabulary.types {
		if !t.sole || slices.ContainsFunc(n.active, func(i int) bool { return n.entities[i].typ == t }) {
			continue
		}
		var all []int
		for i, e := range n.entities {
			if e.typ == t {
				all = append(all, i)
			}
		}
		if len(all) == 1 {
			n.active = append(n.active, all[0])
		}
	}
	return n
}

// specificity counts a selector for an entity: compounds without a type count for the
// target's taxon, or where nothing in the selector names a type, after all taxa.
func (n *naive) specificity(c mComplex, i int) nSpec {
	taxa := n.c.vocabulary.taxa
	axis := func(t *mTaxon) int { return slices.Index(taxa, t) }
	own := axis(n.entities[i].typ.taxon)
	if !slices.ContainsFunc(c.parts, func(p mCompound) bool { return p.typ != nil }) {
		own = len(taxa)
	}
	named := map[*mTaxon]bool{}
	out := make(nSpec, 1+3*(len(taxa)+1))
	for _, p := range c.parts {
		slot := own
		if p.typ != nil {
			named[p.typ.taxon] = true
			slot = axis(p.typ.taxon)
		}
		for k, v := range count(p) {
			out[1+3*slot+k] += v
		}
	}
	out[0] = len(named)
	return out
}

func count(p mCompound) [3]int {
	var t [3]int
	if p.typ != nil {
		t[2]++
	}
	for k, x := range p.simples {
		switch x.kind {
		case "id":
			t[0]++
			dots := strings.Count(x.name, ".")
			if p.typ == nil || !p.typ.dotted {
				t[1] += dots
			} else {
				for _, next := range p.simples[k+1:] {
					if next.kind != "class" {
						break
					}
					t[1]-- // it is part of the id
				}
			}
		case "qid":
			t[0]++
		case "class", "attr", "glob":
			t[1]++
		case "is", "not", "has":
			var best [3]int
			for _, c := range x.list {
				var sum [3]int
				for _, q := range c.parts {
					for k, v := range count(q) {
						sum[k] += v
					}
				}
				if slices.Compare(sum[:], best[:]) > 0 {
					best = sum
				}
			}
			for k := range t {
				t[k] += best[k]
			}
		}
	}
	return t
}

// candidates are the declarations that apply, the one of highest precedence first.
func (n *naive) candidates(p *mProp, i int) []nCand {
	var out []nCand
	for _, r := range n.rules {
		if !n.fits(r.sel, i) || !n.met(r.sel, i) {
			continue
		}
		layer := slices.Index(n.layers, r.layer)
		if r.layer == "" {
			layer = len(n.layers)
		}
		for _, d := range r.decls {
			if d.prop == p.name {
				out = append(out, nCand{n.specificity(r.sel, i), d.flag == "important", d.flag == "locked", layer, d.order, canonical(p, d.values)})
			}
		}
	}
	sort.SliceStable(out, func(i, j int) bool {
		a, b := out[i], out[j]
		switch {
		case a.important != b.important:
			return a.important
		case a.layer != b.layer:
			return (a.layer > b.layer) != a.important
		}
		if c := slices.Compare(a.spec, b.spec); c != 0 {
			return c > 0
		}
		return a.order > b.order
	})
	return out
}

func canonical(p *mProp, values []string) []string {
	out := slices.Clone(values)
	if p.kind == "set" {
		slices.Sort(out)
		out = slices.Compact(out)
	}
	if out == nil {
		out = []string{}
	}
	return out
}

// tight reports whether a is at least as restrictive as b.
func tight(p *mProp, a, b []string) bool {
	switch p.direction {
	case "false":
		return a[0] == "false" || b[0] == "true"
	case "true":
		return a[0] == "true" || b[0] == "false"
	case "min":
		return number(a) <= number(b)
	case "max":
		return number(a) >= number(b)
	case "subset":
		return subset(a, b)
	case "superset":
		return subset(b, a)
	}
	return slices.Equal(a, b)
}

func number(v []string) int {
	n, err := strconv.Atoi(v[0])
	if err != nil {
		panic(err)
	}
	return n
}

func subset(a, b []string) bool {
	return !slices.ContainsFunc(a, func(x string) bool { return !slices.Contains(b, x) })
}

func both(a, b []string) []string {
	out := []string{}
	for _, x := range a {
		if slices.Contains(b, x) {
			out = append(out, x)
		}
	}
	return out
}

func either(a, b []string) []string {
	out := slices.Clone(a)
	for _, x := range b {
		if !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out
}

// unlock drops what would loosen a locked value: of a property that takes one value,
// anything; of one that combines several, what a later layer adds.
func unlock(p *mProp, cands []nCand) []nCand {
	loosens := func(c, lock nCand) bool {
		if p.comparison != "exact" && c.layer <= lock.layer {
			return false
		}
		if p.comparison == "in" || p.comparison == "overlap" || p.comparison == "pattern" && p.direction == "superset" {
			return false
		}
		return !tight(p, c.values, lock.values)
	}
	var locks []nCand
	for layer := 0; ; layer++ {
		left := false
		for _, c := range cands {
			left = left || c.layer > layer
			if c.locked && c.layer == layer && !slices.ContainsFunc(locks, func(lock nCand) bool { return loosens(c, lock) }) {
				locks = append(locks, c)
			}
		}
		if !left {
			break
		}
	}
	var out []nCand
	for _, c := range cands {
		if !slices.ContainsFunc(locks, func(lock nCand) bool { return lock.order != c.order && loosens(c, lock) }) {
			out = append(out, c)
		}
	}
	return out
}

// rules is what the rules alone make of a property.
func (n *naive) ruled(p *mProp, i int) (value []string, sets [][]string, ok bool) {
	cands := unlock(p, n.candidates(p, i))
	if len(cands) == 0 {
		return nil, nil, false
	}
	value = cands[0].values
	switch {
	case p.repeatable:
		value = nil
		sort.SliceStable(cands, func(i, j int) bool { return cands[i].order < cands[j].order })
		for k, c := range cands {
			if k == 0 || c.order != cands[k-1].order {
				value = append(value, c.values...)
			}
		}
	case p.comparison == "<=", p.comparison == ">=":
		for _, c := range cands {
			if (number(c.values) < number(value)) == (p.comparison == "<=") && number(c.values) != number(value) {
				value = c.values
			}
		}
	case p.comparison == "in":
		for _, c := range cands {
			value = both(value, c.values)
		}
	case p.comparison == "overlap":
		for _, c := range cands {
			if !slices.ContainsFunc(sets, func(s []string) bool { return slices.Equal(s, c.values) }) {
				sets = append(sets, c.values)
			}
		}
		value = overlapText(sets)
	case p.comparison == "pattern":
		for _, c := range cands {
			value = either(value, c.values)
		}
		value = canonical(p, value)
	}
	return value, sets, true
}

// overlapText stands for several sets as the one text that compares them.
func overlapText(sets [][]string) []string {
	var texts []string
	for _, s := range sets {
		texts = append(texts, strings.Join(s, ", "))
	}
	return []string{strings.Join(texts, "; ")}
}

// answer is the effective value of a property.
func (n *naive) answer(p *mProp, i int) nAnswer {
	e := &n.entities[i]
	var out nAnswer
	resolved, sets, ok := n.ruled(p, i)
	if ok {
		out = nAnswer{origin: "cascade", value: resolved, has: true, resolved: resolved, ruled: true, sets: sets}
	} else {
		out = n.unruled(p, i)
	}
	if p.through != "" && out.has && p.direction != "none" {
		for _, o := range n.others(p, i) {
			if !tight(p, out.value, o.value) {
				out.origin, out.value = "derived", o.value
			}
		}
	}
	for _, f := range n.c.fixed {
		if f.prop == p.name && n.fits(f.selector, i) && n.met(f.selector, i) {
			out = clamp(p, out, canonical(p, f.values))
		}
	}
	for _, g := range e.typ.props {
		if g.gates != p.name || p.direction == "none" {
			continue
		}
		demand := n.answer(g, i)
		restrictive := []string{p.direction}
		if demand.has && n.broken(g, demand, e) && !(out.has && out.value[0] == restrictive[0]) {
			out.origin, out.value, out.has = "derived", restrictive, true
		}
	}
	return out
}

func (n *naive) unruled(p *mProp, i int) nAnswer {
	e := &n.entities[i]
	for _, name := range p.implied {
		if _, _, ok := n.ruled(e.typ.prop(name), i); ok {
			opposite := map[string]string{"true": "false", "false": "true"}[p.direction]
			return nAnswer{origin: "derived", value: []string{opposite}, has: true}
		}
	}
	initial := nAnswer{origin: "none"}
	if p.initial != nil {
		initial = nAnswer{origin: "initial", value: canonical(p, p.initial), has: true}
		if p.comparison == "overlap" {
			initial.value = []string{strings.Join(initial.value, ", ")}
		}
	}
	switch {
	case p.through != "":
		var value []string
		for _, o := range n.others(p, i) {
			if value == nil || tight(p, o.value, value) {
				value = o.value
			}
		}
		if value != nil {
			return nAnswer{origin: "derived", value: value, has: true}
		}
	case p.follows != "":
		from := n.answer(e.typ.prop(p.follows), i)
		if from.has && !(from.origin == "initial" && initial.has && slices.Equal(from.value, initial.value)) {
			return nAnswer{origin: "derived", value: from.value, has: true}
		}
	}
	return initial
}

// others are the answers that a rule or a fixed constraint gives for the entities that
// the attribute names, whether or not they exist.
func (n *naive) others(p *mProp, i int) []nAnswer {
	name, ok := n.entities[i].attr(p.through)
	if !ok {
		return nil
	}
	typeName, propName, _ := strings.Cut(p.follows, ".")
	var typ *mType
	for _, t := range n.c.vocabulary.types {
		if t.name == typeName {
			typ = t
		}
	}
	var which []int
	for k, e := range n.entities {
		if e.typ == typ && called(&n.entities[k], name.text) {
			which = append(which, k)
		}
	}
	if which == nil {
		n.entities = append(n.entities, mEntity{typ: typ, id: name.text, parent: -1})
		which = []int{len(n.entities) - 1}
		defer func() { n.entities = n.entities[:len(n.entities)-1] }()
	}
	var out []nAnswer
	for _, k := range which {
		if a := n.answer(typ.prop(propName), k); a.has && (a.origin == "cascade" || a.origin == "fixed") {
			out = append(out, a)
		}
	}
	return out
}

func clamp(p *mProp, a nAnswer, bound []string) nAnswer {
	fixed := a
	fixed.origin, fixed.has = "fixed", true
	if p.comparison == "overlap" {
		sets := slices.Clone(a.sets)
		if sets == nil && a.has {
			sets = [][]string{splitList(a.value[0])}
		}
		if !slices.ContainsFunc(sets, func(s []string) bool { return slices.Equal(s, bound) }) {
			sets = append(sets, bound)
		}
		fixed.sets, fixed.value = sets, overlapText(sets)
		if p.direction != "none" && a.has && fixed.value[0] == a.value[0] && (a.origin == "cascade" || fixed.value[0] != strings.Join(bound, ", ")) {
			return a
		}
		return fixed
	}
	fixed.value = bound
	if p.direction == "none" || p.repeatable || !a.has {
		return fixed
	}
	switch p.direction {
	case "subset":
		fixed.value = both(a.value, bound)
	case "superset":
		fixed.value = canonical(p, either(a.value, bound))
	default:
		if tight(p, a.value, bound) {
			fixed.value = a.value
		}
	}
	if slices.Equal(fixed.value, a.value) && (a.origin == "cascade" || !slices.Equal(fixed.value, bound)) {
		return a
	}
	return fixed
}

func splitList(text string) []string {
	if text == "" {
		return []string{}
	}
	return strings.Split(text, ", ")
}

// broken reports whether the entity's attribute does not meet what g demands.
func (n *naive) broken(g *mProp, demand nAnswer, e *mEntity) bool {
	a, ok := e.attr(g.attribute)
	if !ok {
		return true
	}
	members := a.list
	if members == nil {
		members = []string{a.text}
	}
	switch g.comparison {
	case "<=":
		return number(members) > number(demand.value)
	case ">=":
		return number(members) < number(demand.value)
	case "in":
		return !subset(members, demand.value)
	case "overlap":
		sets := demand.sets
		if sets == nil {
			sets = [][]string{splitList(demand.value[0])}
		}
		return slices.ContainsFunc(sets, func(s []string) bool { return len(both(s, members)) == 0 })
	case "pattern":
		return slices.ContainsFunc(members, func(m string) bool {
			return !slices.ContainsFunc(demand.value, func(pattern string) bool { return globSegment(pattern, m) })
		})
	}
	panic(g.comparison)
}
