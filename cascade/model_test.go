package cascade_test

import (
	"fmt"
	"slices"
	"strings"
)

// The model is what the random tests draw: a vocabulary, a world and a view as plain data
// of the tests' own. It is printed for the tool to read, and evaluated as it is by the
// naive evaluator, which so shares nothing with the tool.

type mTaxon struct {
	name string
	axis int
}

type mType struct {
	name   string
	taxon  *mTaxon
	dotted bool
	path   bool // has a path
	group  bool // groups what lies below its root
	sole   bool
	root   bool
	parent []string
	props  []*mProp
}

// ref is how a selector names the type where two taxa may have the name.
func (t *mType) ref() string { return t.taxon.name + "|" + t.name }

type mProp struct {
	name       string
	kind       string // bool int set list word run
	initial    []string
	comparison string
	direction  string
	repeatable bool
	attribute  string
	gates      string
	follows    string // a property of the same type, or with through, "type.property"
	through    string
	implied    []string
}

type mVocabulary struct {
	taxa  []*mTaxon // in axis order
	types []*mType  // in vocabulary order
}

func (v *mVocabulary) text() string {
	var b strings.Builder
	for _, t := range v.taxa {
		fmt.Fprintf(&b, "@taxon %s { axis: %d; description: d; }\n", t.name, t.axis)
	}
	for _, t := range v.types {
		fmt.Fprintf(&b, "@entity %s { taxon: %s; description: d;", t.name, t.taxon.name)
		if t.dotted {
			b.WriteString(" ids: dotted;")
		}
		if t.path {
			b.WriteString(" path: path;")
		}
		if t.group {
			b.WriteString(" groups: root;")
		}
		if t.sole {
			b.WriteString(" sole-active: true;")
		}
		if t.root {
			b.WriteString(" root: true;")
		}
		if len(t.parent) > 0 {
			fmt.Fprintf(&b, " parent: %s;", strings.Join(t.parent, ", "))
		}
		b.WriteString(" }\n")
		attrs := []string{"level { type: integer", "kit { type: string", "tags { type: set of identifier"}
		if t.path {
			attrs = append(attrs, "path { type: path")
		}
		if t.group {
			attrs = append(attrs, "root { type: path")
		}
		for _, a := range attrs {
			name, rest, _ := strings.Cut(a, " ")
			fmt.Fprintf(&b, "@attribute %s.%s %s; description: d; }\n", t.ref(), name, rest)
		}
		for _, p := range t.props {
			p.write(&b, t)
		}
	}
	return b.String()
}

func (p *mProp) write(b *strings.Builder, t *mType) {
	typ := map[string]string{
		"bool": "boolean", "int": "integer", "set": "set of identifier", "list": "list of string", "word": "enum(one, two, three)", "run": "command",
	}[p.kind]
	fmt.Fprintf(b, "@property %s.%s { type: %s; comparison: %q; restrictive: %s; description: d;", t.ref(), p.name, typ, p.comparison, p.direction)
	if p.initial != nil {
		fmt.Fprintf(b, " initial: %s;", strings.Join(p.initial, ", "))
	}
	if p.repeatable {
		b.WriteString(" repeatable: true;")
	}
	for key, value := range map[string]string{"attribute": p.attribute, "gates": p.gates, "follows": p.follows, "through": p.through, "implied-by": strings.Join(p.implied, ", ")} {
		if value != "" {
			fmt.Fprintf(b, " %s: %s;", key, value)
		}
	}
	b.WriteString(" }\n")
}

func (t *mType) prop(name string) *mProp {
	for _, p := range t.props {
		if p.name == name {
			return p
		}
	}
	return nil
}

type mEntity struct {
	typ     *mType
	id      string
	classes []string
	attrs   map[string]mAttr
	parent  int // -1 for none
}

type mAttr struct {
	text string
	list []string
}

func (e *mEntity) name() string {
	if a, ok := e.attrs["name"]; ok {
		return a.text
	}
	if e.typ.path {
		return e.id[strings.LastIndex(e.id, "/")+1:]
	}
	return e.id
}

func (e *mEntity) attr(name string) (mAttr, bool) {
	if name == "name" {
		return mAttr{text: e.name()}, true
	}
	a, ok := e.attrs[name]
	return a, ok
}

type mSimple struct {
	kind  string // id qid class attr is not where has glob bad
	name  string
	op    string
	value string
	fold  bool
	list  []mComplex
}

type mCompound struct {
	typ     *mType // nil for any
	unknown bool   // names a type that does not exist
	simples []mSimple
}

// mComplex is a complex selector; combs[i] stands before parts[i], combs[0] is "" except
// in :has.
type mComplex struct {
	parts []mCompound
	combs []string
}

func (c mComplex) text() string {
	var b strings.Builder
	for i, p := range c.parts {
		switch c.combs[i] {
		case "":
		case " ":
			b.WriteString(" ")
		default:
			b.WriteString(" " + c.combs[i] + " ")
		}
		b.WriteString(p.text())
	}
	return strings.TrimSpace(b.String())
}

func (c mCompound) text() string {
	s := ""
	switch {
	case c.unknown:
		s = "nosuchtype"
	case c.typ != nil:
		s = c.typ.ref()
	case len(c.simples) == 0:
		s = "*"
	}
	for _, x := range c.simples {
		s += x.text()
	}
	return s
}

func (x mSimple) text() string {
	switch x.kind {
	case "id":
		return "#" + x.name
	case "qid":
		return "#" + fmt.Sprintf("%q", x.name)
	case "class":
		return "." + x.name
	case "attr":
		if x.op == "" {
			return "[" + x.name + "]"
		}
		flag := ""
		if x.fold {
			flag = " i"
		}
		return fmt.Sprintf("[%s%s%q%s]", x.name, x.op, x.value, flag)
	case "glob":
		return fmt.Sprintf(":glob(%q)", x.value)
	case "bad":
		return ":nosuchpseudo"
	}
	var list []string
	for _, c := range x.list {
		list = append(list, c.text())
	}
	return ":" + x.kind + "(" + strings.Join(list, ", ") + ")"
}

type mDecl struct {
	prop   string
	values []string
	flag   string // important locked ""
}

func (d mDecl) text() string {
	flag := ""
	if d.flag != "" {
		flag = " !" + d.flag
	}
	values := slices.Clone(d.values)
	for i, v := range values {
		if strings.ContainsAny(v, " *") {
			values[i] = fmt.Sprintf("%q", v)
		}
	}
	if len(values) == 0 {
		values = []string{"none"}
	}
	return d.prop + ": " + strings.Join(values, ", ") + flag + ";"
}

// mRule is a rule with its nested rules. layer is "" for none; the layer wraps the rule.
type mRule struct {
	selectors []mComplex
	decls     []mDecl
	nested    []mRule
	layer     string
}

func (r mRule) text(indent string) string {
	var b strings.Builder
	if r.layer != "" {
		inner := r
		inner.layer = ""
		return indent + "@layer " + r.layer + " {\n" + inner.text(indent+"  ") + indent + "}\n"
	}
	var list []string
	for _, s := range r.selectors {
		list = append(list, s.text())
	}
	b.WriteString(indent + strings.Join(list, ", ") + " {\n")
	for _, d := range r.decls {
		b.WriteString(indent + "  " + d.text() + "\n")
	}
	for _, n := range r.nested {
		b.WriteString(n.text(indent + "  "))
	}
	b.WriteString(indent + "}\n")
	return b.String()
}

type mView struct {
	layers []string // declared beforehand, in order
	rules  []mRule
}

func (v mView) text() string {
	var b strings.Builder
	if len(v.layers) > 0 {
		b.WriteString("@layer " + strings.Join(v.layers, ", ") + ";\n")
	}
	for _, r := range v.rules {
		b.WriteString(r.text(""))
	}
	return b.String()
}

type mFixed struct {
	selector mComplex
	prop     string
	values   []string
}

type mCase struct {
	vocabulary mVocabulary
	entities   []mEntity
	view       mView
	fixed      []mFixed
	context    []int // entities that the caller names
}

func (c *mCase) String() string {
	var b strings.Builder
	b.WriteString(c.vocabulary.text() + "\n")
	for i, e := range c.entities {
		var attrs []string
		for _, k := range slices.Sorted(mapKeys(e.attrs)) {
			attrs = append(attrs, fmt.Sprintf("%s=%q%q", k, e.attrs[k].text, e.attrs[k].list))
		}
		fmt.Fprintf(&b, "%d: %s #%q .%s [%s] parent %d\n", i, e.typ.ref(), e.id, strings.Join(e.classes, "."), strings.Join(attrs, " "), e.parent)
	}
	b.WriteString("\n" + c.view.text() + "\n")
	for _, f := range c.fixed {
		fmt.Fprintf(&b, "fixed %s { %s: %q }\n", f.selector.text(), f.prop, f.values)
	}
	fmt.Fprintf(&b, "context %v\n", c.context)
	return b.String()
}

func mapKeys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}
