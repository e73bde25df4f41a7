package umwelt

import (
	"slices"

	"umwelt/diag"
	"umwelt/parser"
	"umwelt/world"
)

// Source is a text and what it is called in messages.
type Source = diag.Source

// Texts are a policy as text.
type Texts struct {
	Views        []*Source // in the order in which they count
	Vocabularies []*Source // beside the ones that ship with the tool
	World        *Source   // a world file; nil for a world of what the views themselves name
}

// LoadText is Load for text that is at hand. It reads no file: what would import or include
// one is an error. Of the options, Root says where the recipes of the world look; with none,
// a recipe is an error. The paths and Stdin must be empty.
func LoadText(o Options, t Texts) *Policy {
	p := &Policy{}
	if len(o.Vocabularies) > 0 || o.World != "" || o.Stdin != nil {
		p.Diagnostics.Errorf(diag.BadOption, diag.Span{}, "LoadText takes vocabularies and the world as text, not as paths")
		return p
	}
	for _, src := range append(slices.Clone(t.Views), t.Vocabularies...) {
		p.record(src)
	}
	for _, given := range t.Views {
		src := &Source{Name: given.Name, Text: given.Text, Private: secretsOf(nil).hides}
		v, list := parser.Parse(src)
		p.Views = append(p.Views, v)
		p.Diagnostics = append(p.Diagnostics, list...)
	}
	p.words, p.rest = slices.Concat(shipped(), t.Vocabularies), len(p.Sources)
	reg, list := vocabulary(p.words, nil, p.Views)
	p.bind(reg, list, nil)
	if p.Diagnostics.HasErrors() {
		return p
	}
	if o.Root != "" {
		root, list := ResolveRoot(o.Root)
		if p.Diagnostics = append(p.Diagnostics, list...); list.HasErrors() {
			return p
		}
		o.Root = root
	}
	options := p.worldOptions(o)
	var w *world.World
	if t.World != nil {
		p.record(t.World)
		w, list = world.LoadText(t.World, "", options)
	} else {
		options.Matchers = nil
		w, list = world.Implicit(options)
	}
	p.resolve(o.Context, w, list)
	return p
}
