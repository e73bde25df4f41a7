package parser

import (
	"testing"

	"umwelt/diag"

	"pgregory.net/rapid"
)

// TestPrintedTreeIsTheSame checks on random views, with comments anywhere, that printing
// loses nothing and is stable, and that every span is right.
func TestPrintedTreeIsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := &gen{t: t, inner: true}
		text := g.view()
		v, diags := Parse(source(text))
		if diags.HasErrors() {
			t.Fatalf("%v in %q", diags, text)
		}
		checkSpans(t, v)
		checkRoundTrip(t, v)
	})
}

// TestFaultsStayWhereTheyAre plants a fault in a block between sound ones: it is the only
// error, and what stands around it is read as it would be without it.
func TestFaultsStayWhereTheyAre(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, after := (&gen{t: t}).view(), (&gen{t: t}).view()
		fault := rapid.SampledFrom([]string{"a,, {}", "a { b c; }", "a { : }", "a { b: ]; }", "a..b {}", "a { b: 'c }", "[ {}", "}", "a: b;", "a { b: (; }", "@x }"}).Draw(t, "fault")
		v, diags := Parse(source(before + "\n" + fault + "\n" + after))
		if diags.Count(diag.Error) == 0 {
			t.Fatalf("no error for %q", fault)
		}
		whole, _ := Parse(source(before + "\n" + after))
		_, got := bare(v.Statements)
		_, want := bare(whole.Statements)
		if got < want {
			t.Fatalf("%d nodes of %d left around %q: %v\n%s", got, want, fault, diags, v.Source.Text)
		}
	})
}
