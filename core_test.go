package umwelt_test

import (
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"umwelt"
)

// core are the packages that must know no vocabulary.
var core = []string{"diag", "ast", "parser", "registry", "world", "cascade"}

// commonWords are vocabulary names that are also plain words of the trade; their use in
// the core is about something else.
var commonWords = map[string]string{
	"world":  "the package, and what exists",
	"path":   "where something lies, and a value type",
	"name":   "what something is called, and the attribute of the language itself",
	"id":     "the identity of an entity",
	"value":  "what a declaration says",
	"source": "the text a span points into",
	"type":   "an entity's type, and a word of Go",
	"root":   "the project's directory",
	"dir":    "a parameter name for a directory on disk",
	"file":   "the text a diagnostic points into",
	"node":   "a node of a tree",
	"size":   "a value type",
	"mode":   "permission bits",
	"kind":   "a word of this code base",
	"parent": "the chain of parents, and a key of world files",

	"rule":       "a rule of a view",
	"require":    "a key of world files",
	"only-match": "a name that implies a comparison, like the prefixes beside it",
}

// TestCoreKnowsNoVocabulary reads every string, identifier and comment-free token of the
// core packages and refuses the names that the shipped vocabularies register.
func TestCoreKnowsNoVocabulary(t *testing.T) {
	reg, list := umwelt.Vocabulary(nil)
	if list.HasErrors() {
		t.Fatal(list.Err())
	}
	forbidden := map[string]bool{}
	for _, taxon := range reg.Taxa() {
		forbidden[taxon.Name] = true
	}
	for _, typ := range reg.Types() {
		forbidden[typ.Name] = true
		for _, p := range typ.Properties {
			forbidden[p.Name] = true
		}
	}
	for word := range commonWords {
		delete(forbidden, word)
	}
	if !forbidden["editable"] || !forbidden["tool"] || !forbidden["capability"] {
		t.Fatal("the vocabulary did not load")
	}
	for _, dir := range core {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no files: %v", dir, err)
		}
		for _, path := range files {
			if !strings.HasSuffix(path, "_test.go") {
				refuse(t, path, forbidden)
			}
		}
	}
}

// refuse reports string literals of a file that are a forbidden word.
func refuse(t *testing.T, path string, forbidden map[string]bool) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	var s scanner.Scanner
	s.Init(set.AddFile(path, set.Base(), len(text)), text, nil, 0)
	for {
		pos, tok, lit := s.Scan()
		switch tok {
		case token.EOF:
			return
		case token.STRING:
			word, err := strconv.Unquote(lit)
			if err == nil && forbidden[word] {
				t.Errorf("%s: the core names %q, a word of a vocabulary", set.Position(pos), word)
			}
		}
	}
}
