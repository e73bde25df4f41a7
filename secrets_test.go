package umwelt_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"umwelt"
	"umwelt/diag"
)

// shown is everything that can be printed of a list: rendered, as errors, and message by
// message.
func shown(t *testing.T, list diag.List) string {
	t.Helper()
	var b strings.Builder
	if err := diag.RenderAll(&b, list, false); err != nil {
		t.Fatal(err)
	}
	for i := range list {
		b.WriteString(list[i].Error() + "\n" + list[i].Text() + "\n")
	}
	return b.String()
}

const vaultVocabulary = `@taxon vaults { description: "Vaults."; axis: 90; }
@entity vault { taxon: vaults; description: "A vault."; }
@attribute vault.name { type: string; required: true; description: "Name."; }
@property vault.pin { type: string; secret: true; description: "The PIN."; }
@property vault.open { type: boolean; restrictive: false; description: "Whether it is open."; }
`

// TestSecretsAreNeverShown puts a value that must not be printed into texts with all kinds
// of faults. Each is reported at its place, and the value is in no report.
func TestSecretsAreNeverShown(t *testing.T) {
	for _, tt := range []struct{ name, view, world string }{
		{"a misspelt flag", `env[name="T3"]{ value: s3cr3t !imprtant; }`, ""},
		{"a flag that is a part of it", `env[name="T3"]{ value: pa!s3cr3t; }`, ""},
		{"a misspelt property", `env{ vlaue: s3cr3t }`, ""},
		{"another misspelling, another property", `env{ allow: s3cr3t; text: s3cr3t }`, ""},
		{"locked", `env { value: s3cr3t !locked; }`, ""},
		{"an unclosed block", `env { value: s3cr3t;`, ""},
		{"an unclosed string", `env { value: "s3cr3t; }`, ""},
		{"an unclosed string of a misspelt property", "env {\n  vlaue: \"s3cr3t; }", ""},
		{"no colon", `env { value s3cr3t; }`, ""},
		{"no semicolon", "env {\n  value: s3cr3t\n  allow: true;\n}", ""},
		{"a bracket in it", `env { value: s3cr3t); }`, ""},
		{"an address without quotes", "env {\n  value: http://s3cr3t@host;\n}", ""},
		{"on the next line", "env {\n  value:\n    a s3cr3t \"b;\n}", ""},
		{"in the selector before it", `env[nmae="T"]{ value: s3cr3t; }`, ""},
		{"in a rule beside it", `tool{allow:maybe} env{value: s3cr3t;}`, ""},
		{"in a rule of no type", `.a { vlaue: s3cr3t !imprtant; }`, ""},
		{"in a rule of no type that cannot be read", `.a { vlaue: "s3cr3t`, ""},
		{"in sugar", `@env { set-TOKEN: s3cr3t !imprtant; }`, ""},
		{"in sugar that cannot be read", `@env { set-TOKEN: "s3cr3t; }`, ""},
		{"in misspelt sugar", `@env { sett-TOKEN: s3cr3t; }`, ""},
		{"in sugar within bounds", "@env {\n  allow: CI;\n  set-TOKEN: a \"s3cr3t;\n}", ""},
		{"outside a rule", `value: s3cr3t;`, ""},
		{"a NUL byte", "env { value: s3cr3t\x00; }", ""},
		{"a vocabulary of its own", vaultVocabulary + `vault { pni: s3cr3t; }`, ""},
		{"a vocabulary of its own, a type beside it", vaultVocabulary + `vault[nmae="x"] { pin: s3cr3t; }`, ""},
		{"a vocabulary of its own, broken", vaultVocabulary + `vault[nmae="x"] { pin: "s3cr3t; }`, ""},

		{"fixed in a world", "", "fixed: {\"env#TOKEN\": {value: s3cr3t}}\n"},
		{"fixed in a world, misspelt", "", "fixed:\n  \"env#TOKEN\":\n    vlaue: s3cr3t\n"},
		{"fixed in a world, misspelt otherwise", "", "fixed:\n  \"env#TOKEN\": {text: s3cr3t}\n"},
		{"fixed in a world, of another type", "", "fixed:\n  \"env#TOKEN\": {allow: s3cr3t}\n"},
		{"an attribute", "", "entities:\n  - {type: env, id: T, attributes: {value: s3cr3t}}\n"},
		{"an attribute in capitals", "", "entities:\n  - {type: env, id: T, attributes: {VALUE: s3cr3t}}\n"},
		{"a misspelt attribute", "", "entities:\n  - {type: env, id: T, attributes: {vlaue: s3cr3t}}\n"},
		{"an attribute of a projection", "", "projections:\n  - {type: env, id: T, attributes: {value: s3cr3t}}\n"},
		{"an attribute in an override", "", "env: [T]\noverrides:\n  \"env#T\": {attributes: {value: s3cr3t}}\n"},
		{"an attribute over several lines", "", "entities:\n  - type: env\n    id: T\n    attributes:\n      value:\n        - [s3cr3t]\n"},
		{"a map where a list is wanted", "", "env:\n  TOKEN: s3cr3t\n"},
		{"broken YAML", "", "fixed:\n  env:\n    value: s3cr3t: x\n"},
		{"an alias without an anchor", "", "fixed:\n  env: {value: *s3cr3t}\n"},
		{"a tag", "", "fixed:\n  env: {value: !s3cr3t x}\n"},
		{"a template", "", "env: [T]\nfixed:\n  env: {value: \"{{ s3cr3t }}\"}\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			view, world := filepath.Join(dir, "v.umw"), filepath.Join(dir, "v.world.yml")
			files := map[string]string{view: tt.view}
			if tt.world != "" {
				files[world] = tt.world
			}
			write(t, files)
			for _, p := range []*umwelt.Policy{
				umwelt.Load(umwelt.Options{Root: dir}, view),
				umwelt.LoadText(umwelt.Options{}, umwelt.Texts{Views: []*umwelt.Source{{Name: "v.umw", Text: []byte(tt.view)}}, World: &umwelt.Source{Name: "w.world.yml", Text: []byte(tt.world)}}),
			} {
				if len(p.Diagnostics) == 0 {
					t.Error("nothing is reported")
				}
				if text := shown(t, p.Diagnostics); strings.Contains(text, "s3cr3t") {
					t.Errorf("it is shown:\n%s", text)
				}
			}
		})
	}
}

// TestOtherLinesAreShown holds that hiding stops where a rule does.
func TestOtherLinesAreShown(t *testing.T) {
	view := filepath.Join(t.TempDir(), "v.umw")
	if err := os.WriteFile(view, []byte("env { value: s3cr3t; }\n\ntool { alow: true; }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	text := shown(t, umwelt.Parse(umwelt.Options{}, view).Diagnostics)
	if !strings.Contains(text, "tool { alow: true; }\n") || strings.Contains(text, "s3cr3t") {
		t.Errorf("got %s", text)
	}
}
