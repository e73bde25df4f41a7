package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"umwelt/ast"
	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/parser"
	"umwelt/registry"
	"umwelt/sandbox"
	"umwelt/world"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// resolve answers everything for a view and a world file of the sandbox vocabulary.
func resolve(t *testing.T, view, worldFile string, context ...cascade.Ref) *cascade.Resolution {
	t.Helper()
	check := func(list diag.List) {
		t.Helper()
		if err := list.Err(); err != nil {
			t.Fatal(err)
		}
	}
	parse := func(s *diag.Source) *ast.View {
		v, list := parser.Parse(s)
		check(list)
		return v
	}
	reg := registry.New()
	check(reg.Load(registry.Options{}, parse(sandbox.Vocabulary())))
	if err := sandbox.Register(reg); err != nil {
		t.Fatal(err)
	}
	bound := reg.Bind(registry.Options{}, parse(&diag.Source{Name: "v.umw", Text: []byte(view)}))
	check(bound.Diagnostics)
	w, list := world.LoadText(&diag.Source{Name: "w.world.yml", Text: []byte(worldFile)}, "", world.Options{Registry: reg})
	check(list)
	r, list := cascade.New(w, bound).Resolve(context)
	check(list)
	return r
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(filepath.Join("testdata", file), got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want := read(t, file); want != string(got) {
		t.Errorf("%s differs (go test -update rewrites it):\n%s", file, got)
	}
}

// TestDocuments compares every document of one view and world with its golden file, and
// looks for the secret in each.
func TestDocuments(t *testing.T) {
	r := resolve(t, read(t, "v.umw"), read(t, "w.world.yml"), cascade.Ref{Type: "tool", ID: "Bash"})
	for _, c := range []struct {
		file  string
		d     *Document
		write func(*Document, *bytes.Buffer) error
	}{
		{"dry-run.json", DryRun(r, false), func(d *Document, b *bytes.Buffer) error { return d.WriteJSON(b) }},
		{"dry-run-set.json", DryRun(r, true), func(d *Document, b *bytes.Buffer) error { return d.WriteJSON(b) }},
		{"dry-run.txt", DryRun(r, true), func(d *Document, b *bytes.Buffer) error { return d.WriteText(b) }},
		{"policy.json", Policy(r, "1.0"), func(d *Document, b *bytes.Buffer) error { return d.WriteJSON(b) }},
	} {
		var b bytes.Buffer
		if err := c.write(c.d, &b); err != nil {
			t.Fatal(err)
		}
		golden(t, c.file, b.Bytes())
		if strings.HasSuffix(c.file, ".json") && !json.Valid(b.Bytes()) {
			t.Errorf("%s is not JSON", c.file)
		}
		if strings.Contains(b.String(), "hunter2") {
			t.Errorf("%s shows a secret", c.file)
		}
		var again bytes.Buffer
		if err := c.write(c.d, &again); err != nil || !bytes.Equal(b.Bytes(), again.Bytes()) {
			t.Errorf("%s: a second run gives other bytes (%v)", c.file, err)
		}
	}
}

// TestDocs finds the example of the documentation of the target json in its golden file.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../docs/targets/json.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, example := range []struct{ fence, file string }{
		{"```css\n", "v.umw"}, {"```yaml\n", "w.world.yml"}, {"```json\n", "policy.json"},
	} {
		_, rest, ok := strings.Cut(string(page), example.fence)
		text, _, closed := strings.Cut(rest, "```")
		if !ok || !closed {
			t.Fatalf("no %q in the page", example.fence)
		}
		// A line "..." stands for lines that the page leaves out.
		for line := range strings.Lines(text) {
			if strings.TrimSpace(line) != "..." && !strings.Contains(read(t, example.file), line) {
				t.Errorf("%s does not hold %q", example.file, line)
			}
		}
	}
}
