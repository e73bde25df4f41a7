package umwelt_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"umwelt"
	"umwelt/diag"
	"umwelt/world"
)

func textPolicy(t testing.TB, view, what string, context ...umwelt.Ref) *umwelt.Policy {
	t.Helper()
	p := umwelt.LoadText(umwelt.Options{Context: context}, umwelt.Texts{
		Views: []*umwelt.Source{{Name: "v.umw", Text: []byte(view)}}, World: &umwelt.Source{Name: "w.world.yml", Text: []byte(what)},
	})
	if err := p.Err(); err != nil {
		t.Fatal(err)
	}
	return p
}

func find(t testing.TB, p *umwelt.Policy, typ, id string) umwelt.Subject {
	t.Helper()
	s, err := p.Find(typ, id)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestTextReadsNoFile refuses everything by which text could reach for a file.
func TestTextReadsNoFile(t *testing.T) {
	for name, c := range map[string]struct {
		o          umwelt.Options
		view, what string
		want       diag.Code
	}{
		"import":       {view: `@import "other.umw";`, want: diag.Import},
		"include":      {what: "include: [base.world.yml]", want: diag.Include},
		"recipe":       {what: "discover: [{ matcher: filesystem }]", want: diag.Matcher},
		"world path":   {o: umwelt.Options{World: "x.world.yml"}, want: diag.BadOption},
		"vocabularies": {o: umwelt.Options{Vocabularies: []string{"x.umw"}}, want: diag.BadOption},
		"stdin":        {o: umwelt.Options{Stdin: strings.NewReader("")}, want: diag.BadOption},
		"no directory": {o: umwelt.Options{Root: "api_test.go"}, want: diag.BadPath},
	} {
		t.Run(name, func(t *testing.T) {
			texts := umwelt.Texts{Views: []*umwelt.Source{{Name: "v.umw", Text: []byte(c.view)}}}
			if c.what != "" {
				texts.World = &umwelt.Source{Name: "w.world.yml", Text: []byte(c.what)}
			}
			p := umwelt.LoadText(c.o, texts)
			var d diag.Diagnostic
			if !errors.As(p.Err(), &d) || d.Code != c.want {
				t.Errorf("%v, want %s", p.Err(), c.want)
			}
			if _, err := p.Find("file", "a"); err == nil {
				t.Error("a policy with errors answers")
			}
		})
	}
}

// TestTextIsLikeFiles holds LoadText to what Load says of the same texts.
func TestTextIsLikeFiles(t *testing.T) {
	dir := t.TempDir()
	view, what := `tool#Bash { allow: true; max-level: 2; } tool.slow { allow: false; }`,
		"tools: [Read]\nentities:\n  - { type: tool, id: Bash, attributes: { level: 4 } }\n  - { type: tool, id: Sleep, classes: [slow] }\n"
	for name, text := range map[string]string{"v.umw": view, "v.world.yml": what} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	a := umwelt.Load(umwelt.Options{Root: dir}, filepath.Join(dir, "v.umw"))
	b := textPolicy(t, view, what)
	if err := a.Err(); err != nil {
		t.Fatal(err)
	}
	as, err := a.Type("tool")
	if err != nil {
		t.Fatal(err)
	}
	bs, err := b.Type("tool")
	if err != nil {
		t.Fatal(err)
	}
	show := func(list []umwelt.Answer) (out string) {
		for _, x := range list {
			out += fmt.Sprintln(x.ID, x.Property, x.Value, x.Source, x.Because)
		}
		return out
	}
	if show(as) != show(bs) || !strings.Contains(show(as), "level 4 is above max-level 2") {
		t.Errorf("files:\n%s\ntext:\n%s", show(as), show(bs))
	}
}

// TestQuestions lists questions that cannot be answered.
func TestQuestions(t *testing.T) {
	p := textPolicy(t, `tool#Bash { allow: true; }`, "tools: [Bash, Read]")
	bash := find(t, p, "tool", "Bash")
	other := textPolicy(t, ``, "tools: [Bash]")
	for name, c := range map[string]struct {
		ask  func() error
		want diag.Code
	}{
		"type":     {func() error { _, err := p.Find("tol", "Bash"); return err }, diag.UnknownType},
		"entity":   {func() error { _, err := p.Find("tool", "Bsah"); return err }, diag.UnknownEntity},
		"absolute": {func() error { _, err := p.Find("file", "/etc/passwd"); return err }, diag.UnknownEntity},
		"above":    {func() error { _, err := p.Find("file", "a/../../b"); return err }, diag.UnknownEntity},
		"no path":  {func() error { _, err := p.Find("file", ""); return err }, diag.UnknownEntity},
		"property": {func() error { _, err := p.Property(bash, "alow"); return err }, diag.UnknownProperty},
		"nothing":  {func() error { _, err := p.Property(umwelt.Subject{}, "allow"); return err }, diag.UnknownEntity},
		"foreign":  {func() error { _, err := other.Property(bash, "allow"); return err }, diag.UnknownEntity},
		"selector": {func() error { _, err := p.Select("tool["); return err }, diag.Syntax},
		"word":     {func() error { _, err := p.Select("tool:nonesuch"); return err }, diag.UnknownPseudo},
		"none":     {func() error { _, err := p.Select("tool.none"); return err }, diag.UnknownEntity},
		"context":  {func() error { _, err := p.In(umwelt.Ref{Type: "mode", ID: "none"}); return err }, diag.UnknownEntity},
		"target":   {func() error { _, err := p.Compile("bwarp", nil); return err }, diag.UnknownTarget},
		"option":   {func() error { _, err := p.Compile("bwrap", map[string]string{"x": ""}); return err }, diag.BadOption},
		"value":    {func() error { _, err := p.Check(bash, "allow", "perhaps"); return err }, diag.BadValue},
		"values":   {func() error { _, err := p.Check(bash, "allow", "true", "false"); return err }, diag.BadValue},
		"require":  {func() error { return p.Require(bash, "alow", "true") }, diag.UnknownProperty},
		"entity type": {func() error {
			_, err := p.Extend(umwelt.Addition{Entities: []umwelt.Entity{{Type: "tol", ID: "x"}}})
			return err
		}, diag.UnknownType},
		"entity twice": {func() error {
			_, err := p.Extend(umwelt.Addition{Entities: []umwelt.Entity{{Type: "tool", ID: "Bash"}}})
			return err
		}, diag.BadEntity},
		"entity id": {func() error {
			_, err := p.Extend(umwelt.Addition{Entities: []umwelt.Entity{{Type: "tool"}}})
			return err
		}, diag.BadEntity},
		"entity parent": {func() error {
			_, err := p.Extend(umwelt.Addition{Entities: []umwelt.Entity{{Type: "file", ID: "a", Parent: umwelt.Ref{Type: "dir", ID: "b"}}}})
			return err
		}, diag.BadEntity},
		"entity path": {func() error {
			_, err := p.Extend(umwelt.Addition{Entities: []umwelt.Entity{{Type: "file", ID: "../a"}}})
			return err
		}, diag.BadPath},
		"entity fact": {func() error {
			_, err := p.Extend(umwelt.Addition{Entities: []umwelt.Entity{{Type: "tool", ID: "x", Attributes: []world.Attribute{{Name: "level", Text: "high"}}}}})
			return err
		}, diag.BadEntity},
		"view":       {func() error { return extendBy(p, `tool { allow: perhaps; }`) }, diag.BadValue},
		"syntax":     {func() error { return extendBy(p, `tool {`) }, diag.Unterminated},
		"import":     {func() error { return extendBy(p, `@import "x.umw";`) }, diag.Import},
		"vocabulary": {func() error { return extendBy(p, `@taxon t { axis: 9; description: "T."; }`) }, diag.BadVocabulary},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.ask()
			var q *umwelt.QuestionError
			if !errors.As(err, &q) || !containsCode(q.Problems, c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

func extendBy(p *umwelt.Policy, view string) error {
	_, err := p.Extend(umwelt.Addition{Views: []*umwelt.Source{{Name: "more.umw", Text: []byte(view)}}})
	return err
}

func containsCode(list diag.List, code diag.Code) bool {
	for _, d := range list {
		if d.Code == code && d.Severity == diag.Error {
			return true
		}
	}
	return false
}

// TestLeftOutIsNotSupposed holds that a path which the world leaves out is not answered as
// if it were to be made.
func TestLeftOutIsNotSupposed(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"src/a.py", "secret/key/id"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p := umwelt.LoadText(umwelt.Options{Root: dir}, umwelt.Texts{
		Views: []*umwelt.Source{{Name: "v.umw", Text: []byte(`file { editable: true; }`)}},
		World: &umwelt.Source{Name: "w.world.yml", Text: []byte(`discover: [{ matcher: filesystem, exclude: ["secret/**"] }]`)},
	})
	for path, ok := range map[string]bool{"src/a.py": true, "src/new.py": true, "new": true, "secret": false, "secret/key/id": false, "secret/other": false, "secretly": true} {
		s, err := p.Find("file", path)
		if (err == nil) != ok {
			t.Errorf("%s: %v", path, err)
		}
		if err == nil {
			if a, err := p.Property(s, "editable"); err != nil || !a.Bool() {
				t.Errorf("%s: %v, %v", path, a, err)
			}
		}
		_, err = p.Select(fmt.Sprintf("file[path=%q]", path))
		if (err == nil) != ok {
			t.Errorf("selecting %s: %v", path, err)
		}
	}
}

// TestCheck lists what each comparison admits.
func TestCheck(t *testing.T) {
	p := umwelt.LoadText(umwelt.Options{}, umwelt.Texts{
		Vocabularies: []*umwelt.Source{{Name: "shop.umw", Text: []byte(`
@taxon goods { axis: 20; description: "Goods."; }
@entity crate { taxon: goods; description: "A crate."; }
@property crate.open { type: boolean; restrictive: false; description: "Open."; }
@property crate.colour { type: enum(red, green); description: "Colour."; }
@property crate.max-load { type: size; comparison: "<="; restrictive: min; description: "Load."; }
@property crate.min-age { type: integer; range: 0 9; comparison: ">="; restrictive: max; description: "Age."; }
@property crate.only-kinds { type: set of identifier; comparison: "in"; restrictive: subset; description: "Kinds."; }
@property crate.any-of-seals { type: set of identifier; comparison: "overlap"; restrictive: subset; description: "Seals."; }
@property crate.say-pattern { type: list of string; comparison: "pattern"; restrictive: subset; description: "Words."; }
@property crate.never-pattern { type: list of string; comparison: "pattern"; restrictive: superset; description: "Words."; }
@property crate.tags { type: set of identifier; description: "Tags."; }
`)}},
		Views: []*umwelt.Source{{Name: "v.umw", Text: []byte(`
crate { open: true; colour: red; max-load: 1MB; min-age: 3; only-kinds: a, b; any-of-seals: x, y; say-pattern: "git *", ls; never-pattern: "rm *"; tags: p, q; }
crate#box { any-of-seals: y, z; }
`)}},
		World: &umwelt.Source{Name: "w.world.yml", Text: []byte("entities: [{ type: crate, id: box }]")},
	})
	if err := p.Err(); err != nil {
		t.Fatal(err)
	}
	box := find(t, p, "crate", "box")
	for _, c := range []struct {
		property string
		want     string
		ok       bool
	}{
		{"open", "true", true}, {"open", "false", false}, {"colour", "red", true}, {"colour", "green", false},
		{"max-load", "1024KB", true}, {"max-load", "1B", true}, {"max-load", "2MB", false},
		{"min-age", "3", true}, {"min-age", "9", true}, {"min-age", "10", true}, {"min-age", "2", false},
		{"only-kinds", "a", true}, {"only-kinds", "b|a", true}, {"only-kinds", "a|c", false},
		{"any-of-seals", "y", true}, {"any-of-seals", "x|z", true}, {"any-of-seals", "x", false},
		{"say-pattern", "git push", true}, {"say-pattern", "ls", true}, {"say-pattern", "rm", false}, {"say-pattern", "ls|rm", false},
		{"say-pattern", "git log && rm x", false}, {"never-pattern", "ls|ls x", true}, {"never-pattern", "ls|ls; rm x", false},
		{"tags", "q|p", true}, {"tags", "p", false},
	} {
		want := strings.Split(c.want, "|")
		if got, err := p.Check(box, c.property, want...); err != nil || got != c.ok {
			t.Errorf("%s admits %s: %v, %v", c.property, c.want, got, err)
		}
		err := p.Require(box, c.property, want...)
		var denied *umwelt.DeniedError
		if errors.As(err, &denied) == c.ok {
			t.Errorf("requiring %s of %s: %v", c.want, c.property, err)
		}
		if denied != nil && (denied.Why == "" || denied.Property != c.property || denied.Proof.Replay() != nil || !denied.Answer.From.IsValid()) {
			t.Errorf("%+v", denied)
		}
	}
}

// TestSecret holds that no answer, proof or denial tells a secret.
func TestSecret(t *testing.T) {
	p := textPolicy(t, `env#TOKEN { value: hunter2; }`, "entities: [{ type: env, id: TOKEN }]")
	s := find(t, p, "env", "TOKEN")
	a, err := p.Property(s, "value")
	if err != nil || !a.Secret || a.Source != "cascade" {
		t.Fatalf("%+v, %v", a, err)
	}
	proof, err := p.Explain(s, "value")
	if err != nil {
		t.Fatal(err)
	}
	_, whyNot := proof.WhyNot("hunter2")
	_, checked := p.Check(s, "value", "hunter2")
	required := p.Require(s, "value", "hunter2")
	if whyNot == nil || checked == nil || required == nil {
		t.Errorf("a secret is compared: %v, %v, %v", whyNot, checked, required)
	}
	for _, text := range []string{fmt.Sprintf("%+v", a), proof.String(), fmt.Sprint(proof.Document()), checked.Error(), required.Error(), whyNot.Error()} {
		if strings.Contains(text, "hunter2") {
			t.Errorf("the secret is in %s", text)
		}
	}
}

// TestExtendedPolicy holds an extended policy, and what works out the whole of it, to one
// that was loaded with everything.
func TestExtendedPolicy(t *testing.T) {
	view, more := `file { editable: false; } dir:has(> file.new) > file { editable: true; }`, `mode#review file { editable: false !important; }`
	what := "modes: [review, build]\nentities:\n  - { type: dir, id: src }\n  - { type: file, id: src/a.py }\n"
	added := "  - { type: file, id: src/b.py, classes: [new] }\n"
	context := umwelt.Ref{Type: "mode", ID: "build"}
	p := textPolicy(t, view, what, context)
	x, err := p.Extend(umwelt.Addition{
		Entities: []umwelt.Entity{{Type: "file", ID: "src/b.py", Classes: []string{"new"}}},
		Views:    []*umwelt.Source{{Name: "more.umw", Text: []byte(more)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	whole := textPolicy(t, view+"\n"+more, what+added, context)
	ask := func(p *umwelt.Policy) string {
		var b strings.Builder
		for _, id := range []string{"src/a.py", "src/b.py", "src/c.py", "d.py"} {
			a, err := p.Property(find(t, p, "file", id), "editable")
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintln(&b, id, a.Value, a.Source)
		}
		return b.String()
	}
	want := ask(whole)
	if got := ask(x); got != want {
		t.Errorf("extended:\n%s\nloaded:\n%s", got, want)
	}
	if got := ask(x.Complete()); got != want || x.Complete().World == nil {
		t.Errorf("completed:\n%s\nloaded:\n%s", got, want)
	}
	if got := ask(p); strings.Contains(got, "true") {
		t.Errorf("the original has changed:\n%s", got)
	}
	in, err := x.In(umwelt.Ref{Type: "mode", ID: "review"})
	if err != nil || strings.Contains(ask(in), "true") {
		t.Errorf("in review:\n%s%v", ask(in), err)
	}
	if list, err := x.Select("file.new"); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
	out, err := x.Compile("json", nil)
	if err != nil || !strings.Contains(string(out.Text), "src/b.py") {
		t.Errorf("compiled without what was added: %v", err)
	}
	// What the original knows may be asked about in what extends it.
	if a, err := x.Property(find(t, p, "file", "src/a.py"), "editable"); err != nil || !a.Bool() {
		t.Errorf("%v, %v", a, err)
	}
}

// TestManyReaders asks, extends and compiles one policy from many goroutines.
func TestManyReaders(t *testing.T) {
	p := textPolicy(t, `file { editable: true; } tool { allow: true; }`, "tools: [A, B]\nentities:\n  - { type: dir, id: src }\n")
	var wg sync.WaitGroup
	for k := range 8 {
		wg.Go(func() {
			s, err := p.Find("file", fmt.Sprintf("src/%d.py", k))
			if err != nil {
				t.Error(err)
				return
			}
			if err := p.Require(s, "editable", "true"); err != nil {
				t.Error(err)
			}
			x, err := p.Extend(umwelt.Addition{Views: []*umwelt.Source{{Name: "x.umw", Text: []byte(`file { editable: false; }`)}}})
			if err != nil {
				t.Error(err)
				return
			}
			if ok, err := x.Check(s, "editable", "true"); ok || err != nil {
				t.Error(ok, err)
			}
			if _, err := p.Compile("json", nil); err != nil {
				t.Error(err)
			}
			if _, err := x.Select("tool"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}
