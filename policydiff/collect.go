package policydiff

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"

	"umwelt/registry"
	"umwelt/world"
)

// collector folds equal changes of many entities, and equal changes in many contexts.
type collector struct {
	ids     map[string]int
	changes []Group // without Entities and Contexts
	hits    [][]hit // per change, by context
	context int
	numbers map[named]uint32
}

// named is an entity whatever the environment that it was found in.
type named struct {
	typ *registry.EntityType
	id  string
}

type hit struct {
	context int
	entity  *world.Entity
}

func newCollector() *collector {
	return &collector{ids: map[string]int{}, numbers: map[named]uint32{}}
}

// change is the number of a change; equal ones have one.
func (c *collector) change(g Group) int {
	b := []byte(strconv.Itoa(g.Type.Index))
	if g.Property != nil {
		b = strconv.AppendInt(append(b, '.'), int64(g.Property.Index), 10)
	}
	if g.Later {
		b = append(b, 'l')
	}
	b = strconv.AppendInt(b, int64(g.Kind), 10)
	b = appendAnswer(appendAnswer(b, &g.Old), &g.New)
	id, ok := c.ids[string(b)]
	if !ok {
		id = len(c.changes)
		c.ids[string(b)] = id
		c.changes = append(c.changes, g)
		c.hits = append(c.hits, nil)
	}
	return id
}

func appendAnswer(b []byte, a *Answer) []byte {
	b = append(b, '\x00', byte(a.Origin))
	for _, v := range a.Values {
		b = append(append(b, listKey(v)...), '|')
	}
	for _, s := range a.Sets {
		b = append(append(b, strings.Join(s, "\x01")...), '\x02')
	}
	b = append(append(b, '\x03'), a.Reason...)
	if a.Absent {
		b = append(b, '\x04')
	}
	for _, x := range a.Causes {
		b = append(b, '\x05')
		if x.Rule != nil {
			b = strconv.AppendInt(b, int64(x.Rule.Index), 10)
		}
		if x.Declaration != nil {
			b = strconv.AppendInt(append(b, ':'), int64(x.Declaration.Order), 10)
		}
		if x.Fixed != nil {
			b = append(append(b, 'f'), x.Fixed.At.String()+x.Fixed.Selector.Text...)
		}
	}
	return b
}

// hit notes that a change befalls an entity in the current context.
func (c *collector) hit(change int, e *world.Entity) {
	c.hits[change] = append(c.hits[change], hit{c.context, e})
}

// groups are the changes with what they befall, the gravest first. Contexts in which a
// change befalls the same entities are one group.
func (c *collector) groups() []Group {
	var out []Group
	for id, hits := range c.hits {
		at := map[string]int{}
		for from := 0; from < len(hits); {
			to := from
			var key []byte
			for ; to < len(hits) && hits[to].context == hits[from].context; to++ {
				key = binary.LittleEndian.AppendUint32(key, c.number(hits[to].entity))
			}
			g, ok := at[string(key)]
			if !ok {
				g = len(out)
				at[string(key)] = g
				group := c.changes[id]
				for _, h := range hits[from:to] {
					group.Entities = append(group.Entities, h.entity)
				}
				out = append(out, group)
			}
			out[g].Contexts = append(out[g].Contexts, hits[from].context)
			from = to
		}
	}
	slices.SortStableFunc(out, func(a, b Group) int {
		return cmp.Or(
			cmp.Compare(a.Kind, b.Kind), compareBool(a.Later, b.Later), cmp.Compare(a.Type.Index, b.Type.Index),
			cmp.Compare(propertyIndex(&a), propertyIndex(&b)), cmp.Compare(a.Contexts[0], b.Contexts[0]),
			strings.Compare(a.Entities[0].ID, b.Entities[0].ID),
		)
	})
	return out
}

// number tells entities apart; those of two environments that are called the same are one.
func (c *collector) number(e *world.Entity) uint32 {
	key := named{e.Type, e.ID}
	n, ok := c.numbers[key]
	if !ok {
		n = uint32(len(c.numbers))
		c.numbers[key] = n
	}
	return n
}

func propertyIndex(g *Group) int {
	if g.Property == nil {
		return -1
	}
	return g.Property.Index
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
