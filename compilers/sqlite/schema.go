package sqlite

import (
	"slices"
	"strings"
)

// Schema names the shape of the database. It stands in world_meta.
const Schema = "umwelt.database/1"

// ApplicationID marks the SQLite file as one of this tool's ("umwl").
const ApplicationID = 0x756d776c

type columnKind uint8

const (
	integer columnKind = iota
	real
	text
	list // a policy's list: cells are []string or nil
)

type column struct {
	name string
	kind columnKind
	null bool
}

// table is the definition of one table. A key of several columns names all that tell rows
// apart; whole says that there are no others, so that the table is its own index.
type table struct {
	name    string
	columns []column
	key     []string
	whole   bool
	more    string // a further constraint
}

func number(names ...string) []column { return columns(integer, names) }
func words(names ...string) []column  { return columns(text, names) }
func maybe(c []column) []column       { return nullable(c) }
func all(parts ...[]column) []column  { return concat(parts) }
func columns(k columnKind, names []string) []column {
	out := make([]column, len(names))
	for i, n := range names {
		out[i] = column{name: n, kind: k}
	}
	return out
}

func nullable(c []column) []column {
	for i := range c {
		c[i].null = true
	}
	return c
}

func concat(parts [][]column) []column {
	var out []column
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

// value is the columns of a typed value.
func value() []column {
	return all(words("value"), columns(real, []string{"number"}), maybe(columns(list, []string{"members"})))
}

// span is where something stands: the name of the file, and the lines, columns and offsets
// of its two ends. All are NULL for no known place.
func span() []column {
	return maybe(all(words("file"), number("line", "column_number", "start_offset", "end_line", "end_column", "end_offset")))
}

// tables are all tables, each after those that it depends on.
var tables = []table{
	{name: "world_meta", columns: all(words("key", "value")), key: []string{"key"}},
	{name: "taxa", columns: all(number("position"), words("name"), number("axis"), words("aliases", "description")), key: []string{"position"}},
	{name: "entity_types", columns: all(number("position"), words("type", "taxon", "name", "description"),
		number("sole_active", "root", "named", "singleton", "dotted_ids"), maybe(words("path_attribute", "group_attribute")), words("parents")), key: []string{"position"}},
	{name: "attribute_types", columns: all(words("type"), number("position"), words("attribute", "value_type"), number("required"), words("description")),
		key: []string{"type", "position"}},
	{name: "property_types", columns: all(number("id"), words("taxon", "type"), number("position"), words("property_name", "value_type", "kind", "shape", "comparison", "restrictive", "altitude"),
		number("repeatable", "secret"), maybe(all(words("initial"), columns(real, []string{"initial_number"}), columns(list, []string{"initial_members"}))),
		maybe(all(words("attribute"), number("gates_id", "follows_id"), words("through"))), words("description")), key: []string{"id"}},
	{name: "property_implied_by", columns: number("property_id", "implied_by_id"), key: []string{"property_id", "implied_by_id"}, whole: true},
	{name: "cohorts", columns: all(number("id"), words("type")), key: []string{"id"}},
	{name: "entities", columns: all(number("id"), words("taxon", "type", "entity", "classes"), maybe(number("parent_id")), number("listed", "cohort_id")), key: []string{"id"},
		more: "UNIQUE (type, entity)"},
	{name: "entity_attributes", columns: all(number("entity_id", "position"), words("attribute", "value"), maybe(words("members"))), key: []string{"entity_id", "position"}},
	{name: "entity_closure", columns: all(number("ancestor_id", "descendant_id"), maybe(number("depth"))), key: []string{"ancestor_id", "descendant_id"}},
	{name: "entity_provenance", columns: all(number("entity_id"), words("origin"), number("overridden"), maybe(words("found_by")), span()), key: []string{"entity_id"}},
	{name: "withheld", columns: all(number("position"), words("type", "entity", "classes", "attributes")), key: []string{"position"}},
	{name: "layers", columns: all(number("position"), words("layer")), key: []string{"position"}},
	{name: "selectors", columns: all(number("selector_id"), words("kind")), key: []string{"selector_id"}},
	{name: "rules", columns: all(number("selector_id"), words("selector"), maybe(words("taxon", "layer")), number("layer_position"), words("specificity"), number("matched"), span()),
		key: []string{"selector_id"}},
	{name: "declarations", columns: all(number("id", "selector_id"), words("type"), number("property_id"), words("property_name"), value(),
		number("important", "locked", "layer_position", "layer_rank"), words("specificity"), number("appearance"), span()), key: []string{"id"}},
	{name: "fixed_constraints", columns: all(number("id", "selector_id"), words("selector"), maybe(words("taxon")), words("type"), number("property_id"), words("property_name"), value(), span()),
		key: []string{"id"}},
	{name: "cascade_context_qualifiers", columns: all(number("selector_id", "position", "qualifier_id"), maybe(words("taxon", "type")), words("qualifier")),
		key: []string{"selector_id", "position"}},
	{name: "qualifier_matches", columns: number("entity_id", "qualifier_id"), key: []string{"entity_id", "qualifier_id"}, whole: true},
	{name: "cohort_selectors", columns: number("cohort_id", "selector_id"), key: []string{"cohort_id", "selector_id"}, whole: true},
	{name: "cohort_facts", columns: all(number("cohort_id", "property_id"), maybe(all(columns(list, []string{"members"}), columns(real, []string{"number"})))),
		key: []string{"cohort_id", "property_id"}},
	{name: "cohort_follows", columns: number("cohort_id", "property_id", "position", "followed_cohort_id", "followed_property_id"),
		key: []string{"cohort_id", "property_id", "position"}},
	{name: "sources", columns: all(number("position"), words("kind", "name", "content")), key: []string{"position"}},
	{name: "diagnostics", columns: all(number("position", "part"), maybe(words("severity", "code")), words("message"), maybe(words("hint")), number("hidden"), maybe(words("excerpt")), span()),
		key: []string{"position", "part"}},
	{name: "active_context", columns: words("type", "entity"), key: []string{"type", "entity"}},
}

// indexes are made after the tables are filled. Each is named after what it finds.
var indexes = [][2]string{
	{"entities", "cohort_id"},
	{"entity_closure", "descendant_id"},
	{"cohort_selectors", "selector_id"},
	{"declarations", "selector_id"},
	{"fixed_constraints", "selector_id"},
	{"cohorts", "type"},
}

// create is the statement that makes a table.
func (d *dialect) create(t *table) string {
	var b strings.Builder
	b.WriteString("CREATE TABLE " + t.name + " (\n")
	for _, c := range t.columns {
		kind := [...]string{integer: d.integer(), real: d.real, text: d.text, list: d.list}[c.kind]
		b.WriteString("  " + c.name + " " + kind)
		if !c.null {
			b.WriteString(" NOT NULL")
		}
		b.WriteString(",\n")
	}
	b.WriteString("  PRIMARY KEY (" + strings.Join(t.key, ", ") + ")")
	if t.more != "" {
		b.WriteString(",\n  " + t.more)
	}
	if t.name == "active_context" && d.name != "sqlite" {
		b.WriteString(",\n  FOREIGN KEY (type, entity) REFERENCES entities (type, entity)")
	}
	b.WriteString("\n)")
	if t.whole || len(t.key) > 1 {
		b.WriteString(d.noRowid)
	}
	return b.String()
}

func (d *dialect) integer() string {
	if d.name == "sqlite" {
		return "INTEGER"
	}
	return "BIGINT"
}

// Definition is the statement by which a SQLite file defines one of the tables, "" where
// there is no such table. Whoever reads a file that may be hostile holds it to this.
func Definition(name string) string {
	for i := range tables {
		if tables[i].name == name {
			return sqliteDialect.create(&tables[i])
		}
	}
	return ""
}

// Key is the columns that tell the rows of a table apart.
func Key(name string) []string {
	for i := range tables {
		if tables[i].name == name {
			return slices.Clone(tables[i].key)
		}
	}
	return nil
}

// existingContext refuses a context that names what does not exist, as the engine does.
// The other dialects have a foreign key for it.
var existingContext = []string{
	`CREATE TRIGGER active_context_exists BEFORE INSERT ON active_context
WHEN NOT EXISTS (SELECT 1 FROM entities AS e WHERE e.type = NEW.type AND e.entity = NEW.entity)
BEGIN SELECT RAISE(ABORT, 'active_context names an entity that does not exist'); END`,
	`CREATE TRIGGER active_context_still_exists BEFORE UPDATE ON active_context
WHEN NOT EXISTS (SELECT 1 FROM entities AS e WHERE e.type = NEW.type AND e.entity = NEW.entity)
BEGIN SELECT RAISE(ABORT, 'active_context names an entity that does not exist'); END`,
}

// Triggers are the statements by which a SQLite file defines its triggers, in order.
func Triggers() []string { return slices.Clone(existingContext) }

// closure fills entity_closure along the chains of parents. Groups, which are ancestors
// beside the chain, are rows of their own.
const closure = `INSERT INTO entity_closure
WITH RECURSIVE up(ancestor_id, descendant_id, depth) AS (
  SELECT id, id, 0 FROM entities
  UNION ALL
  SELECT e.parent_id, u.descendant_id, u.depth + 1 FROM up AS u JOIN entities AS e ON e.id = u.ancestor_id WHERE e.parent_id IS NOT NULL)
SELECT ancestor_id, descendant_id, depth FROM up ORDER BY ancestor_id, descendant_id`
