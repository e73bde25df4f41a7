package delegate_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"umwelt/cascade"
	"umwelt/compilers/confine/confinetest"
	"umwelt/compilers/delegate"
	"umwelt/registry"
	"umwelt/world"
)

var (
	selectors = []string{
		`file`, `dir`, `*`, `file.x`, `file[path^="src/"]`, `file[path^="src/lib/"]`, `file[path="src/a.py"]`, `file[name$=".py"]`, `file:glob("src/**/*.md")`,
		`dir#src file`, `dir#src > file`, `dir[path^="src"]`, `tool`, `tool#Bash`, `tool.x`, `kit#k`, `resource`, `mode#review tool`, `hook[event="on-failure"]`, `env`, `network`,
	}
	declarations = []string{
		`editable: true`, `editable: false`, `visible: true`, `visible: false`, `show: outline`, `show: body`, `allow: true`, `allow: false`, `max-level: 2`, `only-kits: k, l`,
		`any-of-effects: a`, `any-of-effects: b, c`, `allow-pattern: "x *"`, `deny-pattern: "z"`, `require: "ok"`, `memory: 1MB`, `run: "ls"`, `value: "hush"`, `deny: "*"`,
	}
	paths = []string{"docs", "docs/a.py", "src", "src/a.py", "src/b.md", "src/lib", "src/lib/a.md", "src/lib/deep", "src/lib/deep/x.py", "z.py"}
)

// draw is a random view over a random snapshot, parts of which are listed and parts withheld.
func draw(rt *rapid.T, t *testing.T) *cascade.Resolution {
	one := func(list []string, label string) string { return rapid.SampledFrom(list).Draw(rt, label) }
	chance := func(percent int) bool { return rapid.IntRange(0, 99).Draw(rt, "chance") < percent }
	var view strings.Builder
	for range rapid.IntRange(0, 7).Draw(rt, "rules") {
		fmt.Fprintf(&view, "%s { %s; %s; }\n", one(selectors, "selector"), one(declarations, "declaration"), one(declarations, "declaration"))
	}
	var w, withheld strings.Builder
	w.WriteString("meta: { level: full }\nname: dev\nmodes: [review]\nkits: [k]\nenv: [CI]\nentities:\n")
	listed := func() string {
		if chance(70) {
			return ", listed: true"
		}
		return ""
	}
	class := func() string {
		if chance(30) {
			return ", classes: [x]"
		}
		return ""
	}
	fmt.Fprintf(&w, "  - { type: world, id: dev%s }\n  - { type: network, id: network }\n", listed())
	for _, id := range []string{"Bash", "Edit", "Read"} {
		fmt.Fprintf(&w, "  - { type: tool, id: %s%s, attributes: { level: %d, kit: %s } }\n", id, class(), rapid.IntRange(0, 8).Draw(rt, "level"), one([]string{"k", "l"}, "kit"))
	}
	gone := ""
	for _, p := range paths {
		if gone != "" && strings.HasPrefix(p, gone+"/") {
			continue
		}
		typ, more := "file", ""
		if !strings.Contains(p, ".") {
			typ, more = "dir", listed()
		}
		if chance(15) {
			gone = p
			fmt.Fprintf(&withheld, "  - { type: %s, id: %q, attributes: { path: %q } }\n", typ, p, p)
			continue
		}
		fmt.Fprintf(&w, "  - { type: %s, id: %q%s%s, attributes: { path: %q } }\n", typ, p, class(), more, p)
	}
	if withheld.Len() > 0 {
		w.WriteString("withheld:\n" + withheld.String())
	}
	if chance(30) {
		w.WriteString("fixed:\n  \"file[name$='.md']\": { editable: false }\n")
	}
	return confinetest.Resolve(t, view.String(), w.String(), "/p")
}

// narrowest is the answer of the narrowest entry that holds for an entity. made says that
// it does not exist yet and lies in the directory dir.
func narrowest(s *delegate.Statement, e *world.Entity, made bool, dir *world.Entity) delegate.Answer {
	best, depth := s.Entries[0].Answer, -1
	for _, x := range s.Entries[1:] {
		switch in := x.Scope.Entity; x.Scope.Kind {
		case delegate.One:
			if in.ID == e.ID && !made {
				return x.Answer
			}
		case delegate.Later:
			if made && in == dir {
				return x.Answer
			}
		case delegate.Below:
			if strings.HasPrefix(e.Path(), in.Path()+"/") && len(in.Path()) > depth {
				best, depth = x.Answer, len(in.Path())
			}
		}
	}
	return best
}

// TestEntailed holds every statement to the resolution, for what exists, for what is left
// out of the world and for what may be made, and every restriction to the statements.
func TestEntailed(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := draw(rt, t)
		w := r.World()
		said := map[*registry.Property]*delegate.Statement{}
		statements := delegate.Statements(r)
		for i := range statements {
			said[statements[i].Property] = &statements[i]
		}
		for i := range w.Entities {
			e := &w.Entities[i]
			for _, p := range e.Type.Properties {
				got := r.Get(i, p)
				s := said[p]
				if s == nil {
					if got.Value != nil && (p.Restrictive != registry.NoDirection || got.Origin != cascade.Initial) {
						rt.Fatalf("nothing is said of %s.%s, which is %s for %s", e.Type.Name, p.Name, got.Value.Text, e.ID)
					}
					continue
				}
				if a := narrowest(s, e, false, nil); a.ByName || !a.Value.Equal(got.Value) || !slices.EqualFunc(a.Sets, got.Sets, slices.Equal) {
					rt.Fatalf("%s.%s of %s is %+v, and %+v is said", e.Type.Name, p.Name, e.ID, got.Value, a)
				}
			}
		}
		for i := range w.Withheld {
			e := &w.Withheld[i]
			for _, p := range e.Type.Properties {
				if s := said[p]; s != nil && p.Type.Kind == registry.Boolean && !narrowest(s, e, false, nil).Value.Equal(p.RestrictiveBool()) {
					rt.Fatalf("%s.%s of %s, which is left out, is granted", e.Type.Name, p.Name, e.ID)
				}
			}
		}
		testLater(rt, r, said)
	})
}

func testLater(rt *rapid.T, r *cascade.Resolution, said map[*registry.Property]*delegate.Statement) {
	w := r.World()
	for i := range w.Entities {
		dir := &w.Entities[i]
		if !dir.Type.Root && dir.Type.Name != "dir" {
			continue
		}
		t := r.Registry().Type("file")
		path := strings.TrimPrefix(dir.Path()+"/"+rapid.SampledFrom([]string{"new.py", "n.md", "new"}).Draw(rt, "name"), "/")
		e := &world.Entity{Type: t, ID: path, Parent: int32(i), Attributes: world.Complete(t, path, []world.Attribute{{Name: "path", Text: path}})}
		got := r.ResolveEntity(e)
		for k, p := range t.Properties {
			s := said[p]
			if s == nil {
				if dir.Listed && (p.Restrictive != registry.NoDirection || got[k].Value != nil) {
					rt.Fatalf("nothing is said of %s, which a new file has", p.Name)
				}
				continue
			}
			a := narrowest(s, e, true, dir)
			permission := p.Restrictive == registry.False
			switch {
			case a.ByName:
			case !dir.Listed && permission:
				if a.Value.Bool() {
					rt.Fatalf("%s of %s is granted, and what lies there is not known", p.Name, path)
				}
			case !dir.Listed:
			case !a.Value.Equal(got[k].Value):
				rt.Fatalf("%s of %s would be %+v, and %+v is said", p.Name, path, got[k].Value, a.Value)
			}
		}
	}
}

// TestNothingOfTheKind restricts what the world does not have.
func TestNothingOfTheKind(t *testing.T) {
	for _, tt := range []struct {
		view, want string
		said       bool
	}{
		{`network { deny: * }`, "- Whether it may be reached: no", true},
		{`tool[level] { allow: true }`, "- Whether the tool may be called: no", true},
		{`* { visible: false }`, "- Whether the tool may be called", false},
		{`file { visible: true }`, "- Whether it may be reached", false},
	} {
		r := confinetest.Resolve(t, tt.view, "name: bare", "/p")
		if text := delegate.Write(r, 2000).Text; strings.Contains(text, tt.want) != tt.said {
			t.Errorf("%s: %q in\n%s", tt.view, tt.want, text)
		}
	}
}

// TestTextSaysEverything looks for every entry in the text, and for the note where some is
// not there.
func TestTextSaysEverything(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := draw(rt, t)
		tokens := rapid.SampledFrom([]int{200, 300, 500, 5000}).Draw(rt, "tokens")
		f := delegate.Write(r, tokens)
		if n := delegate.Tokens(f.Text); n > tokens {
			rt.Fatalf("%d tokens, and %d are allowed:\n%s", n, tokens, f.Text)
		}
		whole := len(f.Left)+len(f.Cut) == 0
		if whole == strings.Contains(f.Text, "This is not all") {
			rt.Fatalf("%d left out and %d cut in\n%s", len(f.Left), len(f.Cut), f.Text)
		}
		for _, s := range delegate.Statements(r) {
			if slices.Contains(f.Left, s.Property) || slices.Contains(f.Cut, s.Property) {
				continue
			}
			line := strings.TrimSuffix(s.Property.Description, ".") + ": "
			at := strings.Index(f.Text, line)
			if at < 0 {
				rt.Fatalf("%q is missing in\n%s", line, f.Text)
			}
			line, _, _ = strings.Cut(f.Text[at:], "\n")
			for _, e := range s.Entries[1:] {
				where := e.Scope.Entity.ID
				if e.Scope.Entity.Type.Root {
					where = "outside of the directories"
				}
				if !strings.Contains(line, where) {
					rt.Fatalf("%q is missing in %q", where, line)
				}
			}
		}
		if strings.Contains(f.Text, "hush") {
			rt.Fatal("a secret is written")
		}
	})
}
