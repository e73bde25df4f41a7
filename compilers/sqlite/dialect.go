package sqlite

import (
	"fmt"
	"strings"
)

// dialect is what the three databases say differently. Everything that is not listed here
// is written once, in SQL that all of them take.
//
// A list is a JSON array of texts in SQLite, and an array of texts elsewhere. Sets, which
// several lists that must each be met are kept in, are a JSON array of arrays, an array of
// JSON texts, or an array of arrays. All functions take and give SQL expressions.
type dialect struct {
	name                          string
	text, real, blob, list, sets  string                                // column types
	empty, noSets                 string                                // the empty list, and no list at all
	noRowid                       string                                // after a table whose key is all its columns
	each                          func(list, as string) string          // an item of FROM: rows (key, value) of a list, from any key on
	collect                       func(value string) string             // a list of value over the window w
	collectSets                   func(value string) string             // sets of lists over the window w
	join                          func(value, separator string) string  // a text over the window w
	listOf                        func(value string) string             // a list of one text
	setsOf                        func(list string) string              // sets of one list
	common                        func(a, b string) string              // what of a is in b, in the order of a
	merge                         func(a, b string) string              // a, then what b holds more
	mergeSets                     func(a, b string) string              // the same of sets
	sorted                        func(a string) string                 // a as a set: sorted by bytes, each member once
	holds                         func(a, b string) string              // whether a holds all of b
	meets                         func(a, b string) string              // whether a and b have something in common
	textOf                        func(list string) string              // the members, joined by ", "
	setsText                      func(sets string) string              // the lists' texts, joined by "; "
	setsUnion                     func(sets string) string              // the members of all lists, each once
	allFit                        func(members, patterns string) string // whether each member fits a pattern
	commonOfAll                   func(sets string) string              // what all lists hold, in the order of the first
	flat                          func(sets string) string              // the members of all lists, one after the other
	at, setAt                     func(list, i string) string           // a member by its number from 0
	contains, containsOther       func(list, value string) string       // whether a list holds a text, or anything but it
	containsSet, containsOtherSet func(sets, list string) string        // the same of sets
	fence                         string                                // keeps a subquery apart from what it stands in, so that its expressions are not copied
	preamble, epilogue            string
}

// sqliteDialect needs no function of its own, so that any SQLite since 3.40 reads the file.
var sqliteDialect = dialect{
	name: "sqlite", text: "TEXT", real: "REAL", blob: "BLOB", list: "TEXT", sets: "TEXT", empty: "'[]'", noSets: "'[]'", noRowid: " WITHOUT ROWID", fence: " LIMIT -1 OFFSET 0",
	each:        jsonEach,
	collect:     func(v string) string { return "json_group_array(" + v + ") OVER w" },
	collectSets: func(v string) string { return "json_group_array(json(" + v + ")) OVER w" },
	join:        func(v, sep string) string { return "group_concat(" + v + ", " + sep + ") OVER w" },
	listOf:      func(v string) string { return "json_array(" + v + ")" },
	setsOf:      func(l string) string { return "json_array(json(" + l + "))" },
	common: func(a, b string) string {
		return jsonArray("x.value", "x.key", jsonEach(a, "x")+" WHERE x.value IN (SELECT y.value FROM "+jsonEach(b, "y")+")")
	},
	merge:     func(a, b string) string { return jsonArray("u.value", "u.key", jsonMerged(a, b)) },
	mergeSets: func(a, b string) string { return jsonArray("json(u.value)", "u.key", jsonMerged(a, b)) },
	sorted: func(a string) string {
		return jsonArray("u.value", "u.value", "(SELECT DISTINCT x.value FROM "+jsonEach(a, "x")+") AS u")
	},
	holds: jsonHolds,
	meets: jsonMeets,
	textOf: func(l string) string {
		return jsonText("x.value", "', '", "x.key", jsonEach(l, "x"))
	},
	setsText: func(s string) string {
		return jsonText(jsonText("x.value", "', '", "x.key", jsonEach("s.value", "x")), "'; '", "s.key", jsonEach(s, "s"))
	},
	setsUnion: func(s string) string {
		return jsonArray("u.value", "u.key", "(SELECT x.value, min(s.key * 1000000000 + x.key) AS key FROM "+jsonEach(s, "s")+", "+jsonEach("s.value", "x")+" GROUP BY x.value) AS u")
	},
	commonOfAll: func(s string) string {
		return jsonArray("x.value", "x.key", jsonEach("json_extract("+s+", '$[0]')", "x")+
			" WHERE NOT EXISTS (SELECT 1 FROM "+jsonEach(s, "s")+" WHERE x.value NOT IN (SELECT y.value FROM "+jsonEach("s.value", "y")+"))")
	},
	flat: func(s string) string {
		return jsonArray("x.value", "s.key * 1000000000 + x.key", jsonEach(s, "s")+", "+jsonEach("s.value", "x"))
	},
	at:               jsonAt,
	setAt:            jsonAt,
	contains:         func(l, v string) string { return v + " IN (SELECT x.value FROM " + jsonEach(l, "x") + ")" },
	containsOther:    jsonOther,
	containsSet:      func(s, l string) string { return l + " IN (SELECT x.value FROM " + jsonEach(s, "x") + ")" },
	containsOtherSet: jsonOther,
	allFit: func(members, patterns string) string {
		glob := "replace(replace(y.value, '[', '[[]'), '?', '[?]')"
		return "NOT EXISTS (SELECT 1 FROM " + jsonEach(members, "x") + " WHERE NOT EXISTS (SELECT 1 FROM " + jsonEach(patterns, "y") + " WHERE x.value GLOB " + glob + "))"
	},
}

const wholeFrame = "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"

func jsonEach(list, as string) string { return "json_each(" + list + ") AS " + as }

// jsonArray aggregates in an order that is defined: by a window over all rows, of which one
// is taken.
func jsonArray(value, order, from string) string {
	return "coalesce((SELECT json_group_array(" + value + ") OVER (ORDER BY " + order + " " + wholeFrame + ") FROM " + from + " LIMIT 1), '[]')"
}

func jsonText(value, separator, order, from string) string {
	return "coalesce((SELECT group_concat(" + value + ", " + separator + ") OVER (ORDER BY " + order + " " + wholeFrame + ") FROM " + from + " LIMIT 1), '')"
}

// jsonMerged is the rows of a, then those of b that a lacks, each once.
func jsonMerged(a, b string) string {
	return "(SELECT x.value, x.key FROM " + jsonEach(a, "x") +
		" UNION ALL SELECT y.value, 1000000000 + min(y.key) FROM " + jsonEach(b, "y") +
		" WHERE y.value NOT IN (SELECT z.value FROM " + jsonEach(a, "z") + ") GROUP BY y.value) AS u"
}

func jsonHolds(a, b string) string {
	return "NOT EXISTS (SELECT 1 FROM " + jsonEach(b, "x") + " WHERE x.value NOT IN (SELECT y.value FROM " + jsonEach(a, "y") + "))"
}

func jsonAt(list, i string) string { return "json_extract(" + list + ", '$[' || " + i + " || ']')" }

func jsonOther(list, value string) string {
	return "EXISTS (SELECT 1 FROM " + jsonEach(list, "x") + " WHERE x.value <> " + value + ")"
}

func jsonMeets(a, b string) string {
	return "EXISTS (SELECT 1 FROM " + jsonEach(a, "x") + " WHERE x.value IN (SELECT y.value FROM " + jsonEach(b, "y") + "))"
}

// postgresDialect is written for PostgreSQL 12 and later. Texts compare by their bytes.
var postgresDialect = dialect{
	name: "postgres", text: `TEXT COLLATE "C"`, real: "DOUBLE PRECISION", blob: "BYTEA", list: `TEXT[] COLLATE "C"`, sets: `TEXT[] COLLATE "C"`, empty: "'{}'::text[]", noSets: "'{}'::text[]", fence: " OFFSET 0",
	each:             ordinality,
	collect:          func(v string) string { return "array_agg(" + v + ") OVER w" },
	collectSets:      func(v string) string { return "array_agg(to_jsonb(" + v + ")::text) OVER w" },
	join:             func(v, sep string) string { return "string_agg(" + v + ", " + sep + ") OVER w" },
	listOf:           func(v string) string { return "ARRAY[" + v + "]" },
	setsOf:           func(l string) string { return "ARRAY[to_jsonb(" + l + ")::text]" },
	common:           call2("umwelt_common"),
	merge:            call2("umwelt_merge"),
	mergeSets:        call2("umwelt_merge"),
	sorted:           call("umwelt_sorted"),
	holds:            func(a, b string) string { return "(" + a + " @> " + b + ")" },
	meets:            func(a, b string) string { return "(" + a + " && " + b + ")" },
	textOf:           func(l string) string { return "array_to_string(" + l + ", ', ')" },
	setsText:         call("umwelt_sets_text"),
	setsUnion:        call("umwelt_sets_union"),
	commonOfAll:      call("umwelt_sets_common"),
	flat:             call("umwelt_sets_flat"),
	at:               func(l, i string) string { return "(" + l + ")[" + i + " + 1]" },
	setAt:            func(s, i string) string { return "umwelt_list((" + s + ")[" + i + " + 1]::jsonb)" },
	contains:         func(l, v string) string { return v + " = ANY (" + l + ")" },
	containsOther:    func(l, v string) string { return v + " <> ANY (" + l + ")" },
	containsSet:      func(s, l string) string { return "to_jsonb(" + l + ")::text = ANY (" + s + ")" },
	containsOtherSet: func(s, l string) string { return "to_jsonb(" + l + ")::text <> ANY (" + s + ")" },
	allFit:           call2("umwelt_all_fit"),
	preamble: `BEGIN;
SET LOCAL standard_conforming_strings = on;
SET LOCAL client_encoding = 'UTF8';
CREATE FUNCTION umwelt_list(jsonb) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(array_agg(x ORDER BY i), '{}') FROM jsonb_array_elements_text($1) WITH ORDINALITY AS u(x, i) $$;
CREATE FUNCTION umwelt_common(text[], text[]) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(array_agg(x ORDER BY i), '{}') FROM unnest($1) WITH ORDINALITY AS u(x, i) WHERE x = ANY ($2) $$;
CREATE FUNCTION umwelt_merge(text[], text[]) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
  SELECT $1 || coalesce((SELECT array_agg(x ORDER BY i) FROM
    (SELECT x, min(i) AS i FROM unnest($2) WITH ORDINALITY AS u(x, i) WHERE NOT x = ANY ($1) GROUP BY x) AS v), '{}') $$;
CREATE FUNCTION umwelt_sorted(text[]) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(array_agg(x ORDER BY x COLLATE "C"), '{}') FROM (SELECT DISTINCT x FROM unnest($1) AS u(x)) AS v $$;
CREATE FUNCTION umwelt_sets_text(text[]) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(string_agg(array_to_string(umwelt_list(s::jsonb), ', '), '; ' ORDER BY i), '') FROM unnest($1) WITH ORDINALITY AS u(s, i) $$;
CREATE FUNCTION umwelt_sets_union(text[]) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(array_agg(x ORDER BY i, k), '{}') FROM (SELECT DISTINCT ON (x) x, i, k
    FROM unnest($1) WITH ORDINALITY AS u(s, i), unnest(umwelt_list(s::jsonb)) WITH ORDINALITY AS m(x, k) ORDER BY x, i, k) AS v $$;
CREATE FUNCTION umwelt_sets_flat(text[]) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(array_agg(x ORDER BY i, k), '{}') FROM unnest($1) WITH ORDINALITY AS u(s, i), unnest(umwelt_list(s::jsonb)) WITH ORDINALITY AS m(x, k) $$;
CREATE FUNCTION umwelt_sets_common(text[]) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(array_agg(x ORDER BY i), '{}') FROM unnest(umwelt_list($1[1]::jsonb)) WITH ORDINALITY AS u(x, i)
  WHERE NOT EXISTS (SELECT 1 FROM unnest($1) AS v(s) WHERE NOT x = ANY (umwelt_list(s::jsonb))) $$;
CREATE FUNCTION umwelt_all_fit(text[], text[]) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT NOT EXISTS (SELECT 1 FROM unnest($1) AS m(x) WHERE NOT EXISTS (SELECT 1 FROM unnest($2) AS p(y)
    WHERE x LIKE replace(replace(replace(replace(y, '\', '\\'), '%', '\%'), '_', '\_'), '*', '%') ESCAPE '\')) $$;
`,
	epilogue: "COMMIT;\n",
}

// duckDialect is written for DuckDB 1.4 and later.
var duckDialect = dialect{
	name: "duckdb", text: "TEXT", real: "DOUBLE", blob: "BLOB", list: "TEXT[]", sets: "TEXT[][]", empty: "[]::TEXT[]", noSets: "[]::TEXT[][]",
	each:             ordinality,
	collect:          func(v string) string { return "list(" + v + ") OVER w" },
	collectSets:      func(v string) string { return "list(" + v + ") OVER w" },
	join:             func(v, sep string) string { return "string_agg(" + v + ", " + sep + ") OVER w" },
	listOf:           func(v string) string { return "[" + v + "]" },
	setsOf:           func(l string) string { return "[" + l + "]" },
	common:           call2("umwelt_common"),
	merge:            call2("umwelt_merge"),
	mergeSets:        call2("umwelt_merge"),
	sorted:           func(l string) string { return "list_sort(list_distinct(" + l + "))" },
	holds:            func(a, b string) string { return "list_has_all(" + a + ", " + b + ")" },
	meets:            func(a, b string) string { return "list_has_any(" + a + ", " + b + ")" },
	textOf:           call("umwelt_text"),
	setsText:         call("umwelt_sets_text"),
	setsUnion:        call("umwelt_sets_union"),
	commonOfAll:      call("umwelt_sets_common"),
	flat:             call("flatten"),
	at:               func(l, i string) string { return "(" + l + ")[" + i + " + 1]" },
	setAt:            func(s, i string) string { return "(" + s + ")[" + i + " + 1]" },
	contains:         call2("list_contains"),
	containsOther:    duckOther,
	containsSet:      call2("list_contains"),
	containsOtherSet: duckOther,
	allFit:           call2("umwelt_all_fit"),
	preamble: `BEGIN TRANSACTION;
CREATE MACRO umwelt_common(a, b) AS list_filter(a, lambda x: list_contains(b, x));
CREATE MACRO umwelt_once(a) AS list_filter(a, lambda x, i: list_position(a, x) = i);
CREATE MACRO umwelt_merge(a, b) AS list_concat(a, umwelt_once(list_filter(b, lambda x: NOT list_contains(a, x))));
CREATE MACRO umwelt_text(a) AS coalesce(array_to_string(a, ', '), '');
CREATE MACRO umwelt_sets_text(a) AS coalesce(array_to_string(list_transform(a, lambda s: coalesce(array_to_string(s, ', '), '')), '; '), '');
CREATE MACRO umwelt_sets_union(a) AS umwelt_once(flatten(a));
CREATE MACRO umwelt_sets_common(a) AS list_filter(a[1], lambda x: len(list_filter(a, lambda s: NOT list_contains(s, x))) = 0);
CREATE MACRO umwelt_fits(x, y) AS x LIKE replace(replace(replace(replace(y, '\', '\\'), '%', '\%'), '_', '\_'), '*', '%') ESCAPE '\';
CREATE MACRO umwelt_all_fit(a, b) AS len(list_filter(a, lambda x: len(list_filter(b, lambda y: umwelt_fits(x, y))) = 0)) = 0;
`,
	epilogue: "COMMIT;\n",
}

func duckOther(list, value string) string {
	return "len(list_filter(" + list + ", lambda x: x <> " + value + ")) > 0"
}

func ordinality(list, as string) string {
	return "unnest(" + list + ") WITH ORDINALITY AS " + as + "(value, key)"
}

func call(name string) func(string) string {
	return func(a string) string { return name + "(" + a + ")" }
}

func call2(name string) func(a, b string) string {
	return func(a, b string) string { return name + "(" + a + ", " + b + ")" }
}

// anySetApart is whether some of sets has nothing in common with members.
func (d *dialect) anySetApart(sets, members string) string {
	switch d.name {
	case "postgres":
		return "EXISTS (SELECT 1 FROM unnest(" + sets + ") AS s(value) WHERE NOT umwelt_list(s.value::jsonb) && " + members + ")"
	case "duckdb":
		return "len(list_filter(" + sets + ", lambda s: NOT list_has_any(s, " + members + "))) > 0"
	}
	return "EXISTS (SELECT 1 FROM " + jsonEach(sets, "s") + " WHERE NOT " + jsonMeets("s.value", members) + ")"
}

// identifier quotes a name that a vocabulary gave.
func identifier(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// ids lists numbers for IN.
func ids(list []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ", "), "[]")
}
