package narrow

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"umwelt/ast"
	"umwelt/cascade"
	"umwelt/compilers/confine"
	"umwelt/diag"
	"umwelt/parser"
	"umwelt/registry"
	"umwelt/world"
)

// trial is a view with everything that it answers.
type trial struct {
	view  *ast.View
	bound *registry.Bound
	world *world.World
	known *known
	res   *cascade.Resolution
	net   confine.Network
	// byType is the entities of each type without paths, made on first use.
	byType map[*registry.EntityType][]int
	tree   map[string]confine.Mode // what mounts give, by path; nil where the world has none to give
}

// bind reads a view that the package made, or was given.
func (in *Input) bind(view *ast.View) (*registry.Bound, error) {
	b := in.World.Registry.Bind(registry.Options{Import: in.Import}, view)
	return b, b.Diagnostics.Err()
}

// parse reads a text that the package printed.
func parse(name string, text []byte) (*ast.View, error) {
	v, list := parser.Parse(&diag.Source{Name: name, Text: text})
	return v, list.Err()
}

// printed is a view in its canonical layout.
func printed(v *ast.View) ([]byte, error) {
	var b bytes.Buffer
	err := ast.Print(&b, v)
	return b.Bytes(), err
}

// settle is the world with every entity that the pins name, so that views can be compared
// that name different ones. A view brings neither the root nor a path into being.
func settle(w *world.World, pins []registry.Entity) (*world.World, error) {
	type name struct {
		t  *registry.EntityType
		id string
	}
	have := map[name]bool{}
	for i := range w.Entities {
		e := &w.Entities[i]
		have[name{e.Type, e.ID}] = true
		if key, ok := e.Attr(e.Type.Key()); ok {
			have[name{e.Type, key}] = true
		}
	}
	var more []world.Entity
	for _, p := range pins {
		t := typeNamed(w.Registry, p.Type)
		if t == nil || t.Root || t.PathAttr != "" || p.ID == "" {
			continue
		}
		key := p.ID
		if a, ok := p.Attributes[t.Key()]; ok {
			key = a
		}
		if have[name{t, p.ID}] || have[name{t, key}] {
			continue
		}
		have[name{t, p.ID}], have[name{t, key}] = true, true
		var attrs []world.Attribute
		for _, a := range t.Attributes {
			if v, ok := p.Attributes[a.Name]; ok {
				attrs = append(attrs, world.Attribute{Name: a.Name, Text: v})
			}
		}
		more = append(more, world.Entity{Type: t, ID: p.ID, Parent: world.NoParent, Attributes: world.Complete(t, p.ID, attrs),
			Provenance: world.Provenance{Origin: world.Referenced}})
	}
	slices.SortStableFunc(more, func(a, b world.Entity) int {
		return cmp.Or(cmp.Compare(a.Type.Index, b.Type.Index), strings.Compare(a.ID, b.ID))
	})
	out, err := w.With(more)
	if err == nil && out.Root == "" {
		// Mounts need a place to stand in; which one does not matter to what is compared.
		out.Root = "/project"
	}
	return out, err
}

func typeNamed(reg *registry.Registry, name string) *registry.EntityType {
	taxon, bare, qualified := strings.Cut(name, "|")
	if !qualified {
		return typeOf(reg, name)
	}
	for _, t := range reg.TypesNamed(bare) {
		if reg.Taxon(taxon) == t.Taxon {
			return t
		}
	}
	return nil
}

// resolve answers a bound view over a settled world.
func (in *Input) resolve(view *ast.View, b *registry.Bound, w *world.World, k *known) (*trial, error) {
	res, list := cascade.New(w, b).Resolve(in.Context)
	if err := list.Err(); err != nil {
		return nil, err
	}
	t := &trial{view: view, bound: b, world: w, known: k, res: res}
	if k.file == nil || k.dir == nil {
		return t, nil
	}
	c, list := confine.From(res)
	if err := list.Err(); err != nil {
		return nil, fmt.Errorf("the mounts cannot be worked out: %w", err)
	}
	t.net = c.Network
	t.tree = map[string]confine.Mode{}
	flatten(c.Tree, ".", t.tree)
	return t, nil
}

// flatten lists what mounts give each path.
func flatten(n *confine.Node, path string, out map[string]confine.Mode) {
	out[path] = n.Mode
	if n.Kind == confine.Dir && n.Mode == confine.Hidden && n.Shown {
		out[path+"/"] = confine.ReadOnly // it appears
	}
	for _, c := range n.Children {
		p := c.Name
		if path != "." {
			p = path + "/" + c.Name
		}
		flatten(c, p, out)
	}
}
