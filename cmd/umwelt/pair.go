package main

import (
	"path/filepath"
	"slices"
	"strings"

	"umwelt"
	"umwelt/ast"
	"umwelt/cascade"
	"umwelt/database"
	"umwelt/diag"
	"umwelt/parser"
	"umwelt/policydiff"
	"umwelt/registry"
	"umwelt/world"
)

// mostEnvironments bounds in how many environments two policies are compared.
const mostEnvironments = 8

// policyPair is two policies over one world, in each environment that their rules tell
// apart.
type policyPair struct {
	registry    *registry.Registry
	old, new    *registry.Bound
	pairs       []policydiff.Pair
	left        int  // environments left out because of the bound
	saved       bool // one of them is a saved database, which knows no secret
	diagnostics diag.List
}

// loadPair loads an old and a new policy over the world that the flags name, or that
// stands beside one of them.
func (f *policyFlags) loadPair(std *streams, old, now []string) (*policyPair, error) {
	o, err := f.options(std)
	if err != nil {
		return nil, err
	}
	if err := onceStdin(slices.Concat([]string{f.world}, f.vocabularies, old, now)); err != nil {
		return nil, err
	}
	std.doing("loading the policies")
	defer std.stopProgress()
	if slices.ContainsFunc(slices.Concat(old, now), database.Is) {
		return f.loadSavedPair(o, old, now)
	}
	p := &policyPair{}
	var views [2][]*ast.View
	for i, paths := range [][]string{old, now} {
		views[i] = p.parse(o, paths)
	}
	if err := f.judge(p.diagnostics); err != nil {
		return nil, err
	}
	if err := f.bindPair(p, views); err != nil {
		return nil, err
	}
	p.diagnostics = append(append(p.diagnostics, p.old.Diagnostics...), p.new.Diagnostics...)
	if err := f.judge(p.diagnostics); err != nil {
		return nil, err
	}
	if err := p.loadWorlds(o, old, now); err != nil {
		return nil, err
	}
	return p, f.judge(p.diagnostics)
}

// parse reads views. What is wrong with them is among the diagnostics.
func (p *policyPair) parse(o umwelt.Options, paths []string) []*ast.View {
	var views []*ast.View
	for _, path := range paths {
		src, err := umwelt.ReadSource(path, o.Stdin)
		if err != nil {
			p.diagnostics.Errorf(diag.Unreadable, diag.Span{}, "%v", err)
			continue
		}
		v, list := parser.Parse(src)
		views = append(views, v)
		p.diagnostics = append(p.diagnostics, list...)
	}
	return views
}

// options are how the two are compared.
func (p *policyPair) options(context []cascade.Ref, contexts int) policydiff.Options {
	return policydiff.Options{Context: context, MaxContexts: contexts, NoSecrets: p.saved}
}

// bindPair binds both policies to one registry. Where each defines terms of its own, they
// have to be the same ones, and what only one of them defines must leave the other as it is.
func (f *policyFlags) bindPair(p *policyPair, views [2][]*ast.View) error {
	in := registry.Options{Import: umwelt.Importer()}
	var own [2]*registry.Registry
	var faults diag.List
	for i := range own {
		var list diag.List
		own[i], list = umwelt.Vocabulary(f.vocabularies, views[i]...)
		faults = append(faults, list...)
	}
	if err := f.judge(faults); err != nil {
		return err
	}
	p.registry = own[1]
	same := policydiff.SameVocabulary(own[0], own[1])
	if !same {
		both, list := umwelt.Vocabulary(f.vocabularies, slices.Concat(views[0], views[1])...)
		if list.HasErrors() {
			list.Errorf(diag.BadVocabulary, diag.Span{}, "the two views define different vocabularies, so their answers cannot be compared")
			return &problemsError{list}
		}
		p.registry = both
	}
	p.old, p.new = p.registry.Bind(in, views[0]...), p.registry.Bind(in, views[1]...)
	for i, b := range []*registry.Bound{p.old, p.new} {
		if same {
			break
		}
		if why := policydiff.Alone(own[i], own[i].Bind(in, views[i]...), b); why != "" {
			return problem(diag.BadVocabulary, "define it for both, as with --vocabulary", "the %s view does not mean the same beside the words that the other one defines: %s",
				[...]string{"old", "new"}[i], why)
		}
	}
	return nil
}

func (p *policyPair) loadWorlds(o umwelt.Options, old, now []string) error {
	root, list := umwelt.ResolveRoot(o.Root)
	if list.HasErrors() {
		return &problemsError{list}
	}
	o.Root = root
	path, err := worldOf(o, slices.Concat(old, now))
	if err != nil {
		return err
	}
	var given *diag.Source // what standard input says, which can be read only once
	if path == "-" {
		if given, err = umwelt.ReadSource(path, o.Stdin); err != nil {
			return problem(diag.Unreadable, "", "the world file cannot be read: %v", err)
		}
	}
	read := func(env string, b *registry.Bound) (*world.World, diag.List) {
		o := o
		o.Env = env
		options := umwelt.WorldOptions(o, p.registry)
		options.Named = slices.Concat(p.new.Pins(), p.old.Pins())
		options.Declared = b.Entities
		for _, attr := range []string{"size", "mtime", "mode", "links"} {
			options.Stat = options.Stat || p.old.Mentions(attr) || p.new.Mentions(attr)
		}
		switch {
		case path == "":
			return world.Implicit(options)
		case given != nil:
			return world.LoadText(given, ".", options)
		}
		return world.Load(path, options)
	}
	envs := []string{o.Env}
	for i := 0; i < len(envs); i++ {
		w, list := read(envs[i], p.new)
		if w == nil {
			p.diagnostics = append(p.diagnostics, list...)
			return nil // the diagnostics say why
		}
		if i == 0 {
			p.diagnostics = append(p.diagnostics, list...)
			if o.Env == "" {
				envs = append(envs, p.environments(w)...)
			}
		}
		before := w
		if !sameEntities(p.old.Entities, p.new.Entities) {
			if before, list = read(envs[i], p.old); before == nil {
				p.diagnostics = append(p.diagnostics, list...)
				return nil
			}
		}
		pair := policydiff.Pair{Env: envs[i], Old: cascade.New(before, p.old), New: cascade.New(w, p.new)}
		if p.diagnostics = slices.Concat(p.diagnostics, pair.Old.Usable(), pair.New.Usable()); p.diagnostics.HasErrors() {
			return nil
		}
		p.pairs = append(p.pairs, pair)
	}
	return nil
}

// worldOf is the world file for several views: the one that is named, else the only one
// that stands beside a view, else what FindWorld finds.
func worldOf(o umwelt.Options, views []string) (string, error) {
	if o.World != "" {
		return o.World, nil
	}
	fallback := umwelt.FindWorld(o.Root, nil)
	found := fallback
	for _, v := range views {
		path := umwelt.FindWorld(o.Root, []string{v})
		switch {
		case path == fallback || path == found:
		case found == fallback:
			found = path
		default:
			return "", problem(diag.BadOption, "name the one to compare in with --world", "both %s and %s stand beside a view", diag.Quote(found), diag.Quote(path))
		}
	}
	return found, nil
}

// environments are names of the root entity that the rules may tell apart and the world does
// not have: each that a rule spells out, in whole or in part, and one that none of them fits.
func (p *policyPair) environments(w *world.World) []string {
	root := w.RootEntity()
	if root < 0 {
		return nil
	}
	t := w.Entities[root].Type
	var parts, out []string
	var visit func(sel *registry.Selector, of *registry.EntityType)
	compound := func(c *registry.Compound, of *registry.EntityType) {
		if c.Type != nil {
			of = c.Type
		}
		var begin, middle, end string
		for _, test := range c.Tests {
			for _, inner := range test.Selectors {
				visit(inner, of)
			}
			part := test.Kind == registry.TestID || test.Kind == registry.TestAttr && test.Attr == "name" && test.Value != ""
			if of != t || !part {
				continue
			}
			parts = append(parts, test.Value)
			switch test.Op {
			case "^=", "|=":
				begin = test.Value
			case "$=":
				end = test.Value
			default:
				middle = test.Value
			}
		}
		out = append(out, begin+middle+end)
	}
	visit = func(sel *registry.Selector, of *registry.EntityType) { // of is the type that a target without one has
		for _, q := range sel.Qualifiers {
			compound(q, nil)
		}
		for _, l := range sel.Structure {
			compound(l.Compound, nil)
		}
		compound(sel.Target, of)
	}
	for _, b := range []*registry.Bound{p.old, p.new} {
		for _, r := range b.Rules {
			visit(r.Selector, nil)
		}
	}
	if parts == nil {
		return nil
	}
	out = append(out, parts...)
	slices.Sort(out)
	out = slices.DeleteFunc(slices.Compact(out), func(name string) bool { return name == "" || name == w.Name })
	if other := unlike(parts); other != "" {
		out = slices.Insert(out, 0, other)
	} else {
		p.left++
	}
	if len(out) > mostEnvironments {
		p.left += len(out) - mostEnvironments
		out = out[:mostEnvironments]
	}
	return out
}

// unlike is a name that holds none of the parts, in any case; "" where none was found.
func unlike(parts []string) string {
	names := []string{"other"}
	for c := 'a'; c <= 'z'; c++ {
		names = append(names, strings.Repeat(string(c), 3))
	}
	for _, name := range names {
		if !slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(name, strings.ToLower(p)) }) {
			return name
		}
	}
	return ""
}

// sameEntities reports whether two views declare the same entities.
func sameEntities(a, b []registry.Entity) bool {
	return slices.EqualFunc(a, b, func(x, y registry.Entity) bool {
		if x.Type != y.Type || x.ID != y.ID || len(x.Attributes) != len(y.Attributes) {
			return false
		}
		for k, v := range x.Attributes {
			if w, ok := y.Attributes[k]; !ok || w != v {
				return false
			}
		}
		return true
	})
}

// isView reports whether an argument of diff is a view, or one that was saved. What comes from standard input is
// what the other argument is.
func isView(path, other string) bool {
	if path == "-" {
		path = other
	}
	return strings.EqualFold(filepath.Ext(path), ".umw") || database.Is(path)
}
