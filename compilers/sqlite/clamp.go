package sqlite

import "strings"

// joins brings what together summed up of a step to the rows e of another.
func (s *stratum) joins(step string, names ...string) string {
	var b strings.Builder
	for _, name := range names {
		b.WriteString("\n      LEFT JOIN " + step + "_" + name + "{n} AS " + name + "_ ON " + name + "_.cohort_id = e.cohort_id AND " + name + "_.property_id = e.property_id")
	}
	return b.String()
}

// shaped is a list as the property of the row e takes it.
func (s *stratum) shaped(list string) string {
	return "CASE WHEN e.shape = 'set' THEN " + s.sorted(list) + " ELSE " + list + " END"
}

// tighter chooses between what a row has and the tightest number beside it.
func tighter(column string) string {
	return "CASE WHEN p.restrictive IN ('false', 'min') AND tightest_.number < e.number OR p.restrictive IN ('true', 'max') AND tightest_.number > e.number" +
		" THEN tightest_." + column + " ELSE e." + column + " END"
}

// restrict makes values as restrictive as what a rule says of the entities that the
// property follows, whatever the entity's own rules say.
func (s *stratum) restrict() string {
	return strings.NewReplacer(
		"{empty}", s.empty, "{same}", same("e.", "e.new_"),
		"{members}", "CASE p.restrictive WHEN 'subset' THEN "+s.common("e.members", "coalesce(common_.members, "+s.empty+")")+
			" WHEN 'superset' THEN "+s.merge("e.members", "coalesce(merged_.members, "+s.empty+")")+" ELSE e.members END",
		"{shaped}", s.shaped("e.raw"), "{text}", s.textOf("e.new_members"),
	).Replace(`SELECT cohort_id, property_id, CASE WHEN changed = 1 THEN 'derived' ELSE source END AS source,
    CASE WHEN changed = 1 THEN new_value ELSE value END AS value, CASE WHEN changed = 1 THEN new_number ELSE number END AS number,
    CASE WHEN changed = 1 THEN new_members ELSE members END AS members, sets
  FROM (SELECT e.*, CASE WHEN applies = 1 AND NOT {same} THEN 1 ELSE 0 END AS changed
  FROM (SELECT e.*, CASE WHEN e.restrictive IN ('subset', 'superset') THEN {text} ELSE e.scalar END AS new_value
  FROM (SELECT e.*, {shaped} AS new_members
  FROM (SELECT e.*, p.restrictive, p.shape, CASE WHEN count_.n > 0 AND e.value IS NOT NULL AND p.restrictive <> 'none' THEN 1 ELSE 0 END AS applies,
      ` + tighter("value") + ` AS scalar, ` + tighter("number") + ` AS new_number, {members} AS raw
    FROM begun{n} AS e JOIN property_types AS p ON p.id = e.property_id` + s.joins("other", "count", "tightest", "common", "merged") + `) AS e) AS e) AS e) AS e`)
}

// clamp applies the fixed constraints. Where a property has a restrictive direction they
// may only restrict; else the last says what holds. It is the constraint that says so
// where it changes the value, and where no rule does and it is as tight.
func (s *stratum) clamp(from string) string {
	return strings.NewReplacer(
		"{from}", from, "{same}", same("e.", "e.new_"), "{b}", same("b.", "e."),
		"{sets}", s.mergeSets("coalesce(e.sets, CASE WHEN e.value IS NULL THEN "+s.noSets+" ELSE "+s.setsOf("e.members")+" END)", "demands_.sets"),
		"{common}", "CASE WHEN e.value IS NULL THEN coalesce(common_.members, "+s.empty+") ELSE "+s.common("e.members", "coalesce(common_.members, "+s.empty+")")+" END",
		"{merged}", "CASE WHEN e.value IS NULL THEN coalesce(merged_.members, "+s.empty+") ELSE "+s.merge("e.members", "coalesce(merged_.members, "+s.empty+")")+" END",
		"{union}", s.shaped(s.setsUnion("e.new_sets")), "{shaped}", s.shaped("e.raw"), "{text}", s.textOf("e.new_members"), "{sets text}", s.setsText("e.new_sets"),
	).Replace(`SELECT cohort_id, property_id, CASE WHEN fixed = 1 THEN 'fixed' ELSE source END AS source,
    CASE WHEN fixed = 1 THEN new_value ELSE value END AS value, CASE WHEN fixed = 1 THEN new_number ELSE number END AS number,
    CASE WHEN fixed = 1 THEN new_members ELSE members END AS members, CASE WHEN fixed = 1 AND way = 'overlap' THEN new_sets ELSE sets END AS sets
  FROM (SELECT e.*, CASE WHEN way = 'keep' THEN 0 WHEN restrictive = 'none' OR value IS NULL THEN 1 WHEN NOT {same} THEN 1
      WHEN source = 'cascade' THEN CASE WHEN way = 'last' AND EXISTS (SELECT 1 FROM bound{n} AS b WHERE b.cohort_id = e.cohort_id AND b.property_id = e.property_id AND NOT {b}) THEN 1 ELSE 0 END
      WHEN EXISTS (SELECT 1 FROM bound{n} AS b WHERE b.cohort_id = e.cohort_id AND b.property_id = e.property_id AND {b}) THEN 1 ELSE 0 END AS fixed
  FROM (SELECT e.*, CASE way WHEN 'overlap' THEN {sets text} WHEN 'list' THEN {text} ELSE scalar END AS new_value
  FROM (SELECT e.*, CASE way WHEN 'overlap' THEN {union} WHEN 'list' THEN {shaped} WHEN 'last' THEN last_members ELSE members END AS new_members
  FROM (SELECT e.*, p.restrictive, p.shape, last_.members AS last_members,
      CASE WHEN count_.n IS NULL THEN 'keep' WHEN p.comparison = 'overlap' THEN 'overlap' WHEN p.restrictive = 'none' OR p.repeatable = 1 THEN 'last'
        WHEN p.restrictive IN ('subset', 'superset') THEN 'list' ELSE 'number' END AS way,
      CASE WHEN count_.n > 0 AND p.comparison = 'overlap' THEN {sets} END AS new_sets,
      CASE WHEN count_.n > 0 AND p.restrictive = 'subset' THEN {common} WHEN count_.n > 0 AND p.restrictive = 'superset' THEN {merged} END AS raw,
      CASE WHEN p.restrictive = 'none' OR p.repeatable = 1 THEN last_.value WHEN e.value IS NULL THEN tightest_.value ELSE ` + tighter("value") + ` END AS scalar,
      CASE WHEN p.shape <> 'one' OR p.repeatable = 1 THEN 0 WHEN p.restrictive = 'none' THEN last_.number WHEN e.value IS NULL THEN tightest_.number ELSE ` + tighter("number") + ` END AS new_number
    FROM {from} AS e JOIN property_types AS p ON p.id = e.property_id` + s.joins("bound", "count", "tightest", "common", "merged", "demands", "last") + `) AS e) AS e) AS e) AS e`)
}

// gates are the properties to be restricted since an attribute of the entity breaks, or
// does not say what would meet, a comparison that gates them.
func (s *stratum) gates() string {
	return strings.NewReplacer(
		"{holds}", s.holds("q.members", "m.members"), "{meets}", s.meets("q.members", "m.members"), "{apart}", s.anySetApart("q.sets", "m.members"),
		"{fit}", s.allFit("m.members", "q.members"), "{one}", s.listOf("q.value"),
	).Replace(`SELECT DISTINCT q.cohort_id, g.gates_id AS property_id
  FROM property_types AS g JOIN settled{n} AS q ON q.property_id = g.id JOIN cohort_facts AS m ON m.cohort_id = q.cohort_id AND m.property_id = g.id
  WHERE g.gates_id IN ({ids}) AND (m.members IS NULL OR CASE g.comparison
    WHEN '<=' THEN m.number IS NULL OR m.number > q.number
    WHEN '>=' THEN m.number IS NULL OR m.number < q.number
    WHEN 'in' THEN NOT {holds}
    WHEN 'overlap' THEN CASE WHEN q.sets IS NULL THEN NOT {meets} ELSE {apart} END
    WHEN 'pattern' THEN NOT {fit}
    ELSE m.members <> coalesce(q.members, {one}) END)`)
}

func (s *stratum) restrictGated() string {
	return `SELECT e.cohort_id, e.property_id, CASE WHEN tight IS NULL OR e.value = tight THEN e.source ELSE 'derived' END AS source,
    coalesce(tight, e.value) AS value, CASE WHEN tight IS NULL THEN e.number WHEN tight = 'true' THEN 1 ELSE 0 END AS number, e.members, e.sets
  FROM (SELECT e.*, CASE WHEN g.cohort_id IS NULL THEN NULL WHEN p.restrictive = 'true' THEN 'true' ELSE 'false' END AS tight
    FROM clamped{n} AS e JOIN property_types AS p ON p.id = e.property_id
    LEFT JOIN gate{n} AS g ON g.cohort_id = e.cohort_id AND g.property_id = e.property_id) AS e`
}
