package discover

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"umwelt/diag"
	"umwelt/parser"
	"umwelt/registry"
	"umwelt/world"
)

func vocabulary(t testing.TB) *registry.Registry {
	t.Helper()
	text, err := os.ReadFile("../testdata/vocabulary.umw")
	if err != nil {
		t.Fatal(err)
	}
	view, l := parser.Parse(&diag.Source{Name: "vocabulary.umw", Text: text})
	reg := registry.New()
	l = append(l, reg.Load(registry.Options{}, view)...)
	if err := l.Err(); err != nil {
		t.Fatal(err)
	}
	return reg
}

// load makes a world of one recipe, written as YAML.
func load(t testing.TB, h Host, root, recipe string) (*world.World, diag.List) {
	t.Helper()
	o := world.Options{Registry: vocabulary(t), Root: root, Matchers: Matchers(h)}
	return world.LoadText(&diag.Source{Name: "w.world.yml", Text: []byte("discover: [" + recipe + "]\n")}, "", o)
}

// lines prints what was discovered: id, classes, and the attributes that do not follow from it.
func lines(w *world.World, l diag.List) string {
	var b strings.Builder
	if w == nil {
		return "no world: " + fmt.Sprint(l)
	}
	for i := range w.Entities {
		e := &w.Entities[i]
		if e.Provenance.Origin != world.Discovered {
			continue
		}
		b.WriteString(e.Type.Name + " " + diag.Quote(e.ID))
		for _, c := range e.Classes {
			b.WriteString(" ." + c)
		}
		for _, a := range e.Attributes {
			if a.Name != "path" && a.Name != "name" || a.Name == "path" && a.Text != e.ID {
				b.WriteString(" " + a.Name + "=" + diag.Escape(a.Text))
			}
		}
		b.WriteByte('\n')
	}
	for _, d := range l {
		b.WriteString(d.Severity.String() + " " + d.Message + "\n")
	}
	return b.String()
}

func mustWrite(t testing.TB, root string, names ...string) {
	t.Helper()
	for _, name := range names {
		full := filepath.Join(root, name)
		dir := filepath.Dir(full)
		if strings.HasSuffix(name, "/") {
			dir = full
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(name, "/") {
			if err := os.WriteFile(full, nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func symlinks(t testing.TB, root string, pairs ...string) {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if err := os.Symlink(pairs[i+1], filepath.Join(root, pairs[i])); err != nil {
			t.Fatal(err)
		}
	}
}

// needTool finds an outside program that a test compares with.
func needTool(t testing.TB, name string, path string, err error) string {
	t.Helper()
	if err != nil {
		if os.Getenv("UMWELT_REQUIRE_TOOLS") == "1" {
			t.Fatalf("the program %s is missing", name)
		}
		t.Skipf("the program %s is missing", name)
	}
	return path
}
