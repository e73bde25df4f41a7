package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"slices"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func sample() *Document {
	yes := "true"
	return &Document{
		Schema:  "umwelt.dry-run/1",
		Context: []Ref{{"mode", "implement"}, {"tool", "Bash"}, {"tool", "Read"}},
		Entities: slices.Values([]Entity{
			{Taxon: "capability", Type: "tool", ID: "Bash", Classes: []string{"dangerous"}, Properties: []Property{
				{Name: "allow", Value: "false", Source: "derived", Cascade: &yes, Because: "level 4 is above max-level 2"},
				{Name: "max-level", Value: "2", Source: "cascade", From: &Place{"v.umw", 3, 1}},
				{Name: "allow-pattern", Value: "git *, ls", Values: []string{"git *", "ls"}, Source: "cascade"},
				{Name: "only-kits", Value: "", Values: []string{}, Source: "fixed", Fixed: &Place{"w.world.yml", 9, 5}},
				{Name: "any-of-effects", Value: "a, b", Values: []string{"a", "b"}, Sets: [][]string{{"a"}, {"b"}}, Source: "cascade"},
			}},
			{Taxon: "world", Type: "env", ID: "TOKEN", Properties: []Property{{Name: "value", Value: Hidden, Source: "cascade", Secret: true}}},
			{Taxon: "world", Type: "file", ID: "a\xff\x1b[31m\u202e", Parent: &Ref{"dir", "."},
				Attributes: []Attribute{{Name: "path", Text: "a\xff\x1b[31m\u202e"}, {Name: "tags", List: []string{}}}},
		}),
		Rules:       []Rule{{Place{"v.umw", 3, 1}, `tool[name="Bash"] > x`, 1, false}, {Place{"v.umw", 4, 1}, "mode#x tool", 0, true}},
		Diagnostics: []Diagnostic{{Severity: "warning", Code: "no-match", Place: &Place{"v.umw", 4, 1}, Message: "the rule matches nothing", Hint: "look"}, {Severity: "error", Code: "yaml", Message: "m"}},
	}
}

func encode(t interface{ Fatal(...any) }, d *Document) string {
	var b bytes.Buffer
	if err := d.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const sampleJSON = `{"schema": "umwelt.dry-run/1",
 "context": {"mode": "implement", "tool": ["Bash", "Read"]},
 "entities": [
  {"taxon": "capability", "type": "tool", "id": "Bash", "classes": ["dangerous"], "properties": {"allow": {"value": "false", "source": "derived", "cascade": "true", "because": "level 4 is above max-level 2"}, "max-level": {"value": "2", "source": "cascade", "from": {"file": "v.umw", "line": 3, "column": 1}}, "allow-pattern": {"value": "git *, ls", "values": ["git *", "ls"], "source": "cascade"}, "only-kits": {"value": "", "values": [], "source": "fixed", "fixed": {"file": "w.world.yml", "line": 9, "column": 5}}, "any-of-effects": {"value": "a, b", "values": ["a", "b"], "sets": [["a"], ["b"]], "source": "cascade"}}},
  {"taxon": "world", "type": "env", "id": "TOKEN", "classes": [], "properties": {"value": {"value": "(secret)", "source": "cascade", "secret": true}}},
  {"taxon": "world", "type": "file", "id": "a\\xff\u001b[31m\u202e", "id-bytes": "Yf8bWzMxbeKArg==", "classes": [], "parent": {"type": "dir", "id": "."}, "attributes": {"path": "a\\xff\u001b[31m\u202e", "path-bytes": "Yf8bWzMxbeKArg==", "tags": []}, "properties": {}}],
 "rules": [
  {"file": "v.umw", "line": 3, "column": 1, "selector": "tool[name=\"Bash\"] > x", "matched": 1},
  {"file": "v.umw", "line": 4, "column": 1, "selector": "mode#x tool", "matched": 0, "idle": true}],
 "diagnostics": [
  {"severity": "warning", "code": "no-match", "file": "v.umw", "line": 4, "column": 1, "message": "the rule matches nothing", "hint": "look"},
  {"severity": "error", "code": "yaml", "message": "m"}]}
`

func TestJSON(t *testing.T) {
	got := encode(t, sample())
	if got != sampleJSON {
		t.Errorf("got\n%s\nwant\n%s", got, sampleJSON)
	}
	if !json.Valid([]byte(got)) {
		t.Error("not JSON")
	}
	if got := encode(t, &Document{Schema: "s"}); !json.Valid([]byte(got)) {
		t.Errorf("not JSON: %s", got)
	}
}

func TestText(t *testing.T) {
	var b bytes.Buffer
	if err := sample().WriteText(&b); err != nil {
		t.Fatal(err)
	}
	want := `context: mode=implement, tool=Bash, tool=Read

tool "Bash" .dangerous
  allow:          false  (derived; level 4 is above max-level 2; the rules alone say true)
  max-level:      2  (v.umw:3:1)
  allow-pattern:  git *, ls  (cascade)
  only-kits:        (fixed)
  any-of-effects: a, b  (cascade)
env "TOKEN"
  value: (secret)  (cascade)
file "a\xff\x1b[31m\u{202e}"

rules
  v.umw:3:1  tool[name="Bash"] > x  matched 1
  v.umw:4:1  mode#x tool  matched 0, but its context does not hold
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &b, want)
	}
}

// TestStrings checks on any bytes that the JSON decodes to the text, that the exact bytes
// can be had back, and that nothing in it can drive a terminal.
func TestStrings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + rapid.String().Draw(t, "text")
		out := encode(t, &Document{Entities: slices.Values([]Entity{{ID: name}})})
		for _, r := range out {
			if r != '\n' && (r < 0x20 || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co)) {
				t.Fatalf("%q holds %U", out, r)
			}
		}
		var doc struct {
			Entities []struct {
				ID      string
				IDBytes []byte `json:"id-bytes"`
			}
		}
		if err := json.Unmarshal([]byte(out), &doc); err != nil {
			t.Fatal(err, out)
		}
		got := doc.Entities[0].ID
		if !utf8.ValidString(name) {
			got = string(doc.Entities[0].IDBytes)
		}
		if got != name {
			t.Fatalf("%q came back as %q", name, got)
		}
	})
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestWriteError(t *testing.T) {
	d := &Document{Entities: many(100_000)}
	if d.WriteJSON(failing{}) == nil || d.WriteText(failing{}) == nil {
		t.Error("a failing writer goes unnoticed")
	}
}

func many(n int) iter.Seq[Entity] {
	return func(yield func(Entity) bool) {
		from := &Place{"view.umw", 12, 3}
		for i := range n {
			e := Entity{Taxon: "world", Type: "file", ID: fmt.Sprintf("src/pkg%d/file%d.go", i/100, i), Properties: []Property{
				{Name: "editable", Value: "true", Source: "cascade", From: from},
				{Name: "visible", Value: "false", Source: "initial"},
			}}
			if !yield(e) {
				return
			}
		}
	}
}

// BenchmarkJSON writes 100,000 entities, beside encoding/json over the same data.
func BenchmarkJSON(b *testing.B) {
	b.Run("own", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := (&Document{Entities: many(100_000)}).WriteJSON(io.Discard); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encoding-json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			e := json.NewEncoder(io.Discard)
			for x := range many(100_000) {
				props := map[string]any{}
				for _, p := range x.Properties {
					props[p.Name] = p
				}
				if err := e.Encode(map[string]any{"taxon": x.Taxon, "type": x.Type, "id": x.ID, "classes": x.Classes, "properties": props}); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
