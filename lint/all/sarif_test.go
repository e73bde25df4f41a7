package all_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"umwelt/diag"
	"umwelt/lint"
	"umwelt/lint/all"
)

// schema is the schema that OASIS publishes with the standard, as it stands in the module
// github.com/owenrumney/go-sarif/v3.
func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := os.ReadFile("../testdata/sarif-schema-2.1.0.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft4)
	c.AssertFormat()
	if err := c.AddResource("sarif.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("sarif.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validate(t *testing.T, s *jsonschema.Schema, found []lint.Finding) map[string]any {
	t.Helper()
	text, err := json.Marshal(lint.ToSARIF(found, all.Detectors(), "1.0"))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(doc); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return doc.(map[string]any)["runs"].([]any)[0].(map[string]any)
}

// TestSARIF validates the logs of every page's findings, of none, and of hostile names.
func TestSARIF(t *testing.T) {
	s := schema(t)
	validate(t, s, nil)
	for _, d := range all.Detectors() {
		p := readPage(t, d.Name)
		found := findings(t, p.blocks["Example umw"], p.blocks["Example yaml"], p.blocks["Example json"])
		run := validate(t, s, found)
		results := run["results"].([]any)
		if len(results) != len(found) {
			t.Fatalf("%s: %d results for %d findings", d.Name, len(results), len(found))
		}
		rules := run["tool"].(map[string]any)["driver"].(map[string]any)["rules"].([]any)
		for i, r := range results {
			r := r.(map[string]any)
			index, err := r["ruleIndex"].(json.Number).Int64()
			if err != nil || rules[index].(map[string]any)["id"] != string(found[i].Code) || r["ruleId"] != string(found[i].Code) {
				t.Errorf("%s: result %d is filed under rule %v", d.Name, i, r["ruleIndex"])
			}
		}
	}
	src := &diag.Source{Name: "a b/\xff#?%\n:é.umw", Text: []byte("tool {}")}
	at := diag.Span{Source: src, Start: diag.Pos{Line: 1, Column: 1}, End: diag.Pos{Offset: 4, Line: 1, Column: 5}}
	run := validate(t, s, []lint.Finding{
		{Diagnostic: diag.Diagnostic{Code: "drift", Span: at, Message: "{0} \x1b[31m \xff"}, Silenced: "so\x00"},
		{Diagnostic: diag.Diagnostic{Code: "drift", Message: "nowhere"}},
		{Diagnostic: diag.Diagnostic{Code: "drift", Span: diag.Span{Source: &diag.Source{Name: "/abs/v.umw"}}}},
	})
	text, err := json.Marshal(run["results"])
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"uri":"a%20b/%FF%23%3F%25%0A:%C3%A9.umw"`, `{{0}} \\x1b[31m \\xff.`, `"uri":"file:///abs/v.umw"`, `"kind":"inSource"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}
