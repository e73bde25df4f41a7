package narrow

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"umwelt/ast"
	"umwelt/ratchet"
)

var (
	dirNames  = []string{"src", "src/lib", "src/lib/deep", "docs", "out", "out/tmp"}
	fileNames = []string{"a.py", "b.py", "c.md", "log1.txt", "log22.txt", "Makefile", ".env", "x y", "[1]", "we*rd{a}"}
)

// hold checks what every proposal promises.
func hold(t *rapid.T, in Input, runs [][]ratchet.Observation, around string) {
	first, err := Propose(in, collect(in.Options, runs))
	if err != nil {
		t.Fatalf("%v\n%s\n%+v", err, around, runs)
	}
	second, err := Propose(in, collect(in.Options, shuffled(t, runs)))
	if err != nil || !bytes.Equal(first.Text, second.Text) {
		t.Fatalf("not stable: %v\n%s\n%s", err, first.Text, second.Text)
	}
	again := in
	again.View = parseView(t, string(first.Text))
	third, err := Propose(again, collect(in.Options, runs))
	if err != nil || !bytes.Equal(first.Text, third.Text) {
		text := ""
		if third != nil {
			text = string(third.Text)
		}
		t.Fatalf("not idempotent: %v\n%s\n--- and again\n%s\n--- of\n%s", err, first.Text, text, around)
	}
	tight(t, again, runs, around)
}

// tight takes every granting declaration of a proposal away, and then each must deny
// something that was observed.
func tight(t *rapid.T, in Input, runs [][]ratchet.Observation, around string) {
	var err error
	if in.World, _, err = given(in.World, collect(in.Options, runs)); err != nil {
		t.Fatalf("%v", err)
	}
	p := &proposer{in: &in, c: collect(in.Options, runs), known: knownOf(in.World), report: &Report{}}
	p.material = p.c.material(&in.Options, p.known)
	p.reqs = requirements(&in, p.known, p.material, p.report)
	if tool := typeOf(in.World.Registry, "tool"); tool != nil {
		for _, r := range p.reqs {
			if r.kind == allow && r.typ == "tool" {
				r.calls = p.calls(tool, r)
			}
		}
	}
	bound, err := in.bind(in.View)
	if err != nil {
		t.Fatalf("%v", err)
	}
	w, err := settle(in.World, slices.Concat(bound.Pins(), p.supposed()))
	if err != nil {
		t.Fatalf("%v", err)
	}
	current, err := in.resolve(in.View, bound, w, knownOf(w))
	if err != nil {
		t.Fatalf("%v", err)
	}
	p.allowedNow(current)
	n := &narrower{proposer: p, t: current}
	n.units = p.units(current)
	n.c = newChoices(current, n.units)
	byDecl := map[string]*unit{}
	for _, u := range n.units {
		decl, _, _ := strings.Cut(u.at, "@")
		if u.kind == granting && u.stuck == "" && !n.unobserved(u) {
			byDecl[decl] = u
		} else {
			byDecl[decl] = nil
		}
	}
	for decl, u := range byDecl {
		if u == nil {
			continue
		}
		less := parseView(t, string(in.View.Source.Text))
		less.Statements = without(less.Statements, decl)
		text, err := printed(less)
		if err != nil {
			t.Fatalf("%v", err)
		}
		less = parseView(t, string(text))
		b, err := in.bind(less)
		if err != nil {
			t.Fatalf("%v", err)
		}
		trial, err := in.resolve(less, b, w, current.known)
		if err != nil {
			t.Fatalf("%v", err)
		}
		if !slices.ContainsFunc(p.reqs, func(r *requirement) bool { return !trial.meets(r).ok }) {
			t.Fatalf("nothing needs %s in\n%s\n--- of\n%s", u.text, in.View.Source.Text, around)
		}
	}
}

// without leaves one declaration out.
func without(items []ast.Node, decl string) []ast.Node {
	var out []ast.Node
	for _, n := range items {
		if d, ok := n.(*ast.Declaration); ok && placeOf(d.At) == decl {
			continue
		}
		if b := ast.BlockOf(n); b != nil {
			b.Items = without(b.Items, decl)
		}
		out = append(out, n)
	}
	return out
}

func TestFreshHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := gen{t}
		w := g.world()
		hold(t, Input{World: loadWorld(t, w), Options: g.options()}, g.runs(), w)
	})
}

func TestTightenedHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := gen{t}
		text, view := g.world(), g.view()
		in := Input{World: loadWorld(t, text, pinsOf(t, view)...), View: parseView(t, view), Options: g.options()}
		runs := g.runs()
		hold(t, in, runs, view+"\n"+text)
		monotone(t, in, runs)
	})
}

// monotone asks both views about everything that exists and about new files of random names.
func monotone(t *rapid.T, in Input, runs [][]ratchet.Observation) {
	p, err := Propose(in, collect(in.Options, runs))
	if err != nil {
		t.Fatalf("%v", err)
	}
	now := parseView(t, string(p.Text))
	a, err := in.bind(in.View)
	if err != nil {
		t.Fatalf("%v", err)
	}
	b, err := in.bind(now)
	if err != nil {
		t.Fatalf("%v", err)
	}
	w, err := settle(in.World, append(a.Pins(), b.Pins()...))
	if err != nil {
		t.Fatalf("%v", err)
	}
	old, err := in.resolve(in.View, a, w, knownOf(w))
	if err != nil {
		t.Fatalf("%v", err)
	}
	got, err := in.resolve(now, b, w, knownOf(w))
	if err != nil {
		t.Fatalf("%v", err)
	}
	for i := range w.Entities {
		e := &w.Entities[i]
		for _, name := range []string{"visible", "editable", "allow"} {
			q := e.Type.Property(name)
			if q == nil || e.Type.Name == "network" || e.Type.Name == "dir" {
				continue
			}
			if got.res.Get(i, q).Value.Bool() && !old.res.Get(i, q).Value.Bool() {
				t.Fatalf("%s of %s %s is given by\n%s\nand not by\n%s", name, e.Type.Name, e.ID, p.Text, in.View.Source.Text)
			}
		}
	}
	g := gen{t}
	for range 10 {
		path := g.path() + g.of("", "-a1b2c3", "/deep/x.py", ".md")
		if _, exists := old.known.fileAt[path]; exists {
			continue
		}
		for _, kind := range []kind{seeFile, changeFile} {
			r := &requirement{kind: kind, id: path}
			if got.meets(r).ok && !old.meets(&requirement{kind: kind, id: path}).ok {
				t.Fatalf("a new %s is given more by\n%s\nthan by\n%s", path, p.Text, in.View.Source.Text)
			}
		}
	}
}
