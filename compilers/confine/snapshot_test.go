package confine_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"umwelt/compilers"
	"umwelt/compilers/bwrap"
	"umwelt/compilers/confine/confinetest"
	"umwelt/compilers/kubernetes"
	"umwelt/compilers/landlock"
	"umwelt/compilers/nsjail"
	"umwelt/world"
)

// A snapshot of a world gives every target the same text and the same notes as the world,
// whatever becomes of the disk.
func TestSnapshotsCompileAlike(t *testing.T) {
	base := t.TempDir()
	count, differ := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		count++
		tree := confinetest.DrawLarge(rt, confinetest.Names, 14)
		root := filepath.Join(base, fmt.Sprint(count))
		confinetest.Plant(t, root, tree)
		file := confinetest.DrawWorld(rt, tree, false)
		view := rapid.SampledFrom(confinetest.Views).Draw(rt, "view")
		usual := rapid.SampledFrom([]string{"tight", "usual"}).Draw(rt, "new-files")
		res := confinetest.Resolve(t, view, file, root)
		for _, json := range []bool{false, true} {
			var snapshot bytes.Buffer
			if err := world.Write(&snapshot, res.World(), world.WriteOptions{Level: world.Full, JSON: json}); err != nil {
				rt.Fatal(err)
			}
			again := confinetest.Resolve(t, view, snapshot.String(), root)
			for _, c := range []compilers.Compiler{bwrap.Compiler, nsjail.Compiler, kubernetes.Compiler(), landlock.Compiler} {
				set := map[string]string{"new-files": usual}
				want := c.Compile(compilers.Input{Resolution: res, Set: set})
				got := c.Compile(compilers.Input{Resolution: again, Set: set})
				if want.Diagnostics.HasErrors() || got.Diagnostics.HasErrors() {
					rt.Fatal(want.Diagnostics, got.Diagnostics)
				}
				if d := cmp.Diff(string(want.Text), string(got.Text)); d != "" {
					rt.Fatalf("%s (-world +snapshot):\n%s\n%s\n%s", c.Info.Name, d, file, snapshot.String())
				}
				if d := cmp.Diff(reasons(want.Notes), reasons(got.Notes)); d != "" {
					rt.Fatalf("%s, notes (-world +snapshot):\n%s\n%s", c.Info.Name, d, file)
				}
			}
		}
		if len(res.World().Withheld) > 0 {
			differ++
		}
	})
	if differ < count/4 {
		t.Errorf("only %d of %d worlds leave anything out", differ, count)
	}
}

func reasons(notes []compilers.Note) []string {
	var out []string
	for _, n := range notes {
		out = append(out, fmt.Sprint(n.Level, " ", n.Why))
	}
	return out
}
