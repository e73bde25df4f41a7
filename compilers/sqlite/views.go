package sqlite

import "strings"

// view is one view. Those of a list are in an order in which each can be made.
type view struct {
	name, query string
}

func (v view) create() string { return "CREATE VIEW " + v.name + " AS\n" + v.query }

// ground are the views from the context up to what the rules alone resolve.
func (d *dialect) ground() []view {
	return []view{
		{"projections", `SELECT e.* FROM entities AS e JOIN entity_provenance AS p ON p.entity_id = e.id WHERE p.origin = 'projected'`},
		{"active_entities", activeEntities},
		{"holding_selectors", holdingSelectors},
		{"cascade_candidates", cascadeCandidates},
		{"applying_declarations", applyingDeclarations},
		{"binding_locks", d.bindingLocks()},
		{"kept_declarations", d.keptDeclarations()},
		{"cohort_resolved", d.cohortResolved()},
		{"resolved_properties", resolvedProperties},
	}
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
const holdingSelectors = `WITH met AS MATERIALIZED (
  SELECT DISTINCT m.qualifier_id FROM active_entities AS a JOIN qualifier_matches AS m ON m.entity_id = a.entity_id),
every AS (SELECT selector_id FROM rules UNION SELECT selector_id FROM fixed_constraints)
SELECT s.selector_id FROM every AS s
WHERE NOT EXISTS (SELECT 1 FROM cascade_context_qualifiers AS q WHERE q.selector_id = s.selector_id
  AND q.qualifier_id NOT IN (SELECT met.qualifier_id FROM met))`

// cascadeCandidates is every declaration of every rule that matched, whether or not its
// qualifiers hold, with its precedence as columns that sort.
const cascadeCandidates = `SELECT e.id AS entity_id, d.property_name, d.value, d.id AS declaration_id, d.selector_id, r.selector, r.taxon,
  d.important, d.layer_rank, d.specificity, d.appearance, d.locked, r.layer,
  (SELECT count(*) FROM cascade_context_qualifiers AS q WHERE q.selector_id = d.selector_id) AS qualifiers,
  d.file, d.line, d.column_number
FROM entities AS e
JOIN cohort_selectors AS k ON k.cohort_id = e.cohort_id
JOIN declarations AS d ON d.selector_id = k.selector_id AND d.type = e.type
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

// tight is whether the value of row a is at least as restrictive as that of row b.
func (d *dialect) tight(direction, a, b string) string {
	return "CASE WHEN " + direction + " IN ('false', 'min') THEN " + a + ".number <= " + b + ".number" +
		" WHEN " + direction + " IN ('true', 'max') THEN " + a + ".number >= " + b + ".number" +
		" WHEN " + direction + " = 'subset' THEN " + d.holds(b+".members", a+".members") +
		" WHEN " + direction + " = 'superset' THEN " + d.holds(a+".members", b+".members") +
		" ELSE " + same(a+".", b+".") + " END"
}

// same is whether two values are equal; each is given as what stands before its columns.
func same(a, b string) string {
	return "(" + a + "value = " + b + "value AND " + a + "members IS NOT DISTINCT FROM " + b + "members)"
}

// loosens is whether the declaration of row c would loosen the lock of row b.
func (d *dialect) loosens(c, b string) string {
	return "((p.comparison = 'exact' OR " + c + ".layer_position > " + b + ".layer_position)" +
		" AND p.comparison NOT IN ('in', 'overlap') AND NOT (p.comparison = 'pattern' AND p.restrictive = 'superset')" +
		" AND NOT (" + d.tight("p.restrictive", c, b) + "))"
}

// bindingLocks goes through the locks of each property from the first layer on: one that
// would loosen a lock which binds does not bind itself. bound lists those that do.
func (d *dialect) bindingLocks() string {
	binds := `NOT EXISTS (SELECT 1 FROM loose AS x WHERE x.cohort_id = w.cohort_id AND x.property_id = w.property_id AND x.n = w.n + 1
      AND w.bound LIKE '%,' || x.lock_n || ',%')`
	return `WITH RECURSIVE l AS MATERIALIZED (
  SELECT a.*, row_number() OVER (PARTITION BY a.cohort_id, a.property_id ORDER BY a.layer_position, a.place) AS n
  FROM applying_declarations AS a WHERE a.locked = 1),
loose AS MATERIALIZED (
  SELECT c.cohort_id, c.property_id, c.n, b.n AS lock_n
  FROM l AS c JOIN l AS b ON b.cohort_id = c.cohort_id AND b.property_id = c.property_id AND b.n < c.n JOIN property_types AS p ON p.id = c.property_id
  WHERE ` + d.loosens("c", "b") + `),
walk(cohort_id, property_id, n, binds, bound) AS (
  SELECT cohort_id, property_id, n, 1, CAST(',1,' AS TEXT) FROM l WHERE n = 1
  UNION ALL
  SELECT w.cohort_id, w.property_id, w.n + 1, CASE WHEN ` + binds + ` THEN 1 ELSE 0 END,
    CASE WHEN ` + binds + ` THEN w.bound || CAST(w.n + 1 AS TEXT) || ',' ELSE w.bound END
  FROM walk AS w JOIN l AS c ON c.cohort_id = w.cohort_id AND c.property_id = w.property_id AND c.n = w.n + 1)
SELECT l.cohort_id, l.property_id, l.declaration_id, l.place, l.value, l.number, l.members, l.layer_position
FROM walk AS w JOIN l ON l.cohort_id = w.cohort_id AND l.property_id = w.property_id AND l.n = w.n WHERE w.binds = 1`
}

// keptDeclarations leaves out what would loosen a lock; rank counts the rest from the
// highest precedence.
func (d *dialect) keptDeclarations() string {
	return `WITH b AS MATERIALIZED (SELECT * FROM binding_locks)
SELECT a.cohort_id, a.property_id, a.declaration_id, a.value, a.number, a.members, a.appearance,
  p.comparison, p.repeatable, p.shape, row_number() OVER (PARTITION BY a.cohort_id, a.property_id ORDER BY a.place) AS rank
FROM applying_declarations AS a JOIN property_types AS p ON p.id = a.property_id
WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.cohort_id = a.cohort_id AND b.property_id = a.property_id AND b.place <> a.place AND ` + d.loosens("a", "b") + `)`
}

const window = "\n  WINDOW w AS (PARTITION BY cohort_id, property_id ORDER BY "

// cohortResolved combines what is kept by each property's comparison.
func (d *dialect) cohortResolved() string {
	return strings.NewReplacer(
		"{each}", d.each("m.members", "x"), "{collect}", d.collect("member"), "{join}", d.join("member", "', '"),
		"{sets}", d.collectSets("members"), "{join sets}", d.join("value", "'; '"), "{empty}", d.empty, "{whole}", wholeFrame,
	).Replace(`WITH k AS MATERIALIZED (SELECT * FROM kept_declarations),
many AS (
  SELECT cohort_id, property_id, comparison, repeatable, shape, count(*) AS candidates, max(CASE WHEN rank = 1 THEN declaration_id END) AS declaration_id
  FROM k WHERE repeatable = 1 OR comparison IN ('in', 'overlap', 'pattern') GROUP BY cohort_id, property_id, comparison, repeatable, shape),
member AS MATERIALIZED (
  SELECT m.cohort_id, m.property_id, m.comparison, m.shape, m.rank, x.key AS i, x.value AS member
  FROM k AS m, {each} WHERE m.repeatable = 0 AND m.comparison IN ('in', 'overlap', 'pattern')),
once AS (
  SELECT k.*, row_number() OVER (PARTITION BY cohort_id, property_id, appearance ORDER BY rank) AS n FROM k WHERE repeatable = 1),
everywhere AS (
  SELECT cohort_id, property_id, member, count(DISTINCT rank) AS n FROM member WHERE comparison = 'in' GROUP BY cohort_id, property_id, member),
chosen AS (
  SELECT m.cohort_id, m.property_id, m.member, 0 AS first, m.i AS second, CASE WHEN m.shape = 'set' THEN m.member ELSE '' END AS sorted
  FROM member AS m JOIN everywhere AS e ON e.cohort_id = m.cohort_id AND e.property_id = m.property_id AND e.member = m.member
  JOIN many AS y ON y.cohort_id = m.cohort_id AND y.property_id = m.property_id AND y.candidates = e.n
  WHERE m.comparison = 'in' AND m.rank = 1
  UNION ALL
  SELECT cohort_id, property_id, member, rank, i, CASE WHEN shape = 'set' THEN member ELSE '' END
  FROM (SELECT m.*, row_number() OVER (PARTITION BY cohort_id, property_id, member ORDER BY rank, i) AS n FROM member AS m WHERE comparison IN ('overlap', 'pattern')) AS f WHERE n = 1
  UNION ALL
  SELECT cohort_id, property_id, value, appearance, 0, '' FROM once WHERE n = 1 AND shape = 'one'
  UNION ALL
  SELECT m.cohort_id, m.property_id, x.value, m.appearance, x.key, '' FROM once AS m, {each} WHERE m.n = 1 AND m.shape <> 'one'),
listed AS (
  SELECT cohort_id, property_id, {collect} AS members, {join} AS value, row_number() OVER w AS n FROM chosen` + window + `sorted, first, second {whole})),
demand AS (
  SELECT cohort_id, property_id, members, value, min(rank) AS rank FROM k WHERE repeatable = 0 AND comparison = 'overlap' GROUP BY cohort_id, property_id, members, value),
demands AS (
  SELECT cohort_id, property_id, {sets} AS sets, {join sets} AS value, row_number() OVER w AS n FROM demand` + window + `rank {whole})),
winner AS (
  SELECT k.*, row_number() OVER (PARTITION BY cohort_id, property_id
    ORDER BY CASE comparison WHEN '<=' THEN number WHEN '>=' THEN -number ELSE 0 END, rank) AS n
  FROM k WHERE repeatable = 0 AND comparison IN ('exact', '<=', '>='))
SELECT cohort_id, property_id, value, number, members, NULL AS sets, declaration_id FROM winner WHERE n = 1
UNION ALL
SELECT m.cohort_id, m.property_id, coalesce(s.value, l.value, ''), 0, coalesce(l.members, {empty}), s.sets, m.declaration_id
FROM many AS m
LEFT JOIN listed AS l ON l.cohort_id = m.cohort_id AND l.property_id = m.property_id AND l.n = 1
LEFT JOIN demands AS s ON s.cohort_id = m.cohort_id AND s.property_id = m.property_id AND s.n = 1`)
}

// resolvedProperties is what the rules alone make of every property that they set.
const resolvedProperties = `SELECT e.id AS entity_id, p.property_name, CASE WHEN p.secret = 1 THEN '(secret)' ELSE r.value END AS value,
  u.selector, r.declaration_id, d.file, d.line, d.column_number
FROM entities AS e
JOIN cohort_resolved AS r ON r.cohort_id = e.cohort_id
JOIN property_types AS p ON p.id = r.property_id
JOIN declarations AS d ON d.id = r.declaration_id
JOIN rules AS u ON u.selector_id = d.selector_id`
