package sqlite

import (
	"fmt"
	"slices"
	"strings"

	"umwelt/registry"
)

// properties are all properties of a vocabulary; the place of one is its id.
type properties struct {
	reg *registry.Registry
	all []*registry.Property
	id  map[*registry.Property]int
}

func newProperties(reg *registry.Registry) *properties {
	p := &properties{reg: reg, id: map[*registry.Property]int{}}
	for _, t := range reg.Types() {
		for _, prop := range t.Properties {
			p.id[prop] = len(p.all)
			p.all = append(p.all, prop)
		}
	}
	return p
}

func (p *properties) name(i int) string {
	return typeName(p.all[i].Entity, p.reg) + "." + p.all[i].Name
}

// followed is the property that another one follows, or nil.
func (p *properties) followed(prop *registry.Property) *registry.Property {
	switch {
	case prop.Follows == "":
		return nil
	case prop.Through == "":
		return prop.Entity.Property(prop.Follows)
	}
	if t := p.reg.Type(prop.FollowsType); t != nil {
		return t.Property(prop.Follows)
	}
	return nil
}

// gates are the properties that gate one.
func (p *properties) gates(prop *registry.Property) []int {
	var out []int
	for _, g := range prop.Entity.Properties {
		if g.Gates != "" && g.Attribute != "" && prop.Entity.Property(g.Gates) == prop {
			out = append(out, p.id[g])
		}
	}
	return out
}

// dependencies are the properties whose effective value that of property i may depend on.
func (p *properties) dependencies(i int) []int {
	out := p.gates(p.all[i])
	if q := p.followed(p.all[i]); q != nil && !slices.Contains(out, p.id[q]) {
		out = append(out, p.id[q])
	}
	return out
}

// maxReferences bounds how often views name one another in all, since a database has to
// read a view as often as it is named.
const maxReferences = 500

// order lists the properties that depend on others, each after all that it depends on. It
// is an error where they do so in a circle, or in more ways than a database can follow.
func (p *properties) order() ([]int, error) {
	const open = -1
	cost := make([]int, len(p.all)) // how many views are read for a property
	var out, path []int
	var visit func(i int) error
	visit = func(i int) error {
		switch {
		case cost[i] == open:
			names := make([]string, 0, len(path))
			for _, k := range path[slices.Index(path, i):] {
				names = append(names, p.name(k))
			}
			return fmt.Errorf("properties of this vocabulary depend on one another in a circle, which SQL cannot follow: %s", strings.Join(names, ", "))
		case cost[i] > 0:
			return nil
		}
		cost[i] = open
		path = append(path, i)
		total := 1
		deps := p.dependencies(i)
		for _, dep := range deps {
			if err := visit(dep); err != nil {
				return err
			}
			total = min(total+cost[dep], maxReferences+1)
		}
		if total > maxReferences {
			return fmt.Errorf("the property %s depends on others in more ways than SQL can follow", p.name(i))
		}
		path = path[:len(path)-1]
		cost[i] = total
		if deps != nil {
			out = append(out, i)
		}
		return nil
	}
	for i := range p.all {
		if err := visit(i); err != nil {
			return nil, err
		}
	}
	return out, nil
}
