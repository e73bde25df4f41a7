package sqlite

import (
	"fmt"
	"strings"

	"umwelt/compilers"
	"umwelt/registry"
)

// effectiveProperties is every answer: what the policy says of every entity.
const effectiveProperties = `SELECT e.id AS entity_id, p.property_name, CASE WHEN p.secret = 1 THEN '(secret)' ELSE f.value END AS effective_value, f.source,
  CASE WHEN p.secret = 1 THEN '(secret)' ELSE r.value END AS cascade_value
FROM entities AS e
JOIN cohort_effective AS f ON f.cohort_id = e.cohort_id
JOIN property_types AS p ON p.id = f.property_id
LEFT JOIN cohort_resolved AS r ON r.cohort_id = f.cohort_id AND r.property_id = f.property_id`

// answers are the views of effective values: all of them, one with a row per entity for
// each type, and one for each target of what it reads.
func (d *dialect) answers(db *database, targets []compilers.Info) []view {
	out := append(d.effective(db), view{"effective_properties", effectiveProperties})
	for _, t := range db.reg.Types() {
		out = append(out, db.pivot(t))
	}
	for _, info := range targets {
		out = append(out, db.target(info))
	}
	return out
}

// pivot has a row for each entity of a type and a column for each of its properties.
func (p *properties) pivot(t *registry.EntityType) view {
	var columns, names []string
	for _, prop := range t.Properties {
		name := prop.Name
		for strings.EqualFold(name, "entity_id") || strings.EqualFold(name, "entity") || name != prop.Name && t.Property(name) != nil {
			name += "_value" // the column of that name is another one
		}
		value := "f.value"
		if prop.Secret {
			value = "'(secret)'"
		}
		columns = append(columns, fmt.Sprintf(",\n    max(CASE WHEN f.property_id = %d THEN %s END) AS %s", p.id[prop], value, identifier(name)))
		names = append(names, ", f."+identifier(name))
	}
	typ := typeName(t, p.reg)
	return view{identifier("type_" + typ), "SELECT e.id AS entity_id, e.entity" + strings.Join(names, "") +
		"\nFROM entities AS e LEFT JOIN (\n  SELECT f.cohort_id" + strings.Join(columns, "") +
		"\n  FROM cohort_effective AS f GROUP BY f.cohort_id) AS f ON f.cohort_id = e.cohort_id\nWHERE e.type = " + literal(typ)}
}

// target holds the answers for the properties that a target does something with.
func (p *properties) target(info compilers.Info) view {
	var reads []int
	for i, prop := range p.all {
		if info.Supports(prop).Level > compilers.Dropped {
			reads = append(reads, i)
		}
	}
	condition := "1 = 0"
	switch len(reads) {
	case 0:
	case len(p.all):
		condition = "1 = 1"
	default:
		condition = "p.id IN (" + ids(reads) + ")"
	}
	return view{identifier("target_" + info.Name), `SELECT e.id AS entity_id, e.taxon, e.type, e.entity, p.property_name,
  CASE WHEN p.secret = 1 THEN '(secret)' ELSE f.value END AS effective_value, f.source
FROM entities AS e
JOIN cohort_effective AS f ON f.cohort_id = e.cohort_id
JOIN property_types AS p ON p.id = f.property_id
WHERE ` + condition}
}
