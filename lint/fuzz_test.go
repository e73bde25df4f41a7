package lint

import (
	"testing"

	"umwelt/ast"
	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/parser"
	"umwelt/registry"
)

// FuzzLint lints any text that binds: nothing panics, and what is found is found again.
func FuzzLint(f *testing.F) {
	f.Add("file { visible: true; }\ntool.shell.shell { allow: true !important; } /* lint-ignore drift: x */")
	f.Add("@layer a, b; @layer a { file.generated { editable: false !locked; } } mode#review file:not(.x) { editable: true; }")
	f.Add("tool { allow-pattern: \"*a*\", \"\"; deny-pattern: \"**\"; only-kits: none; max-level: 3; } principal tool { max-level: 9 }")
	f.Add("* { visible: true; } dir > file, file:has(> node) { show: body; show: outline }")
	reg := vocabulary(f)
	w := worldOf(f, reg, smellWorld)
	f.Fuzz(func(t *testing.T, text string) {
		v, list := parser.Parse(&diag.Source{Name: "v.umw", Text: []byte(text)})
		if list.HasErrors() {
			return
		}
		bound := reg.Bind(registry.Options{}, v)
		if bound.Diagnostics.HasErrors() || len(bound.Rules) > 500 {
			return
		}
		res, list := cascade.New(w, bound).Resolve(nil)
		if list.HasErrors() {
			return
		}
		in := Input{Views: []*ast.View{v}, Resolution: res}
		found := Run(in, detectors())
		if a, b := lines(found), lines(Run(in, detectors())); a != b {
			t.Fatalf("first\n%s\nthen\n%s", a, b)
		}
		for src, text := range Apply(found) {
			if _, list := parser.Parse(&diag.Source{Name: "v.umw", Text: text}); list.HasErrors() {
				t.Fatalf("mended %q to %q: %v", src.Text, text, list)
			}
		}
	})
}

// FuzzReadBaseline reads any text: it is a baseline or an error.
func FuzzReadBaseline(f *testing.F) {
	f.Add([]byte(`{"schema": "umwelt.policy/1", "context": {"mode": "review", "tool": ["a", "b"]}, "entities": [{"type": "tool", "id": "Bash", "id-bytes": "QmFzaA==", "properties": {"allow": {"value": "true", "values": []}}}]}`))
	f.Add([]byte(`{"schema": "umwelt.policy/2"}`))
	f.Add([]byte("SQLite format 3\x00"))
	reg := vocabulary(f)
	w := worldOf(f, reg, smellWorld)
	in := Input{Views: []*ast.View{viewOf(f, "tool { allow: true; }")}}
	bound := reg.Bind(registry.Options{}, in.Views...)
	res, list := cascade.New(w, bound).Resolve(nil)
	if list.HasErrors() {
		f.Fatal(list)
	}
	in.Resolution = res
	f.Fuzz(func(t *testing.T, text []byte) {
		b, err := ReadBaseline("b.json", text)
		if (b == nil) == (err == nil) {
			t.Fatalf("%v, %v", b, err)
		}
		if b != nil {
			in := in
			in.Baseline = b
			Run(in, []Detector{Drift})
		}
	})
}
