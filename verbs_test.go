package umwelt_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"testing"
)

// TestVerbsHaveExamples wants a runnable example of everything that the package is for.
func TestVerbsHaveExamples(t *testing.T) {
	paths, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, path := range paths {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	runnable := map[string]bool{}
	for _, e := range doc.Examples(files...) {
		if e.Output != "" {
			runnable[e.Name] = true
		}
	}
	for _, verb := range []string{
		"Load", "LoadText", "Open",
		"Policy_Find", "Policy_Select", "Policy_Property", "Policy_Properties", "Policy_Type", "Policy_In",
		"Policy_Explain", "Proof_WhyNot", "Policy_Check", "Policy_Require", "Policy_Lint", "Policy_Baseline",
		"Policy_Extend", "Policy_Extend_hypothetical", "Policy_Compile", "Policy_Save",
	} {
		if !runnable[verb] {
			t.Errorf("there is no example %s that checks what it prints", verb)
		}
	}
}
