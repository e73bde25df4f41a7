package docs

import (
	"os"
	"slices"
	"strings"
	"testing"

	"umwelt"
	"umwelt/compilers"
	"umwelt/compilers/all"
	"umwelt/registry"
	"umwelt/sandbox/runner"
)

const coverageMark = "<!-- made from the targets' declarations: go test ./docs -run Coverage -update -->\n"

// TestCoverageTable holds the table of the threat model to what the targets declare.
func TestCoverageTable(t *testing.T) {
	const path = "threats.md"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, _, ok := strings.Cut(string(text), coverageMark)
	if !ok {
		t.Fatal("the place of the table is gone")
	}
	want := before + coverageMark + "\n" + coverageTable(t)
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(text) {
		t.Error("the table is not what the targets declare: go test ./docs -run Coverage -update")
	}
}

func coverageTable(t *testing.T) string {
	reg, list := umwelt.Vocabulary(nil)
	if list.HasErrors() {
		t.Fatal(list.Err())
	}
	var infos []compilers.Info
	run := runner.Targets()
	for _, c := range all.Compilers() {
		if c.Info.Altitude != registry.OS {
			continue
		}
		info := c.Info
		if i := slices.IndexFunc(run, func(t runner.Target) bool { return t.Info.Name == info.Name }); i >= 0 {
			info = run[i].Info
		}
		infos = append(infos, info)
	}
	var b strings.Builder
	b.WriteString("| property |")
	for _, i := range infos {
		b.WriteString(" " + i.Name + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(infos)) + "\n")
	for _, typ := range reg.Types() {
		for _, p := range typ.Properties {
			if p.Altitude != registry.OS || strings.HasPrefix(p.Name, "max-") && typ.Property(strings.TrimPrefix(p.Name, "max-")) != nil {
				continue
			}
			b.WriteString("| `" + typ.Name + "` `" + p.Name + "` |")
			for _, i := range infos {
				b.WriteString(" " + i.Supports(p).Level.String() + " |")
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}
