package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"umwelt/cascade"
	"umwelt/database"
	"umwelt/diag"
)

// maxStatement bounds a query on standard input.
const maxStatement = 1 << 20

func queryCommand(std *streams) *cobra.Command {
	var format, output string
	var contexts []string
	var limits database.Limits
	c := &cobra.Command{
		Use:   "query DATABASE SQL",
		Short: "Ask a compiled policy in SQL",
		Long: `Query runs one SELECT, VALUES, WITH or EXPLAIN on a policy that umwelt compile wrote with
--target sqlite. It cannot write: the file is opened for reading, and every statement that
does anything else is refused. SQL may be -, which is standard input.

The views answer in the context that was compiled, or in the one that --context names; no
context at all is --context "". docs/targets/sqlite.md lists the tables and views. JSON has
the schema umwelt.query/1.`,
		Example: `  umwelt query policy.db "SELECT entity, editable FROM type_file WHERE editable = 'true'"
  umwelt query policy.db "SELECT * FROM effective_properties" --context mode=review --format json`,
		Args: args(2, 2, "a database and a query"),
	}
	check := formatFlag(c, &format, "text", "json")
	c.Flags().StringArrayVar(&contexts, "context", nil, "what is active, as `type=id[,type=id]` (repeatable; \\, is a comma in an id)")
	c.Flags().IntVar(&limits.Rows, "limit", 1000, "how many rows to show at most; 0 for all")
	c.Flags().DurationVar(&limits.Time, "timeout", 30*time.Second, "how long the query may take; 0 for as long as it likes")
	outputFlag(c, &output)
	c.RunE = func(c *cobra.Command, given []string) error {
		if err := check(); err != nil {
			return err
		}
		if limits.Rows < 0 || limits.Time < 0 {
			return problem(diag.BadOption, "", "--limit and --timeout take nothing below 0")
		}
		var refs []cascade.Ref
		if c.Flags().Changed("context") {
			refs = []cascade.Ref{}
			for _, flag := range contexts {
				if flag == "" {
					continue
				}
				more, err := parseContext([]string{flag})
				if err != nil {
					return err
				}
				refs = append(refs, more...)
			}
		}
		statement := given[1]
		if statement == "-" {
			text, err := io.ReadAll(io.LimitReader(std.in, maxStatement+1))
			if err != nil {
				return problem(diag.Unreadable, "", "standard input cannot be read: %v", err)
			}
			statement = string(text)
		}
		if len(statement) > maxStatement {
			return problem(diag.TooLarge, "", "the query is longer than %d bytes", maxStatement)
		}
		f, err := database.OpenIn(given[0], refs)
		if err != nil {
			return problem(diag.Unreadable, "write one with umwelt compile --target sqlite -o FILE", "%v", err)
		}
		defer f.Close()
		std.doing("running the query")
		result, err := f.Query(context.Background(), statement, limits)
		std.stopProgress()
		switch {
		case errors.Is(err, database.ErrTime):
			return problem(diag.BadOption, "--timeout gives it longer", "the query takes longer than %v", limits.Time)
		case err != nil:
			return problem(diag.BadOption, "docs/targets/sqlite.md lists the tables and views", "the query: %s", diag.Escape(err.Error()))
		}
		if result.More {
			fmt.Fprintf(std.err, "umwelt: there are more rows than %d (see --limit)\n", limits.Rows)
		}
		if format == "json" {
			return std.writeJSON(output, queryDocument(result))
		}
		return std.write(output, queryText(result))
	}
	return c
}

// queryJSON is a result in JSON. A cell is null, a number, a text, or an object with the
// base64 of bytes that are none.
type queryJSON struct {
	Schema  string   `json:"schema"`
	Columns []string `json:"columns"`
	Rows    [][]any  `json:"rows"`
	More    bool     `json:"more,omitempty"` // there are more rows
}

func queryDocument(r *database.Result) queryJSON {
	doc := queryJSON{Schema: "umwelt.query/1", Columns: []string{}, Rows: [][]any{}, More: r.More}
	for _, c := range r.Columns {
		doc.Columns = append(doc.Columns, utf8Text(c))
	}
	for _, row := range r.Rows {
		cells := make([]any, len(row))
		for i, c := range row {
			switch c := c.(type) {
			case string:
				cells[i] = utf8Text(c)
			case float64:
				cells[i] = json.Number(strconv.FormatFloat(c, 'g', -1, 64))
				if math.IsInf(c, 0) || math.IsNaN(c) {
					cells[i] = strconv.FormatFloat(c, 'g', -1, 64)
				}
			case []byte:
				cells[i] = map[string][]byte{"base64": c}
			default:
				cells[i] = c
			}
		}
		doc.Rows = append(doc.Rows, cells)
	}
	return doc
}

// queryText is a result as a table for people. Nothing is an empty cell.
func queryText(r *database.Result) []byte {
	table := [][]string{slices.Clone(r.Columns)}
	for _, row := range r.Rows {
		cells := make([]string, len(row))
		for i, c := range row {
			switch c := c.(type) {
			case nil:
			case []byte:
				cells[i] = string(c)
			case float64:
				cells[i] = strconv.FormatFloat(c, 'g', -1, 64)
			default:
				cells[i] = fmt.Sprint(c)
			}
		}
		table = append(table, cells)
	}
	widths := make([]int, len(r.Columns))
	for _, row := range table {
		for i := range row {
			row[i] = diag.Escape(row[i])
			widths[i] = max(widths[i], min(utf8.RuneCountInString(row[i]), widest))
		}
	}
	var b strings.Builder
	for _, row := range table {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell)
			line.WriteString(strings.Repeat(" ", max(0, widths[i]-utf8.RuneCountInString(cell))+2))
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return []byte(b.String())
}

// widest is how wide a column is made for one long cell.
const widest = 60
