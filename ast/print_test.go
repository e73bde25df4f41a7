package ast_test

import (
	"bytes"
	"flag"

	"os"
	"path/filepath"
	"strings"
	"testing"

	"umwelt/ast"
	"umwelt/diag"
	"umwelt/parser"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func parse(t *testing.T, text string) *ast.View {
	t.Helper()
	v, diags := parser.Parse(&diag.Source{Name: "v.umw", Text: []byte(text)})
	if err := diags.Err(); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return v
}

func print(t *testing.T, v *ast.View) string {
	t.Helper()
	var b bytes.Buffer
	if err := ast.Print(&b, v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPrint(t *testing.T) {
	long, wide := strings.Repeat("x", 50), strings.Repeat("y", 100)
	tests := []struct{ name, text, want string }{
		{"nothing", " \n ", ""},
		{"one line stays", `a{b:c}`, "a { b: c; }\n"},
		{"several lines stay", "a{b:c;\n}", "a {\n  b: c;\n}\n"},
		{"declarations side by side stay", "a{\n  b:c;d:e;\n\n  f:g }", "a {\n  b: c; d: e;\n\n  f: g;\n}\n"},
		{"one line too wide is broken", "a { " + wide + ": b; c: " + wide + "; }", "a {\n  " + wide + ": b;\n  c: " + wide + ";\n}\n"},
		{"empty block", "a{\n}", "a {}\n"},
		{"rules in a block", "a {\nb { c: d } }", "a {\n  b { c: d; }\n}\n"},
		{"rules in a block on one line", "a{b{c:d}@e f;@g{h{}}}", "a { b { c: d; } @e f; @g { h {} } }\n"},
		{"comments in a block on one line", "a{/*b*/c:d;/*e*/}f{g:h;// i\n}", "a { /*b*/ c: d; /*e*/ }\nf {\n  g: h; // i\n}\n"},
		{"selectors", "a>b  +c,d|e[f='g'i]:H(i):not( j,#k )&{}", "a > b + c, &d|e[f=\"g\" i]:h(\"i\"):not(j, #k) {}\n"},
		{"long selector list", long + "," + long + ",c{}", long + ",\n" + long + ",\nc {}\n"},
		{"ids", "#1.2,#\"a b\",#\\31 23.\\31 4, .\\34 {}", "#1.2, #\"a b\", #123.14, .\\34  {}\n"},
		{"hidden signs", `[a="\202e\1b\7f "] {}`, "[a=\"\\202e \\1b \\7f \"] {}\n"},
		{"flags", "a { b: c ! IMPORTANT }", "a { b: c !important; }\n"},
		{"values as written", "a { b: x  ,y ;c:f( 1,2 ) }", "a { b: x  ,y; c: f( 1,2 ); }\n"},
		{"at-rules", "@a;@b  c , d;@e (f){g:h}@i j.k{}", "@a;\n@b c , d;\n@e(f) { g: h; }\n@i j.k {}\n"},
		{"comments", "# a\n\n\n/* b */c{// d\ne:f; /* g */\n\n// h\n}// i", "# a\n\n/* b */\nc { // d\n  e: f; /* g */\n\n  // h\n} // i\n"},
		{"comments inside", "a /* b */ { c: /* d */ e // f\n }", "/* b */\na {\n  c: e; /* d */ // f\n}\n"},
		{"line ends", "a {\r\n  b: c\r\n    d;\r\n}\r\n/* e\r\n*/", "a {\n  b: c\n    d;\n}\n/* e\n*/\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := print(t, parse(t, tt.text))
			if got != tt.want {
				t.Errorf("%q\n got %q\nwant %q", tt.text, got, tt.want)
			}
			if again := print(t, parse(t, got)); again != got {
				t.Errorf("printed again %q, want %q", again, got)
			}
		})
	}
}

// TestAlign lays out neighbouring lines in columns.
func TestAlign(t *testing.T) {
	far, wide := strings.Repeat("x", 61), strings.Repeat("y", 100)
	tests := []struct{ name, text, want string }{
		{"rules", "a{b:c}\nlong{d:e}", "a    { b: c; }\nlong { d: e; }\n"},
		{"what stood in columns before", "a     {b:c}\nlong  {d:e}", "a    { b: c; }\nlong { d: e; }\n"},
		{"a blank line ends a group", "a{b:c}\nlong{d:e}\n\nf{}\nlonger{}", "a    { b: c; }\nlong { d: e; }\n\nf      {}\nlonger {}\n"},
		{"so does a comment", "a{}\n/* x */\nlong{}", "a {}\n/* x */\nlong {}\n"},
		{"and a block of several lines", "a{}\nbb{\nc:d}\nlong{}", "a {}\nbb {\n  c: d;\n}\nlong {}\n"},
		{"at-rules of a name alone", "@a{b:c}\n@long{d:e}", "@a    { b: c; }\n@long { d: e; }\n"},
		{"at-rules of one name", "@a b{}\n@a longer{}\n@A c{}\n@d e{}", "@a b      {}\n@a longer {}\n@A c      {}\n@d e {}\n"},
		{"rules and at-rules apart", "a{}\n@long{}\n@b;\nlonger{}", "a {}\n@long {}\n@b;\nlonger {}\n"},
		{"within a block", "@l{\na{}\nlong{}}\nb{}\nc1{}", "@l {\n  a    {}\n  long {}\n}\nb  {}\nc1 {}\n"},
		{"wide letters count as one", "ä{}\nbb{}", "ä  {}\nbb {}\n"},
		{"a head of several lines is in no column", "a{}\n" + wide + ",b{}\nlong{}", "a {}\n" + wide + ",\nb {}\nlong {}\n"},
		{"far out keeps out", "a{}\nlong{}\n" + far + "{}", "a    {}\nlong {}\n" + far + " {}\n"},
		{"comments behind lines", "a {} /* b */\nlong { c: d } // e\nf {}\n@g;/* h *//* i */", "a    {}        /* b */\nlong { c: d; } // e\nf    {}\n@g; /* h */ /* i */\n"},
		{"comments behind declarations", "a {// b\nc: d; // e\nlong: f; // g\n}// h", "a { // b\n  c: d;    // e\n  long: f; // g\n} // h\n"},
		{"a comment of two lines is in no column", "a {} /* b\n*/\nlong { c: d } /* e */", "a    {} /* b\n*/\nlong { c: d; } /* e */\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := print(t, parse(t, tt.text))
			if got != tt.want {
				t.Errorf("%q\n got %q\nwant %q", tt.text, got, tt.want)
			}
			if again := print(t, parse(t, got)); again != got {
				t.Errorf("printed again %q, want %q", again, got)
			}
		})
	}
}

// TestPrintBuilt prints nodes that no text stood for, as a rewrite makes them.
func TestPrintBuilt(t *testing.T) {
	d := &ast.Declaration{Property: "a:b", Values: []ast.Value{
		{Kind: ast.String, Text: "x\"\n"},
		{Kind: ast.Function, Text: "f", Args: []ast.Value{{Kind: ast.Number, Text: "2MB"}, {Kind: ast.Words, Text: "y z", Key: "k"}}},
	}}
	r := &ast.Rule{
		Selectors: []*ast.Selector{{Compounds: []*ast.Compound{{Type: "c"}}, Combinators: []ast.Combinator{ast.None}}},
		Block:     &ast.Block{Items: []ast.Node{d}},
	}
	want := "c { a\\:b: \"x\\\"\\n\", f(2MB, k=y z); }\n"
	if got := print(t, &ast.View{Statements: []ast.Node{r}}); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

const sample = `@import "base.umw" layer(base);

// What a fix may touch.
tax|file#a.b[path^="src/" i], file:not(.gen) > node:has(> #"x y") {
  editable: true !locked;
  limit: 1.5h, url(http://x), f(k="v", w); // why
  & + tool {}
}
`

func TestJSONGolden(t *testing.T) {
	var b bytes.Buffer
	if err := ast.WriteJSON(&b, parse(t, sample)); err != nil {
		t.Fatal(err)
	}
	golden(t, "sample.json", b.Bytes())
}

func TestOutlineGolden(t *testing.T) {
	var b bytes.Buffer
	if err := ast.WriteOutline(&b, parse(t, sample+"a { b: \x1b\u202ec; }\n")); err != nil {
		t.Fatal(err)
	}
	golden(t, "sample.outline", b.Bytes())
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; run with -update and look at the change\n%s", path, got)
	}
}

func TestWalk(t *testing.T) {
	v := parse(t, "@a { b { c: d; } e: f; } g:not(h > :is(i)) { j: k; } // l")
	var seen []string
	ast.Walk(v, func(n ast.Node) bool {
		seen = append(seen, strings.Fields(n.Span().Text())[0])
		r, ok := n.(*ast.Rule)
		if ok {
			ast.WalkSelectors(r.Selectors, func(s *ast.Selector) { seen = append(seen, "<"+ast.FormatSelector(s)+">") })
		}
		return !ok || r.Selectors[0].Compounds[0].Type != "b"
	})
	want := "@a b <b> e: g:not(h <g:not(h > :is(i))> <h > :is(i)> <i> j: //"
	if got := strings.Join(seen, " "); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
