package roster_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"umwelt/diag"
	"umwelt/simulation/roster"
)

// TestConformance gives every handed-out roster the verdict that the engine's own loader gave.
func TestConformance(t *testing.T) {
	data, err := os.ReadFile("../../testdata/conformance/vfs/roster.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			Name   string
			Config any
			Result struct{ OK bool }
		}
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(&file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) < 30 {
		t.Fatalf("only %d cases", len(file.Cases))
	}
	for _, c := range file.Cases {
		t.Run(c.Name, func(t *testing.T) {
			text, err := json.Marshal(map[string]any{"variables": c.Config})
			if err != nil {
				t.Fatal(err)
			}
			_, list := load(string(text))
			if got := !list.HasErrors(); got != c.Result.OK {
				t.Errorf("accepted = %t, want %t\n%s\n%v", got, c.Result.OK, text, list)
			}
		})
	}
}

// load reads and validates a document.
func load(text string) (*roster.Roster, diag.List) {
	r, list := roster.Read(&diag.Source{Name: "roster.yaml", Text: []byte(text)})
	if r != nil {
		list = append(list, roster.Validate(r)...)
	}
	return r, list
}

func messages(list diag.List) string {
	var b strings.Builder
	for _, d := range list {
		b.WriteString(d.Error() + "\n")
	}
	return b.String()
}
