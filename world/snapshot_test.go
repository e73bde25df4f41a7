package world_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"umwelt/diag"
	"umwelt/registry"
	"umwelt/world"
)

const snapshotWorld = `name: dev
tools: [Read, "no", "a: b"]
resources: {memory: 512MB}
discover: [{matcher: filesystem}]
projections: [{type: dir, id: node_modules}]
entities:
- {type: tool, id: Bash, classes: [dangerous, "on"], attributes: {level: 4, effect: [b, a], description: "x\ny\u202e #", note: [p, "1e3"]}}
- {type: dir, id: dev}
- {type: file, id: dev/f, parent: {type: world, id: dev}}
overrides: {'file#"src/a.py"': {classes: [critical]}}
fixed:
  "network": {deny: ["*", "a, b"]}
  "*": {visible: false}
  "tool, tool.dangerous": {max-level: 3}
`

func snapshotSource(t testing.TB) *world.World {
	root := writeTree(t, map[string]string{"src/a.py": "", "src/l": "-> /etc", "b'\"\n.md": "", "node_modules/x/y.js": "", "bad\xff\xfe.go": "", "no": "", " lead": ""})
	w, l := world.LoadText(&diag.Source{Name: "dev.world.yml", Text: []byte(snapshotWorld)}, "", options(t, root))
	if err := l.Err(); err != nil {
		t.Fatal(err)
	}
	return w
}

func TestWriteLevels(t *testing.T) {
	w := snapshotSource(t)
	for _, level := range []world.Level{world.Summary, world.Outline, world.Full} {
		for _, json := range []bool{false, true} {
			o := world.WriteOptions{Level: level, JSON: json, Source: "dev.world.yml", Version: "umwelt test", Time: "2026-11-30T00:00:00Z"}
			name := "snapshot-" + level.String() + map[bool]string{false: ".yml", true: ".json"}[json]
			golden(t, name, snapshot(t, w, o))
		}
	}
}

// reload loads a full snapshot in either format.
func reload(t testing.TB, w *world.World, json bool) *world.World {
	t.Helper()
	text := snapshot(t, w, world.WriteOptions{Level: world.Full, JSON: json, Source: "s"})
	again, l := world.LoadText(&diag.Source{Name: "snapshot.world.yml", Text: []byte(text)}, "", world.Options{Registry: w.Registry})
	if err := l.Err(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if altered(l) != 0 {
		t.Errorf("an untouched snapshot is said to be changed: %v", l)
	}
	return again
}

func altered(l diag.List) int {
	n := 0
	for _, d := range l {
		if d.Code == diag.Altered {
			n++
		}
	}
	return n
}

// TestAlteredSnapshot changes a snapshot by hand, which is said; what a view adds to its world
// is no change of it.
func TestAlteredSnapshot(t *testing.T) {
	w := snapshotSource(t)
	text := snapshot(t, w, world.WriteOptions{Level: world.Full})
	named := world.Options{Registry: w.Registry, Named: []registry.Entity{{Type: "tool", ID: "Unheard"}}, Declared: []registry.Entity{{Type: "tool", ID: "Other"}}}
	for _, tt := range []struct {
		name, old, new string
		warnings       int
	}{
		{"untouched", "", "", 0},
		{"another class", "[critical]", "[harmless]", 1},
		{"another entity", "entities:\n", "entities:\n- type: tool\n  id: Sneaked\n", 2},
		{"counts alone", "digest: ", "was: ", 0},
	} {
		for _, o := range []world.Options{{Registry: w.Registry}, named} {
			changed := strings.Replace(text, tt.old, tt.new, 1)
			if tt.old != "" && changed == text {
				t.Fatalf("%s: there is no %q in:\n%s", tt.name, tt.old, text)
			}
			_, l := world.LoadText(&diag.Source{Name: "snapshot.world.yml", Text: []byte(changed)}, "", o)
			if err := l.Err(); err != nil {
				t.Fatalf("%s: %v", tt.name, err)
			}
			if got := altered(l); got != tt.warnings {
				t.Errorf("%s, %d named: %d warnings: %v", tt.name, len(o.Named), got, l)
			}
		}
	}
}

func sameWorld(t testing.TB, w, again *world.World) {
	t.Helper()
	if w.Registry != again.Registry {
		t.Fatal("two registries")
	}
	if a, b := list(w), list(again); a != b {
		t.Errorf("the snapshot makes another world:\n%s\nwas:\n%s", b, a)
	}
	if a, b := w.Digest(), again.Digest(); a != b {
		t.Errorf("digest %s became %s", a, b)
	}
	if a, b := snapshot(t, w, world.WriteOptions{Level: world.Full}), snapshot(t, again, world.WriteOptions{Level: world.Full}); a != b {
		t.Errorf("the snapshot of the snapshot differs:\n%s\nwas:\n%s", b, a)
	}
	if c := world.Diff(w, again); len(c) > 0 {
		t.Errorf("differences: %v", c)
	}
}

func TestSnapshotRoundTrip(t *testing.T) {
	w := snapshotSource(t)
	for _, json := range []bool{false, true} {
		sameWorld(t, w, reload(t, w, json))
	}
}

// Any text that a file system or an author can produce survives a snapshot.
func TestSnapshotRoundTripProperty(t *testing.T) {
	reg := vocabulary(t)
	alphabet := []string{"a", "no", "on", "1e3", ":", " ", "\n", "\t", "\r", "'", "\"", "\\", "#", "-", "?", "!", "&", "*", "{", "}", "[", "]", ",", "%", "@", "`", "|", ">", "~", "null", "<<", "=", "\x01", "\x7f", "\u0085", "\u2028", "\ufeff", "\u202e", "\xff", "é", "𝄞", "\ufffd", "${X}", "{{x}}"}
	word := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(alphabet), 1, 5).Draw(t, "parts"), "")
	})
	rapid.Check(t, func(r *rapid.T) {
		tool, file := reg.Type("tool"), reg.Type("file")
		seen := map[string]bool{}
		var entities []world.Entity
		for _, id := range rapid.SliceOfN(word, 0, 8).Draw(r, "ids") {
			if seen[id] {
				continue
			}
			seen[id] = true
			e := world.Entity{Type: tool, ID: id, Parent: world.NoParent, Provenance: world.Provenance{Origin: world.Origin(rapid.IntRange(0, 4).Draw(r, "origin"))}}
			if rapid.Bool().Draw(r, "file") && id != "." && id != ".." {
				e.Type = file
			}
			e.Classes = nil
			for _, c := range rapid.SliceOfN(word, 0, 2).Draw(r, "classes") {
				if !e.HasClass(c) {
					e.Classes = append(e.Classes, c)
				}
			}
			e.Attributes = world.Complete(e.Type, id, []world.Attribute{{Name: "x", Text: word.Draw(r, "text")}, {Name: "description", Text: rapid.SampledFrom([]string{"", "~", "d"}).Draw(r, "description")}})
			if e.Type == file {
				for i := range e.Attributes {
					if e.Attributes[i].Name == "path" {
						e.Attributes[i].Text = "d/" + id
					}
				}
			}
			entities = append(entities, e)
		}
		entities = append([]world.Entity{{Type: reg.Type("world"), ID: "w", Parent: world.NoParent, Attributes: []world.Attribute{{Name: "name", Text: "w"}}}}, entities...)
		w, err := world.New(reg, "w", "", entities, nil)
		if err != nil {
			r.Fatal(err)
		}
		for _, json := range []bool{false, true} {
			text := snapshot(t, w, world.WriteOptions{Level: world.Full, JSON: json})
			again, l := world.LoadText(&diag.Source{Name: "s.world.yml", Text: []byte(text)}, "", world.Options{Registry: reg})
			if err := l.Err(); err != nil {
				r.Fatalf("%v\n%s", err, text)
			}
			if a, b := list(w), list(again); a != b || w.Digest() != again.Digest() {
				r.Fatalf("%s\nbecame\n%s\nby\n%s", a, b, text)
			}
		}
	})
}

func TestDiff(t *testing.T) {
	o := options(t, "")
	load := func(text string) *world.World {
		w, l := world.LoadText(&diag.Source{Name: "w.world.yml", Text: []byte(text)}, "", o)
		if err := l.Err(); err != nil {
			t.Fatal(err)
		}
		return w
	}
	a := load("tools: [Read, Bash]\nmodes: [a]\nentities: [{type: file, id: x, classes: [k]}]\nfixed: {tool: {max-level: 1}, network: {allow: false}}\n")
	b := load("tools: [Read, Edit]\nmodes: [a]\nentities: [{type: dir, id: d}, {type: file, id: x, parent: d, attributes: {size: 1KB}}]\nfixed: {tool: {max-level: 2}}\n")
	var out strings.Builder
	for _, c := range world.Diff(a, b) {
		name := "fixed"
		if c.Type != nil {
			name = c.Type.Name
		}
		fmt.Fprintf(&out, "%s %s %s %v\n", c.Kind, name, c.ID, c.Fields)
	}
	want := `removed tool Bash []
changed file x [{(classes) k  true false} {(parent) world#w dir#d true true} {size  1KB false true}]
added tool Edit []
added dir d []
changed fixed tool [{max-level 1 2 true true}]
removed fixed network []
`
	if out.String() != want {
		t.Errorf("got:\n%s", out.String())
	}
	if len(world.Diff(a, a)) != 0 {
		t.Error("a world differs from itself")
	}
}

// The bounds hold: hostile text is refused in short time.
func TestBounds(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'z'; c++ {
		bomb += fmt.Sprintf("%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n", c, c, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1)
	}
	var unknown strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&unknown, "key%d: x\n", i)
	}
	rows := []struct {
		name, text string
		code       diag.Code
	}{
		{"alias bomb", bomb, diag.TooLarge},
		{"alias in its anchor", "entities: &a [*a]\n", diag.YAML},
		{"deep flow", "entities: " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000), diag.TooDeep},
		{"16 MiB of {", strings.Repeat("{", 16<<20), diag.TooDeep},
		{"deep block", "a:\n" + strings.Repeat("- ", 9000) + "x\n", diag.TooDeep},
		{"too large", strings.Repeat("# comment\n", 1_700_000), diag.TooLarge},
		{"too many values", "a: [" + strings.Repeat("x,", 8<<19) + strings.Repeat("\n", 8<<19) + "]", diag.TooLarge},
		{"unknown keys", unknown.String(), diag.TooLarge},
		{"NUL", "name: a\x00b\n", diag.Encoding},
		{"not UTF-8", "name: a\xffb\n", diag.Encoding},
		{"tag", "name: !!python/object:os.system x\n", diag.YAML},
		{"key is a map", "{a: b}: c\n", diag.YAML},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			w, l := world.LoadText(&diag.Source{Name: "w.world.yml", Text: []byte(r.text)}, "", options(t, ""))
			if w != nil || !l.HasErrors() {
				t.Fatal("it was loaded")
			}
			for _, d := range l {
				if d.Code == r.code {
					return
				}
			}
			t.Errorf("no %s among: %.2000s", r.code, messages(l, ""))
		})
	}
}

func FuzzLoadText(f *testing.F) {
	f.Add([]byte(snapshotWorld))
	cases, _ := filepath.Glob("testdata/load/*.txt")
	for _, file := range cases {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		files, _ := splitCase(string(text))
		f.Add([]byte(files["w.world.yml"]))
	}
	o := options(f, "")
	o.Matchers = nil
	f.Fuzz(func(t *testing.T, text []byte) {
		w, l := world.LoadText(&diag.Source{Name: "w.world.yml", Text: text}, "", o)
		if (w == nil) != l.HasErrors() {
			t.Fatalf("world %v with %v", w != nil, l)
		}
		if w == nil {
			return
		}
		full := snapshot(t, w, world.WriteOptions{Level: world.Full})
		again, l := world.LoadText(&diag.Source{Name: "s.world.yml", Text: []byte(full)}, "", o)
		if again == nil {
			t.Fatalf("the snapshot cannot be loaded: %v\n%s", l, full)
		}
		if w.Digest() != again.Digest() {
			t.Fatalf("another digest:\n%s", full)
		}
	})
}
