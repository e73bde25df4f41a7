package roster_test

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"umwelt/diag"
	"umwelt/simulation/roster"
)

// same compares rosters without regard to where they were read.
var same = cmp.Options{cmpopts.IgnoreTypes(roster.Places{}), cmpopts.EquateEmpty(), cmpopts.EquateNaNs()}

// FuzzRead holds that no text makes the reader panic, and that every roster it accepts is
// written so that it reads back the same, and a second writing gives the same bytes.
func FuzzRead(f *testing.F) {
	f.Add([]byte(doc(nil, nil)))
	f.Add([]byte(doc(kv{"extents": "{num_zones: 3}", "item_profiles": "[food]"}, shown(item(kv{"description": `"a\u2028b"`})))))
	f.Add([]byte(doc(nil, tensor("tensor2d", "[2, 2]", kv{"initial_value_mode": "random_normal", "initial_value_params": "{mean: 0, std: 1}"}))))
	f.Add([]byte("variables: &a [*a, {<<: *a}]\n---\n"))
	f.Add([]byte("variables:\n  ? [a]\n  : b\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, list := roster.Read(&diag.Source{Name: "fuzz", Text: text})
		if (r == nil) != list.HasErrors() {
			t.Fatalf("roster %v with diagnostics %v", r, list)
		}
		if r == nil || roster.Validate(r).HasErrors() {
			return
		}
		out := roster.Write(r)
		again, list := roster.Read(&diag.Source{Name: "again", Text: out})
		if list.HasErrors() {
			t.Fatalf("what was written is refused:\n%s\n%v", out, list)
		}
		if more := roster.Validate(again); more.HasErrors() {
			t.Fatalf("what was written is invalid:\n%s\n%v", out, more)
		}
		if !bytes.Equal(out, roster.Write(again)) {
			t.Fatalf("written twice, it differs:\n%s", out)
		}
	})
}

// hostile draws text with what YAML and terminals give a meaning to.
func hostile() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.StringN(1, 20, 60),
		rapid.StringOfN(rapid.RuneFrom([]rune("ab:#-?!&*{},'\"\\%@`|> \t\n\r\u0085\u2028\u202e\ufeff\U0001f600\x1b\x00~=<")), 1, 12, -1),
		rapid.SampledFrom([]string{"null", "true", "no", "1.0", "1e3", "0x1", "- a", "a: b", "a # b", "? a", "*a", "&a", "!!str a", "---", "...", "<<", "2024-01-01", "1:30", "y"}),
	).Filter(func(s string) bool { return !strings.ContainsAny(s, "[]") && !strings.ContainsRune(s, '\ufffd') })
}

func number() *rapid.Generator[roster.Literal] {
	return rapid.OneOf(
		rapid.Map(rapid.Int64(), func(n int64) roster.Literal { return roster.Literal{Kind: roster.Int, Int: n} }),
		rapid.Map(rapid.Float64().Filter(func(f float64) bool { return !math.IsInf(f, 0) && !math.IsNaN(f) }), func(f float64) roster.Literal {
			return roster.Literal{Kind: roster.Float, Float: f}
		}),
	)
}

// TestWriteReadsBack holds that a valid roster, whatever its texts and numbers are, reads
// back equal.
func TestWriteReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := &roster.Roster{Version: roster.Version, EvaluationMode: "mark_and_sweep", DebugLogging: rapid.Bool().Draw(t, "debug")}
		r.Extents.Zones = rapid.Int64Range(1, math.MaxInt64).Draw(t, "zones")
		r.ItemProfiles = rapid.SliceOfNDistinct(hostile().Filter(func(s string) bool { return !strings.Contains(s, ".") }), 0, 3, rapid.ID).Draw(t, "profiles")
		ids := rapid.SliceOfNDistinct(hostile().Filter(func(s string) bool { return s != "tick" }), 0, 4, rapid.ID).Draw(t, "ids")
		for i, id := range ids {
			r.Declarations = append(r.Declarations, declaration(t, fmt.Sprint(i), id))
		}
		if list := roster.Validate(r); list.HasErrors() {
			t.Fatal(list)
		}
		text := roster.Write(r)
		back, list := roster.Read(&diag.Source{Name: "back", Text: text})
		if list.HasErrors() {
			t.Fatalf("refused:\n%s\n%v", text, list)
		}
		if d := cmp.Diff(r, back, same); d != "" {
			t.Fatalf("differs:\n%s\n%s", text, d)
		}
		for _, c := range text {
			if c != '\n' && c < ' ' || c == 0x7f {
				t.Fatalf("a control character stands in the text: %q", text)
			}
		}
	})
}

func declaration(t *rapid.T, n, id string) roster.Declaration {
	text := hostile().Draw(t, "text"+n)
	value := number().Draw(t, "value"+n)
	d := roster.Declaration{
		ID: id, Scope: "agent", Type: "scalar", Lifetime: "tick", SemanticType: "custom",
		ReadableBy: []string{"engine"}, WritableBy: []string{}, ExposedTo: []string{}, Initial: &value, Description: &text,
	}
	switch rapid.IntRange(0, 3).Draw(t, "form"+n) {
	case 0:
		d.Expression = &text
	case 1:
		d.Type, d.Shape = "tensor2d", []int64{1, 2}
		d.Initial = &roster.Literal{Kind: roster.List, List: []roster.Literal{{Kind: roster.List, List: []roster.Literal{value, value}}}}
	case 2:
		d.ReadableBy, d.ExposedTo = []string{"engine", "agent"}, []string{"agent"}
		d.Normalization = &roster.Normalization{Kind: "binary", Params: []roster.Param{{Name: "threshold", Value: value}}}
	}
	return d
}

// TestWriteNeverInjects writes rosters that nothing has validated: whatever a field holds,
// the text is one document with the keys of the format.
func TestWriteNeverInjects(t *testing.T) {
	for _, s := range []string{"a\n  evil: true", "x}, evil: {", "- a", "a: b", "#", "true", "", "é"} {
		r := &roster.Roster{Version: s, EvaluationMode: s, ItemProfiles: []string{s}, Declarations: []roster.Declaration{{
			ID: s, Scope: s, Type: s, Lifetime: s, SemanticType: s, ReadableBy: []string{s}, WritableBy: []string{s}, ExposedTo: []string{s},
			Profile: s, InitialMode: s, Expression: &s, Description: &s,
			InitialParams: []roster.Param{{Name: s}}, Normalization: &roster.Normalization{Kind: s, Params: []roster.Param{{Name: s}}},
		}}}
		text := roster.Write(r)
		back, list := roster.Read(&diag.Source{Name: "back", Text: text})
		if s == "" {
			continue // read as the absence of optional keys, which the reader refuses
		}
		if list.HasErrors() {
			t.Errorf("%q: refused:\n%s\n%v", s, text, list)
			continue
		}
		if d := cmp.Diff(r, back, same); d != "" {
			t.Errorf("%q: %s", s, d)
		}
	}
}
