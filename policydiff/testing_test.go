package policydiff_test

import (
	"fmt"
	"os"
	"strings"

	"umwelt"
	"umwelt/ast"
	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/parser"
	"umwelt/policydiff"
	"umwelt/registry"
	"umwelt/world"
)

var vocabulary = func() *registry.Registry {
	reg, list := umwelt.Vocabulary(nil)
	if list.HasErrors() {
		fmt.Fprintln(os.Stderr, list.Err())
		os.Exit(1)
	}
	return reg
}()

// fataler is a test, a benchmark or a property.
type fataler interface {
	Fatalf(format string, args ...any)
}

func bind(t fataler, name, text string) *registry.Bound {
	v, list := parser.Parse(&diag.Source{Name: name, Text: []byte(text)})
	b := vocabulary.Bind(registry.Options{}, []*ast.View{v}...)
	if list = append(list, b.Diagnostics...); list.HasErrors() {
		t.Fatalf("%s: %v\n%s", name, list.Err(), text)
	}
	return b
}

// load makes the world of a file, or the implicit world of nothing where text is "".
func load(t fataler, text string, bounds ...*registry.Bound) *world.World {
	o := world.Options{Registry: vocabulary}
	for _, b := range bounds {
		o.Named = append(o.Named, b.Pins()...)
		o.Declared = append(o.Declared, b.Entities...)
	}
	var w *world.World
	var list diag.List
	if text == "" {
		w, list = world.Implicit(o)
	} else {
		w, list = world.LoadText(&diag.Source{Name: "w.world.yml", Text: []byte(text)}, "", o)
	}
	if list.HasErrors() {
		t.Fatalf("%v\n%s", list.Err(), text)
	}
	return w
}

func compare(t fataler, worldText, old, now string, o policydiff.Options) *policydiff.Result {
	a, b := bind(t, "a.umw", old), bind(t, "b.umw", now)
	w := load(t, worldText, a, b)
	r, list := policydiff.Compare([]policydiff.Pair{{Old: cascade.New(w, a), New: cascade.New(w, b)}}, o)
	if list.HasErrors() {
		t.Fatalf("%v", list.Err())
	}
	return r
}

// print writes groups shortly, one a line.
func print(r *policydiff.Result) string {
	var b strings.Builder
	for _, g := range r.Groups {
		fmt.Fprintf(&b, "%s %s", g.Kind, g.Type.Name)
		if g.Property != nil {
			fmt.Fprintf(&b, ".%s", g.Property.Name)
		}
		fmt.Fprintf(&b, " %s -> %s:", printAnswer(&g.Old), printAnswer(&g.New))
		if g.Later {
			b.WriteString(" later in")
		}
		for _, e := range g.Entities {
			b.WriteString(" " + e.ID)
		}
		if len(g.Contexts) < len(r.Contexts) {
			for _, c := range g.Contexts {
				fmt.Fprintf(&b, " %v", r.Contexts[c].Refs)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func printAnswer(a *policydiff.Answer) string {
	if a.Absent {
		return "absent"
	}
	var out []string
	for _, v := range a.Values {
		if v == nil {
			out = append(out, "none")
		} else {
			out = append(out, v.Text)
		}
	}
	text := strings.Join(out, " or ")
	var lines []string
	for _, c := range a.Causes {
		switch {
		case c.Declaration != nil:
			lines = append(lines, c.Declaration.At.String())
		case c.Rule != nil:
			lines = append(lines, c.Rule.At.String())
		default:
			lines = append(lines, c.Fixed.At.String())
		}
	}
	if lines != nil {
		text += " (" + strings.Join(lines, " ") + ")"
	}
	return text
}
