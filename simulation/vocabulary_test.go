package simulation_test

import (
	"os"
	"strings"
	"testing"

	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/parser"
	"umwelt/registry"
	"umwelt/simulation"
	"umwelt/world"
)

func load(t *testing.T, sources ...*diag.Source) *registry.Registry {
	t.Helper()
	reg := registry.New()
	for _, src := range sources {
		v, list := parser.Parse(src)
		list = append(list, reg.Load(registry.Options{}, v)...)
		if len(list) > 0 {
			t.Fatal(list)
		}
	}
	return reg
}

// TestVocabulary holds that the embedded file is a sound vocabulary and says of
// everything what it is, in one sentence.
func TestVocabulary(t *testing.T) {
	reg := load(t, simulation.Vocabulary())
	said := map[string]string{}
	sentence := func(what, text string) {
		if !strings.HasSuffix(text, ".") || strings.Count(text, ". ") > 0 {
			t.Errorf("%s: %q is not one sentence", what, text)
		}
		if other := said[text]; other != "" {
			t.Errorf("%s and %s have the same description", what, other)
		}
		said[text] = what
	}
	for _, x := range reg.Taxa() {
		sentence(x.Name, x.Description)
	}
	want := []string{"variable", "item-profile", "extent", "role", "action", "rule", "phase", "affordance"}
	for _, name := range want {
		e := reg.Type(name)
		if e == nil {
			t.Errorf("no entity type %s", name)
			continue
		}
		sentence(name, e.Description)
		for _, a := range e.Attributes {
			sentence(name+"."+a.Name, a.Description)
		}
		for _, p := range e.Properties {
			sentence(name+"."+p.Name, p.Description)
			if p.Altitude != registry.Semantic {
				t.Errorf("%s.%s is not semantic", name, p.Name)
			}
		}
	}
	if n := len(reg.Types()); n != len(want) {
		t.Errorf("%d entity types, want %d", n, len(want))
	}
	if reg.Taxon("vfs") != reg.Taxon("simulation") || reg.Taxon("vfs") == nil {
		t.Error("vfs is not the alias of simulation")
	}
}

func file(t *testing.T, name string) *diag.Source {
	t.Helper()
	path := "../testdata/vocabularies/" + name
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return &diag.Source{Name: path, Text: text}
}

// TestThirdVocabulary uses a vocabulary that no Go code knows: its rules resolve with
// units, ceilings, gates and qualifiers of another taxon.
func TestThirdVocabulary(t *testing.T) {
	reg := load(t, file(t, "ratelimit.umw"))
	w, list := world.LoadText(file(t, "api.world.yml"), "", world.Options{Registry: reg})
	if len(list) > 0 {
		t.Fatal(list)
	}
	view, list := parser.Parse(file(t, "api.umw"))
	bound := reg.Bind(registry.Options{}, view)
	if list = append(list, bound.Diagnostics...); len(list) > 0 {
		t.Fatal(list)
	}
	res, list := cascade.New(w, bound).Resolve(nil)
	if len(list) > 0 {
		t.Fatal(list)
	}
	for _, c := range []struct {
		entity, id, property, want string
		origin                     cascade.Origin
	}{
		{"client", "website", "max-rate", "120", cascade.Cascade},
		{"client", "demo", "max-rate", "60", cascade.Cascade},
		{"client", "crawler", "max-rate", "120", cascade.Cascade},
		{"client", "crawler", "burst", "200", cascade.Cascade},
		{"client", "website", "over-limit", "reject", cascade.Initial},
		{"route", "query", "open", "true", cascade.Cascade},
		{"route", "reindex", "open", "false", cascade.Derived},
		{"route", "bulk", "open", "false", cascade.Cascade},
		{"route", "daily", "only-methods", "GET", cascade.Cascade},
		{"quota", "website-month", "available", "true", cascade.Cascade},
		{"quota", "demo-month", "available", "false", cascade.Derived},
	} {
		typ := reg.Type(c.entity)
		i := w.Find(typ, c.id)
		if i < 0 {
			t.Fatalf("no %s %s", c.entity, c.id)
		}
		got := res.Get(i, typ.Property(c.property))
		if got.Value == nil || got.Value.Text != c.want || got.Origin != c.origin {
			t.Errorf("%s#%s %s: got %+v from %s, want %s from %s", c.entity, c.id, c.property, got.Value, got.Origin, c.want, c.origin)
		}
	}
}
