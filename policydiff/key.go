package policydiff

import (
	"slices"
	"strconv"
	"strings"

	"umwelt/registry"
)

// compoundKey is equal for compounds that fit the same entities for a reason that can be
// read off them: the same tests, in any order.
func compoundKey(c *registry.Compound) string {
	return typeKey(c.Type) + "{" + strings.Join(testKeys(c.Tests), " ") + "}"
}

func typeKey(t *registry.EntityType) string {
	if t == nil {
		return "*"
	}
	return strconv.Itoa(t.Index)
}

// testKeys are the sorted, distinct keys of tests. An id that may turn out to be dotted
// stays together with the classes that it may swallow.
func testKeys(tests []registry.Test) []string {
	var out []string
	for i := 0; i < len(tests); i++ {
		t := &tests[i]
		key := testKey(t)
		for n := t.Classes; n > 0 && i+1 < len(tests); n-- {
			i++
			key += "+" + testKey(&tests[i])
		}
		out = append(out, key)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func testKey(t *registry.Test) string {
	var b strings.Builder
	b.WriteString(strconv.Itoa(int(t.Kind)))
	for _, s := range [...]string{t.Attr, t.Op, t.Value, t.Dotted} {
		b.WriteString(strconv.Quote(s))
	}
	b.WriteString(strconv.Itoa(t.Classes))
	if t.Fold {
		b.WriteByte('i')
	}
	if t.Pseudo != nil {
		b.WriteString(":" + strconv.Quote(t.Pseudo.Name))
	}
	if len(t.Selectors) == 0 {
		return b.String()
	}
	inner := make([]string, len(t.Selectors))
	for i, sel := range t.Selectors {
		inner[i] = selectorKey(sel)
		if i < len(t.RelativeChild) && t.RelativeChild[i] {
			inner[i] = ">" + inner[i]
		}
	}
	slices.Sort(inner)
	b.WriteString("(" + strings.Join(inner, ",") + ")")
	return b.String()
}

// selectorKey is equal for selectors that fit the same entities in the same contexts for
// a reason that can be read off them.
func selectorKey(s *registry.Selector) string {
	var b strings.Builder
	if s.Never {
		return "never"
	}
	if s.Taxon != nil {
		b.WriteString(strconv.Itoa(s.Taxon.Index))
	}
	b.WriteByte('|')
	b.WriteString(structureKey(s.Structure))
	b.WriteString(compoundKey(s.Target))
	for _, q := range qualifierKeys(s) {
		b.WriteString("@" + q)
	}
	return b.String()
}

func structureKey(links []registry.Link) string {
	var b strings.Builder
	for _, l := range links {
		b.WriteString(compoundKey(l.Compound))
		if l.Child {
			b.WriteByte('>')
		} else {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// qualifierKeys are the sorted, distinct keys of the qualifiers.
func qualifierKeys(s *registry.Selector) []string {
	if len(s.Qualifiers) == 0 {
		return nil
	}
	out := make([]string, len(s.Qualifiers))
	for i, q := range s.Qualifiers {
		out[i] = compoundKey(q)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// valueKey is equal for declarations that say the same of the same properties.
func valueKey(d *registry.Declaration) string {
	var b strings.Builder
	for _, t := range d.Typed {
		b.WriteString(typeKey(t.Property.Entity) + "." + strconv.Itoa(t.Property.Index) + "=" + listKey(t.Value) + ";")
	}
	if d.Important {
		b.WriteString("!i")
	}
	if d.Locked {
		b.WriteString("!l")
	}
	return b.String()
}

func listKey(v *registry.Value) string {
	if v == nil {
		return "-"
	}
	var b strings.Builder
	b.WriteString(strconv.Quote(v.Text))
	for _, m := range v.List {
		b.WriteString("," + strconv.Quote(m))
	}
	return b.String()
}
