package umwelt_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"umwelt"
	"umwelt/compilers"
	"umwelt/compilers/all"
)

// compileFile compiles one shipped view over the project beside it.
func compileFile(t *testing.T, view, target string) []byte {
	t.Helper()
	p := umwelt.Load(umwelt.Options{Root: filepath.Join(filepath.Dir(view), "project")}, view)
	if err := p.Err(); err != nil {
		t.Fatal(err)
	}
	for _, c := range all.Compilers() {
		if c.Info.Name != target {
			continue
		}
		out := c.Compile(compilers.Input{Resolution: p.Resolution})
		if err := out.Diagnostics.Err(); err != nil {
			t.Fatal(err)
		}
		return out.Text
	}
	t.Fatalf("no target %s", target)
	return nil
}

// TestSugarCompilesLikeRules holds every shipped pair to the same bytes, target by
// target.
func TestSugarCompilesLikeRules(t *testing.T) {
	pairs, err := filepath.Glob("examples/*/*.rules.umw")
	if err != nil || len(pairs) < 10 {
		t.Fatalf("only %d pairs: %v", len(pairs), err)
	}
	for _, rules := range pairs {
		sugar := strings.TrimSuffix(rules, ".rules.umw") + ".umw"
		for _, target := range []string{"nsjail", "bwrap", "kubernetes"} {
			a, b := compileFile(t, sugar, target), compileFile(t, rules, target)
			if !bytes.Equal(a, b) {
				t.Errorf("%s and %s differ for %s:\n%s\n---\n%s", sugar, rules, target, a, b)
			}
		}
	}
}
