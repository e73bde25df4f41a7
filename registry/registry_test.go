package registry_test

import (
	"fmt"
	"strings"
	"testing"

	"umwelt/ast"
	"umwelt/diag"
	"umwelt/parser"
	"umwelt/registry"
)

// shop is a small vocabulary with two taxa that share a type name.
const shop = `
@taxon goods { description: "Things."; axis: 1; aliases: wares; }
@taxon people { description: "Persons."; axis: 2; }
@taxon other { description: "Else."; axis: 3; }
@entity shelf { taxon: goods; ids: dotted; path: path; description: "A shelf."; }
@attribute shelf.path { type: path; required: true; description: "Where."; }
@property shelf.open { type: boolean; initial: false; restrictive: false; description: "Open."; }
@property shelf.note { type: string; description: "A note."; }
@property shelf.max-load { type: size; restrictive: min; description: "Load."; }
@property shelf.only-kinds { type: set of identifier; restrictive: subset; description: "Kinds."; }
@property shelf.tag { type: enum(red, green); repeatable: true; description: "Tag."; }
@entity item { taxon: goods; parent: shelf; description: "An item."; }
@property item.open { type: boolean; restrictive: false; description: "Open."; }
@entity clerk { taxon: people; sole-active: true; description: "A clerk."; }
@attribute clerk.grade { type: integer; range: 0 8; description: "Grade."; }
@property clerk.max-grade { type: integer; range: 0 8; attribute: grade; gates: on; description: "Cap."; }
@property clerk.on { type: boolean; initial: false; restrictive: false; description: "On duty."; }
@entity box { taxon: goods; description: "A box."; }
@property box.open { type: boolean; restrictive: false; description: "Open."; }
@entity box { taxon: people; description: "A theatre box."; }
@property people|box.open { type: boolean; restrictive: false; description: "Open."; }
@unit dozen { kind: count; factor: 12; }
@shorthand shelves { entity: shelf; form: list; }
`

func parse(t testing.TB, name, text string) *ast.View {
	t.Helper()
	v, list := parser.Parse(&diag.Source{Name: name, Text: []byte(text)})
	if list.HasErrors() {
		t.Fatalf("%s: %v", name, list.Err())
	}
	return v
}

func load(t testing.TB, vocabulary string) *registry.Registry {
	t.Helper()
	r := registry.New()
	fixed := strings.ReplaceAll(vocabulary, "@property box.open", "@property goods|box.open")
	if list := r.Load(registry.Options{}, parse(t, "shop.umw", fixed)); list.HasErrors() {
		t.Fatal(list.Err())
	}
	return r
}

func bind(t testing.TB, text string) *registry.Bound {
	t.Helper()
	return load(t, shop).Bind(registry.Options{}, parse(t, "v.umw", text))
}

func codes(l diag.List) string {
	var out []string
	for _, d := range l {
		if d.Severity > diag.Note {
			out = append(out, fmt.Sprintf("%d:%d %s %s", d.Span.Start.Line, d.Span.Start.Column, d.Severity, d.Code))
		}
	}
	return strings.Join(out, "; ")
}

func TestLoadReportsBrokenVocabulary(t *testing.T) {
	const head = "@taxon t { description: \"d\"; }\n@entity e { taxon: t; description: \"d\"; }\n"
	for _, c := range []struct{ name, text, want string }{
		{"taxon twice", "@taxon t { description: \"d\"; }", "3:1 error duplicate"},
		{"alias taken", "@taxon u { description: \"d\"; aliases: T; }", "3:1 error duplicate"},
		{"entity twice", "@entity E { taxon: t; description: \"d\"; }", "3:1 error duplicate"},
		{"no description", "@entity f { taxon: t; }", "3:1 error bad-vocabulary"},
		{"unknown taxon", "@entity f { taxon: tt; description: \"d\"; }", "3:1 error unknown-taxon"},
		{"unknown field", "@entity f { taxon: t; description: \"d\"; colour: red; }", "3:41 error bad-vocabulary"},
		{"field twice", "@entity f { taxon: t; taxon: t; description: \"d\"; }", "3:23 error duplicate"},
		{"no type", "@property e.p { description: \"d\"; }", "3:1 error bad-vocabulary"},
		{"bad type", "@property e.p { type: colour; description: \"d\"; }", "3:23 error bad-vocabulary"},
		{"bad initial", "@property e.p { type: boolean; initial: 3; description: \"d\"; }", "3:41 error bad-value"},
		{"direction of a string", "@property e.p { type: string; restrictive: min; description: \"d\"; }", "3:1 error bad-vocabulary"},
		{"comparison of a boolean", "@property e.max-p { type: boolean; description: \"d\"; }", "3:1 error bad-vocabulary"},
		{"gate leads nowhere", "@property e.p { type: integer; gates: q; attribute: a; description: \"d\"; }", "3:1 error bad-vocabulary; 3:1 error bad-vocabulary"},
		{"unknown entity", "@property ee.p { type: boolean; description: \"d\"; }", "3:11 error unknown-type"},
		{"no member", "@property e { type: boolean; description: \"d\"; }", "3:11 error bad-vocabulary"},
		{"range backwards", "@property e.p { type: integer; range: 8 0; description: \"d\"; }", "3:39 error bad-vocabulary"},
		{"unit taken", "@unit mb { kind: k; factor: 2; }", "3:1 error duplicate"},
		{"shorthand of nothing", "@shorthand s { entity: nothing; form: list; }", "3:1 error bad-vocabulary"},
		{"enum twice the same", "@property e.p { type: enum(a, a); description: \"d\"; }", "3:23 error bad-vocabulary"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := codes(registry.New().Load(registry.Options{}, parse(t, "v.umw", head+c.text)))
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestBindReports(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`shelf { open: true; }`, ""},
		{`shelv { open: true; }`, "1:1 warning unknown-type"},
		{`shelf { opne: true; }`, "1:9 warning unknown-property"},
		{`shelf { open: yes; }`, "1:15 error bad-value"},
		{`shelf { open: true !locked; }`, ""},
		{`shelf { note: x !locked; }`, "1:17 error not-lockable"},
		{`shelf { open: true !lokced; }`, "1:20 error unknown-flag"},
		{`box { open: true; }`, "1:1 error ambiguous-type"},
		{`people|box { open: true; }`, ""},
		{`@people { box { open: true; } }`, ""},
		{`@wares { box { open: true; } }`, ""},
		{`nobody|box { open: true; }`, "1:1 warning unknown-taxon"},
		{`shelf:opened { open: true; }`, "1:6 warning unknown-pseudo"},
		{`shelf + shelf { open: true; }`, "1:1 warning sibling-selector"},
		{`& { open: true; }`, "1:1 error bad-selector"},
		{`shelf:not(clerk shelf) { open: true; }`, "1:11 error bad-selector"},
		{`@nonsense { }`, "1:1 warning unknown-at-rule"},
		{`@import "x.umw";`, "1:1 error import"},
		{`shelf { max-load: 3; }`, "1:19 error bad-value"},
		{`shelf { max-load: 3 parsecs; }`, "1:19 error bad-value"},
		{`shelf { max-load: 1.5B; }`, "1:19 error bad-value"},
		{`shelf { tag: reed; }`, "1:14 error bad-value"},
		{`shelf { open: true, false; }`, "1:15 error bad-value"},
		{`shelf:glob("../x") { open: true; }`, "1:6 error bad-value"},
		{`item:glob("x") { open: true; }`, "1:5 warning bad-selector"},
		{`shelf[pathh="x"] { open: true; }`, "1:6 warning unknown-attribute"},
		{`shelf[colour="x"] { open: true; }`, ""},
		{`shelf:not([pathh="x"]) { open: true; }`, "1:11 warning unknown-attribute"},
		{`[gradee="1"] { open: true; }`, "1:1 warning unknown-attribute"},
		{`clerk:not([grade="9"]) { on: true; }`, "1:11 warning bad-value"},
		{`shelf:not(clerk#ann) { open: true; }`, "1:11 error bad-selector"},
		{`shelf[path="a/../b"] { open: true; }`, "1:6 error bad-path"},
		{`shelf[path^="/a/"] { open: true; }`, "1:6 warning bad-path"},
		{`shelf#"../a" { open: true; }`, "1:6 error bad-path"},
		{`@layer a b { shelf { open: true; } }`, "1:8 error syntax"},
	} {
		t.Run(c.text, func(t *testing.T) {
			if got := codes(bind(t, c.text).Diagnostics); got != c.want {
				t.Errorf("got %q, want %q\n%v", got, c.want, bind(t, c.text).Diagnostics)
			}
		})
	}
}

// TestUnknownPropertyIsSaidOnce holds what is said of a property that does not exist to the
// truth, and to one place.
func TestUnknownPropertyIsSaidOnce(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`shelf { opne: true; }`, `shelf has no property "opne", so the declaration has no effect (did you mean "open"?)`},
		{`.a { opne: true; }`, `no entity type has a property "opne", so the declaration has no effect (did you mean "open"?)`},
		{`shelf#a, shelf#b, shelf#c { opne: true; }`, `shelf has no property "opne", so the declaration has no effect (did you mean "open"?)`},
		{`shelf#a, clerk#b { opne: true; }`, `shelf has no property "opne", so the declaration has no effect (did you mean "open"?); clerk has no property "opne", so the declaration has no effect`},
		{`clerk * { opne: true; }`, `no entity type has a property "opne", so the declaration has no effect (did you mean "open"?)`},
		{`clerk * { open: true; }`, ``},
		{`shelf .a { on: true; }`, ``},
		{`@wares { .a { on: true; } }`, `no entity type of goods has a property "on", so the declaration has no effect`},
		{`@wares { .a { opne: true; } }`, `no entity type of goods has a property "opne", so the declaration has no effect (did you mean "open"?)`},
	} {
		var got []string
		for _, d := range bind(t, c.text).Diagnostics {
			text := d.Message
			if d.Hint != "" {
				text += " (" + d.Hint + ")"
			}
			got = append(got, text)
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("%s: got %q, want %q", c.text, strings.Join(got, "; "), c.want)
		}
	}
}

// TestProblemsAreBounded binds texts with more problems than anybody reads: the list stays
// short, and is as severe as the worst of them.
func TestProblemsAreBounded(t *testing.T) {
	warnings := strings.Repeat("shelf { opne: true; }\n", 3000)
	for _, c := range []struct {
		name, text string
		worst      diag.Severity
	}{
		{"warnings", warnings, diag.Warning},
		{"errors", strings.Repeat("shelf { open: yes; }\n", 3000), diag.Error},
		{"an error behind warnings", warnings + "shelf { open: yes; }", diag.Error},
		{"in one rule", "shelf { " + strings.Repeat("opne: true; ", 3000) + "}", diag.Warning},
		{"in one selector list", strings.Repeat("shelv,", 3000) + "shelf { open: true; }", diag.Warning},
	} {
		b := bind(t, c.text)
		last := b.Diagnostics[len(b.Diagnostics)-1]
		if len(b.Diagnostics) != 1001 || last.Code != diag.TooLarge || last.Severity != c.worst || b.Diagnostics.HasErrors() != (c.worst == diag.Error) {
			t.Errorf("%s: %d diagnostics, the last %v", c.name, len(b.Diagnostics), last)
		}
	}
	if n := len(bind(t, warnings).Rules); n != 3000 {
		t.Errorf("%d rules are left", n)
	}
}

// TestRulesAreBounded refuses more rules than a policy can have.
func TestRulesAreBounded(t *testing.T) {
	list := strings.Repeat("#a,", 4095) + "#a { open: true; }\n"
	if b := bind(t, strings.Repeat(list, 16)); b.Diagnostics.HasErrors() || len(b.Rules) != 1<<16 {
		t.Errorf("%d rules, %v", len(b.Rules), b.Diagnostics.Err())
	}
	if b := bind(t, strings.Repeat(list, 17)); !b.Diagnostics.HasErrors() || len(b.Rules) > 1<<16 {
		t.Errorf("%d rules, %v", len(b.Rules), b.Diagnostics.Err())
	}
}

// TestWorkIsBounded refuses texts that are short for what they ask, where the bound is
// passed, and binds nothing behind it.
func TestWorkIsBounded(t *testing.T) {
	many := strings.Repeat
	for _, c := range []struct {
		name, text string
		rules      int
		want       diag.Code
	}{
		{"declarations", "shelf { " + many("open: true; ", 1<<18) + "}", 1, ""},
		{"one more declaration", "shelf { " + many("open: true; ", 1<<18+1) + "} shelf { open: true; }", 1, diag.TooLarge},
		{"locks", many("shelf { open: true !locked; }", 4096), 4096, ""},
		{"one more lock", many("shelf { open: true !locked; }", 4096+1) + "shelf { open: true; }", 4097, diag.TooLarge},
		{"parts", many("shelf"+many(".a", 2047)+" { open: true; }\n", 512), 512, ""},
		{"one more part", many("shelf"+many(".a", 2047)+" { open: true; }\n", 513) + "shelf { open: true; }", 512, diag.TooLarge},
		{"members", "shelf { only-kinds: a" + many(", a", 1<<14-1) + "; }", 1, ""},
		{"one more member", "shelf { only-kinds: a" + many(", a", 1<<14) + "; }", 1, diag.BadValue},
		{"errors", many("shelf { open: yes; }\n", 9000), 1001, diag.BadValue},
	} {
		b := bind(t, c.text)
		switch errs := b.Diagnostics.HasErrors(); {
		case errs != (c.want != "") || errs && b.Diagnostics[0].Code != c.want:
			t.Errorf("%s: %d diagnostics: %v", c.name, len(b.Diagnostics), b.Diagnostics.Err())
		case len(b.Rules) != c.rules:
			t.Errorf("%s: %d rules", c.name, len(b.Rules))
		}
	}
	var v strings.Builder
	v.WriteString("@taxon t { description: d; }\n")
	for i := range 4096 {
		fmt.Fprintf(&v, "@entity e%d { taxon: t; description: d; }\n", i)
	}
	if list := registry.New().Load(registry.Options{}, parse(t, "v.umw", v.String())); len(list) != 1 || list[0].Code != diag.TooLarge {
		t.Errorf("4097 definitions: %v", list.Err())
	}
}

// TestLayersAreBounded refuses more layers than a policy can have, and names that lead too
// deep. A layer that is there may be used any number of times.
func TestLayersAreBounded(t *testing.T) {
	var many strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&many, "@layer l%d { shelf { open: true; } }\n", i)
	}
	for _, c := range []struct {
		name, text string
		want       diag.Code
	}{
		{"most", many.String() + many.String(), ""},
		{"one more", many.String() + "@layer more;", diag.TooLarge},
		{"one more below", many.String() + "@layer l1 { @layer more { shelf { open: true; } } }", diag.TooLarge},
		{"one more without a name", many.String() + "@layer { shelf { open: true; } }", diag.TooLarge},
		{"deepest", "@layer a" + strings.Repeat(".a", 31) + " { shelf { open: true; } }", ""},
		{"too deep", "@layer a" + strings.Repeat(".a", 32) + " { shelf { open: true; } }", diag.TooDeep},
		{"far too deep", "@layer a" + strings.Repeat(".a", 1<<20) + ";", diag.TooDeep},
	} {
		b := bind(t, c.text)
		var got diag.Code
		if len(b.Diagnostics) > 0 {
			got = b.Diagnostics[0].Code
		}
		if got != c.want || len(b.Layers) > 1000 {
			t.Errorf("%s: %d layers, %v", c.name, len(b.Layers), b.Diagnostics)
		}
	}
}

// outline prints what was bound: selector, layer, specificity and values.
func outline(b *registry.Bound) string {
	var out strings.Builder
	for _, r := range b.Rules {
		layer := "-"
		if r.Layer != registry.Unlayered {
			layer = b.Layers[r.Layer]
		}
		fmt.Fprintf(&out, "%s %s", layer, r.Selector.Text)
		for _, d := range r.Declarations {
			fmt.Fprintf(&out, " %s=%s", d.Name, d.Typed[0].Value.Text)
			if d.Important {
				out.WriteString("!")
			}
		}
		out.WriteString("\n")
	}
	return out.String()
}

func TestBindUnfolds(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"lists", `shelf, item { open: true; }`, "- shelf open=true\n- item open=true\n"},
		{"nesting", `clerk#ann { shelf { open: true; item { open: false; } } }`,
			"- clerk#ann shelf open=true\n- clerk#ann shelf item open=false\n"},
		{"parent", `shelf { &.x { open: true; } > item { open: false; } .y & { note: "n"; } }`,
			"- shelf.x open=true\n- shelf > item open=false\n- .y shelf note=n\n"},
		{"layers", `@layer b, a; @layer a { shelf { open: true; } @layer in { shelf { note: "1"; } } } @layer b { shelf { note: "2"; } } shelf { note: "3"; }`,
			"a shelf open=true\na.in shelf note=1\nb shelf note=2\n- shelf note=3\n"},
		{"last of a block", `shelf { open: true; open: false; open: true !important; tag: red; tag: green; }`,
			"- shelf open=false open=true! tag=red tag=green\n"},
		{"types", `SHELF { Max-Load: 1024KB; only-kinds: b, a, b; note: two  words, here; }`,
			"- SHELF max-load=1MB only-kinds=a, b note=two words, here\n"},
		{"none", `shelf { only-kinds: none; }`, "- shelf only-kinds=\n"},
		{"untyped", `.x { open: true; }`, "- .x open=true\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := bind(t, c.text)
			if b.Diagnostics.HasErrors() {
				t.Fatal(b.Diagnostics.Err())
			}
			if got := outline(b); got != c.want {
				t.Errorf("got:\n%swant:\n%s", got, c.want)
			}
		})
	}
}

func TestLayersComeChildrenFirst(t *testing.T) {
	b := bind(t, `@layer b; @layer a.x, a.y; @layer a { @layer z { shelf { open: true; } } } @layer b.q;`)
	if got, want := strings.Join(b.Layers, " "), "b.q b a.x a.y a.z a"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestSpecificity(t *testing.T) {
	for _, c := range []struct {
		text string
		axes int
		want string
	}{
		{`shelf { open: true; }`, 1, "[[0 0 1] [0 0 0] [0 0 0] [0 0 0]]"},
		{`shelf#a.b.c { open: true; }`, 1, "[[1 0 1] [0 0 0] [0 0 0] [0 0 0]]"},
		{`clerk#a.b shelf { open: true; }`, 2, "[[0 0 1] [1 1 1] [0 0 0] [0 0 0]]"},
		{`.x shelf > item[a="b"]:not(#p, .q) { open: true; }`, 1, "[[1 2 2] [0 0 0] [0 0 0] [0 0 0]]"},
		{`shelf:where(#a):is(.b, #c) { open: true; }`, 1, "[[1 0 1] [0 0 0] [0 0 0] [0 0 0]]"},
		{`.x { open: true; }`, 0, "[[0 0 0] [0 0 0] [0 0 0] [0 1 0]]"},
		{`goods|* { open: true; }`, 0, "[[0 0 0] [0 0 0] [0 0 0] [0 0 0]]"},
		{`shelf:has(> item.x) { open: true; }`, 1, "[[0 1 2] [0 0 0] [0 0 0] [0 0 0]]"},
	} {
		t.Run(c.text, func(t *testing.T) {
			s := bind(t, c.text).Rules[0].Selector.Specificity
			if got := fmt.Sprint(s.Triples); s.Axes != c.axes || got != c.want {
				t.Errorf("got %d %s, want %d %s", s.Axes, got, c.axes, c.want)
			}
		})
	}
}

func TestStructureAndContextAreToldApart(t *testing.T) {
	sel := bind(t, `clerk#ann shelf.a > clerk.b item { open: true; }`).Rules[0].Selector
	if len(sel.Qualifiers) != 2 || sel.Qualifiers[0].Text != "clerk#ann" || sel.Qualifiers[1].Text != "clerk.b" {
		t.Errorf("qualifiers: %v", sel.Qualifiers)
	}
	if len(sel.Structure) != 1 || sel.Structure[0].Compound.Text != "shelf.a" || !sel.Structure[0].Child {
		t.Errorf("structure: %+v", sel.Structure)
	}
}

func TestUnknownInsideNotMatchesNothing(t *testing.T) {
	b := bind(t, `shelf:not(shelff) { open: true; }`)
	if !b.Rules[0].Selector.Never {
		t.Error("a misspelt type inside :not widened the selector to everything")
	}
}

// TestDoubtInsideNotMatchesNothing holds that a slip in parentheses takes the whole
// selector with it: an exclusion that excludes nothing would be a grant.
func TestDoubtInsideNotMatchesNothing(t *testing.T) {
	for _, text := range []string{
		`shelf:not([pathh^="x/"]) { open: true; }`, `clerk:not([grade="9"]) { on: true; }`, `shelf:not(:unknown) { open: true; }`,
		`shelf:not(.a, shelff) { open: true; }`, `*:not([gradee="1"]) { open: true; }`,
	} {
		if b := bind(t, text); !b.Rules[0].Selector.Never {
			t.Errorf("%s matches", text)
		}
	}
	if b := bind(t, `shelf:not([colour="x"]) { open: true; }`); b.Rules[0].Selector.Never {
		t.Error("an attribute that only the world knows is no slip")
	}
}

func TestPathsAreCleaned(t *testing.T) {
	for text, want := range map[string]string{
		`shelf[path="./a//b/./c/"] { open: true; }`: "a/b/c", `shelf[path^="./a//"] { open: true; }`: "a/", `shelf#"a//b" { open: true; }`: "a/b",
	} {
		if got := bind(t, text).Rules[0].Selector.Target.Tests[0].Value; got != want {
			t.Errorf("%s: got %q", text, got)
		}
	}
}

func TestNestingIsBounded(t *testing.T) {
	deep := strings.Repeat("shelf, item { ", 40) + strings.Repeat("}", 40)
	b := bind(t, deep)
	if !b.Diagnostics.HasErrors() || len(b.Rules) > 30000 {
		t.Errorf("%d rules, %v", len(b.Rules), b.Diagnostics.Err())
	}
}

func TestPins(t *testing.T) {
	b := bind(t, `clerk[name="ann"] shelf[path="x"] { open: true; } clerk#bob[grade="3"] { on: true; } clerk#bob { on: false; }`)
	var got []string
	for _, e := range b.Pins() {
		got = append(got, fmt.Sprintf("%s %s %v", e.Type, e.ID, e.Attributes))
	}
	if want := "clerk ann map[]; clerk bob map[]"; strings.Join(got, "; ") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTypeText(t *testing.T) {
	r := load(t, shop)
	for _, c := range []struct {
		typ        registry.ValueType
		text, want string
		num        float64
	}{
		{registry.ValueType{Kind: registry.Size}, "1.5KB", "1536B", 1536},
		{registry.ValueType{Kind: registry.Size}, "2048KiB", "2MB", 2 << 20},
		{registry.ValueType{Kind: registry.Duration}, "90m", "90m", 5400e9},
		{registry.ValueType{Kind: registry.Duration}, "1.5h", "90m", 5400e9},
		{registry.ValueType{Kind: registry.Duration}, "60s", "1m", 60e9},
		{registry.ValueType{Kind: registry.Number}, "50%", "0.5", 0.5},
		{registry.ValueType{Kind: registry.Integer}, "2dozen", "24", 24},
		{registry.ValueType{Kind: registry.Integer}, "007", "7", 7},
		{registry.ValueType{Kind: registry.Integer}, "-0", "0", 0},
		{registry.ValueType{Kind: registry.Boolean}, "TRUE", "true", 1},
		{registry.ValueType{Kind: registry.Path}, "./a/b/", "a/b", 0},
		{registry.ValueType{Kind: registry.Glob}, "./a/**", "a/**", 0},
	} {
		v, problem := r.TypeText(c.typ, c.text)
		if problem != "" || v.Text != c.want || v.Num != c.num {
			t.Errorf("%s %q: got %+v %s, want %s %v", c.typ, c.text, v, problem, c.want, c.num)
		}
	}
	for _, c := range []struct {
		typ  registry.ValueType
		text string
	}{
		{registry.ValueType{Kind: registry.Integer}, "1e9"},
		{registry.ValueType{Kind: registry.Integer}, "9007199254740993"},
		{registry.ValueType{Kind: registry.Integer}, "1.5"},
		{registry.ValueType{Kind: registry.Size}, "-1KB"},
		{registry.ValueType{Kind: registry.Size}, "10s"},
		{registry.ValueType{Kind: registry.Duration}, "10"},
		{registry.ValueType{Kind: registry.Boolean}, "yes"},
		{registry.ValueType{Kind: registry.Path}, "a/../b"},
		{registry.ValueType{Kind: registry.Path}, "a\x00b"},
		{registry.ValueType{Kind: registry.Identifier}, "two words"},
		{registry.ValueType{Kind: registry.Glob}, "a["},
	} {
		if v, problem := r.TypeText(c.typ, c.text); problem == "" {
			t.Errorf("%s %q: got %+v, want a problem", c.typ, c.text, v)
		}
	}
}

func TestTighter(t *testing.T) {
	r := load(t, shop)
	shelf := r.Type("shelf")
	size := func(s string) *registry.Value {
		v, _ := r.TypeText(registry.ValueType{Kind: registry.Size}, s)
		return v
	}
	if got := shelf.Property("max-load").Tighter(size("2MB"), size("1MB")); got.Text != "1MB" {
		t.Errorf("got %s", got.Text)
	}
	kinds := shelf.Property("only-kinds")
	a, b := registry.NewList(registry.Set, []string{"x", "y"}), registry.NewList(registry.Set, []string{"y", "z"})
	if got := kinds.Tighter(a, b); got.Text != "y" {
		t.Errorf("got %s", got.Text)
	}
	if kinds.AsTight(a, b) || !kinds.AsTight(registry.NewList(registry.Set, []string{"y"}), b) {
		t.Error("a set is as tight as another only where it is a subset")
	}
}
