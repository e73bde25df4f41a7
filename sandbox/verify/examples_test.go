//go:build linux && (amd64 || arm64)

package verify

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"umwelt"
	"umwelt/cascade"
)

// verifyExample verifies a shipped view over a shipped project.
func verifyExample(t *testing.T, target, view, worldFile, root string) {
	t.Helper()
	load := func(root string) (*cascade.Resolution, error) {
		p := umwelt.Load(umwelt.Options{Root: root, World: worldFile}, view)
		return p.Resolution, p.Err()
	}
	res, err := load(root)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(Options{Target: target, Program: program, Environ: os.Environ(), Load: load}, res)
	if err != nil {
		t.Fatal(err)
	}
	if well(t, r); r.Probes < 50 {
		t.Errorf("only %d probes", r.Probes)
	}
}

// The shipped examples hold what they say.
func TestExamples(t *testing.T) {
	const dir = "../../examples/"
	sugar, err := filepath.Glob(dir + "sugar/*.umw")
	if err != nil || len(sugar) < 20 {
		t.Fatalf("%d views, %v", len(sugar), err)
	}
	for _, name := range []string{"bwrap", "landlock", "podman"} {
		t.Run(name, func(t *testing.T) {
			need(t, name)
			views := []string{"review.umw", "auth-fix.umw"}
			if name == "podman" {
				views = views[:1] // a container takes its time
			}
			for _, view := range views {
				t.Run(view, func(t *testing.T) {
					verifyExample(t, name, dir+"auth-fix/"+view, dir+"auth-fix/dev.world.yml", dir+"auth-fix/project")
				})
			}
			if name == "podman" {
				return
			}
			for _, view := range sugar {
				if strings.HasSuffix(view, ".rules.umw") {
					t.Run(filepath.Base(view), func(t *testing.T) { verifyExample(t, name, view, "", dir+"sugar/project") })
				}
			}
		})
	}
}
