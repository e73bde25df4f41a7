package umwelt_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"umwelt"
	"umwelt/cascade"
	"umwelt/database"
)

// A saved policy needs neither its views nor its world, and answers in any context.
func ExampleOpen() {
	p := umwelt.LoadText(umwelt.Options{}, umwelt.Texts{
		Views: []*umwelt.Source{{Name: "v.umw", Text: []byte("tool { allow: true; } mode#review tool { allow: false; }")}},
		World: &umwelt.Source{Name: "w.world.yml", Text: []byte("tools: [Bash]\nmodes: [implement, review]\n")},
	})
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "policy.db")
	if err := p.Save(file); err != nil {
		log.Fatal(err)
	}
	for _, context := range [][]cascade.Ref{nil, {{Type: "mode", ID: "review"}}} {
		saved := umwelt.Open(file, context...)
		if err := saved.Err(); err != nil {
			log.Fatal(err)
		}
		bash, err := saved.Find("tool", "Bash")
		if err != nil {
			log.Fatal(err)
		}
		answer, err := saved.Property(bash, "allow")
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(answer.Value)
	}
	// Output:
	// true
	// false
}

// The database answers in SQL too, in whatever can read SQLite.
func ExamplePolicy_Save() {
	dir := must(os.MkdirTemp("", ""))
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "policy.db")
	if err := demo().Save(file); err != nil {
		log.Fatal(err)
	}
	db := must(database.Open(file))
	defer db.Close()
	rows := must(db.Query(context.Background(), "SELECT entity, allow, \"max-level\" FROM type_tool ORDER BY entity", database.Limits{}))
	fmt.Println(rows.Columns)
	for _, row := range rows.Rows {
		fmt.Println(row)
	}
	// Output:
	// [entity allow max-level]
	// [Bash true 2]
	// [Read false <nil>]
}
