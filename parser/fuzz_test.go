package parser

import (
	"testing"

	"umwelt/ast"
)

// seeds are texts that between them use every construct, whole and broken.
var seeds = []string{
	"",
	"\ufefffile { editable: true; }\r\n",
	"file[path^=\"src/\" i], dir:not(.x, #y > z) ~ node { show: body !locked; }",
	"#v1.2.3, #\"a b\", #123.-4 { a: 1.5e3MB, 50%, -2; }",
	"@import \"x\" layer(name);\n@layer a, b;\n@source(name=\"auth\", path='src') { .fn#login { show: body } }",
	"a { b: url(http://x/y); c: f(g(h), (1 2) [3, 4]); d: [Read, Edit]; run: pytest tests/auth/ -x; }",
	"a{/* c */b:c/*d*/;//e\n# f\n}\n\n\n// g\n",
	"a { b: \"\\41 \\n\\\"\\\nx\"; c\\:d: e\\ f; }",
	"tax|*:has(> a, + b) & c { > d { e: f } & { g: h } &.i|j {} }",
	"a { b: 'it; c: d }\nb { url: http://x; e: f }\n}}} { ( ] ; [",
	"a { b: c\n d: e\n f { g: h } }",
	"a { b: !x; : y; z; c: d,, e; @f }",
	"a { b: /* \x00 \xff */ c }\r",
	"/* open",
	"a { \"open",
	"a:url(x y) { b: url( \"q\" ) url(r }",
}

func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Add([]byte(benchText(1000)))
	f.Fuzz(func(t *testing.T, text []byte) {
		v, diags := Parse(source(string(text)))
		if len(diags) > MaxDiagnostics+1 {
			t.Fatalf("%d diagnostics", len(diags))
		}
		for _, d := range diags {
			if !d.Span.IsValid() || d.Span.End.Offset < d.Span.Start.Offset || int(d.Span.End.Offset) > len(text) {
				t.Fatalf("diagnostic outside the text: %+v", d)
			}
		}
		checkSpans(t, v)
		if !diags.HasErrors() {
			checkRoundTrip(t, v)
		} else {
			printed(t, v)
		}
		if _, err := v.MarshalJSON(); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzParseSelectors(f *testing.F) {
	for _, s := range []string{
		"file", "a|b#c.d[e~=\"f\" i]:not(g > h, :is(*))", "#\"x\"", "#1.2-3", "a:glob(\"*\"):p(q r)", "* + & ~ b", "a,", "[a=1][b='c'S]",
		"/* x */ a // b", "a { b", "\\31 23 \\*", ":url(x):url( )",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		sels, diags := ParseSelectors(source(text))
		if diags.HasErrors() != (len(sels) == 0) {
			t.Fatalf("%d selectors and %v", len(sels), diags)
		}
		if sels == nil {
			return
		}
		once := ast.FormatSelectors(sels)
		again, diags := ParseSelectors(source(once))
		if diags.HasErrors() || dumpSelectors(again) != dumpSelectors(sels) {
			t.Fatalf("%q printed as %q: %v\n%s\n%s", text, once, diags, dumpSelectors(sels), dumpSelectors(again))
		}
		if twice := ast.FormatSelectors(again); twice != once {
			t.Fatalf("%q printed as %q, then %q", text, once, twice)
		}
	})
}
