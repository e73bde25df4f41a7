package umwelt_test

import (
	"errors"
	"strings"
	"testing"

	"umwelt"
)

func TestCall(t *testing.T) {
	const world = `
entities:
  - { type: tool, id: Bash, attributes: { level: 4, kit: shell } }
  - { type: kit, id: shell }
  - { type: file, id: a.py, attributes: { path: a.py } }
`
	const git = `tool { allow: true; allow-pattern: "git *"; } `
	for _, tt := range []struct{ name, view, call, property, pattern, want string }{
		{"nothing allows it", ``, "ls", "allow", "", "allow is false"},
		{"allowed", `tool { allow: true }`, "ls; rm x", "", "", ""},
		{"a fitting pattern", git, "git log", "", "", ""},
		{"two commands", git, "git log && curl x", "allow-pattern", "", `no pattern of allow-pattern fits, since the * of "git *" spans nothing`},
		{"another program", git, "curl x", "allow-pattern", "", "no pattern of allow-pattern fits"},
		{"a pattern is no permission", `tool { allow-pattern: "git *"; }`, "git log", "allow", "", "allow is false"},
		{"no pattern at all", `tool { allow: true; allow-pattern: none; }`, "git log", "allow-pattern", "", "no pattern of allow-pattern fits"},
		{"a denial", git + `tool { deny-pattern: "git push *"; }`, "git push", "deny-pattern", "git push *", `deny-pattern "git push *" fits`},
		{"a denial beats an exact pattern", `tool { allow: true; allow-pattern: "git push"; deny-pattern: "git *"; }`, "git push", "deny-pattern", "git *", `deny-pattern "git *" fits`},
		{"a denial inside", `tool { allow: true; deny-pattern: "curl *"; }`, "ls && A=1 curl x", "deny-pattern", "curl *", `deny-pattern "curl *" fits`},
		{"no denial fits", `tool { allow: true; deny-pattern: "curl *"; }`, "ls", "", "", ""},
		{"what a denial cannot see", `tool { allow: true; deny-pattern: "curl *"; }`, "$X x", "deny-pattern", "", "what it runs is known only once it runs"},
		{"no denial at all", `tool { allow: true; deny-pattern: none; }`, "$X x", "", "", ""},
		{"both lists", git + `tool { only-match: "* log", "* diff"; }`, "git log", "", "", ""},
		{"one of both lists", git + `tool { only-match: "* log", "* diff"; }`, "git push", "only-match", "", "no pattern of only-match fits"},
		{"a gate", `tool { allow: true; max-level: 2; }`, "ls", "allow", "", "allow is false"},
		{"a kit", `tool { allow: true } kit#shell { allow: false }`, "ls", "allow", "", "allow is false"},
		{"too long", `tool { allow: true; allow-pattern: "*"; }`, strings.Repeat("a", 5<<20), "allow-pattern", "", "no pattern of allow-pattern fits, since the call is too long"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := textPolicy(t, tt.view, world)
			bash := find(t, p, "tool", "Bash")
			err := p.Call(bash, tt.call)
			proof, perr := p.ExplainCall(bash, tt.call)
			if perr != nil || proof.Allowed != (err == nil) || proof.Allowed != (tt.want == "") {
				t.Fatalf("%v, %v, %+v", err, perr, proof)
			}
			var denied *umwelt.DeniedError
			if tt.want == "" {
				return
			}
			if !errors.As(err, &denied) {
				t.Fatalf("%v", err)
			}
			if denied.Property != tt.property || denied.Pattern != tt.pattern || !strings.HasPrefix(denied.Why, tt.want) || denied.Proof.Replay() != nil {
				t.Errorf("%s %q: %s", denied.Property, denied.Pattern, denied.Why)
			}
		})
	}
	var question *umwelt.QuestionError
	p := textPolicy(t, git, world)
	if err := p.Call(find(t, p, "file", "a.py"), "x"); !errors.As(err, &question) {
		t.Errorf("a file is called: %v", err)
	}
}

// TestCallKeepsSecrets holds that no denial tells a pattern that is a secret, and that
// directions and not names say which patterns refuse.
func TestCallKeepsSecrets(t *testing.T) {
	p := umwelt.LoadText(umwelt.Options{}, umwelt.Texts{
		Vocabularies: []*umwelt.Source{{Name: "shop.umw", Text: []byte(`
@taxon goods { axis: 20; description: "Goods."; }
@entity crate { taxon: goods; description: "A crate."; }
@property crate.open { type: boolean; restrictive: false; description: "Open."; }
@property crate.sealed { type: boolean; restrictive: true; description: "Sealed."; }
@property crate.allow-never { type: list of string; comparison: "pattern"; restrictive: superset; secret: true; description: "Never."; }
@property crate.deny-unless { type: list of string; comparison: "pattern"; restrictive: subset; description: "Only."; }
`)}},
		Views: []*umwelt.Source{{Name: "v.umw", Text: []byte(`crate { open: true; sealed: false; allow-never: "hush *"; deny-unless: "lift *", "hush *"; }
crate#shut { sealed: true; }`)}},
		World: &umwelt.Source{Name: "w.world.yml", Text: []byte("entities: [{ type: crate, id: box }, { type: crate, id: shut }]")},
	})
	if err := p.Err(); err != nil {
		t.Fatal(err)
	}
	box := find(t, p, "crate", "box")
	if err := p.Call(box, "lift it"); err != nil {
		t.Error(err)
	}
	if err := p.Call(find(t, p, "crate", "shut"), "lift it"); err == nil || !strings.Contains(err.Error(), "sealed is true") {
		t.Errorf("%v", err)
	}
	var denied *umwelt.DeniedError
	err := p.Call(box, "hush now")
	if !errors.As(err, &denied) || denied.Property != "allow-never" || denied.Pattern != "" || strings.Contains(err.Error(), "hush") || !denied.Answer.Secret {
		t.Errorf("%+v", err)
	}
	if err := p.Call(box, "drop it"); !errors.As(err, &denied) || denied.Property != "deny-unless" {
		t.Errorf("%v", err)
	}
}
