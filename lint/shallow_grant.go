package lint

import (
	"fmt"

	"umwelt/diag"
	"umwelt/registry"
	"umwelt/world"
)

const shallowGrant = "shallow-grant"

// ShallowGrant finds rules about a container that were most likely meant for what it
// holds.
var ShallowGrant = Detector{
	Name: shallowGrant, Severity: diag.Warning,
	Summary: "A rule grants (or withholds) a container itself, while everything in it stays the other way.",
	Find: func(f *Facts) []Finding {
		s := shallow{f: f, about: map[int]*container{}}
		s.count()
		var out []Finding
		for _, rule := range f.Bound.Rules {
			for _, d := range rule.Declarations {
				c := s.about[d.Order]
				if c == nil || c.against == 0 || c.agree > 0 {
					continue
				}
				delete(s.about, d.Order)
				p := c.property
				verb := "grants"
				if restricts(p, c.value) {
					verb = "withholds"
				}
				out = append(out, finding(diag.Warning, d.At,
					fmt.Sprintf("%s %s %s itself, and nothing of what lies in it: %s stays %s", said(p, c.value), verb, f.entity(c.example), entityName(&f.World.Entities[c.child]), Shown(p, c.childValue)),
					fmt.Sprintf("to speak of what lies in it, write %s %s", rule.Selector.Text, f.World.Entities[c.child].Type.Name)))
			}
		}
		return out
	},
}

type shallow struct {
	f     *Facts
	about map[int]*container // by declaration
}

// container is what a declaration decides about containers, and what becomes of what they
// hold: how many children say the same, and how many the opposite.
type container struct {
	property       *registry.Property
	value          *registry.Value
	agree, against int
	example, child int
	childValue     *registry.Value
}

// count looks at every entity that lies in another one of a type with the same property.
func (s *shallow) count() {
	for i := range s.f.World.Entities {
		e := &s.f.World.Entities[i]
		if e.Parent == world.NoParent {
			continue
		}
		parent := &s.f.World.Entities[e.Parent]
		if parent.Type == e.Type || parent.Type.Root {
			continue
		}
		for _, p := range parent.Type.Properties {
			q := e.Type.Property(p.Name)
			if q == nil || p.Type.Kind != registry.Boolean || !directed(p) || q.Restrictive != p.Restrictive {
				continue
			}
			outer := s.f.Resolution.Get(int(e.Parent), p)
			if outer.Winner == nil || !outer.Value.Equal(outer.Winner.Value) {
				continue
			}
			inner := s.f.Resolution.Get(i, q)
			if inner.Value == nil {
				continue
			}
			s.add(outer.Winner.Declaration.Order, p, outer.Value, inner.Value, int(e.Parent), i)
		}
	}
}

func (s *shallow) add(order int, p *registry.Property, outer, inner *registry.Value, at, child int) {
	c := s.about[order]
	if c == nil {
		c = &container{property: p, value: outer}
		s.about[order] = c
	}
	if outer.Equal(inner) {
		c.agree++
		return
	}
	if c.against == 0 {
		c.example, c.child, c.childValue = at, child, inner
	}
	c.against++
}
