package registry

import (
	"cmp"
	"strings"
)

// Pins are the entities that the rules of b name by "#id", by [name="…"] or by the
// attributes that name their type, and the singletons they speak of: each once, in order
// of appearance. Entities that discovery finds (those with a path) are not among them.
func (b *Bound) Pins() []Entity {
	var out []Entity
	seen := map[string]bool{}
	visit := func(c *Compound) {
		if c.Type == nil || c.Type.PathAttr != "" || c.Type.Root {
			return
		}
		e := c.pin()
		if key := c.Type.Taxon.Name + "|" + c.Type.Name + "\x00" + e.ID; e.ID != "" && !seen[key] {
			seen[key] = true
			out = append(out, e)
		}
	}
	for _, rule := range b.Rules {
		for _, c := range rule.Selector.Qualifiers {
			visit(c)
		}
		for _, link := range rule.Selector.Structure {
			visit(link.Compound)
		}
		visit(rule.Selector.Target)
	}
	return out
}

// pin is the entity that a compound names; its ID is "" where it names none. Only
// attributes that name an entity are taken: what else a selector tests is a condition,
// not a fact.
func (c *Compound) pin() Entity {
	t := c.Type
	e := Entity{Type: t.Name, Attributes: map[string]string{}, At: c.At}
	tested := map[string]string{}
	for _, test := range c.Tests {
		switch {
		case test.Kind == TestID:
			e.ID = test.Value
		case test.Kind == TestAttr && test.Op == "=" && !test.Fold:
			tested[test.Attr] = test.Value
		}
	}
	var joined []string
	for _, k := range t.Keys {
		if v, ok := tested[k]; ok {
			e.Attributes[k] = v
			joined = append(joined, v)
		}
	}
	key := t.Key()
	for _, id := range []string{tested[key], tested["name"], strings.Join(joined, " ")} {
		if e.ID == "" {
			e.ID = id
		}
	}
	if e.ID == "" && len(c.Tests) == 0 && t.Singleton {
		e.ID = t.Name
	}
	if a := t.Attribute(key); a != nil && a.Required {
		e.Attributes[key] = cmp.Or(tested[key], e.ID)
	}
	return e
}
