package blq

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"umwelt/ratchet"
	"umwelt/ratchet/sources/internal/sourcetest"
)

func TestGolden(t *testing.T) { sourcetest.Golden(t, Source, "*.json*") }

func TestNoSecretIsKept(t *testing.T) {
	text, err := os.ReadFile("testdata/runs.jsonl.golden")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "hunter2") {
		t.Error("a secret is kept")
	}
}

func none(ratchet.Observation) error { return nil }

// TestWhatIsNoExport holds that databases are refused with the command that writes them
// as JSON, and that a run is found by its name.
func TestWhatIsNoExport(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("it's.duckdb", "\x01\x02\x03\x04\x05\x06\x07\x08DUCK\x40\x00\x00\x00")
	write("x.parquet", "PAR1\x15\x04")
	write("x.sqlite", "SQLite format 3\x00")
	write("run-7.json", `{"cmd":"make","exit_code":0}`)
	write("build:8.jsonl", `{"cmd":"make","exit_code":0}`)
	tests := []struct {
		name string
		want []string // of the error; none where it reads one observation
	}{
		{"it's.duckdb", []string{"DuckDB", "duckdb -readonly 'it'\\''s.duckdb'", "blq_load_runs()"}},
		{"x.parquet", []string{"Parquet", "x.parquet"}},
		{"x.sqlite", []string{"SQLite"}},
		{"run-7", nil},
		{"build:8", nil},
		{"run-9", []string{"run-9.json", "run_serial = 9", ".bird/blq.duckdb"}},
		{"build:9", []string{"run_serial = 9"}},
		{"missing.json", []string{"no such file"}},
		{".", []string{"directory"}},
	}
	for _, tt := range tests {
		tally, err := Source.Read(ratchet.Input{Name: tt.name}, none)
		if tt.want == nil {
			if err != nil || tally.Observations != 1 {
				t.Errorf("%s: %d observations, %v", tt.name, tally.Observations, err)
			}
			continue
		}
		for _, want := range tt.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q in it", tt.name, err, want)
			}
		}
	}
}

func TestBounded(t *testing.T) {
	sourcetest.Bounded(t, Source, "[", func(i int) string {
		return fmt.Sprintf(`{"cmd":"make test%d","exit_code":0,"duration_ms":%d,"environment":{"PATH":"%s"}},`, i, i, strings.Repeat("/usr/bin:", 50))
	})
}

func FuzzBlq(f *testing.F) {
	sourcetest.Fuzz(f, Source, "*.json*", `{"cmd":"a b=c","metrics":{"cpu_usage_usec":-5},"duration_sec":1e300}`, `{"runs":[{"cmd":"x","exit_code":null}]}`)
}
