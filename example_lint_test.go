package umwelt_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"umwelt"
)

func ExamplePolicy_Lint() {
	p := umwelt.LoadText(umwelt.Options{}, umwelt.Texts{
		Views: []*umwelt.Source{{Name: "v.umw", Text: []byte("tool { allow: false; }\ntool { allow: true; }\n")}},
		World: &umwelt.Source{Name: "w.world.yml", Text: []byte("tools: [Bash]\n")},
	})
	for _, f := range must(p.Lint(umwelt.LintOptions{Disabled: []string{"uncovered-entity"}})) {
		fmt.Println(f.Span, f.Severity, f.Code)
	}
	// Output:
	// v.umw:1:8 error shadowed-restriction
}

// Drift: what a policy says now is held against the database of what was approved.
func ExamplePolicy_Baseline() {
	load := func(view string) *umwelt.Policy {
		return umwelt.LoadText(umwelt.Options{}, umwelt.Texts{
			Views: []*umwelt.Source{{Name: "v.umw", Text: []byte(view)}},
			World: &umwelt.Source{Name: "w.world.yml", Text: []byte("tools: [Bash]\n")},
		})
	}
	dir := must(os.MkdirTemp("", ""))
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "approved.db")
	if err := load("tool#Bash { allow: false; }").Save(file); err != nil {
		log.Fatal(err)
	}
	approved := must(umwelt.Open(file).Baseline("approved.db"))
	for _, f := range must(load("tool#Bash { allow: true; }").Lint(umwelt.LintOptions{Baseline: approved})) {
		fmt.Println(f.Diagnostic.Message)
	}
	// Output:
	// allow of tool "Bash" has widened since approved.db: false, now true
}
