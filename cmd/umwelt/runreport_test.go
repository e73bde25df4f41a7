package main

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"umwelt/sandbox/runner"
)

// TestRunReportIsAsDocumented runs a command with a report, and compares the members of
// the report with those of the example in the documents.
func TestRunReportIsAsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/running.md")
	if err != nil {
		t.Fatal(err)
	}
	example := regexp.MustCompile("(?s)```json\n(.*?)```").FindSubmatch(page)
	if example == nil {
		t.Fatal("the example is gone")
	}
	if !slices.ContainsFunc(runner.Targets(), func(t runner.Target) bool { return !t.Named && t.Available() == nil }) {
		if os.Getenv("UMWELT_REQUIRE_TOOLS") == "1" {
			t.Fatal("neither bwrap nor Landlock is here: apt-get install bubblewrap")
		}
		t.Skip("neither bwrap nor Landlock is here: apt-get install bubblewrap")
	}
	t.Chdir(t.TempDir())
	view := `file { editable: true }
resource { memory: 4GB; }
tool { allow: false }
@after-change { test: echo ok; }
`
	for name, text := range map[string]string{"v.umw": view, "a.txt": "a", "w.yml": "name: w\nmodes: [review]\ntools: [Bash]\nenv: [CI]\ndiscover:\n  - { matcher: filesystem, root: \".\" }\n  - { matcher: system }\n"} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	std, _, errs := memoryStreams()
	args := []string{"run", "v.umw", "--world", "w.yml", "--context", "mode=review", "--report", "r.json", "--", "sh", "-c", "echo b > a.txt"}
	if status := run(args, std); status != 0 {
		t.Fatalf("exit status %d\n%s", status, errs)
	}
	got, err := os.ReadFile("r.json")
	if err != nil {
		t.Fatal(err)
	}
	// These are there only where something was to be said.
	optional := []string{"appeared", "exit.signal", "mounts.why", "hooks.signal", "hooks.timed-out", "hooks.dropped", "hooks.error", "variables", "remarks"}
	want, have := members(t, example[1]), members(t, got)
	for _, m := range want {
		if !slices.Contains(have, m) && !slices.Contains(optional, m) {
			t.Errorf("the report has no %s", m)
		}
	}
	for _, m := range have {
		if !slices.Contains(want, m) && !slices.Contains(optional, m) && !strings.HasPrefix(m, "coverage.") {
			t.Errorf("the example has no %s", m)
		}
	}
}

// members are the names of all members of a document, with those of what holds them.
func members(t *testing.T, text []byte) []string {
	t.Helper()
	var doc any
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	var out []string
	var walk func(at string, v any)
	walk = func(at string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, m := range v {
				path := strings.TrimPrefix(at+"."+name, ".")
				out = append(out, path)
				walk(path, m)
			}
		case []any:
			for _, m := range v {
				walk(at, m)
			}
		case string, float64, bool, nil:
		default:
			panic(fmt.Sprintf("%T", v))
		}
	}
	walk("", doc)
	slices.Sort(out)
	return slices.Compact(out)
}
