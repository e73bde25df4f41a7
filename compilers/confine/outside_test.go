package confine_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	. "umwelt/compilers/confine"
	"umwelt/compilers/confine/confinetest"
)

// Whatever a world leaves out, and in whatever way: no rule opens it, and what the rules
// say of the rest holds.
func TestNothingOutsideTheWorldShows(t *testing.T) {
	base := t.TempDir()
	count, shown, outsiders := 0, 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		count++
		tree := confinetest.DrawLarge(rt, confinetest.Names, 14)
		root := filepath.Join(base, fmt.Sprint(count))
		confinetest.Plant(t, root, tree)
		git := rapid.IntRange(0, 4).Draw(rt, "repository") == 0 && confinetest.Commit(rt, root, tree)
		file := confinetest.DrawWorld(rt, tree, git)
		view := rapid.SampledFrom(confinetest.Views).Draw(rt, "view")
		res := confinetest.Resolve(t, view, file, root)
		usual := rapid.Bool().Draw(rt, "usual")
		c, problems := FromWith(res, Options{Usual: usual})
		if problems.HasErrors() {
			rt.Fatal(problems.Err())
		}
		want := map[string]Mode{}
		out := confinetest.Outside(res.World(), tree)
		for p, outside := range out {
			if want[p] = ReadWrite; outside {
				want[p] = Hidden
				outsiders++
			}
		}
		w := res.World()
		files := res.Registry().Type("file")
		for i := range w.Entities {
			e := &w.Entities[i]
			if _, there := want[e.Path()]; e.Type != files || !there {
				continue
			}
			m := Hidden
			if res.Get(i, files.Property("visible")).Value.Bool() {
				m = ReadOnly
				if res.Get(i, files.Property("editable")).Value.Bool() {
					m = ReadWrite
				}
			}
			want[e.Path()] = min(want[e.Path()], m)
		}
		k := newKernel(tree, c.Plan)
		for _, p := range k.paths {
			if k.mode(p) != Hidden {
				shown++
			}
			if out[p] && out[confinetest.Parent(p)] && k.appears(p) && !confinetest.Leads(p, out) {
				rt.Fatalf("%s appears, in a directory that is not in the world\n%s\n%s", p, file, strings.Join(show(c.Plan), "\n"))
			}
		}
		if b := k.breach(want); b != "" {
			rt.Fatalf("%s\n%s\n%s\n%s", b, view, file, strings.Join(show(c.Plan), "\n"))
		}
	})
	if shown < count || outsiders < count {
		t.Errorf("in %d cases, %d paths are shown and %d are not in the world: that proves little", count, shown, outsiders)
	}
}
