package parser

import (
	"strings"
	"testing"
	"time"

	"umwelt/diag"
)

// TestRecovery gives faults, the places they are reported at and what is read besides.
func TestRecovery(t *testing.T) {
	tests := []struct{ name, text, places, rest string }{
		{"ten faults in one file", `file[path=] { editable: true; }
dir..x { editable: true; }
ok1 { a: b; }
file { editable true; : x; ok: y; show: ; deny: a,,b; }
tool { name: "open;
  ok: y;
}
file:not() { a: b; }
}
@layer
  deep { a: (b; c: d; ok: y; }
ok2 { a: b; }
net > > x { a: b; }
ok3 { a: b; }
`, "1:11 syntax\n2:5 syntax\n4:17 syntax\n4:23 syntax\n4:41 syntax\n4:51 syntax\n5:14 unterminated\n8:10 syntax\n9:1 syntax\n11:13 syntax\n13:7 syntax\n",
			"ok1  { a: b; }\nfile { ok: y; }\ntool {\n  ok: y;\n}\n@layer deep {\n  c: d; ok: y;\n}\nok2 { a: b; }\nok3 { a: b; }\n"},
		{"unterminated string in a selector", "a[b=\"c] { d: e; }\nf { g: h; }", "1:5 unterminated\n", "f { g: h; }\n"},
		{"unterminated string before a block", "a[b=\"c] {\n  d: e;\n}\nf { g: h; }", "1:5 unterminated\n", "f { g: h; }\n"},
		{"apostrophe", "a { b: don't; c: d; }", "1:11 unterminated\n", "a { c: d; }\n"},
		{"quotes that do not pair", "a { b: \"it's c; d: e; }", "1:8 unterminated\n", "a { d: e; }\n"},
		{"unterminated comment", "a { b: c; }\n d { e: f; /* g", "2:12 unterminated\n", "a { b: c; }\nd { e: f; }\n"},
		{"unterminated blocks", "a {\n b: c;\n d { e: f", "1:3 unterminated\n3:4 unterminated\n", "a {\n  b: c;\n  d { e: f; }\n}\n"},
		{"missing semicolons", "a {\n b: c\n d: e\n f: g;\n}", "2:6 syntax\n3:6 syntax\n", "a {\n  f: g;\n}\n"},
		{"missing semicolon before a rule", "a {\n b: c\n d e { f: g; }\n}", "2:6 syntax\n", "a {\n  d e { f: g; }\n}\n"},
		{"missing semicolon on one line", "a { b: c d { e: f; } g: h; }", "1:8 syntax\n", "a { g: h; }\n"},
		{"value of several lines", "a {\n b: c\n  d,\n  e;\n}", "", "a {\n  b: c\n  d,\n  e;\n}\n"},
		{"faults inside a broken rule", "a,, { b c; d: e; }\nf { g: h; }", "1:3 syntax\n1:9 syntax\n", "f { g: h; }\n"},
		{"declaration outside a block", "a: b;\nc { d: e; }", "1:5 syntax\n", "c { d: e; }\n"},
		{"block without a selector", "{ a: b; }\nc {}", "1:1 syntax\n", "c {}\n"},
		{"combinator with nothing around", "> a {}\nb { > c {} }", "1:1 syntax\n", "b { > c {} }\n"},
		{"combinator at the end", "a > {}", "1:5 syntax\n", ""},
		{"brackets that do not fit", "a { b: (c]; d: [e); f: g); h: i; }", "1:10 syntax\n1:18 syntax\n1:25 syntax\n", "a { h: i; }\n"},
		{"nothing is closed in the head", "a[b { c: d; }\ne {}", "1:2 syntax\n", "e {}\n"},
		{"flag without a value", "a { b: !locked; }", "1:8 syntax\n", "a {}\n"},
		{"trailing comma", "a { b: c, ; }", "1:11 syntax\n", "a {}\n"},
		{"class of digits without an id", "a.1 {}", "1:2 syntax\n", ""},
		{"pseudo-element", "a::b {}", "1:3 syntax\n", ""},
		{"type behind a class", ".a*b {}", "1:3 syntax\n", ""},
		{"comment is no blank", "a/**/b {}", "1:2 comment-in-value\n1:6 syntax\n", ""},
		{"escaped star", "\\* {}", "1:1 syntax\n", ""},
		{"path without quotes", "a[b=c/d] {}\n#e/f {}", "1:6 syntax\n2:3 syntax\n", ""},
		{"address over several words", "a { b: url(c d; e: f; }", "1:8 unterminated\n", "a { e: f; }\n"},
		{"address as comment", "a { b: http://c; d: e; }\nf { g: h;\n}", "1:3 unterminated\n1:13 syntax\n1:13 comment-in-value\n", ""},
		{"glob as comment", "a { b: src/**/*.py; }", "1:11 comment-in-value\n", ""},
		{"number out of range", "a { b: 1e999; c: d; }", "1:8 bad-value\n", "a { c: d; }\n"},
		{"NUL and stray bytes", "a { b: c\x00\xff\xfe; d: e; }", "1:9 encoding\n1:10 encoding\n", ""},
		{"lone carriage return", "a {}\rb {}", "1:5 encoding\n", "a {}\nb {}\n"},
		{"backslash at a line end", "a { b: c \\\n d; e: f; }", "1:10 syntax\n", "a {\n  e: f;\n}\n"},
		{"UTF-16", "\xff\xfea\x00", "1:1 encoding\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, diags := Parse(source(tt.text))
			if got := places(diags); got != tt.places {
				t.Errorf("diagnostics\n%vwant\n%s", diags, tt.places)
			}
			checkSpans(t, v)
			switch tt.name {
			case "address as comment", "glob as comment", "NUL and stray bytes":
				return // the tree is a guess
			}
			if got := printed(t, v); got != tt.rest {
				t.Errorf("read besides\n%swant\n%s", got, tt.rest)
			}
		})
	}
}

// TestBounds crosses every bound by one, and meets it.
func TestBounds(t *testing.T) {
	repeat := strings.Repeat
	tests := []struct{ name, text, places string }{
		{"largest file", repeat(" ", MaxBytes), ""},
		{"too large a file", repeat("\n", MaxBytes) + " ", "16777217:1 too-large\n"},
		{"most comments", repeat("/**/", MaxTokens/2-1), ""},
		{"too many comments", repeat("/**/", MaxTokens/2), "1:8388609 too-large\n"},
		{"deepest blocks", repeat("a{", MaxDepth) + repeat("}", MaxDepth), ""},
		{"too deep blocks", repeat("a{", MaxDepth+1) + "b: c }" + repeat("}", MaxDepth), "1:130 too-deep\n"},
		{"deepest functions", "a{b:" + repeat("f(", MaxDepth-1) + repeat(")", MaxDepth-1) + "}", ""},
		{"too deep functions", "a{b:" + repeat("f(", MaxDepth) + repeat(")", MaxDepth) + ";c:d}", "1:132 too-deep\n"},
		{"deepest selector", repeat(":not(", MaxDepth) + "a" + repeat(")", MaxDepth) + "{}", ""},
		{"too deep selector", repeat(":not(", MaxDepth+1) + "a" + repeat(")", MaxDepth+1) + "{}", "1:325 too-deep\n"},
		{"longest selector", repeat("a ", MaxSelectorParts) + "{}", ""},
		{"too long a selector", repeat("a ", MaxSelectorParts+1) + "{}", "1:8193 too-large\n"},
		{"too many classes", repeat(".a", MaxSelectorParts+1) + "{}", "1:8193 too-large\n"},
		{"too many arguments", ":not(" + repeat("a,", MaxSelectorParts) + "a){}", "1:8196 too-large\n"},
		{"most selectors", repeat("a,", MaxSelectors-1) + "a{}", ""},
		{"too many selectors", repeat("a,", MaxSelectors) + "a{}", "1:8193 too-large\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, diags := Parse(source(tt.text))
			if got := places(diags); got != tt.places {
				t.Errorf("diagnostics %v, want %s", diags, tt.places)
			}
			if len(tt.text) < 1<<20 {
				checkSpans(t, v)
			}
		})
	}
}

// TestManyFaults ends with one diagnostic that says that reading stopped.
func TestManyFaults(t *testing.T) {
	for _, text := range []string{strings.Repeat("a;\n", 5000), strings.Repeat("}", 5000), strings.Repeat("a { b: c// d\n; }", 5000), strings.Repeat("a\x00", 5000)} {
		_, diags := Parse(source(text))
		if last := diags[len(diags)-1]; len(diags) != MaxDiagnostics+1 || last.Severity != diag.Error || last.Code != diag.TooLarge {
			t.Errorf("%.20q: %d diagnostics, the last %v", text, len(diags), last)
		}
	}
}

// TestHostileIsLinear reads texts that tempt a parser to read them again and again. A
// quadratic parser takes hours where this one takes a second.
func TestHostileIsLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("the long texts are left out with -short")
	}
	for _, unit := range []string{
		"{", "}", "(", "[", "a:", "a{", "a(", ";", "\"", "'\"", "\"\\", "\\", "\\\n", "a: b\n", "a{b:(;", "url(", "url( ", "/*", "/**/", "/", "#", "# \n",
		"a,", "a ", ".a", "#a", ":not(", "a{}", "a:b;", "a{b:c;}", "@a", "@a;", "@a{", "!a", "\n", "é", "x(y;", "a[b=c]", "a|", "\r\n", "\x00", "\xff", "\"\\\n'",
		"a:f(b,", "a:b,", "a/**/ ", "a{b:c\n",
	} {
		for _, prefix := range []string{"", "a {"} {
			text := prefix + strings.Repeat(unit, (1<<20)/len(unit))
			start := time.Now()
			_, diags := Parse(source(text))
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("%q: took %v", unit, took)
			}
			if len(diags) > MaxDiagnostics+1 {
				t.Errorf("%q: %d diagnostics", unit, len(diags))
			}
		}
	}
}
