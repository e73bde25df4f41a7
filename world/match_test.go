package world

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"umwelt/ast"
	"umwelt/diag"
	"umwelt/parser"
	"umwelt/registry"
)

// selectors binds a selector list.
func selectors(t testing.TB, reg *registry.Registry, text string) []*registry.Selector {
	t.Helper()
	view, list := parser.Parse(&diag.Source{Name: "test", Text: []byte(text + " {}")})
	if list.HasErrors() {
		t.Fatal(list.Err())
	}
	out, list := reg.BindSelectors(view.Statements[0].(*ast.Rule).Selectors)
	if list.HasErrors() {
		t.Fatal(list.Err())
	}
	return out
}

func TestMatches(t *testing.T) {
	reg := treeRegistry(t)
	entities := tree(t, reg,
		"whole w", "box a parent=0 x", "box a/b parent=1", "box a/b/c parent=2 x", "leaf a/b/c/f.py parent=3 secret level=2",
		"leaf a/README.md parent=1 name=README.md", "part g parent=4 kind=function", "lot near parent=0 root=a/b",
		"leaf \xff\xfe.py", "thing Bash kit=core-tools words=one\u00a0two", "leaf review.strict", "thing review strict")
	tags := Attribute{Name: "tags", Text: "n, w x", List: []string{"n", "w x"}}
	entities[9].Attributes = append(entities[9].Attributes, tags)
	w, err := New(reg, "w", "", entities, nil)
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct{ selector, want string }{
		{"leaf", "a/b/c/f.py a/README.md \xff\xfe.py review.strict"},
		{"box leaf", "a/b/c/f.py a/README.md"},
		{"box > leaf", "a/b/c/f.py a/README.md"},
		{"whole > leaf", "\xff\xfe.py review.strict"},
		{"box > box > box", "a/b/c"},
		{"box.x > box box leaf", "a/b/c/f.py"},
		{"box.x > box > leaf", ""},
		{"box.x > leaf", "a/b/c/f.py a/README.md"},
		// CSS's trap: the nearest ancestor that fits need not be the one that the rest needs.
		{"whole > box leaf", "a/b/c/f.py a/README.md"},
		{"whole > box > box leaf", "a/b/c/f.py"},
		{"lot leaf", "a/b/c/f.py"},
		{"lot part", "g"},
		{"lot > leaf", ""},
		{"whole lot leaf", "a/b/c/f.py"},
		{"box lot leaf", ""},
		{"lot box leaf", "a/b/c/f.py"},
		{"leaf part", "g"},
		{"#README.md", "a/README.md"},
		{"leaf#README.md", "a/README.md"},
		{`leaf#"a/README.md"`, "a/README.md"},
		{`leaf#"./a/README.md"`, "a/README.md"},
		{"leaf#f.py", "a/b/c/f.py"},
		{"leaf[name='f.py']", "a/b/c/f.py"},
		{"leaf.secret#f.py", "a/b/c/f.py"},
		{"#review.strict", "review.strict review"},
		{"thing#review.strict", "review"},
		{"leaf#review.strict", "review.strict"},
		{`#"review.strict"`, "review.strict"},
		{"leaf[path='./a/README.md']", "a/README.md"},
		{"leaf[path^='./a/']", "a/b/c/f.py a/README.md"},
		{"leaf[path^='a/R']", "a/README.md"},
		{"leaf[path$='.py']", "a/b/c/f.py \xff\xfe.py"},
		{"leaf[path*='/b/']", "a/b/c/f.py"},
		{"leaf[path^='']", ""},
		{"leaf[path$='']", ""},
		{"leaf[path*='']", ""},
		{"leaf[path='A/readme.MD' i]", "a/README.md"},
		{"leaf[level]", "a/b/c/f.py"},
		{"leaf[level='2']", "a/b/c/f.py"},
		{"thing[kit|=core]", "Bash"},
		{"thing[kit|='core-tools']", "Bash"},
		{"thing[kit|=tools]", ""},
		{"thing[tags~='w x']", "Bash"},
		{"thing[tags~=w]", ""},
		{"thing[tags~=N i]", "Bash"},
		{"thing[words~=one]", "Bash"},
		{"leaf:glob('**/*.py')", "a/b/c/f.py \xff\xfe.py"},
		{":glob('a/*')", "a/b a/README.md"},
		{"leaf:not(.secret)", "a/README.md \xff\xfe.py review.strict"},
		{"leaf:not(box leaf)", "\xff\xfe.py review.strict"},
		{"leaf:is(.secret, #README.md)", "a/b/c/f.py a/README.md"},
		{"leaf:is(box.x > leaf)", "a/b/c/f.py a/README.md"},
		{"box:has(leaf.secret)", "a a/b a/b/c"},
		{"box:has(> leaf.secret)", "a/b/c"},
		{"box:has(> box leaf)", "a a/b"},
		{"box:has(box > leaf)", "a a/b"},
		{"box:has(> box > leaf)", "a/b"},
		{"lot:has(leaf)", "near"},
		{"whole:has(part)", "w"},
		{"box:not(:has(part))", ""},
		{"box:has(leaf:has(part))", "a a/b a/b/c"},
		{"leaf + leaf", ""},
		{"nosuch leaf", ""},
		{"leaf:not(nosuch)", ""},
		{"leaf:is(nosuch, .secret)", "a/b/c/f.py"},
		{"leaf:nosuch", ""},
	}
	for _, c := range cases {
		for _, sel := range selectors(t, reg, c.selector) {
			var got []string
			for _, i := range w.Select(sel) {
				got = append(got, w.Entities[i].ID)
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("%s: %q, want %q", c.selector, got, c.want)
			}
			for i := range w.Entities {
				if w.Matches(sel, i) != strings.Contains(" "+c.want+" ", " "+w.Entities[i].ID+" ") {
					t.Errorf("%s on %s: Matches disagrees with Select", c.selector, w.Entities[i].ID)
				}
			}
		}
	}
}

// TestMatchesIsNotExponential has chains that backtracking would try in more ways than
// there are atoms.
func TestMatchesIsNotExponential(t *testing.T) {
	reg := treeRegistry(t)
	lines := []string{"whole w"}
	path := ""
	for i := range 200 {
		path += "/d"
		lines = append(lines, "box "+path[1:]+" parent="+strconv.Itoa(i))
	}
	lines = append(lines, "leaf "+path[1:]+"/f parent=200")
	w, err := New(reg, "w", "", tree(t, reg, lines...), nil)
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	for _, text := range []string{
		".no " + strings.Repeat("box ", 150) + "leaf", ".no > " + strings.Repeat("box > box ", 60) + "leaf",
		"leaf" + strings.Repeat(":is(box leaf", 30) + strings.Repeat(")", 30),
	} {
		sel := selectors(t, reg, text)[0]
		if got := w.Select(sel); len(got) > 1 {
			t.Errorf("%.40s fits %d", text, len(got))
		}
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
}
