package sqlite

import "strings"

// view is one view. Those of a list are in an order in which each can be made.
//
// The views stand on one another in a line as far as they can: a view that names another
// one twice doubles what SQLite has to read before it answers.
type view struct {
	name, query string
}

func (v view) create() string { return "CREATE VIEW " + v.name + " AS\n" + v.query }

// ground are the views from the context up to what the rules alone resolve.
func (d *dialect) ground(db *database) []view {
	out := []view{
		{"projections", `SELECT e.* FROM entities AS e JOIN entity_provenance AS p ON p.entity_id = e.id WHERE p.origin = 'projected'`},
		{"active_entities", activeEntities},
		{"met_qualifiers", `SELECT DISTINCT m.qualifier_id FROM active_entities AS a JOIN qualifier_matches AS m ON m.entity_id = a.entity_id`},
		{"holding_selectors", holdingSelectors},
		{"cascade_candidates", cascadeCandidates},
		{"applying_declarations", applyingDeclarations},
	}
	out = append(out, d.locks(db)...)
	return append(out,
		view{"cohort_candidates", d.cohortCandidates()},
		view{"cohort_resolved", d.cohortResolved()},
		view{"resolved_properties", resolvedProperties},
	)
}

// activeEntities are those that the context names, and the only entity of each sole-active
// type of which it names none. What exists only because a view names it counts for neither
// one nor several.
const activeEntities = `SELECT e.id AS entity_id, e.type, e.entity, 'named' AS origin
FROM active_context AS a JOIN entities AS e ON e.type = a.type AND e.entity = a.entity
UNION ALL
SELECT min(e.id), e.type, min(e.entity), 'sole'
FROM entity_types AS t JOIN entities AS e ON e.type = t.type JOIN entity_provenance AS p ON p.entity_id = e.id
WHERE t.sole_active = 1 AND p.origin <> 'referenced' AND NOT EXISTS (SELECT 1 FROM active_context AS a WHERE a.type = t.type)
GROUP BY e.type HAVING count(*) = 1`

// holdingSelectors are the selectors of rules and fixed constraints whose qualifiers are
// all met by something active.
const holdingSelectors = `SELECT s.selector_id FROM selectors AS s
WHERE NOT EXISTS (SELECT 1 FROM cascade_context_qualifiers AS q WHERE q.selector_id = s.selector_id
  AND q.qualifier_id NOT IN (SELECT m.qualifier_id FROM met_qualifiers AS m))`

// cascadeCandidates is every declaration of every rule that matched, whether or not its
// qualifiers hold, with its precedence as columns that sort.
const cascadeCandidates = `SELECT e.id AS entity_id, d.property_name, CASE WHEN p.secret = 1 THEN '(secret)' ELSE d.value END AS value,
  d.id AS declaration_id, d.selector_id, r.selector, r.taxon, d.important, d.layer_rank, d.specificity, d.appearance, d.locked, r.layer,
  (SELECT count(*) FROM cascade_context_qualifiers AS q WHERE q.selector_id = d.selector_id) AS qualifiers,
  d.file, d.line, d.column_number
FROM entities AS e
JOIN cohort_selectors AS k ON k.cohort_id = e.cohort_id
JOIN declarations AS d ON d.selector_id = k.selector_id AND d.type = e.type
JOIN property_types AS p ON p.id = d.property_id
JOIN rules AS r ON r.selector_id = d.selector_id`

// applyingDeclarations are the candidates that hold in the context; place counts them per
// cohort and property from the highest precedence.
const applyingDeclarations = `SELECT c.id AS cohort_id, d.property_id, d.id AS declaration_id, d.value, d.number, d.members, d.locked, d.layer_position, d.appearance,
  row_number() OVER (PARTITION BY c.id, d.property_id
    ORDER BY d.important DESC, d.layer_rank DESC, d.specificity DESC, d.appearance DESC, d.selector_id DESC) AS place
FROM cohorts AS c
JOIN cohort_selectors AS k ON k.cohort_id = c.id
JOIN holding_selectors AS h ON h.selector_id = k.selector_id
JOIN declarations AS d ON d.selector_id = k.selector_id AND d.type = c.type`

// same is whether two values are equal; each is given as what stands before its columns.
func same(a, b string) string {
	return "(" + a + "value = " + b + "value AND " + a + "members IS NOT DISTINCT FROM " + b + "members)"
}

// cohortCandidates is one row per cohort and property with all that is kept: the winner,
// and the values in the order in which the comparison takes them. Of one declaration under
// several selectors a repeatable property takes one.
func (d *dialect) cohortCandidates() string {
	return strings.NewReplacer("{values}", d.collect("value"), "{lists}", d.collectSets("coalesce(members, "+d.empty+")"), "{whole}", wholeFrame).Replace(
		`SELECT cohort_id, property_id, comparison, repeatable, shape, value, number, members, declaration_id, texts, lists FROM (
  SELECT k.cohort_id, k.property_id, k.comparison, k.repeatable, k.shape, k.value, k.number, k.members,
    first_value(k.declaration_id) OVER (PARTITION BY cohort_id, property_id ORDER BY bound, rank) AS declaration_id,
    {values} AS texts, {lists} AS lists, row_number() OVER w AS n
  FROM (
    SELECT k.*, CASE comparison WHEN '<=' THEN number WHEN '>=' THEN -number ELSE 0 END * (1 - repeatable) AS bound,
      row_number() OVER (PARTITION BY cohort_id, property_id, CASE WHEN repeatable = 1 THEN appearance ELSE rank END ORDER BY rank) AS again
    FROM kept_declarations AS k) AS k
  WHERE again = 1
  WINDOW w AS (PARTITION BY cohort_id, property_id ORDER BY CASE WHEN repeatable = 1 THEN appearance ELSE 0 END, bound, rank {whole})) AS k
WHERE n = 1`)
}

// cohortResolved combines the candidates by each property's comparison.
func (d *dialect) cohortResolved() string {
	set := func(list string) string {
		return "CASE WHEN k.shape = 'set' THEN " + d.sorted(list) + " ELSE " + list + " END"
	}
	return strings.NewReplacer(
		"{flat}", d.flat("k.lists"), "{common}", d.commonOfAll("k.lists"), "{union}", set(d.setsUnion("k.lists")),
		"{distinct}", d.mergeSets(d.noSets, "k.lists"), "{sets text}", d.setsText("k.sets"), "{text}", d.textOf("k.list"),
		"{fence}", d.fence,
	).Replace(`SELECT k.cohort_id, k.property_id, CASE WHEN k.sets IS NOT NULL THEN {sets text} WHEN k.list IS NOT NULL THEN {text} ELSE k.value END AS value,
  CASE WHEN k.list IS NOT NULL THEN 0 ELSE k.number END AS number, coalesce(k.list, k.members) AS members, k.sets, k.declaration_id
FROM (SELECT k.*,
  CASE WHEN k.repeatable = 1 THEN CASE WHEN k.shape = 'one' THEN k.texts ELSE {flat} END
    WHEN k.comparison = 'in' THEN {common} WHEN k.comparison IN ('overlap', 'pattern') THEN {union} END AS list,
  CASE WHEN k.repeatable = 0 AND k.comparison = 'overlap' THEN {distinct} END AS sets
  FROM cohort_candidates AS k{fence}) AS k`)
}

// resolvedProperties is what the rules alone make of every property that they set.
const resolvedProperties = `SELECT e.id AS entity_id, p.property_name, CASE WHEN p.secret = 1 THEN '(secret)' ELSE r.value END AS value,
  u.selector, r.declaration_id, d.file, d.line, d.column_number
FROM entities AS e
JOIN cohort_resolved AS r ON r.cohort_id = e.cohort_id
JOIN property_types AS p ON p.id = r.property_id
JOIN declarations AS d ON d.id = r.declaration_id
JOIN rules AS u ON u.selector_id = d.selector_id`
