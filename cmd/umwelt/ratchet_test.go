package main

import (
	"os"
	"path/filepath"
	"testing"
)

// Neither of the two files that ratchet writes may come to overwrite the other, whatever
// names they go by.
func TestRatchetKeepsReportAndViewApart(t *testing.T) {
	dir := t.TempDir()
	std, _, _ := memoryStreams()
	for from, to := range map[string]string{"link": "report", "same": "."} {
		if err := os.Symlink(to, filepath.Join(dir, from)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		report, view string
		fine         bool
	}{
		{"report", "view", true},
		{"report", "link", false},
		{"link", "report", false},
		{"report", "same/report", false},
		{"report", "x/../report", false},
	} {
		f := ratchetFlags{headroom: "20%", minRuns: 1, observations: []string{"jsonl://x"}, report: reportFlags{to: filepath.Join(dir, tt.report)}, output: dir + "/" + tt.view}
		_, _, err := f.ask()
		if err == nil {
			err = f.refuseOutput(std)
		}
		if (err == nil) != tt.fine {
			t.Errorf("--report %s -o %s: %v", tt.report, tt.view, err)
		}
	}
}
