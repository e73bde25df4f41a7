package world

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"umwelt/diag"
	"umwelt/registry"
)

// Level says how much of a world a snapshot holds.
type Level uint8

// The levels, least first.
const (
	Summary Level = iota // counts, projections, and the ids of the types that have a list shorthand
	Outline              // type, id, classes and parent of every entity
	Full                 // everything; a full snapshot is itself a world file
)

func (l Level) String() string { return [...]string{"summary", "outline", "full"}[l] }

// ParseLevel finds a level by its name.
func ParseLevel(name string) (l Level, ok bool) {
	for l := Summary; l <= Full; l++ {
		if l.String() == name {
			return l, true
		}
	}
	return 0, false
}

// Schema names the shape of a snapshot in JSON.
const Schema = "umwelt.materialize/1"

// WriteOptions say how a world is materialized.
type WriteOptions struct {
	Level   Level
	JSON    bool   // JSON instead of YAML; a full one can be loaded too
	Source  string // what was materialized, as shown to people
	Version string // of the program that writes it
	Time    string // when, as RFC 3339; "" leaves it out
}

// Write materializes a world. The bytes depend on nothing but the world and the options.
func Write(out io.Writer, w *World, o WriteOptions) error {
	b := bufio.NewWriterSize(out, 1<<16)
	if o.JSON {
		writeJSON(b, w, o)
	} else {
		writeYAML(b, w, o)
	}
	return b.Flush()
}

// Counts are the numbers of entities per type that has any, in vocabulary order.
func (w *World) Counts() []Count {
	n := make([]int, len(w.Registry.Types()))
	for i := range w.Entities {
		n[w.Entities[i].Type.Index]++
	}
	var out []Count
	for i, t := range w.Registry.Types() {
		if n[i] > 0 {
			out = append(out, Count{Type: t, Number: n[i]})
		}
	}
	return out
}

// Count is how many entities of a type there are.
type Count struct {
	Type   *registry.EntityType
	Number int
}

func text(s string) *node { return &node{text: s} }

func texts(list []string) *node {
	n := &node{kind: listNode}
	for _, s := range list {
		n.items = append(n.items, text(s))
	}
	return n
}

func (n *node) set(key string, value *node) { n.pairs = append(n.pairs, pair{key: key, value: value}) }

func (w *World) metaNode(o WriteOptions) *node {
	n := &node{kind: mapNode}
	if o.Source != "" {
		n.set("source", text(o.Source))
	}
	if o.Version != "" {
		n.set("version", text(o.Version))
	}
	if o.Time != "" {
		n.set("time", text(o.Time))
	}
	n.set("level", text(o.Level.String()))
	n.set("digest", text(w.Digest()))
	counts := &node{kind: mapNode}
	for _, c := range w.Counts() {
		counts.set(typeName(c.Type, w.Registry), &node{text: strconv.Itoa(c.Number), plain: true})
	}
	n.set("counts", counts)
	return n
}

// entityNode is what a snapshot says of an entity.
func (w *World) entityNode(i int, level Level) *node {
	e := &w.Entities[i]
	n := &node{kind: mapNode}
	n.set("type", text(typeName(e.Type, w.Registry)))
	n.set("id", text(e.ID))
	if len(e.Classes) > 0 {
		n.set("classes", texts(e.Classes))
	}
	if e.Parent != NoParent {
		n.set("parent", w.parentNode(e))
	}
	if level < Full {
		return n
	}
	if e.Listed {
		n.set("listed", &node{text: "true", plain: true})
	}
	e.attributesNode(n)
	n.set("from", e.Provenance.node())
	return n
}

// withheldNode is what a full snapshot says of what is left out.
func (w *World) withheldNode(i int) *node {
	e := &w.Withheld[i]
	n := &node{kind: mapNode}
	n.set("type", text(typeName(e.Type, w.Registry)))
	n.set("id", text(e.ID))
	if len(e.Classes) > 0 {
		n.set("classes", texts(e.Classes))
	}
	e.attributesNode(n)
	return n
}

// attributesNode adds the attributes to what is said of an entity.
func (e *Entity) attributesNode(n *node) {
	attributes := &node{kind: mapNode}
	for _, a := range e.Attributes {
		if a.List != nil {
			attributes.set(a.Name, texts(a.List))
		} else {
			attributes.set(a.Name, text(a.Text))
		}
	}
	if len(attributes.pairs) > 0 {
		n.set("attributes", attributes)
	}
}

// parentNode is the parent's id, with its type where another entity that may be the parent
// has the same id.
func (w *World) parentNode(e *Entity) *node {
	p := &w.Entities[e.Parent]
	candidates := parentTypes(e.Type, w.Registry)
	if r := w.RootEntity(); r >= 0 && w.Entities[r].Type.Taxon == e.Type.Taxon {
		candidates = append(candidates, w.Entities[r].Type)
	}
	if slices.ContainsFunc(candidates, func(t *registry.EntityType) bool { return t != p.Type && w.Find(t, p.ID) >= 0 }) {
		n := &node{kind: mapNode}
		n.set("type", text(typeName(p.Type, w.Registry)))
		n.set("id", text(p.ID))
		return n
	}
	return text(p.ID)
}

func (p *Provenance) node() *node {
	n := &node{kind: mapNode}
	n.set("origin", text(p.Origin.String()))
	if p.By != "" {
		n.set("by", text(p.By))
	}
	// For what a matcher found, the matcher says it; the recipe's place would be repeated for
	// every file.
	if p.At.IsValid() && p.Origin != Discovered {
		n.set("file", text(p.At.File()))
		n.set("line", &node{text: strconv.Itoa(int(p.At.Start.Line)), plain: true})
		n.set("column", &node{text: strconv.Itoa(int(p.At.Start.Column)), plain: true})
	}
	if p.Overridden {
		n.set("overridden", &node{text: "true", plain: true})
	}
	return n
}

// readFrom restores the provenance that a snapshot recorded.
func (c *composer) readFrom(d *draft, n *node) {
	if n.kind != mapNode {
		c.Errorf(diag.YAML, n.at, "from is a map, not %s", n.kind)
		return
	}
	checkKeys(n, "from", []string{"origin", "by", "file", "line", "column", "overridden"}, &c.List)
	p := &d.Provenance
	p.Overridden = n.get("overridden") != nil && boolOf(n.get("overridden"), "overridden", &c.List)
	origin := n.get("origin")
	known := false
	for o := Explicit; o <= Referenced; o++ {
		if origin != nil && origin.text == o.String() {
			known = true
			if len(c.stack) == 1 {
				p.Origin = o
			}
		}
	}
	if !known {
		c.Errorf(diag.BadValue, n.at, "origin is explicit, discovered, projected, included or referenced")
	}
	if len(c.stack) > 1 {
		return // for the including world, the included snapshot is where it came from
	}
	if by := n.get("by"); by != nil {
		p.By, _ = by.scalar()
	}
	p.At = diag.Span{}
	if file := n.get("file"); file != nil {
		name, _ := file.scalar()
		pos := diag.Pos{Line: number32(n.get("line")), Column: number32(n.get("column"))}
		p.At = diag.Span{Source: c.sourceNamed(name), Start: pos, End: pos}
	}
}

func number32(n *node) int32 {
	if n == nil {
		return 0
	}
	i, err := strconv.ParseInt(n.text, 10, 32)
	if err != nil || i < 0 {
		return 0
	}
	return int32(i)
}

// sourceNamed is one empty source per file name that a snapshot speaks of.
func (c *composer) sourceNamed(name string) *diag.Source {
	if c.sources == nil {
		c.sources = map[string]*diag.Source{}
	}
	if c.sources[name] == nil {
		c.sources[name] = &diag.Source{Name: name}
	}
	return c.sources[name]
}

// fixedNode is the section "fixed". A selector that several files constrain gets blanks
// after it, since the keys of a map must differ and blanks mean nothing in a selector.
func (w *World) fixedNode() *node {
	n := &node{kind: mapNode}
	for i := range w.Fixed {
		f := &w.Fixed[i]
		var values *node
		// One key may have been bound once per taxon that it may mean.
		if i > 0 && w.Fixed[i-1].At == f.At && w.Fixed[i-1].Selector.Text == f.Selector.Text {
			values = n.pairs[len(n.pairs)-1].value
		} else {
			values = &node{kind: mapNode}
			key := f.Selector.Text
			for n.get(key) != nil {
				key += " "
			}
			n.set(key, values)
		}
		for _, v := range f.Values {
			switch {
			case values.get(v.Property.Name) != nil:
			case v.Property.Type.Shape != registry.One:
				values.set(v.Property.Name, texts(v.Value.List))
			default:
				values.set(v.Property.Name, text(v.Value.Text))
			}
		}
	}
	return n
}

// summaryNodes are the projections, and the ids of the entities whose types have a list
// shorthand.
func (w *World) summaryNodes() (projections, existing *node) {
	projections, existing = &node{kind: listNode}, &node{kind: mapNode}
	for i := range w.Entities {
		if w.Entities[i].Provenance.Origin == Projected {
			projections.items = append(projections.items, w.entityNode(i, Outline))
		}
	}
	for _, s := range w.Registry.Shorthands() {
		if s.Form != "list" {
			continue
		}
		ids := &node{kind: listNode}
		for i := range w.Entities {
			if strings.EqualFold(w.Entities[i].Type.Name, s.Entity) {
				ids.items = append(ids.items, text(w.Entities[i].ID))
			}
		}
		if len(ids.items) > 0 {
			existing.set(s.Key, ids)
		}
	}
	return projections, existing
}

func writeYAML(b *bufio.Writer, w *World, o WriteOptions) {
	b.WriteString("meta:\n")
	for _, p := range w.metaNode(o).pairs {
		fmt.Fprintf(b, "  %s: %s\n", p.key, flowYAML(p.value))
	}
	fmt.Fprintf(b, "name: %s\n", flowYAML(text(w.Name)))
	if o.Level == Summary {
		projections, existing := w.summaryNodes()
		writeItems(b, "projections", projections.items)
		writePairs(b, "exists", existing)
		return
	}
	b.WriteString("entities:\n")
	for i := range w.Entities {
		writeItem(b, w.entityNode(i, o.Level))
	}
	if o.Level == Full {
		var withheld []*node
		for i := range w.Withheld {
			withheld = append(withheld, w.withheldNode(i))
		}
		writeItems(b, "withheld", withheld)
		writePairs(b, "fixed", w.fixedNode())
	}
}

func writePairs(b *bufio.Writer, key string, n *node) {
	if len(n.pairs) == 0 {
		return
	}
	fmt.Fprintf(b, "%s:\n", key)
	for _, p := range n.pairs {
		fmt.Fprintf(b, "  %s: %s\n", flowYAML(text(p.key)), flowYAML(p.value))
	}
}

func writeItems(b *bufio.Writer, key string, items []*node) {
	if len(items) > 0 {
		fmt.Fprintf(b, "%s:\n", key)
	}
	for _, n := range items {
		writeItem(b, n)
	}
}

func writeItem(b *bufio.Writer, n *node) {
	for i, p := range n.pairs {
		if i == 0 {
			b.WriteString("- ")
		} else {
			b.WriteString("  ")
		}
		b.WriteString(p.key)
		b.WriteString(": ")
		printYAML(b, p.value)
		b.WriteByte('\n')
	}
}

func writeJSON(b *bufio.Writer, w *World, o WriteOptions) {
	fmt.Fprintf(b, "{\"schema\": %s,\n\"meta\": %s,\n\"name\": %s", flowJSON(text(Schema)), flowJSON(w.metaNode(o)), flowJSON(text(w.Name)))
	if o.Level == Summary {
		projections, existing := w.summaryNodes()
		fmt.Fprintf(b, ",\n\"projections\": %s,\n\"exists\": %s}\n", flowJSON(projections), flowJSON(existing))
		return
	}
	list := func(key string, n int, item func(int) *node) {
		fmt.Fprintf(b, ",\n%q: [", key)
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString("\n")
			printJSON(b, item(i))
		}
		b.WriteString("\n]")
	}
	list("entities", len(w.Entities), func(i int) *node { return w.entityNode(i, o.Level) })
	if o.Level == Full && len(w.Withheld) > 0 {
		list("withheld", len(w.Withheld), w.withheldNode)
	}
	if fixed := w.fixedNode(); o.Level == Full && len(fixed.pairs) > 0 {
		fmt.Fprintf(b, ",\n\"fixed\": %s", flowJSON(fixed))
	}
	b.WriteString("}\n")
}
