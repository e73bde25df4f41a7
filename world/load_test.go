package world_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"umwelt/diag"
	"umwelt/registry"
	"umwelt/world"
)

var collections = map[string]string{
	"kit":  "entities:\n- {type: tool, id: Read, classes: [safe], attributes: {level: 2, description: From the kit}}\n- {type: tool, id: Write, attributes: {level: 3}}\n",
	"loop": "require: [loop]\n",
}

func withCollections(o world.Options) world.Options {
	o.Collections = func(name string) (*diag.Source, bool) {
		text, ok := collections[name]
		return &diag.Source{Name: name + ".world.yml", Text: []byte(text)}, ok
	}
	return o
}

// TestLoad holds one world per row: its files, of which w.world.yml is loaded, and the world
// with its diagnostics. Files are read from testdata/load/NAME.txt in the form of a txtar.
func TestLoad(t *testing.T) {
	cases, err := filepath.Glob("testdata/load/*.txt")
	if err != nil || len(cases) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range cases {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			files, want := splitCase(string(text))
			root := writeTree(t, files)
			o := withCollections(options(t, root))
			if strings.HasPrefix(name, "named") {
				o.Name = "ci"
			}
			w, l := world.Load(filepath.Join(root, "w.world.yml"), o)
			got := list(w) + messages(l, root)
			if *update {
				head := strings.SplitAfter(string(text), "-- want --\n")[0]
				if err := os.WriteFile(file, []byte(head+got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != want {
				t.Errorf("got:\n%swant:\n%s", got, want)
			}
			if (w == nil) != l.HasErrors() {
				t.Error("a world comes exactly where there is no error")
			}
		})
	}
}

// splitCase reads "-- name --" sections; the last is "want".
func splitCase(text string) (files map[string]string, want string) {
	files = map[string]string{}
	name := ""
	for line := range strings.SplitAfterSeq(text, "\n") {
		head := strings.TrimSpace(line)
		if strings.HasPrefix(head, "-- ") && strings.HasSuffix(head, " --") {
			name = strings.TrimSpace(head[3 : len(head)-3])
			files[name] = ""
			continue
		}
		files[name] += line
	}
	want = files["want"]
	delete(files, "want")
	delete(files, "")
	for name, text := range files {
		if strings.HasPrefix(text, "-> ") {
			files[name] = strings.TrimSpace(text)
		}
	}
	return files, want
}

func TestImplicit(t *testing.T) {
	root := writeTree(t, map[string]string{"src/a.go": "", "b.md": ""})
	o := options(t, root)
	o.Named = []registry.Entity{
		{Type: "tool", ID: "Bash"},
		{Type: "file", ID: "gone.txt", Attributes: map[string]string{"path": "gone.txt"}},
		{Type: "mount", ID: "/home", Attributes: map[string]string{"path": "/home"}},
		{Type: "world", ID: "ci"},
		{Type: "resource", ID: "resource"},
		{Type: "network", ID: "api.github.com", Attributes: map[string]string{"host": "api.github.com"}},
		{Type: "tool", ID: "Level", Attributes: map[string]string{"level": "99"}},
		{Type: "unheard", ID: "x"},
	}
	w, l := world.Implicit(o)
	if err := l.Err(); err != nil {
		t.Fatal(err)
	}
	want := `world#world explicit
file#b.md < world#world [language=markdown] discovered by filesystem
dir#src < world#world discovered by filesystem
file#src/a.go < dir#src [language=go] discovered by filesystem
mount#/dev < world#world [type=dev] discovered by system
mount#/proc < world#world [type=proc] discovered by system
mount#/tmp < world#world [type=tmpfs] discovered by system
tool#Bash referenced
resource#resource < world#world referenced
network#api.github.com < world#world [host=api.github.com] referenced
`
	if got := list(w); got != want {
		t.Errorf("got:\n%s", got)
	}
}

// A world file is a grant: of what a view names, only what grants nothing comes in.
func TestNamedWithWorldFile(t *testing.T) {
	o := options(t, t.TempDir())
	o.Named = []registry.Entity{
		{Type: "tool", ID: "Bash"},
		{Type: "resource", ID: "resource"},
		{Type: "network", ID: "network"},
		{Type: "source", ID: "other", Attributes: map[string]string{"name": "auth"}},
	}
	o.Declared = []registry.Entity{{Type: "source", ID: "core", Attributes: map[string]string{"root": "src/core"}}}
	w, l := world.LoadText(&diag.Source{Name: "w.world.yml", Text: []byte("entities: [{type: source, id: auth, attributes: {root: src/auth}}]\n")}, "", o)
	if err := l.Err(); err != nil {
		t.Fatal(err)
	}
	want := `world#w explicit
source#auth < world#w [root=src/auth] explicit
source#core < world#w [root=src/core] referenced
resource#resource < world#w referenced
`
	if got := list(w); got != want {
		t.Errorf("got:\n%s", got)
	}
}

func TestAllowOutside(t *testing.T) {
	root := writeTree(t, map[string]string{"project/w.world.yml": "include: [../shared.world.yml]\n", "shared.world.yml": "tools: [Read]\n"})
	o := options(t, root)
	file := filepath.Join(root, "project", "w.world.yml")
	if w, l := world.Load(file, o); w != nil || !strings.Contains(messages(l, root), "lies outside the directory") {
		t.Errorf("an included file outside was read: %v", l)
	}
	o.AllowOutside = true
	w, l := world.Load(file, o)
	if w == nil || w.Find(o.Registry.Type("tool"), "Read") < 0 {
		t.Errorf("the included file was not read: %v", l)
	}
}

// Files that include one another many times over stop at a bound.
func TestIncludeBomb(t *testing.T) {
	files := map[string]string{"f40.world.yml": "tools: [Read]\n"}
	for i := range 40 {
		next := "f" + strconv.Itoa(i+1) + ".world.yml"
		files["f"+strconv.Itoa(i)+".world.yml"] = "include: [" + next + ", " + next + "]\n"
	}
	root := writeTree(t, files)
	w, l := world.Load(filepath.Join(root, "f0.world.yml"), options(t, root))
	if w != nil || len(l) > 5 || !strings.Contains(messages(l, root), "too much is included") {
		t.Errorf("%d diagnostics: %.500s", len(l), messages(l, root))
	}
}

func TestLoadRefusesWhatIsNoFile(t *testing.T) {
	root := t.TempDir()
	fifo := filepath.Join(root, "p.world.yml")
	if err := syscall.Mkfifo(fifo, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{fifo, root, filepath.Join(root, "gone.world.yml")} {
		if w, l := world.Load(file, options(t, root)); w != nil || !l.HasErrors() {
			t.Errorf("%s was loaded", file)
		}
	}
}

// TestIncludeWhateverTheFileIsCalled names one world file in many ways: what it includes is
// found, and stays below the file's own directory, in every one.
func TestIncludeWhateverTheFileIsCalled(t *testing.T) {
	top := writeTree(t, map[string]string{
		"project/w.world.yml":             "include: [base.world.yml, sub/more.world.yml]\n",
		"project/base.world.yml":          "tools: [Read]\n",
		"project/sub/more.world.yml":      "include: [most.world.yml]\n",
		"project/sub/most.world.yml":      "tools: [Edit]\n",
		"project/out.world.yml":           "include: [../secret.world.yml]\n",
		"project/linked.world.yml":        "include: [away.world.yml]\n",
		"project/away.world.yml":          "-> ../secret.world.yml",
		"project/circle.world.yml":        "include: [./sub/../circle.world.yml]\n",
		"project/inward.world.yml":        "include: [sub/link.world.yml]\n",
		"project/sub/link.world.yml":      "-> deep/real.world.yml",
		"project/sub/deep/real.world.yml": "include: [next.world.yml]\n",
		"project/sub/deep/next.world.yml": "tools: [Grep]\n",
		"secret.world.yml":                "tools: [Bash]\n",
		"link":                            "-> project",
		"project/inside":                  "-> .",
	})
	o := options(t, top)
	for _, at := range []struct{ cwd, dir string }{
		{"project", ""}, {"project", "./"}, {"project", "../project/"}, {"project", "inside/"}, {".", "project/"}, {".", "./project//"},
		{".", "link/"}, {"link", ""}, {"project/sub", "../"}, {"project", filepath.Join(top, "project") + "/"}, {".", filepath.Join(top, "link") + "/"},
	} {
		t.Run(at.cwd+" "+strings.TrimPrefix(at.dir, top), func(t *testing.T) {
			t.Chdir(filepath.Join(top, at.cwd))
			w, l := world.Load(at.dir+"w.world.yml", o)
			if err := l.Err(); err != nil {
				t.Fatal(err)
			}
			if got := list(w); !strings.Contains(got, "tool#Read") || !strings.Contains(got, "tool#Edit") {
				t.Errorf("got %s", got)
			}
			if w, l := world.Load(at.dir+"inward.world.yml", o); w == nil || !strings.Contains(list(w), "tool#Grep") {
				t.Errorf("through a link inside: %v", l)
			}
			for file, want := range map[string]string{
				"out.world.yml": "lies outside the directory", "linked.world.yml": "lies outside the directory", "circle.world.yml": "includes itself",
			} {
				if w, l := world.Load(at.dir+file, o); w != nil || !strings.Contains(fmt.Sprint(l), want) {
					t.Errorf("%s: got %v", file, l)
				}
			}
			if !filepath.IsAbs(at.dir) {
				for i := range w.Entities {
					if file := w.Entities[i].Provenance.At.File(); filepath.IsAbs(file) {
						t.Errorf("%s is shown as %s", w.Entities[i].ID, file)
					}
				}
			}
		})
	}
}

// TestWrittenEntitiesAreBounded refuses more entities than a file may write out, before it
// makes any of them.
func TestWrittenEntitiesAreBounded(t *testing.T) {
	reg := vocabulary(t)
	for _, tt := range []struct {
		name  string
		items int
		code  diag.Code
	}{
		{"most", 1 << 18, ""},
		{"one more", 1<<18 + 1, diag.TooLarge},
	} {
		var b strings.Builder
		b.WriteString("tools: [")
		for i := range tt.items {
			fmt.Fprintf(&b, "t%d,", i)
		}
		b.WriteString("]\n")
		w, l := world.LoadText(&diag.Source{Name: "w.world.yml", Text: []byte(b.String())}, "", world.Options{Registry: reg})
		if tt.code == "" && (l.HasErrors() || len(w.Entities) < tt.items) || tt.code != "" && (w != nil || len(l) != 1 || l[0].Code != tt.code) {
			t.Errorf("%s: %v", tt.name, l.Err())
		}
	}
}
