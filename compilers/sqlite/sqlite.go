// Package sqlite writes a resolved policy as a database that computes the cascade in SQL,
// for any context: one SQLite file, or a script for DuckDB or PostgreSQL.
// docs/targets/sqlite.md describes the tables and views.
package sqlite

import (
	"umwelt/compilers"
	"umwelt/diag"
	"umwelt/registry"
)

// Compilers are the targets "sqlite", "duckdb" and "postgres". others declares the other
// targets: each database has a view for each target of what it reads.
func Compilers(others []compilers.Info) []compilers.Compiler {
	own := []compilers.Info{
		info("sqlite", "the policy as a SQLite database that answers in SQL and opens again", "SQLite 3 database file"),
		info("duckdb", "the same as a script for DuckDB", "SQL script for DuckDB"),
		info("postgres", "the same as a script for PostgreSQL", "SQL script for PostgreSQL"),
	}
	targets := append(append([]compilers.Info{}, others...), own...)
	write := []func(*database, []compilers.Info) ([]byte, error){file, scripter(&duckDialect), scripter(&postgresDialect)}
	var out []compilers.Compiler
	for i := range own {
		out = append(out, compilers.Compiler{Info: own[i], Compile: compiler(own[i].Name, targets, write[i])})
	}
	return out
}

func info(name, description, format string) compilers.Info {
	return compilers.Info{
		Name: name, Description: description, Format: format,
		Altitude: registry.Conversational, // it says everything
		Locality: "local", Model: "sync",
		Contexts: true,
		Support:  map[string]compilers.Support{"*": {Level: compilers.Requested, Why: "whoever asks the database has to enforce it"}},
	}
}

func compiler(name string, targets []compilers.Info, write func(*database, []compilers.Info) ([]byte, error)) func(compilers.Input) compilers.Output {
	return func(in compilers.Input) compilers.Output {
		var out compilers.Output
		if in.Unwritten {
			return out
		}
		db, err := read(in)
		if err == nil {
			out.Text, err = write(db, targets)
		}
		if err != nil {
			out.Text = nil
			out.Diagnostics.Errorf(diag.Output, diag.Span{}, "%s: %v", name, err)
		}
		return out
	}
}
