package world

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"umwelt/registry"
)

// treeRegistry has a root, directories, files, parts of files and groups, all of one
// taxon, and things of another.
func treeRegistry(t testing.TB) *registry.Registry {
	t.Helper()
	reg := registry.New()
	add := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"place", "act"} {
		add(reg.AddTaxon(registry.Taxon{Name: name, Description: "d"}))
	}
	place, act := reg.Taxon("place"), reg.Taxon("act")
	for _, typ := range []registry.EntityType{
		{Name: "whole", Taxon: place, Root: true},
		{Name: "box", Taxon: place, PathAttr: "path", Dotted: true},
		{Name: "leaf", Taxon: place, PathAttr: "path", Dotted: true},
		{Name: "part", Taxon: place},
		{Name: "lot", Taxon: place, GroupAttr: "root"},
		{Name: "thing", Taxon: act},
	} {
		typ.Description = "d"
		add(reg.AddType(typ))
	}
	return reg
}

// tree makes entities from lines "type id parent-index attr=value .class".
func tree(t testing.TB, reg *registry.Registry, lines ...string) []Entity {
	t.Helper()
	var out []Entity
	for _, line := range lines {
		words := strings.Fields(line)
		e := Entity{Type: reg.Type(words[0]), ID: words[1], Parent: NoParent}
		for _, word := range words[2:] {
			if key, value, ok := strings.Cut(word, "="); ok {
				if key == "parent" {
					fmt.Sscan(value, &e.Parent)
				} else {
					e.Attributes = append(e.Attributes, Attribute{Name: key, Text: value})
				}
			} else {
				e.Classes = append(e.Classes, word)
			}
		}
		if e.Type.PathAttr != "" && e.Attribute("path") == nil {
			e.Attributes = append(e.Attributes, Attribute{Name: "path", Text: e.ID})
		}
		out = append(out, e)
	}
	return out
}

func TestNewRefuses(t *testing.T) {
	reg := treeRegistry(t)
	cases := []struct{ name, want, lines string }{
		{"a duplicate", "two entities are", "leaf a; leaf a"},
		{"two roots", "two roots", "whole a; whole b"},
		{"a circle", "its own ancestor", "part a parent=1; part b parent=0"},
		{"its own parent", "its own ancestor", "part a parent=0"},
		{"a parent that is not there", "is no entity", "part a parent=7"},
		{"a group below a path", "below a path", "whole w; box a parent=0; lot g parent=1 root=a"},
	}
	for _, c := range cases {
		_, err := New(reg, "w", "", tree(t, reg, strings.Split(c.lines, "; ")...), nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want it to say %q", c.name, err, c.want)
		}
	}
	if _, err := New(reg, "w", "", []Entity{{ID: "x", Parent: NoParent}}, nil); err == nil {
		t.Error("an entity without a type is taken")
	}
}

func TestAncestors(t *testing.T) {
	reg := treeRegistry(t)
	w, err := New(reg, "w", "", tree(t, reg,
		"whole w", "box src parent=0", "box src/auth parent=1", "leaf src/auth/a.py parent=2", "part f parent=3",
		"lot near parent=0 root=src/auth", "lot far parent=0 root=src/", "lot all parent=0 root=.", "lot none parent=0",
		"lot other parent=0 root=src/au", "leaf top", "lot near2 root=./src/auth", "thing t"), nil)
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]string{
		"src/auth/a.py": "src/auth src near near2 far all w",
		"src/auth":      "src far all w",
		"src":           "all w",
		"f":             "src/auth/a.py src/auth src near near2 far all w",
		"near":          "w",
		"top":           "all w",
		"w":             "",
		"t":             "",
	}
	for i := range w.Entities {
		want, ok := cases[w.Entities[i].ID]
		if !ok {
			continue
		}
		var got []string
		for it := w.Ancestors(i); it.Next(); {
			got = append(got, w.Entities[it.Index()].ID)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: ancestors %v, want %s", w.Entities[i].ID, got, want)
		}
	}
	file := w.Find(reg.Type("leaf"), "src/auth/a.py")
	allocs := testing.AllocsPerRun(100, func() {
		for it := w.Ancestors(file); it.Next(); {
			_ = it.Index()
		}
	})
	if allocs != 0 {
		t.Errorf("a walk over ancestors allocates %v times", allocs)
	}
	unseen := Entity{Type: reg.Type("leaf"), ID: "src/auth/new", Parent: 2, Attributes: []Attribute{{Name: "path", Text: "src/auth/new"}}}
	var got []string
	for it := w.AncestorsOf(&unseen); it.Next(); {
		got = append(got, w.Entities[it.Index()].ID)
	}
	if !slices.Equal(got, strings.Fields("src/auth src near near2 far all w")) {
		t.Errorf("a new entity's ancestors are %v", got)
	}
}
