package main

import (
	"slices"

	"umwelt"
	"umwelt/cascade"
	"umwelt/database"
	"umwelt/diag"
	"umwelt/policydiff"
	"umwelt/registry"
	"umwelt/world"
)

// loadSavedPair is loadPair where one policy, or both, is a saved database. That has a world
// of its own, and answers in one environment; the other policy is put into the same one.
func (f *policyFlags) loadSavedPair(o umwelt.Options, old, now []string) (*policyPair, error) {
	for _, paths := range [][]string{old, now} {
		if i := slices.IndexFunc(paths, database.Is); i >= 0 && len(paths) > 1 {
			return nil, problem(diag.BadOption, "", "%s is a saved policy, which takes no view beside it", diag.Quote(paths[i]))
		}
	}
	p := &policyPair{saved: true}
	savedOld, savedNow := database.Is(old[0]), database.Is(now[0])
	if savedOld && savedNow {
		if o.World != "" || o.Root != "" || o.Env != "" || o.Vocabularies != nil || o.AllowOutside {
			return nil, problem(diag.BadOption, "", "a saved policy has a world and a vocabulary of its own, so of two of them none can be given")
		}
		before := umwelt.Open(old[0])
		if err := f.take(p, before, nil, old[0]); err != nil {
			return nil, err
		}
		after := umwelt.OpenWith(before.Registry, now[0])
		if err := f.take(p, after, before.Registry, now[0]); err != nil {
			return nil, err
		}
		p.add("", before.World, before.Bound, after.World, after.Bound)
		return p, nil
	}
	database, paths := old[0], now
	if savedNow {
		database, paths = now[0], old
	}
	views := p.parse(o, paths)
	if err := f.judge(p.diagnostics); err != nil {
		return nil, err
	}
	reg, list := umwelt.Vocabulary(o.Vocabularies, views...)
	if err := f.judge(list); err != nil {
		return nil, err
	}
	bound := reg.Bind(registry.Options{Import: umwelt.Importer()}, views...)
	p.diagnostics = append(p.diagnostics, bound.Diagnostics...)
	if err := f.judge(p.diagnostics); err != nil {
		return nil, err
	}
	saved := umwelt.OpenWith(reg, database)
	if err := f.take(p, saved, reg, database); err != nil {
		return nil, err
	}
	w, err := f.worldBeside(p, o, saved, database, paths, bound)
	if err != nil {
		return nil, err
	}
	if savedNow {
		p.add(f.env, w, bound, saved.World, saved.Bound)
	} else {
		p.add(f.env, saved.World, saved.Bound, w, bound)
	}
	return p, nil
}

// take judges an opened database, which has to have the vocabulary of the other policy.
func (f *policyFlags) take(p *policyPair, saved *umwelt.Policy, reg *registry.Registry, path string) error {
	if err := f.judge(saved.Diagnostics); err != nil {
		return err
	}
	if p.diagnostics = append(p.diagnostics, saved.Diagnostics...); reg != nil && saved.Registry != reg {
		return problem(diag.BadVocabulary, "give the same --vocabulary that it was saved with, or save it anew",
			"the vocabulary of %s is another one, so the answers cannot be compared", diag.Quote(path))
	}
	return nil
}

func (p *policyPair) add(env string, before *world.World, old *registry.Bound, after *world.World, now *registry.Bound) {
	p.old, p.new, p.registry = old, now, now.Registry
	p.pairs = []policydiff.Pair{{Env: env, Old: cascade.New(before, old), New: cascade.New(after, now)}}
}

// secrets are the properties that rules set and that are not compared.
func (p *policyPair) secrets() []string {
	var out []string
	if !p.saved {
		return nil
	}
	for _, b := range []*registry.Bound{p.old, p.new} {
		for _, r := range b.Rules {
			for _, d := range r.Declarations {
				for _, t := range d.Typed {
					if name := t.Property.Entity.Name + "." + t.Property.Name; t.Property.Secret && !slices.Contains(out, name) {
						out = append(out, name)
					}
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// worldBeside is the world of the views as it is now, in the environment that was saved.
func (f *policyFlags) worldBeside(p *policyPair, o umwelt.Options, saved *umwelt.Policy, database string, views []string, bound *registry.Bound) (*world.World, error) {
	if root := saved.World.RootEntity(); root >= 0 {
		id := saved.World.Entities[root].ID
		if o.Env != "" && o.Env != id {
			return nil, problem(diag.BadOption, "", "%s was saved in the environment %s, so it cannot be compared in %s", diag.Quote(database), diag.Quote(id), diag.Quote(o.Env))
		}
		o.Env = id
	}
	root, list := umwelt.ResolveRoot(o.Root)
	if list.HasErrors() {
		return nil, &problemsError{list}
	}
	o.Root = root
	path, err := worldOf(o, views)
	if err != nil {
		return nil, err
	}
	options := umwelt.WorldOptions(o, bound.Registry)
	options.Named, options.Declared = slices.Concat(bound.Pins(), saved.Bound.Pins()), bound.Entities
	for _, attr := range []string{"size", "mtime", "mode", "links"} {
		options.Stat = options.Stat || bound.Mentions(attr) || saved.Bound.Mentions(attr)
	}
	var w *world.World
	switch {
	case path == "":
		w, list = world.Implicit(options)
	case path == "-":
		src, err := umwelt.ReadSource(path, o.Stdin)
		if err != nil {
			return nil, problem(diag.Unreadable, "", "the world file cannot be read: %v", err)
		}
		w, list = world.LoadText(src, ".", options)
	default:
		w, list = world.Load(path, options)
	}
	p.diagnostics = append(p.diagnostics, list...)
	return w, f.judge(p.diagnostics)
}
