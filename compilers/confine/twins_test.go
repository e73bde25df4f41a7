package confine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"umwelt/compilers/confine"
	"umwelt/compilers/confine/confinetest"
)

// linked makes a project in which some files have several names.
func linked(t *testing.T, links map[string]string, files ...string) string {
	t.Helper()
	root := t.TempDir()
	at := func(name string) string {
		full := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		return full
	}
	for _, f := range files {
		if err := os.WriteFile(at(f), []byte("content of "+f), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for to, from := range links {
		if err := os.Link(at(from), at(to)); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// One file has one mode, whatever its names are.
func TestNamesOfOneFile(t *testing.T) {
	root := linked(t, map[string]string{"out/key": "keys/key", "out/lock": "src/lock", "out/same": "out/f", "src/twice": "out/g", "out/env": "left/.env"},
		"keys/key", "src/lock", "out/f", "out/g", "out/free", "left/.env")
	res := confinetest.Resolve(t, `file { visible: true }
file[path^="out/"] { editable: true }
file[path^="keys/"] { visible: false }
`, "name: w\ndiscover:\n  - { matcher: filesystem, exclude: [left] }\n", root)
	c, problems := confine.From(res)
	if problems.HasErrors() {
		t.Fatal(problems.Err())
	}
	got := map[string]confine.Mode{}
	confinetest.Walk(c.Tree, func(at string, n *confine.Node) { got[at] = n.Mode })
	for path, want := range map[string]confine.Mode{
		"keys/key": confine.Hidden, "out/key": confine.Hidden, "src/lock": confine.ReadOnly, "out/lock": confine.ReadOnly, "out/f": confine.ReadWrite,
		"out/same": confine.ReadWrite, "out/g": confine.ReadOnly, "src/twice": confine.ReadOnly, "out/free": confine.ReadWrite, "out": confine.ReadWrite,
		// What a directory that is left out holds was not looked at.
		"out/env": confine.ReadWrite,
	} {
		if got[path] != want {
			t.Errorf("%s is %s, want %s", path, got[path], want)
		}
	}
	var notes []string
	for _, n := range c.Notes {
		if strings.HasPrefix(n.Why, "another name of the same file") {
			notes = append(notes, n.Why)
		}
	}
	if text := strings.Join(notes, "\n"); len(notes) != 1 || !strings.HasSuffix(text, ": out/g, out/key, out/lock") {
		t.Errorf("notes %q", notes)
	}
	if changed := c.Protect("out/f"); strings.Join(changed, " ") != "out/f out/same" {
		t.Errorf("protected %v", changed)
	}
}
