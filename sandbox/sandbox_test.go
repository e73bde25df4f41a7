package sandbox_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"umwelt/diag"
	"umwelt/parser"
	"umwelt/registry"
	"umwelt/sandbox"
)

func load(t testing.TB) *registry.Registry {
	t.Helper()
	v, list := parser.Parse(sandbox.Vocabulary())
	r := registry.New()
	list = append(list, r.Load(registry.Options{}, v)...)
	for _, d := range list {
		t.Error(d)
	}
	if err := sandbox.Register(r); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestVocabularyLoads(t *testing.T) {
	r := load(t)
	if len(r.Taxa()) != 7 {
		t.Errorf("%d taxa", len(r.Taxa()))
	}
}

func bind(t testing.TB, r *registry.Registry, path string) *registry.Bound {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	v, list := parser.Parse(&diag.Source{Name: path, Text: text})
	b := r.Bind(registry.Options{}, v)
	for _, d := range append(list, b.Diagnostics...) {
		t.Error(d)
	}
	return b
}

// said is what a bound view says, without the places where it says so.
func said(b *registry.Bound) string {
	var out strings.Builder
	for _, rule := range b.Rules {
		fmt.Fprintf(&out, "%s %v {", rule.Selector.Text, rule.Selector.Specificity)
		for _, d := range rule.Declarations {
			fmt.Fprintf(&out, " %s: %s;", d.Name, d.Typed[0].Value.Text)
		}
		out.WriteString(" }\n")
	}
	return out.String()
}

// TestSugarSaysWhatRulesSay holds every shipped pair of views: x.umw in sugar and
// x.rules.umw in ordinary rules.
func TestSugarSaysWhatRulesSay(t *testing.T) {
	pairs, err := filepath.Glob("../examples/*/*.rules.umw")
	if err != nil || len(pairs) < 10 {
		t.Fatalf("only %d pairs: %v", len(pairs), err)
	}
	r := load(t)
	for _, rules := range pairs {
		sugar := strings.TrimSuffix(rules, ".rules.umw") + ".umw"
		t.Run(filepath.Base(sugar), func(t *testing.T) {
			got, want := said(bind(t, r, sugar)), said(bind(t, r, rules))
			if got != want {
				t.Errorf("sugar:\n%s\nrules:\n%s", got, want)
			}
		})
	}
}

func TestSugarRefuses(t *testing.T) {
	r := load(t)
	for _, c := range []struct{ text, want string }{
		{`@source("../x") { * { editable: true; } }`, "1:8 error syntax"},
		{`@source("/etc") { * { editable: true; } }`, "1:8 error syntax"},
		{`@source("") { * { editable: true; } }`, "1:8 error syntax"},
		{`@source { * { editable: true; } }`, "1:8 error syntax"},
		{`@source("a");`, "1:8 error syntax"},
		{`@source(name="x", path="a/*") { * { editable: true; } }`, "1:8 error syntax"},
		{`@source("a") { @source("b") { * { editable: true; } } }`, "1:16 error bad-selector"},
		{`@source("a") { @tools { allow: Read; } }`, "1:16 error bad-selector"},
		{`@source("a") { tool { allow: true; } }`, "1:16 error bad-selector"},
		{`@network { allow: 10.0.0.5/8; }`, "1:19 error bad-value"},
		{`@tools { alow: Read; }`, "1:10 warning unknown-property"},
		{`@tools { allow: Read Edit; }`, "1:17 error bad-value"},
		{`@tools x { allow: Read; }`, "1:1 error syntax"},
		{`@network { permit: x; }`, "1:12 error unknown-property"},
		{`@network { allow: a/b; }`, "1:19 error bad-value"},
		{`@network { allow: h:99999; }`, "1:19 error bad-value"},
		{`@env { alow: CI; }`, "1:8 error unknown-property"},
		{`@budget { memry: 1GB; }`, "1:11 warning unknown-property"},
		{`tool:phase("growth") { allow: true; }`, "1:5 error bad-value"},
		{`file:phase("mutation") { editable: true; }`, "1:5 warning unknown-pseudo"},
	} {
		v, list := parser.Parse(&diag.Source{Name: "v.umw", Text: []byte(c.text)})
		list = append(list, r.Bind(registry.Options{}, v).Diagnostics...)
		var got []string
		for _, d := range list {
			got = append(got, fmt.Sprintf("%d:%d %s %s", d.Span.Start.Line, d.Span.Start.Column, d.Severity, d.Code))
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("%s: got %q, want %q", c.text, got, c.want)
		}
	}
}

func TestSourcePlacesSelectors(t *testing.T) {
	r := load(t)
	for text, want := range map[string]string{
		`@source("a//./b/") { * { editable: true; } }`:         `file[path^="a/b/"]`,
		`@source("./") { * { editable: true; } }`:              `file`,
		`@source("a/") { * * { editable: true; } }`:            `* file[path^="a/"]`,
		`@source("a/") { mode#review * { editable: true; } }`:  `mode#review file[path^="a/"]`,
		`@source("a/") { dir.gen > .x { editable: true; } }`:   `dir.gen > file[path^="a/"].x`,
		`@source("a/") { mode#m .fn { show: body; } }`:         `mode#m file[path^="a/"] node[kind="function"]`,
		`@source("a/") { file.x node { show: body; } }`:        `file[path^="a/"].x node`,
		`@source("a/") { node[kind="class"] { show: body; } }`: `file[path^="a/"] node[kind="class"]`,
		`@source("project[1]/") { * { editable: true; } }`:     `file[path^="project[1]/"]`,
		`@network { deny: *; allow: h; deny: b.com, c.com; }`:  `network`,
	} {
		v, _ := parser.Parse(&diag.Source{Name: "v.umw", Text: []byte(text)})
		b := r.Bind(registry.Options{}, v)
		if b.Diagnostics.HasErrors() || b.Rules[0].Selector.Text != want {
			t.Errorf("%s: got %s, %v", text, b.Rules[0].Selector.Text, b.Diagnostics)
		}
		if want == "network" && b.Rules[0].Declarations[0].Typed[0].Value.Text != "*, b.com, c.com" {
			t.Errorf("deny lines do not add up: %s", b.Rules[0].Declarations[0].Typed[0].Value.Text)
		}
	}
}

func TestPhase(t *testing.T) {
	r := load(t)
	v, _ := parser.Parse(&diag.Source{Name: "v.umw", Text: []byte(`tool:phase("amplification") { allow: true; }`)})
	test := r.Bind(registry.Options{}, v).Rules[0].Selector.Target.Tests[0]
	for level, want := range map[string]bool{"3": false, "4": true, "6": true, "7": false, "": false, "x": false} {
		attr := func(name string) (string, bool) { return level, name == "level" && level != "" }
		if got := test.Pseudo.Test(attr, test.Value); got != want {
			t.Errorf("level %q: got %v", level, got)
		}
	}
}
