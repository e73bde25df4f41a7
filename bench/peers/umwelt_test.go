package peers

import (
	"fmt"
	"strings"

	"umwelt"
	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/parser"
	"umwelt/registry"
	"umwelt/world"
)

// view writes the rules as a view: what forbids is important, so that it wins over what
// allows.
func (p *policy) view() []byte {
	var b strings.Builder
	for _, r := range p.rules {
		selector := fmt.Sprintf("file[path=%q]", r.path)
		if r.dir != "" {
			selector = fmt.Sprintf("dir#%q file", r.dir)
			if r.secret {
				selector += ".secret"
			}
			if r.ext != "" {
				selector += fmt.Sprintf("[path$=%q]", "."+r.ext)
			}
		}
		value := "true"
		if r.forbid {
			value = "false !important"
		}
		fmt.Fprintf(&b, "%s { editable: %s; }\n", selector, value)
	}
	return []byte(b.String())
}

// world holds the project and its directories. at is the index of each file.
func (p *policy) world(reg *registry.Registry) (w *world.World, at []int, err error) {
	dirType, fileType := reg.Type("dir"), reg.Type("file")
	entities := []world.Entity{{Type: reg.Type("world"), ID: "bench", Parent: world.NoParent}}
	dirs := map[string]int32{}
	add := func(t *registry.EntityType, path string, parent int32, classes ...string) int32 {
		entities = append(entities, world.Entity{
			Type: t, ID: path, Parent: parent, Classes: classes,
			Attributes: world.Complete(t, path, []world.Attribute{{Name: "path", Text: path}}),
		})
		return int32(len(entities) - 1)
	}
	for _, f := range p.files {
		parent := int32(0)
		for k := len(f.dirs) - 1; k >= 0; k-- {
			dir, known := dirs[f.dirs[k]]
			if !known {
				dir = add(dirType, f.dirs[k], parent)
				dirs[f.dirs[k]] = dir
			}
			parent = dir
		}
		if f.secret {
			at = append(at, int(add(fileType, f.path, parent, "secret")))
		} else {
			at = append(at, int(add(fileType, f.path, parent)))
		}
	}
	w, err = world.New(reg, "bench", "", entities, nil)
	return w, at, err
}

// prepareUmwelt answers for files that are in the world.
func prepareUmwelt(p *policy) (func(i int) bool, error) {
	r, at, prop, err := p.resolve()
	if err != nil {
		return nil, err
	}
	return func(i int) bool { return r.Get(at[i], prop).Value.Bool() }, nil
}

// prepareUnseen answers for files of which it hears when it is asked: nothing about them
// was worked out before.
func prepareUnseen(p *policy) (func(i int) bool, error) {
	r, at, prop, err := p.resolve()
	if err != nil {
		return nil, err
	}
	return func(i int) bool {
		ent := *r.Entity(at[i])
		return r.ResolveEntity(&ent)[prop.Index].Value.Bool()
	}, nil
}

func (p *policy) resolve() (*cascade.Resolution, []int, *registry.Property, error) {
	view, list := parser.Parse(&diag.Source{Name: "bench.umw", Text: p.view()})
	reg, more := umwelt.Vocabulary(nil, view)
	if list = append(list, more...); list.HasErrors() {
		return nil, nil, nil, list.Err()
	}
	bound := reg.Bind(registry.Options{}, view)
	w, at, err := p.world(reg)
	if err == nil {
		err = bound.Diagnostics.Err()
	}
	if err != nil {
		return nil, nil, nil, err
	}
	r, list := cascade.New(w, bound).Resolve(nil)
	return r, at, reg.Type("file").Property("editable"), list.Err()
}
