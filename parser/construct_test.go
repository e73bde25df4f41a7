package parser

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"umwelt/ast"
	"umwelt/diag"
)

// TestConstructs gives each construct of the language and the tree it makes.
func TestConstructs(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"empty", " \n", ""},
		{"byte order mark", "\ufeff# note\r\na {}\r\n", "comment \"# note\" trailing=false blank=false\nrule blank=false {\"a\"}\n"},
		{"types", "a, *, t|a, t|* {}", `rule blank=false {"a"} {"*"} {"t"|"a"} {"t"|"*"}`},
		{"combinators", "a b>c + d ~ e {}", `rule blank=false {"a" " " "b" ">" "c" "+" "d" "~" "e"}`},
		{"id and class", "a#b.c {}", `rule blank=false {"a"(0 "b")(1 "c")}`},
		{"id like a file name", "#README.md {}", `rule blank=false {""(0 "README")(1 "md")}`},
		{"id of digits", "#123, #v1.2.3, #1.2-3.-4 {}", `rule blank=false {""(0 "123")} {""(0 "v1")(1 "2")(1 "3")} {""(0 "1")(1 "2-3")(1 "-4")}`},
		{"quoted id", `a#"b c.d" {}`, `rule blank=false {"a"(0 "b c.d" quoted)}`},
		{"escapes in names", `\61 b\:c#\31.\2e x {}`, `rule blank=false {"ab:c"(0 "1")(1 ".x")}`},
		{"attributes", `[a][b=c][d^="e"][f$='g' i][h*=2][i~=j S][k|="l"] {}`,
			`rule blank=false {""(2 "a")(2 "b" = "c")(2 "d" ^= "e")(2 "f" $= "g" i)(2 "h" *= "2")(2 "i" ~= "j" s)(2 "k" |= "l")}`},
		{"attribute with blanks", `a[ b = "c" ] {}`, `rule blank=false {"a"(2 "b" = "c")}`},
		{"pseudo-class", `a:B, :glob("src/**"), :p(2n + 1) {}`, `rule blank=false {"a"(3 "b")} {""(3 "glob" arg "src/**")} {""(3 "p" arg "2n + 1")}`},
		{"pseudo-class of selectors", `:not(a, #b) :has(> c, d) {}`,
			`rule blank=false {""(3 "not" arg "" {"a"} {""(0 "b")}) " " ""(3 "has" arg "" { ">" "c"} {"d"})}`},
		{"nesting", "a { &.b { } > c { } d { } }", "rule blank=false {\"a\"}\n  rule blank=false {&\"\"(1 \"b\")}\n  rule blank=false { \">\" \"c\"}\n  rule blank=false {\"d\"}\n"},
		{"parent behind", "a { .b& {} &c {} }", "rule blank=false {\"a\"}\n  rule blank=false {&\"\"(1 \"b\")}\n  rule blank=false {&\"c\"}\n"},
		{"nested type with pseudo-class", "a { b:c {} d:e; }", "rule blank=false {\"a\"}\n  rule blank=false {\"b\"(3 \"c\")}\n  decl \"d\" \"e\" <words \"e\" raw=\"e\"> flag=\"\" label=\"\" blank=false\n"},
		{"word", "a { b: true }", decl("b", `"true" <words "true" raw="true">`)},
		{"string", `a { b: "c\"\n\t\41  d\
e" }`, decl("b", `"\"c\\\"\\n\\t\\41  d\\\ne\"" <string "c\"\n\tA de" raw="\"c\\\"\\n\\t\\41  d\\\ne\"">`)},
		{"numbers", "a { b: 512MB, 1.5h, 50%, -4, 1e3 }",
			decl("b", `"512MB, 1.5h, 50%, -4, 1e3" <number "512MB" raw="512MB" 512 "MB"> <number "1.5h" raw="1.5h" 1.5 "h"> <number "50%" raw="50%" 50 "%"> <number "-4" raw="-4" -4 ""> <number "1e3" raw="1e3" 1000 "">`)},
		{"version is words", "a { b: 1.2.3 }", decl("b", `"1.2.3" <words "1.2.3" raw="1.2.3">`)},
		{"range is words", "a { b: 0 8 }", decl("b", `"0 8" <words "0 8" raw="0 8">`)},
		{"functions", `a { b: ENUM(c, d), f(), (g) }`,
			decl("b", `"ENUM(c, d), f(), (g)" <function "enum" raw="ENUM(c, d)" <words "c" raw="c"> <words "d" raw="d">> <function "f" raw="f()"> <function "" raw="(g)" <words "g" raw="g">>`)},
		{"keyed arguments", `a { b: f(k="v", l=2, m == n) }`,
			decl("b", `"f(k=\"v\", l=2, m == n)" <function "f" raw="f(k=\"v\", l=2, m == n)" <string key="k" "v" raw="\"v\""> <number key="l" "2" raw="2" 2 ""> <words "m == n" raw="m == n">>`)},
		{"address", `a { b: url(http://x/y;z); c: url( "q" ) }`,
			decl("b", `"url(http://x/y;z)" <function "url" raw="url(http://x/y;z)" <words "http://x/y;z" raw="http://x/y;z">>`) +
				strings.TrimPrefix(decl("c", `"url( \"q\" )" <function "url" raw="url( \"q\" )" <string "q" raw="\"q\"">>`), "rule blank=false {\"a\"}\n")},
		{"function in a run of words", "a { b: list of enum(c, d) }", decl("b", `"list of enum(c, d)" <words "list of enum(c, d)" raw="list of enum(c, d)">`)},
		{"bracket list", "a { b: [Read, Edit] }", decl("b", `"[Read, Edit]" <words "[Read, Edit]" raw="[Read, Edit]">`)},
		{"command", `a { run: pytest  tests/auth/ -x --k='a  b' | tee "c;d" && echo $X @y * <= >2 !z }`,
			`rule blank=false {"a"}` + "\n" + `  decl "run" "pytest  tests/auth/ -x --k='a  b' | tee \"c;d\" && echo $X @y * <= >2" <words "pytest tests/auth/ -x --k='a  b' | tee \"c;d\" && echo $X @y * <= >2" raw="pytest  tests/auth/ -x --k='a  b' | tee \"c;d\" && echo $X @y * <= >2"> flag="z" label="" blank=false` + "\n"},
		{"semicolon in parentheses", "a { run: (cd x; make); }", decl("run", `"(cd x; make)" <function "" raw="(cd x; make)" <words "cd x; make" raw="cd x; make">>`)},
		{"flag", "a { b: c !Important; d: e ! locked }", "rule blank=false {\"a\"}\n  decl \"b\" \"c\" <words \"c\" raw=\"c\"> flag=\"important\" label=\"\" blank=false\n  decl \"d\" \"e\" <words \"e\" raw=\"e\"> flag=\"locked\" label=\"\" blank=false\n"},
		{"at-rule with a list", "@layer a, b;", `at "layer" "a, b" <words "a" raw="a"> <words "b" raw="b"> blank=false block=false`},
		{"at-rule with a block", `@source("src/auth") { b: c; }`,
			"at \"source\" \"(\\\"src/auth\\\")\" <function \"\" raw=\"(\\\"src/auth\\\")\" <string \"src/auth\" raw=\"\\\"src/auth\\\"\">> blank=false block=true\n  decl \"b\" \"c\" <words \"c\" raw=\"c\"> flag=\"\" label=\"\" blank=false\n"},
		{"import", `@import "x" layer(y);`, `at "import" "\"x\" layer(y)" <words "\"x\" layer(y)" raw="\"x\" layer(y)"> blank=false block=false`},
		{"prelude with a dot", "@property a.b-c {}", `at "property" "a.b-c" <words "a.b-c" raw="a.b-c"> blank=false block=true`},
		{"comment in a value", "a { b: c /* d */ e; }", "rule blank=false {\"a\"}\n  decl \"b\" \"c e\" <words \"c e\" raw=\"c e\"> flag=\"\" label=\"\" blank=false\n  comment \"/* d */\" trailing=true blank=false\n"},
		{"comment in a selector", "a /* b */, c {}", "comment \"/* b */\" trailing=false blank=false\nrule blank=false {\"a\"} {\"c\"}\n"},
		{"comments", "a { // b\n  c: d; // e\n\n  # f\n  /* g */ }\n# h", "rule blank=false {\"a\"}\n  comment \"// b\" trailing=true blank=false\n  decl \"c\" \"d\" <words \"d\" raw=\"d\"> flag=\"\" label=\"\" blank=false\n  comment \"// e\" trailing=true blank=false\n  comment \"# f\" trailing=false blank=true\n  comment \"/* g */\" trailing=false blank=false\ncomment \"# h\" trailing=false blank=false\n"},
		{"hash comment only first on its line", "#!x\na #b {}", "comment \"#!x\" trailing=false blank=false\nrule blank=false {\"a\" \" \" \"\"(0 \"b\")}\n"},
		{"stray semicolons", ";a { ; b: c;; };", decl("b", `"c" <words "c" raw="c">`)},
		{"blank lines", "\n\na {}\n\n\nb {\n\n}\nc {}", "rule blank=false {\"a\"}\nrule blank=true {\"b\"}\nrule blank=false {\"c\"}\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := mustParse(t, tt.text)
			want := tt.want
			if want != "" && !strings.HasSuffix(want, "\n") {
				want += "\n"
			}
			if got := dump(v); got != want {
				t.Errorf("%q\n got %s\nwant %s", tt.text, got, want)
			}
			checkSpans(t, v)
			checkRoundTrip(t, v)
		})
	}
}

// decl is the dump of "a { property: … }".
func decl(property, value string) string {
	return "rule blank=false {\"a\"}\n  decl \"" + property + "\" " + value + " flag=\"\" label=\"\" blank=false\n"
}

// TestPositions pins where the parts of a tree stand. Columns count code points.
func TestPositions(t *testing.T) {
	text := "// é\r\n\tt|fïle#x.y[a=\"ü\"]:not(b) > c,\nd {\r\n  prop: \"ö\", 12MB !locked; x: f(k=1)\n}\n@at pre lude;"
	v := mustParse(t, text)
	r := v.Statements[1].(*ast.Rule)
	s := r.Selectors[0]
	d := r.Block.Items[0].(*ast.Declaration)
	x := r.Block.Items[1].(*ast.Declaration)
	at := v.Statements[2].(*ast.AtRule)
	tests := []struct {
		what string
		at   diag.Span
		from [3]int32 // line, column, offset
		text string
	}{
		{"comment", v.Statements[0].Span(), [3]int32{1, 1, 0}, "// é"},
		{"selector", s.At, [3]int32{2, 2, 8}, "t|fïle#x.y[a=\"ü\"]:not(b) > c"},
		{"compound", s.Compounds[1].At, [3]int32{2, 29, 37}, "c"},
		{"type", s.Compounds[0].TypeAt, [3]int32{2, 2, 8}, "t|fïle"},
		{"id", s.Compounds[0].Simples[0].At, [3]int32{2, 8, 15}, "#x"},
		{"class", s.Compounds[0].Simples[1].At, [3]int32{2, 10, 17}, ".y"},
		{"attribute", s.Compounds[0].Simples[2].At, [3]int32{2, 12, 19}, "[a=\"ü\"]"},
		{"pseudo-class", s.Compounds[0].Simples[3].At, [3]int32{2, 19, 27}, ":not(b)"},
		{"inner selector", s.Compounds[0].Simples[3].Selectors[0].At, [3]int32{2, 24, 32}, "b"},
		{"second selector", r.Selectors[1].At, [3]int32{3, 1, 40}, "d"},
		{"block", r.Block.At, [3]int32{3, 3, 42}, text[42 : strings.Index(text, "}")+1]},
		{"declaration", d.At, [3]int32{4, 3, 47}, "prop: \"ö\", 12MB !locked;"},
		{"property", d.PropertyAt, [3]int32{4, 3, 47}, "prop"},
		{"values", d.ValueAt, [3]int32{4, 9, 53}, "\"ö\", 12MB"},
		{"second value", d.Values[1].At, [3]int32{4, 14, 59}, "12MB"},
		{"flag", d.FlagAt, [3]int32{4, 19, 64}, "!locked"},
		{"declaration without semicolon", x.At, [3]int32{4, 28, 73}, "x: f(k=1)"},
		{"keyed argument", x.Values[0].Args[0].At, [3]int32{4, 35, 80}, "1"},
		{"at-rule", at.At, [3]int32{6, 1, 85}, "@at pre lude;"},
		{"name", at.NameAt, [3]int32{6, 1, 85}, "@at"},
		{"prelude", at.Prelude.At, [3]int32{6, 5, 89}, "pre lude"},
	}
	for _, tt := range tests {
		start := tt.at.Start
		if got := [3]int32{start.Line, start.Column, start.Offset}; got != tt.from || tt.at.Text() != tt.text {
			t.Errorf("%s: at %v %q, want %v %q", tt.what, got, tt.at.Text(), tt.from, tt.text)
		}
	}
	checkSpans(t, v)
}

// TestShippedFiles reads every view and vocabulary of the project.
func TestShippedFiles(t *testing.T) {
	n := 0
	err := filepath.WalkDir("..", func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".umw") || strings.Contains(path, "broken") || strings.Contains(path, "hostile") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		n++
		v := mustParse(t, string(text))
		checkSpans(t, v)
		checkRoundTrip(t, v)
		return nil
	})
	if err != nil || n == 0 {
		t.Fatalf("%d files read: %v", n, err)
	}
}

func TestParseSelectors(t *testing.T) {
	tests := []struct{ text, want string }{
		{"a#b, c > d", `{"a"(0 "b")} {"c" ">" "d"}`},
		{" /* x */ a // y", `{"a"}`},
		{"", "1:1 syntax\n"},
		{"a,", "1:3 syntax\n"},
		{"> a", "1:1 syntax\n"},
		{"a { b", "1:3 syntax\n"},
		{"a; b", "1:2 syntax\n"},
		{"a}", "1:2 syntax\n"},
		{"a[b", "1:2 syntax\n"},
		{"a\x00", "1:2 encoding\n1:2 syntax\n"},
	}
	for _, tt := range tests {
		sels, diags := ParseSelectors(source(tt.text))
		got := strings.TrimPrefix(dumpSelectors(sels), " ")
		if len(diags) > 0 {
			got += places(diags)
		}
		if got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.text, got, tt.want)
		}
	}
}
