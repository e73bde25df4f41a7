package sqlite

import (
	"os"
	"strings"
	"testing"
)

// TestPage finds every table with its columns, and every view that is always there, in the
// page about them.
func TestPage(t *testing.T) {
	text, err := os.ReadFile("../../docs/targets/sqlite.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	place := "`file`, `line`, `column_number`, `start_offset`, `end_line`, `end_column`, `end_offset`"
	if !strings.Contains(page, place) {
		t.Error("the page does not say what a place is")
	}
	for _, table := range tables {
		var line string
		for l := range strings.Lines(page) {
			if strings.HasPrefix(l, "| `"+table.name+"` |") {
				line = l
			}
		}
		if line == "" {
			t.Errorf("the page does not list the table %s", table.name)
			continue
		}
		var names []string
		for _, c := range table.columns {
			names = append(names, "`"+c.name+"`")
		}
		want := strings.ReplaceAll(strings.Join(names, ", "), place, "and a place")
		got := line[strings.LastIndex(strings.TrimSuffix(strings.TrimSpace(line), "|"), "|")+1:]
		got = strings.TrimSuffix(strings.TrimSpace(got), " |")
		got = strings.ReplaceAll(got, " (`one`, `list`, `set`)", "")
		if got != want {
			t.Errorf("the page has the columns of %s as\n%s\nnot\n%s", table.name, got, want)
		}
	}
	for _, v := range []string{"effective_properties", "resolved_properties", "cascade_candidates", "active_entities", "projections", "holding_selectors", "met_qualifiers",
		"applying_declarations", "kept_declarations", "cohort_candidates", "cohort_resolved", "cohort_bounds", "cohort_effective", "effective_plain"} {
		if !strings.Contains(page, "`"+v+"`") {
			t.Errorf("the page does not speak of the view %s", v)
		}
	}
}
