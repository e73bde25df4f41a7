package ast_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestShippedFilesAreCanonical holds every example and vocabulary to the printed form.
func TestShippedFilesAreCanonical(t *testing.T) {
	var files []string
	for _, pattern := range []string{"../examples/*/*.umw", "../testdata/*/*.umw", "../*/*.umw"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	for _, must := range []string{"../examples/auth-fix/auth-fix.umw", "../sandbox/vocabulary.umw", "../testdata/vocabularies/api.umw"} {
		if !slices.Contains(files, must) {
			t.Errorf("%s was not looked at", must)
		}
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := print(t, parse(t, string(text))); got != string(text) {
			t.Errorf("%s: run umwelt fmt -w on it", path)
		}
	}
}
