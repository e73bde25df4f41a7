package umwelt_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"umwelt"
	"umwelt/cascade"
	"umwelt/compilers"
	"umwelt/compilers/all"
	"umwelt/diag"
	"umwelt/report"
)

// everything is what a policy says in every form: each target's text with its coverage, and
// the dry-run with every finding.
func everything(t *testing.T, p *umwelt.Policy) map[string]string {
	t.Helper()
	if err := p.Err(); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, c := range all.Compilers() {
		compiled := c.Compile(p.Input(nil, "1.0"))
		out[c.Info.Name] = string(compiled.Text) + string(compilers.Cover(c.Info, p.Resolution, compiled.Notes).JSON())
		for _, d := range compiled.Diagnostics {
			out[c.Info.Name] += d.Error()
		}
	}
	doc := report.DryRun(p.Resolution, false)
	doc.Diagnostics = report.Diagnostics(p.Diagnostics)
	var b bytes.Buffer
	if err := doc.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	out["dry-run"] = b.String()
	for i := range p.World.Entities {
		s := umwelt.Subject{Entity: &p.World.Entities[i], Index: i}
		for _, prop := range s.Entity.Type.Properties {
			proof, err := p.Explain(s, prop.Name)
			if err != nil {
				t.Fatal(err)
			}
			out["explain"] += proof.String()
		}
	}
	return out
}

// TestSavedPoliciesAnswerAlike saves every shipped example, opens it again elsewhere, and
// compares every answer, proof and compiled text byte for byte, also in another context and
// once saved again.
func TestSavedPoliciesAnswerAlike(t *testing.T) {
	views, err := filepath.Glob("examples/*/*.umw")
	if err != nil || len(views) < 10 {
		t.Fatalf("only %d examples: %v", len(views), err)
	}
	for _, view := range views {
		t.Run(view, func(t *testing.T) {
			root := filepath.Join(filepath.Dir(view), "project")
			if _, err := os.Stat(root); err != nil {
				root = filepath.Dir(view)
			}
			p := umwelt.Load(umwelt.Options{Root: root}, view)
			want := everything(t, p)
			file := filepath.Join(t.TempDir(), "policy.db")
			if err := p.Save(file); err != nil {
				t.Fatal(err)
			}
			again := umwelt.Open(file)
			compare(t, want, everything(t, again))
			loaded := umwelt.Load(umwelt.Options{}, file)
			if err := loaded.Err(); err != nil || loaded.World.Digest() != p.World.Digest() {
				t.Errorf("Load: %v", err)
			}
			for _, context := range contexts(p) {
				other := umwelt.Load(umwelt.Options{Root: root, Context: context}, view)
				compare(t, everything(t, other), everything(t, umwelt.Open(file, context...)))
			}
		})
	}
}

// contexts names one entity of each type that a qualifier speaks of.
func contexts(p *umwelt.Policy) [][]cascade.Ref {
	var out [][]cascade.Ref
	var seen []string
	for _, rule := range p.Bound.Rules {
		for _, q := range rule.Selector.Qualifiers {
			if q.Type == nil || slices.Contains(seen, q.Text) {
				continue
			}
			seen = append(seen, q.Text)
			for i := range p.World.Entities {
				if e := &p.World.Entities[i]; e.Type == q.Type {
					out = append(out, []cascade.Ref{{Type: e.Type.Name, ID: e.ID}})
					break
				}
			}
		}
	}
	return out
}

func compare(t *testing.T, want, got map[string]string) {
	t.Helper()
	for what, text := range want {
		if got[what] == text {
			continue
		}
		a, b := strings.Split(text, "\n"), strings.Split(got[what], "\n")
		for i := range min(len(a), len(b)) {
			if a[i] != b[i] {
				t.Errorf("%s differs:\n%.500q\n%.500q", what, a[i], b[i])
				break
			}
		}
		if len(a) != len(b) {
			t.Errorf("%s has %d lines, not %d", what, len(b), len(a))
		}
	}
}

// TestSavedWithoutSecrets saves a policy with secrets in every place where a view can hold
// one, finds none of them in the file, and everything else as it was.
func TestSavedWithoutSecrets(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, map[string]string{
		"v.umw": `@import "lib/more.umw" layer(base);
env#A { allow: true; value: "hunter-one"; } /* not value: hunter-two */
env#A { value: hunter-three four
  hünter-five; value: "hunter-six" !important; }
env { set-x: 1; allow: true; } // set-it to hunter-seven
@env { allow: B, C; set-D: "hunter-eight"; set-D: hunter-nine; }
wizard { value: hunter-ten; }
file { visible: true; }
tool#Bash { allow: true; }
`,
		"lib/more.umw":   "env[name=\"B\"] { value: 'hunter-eleven'; }\n@import \"deeper.umw\";\n",
		"lib/deeper.umw": "file { editable: true; }\n",
		"w.world.yml":    "name: w\nenv: [A, B]\ntools: [Bash]\n# {{ hunter }}\noverrides: { \"file#x\": { classes: [y] } }\n",
	})
	p := umwelt.Load(umwelt.Options{World: "w.world.yml"}, "v.umw")
	want := everything(t, p)
	if err := p.Save("policy.db"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("policy.db")
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"hunter", "hünter", "four"} {
		if i := bytes.Index(text, []byte(word)); i >= 0 {
			t.Errorf("the file holds %q", text[max(0, i-40):i+40])
		}
	}
	t.Chdir(t.TempDir())
	file := filepath.Join(t.TempDir(), "policy.db")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	again := umwelt.Open(file)
	got := everything(t, again)
	compare(t, want, got)
	if len(again.Sources) != 3 || len(p.Diagnostics) == 0 {
		t.Errorf("%d sources, %d findings", len(again.Sources), len(p.Diagnostics))
	}
	render := func(p *umwelt.Policy) string {
		var b bytes.Buffer
		if err := diag.RenderAll(&b, p.Diagnostics, false); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	if a, b := render(p), render(again); a != b {
		t.Errorf("findings:\n%s\n---\n%s", a, b)
	}
}

// TestSavedExtension saves what was extended, and opens it with all that was added.
func TestSavedExtension(t *testing.T) {
	p := umwelt.LoadText(umwelt.Options{}, umwelt.Texts{
		Views: []*umwelt.Source{{Name: "v.umw", Text: []byte("tool { allow: false; }\n")}},
		World: &umwelt.Source{Name: "w.world.yml", Text: []byte("tools: [Bash]\n")},
	})
	more, err := p.Extend(umwelt.Addition{
		Entities: []umwelt.Entity{{Type: "tool", ID: "Read"}},
		Views:    []*umwelt.Source{{Name: "more.umw", Text: []byte("tool#Read { allow: true; }\n")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "policy.db")
	if err := more.Save(file); err != nil {
		t.Fatal(err)
	}
	again := umwelt.Open(file)
	for id, want := range map[string]string{"Read": "true", "Bash": "false"} {
		s, err := again.Find("tool", id)
		if err != nil {
			t.Fatal(err)
		}
		if a, err := again.Property(s, "allow"); err != nil || a.Value != want {
			t.Errorf("%s: %+v %v", id, a, err)
		}
	}
	if err := more.Save(filepath.Join(t.TempDir(), "absent", "policy.db")); err == nil {
		t.Error("saved where there is no directory")
	}
}

// TestNoDatabase holds that what is named like a database and is none is not read as a view
// that says nothing.
func TestNoDatabase(t *testing.T) {
	for name, text := range map[string]string{"empty.db": "", "cut.sqlite": "SQLite for", "view.DB": "tool { allow: true; }"} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, p := range []*umwelt.Policy{umwelt.Load(umwelt.Options{Root: filepath.Dir(path)}, path), umwelt.Open(path)} {
			if err := p.Err(); err == nil || !strings.Contains(err.Error(), "database") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
