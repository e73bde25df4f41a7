//go:build linux && (amd64 || arm64)

package verify

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"umwelt/cascade"
	"umwelt/compilers/confine"
	"umwelt/compilers/confine/confinetest"
	"umwelt/sandbox/runner"
)

// program is the probe, which has to be static: it runs where there is nothing else.
var program string

// The test binary is also what runs first inside of a sandbox.
func TestMain(m *testing.M) {
	runner.Main()
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "umwelt-probe-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		program = filepath.Join(dir, "probe")
		build := exec.Command("go", "build", "-o", program, "./testdata/probe")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "the probe cannot be built: %v\n%s", err, out)
			return 1
		}
		return m.Run()
	}())
}

// need skips, or fails where tools are required, unless a target is here.
func need(t testing.TB, name string) {
	t.Helper()
	list := targets()
	i := slices.IndexFunc(list, func(t target) bool { return t.info.Name == name })
	if i < 0 {
		t.Fatalf("there is no target %s", name)
	}
	if err := list[i].available(); err != nil {
		if os.Getenv("UMWELT_REQUIRE_TOOLS") == "1" {
			t.Fatal(err)
		}
		t.Skip("missing tool: ", err)
	}
}

const discovered = "name: w\ndiscover:\n  - { matcher: filesystem, root: \".\" }\n"

// verifyView verifies a view over a project on disk.
func verifyView(t testing.TB, name, view, worldFile, root string, set map[string]string, tamper func(*confine.Confinement)) (*Report, error) {
	t.Helper()
	load := func(root string) (*cascade.Resolution, error) {
		return confinetest.Resolve(t, view, worldFile, root), nil
	}
	res, _ := load(root)
	o := Options{Target: name, Set: set, Program: program, Environ: append(os.Environ(), "UMWELT_TEST_SECRET=s3cret"), Load: load, tamper: tamper}
	return Run(o, res)
}

// well fails the test unless the sandbox did what the view says.
func well(t testing.TB, r *Report) {
	t.Helper()
	for _, f := range r.FalseAllows {
		t.Errorf("%s: false allow: %s %q: %s (%s)", r.Target, f.Do, f.Path, f.Got, f.Policy)
	}
	for _, f := range r.FalseDenies {
		t.Errorf("%s: false deny: %s %q: %s (%s)", r.Target, f.Do, f.Path, f.Got, f.Policy)
	}
}

// plant makes a tree on disk. Every file holds its own path, and some can be run.
func plant(t testing.TB, root string, tree *confine.Node) {
	t.Helper()
	n := 0
	confinetest.Walk(tree, func(path string, node *confine.Node) {
		at := filepath.Join(root, path)
		var err error
		n++
		switch node.Kind {
		case confine.Dir:
			err = os.MkdirAll(at, 0o755)
		case confine.File:
			err = os.WriteFile(at, []byte("content of "+path), []os.FileMode{0o644, 0o755, 0o600}[n%3])
		case confine.Symlink:
			err = os.Symlink(node.Target, at)
		case confine.Special:
			err = unix.Mkfifo(at, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	})
}

// cssString is a string of the view language for any text in UTF-8.
func cssString(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r >= 'a' && r <= 'z' || r == '/' || r == '.' {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\%x `, r)
		}
	}
	return `"` + b.String() + `"`
}

// drawView makes rules about the paths of a tree, and about names that are not there yet.
func drawView(t *rapid.T, tree *confine.Node) string {
	paths := []string{"", "new", "umwelt", ".umwelt"}
	confinetest.Walk(tree, func(path string, n *confine.Node) {
		if path != "." && utf8.ValidString(path) {
			paths = append(paths, path, path)
			if begin := path[:len(path)/2+1]; !strings.HasSuffix(begin, ".") {
				paths = append(paths, begin)
			}
		}
	})
	var b strings.Builder
	rule := func(selector, property string, value bool, flag string) {
		fmt.Fprintf(&b, "%s { %s: %v%s }\n", selector, property, value, flag)
	}
	// Most views begin with something wide, so that there is something to take away.
	if start := rapid.SampledFrom([]string{"", "visible", "editable", "editable"}).Draw(t, "start"); start != "" {
		rule("file", start, true, "")
	}
	for range rapid.IntRange(0, 7).Draw(t, "rules") {
		path := rapid.SampledFrom(paths).Draw(t, "path")
		if !utf8.ValidString(path) {
			continue
		}
		q := cssString(path)
		selector := rapid.SampledFrom([]string{
			`file[path^=` + q + `]`, `file[path^=` + cssString(path+"/") + `]`, `file[path=` + q + `]`, `file[path=` + q + `]`, `file[path$=` + q + `]`,
			`file[name=` + cssString(filepath.Base(path)) + `]`, `dir[path=` + q + `] file`, `dir[path=` + q + `] > file`, `dir[path=` + q + `]`,
			`file[kind="symlink"]`, `file:not([path^=` + q + `])`, `dir`, `*`, `file:glob("**/*.md")`, `use[of-like=` + q + `]`,
		}).Draw(t, "selector")
		property := rapid.SampledFrom([]string{"editable", "editable", "visible"}).Draw(t, "property")
		rule(selector, property, rapid.Bool().Draw(t, "value"), rapid.SampledFrom([]string{"", "", "", " !important"}).Draw(t, "flag"))
	}
	if rapid.IntRange(0, 3).Draw(t, "env") == 0 {
		b.WriteString("env[name=\"CI\"] { allow: true }\nenv[name=\"TOKEN\"] { allow: true; value: \"fixed\" }\n")
	}
	return b.String()
}

// drawn is one random project and view.
type drawn struct {
	tree *confine.Node
	view string
}

func draw(names []string) *rapid.Generator[drawn] {
	return rapid.Custom(func(t *rapid.T) drawn {
		// Trees of trees, since one alone is often small.
		tree := confinetest.Draw(t, names, 12)
		for _, name := range []string{"deep", "deeper", "other tree"}[:rapid.IntRange(0, 3).Draw(t, "trees")] {
			if !slices.ContainsFunc(tree.Children, func(n *confine.Node) bool { return n.Name == name }) {
				below := confinetest.Draw(t, names, 12)
				below.Name = name
				tree.Children = append(tree.Children, below)
			}
		}
		slices.SortFunc(tree.Children, func(a, b *confine.Node) int { return strings.Compare(a.Name, b.Name) })
		return drawn{tree, drawView(t, tree)}
	})
}

// cases is how many random cases there are: a few, or what UMWELT_VERIFY_CASES says.
func cases(t testing.TB, few int) int {
	text := os.Getenv("UMWELT_VERIFY_CASES")
	if text == "" {
		return few
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// sayable are the odd names that every target takes, with some that have an extension.
func sayable() []string {
	names := []string{"a.md", "b.py", ".md"}
	for _, n := range confinetest.Odd {
		if utf8.ValidString(n) {
			names = append(names, n)
		}
	}
	return names
}

// Whatever the tree, the names and the rules: the sandbox does what the policy says, also
// with what is made, moved and removed after it started.
func TestRandom(t *testing.T) {
	for _, tt := range []struct {
		target string
		few    int
		names  []string
	}{
		{"bwrap", 8, confinetest.Odd}, {"landlock", 8, confinetest.Odd}, {"podman", 4, sayable()},
	} {
		t.Run(tt.target, func(t *testing.T) {
			need(t, tt.target)
			base := t.TempDir()
			probes := 0
			for i := range cases(t, tt.few) {
				d := draw(tt.names).Example(i)
				root := filepath.Join(base, fmt.Sprint(i), "pro ject")
				plant(t, root, d.tree)
				r, err := verifyView(t, tt.target, d.view, discovered+"env: [CI, TOKEN, OTHER]\n", root, nil, nil)
				if err != nil {
					t.Fatalf("case %d: %v\n%s", i, err, d.view)
				}
				if probes += r.Probes; !r.Well() {
					well(t, r)
					t.Errorf("case %d, view\n%stree\n%s", i, d.view, listing(d.tree))
				}
			}
			t.Logf("%d probes", probes)
		})
	}
}

func listing(tree *confine.Node) string {
	var b strings.Builder
	confinetest.Walk(tree, func(path string, n *confine.Node) {
		fmt.Fprintf(&b, "%q kind %d %q\n", path, n.Kind, n.Target)
	})
	return b.String()
}
