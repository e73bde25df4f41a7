package parser

import (
	"bytes"
	"fmt"
	"strings"

	"umwelt/ast"
	"umwelt/diag"
)

// tb is what the helpers need of a *testing.T or *rapid.T.
type tb interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Fatal(args ...any)
}

func source(text string) *diag.Source { return &diag.Source{Name: "v.umw", Text: []byte(text)} }

// mustParse reads a text that has no fault.
func mustParse(t tb, text string) *ast.View {
	t.Helper()
	v, diags := Parse(source(text))
	for _, d := range diags {
		t.Errorf("%q: %v", text, d)
	}
	return v
}

func printed(t tb, v *ast.View) string {
	t.Helper()
	var b bytes.Buffer
	if err := ast.Print(&b, v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// places lists diagnostics as "line:column code", one a line.
func places(diags diag.List) string {
	var b strings.Builder
	for _, d := range diags {
		fmt.Fprintf(&b, "%d:%d %s\n", d.Span.Start.Line, d.Span.Start.Column, d.Code)
	}
	return b.String()
}

// dump writes everything a tree holds but its spans, a line per node, so that two trees
// can be compared.
func dump(v *ast.View) string {
	var b strings.Builder
	dumpItems(&b, v.Statements, "")
	return b.String()
}

func dumpItems(b *strings.Builder, items []ast.Node, indent string) {
	for _, n := range items {
		b.WriteString(indent)
		switch n := n.(type) {
		case *ast.Comment:
			fmt.Fprintf(b, "comment %q trailing=%v blank=%v\n", n.Text, n.Trailing, n.BlankBefore)
		case *ast.Rule:
			fmt.Fprintf(b, "rule blank=%v%s\n", n.BlankBefore, dumpSelectors(n.Selectors))
			dumpItems(b, n.Block.Items, indent+"  ")
		case *ast.AtRule:
			fmt.Fprintf(b, "at %q %q%s blank=%v block=%v\n", n.Name, n.Prelude.Raw, dumpValues(n.Prelude.Values), n.BlankBefore, n.Block != nil)
			if n.Block != nil {
				dumpItems(b, n.Block.Items, indent+"  ")
			}
		case *ast.Declaration:
			fmt.Fprintf(b, "decl %q %q%s flag=%q label=%q blank=%v\n", n.Property, n.Raw, dumpValues(n.Values), n.Flag, n.Label, n.BlankBefore)
		}
	}
}

func dumpValues(values []ast.Value) string {
	var b strings.Builder
	for _, v := range values {
		fmt.Fprintf(&b, " <%s", v.Kind)
		if v.Key != "" {
			fmt.Fprintf(&b, " key=%q", v.Key)
		}
		fmt.Fprintf(&b, " %q raw=%q", v.Text, v.Raw)
		if v.Kind == ast.Number {
			fmt.Fprintf(&b, " %v %q", v.Number, v.Unit)
		}
		b.WriteString(dumpValues(v.Args) + ">")
	}
	return b.String()
}

func dumpSelectors(list []*ast.Selector) string {
	var b strings.Builder
	for _, s := range list {
		b.WriteString(" {")
		for i, c := range s.Compounds {
			if comb := s.Combinators[i]; comb != ast.None {
				fmt.Fprintf(&b, " %q ", string(rune(comb)))
			}
			if c.Parent {
				b.WriteString("&")
			}
			if c.Taxon != "" {
				fmt.Fprintf(&b, "%q|", c.Taxon)
			}
			fmt.Fprintf(&b, "%q", c.Type)
			for _, x := range c.Simples {
				fmt.Fprintf(&b, "(%d %q", x.Kind, x.Name)
				if x.Quoted {
					b.WriteString(" quoted")
				}
				if x.Op != "" {
					fmt.Fprintf(&b, " %s %q", x.Op, x.Value)
				}
				if x.Flag != 0 {
					fmt.Fprintf(&b, " %c", x.Flag)
				}
				if x.HasArg {
					fmt.Fprintf(&b, " arg %q%s", x.Arg, dumpSelectors(x.Selectors))
				}
				b.WriteString(")")
			}
		}
		b.WriteString("}")
	}
	return b.String()
}

// checkSpans fails where a span of the tree is not a range of the text in it, or its line
// and column are not those of its offset, or a child lies outside its parent.
func checkSpans(t tb, v *ast.View) {
	t.Helper()
	text := v.Source.Text
	want := slowPlaces(text)
	check := func(what string, s diag.Span) {
		t.Helper()
		if s.Source != v.Source || s.Start.Offset < 0 || s.End.Offset < s.Start.Offset || int(s.End.Offset) > len(text) {
			t.Fatalf("%s: span %v is no range of %q", what, s, text)
		}
		for _, p := range []diag.Pos{s.Start, s.End} {
			if p != want[p.Offset] {
				t.Fatalf("%s: position %+v, want %+v in %q", what, p, want[p.Offset], text)
			}
		}
	}
	var values func([]ast.Value)
	values = func(list []ast.Value) {
		for _, x := range list {
			check("value", x.At)
			values(x.Args)
		}
	}
	ast.Walk(v, func(n ast.Node) bool {
		check("node", n.Span())
		switch n := n.(type) {
		case *ast.Rule:
			check("block", n.Block.At)
			ast.WalkSelectors(n.Selectors, func(s *ast.Selector) {
				check("selector", s.At)
				for _, c := range s.Compounds {
					check("compound", c.At)
					if c.Type != "" {
						check("type", c.TypeAt)
					}
					for _, x := range c.Simples {
						check("simple", x.At)
						if x.At.Start.Offset < c.At.Start.Offset || x.At.End.Offset > c.At.End.Offset {
							t.Fatalf("simple %v outside its compound in %q", x.At, text)
						}
					}
				}
			})
		case *ast.AtRule:
			check("name", n.NameAt)
			check("prelude", n.Prelude.At)
			values(n.Prelude.Values)
		case *ast.Declaration:
			check("property", n.PropertyAt)
			check("value", n.ValueAt)
			if n.Flag != "" {
				check("flag", n.FlagAt)
			}
			values(n.Values)
		}
		return true
	})
}

// slowPlaces is the place of every offset of a text, found the plain way.
func slowPlaces(text []byte) []diag.Pos {
	at := diag.Pos{Line: 1, Column: 1}
	out := make([]diag.Pos, len(text)+1)
	for i := range out {
		at.Offset = int32(i)
		out[i] = at
		switch {
		case i == len(text):
		case text[i] == '\n':
			at.Line++
			at.Column = 1
		case text[i]&0xC0 != 0x80:
			at.Column++
		}
		if i == len(bom)-1 && bytes.HasPrefix(text, []byte(bom)) {
			at.Column = 1
		}
	}
	return out
}

// checkRoundTrip fails unless printing loses nothing and is stable.
func checkRoundTrip(t tb, v *ast.View) {
	t.Helper()
	once := printed(t, v)
	again, diags := Parse(source(once))
	if diags.HasErrors() {
		t.Fatalf("printed text does not parse: %v\nfrom %q\nto   %q", diags[0], v.Source.Text, once)
	}
	if a, b := dump(v), dump(again); a != b {
		t.Fatalf("printing changed the tree\nfrom %q\nto   %q\n--- before\n%s--- after\n%s", v.Source.Text, once, a, b)
	}
	if twice := printed(t, again); twice != once {
		t.Fatalf("printing is not stable\nfrom  %q\nonce  %q\ntwice %q", v.Source.Text, once, twice)
	}
}

// bare takes the comments and blank lines out of a tree, and says how many nodes are left.
func bare(items []ast.Node) ([]ast.Node, int) {
	var out []ast.Node
	total := 0
	for _, n := range items {
		switch n := n.(type) {
		case *ast.Comment:
			continue
		case *ast.Rule:
			n.BlankBefore = false
		case *ast.AtRule:
			n.BlankBefore = false
		case *ast.Declaration:
			n.BlankBefore = false
		}
		if b := ast.BlockOf(n); b != nil {
			var inner int
			b.Items, inner = bare(b.Items)
			total += inner
		}
		out = append(out, n)
		total++
	}
	return out, total
}
