package narrow

import (
	"fmt"
	"regexp"
	"strings"

	"umwelt/ast"
	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/parser"
	"umwelt/ratchet"
	"umwelt/registry"
	"umwelt/sandbox"
	"umwelt/world"
)

// tb is what table tests and property tests have in common.
type tb interface {
	Helper()
	Fatalf(format string, args ...any)
}

var vocabulary = func() *registry.Registry {
	v, list := parser.Parse(sandbox.Vocabulary())
	reg := registry.New()
	list = append(list, reg.Load(registry.Options{}, v)...)
	if err := sandbox.Register(reg); err != nil {
		panic(err)
	}
	if list.HasErrors() {
		panic(list.Err())
	}
	return reg
}()

// snapshot is a world of paths; a final "/" makes a directory, and every directory is known
// completely. More is further lines of the world file's entities.
func snapshot(paths []string, more ...string) string {
	var b strings.Builder
	b.WriteString("meta: { level: full }\nname: w\nmodes: [implement, review]\nentities:\n  - { type: world, id: w, listed: true }\n")
	done := map[string]bool{}
	var dir func(p string)
	dir = func(p string) {
		if p == "" || done[p] {
			return
		}
		done[p] = true
		dir(dirOf(p))
		fmt.Fprintf(&b, "  - { type: dir, id: %q, listed: true, attributes: { path: %q } }\n", p, p)
	}
	for _, p := range paths {
		if d, ok := strings.CutSuffix(p, "/"); ok {
			dir(d)
			continue
		}
		dir(dirOf(p))
		fmt.Fprintf(&b, "  - { type: file, id: %q, attributes: { path: %q } }\n", p, p)
	}
	for _, m := range more {
		b.WriteString("  - " + m + "\n")
	}
	return b.String()
}

func loadWorld(t tb, text string, pins ...registry.Entity) *world.World {
	t.Helper()
	w, list := world.LoadText(&diag.Source{Name: "w.world.yml", Text: []byte(text)}, "/", world.Options{
		Registry: vocabulary, Root: "/project", Collections: sandbox.Collection, Named: pins})
	if list.HasErrors() {
		t.Fatalf("%v\n%s", list.Err(), text)
	}
	return w
}

func parseView(t tb, text string) *ast.View {
	t.Helper()
	v, list := parser.Parse(&diag.Source{Name: "v.umw", Text: []byte(text)})
	if list.HasErrors() {
		t.Fatalf("%v\n%s", list.Err(), text)
	}
	return v
}

// seen reads observations, one a line: verb, type, id, then attributes as name=value. A line
// "--" begins the next run; a verb with "!" before it was denied.
func seen(t tb, text string) (runs [][]ratchet.Observation) {
	t.Helper()
	runs = append(runs, nil)
	for n, line := range strings.Split(strings.TrimSpace(text), "\n") {
		words := strings.Split(strings.TrimSpace(line), " ")
		if words[0] == "--" {
			runs = append(runs, nil)
			continue
		}
		if len(words) < 3 {
			t.Fatalf("line %q", line)
		}
		o := ratchet.Observation{Verb: ratchet.Verb(words[0]), Type: words[1], ID: words[2], Outcome: ratchet.Allowed, At: ratchet.Place{File: "log", Line: int64(n + 1)}}
		if v, denied := strings.CutPrefix(words[0], "!"); denied {
			o.Verb, o.Outcome = ratchet.Verb(v), ratchet.Denied
		}
		var attrs []string
		for _, w := range words[3:] {
			name, value, _ := strings.Cut(w, "=")
			attrs = append(attrs, name, strings.ReplaceAll(value, "_", " "))
		}
		o.Attributes = ratchet.Attributes(attrs...)
		runs[len(runs)-1] = append(runs[len(runs)-1], o)
	}
	return runs
}

func collect(o Options, runs [][]ratchet.Observation) *Collector {
	c := NewCollector(o)
	for i, run := range runs {
		for k := range run {
			c.Add(i, &run[k])
		}
	}
	return c
}

func propose(t tb, in Input, runs [][]ratchet.Observation) *Proposal {
	t.Helper()
	if in.Root == "" {
		in.Root = "/project"
	}
	p, err := Propose(in, collect(in.Options, runs))
	if err != nil {
		t.Fatalf("%v", err)
	}
	return p
}

var observed = regexp.MustCompile(`/\* observed:[^*]*\*/`)

// bodyOf is a proposal without its head and its evidence.
func bodyOf(p *Proposal) string {
	var out []string
	for _, line := range strings.Split(string(p.Text), "\n") {
		line = observed.ReplaceAllString(line, "")
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "/* Proposed by umwelt ratchet") {
			out = append(out, strings.Join(strings.Fields(line), " "))
		}
	}
	return strings.Join(out, "\n")
}

func refs(typ, id string) []cascade.Ref { return []cascade.Ref{{Type: typ, ID: id}} }
