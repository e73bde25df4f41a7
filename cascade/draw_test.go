package cascade_test

import (
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"pgregory.net/rapid"
)

// drawer draws model cases.
type drawer struct {
	t    *rapid.T
	c    *mCase
	dirs []string // paths of the world
	// focus are the types that most rules are about, so that rules meet one another.
	focus []*mType
	about []string
}

// n draws from 0 to max, each as likely as the other or nearly so: the integers that rapid
// draws by itself lean to small ones, which would leave most combinations out.
func (d *drawer) n(max int) int {
	v := 0
	for range bits.Len(uint(max)) + 2 {
		v <<= 1
		if rapid.Bool().Draw(d.t, "bit") {
			v |= 1
		}
	}
	return v % (max + 1)
}

// chance is true in about percent of cases.
func (d *drawer) chance(percent int) bool { return d.n(99) >= 100-percent }

func pick[T any](d *drawer, list []T) T { return list[d.n(len(list)-1)] }

func some[T any](d *drawer, list []T, percent int) []T {
	var out []T
	for _, x := range list {
		if d.chance(percent) {
			out = append(out, x)
		}
	}
	return out
}

var (
	classNames = []string{"x", "y", "py"}
	kits       = []string{"k1", "k2", "core-x"}
	tagNames   = []string{"a", "b", "c-d"}
	patterns   = []string{"git *", "ls", "make *"}
	commands   = []string{"one", "two", "three"}
	levels     = []string{"0", "1", "2", "3"}
)

// drawCase draws a case; most rules are about the named types, or about any where none
// is named.
func drawCase(t *rapid.T, about ...string) *mCase {
	d := &drawer{t: t, c: &mCase{}, about: about}
	d.vocabulary()
	d.world()
	d.view()
	return d.c
}

func (d *drawer) vocabulary() {
	v := &d.c.vocabulary
	axes := rapid.Permutation([]int{1, 2, 3}).Draw(d.t, "axes")
	tree := &mTaxon{name: "ta", axis: axes[0]}
	acting := &mTaxon{name: "tb", axis: axes[1]}
	state := &mTaxon{name: "tc", axis: axes[2]}
	v.taxa = []*mTaxon{tree, acting, state}
	slices.SortFunc(v.taxa, func(a, b *mTaxon) int { return a.axis - b.axis })
	props := d.properties()
	types := []*mType{
		{name: "whole", taxon: tree, root: true, sole: d.chance(50)},
		{name: "dir", taxon: tree, path: true, dotted: d.chance(70), parent: []string{"dir", "whole"}},
		{name: "file", taxon: tree, path: true, dotted: d.chance(70), parent: []string{"dir", "whole"}},
		{name: "node", taxon: tree, parent: []string{"file", "node"}},
		{name: "lot", taxon: tree, group: true, parent: []string{"whole"}},
		{name: "tool", taxon: acting},
		{name: "kit", taxon: acting, dotted: d.chance(30)},
		{name: "mode", taxon: state, sole: d.chance(70)},
	}
	if d.chance(30) {
		types = append(types, &mType{name: "tool", taxon: state}) // two taxa with one name
	}
	for _, t := range types {
		t.props = some(d, props, 80)
		d.relate(t, types)
	}
	slices.SortStableFunc(types, func(a, b *mType) int { return a.taxon.axis - b.taxon.axis })
	v.types = types
}

// properties are what types may have; a name means the same wherever it occurs, up to
// what relates it to others.
func (d *drawer) properties() []*mProp {
	direction := func(words ...string) string { return pick(d, words) }
	list := []*mProp{
		{name: "b0", kind: "bool", comparison: "exact", direction: direction("false", "true")},
		{name: "b1", kind: "bool", comparison: "exact", direction: direction("false", "true")},
		{name: "b2", kind: "bool", comparison: "exact", direction: direction("false", "true", "none")},
		{name: "n0", kind: "int", comparison: "exact", direction: direction("min", "max", "none")},
		{name: "max-n", kind: "int", comparison: "<=", direction: "min"},
		{name: "min-n", kind: "int", comparison: ">=", direction: "max"},
		{name: "s0", kind: "set", comparison: "exact", direction: direction("subset", "superset", "none")},
		{name: "only-s", kind: "set", comparison: "in", direction: direction("subset", "none")},
		{name: "any-of-s", kind: "set", comparison: "overlap", direction: direction("subset", "none")},
		{name: "x-pattern", kind: "list", comparison: "pattern", direction: direction("subset", "superset", "none")},
		{name: "word", kind: "word", comparison: "exact", direction: "none"},
		{name: "run", kind: "run", comparison: "exact", direction: "none", repeatable: true},
	}
	for _, p := range list {
		if !p.repeatable && d.chance(40) {
			p.initial = d.value(p, false)
		}
	}
	few := some(d, list[1:], 30)
	return append([]*mProp{list[0]}, few...)
}

// relate gives a type's properties what relates them: each type has copies of its own.
func (d *drawer) relate(t *mType, types []*mType) {
	for i, p := range t.props {
		p := *p
		t.props[i] = &p
	}
	b0, b1, b2 := t.prop("b0"), t.prop("b1"), t.prop("b2")
	gate := func(name, attribute string) {
		if p := t.prop(name); p != nil && b0 != nil && d.chance(50) {
			p.attribute, p.gates = attribute, "b0"
		}
	}
	gate("max-n", "level")
	gate("min-n", "level")
	gate("only-s", "kit")
	gate("any-of-s", "tags")
	gate("x-pattern", "kit")
	if b1 != nil && d.chance(50) {
		for _, name := range []string{"n0", "word", "b0"} {
			if t.prop(name) != nil && d.chance(50) {
				b1.implied = append(b1.implied, name)
			}
		}
	}
	if b0 != nil && b2 != nil && d.chance(50) {
		b2.follows = "b0"
	}
	for _, other := range types {
		if b0 != nil && t.name == "tool" && other.name == "kit" && other.prop("b0") != nil && d.chance(60) {
			b0.follows, b0.through = "kit.b0", "kit"
		}
	}
	if t.name == "kit" {
		for _, u := range types {
			if u.name == "tool" {
				d.relateTool(u, t)
			}
		}
	}
}

// relateTool makes a tool type that was drawn before the kit type follow it.
func (d *drawer) relateTool(tool, kit *mType) {
	if b0 := tool.prop("b0"); b0 != nil && kit.prop("b0") != nil && b0.follows == "" && d.chance(60) {
		b0.follows, b0.through = "kit.b0", "kit"
	}
}

// value draws a value of a property; none says that an empty list may come.
func (d *drawer) value(p *mProp, none bool) []string {
	switch p.kind {
	case "bool":
		return []string{pick(d, []string{"false", "true"})}
	case "int":
		return []string{pick(d, levels)}
	case "word":
		return []string{pick(d, []string{"one", "two", "three"})}
	case "run":
		return []string{pick(d, commands)}
	}
	from := tagNames
	if p.kind == "list" {
		from = patterns
	}
	out := some(d, from, 50)
	if len(out) == 0 && !(none && d.chance(30)) {
		out = []string{pick(d, from)}
	}
	return out
}

func (d *drawer) typeNamed(name string) *mType {
	for _, t := range d.c.vocabulary.types {
		if t.name == name {
			return t
		}
	}
	panic(name)
}

func (d *drawer) world() {
	c := d.c
	add := func(e mEntity) int {
		for _, old := range c.entities {
			if old.typ == e.typ && old.id == e.id {
				return -1
			}
		}
		e.classes = some(d, classNames, 20)
		if e.attrs == nil {
			e.attrs = map[string]mAttr{}
		}
		if d.chance(50) {
			e.attrs["level"] = mAttr{text: pick(d, levels)}
		}
		if d.chance(40) {
			e.attrs["kit"] = mAttr{text: pick(d, kits)}
		}
		if d.chance(40) {
			tags := some(d, tagNames, 50)
			if tags == nil {
				tags = []string{}
			}
			e.attrs["tags"] = mAttr{text: strings.Join(tags, ", "), list: tags}
		}
		c.entities = append(c.entities, e)
		return len(c.entities) - 1
	}
	root := add(mEntity{typ: d.typeNamed("whole"), id: pick(d, []string{"ci", "dev"}), parent: -1})
	at := map[string]int{"": root}
	for range d.n(4) {
		under := pick(d, slices.Sorted(mapKeys(at)))
		path := strings.TrimPrefix(under+"/"+pick(d, []string{"src", "a.py", "lib"}), "/")
		if i := add(mEntity{typ: d.typeNamed("dir"), id: path, parent: at[under], attrs: map[string]mAttr{"path": {text: path}}}); i >= 0 {
			at[path] = i
		}
	}
	d.dirs = slices.Sorted(mapKeys(at))
	for range d.n(4) {
		under := pick(d, d.dirs)
		path := strings.TrimPrefix(under+"/"+pick(d, []string{"a.py", "b.md", "m-x", "A.PY"}), "/")
		if i := add(mEntity{typ: d.typeNamed("file"), id: path, parent: at[under], attrs: map[string]mAttr{"path": {text: path}}}); i >= 0 && d.chance(30) {
			if k := add(mEntity{typ: d.typeNamed("node"), id: path + "#f", parent: i, attrs: map[string]mAttr{"name": {text: "f"}}}); k >= 0 && d.chance(40) {
				add(mEntity{typ: d.typeNamed("node"), id: path + "#g", parent: k})
			}
		}
	}
	for i := range d.n(2) {
		e := mEntity{typ: d.typeNamed("lot"), id: "lot" + strconv.Itoa(i), parent: root}
		e.attrs = map[string]mAttr{"root": {text: pick(d, []string{"src", "lib", "src/lib", ".", "src/"})}}
		add(e)
	}
	for _, name := range []string{"tool", "kit", "mode"} {
		for _, t := range c.vocabulary.types {
			if t.name == name {
				for range d.n(3) {
					add(mEntity{typ: t, id: pick(d, []string{"k1", "k2", "x", "core-x", "a.py"}), parent: -1})
				}
			}
		}
	}
	for i, e := range c.entities {
		if e.typ.taxon.name != "ta" && d.chance(20) {
			c.context = append(c.context, i)
		}
	}
}

func (d *drawer) view() {
	v := &d.c.view
	for range 2 + d.n(1) {
		d.focus = append(d.focus, pick(d, d.c.vocabulary.types))
	}
	if d.chance(30) {
		d.focus = []*mType{d.typeNamed("tool"), d.typeNamed("kit")}
	}
	if len(d.about) > 0 {
		d.focus = nil
		for _, name := range d.about {
			d.focus = append(d.focus, d.typeNamed(name))
		}
	}
	layers := []string{"l1", "l2", "l3"}
	if d.chance(50) {
		v.layers = rapid.Permutation(layers).Draw(d.t, "layers")
	}
	for range 2 + d.n(8) {
		r := d.rule(2)
		if d.chance(40) {
			r.layer = pick(d, layers)
		}
		v.rules = append(v.rules, r)
	}
	for range d.n(2) {
		sel := d.complex(pick(d, d.c.vocabulary.types), false, 1)
		last := sel.parts[len(sel.parts)-1]
		if last.typ == nil || len(last.typ.props) == 0 {
			continue
		}
		p := pick(d, last.typ.props)
		d.c.fixed = append(d.c.fixed, mFixed{selector: sel, prop: p.name, values: d.value(p, false)})
	}
}
