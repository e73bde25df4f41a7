package world_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"umwelt/diag"
	"umwelt/parser"
	"umwelt/registry"
	"umwelt/world"
	"umwelt/world/discover"
)

var update = flag.Bool("update", false, "rewrite golden files")

// vocabulary is the registry of testdata/vocabulary.umw.
func vocabulary(t testing.TB) *registry.Registry {
	t.Helper()
	text, err := os.ReadFile("testdata/vocabulary.umw")
	if err != nil {
		t.Fatal(err)
	}
	view, l := parser.Parse(&diag.Source{Name: "vocabulary.umw", Text: text})
	reg := registry.New()
	l = append(l, reg.Load(registry.Options{}, view)...)
	l = append(l, reg.Check()...)
	if err := l.Err(); err != nil {
		t.Fatal(err)
	}
	return reg
}

func options(t testing.TB, root string) world.Options {
	return world.Options{Registry: vocabulary(t), Root: root, Matchers: discover.Matchers(discover.Host{Root: "/nowhere"})}
}

// writeTree makes files below a new directory. A name that ends in "/" is a directory, a
// text "-> x" a symbolic link to x.
func writeTree(t testing.TB, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		full := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		target, link := strings.CutPrefix(text, "-> ")
		switch {
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(full, 0o755)
		case link:
			err = os.Symlink(target, full)
		default:
			err = os.WriteFile(full, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// list prints a world one entity a line: type#id.classes < parent [attributes] origin.
func list(w *world.World) string {
	if w == nil {
		return "no world\n"
	}
	var b strings.Builder
	for i := range w.Entities {
		e := &w.Entities[i]
		fmt.Fprintf(&b, "%s#%s", e.Type.Name, diag.Escape(e.ID))
		for _, c := range e.Classes {
			b.WriteString("." + c)
		}
		if e.Parent != world.NoParent {
			p := &w.Entities[e.Parent]
			fmt.Fprintf(&b, " < %s#%s", p.Type.Name, diag.Escape(p.ID))
		}
		for _, a := range e.Attributes {
			if a.Name == "name" && (a.Text == e.ID || strings.HasSuffix(e.ID, "/"+a.Text)) || a.Name == "path" && a.Text == e.ID {
				continue // what follows from the id is left out
			}
			fmt.Fprintf(&b, " [%s=%s]", a.Name, diag.Escape(a.Text))
		}
		b.WriteString(" " + e.Provenance.Origin.String())
		if e.Provenance.By != "" {
			b.WriteString(" by " + e.Provenance.By)
		}
		if e.Provenance.Overridden {
			b.WriteString(" overridden")
		}
		b.WriteByte('\n')
	}
	for _, f := range w.Fixed {
		fmt.Fprintf(&b, "fixed %s", f.Selector.Text)
		for _, v := range f.Values {
			fmt.Fprintf(&b, " %s=%s", v.Property.Name, v.Value.Text)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// messages prints diagnostics one a line, without directories.
func messages(l diag.List, root string) string {
	var b strings.Builder
	for _, d := range l {
		line := d.Error()
		for _, r := range d.Related {
			line += " | " + r.Span.String() + " " + r.Message
		}
		b.WriteString(strings.ReplaceAll(line, root+"/", "") + "\n")
	}
	return b.String()
}

func snapshot(t testing.TB, w *world.World, o world.WriteOptions) string {
	t.Helper()
	var b bytes.Buffer
	if err := world.Write(&b, w, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// golden compares got with a file below testdata, or rewrites it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (run with -update to rewrite):\n%s", file, got)
	}
}
