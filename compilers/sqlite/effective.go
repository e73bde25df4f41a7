package sqlite

import (
	"fmt"
	"slices"
	"strings"

	"umwelt/registry"
)

// effective are the views of effective values: one for all properties that depend on no
// other property, then one for each that does.
func (d *dialect) effective(db *database) []view {
	out := []view{{"cohort_bounds", d.together(bounds)}}
	var plain []int
	for i := range db.all {
		if !slices.Contains(db.dependent, i) {
			plain = append(plain, i)
		}
	}
	var settled []string
	add := func(name string, list []int) {
		s := stage{dialect: d, database: db, list: list}
		out = append(out, s.views(name)...)
		settled = append(settled, "SELECT * FROM "+name)
	}
	if plain != nil {
		add("effective_plain", plain)
	}
	for _, i := range db.dependent {
		add(effectiveView(i), []int{i})
	}
	if settled == nil {
		settled = []string{"SELECT cohort_id, property_id, 'none' AS source, value, number, members, sets FROM cohort_resolved WHERE 1 = 0"}
	}
	return append(out, view{"cohort_effective", strings.Join(settled, "\nUNION ALL ")})
}

func effectiveView(i int) string { return fmt.Sprintf("effective_%d", i) }

// answer is where the effective value of property q is found.
func (db *database) answer(q int) string {
	if slices.Contains(db.dependent, q) {
		return effectiveView(q)
	}
	return "effective_plain"
}

// bounds are the fixed constraints that hold, in order.
const bounds = `SELECT k.cohort_id, f.property_id, f.value, f.number, f.members, p.restrictive, f.id AS turn
    FROM fixed_constraints AS f
    JOIN property_types AS p ON p.id = f.property_id
    JOIN holding_selectors AS h ON h.selector_id = f.selector_id
    JOIN cohort_selectors AS k ON k.selector_id = f.selector_id
    JOIN cohorts AS c ON c.id = k.cohort_id AND c.type = f.type`

// together sums up several values of one property, in turn: the most restrictive number,
// the last value, all texts and all lists.
func (d *dialect) together(rows string) string {
	return strings.NewReplacer("{rows}", rows, "{values}", d.collect("value"), "{lists}", d.collectSets("coalesce(members, "+d.empty+")"), "{whole}", wholeFrame).Replace(
		`SELECT cohort_id, property_id, tight_value, tight_number, first_number, last_value, last_number, last_members, texts, lists FROM (
  SELECT cohort_id, property_id,
    first_value(number) OVER w AS first_number, first_value(value) OVER t AS tight_value, first_value(number) OVER t AS tight_number,
    last_value(value) OVER w AS last_value, last_value(number) OVER w AS last_number, last_value(members) OVER w AS last_members,
    {values} AS texts, {lists} AS lists, row_number() OVER w AS n
  FROM (
    {rows}) AS b
  WINDOW w AS (PARTITION BY cohort_id, property_id ORDER BY turn {whole}),
    t AS (PARTITION BY cohort_id, property_id ORDER BY CASE WHEN restrictive IN ('false', 'min') THEN number ELSE -number END, turn)) AS b
WHERE n = 1`)
}

// stage writes the views of some properties that are worked out alike.
type stage struct {
	*dialect
	*database
	list []int
}

func (s *stage) some(test func(*registry.Property) bool) bool {
	return slices.ContainsFunc(s.list, func(i int) bool { return test(s.all[i]) })
}

func (s *stage) views(name string) []view {
	var out []view
	add := func(step, query string) string {
		out = append(out, view{name + step, query})
		return name + step
	}
	only := s.all[s.list[0]]
	through := only.Through != "" && s.followed(only) != nil
	others := ""
	if through {
		others = add("_others", s.together(s.others(only)))
	}
	last := add("_begun", s.begin(others))
	if through {
		last = add("_through", s.restrict(last, others))
	}
	if s.some(s.isFixed) {
		last = add("_clamped", s.clamp(last))
	}
	if gates := s.gates(only); gates != nil {
		last = add("_gated", s.gate(last, gates))
	}
	add("", "SELECT cohort_id, property_id, source, value, number, members, sets FROM "+last+" WHERE source IS NOT NULL")
	return out
}

// isFixed reports whether a fixed constraint of the world speaks of a property.
func (db *database) isFixed(p *registry.Property) bool {
	for i := range db.res.World().Fixed {
		for _, v := range db.res.World().Fixed[i].Values {
			if v.Property == p {
				return true
			}
		}
	}
	return false
}

// others are what rules and fixed constraints say of the entities that an attribute names.
func (s *stage) others(p *registry.Property) string {
	return fmt.Sprintf(`SELECT f.cohort_id, f.property_id, q.value, q.number, q.members, p.restrictive, f.position AS turn
    FROM cohort_follows AS f JOIN property_types AS p ON p.id = f.property_id
    JOIN %s AS q ON q.cohort_id = f.followed_cohort_id AND q.property_id = f.followed_property_id
    WHERE f.property_id = %d AND q.source IN ('cascade', 'fixed')`, s.answer(s.id[s.followed(p)]), s.id[p])
}

// begin is what the rules resolve, else what a property is derived from, else its initial
// value. Where there is nothing, source and value are NULL.
func (s *stage) begin(others string) string {
	type source struct{ when, name, value, number, members, sets string }
	sources := []source{{"r.cohort_id IS NOT NULL", "'cascade'", "r.value", "r.number", "r.members", "r.sets"}}
	joins := "LEFT JOIN cohort_resolved AS r ON r.cohort_id = c.id AND r.property_id = p.id"
	if s.some(func(p *registry.Property) bool { return len(p.ImpliedBy) > 0 }) {
		joins += `
  LEFT JOIN (SELECT DISTINCT a.cohort_id, i.property_id FROM property_implied_by AS i JOIN applying_declarations AS a ON a.property_id = i.implied_by_id) AS i
    ON i.cohort_id = c.id AND i.property_id = p.id`
		sources = append(sources, source{"i.cohort_id IS NOT NULL", "'derived'",
			"CASE p.restrictive WHEN 'true' THEN 'false' ELSE 'true' END", "CASE p.restrictive WHEN 'true' THEN 0 ELSE 1 END", "NULL", "NULL"})
	}
	only := s.all[s.list[0]]
	switch q := s.followed(only); {
	case others != "":
		joins += "\n  LEFT JOIN " + others + " AS o ON o.cohort_id = c.id AND o.property_id = p.id"
		o := source{"o.cohort_id IS NOT NULL", "'derived'", s.at("o.texts", "0"), "0", s.setAt("o.lists", "0"), "NULL"}
		switch only.Restrictive {
		case registry.Subset, registry.Superset: // all of them restrict it afterwards
		case registry.NoDirection:
			if only.Type.Shape == registry.One {
				o.number, o.members = "o.first_number", "NULL"
			}
		default:
			o.value, o.number, o.members = "o.tight_value", "o.tight_number", "NULL"
		}
		sources = append(sources, o)
	case q != nil && only.Through == "":
		joins += "\n  LEFT JOIN " + s.answer(s.id[q]) + " AS f ON f.cohort_id = c.id AND f.property_id = p.follows_id"
		sources = append(sources, source{
			"f.cohort_id IS NOT NULL AND (f.source <> 'initial' OR p.initial IS NULL OR NOT (f.value = p.initial AND f.members IS NOT DISTINCT FROM p.initial_members))",
			"'derived'", "f.value", "f.number", "f.members", "NULL"})
	}
	sources = append(sources, source{"p.initial IS NOT NULL", "'initial'", "p.initial", "p.initial_number", "p.initial_members", "NULL"})
	choose := func(as string, of func(source) string) string {
		b := "CASE"
		for _, x := range sources {
			b += " WHEN " + x.when + " THEN " + of(x)
		}
		return b + " END AS " + as
	}
	return "SELECT c.id AS cohort_id, p.id AS property_id,\n  " + strings.Join([]string{
		choose("source", func(x source) string { return x.name }), choose("value", func(x source) string { return x.value }),
		choose("number", func(x source) string { return x.number }), choose("members", func(x source) string { return x.members }),
		choose("sets", func(x source) string { return x.sets }),
	}, ",\n  ") + "\nFROM property_types AS p JOIN cohorts AS c ON c.type = p.type\n  " + joins + "\nWHERE p.id IN (" + ids(s.list) + ")" + s.fence
}

// shaped is a list as the property of the row e takes it.
func (s *stage) shaped(list string) string {
	return "CASE WHEN e.shape = 'set' THEN " + s.sorted(list) + " ELSE " + list + " END"
}

// tighter chooses between what the row e has and the tightest number of the row b.
func tighter(column string) string {
	return "CASE WHEN p.restrictive IN ('false', 'min') AND b.tight_number < e.number OR p.restrictive IN ('true', 'max') AND b.tight_number > e.number" +
		" THEN b.tight_" + column + " ELSE e." + column + " END"
}

// restrict makes values as restrictive as what a rule says of the entities that the
// property follows, whatever the entity's own rules say.
func (s *stage) restrict(from, others string) string {
	return strings.NewReplacer(
		"{fence}", s.fence, "{from}", from, "{others}", others, "{same}", same("e.", "e.new_"),
		"{members}", "CASE WHEN b.cohort_id IS NULL THEN e.members WHEN p.restrictive = 'subset' THEN "+s.common("e.members", s.commonOfAll("b.lists"))+
			" WHEN p.restrictive = 'superset' THEN "+s.merge("e.members", s.setsUnion("b.lists"))+" ELSE e.members END",
		"{shaped}", s.shaped("e.raw"), "{text}", s.textOf("e.new_members"),
		"{value}", tighter("value"), "{number}", tighter("number"),
	).Replace(`SELECT cohort_id, property_id, CASE WHEN changed = 1 THEN 'derived' ELSE source END AS source,
  CASE WHEN changed = 1 THEN new_value ELSE value END AS value, CASE WHEN changed = 1 THEN new_number ELSE number END AS number,
  CASE WHEN changed = 1 THEN new_members ELSE members END AS members, sets
FROM (SELECT e.*, CASE WHEN applies = 1 AND NOT {same} THEN 1 ELSE 0 END AS changed
FROM (SELECT e.*, CASE WHEN e.restrictive IN ('subset', 'superset') THEN {text} ELSE e.scalar END AS new_value
FROM (SELECT e.*, {shaped} AS new_members
FROM (SELECT e.*, p.restrictive, p.shape, CASE WHEN b.cohort_id IS NOT NULL AND e.value IS NOT NULL AND p.restrictive <> 'none' THEN 1 ELSE 0 END AS applies,
    {value} AS scalar, {number} AS new_number, {members} AS raw
  FROM {from} AS e JOIN property_types AS p ON p.id = e.property_id
  LEFT JOIN {others} AS b ON b.cohort_id = e.cohort_id AND b.property_id = e.property_id{fence}) AS e{fence}) AS e{fence}) AS e{fence}) AS e`)
}

// clamp applies the fixed constraints. Where a property has a restrictive direction they
// may only restrict; else the last says what holds. It is the constraint that says so
// where it changes the value, and where no rule does and it is as tight.
func (s *stage) clamp(from string) string {
	nothing := "e.value IS NULL"
	return strings.NewReplacer(
		"{fence}", s.fence, "{from}", from, "{same}", same("e.", "e.new_"),
		"{any same}", "CASE WHEN e.members IS NULL THEN "+s.contains("e.texts", "e.value")+" ELSE e.value = "+s.textOf("e.members")+" AND "+s.containsSet("e.lists", "e.members")+" END",
		"{some other}", "CASE WHEN e.members IS NULL THEN "+s.containsOther("e.texts", "e.value")+" ELSE e.value <> "+s.textOf("e.members")+" OR "+s.containsOtherSet("e.lists", "e.members")+" END",
		"{sets}", s.mergeSets("coalesce(e.sets, CASE WHEN "+nothing+" THEN "+s.noSets+" ELSE "+s.setsOf("e.members")+" END)", "b.lists"),
		"{common}", "CASE WHEN "+nothing+" THEN "+s.commonOfAll("b.lists")+" ELSE "+s.common("e.members", s.commonOfAll("b.lists"))+" END",
		"{merged}", "CASE WHEN "+nothing+" THEN "+s.merge(s.setAt("b.lists", "0"), s.setsUnion("b.lists"))+" ELSE "+s.merge("e.members", s.setsUnion("b.lists"))+" END",
		"{union}", s.shaped(s.setsUnion("e.new_sets")), "{shaped}", s.shaped("e.raw"), "{text}", s.textOf("e.new_members"), "{sets text}", s.setsText("e.new_sets"),
		"{value}", tighter("value"), "{number}", tighter("number"),
	).Replace(`SELECT cohort_id, property_id, CASE WHEN fixed = 1 THEN 'fixed' ELSE source END AS source,
  CASE WHEN fixed = 1 THEN new_value ELSE value END AS value, CASE WHEN fixed = 1 THEN new_number ELSE number END AS number,
  CASE WHEN fixed = 1 THEN new_members ELSE members END AS members, CASE WHEN fixed = 1 AND way = 'overlap' THEN new_sets ELSE sets END AS sets
FROM (SELECT e.*, CASE WHEN way = 'keep' THEN 0 WHEN restrictive = 'none' OR value IS NULL THEN 1 WHEN NOT {same} THEN 1
    WHEN source = 'cascade' THEN CASE WHEN way = 'last' AND ({some other}) THEN 1 ELSE 0 END
    WHEN {any same} THEN 1 ELSE 0 END AS fixed
FROM (SELECT e.*, CASE way WHEN 'overlap' THEN {sets text} WHEN 'list' THEN {text} ELSE scalar END AS new_value
FROM (SELECT e.*, CASE way WHEN 'overlap' THEN {union} WHEN 'list' THEN {shaped} WHEN 'last' THEN last_members ELSE members END AS new_members
FROM (SELECT e.*, p.restrictive, p.shape, b.last_members, b.texts, b.lists,
    CASE WHEN b.cohort_id IS NULL THEN 'keep' WHEN p.comparison = 'overlap' THEN 'overlap' WHEN p.restrictive = 'none' OR p.repeatable = 1 THEN 'last'
      WHEN p.restrictive IN ('subset', 'superset') THEN 'list' ELSE 'number' END AS way,
    CASE WHEN b.cohort_id IS NOT NULL AND p.comparison = 'overlap' THEN {sets} END AS new_sets,
    CASE WHEN b.cohort_id IS NOT NULL AND p.restrictive = 'subset' THEN {common} WHEN b.cohort_id IS NOT NULL AND p.restrictive = 'superset' THEN {merged} END AS raw,
    CASE WHEN p.restrictive = 'none' OR p.repeatable = 1 THEN b.last_value WHEN e.value IS NULL THEN b.tight_value ELSE {value} END AS scalar,
    CASE WHEN p.shape <> 'one' OR p.repeatable = 1 THEN 0 WHEN p.restrictive = 'none' THEN b.last_number WHEN e.value IS NULL THEN b.tight_number ELSE {number} END AS new_number
  FROM {from} AS e JOIN property_types AS p ON p.id = e.property_id
  LEFT JOIN cohort_bounds AS b ON b.cohort_id = e.cohort_id AND b.property_id = e.property_id{fence}) AS e{fence}) AS e{fence}) AS e{fence}) AS e`)
}

// gate gives a property its restrictive value where an attribute of the entity breaks, or
// does not say what would meet, a comparison that gates it.
func (s *stage) gate(from string, gates []int) string {
	byView := map[string][]int{}
	var order []string
	for _, g := range gates {
		v := s.answer(g)
		if byView[v] == nil {
			order = append(order, v)
		}
		byView[v] = append(byView[v], g)
	}
	var broken []string
	for _, v := range order {
		broken = append(broken, strings.NewReplacer("{view}", v, "{gates}", ids(byView[v])).Replace(
			`SELECT q.cohort_id FROM {view} AS q JOIN property_types AS g ON g.id = q.property_id
    JOIN cohort_facts AS m ON m.cohort_id = q.cohort_id AND m.property_id = q.property_id
    WHERE q.property_id IN ({gates}) AND {broken}`))
	}
	return strings.NewReplacer("{fence}", s.fence, "{from}", from, "{broken rows}", strings.NewReplacer("{broken}", s.broken()).Replace(strings.Join(broken, "\n    UNION "))).Replace(
		`SELECT e.cohort_id, e.property_id, CASE WHEN e.tight IS NULL OR e.value = e.tight THEN e.source ELSE 'derived' END AS source,
  coalesce(e.tight, e.value) AS value, CASE WHEN e.tight IS NULL THEN e.number WHEN e.tight = 'true' THEN 1 ELSE 0 END AS number, e.members, e.sets
FROM (SELECT e.*, CASE WHEN g.cohort_id IS NULL THEN NULL WHEN p.restrictive = 'true' THEN 'true' ELSE 'false' END AS tight
  FROM {from} AS e JOIN property_types AS p ON p.id = e.property_id
  LEFT JOIN (
    {broken rows}) AS g ON g.cohort_id = e.cohort_id{fence}) AS e`)
}

// broken is whether what is measured, in the row m, breaks the demand of the row q.
func (s *stage) broken() string {
	return strings.NewReplacer(
		"{holds}", s.holds("q.members", "m.members"), "{meets}", s.meets("q.members", "m.members"), "{apart}", s.anySetApart("q.sets", "m.members"),
		"{fit}", s.allFit("m.members", "q.members"), "{one}", s.listOf("q.value"),
	).Replace(`(m.members IS NULL OR CASE g.comparison
      WHEN '<=' THEN m.number IS NULL OR m.number > q.number
      WHEN '>=' THEN m.number IS NULL OR m.number < q.number
      WHEN 'in' THEN NOT {holds}
      WHEN 'overlap' THEN CASE WHEN q.sets IS NULL THEN NOT {meets} ELSE {apart} END
      WHEN 'pattern' THEN NOT {fit}
      ELSE m.members <> coalesce(q.members, {one}) END)`)
}
