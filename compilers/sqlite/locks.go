package sqlite

import (
	"fmt"
	"strings"

	"umwelt/registry"
)

// maxLocks bounds how many locks on one list may fit the same entity.
const maxLocks = 32

// locks are the views of what is locked, as far as the policy locks anything, and of the
// declarations that are left when no lock is loosened; rank counts these from the highest
// precedence.
func (d *dialect) locks(db *database) []view {
	var out []view
	var conditions []string
	join := ""
	if db.locked.numbers {
		out = append(out, view{"number_locks", "SELECT k.cohort_id, d.property_id, d.id AS declaration_id, d.number, d.layer_position" + lockedBy("'false', 'true', 'min', 'max'")})
		conditions = append(conditions, `NOT EXISTS (SELECT 1 FROM number_locks AS b WHERE b.cohort_id = a.cohort_id AND b.property_id = a.property_id AND b.declaration_id <> a.declaration_id
    AND `+binds("a.layer_position", "b.layer_position")+`
    AND (p.restrictive IN ('false', 'min') AND a.number > b.number OR p.restrictive IN ('true', 'max') AND a.number < b.number))`)
	}
	if n := db.locked.lists; n > 0 {
		out = append(out, view{"list_locks", d.listLocks()}, view{"binding_locks", d.bindingLocks(n)})
		join = "\nLEFT JOIN binding_locks AS b ON b.cohort_id = a.cohort_id AND b.property_id = a.property_id"
		var loose []string
		for i := range n {
			k := fmt.Sprint(i)
			loose = append(loose, fmt.Sprintf("b.binds%d = 1 AND CAST(a.declaration_id AS TEXT) <> %s AND %s\n    AND %s", i,
				d.at("b.declarations", k), binds("a.layer_position", d.layer("b.layers", k)), d.looser("a.members", d.setAt("b.lists", k))))
		}
		conditions = append(conditions, "CASE WHEN b.cohort_id IS NULL THEN 1 WHEN "+strings.Join(loose, "\n  OR ")+" THEN 0 ELSE 1 END = 1")
	}
	where := ""
	if conditions != nil {
		where = "\nWHERE " + strings.Join(conditions, "\n  AND ")
	}
	return append(out, view{"kept_declarations", `SELECT a.cohort_id, a.property_id, a.declaration_id, a.value, a.number, a.members, a.appearance, p.comparison, p.repeatable, p.shape,
  row_number() OVER (PARTITION BY a.cohort_id, a.property_id ORDER BY a.place) AS rank
FROM applying_declarations AS a JOIN property_types AS p ON p.id = a.property_id` + join + where})
}

// lockedBy is where locked declarations that hold are found, by direction.
func lockedBy(directions string) string {
	return `
FROM declarations AS d
JOIN property_types AS p ON p.id = d.property_id
JOIN holding_selectors AS h ON h.selector_id = d.selector_id
JOIN cohort_selectors AS k ON k.selector_id = d.selector_id
JOIN cohorts AS c ON c.id = k.cohort_id AND c.type = d.type
WHERE d.locked = 1 AND p.restrictive IN (` + directions + `)`
}

// binds is whether a lock of a layer binds a declaration of a layer at all: an exact
// property as it is, one that combines values only against later layers, and not where
// another value can only narrow.
func binds(layer, lock string) string {
	return "(p.comparison = 'exact' OR " + layer + " > " + lock + ") AND p.comparison NOT IN ('in', 'overlap') AND NOT (p.comparison = 'pattern' AND p.restrictive = 'superset')"
}

// looser is whether a list is less restrictive than a lock's.
func (d *dialect) looser(list, lock string) string {
	return "(p.restrictive = 'subset' AND NOT " + d.holds(lock, list) + " OR p.restrictive = 'superset' AND NOT " + d.holds(list, lock) + ")"
}

func (d *dialect) layer(layers, i string) string {
	return "CAST(" + d.at(layers, i) + " AS " + d.integer() + ")"
}

// listLocks has the locks on a list in a row, from the first layer on.
func (d *dialect) listLocks() string {
	return strings.NewReplacer("{lists}", d.collectSets("members"), "{layers}", d.collect("CAST(layer_position AS TEXT)"), "{declarations}", d.collect("CAST(id AS TEXT)"), "{whole}", wholeFrame).Replace(
		`SELECT cohort_id, property_id, comparison, restrictive, lists, layers, declarations FROM (
  SELECT cohort_id, property_id, comparison, restrictive, {lists} AS lists, {layers} AS layers, {declarations} AS declarations, row_number() OVER w AS n
  FROM (SELECT k.cohort_id, d.property_id, d.id, d.members, d.layer_position, d.important, d.layer_rank, d.specificity, d.appearance, d.selector_id, p.comparison, p.restrictive` + lockedBy("'subset', 'superset'") + `) AS l
  WINDOW w AS (PARTITION BY cohort_id, property_id
    ORDER BY layer_position, important DESC, layer_rank DESC, specificity DESC, appearance DESC, selector_id DESC {whole})) AS l
WHERE n = 1`)
}

// bindingLocks says of each of n locks on a list whether it binds: one that would loosen an
// earlier lock which binds does not bind itself. Numbers need no such thing: they are
// totally ordered, so that a lock which does not bind is looser than one that does.
func (d *dialect) bindingLocks(n int) string {
	query := "SELECT p.*, 1 AS binds0 FROM list_locks AS p" + d.fence
	for i := 1; i < n; i++ {
		var loose []string
		for j := range i {
			a, b := fmt.Sprint(i), fmt.Sprint(j)
			loose = append(loose, fmt.Sprintf("p.binds%d = 1 AND %s AND %s", j, binds(d.layer("p.layers", a), d.layer("p.layers", b)), d.looser(d.setAt("p.lists", a), d.setAt("p.lists", b))))
		}
		query = fmt.Sprintf("SELECT p.*, CASE WHEN %s IS NULL OR %s THEN 0 ELSE 1 END AS binds%d\nFROM (%s) AS p%s",
			d.at("p.declarations", fmt.Sprint(i)), strings.Join(loose, " OR "), i, query, d.fence)
	}
	return query
}

// lockCount is what a policy locks: whether any number, and how many locks on one list fit
// the same entity at most.
type lockCount struct {
	numbers bool
	lists   int
}

// add counts the locks on one cohort.
func (l *lockCount) add(rules []*registry.Rule, typ *registry.EntityType) {
	lists := map[*registry.Property]int{}
	for _, rule := range rules {
		for _, d := range rule.Declarations {
			for _, v := range d.Typed {
				if !d.Locked || v.Property.Entity != typ {
					continue
				}
				switch v.Property.Restrictive {
				case registry.Subset, registry.Superset:
					lists[v.Property]++
					l.lists = max(l.lists, lists[v.Property])
				default:
					l.numbers = true
				}
			}
		}
	}
}
