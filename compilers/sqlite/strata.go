package sqlite

import (
	"fmt"
	"slices"
	"strings"

	"umwelt/registry"
)

// maxStrata bounds how long a chain of properties that follow one another may be.
const maxStrata = 32

// strata sorts properties, by their ids, so that each stands above all that its value may
// depend on. Where they depend on one another in a circle, circle names some that do.
func (p *properties) strata() (out [][]int, circle []string) {
	level := make([]int, len(p.all))
	const unknown, open = 0, -1
	var visit func(i int) bool
	visit = func(i int) bool {
		switch {
		case level[i] == open:
			circle = append(circle, p.name(i))
			return false
		case level[i] > unknown:
			return true
		}
		level[i] = open
		deepest := 0
		for _, dep := range p.dependencies(i) {
			if !visit(dep) {
				if circle[0] != p.name(i) || len(circle) == 1 {
					circle = append(circle, p.name(i))
				}
				return false
			}
			deepest = max(deepest, level[dep])
		}
		level[i] = deepest + 1
		return true
	}
	for i := range p.all {
		if !visit(i) {
			return nil, circle
		}
		for len(out) < level[i] {
			out = append(out, nil)
		}
		out[level[i]-1] = append(out[level[i]-1], i)
	}
	return out, nil
}

// dependencies are the properties whose effective value that of property i may depend on.
func (p *properties) dependencies(i int) []int {
	var out []int
	if q := p.followed(p.all[i]); q != nil {
		out = append(out, p.id[q])
	}
	for _, g := range p.all[i].Entity.Properties {
		if g.Gates != "" && g.Attribute != "" && p.all[i].Entity.Property(g.Gates) == p.all[i] {
			out = append(out, p.id[g])
		}
	}
	return out
}

// properties are all properties of a vocabulary; the place of one is its id.
type properties struct {
	reg *registry.Registry
	all []*registry.Property
	id  map[*registry.Property]int
}

func newProperties(reg *registry.Registry) *properties {
	p := &properties{reg: reg, id: map[*registry.Property]int{}}
	for _, t := range reg.Types() {
		for _, prop := range t.Properties {
			p.id[prop] = len(p.all)
			p.all = append(p.all, prop)
		}
	}
	return p
}

func (p *properties) name(i int) string {
	return typeName(p.all[i].Entity, p.reg) + "." + p.all[i].Name
}

// followed is the property that another one follows, or nil.
func (p *properties) followed(prop *registry.Property) *registry.Property {
	switch {
	case prop.Follows == "":
		return nil
	case prop.Through == "":
		return prop.Entity.Property(prop.Follows)
	}
	if t := p.reg.Type(prop.FollowsType); t != nil {
		return t.Property(prop.Follows)
	}
	return nil
}

// some reports whether a test holds of one of the properties.
func (p *properties) some(list []int, test func(*registry.Property) bool) bool {
	return slices.ContainsFunc(list, func(i int) bool { return test(p.all[i]) })
}

func (p *properties) gated(prop *registry.Property) bool {
	return slices.ContainsFunc(prop.Entity.Properties, func(g *registry.Property) bool {
		return g.Gates != "" && g.Attribute != "" && prop.Entity.Property(g.Gates) == prop
	})
}

// cohortEffective is the view of every effective value, in one query that settles one
// stratum after the other. Each step is a table expression of the stratum's number.
func (d *dialect) cohortEffective(p *properties, strata [][]int) view {
	parts := []string{"resolved AS MATERIALIZED (SELECT * FROM cohort_resolved)"}
	var settled []string
	for n, list := range strata {
		s := stratum{dialect: d, properties: p, list: list, n: n}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("settled%d AS (%s)", n, strings.Join(settled, " UNION ALL ")))
		}
		parts = append(parts, s.steps()...)
		settled = append(settled, fmt.Sprintf("SELECT * FROM effective%d", n))
	}
	if settled == nil {
		settled = []string{"SELECT cohort_id, property_id, 'none' AS source, value, number, members, sets FROM resolved WHERE 1 = 0"}
	}
	return view{"cohort_effective", "WITH RECURSIVE " + strings.Join(parts, ",\n") + "\n" + strings.Join(settled, "\nUNION ALL ")}
}

// stratum writes the steps of one stratum.
type stratum struct {
	*dialect
	*properties
	list []int
	n    int
}

func (s *stratum) part(name, query string) string {
	return fmt.Sprintf("%s%d AS MATERIALIZED (\n  %s)", name, s.n, s.numbered(query))
}

// numbered puts the stratum's number, and its properties, into a query.
func (s *stratum) numbered(query string) string {
	return strings.NewReplacer("{n}", fmt.Sprint(s.n), "{ids}", ids(s.list)).Replace(query)
}

func (s *stratum) steps() []string {
	through := s.some(s.list, func(p *registry.Property) bool { return p.Through != "" })
	var out []string
	if through {
		out = append(out, s.others()...)
	}
	out = append(out, s.part("begun", s.begin(through)))
	last := "begun{n}"
	if through {
		out = append(out, s.part("through", s.restrict()))
		last = "through{n}"
	}
	out = append(out, s.bounds()...)
	out = append(out, s.part("clamped", s.clamp(last)))
	last = "clamped{n}"
	if s.some(s.list, s.gated) {
		out = append(out, s.part("gate", s.gates()), s.part("gated", s.restrictGated()))
		last = "gated{n}"
	}
	return append(out, s.part("effective", "SELECT * FROM "+last+" WHERE source IS NOT NULL"))
}

// begin is what the rules resolve, else what a property is derived from, else its initial
// value. Where there is nothing, source and value are NULL.
func (s *stratum) begin(through bool) string {
	type source struct{ when, name, value, number, members, sets string }
	sources := []source{
		{"r.cohort_id IS NOT NULL", "'cascade'", "r.value", "r.number", "r.members", "r.sets"},
		{`EXISTS (SELECT 1 FROM property_implied_by AS i JOIN resolved AS q ON q.property_id = i.implied_by_id WHERE i.property_id = p.id AND q.cohort_id = c.id)`,
			"'derived'", "CASE p.restrictive WHEN 'true' THEN 'false' ELSE 'true' END", "CASE p.restrictive WHEN 'true' THEN 0 ELSE 1 END", "NULL", "NULL"},
	}
	joins := "LEFT JOIN resolved AS r ON r.cohort_id = c.id AND r.property_id = p.id"
	if through {
		sources = append(sources, source{"o.cohort_id IS NOT NULL", "'derived'", "o.value", "o.number", "o.members", "NULL"})
		joins += "\n  LEFT JOIN picked{n} AS o ON o.cohort_id = c.id AND o.property_id = p.id"
	}
	if s.some(s.list, func(p *registry.Property) bool { return p.Follows != "" && p.Through == "" }) {
		sources = append(sources, source{
			"p.through IS NULL AND f.cohort_id IS NOT NULL AND (f.source <> 'initial' OR p.initial IS NULL OR NOT (f.value = p.initial AND f.members IS NOT DISTINCT FROM p.initial_members))",
			"'derived'", "f.value", "f.number", "f.members", "NULL"})
		joins += "\n  LEFT JOIN settled{n} AS f ON f.cohort_id = c.id AND f.property_id = p.follows_id"
	}
	sources = append(sources, source{"p.initial IS NOT NULL", "'initial'", "p.initial", "p.initial_number", "p.initial_members", "NULL"})
	choose := func(of func(source) string) string {
		var b strings.Builder
		for _, x := range sources {
			b.WriteString(" WHEN " + x.when + " THEN " + of(x))
		}
		return "CASE" + b.String() + " END"
	}
	return "SELECT c.id AS cohort_id, p.id AS property_id,\n    " + strings.Join([]string{
		choose(func(x source) string { return x.name }) + " AS source", choose(func(x source) string { return x.value }) + " AS value",
		choose(func(x source) string { return x.number }) + " AS number", choose(func(x source) string { return x.members }) + " AS members",
		choose(func(x source) string { return x.sets }) + " AS sets",
	}, ",\n    ") + "\n  FROM property_types AS p JOIN cohorts AS c ON c.type = p.type\n  " + joins + "\n  WHERE p.id IN ({ids})"
}

// others are what rules and fixed constraints say of the entities that an attribute names,
// and which of them counts where no rule speaks of the entity itself: each in turn that is
// at least as restrictive as what counted before.
func (s *stratum) others() []string {
	pick := s.tight("c.restrictive", "c", "b")
	return append([]string{
		s.part("other", `SELECT f.cohort_id, f.property_id, q.value, q.number, q.members, p.restrictive, row_number() OVER (PARTITION BY f.cohort_id, f.property_id ORDER BY f.position) AS n
  FROM cohort_follows AS f JOIN property_types AS p ON p.id = f.property_id
  JOIN settled{n} AS q ON q.cohort_id = f.followed_cohort_id AND q.property_id = f.followed_property_id
  WHERE f.property_id IN ({ids}) AND q.source IN ('cascade', 'fixed')`),
		s.numbered(`pick{n}(cohort_id, property_id, n, chosen) AS (
  SELECT cohort_id, property_id, n, n FROM other{n} WHERE n = 1
  UNION ALL
  SELECT k.cohort_id, k.property_id, c.n, CASE WHEN ` + pick + ` THEN c.n ELSE k.chosen END
  FROM pick{n} AS k JOIN other{n} AS c ON c.cohort_id = k.cohort_id AND c.property_id = k.property_id AND c.n = k.n + 1
  JOIN other{n} AS b ON b.cohort_id = k.cohort_id AND b.property_id = k.property_id AND b.n = k.chosen)`),
		s.part("picked", `SELECT c.* FROM other{n} AS c JOIN (
    SELECT k.*, row_number() OVER (PARTITION BY cohort_id, property_id ORDER BY n DESC) AS latest FROM pick{n} AS k) AS k
  ON k.latest = 1 AND k.cohort_id = c.cohort_id AND k.property_id = c.property_id AND k.chosen = c.n`),
	}, s.together("other")...)
}

// bounds are the fixed constraints that hold, by property and in order.
func (s *stratum) bounds() []string {
	return append([]string{s.part("bound", `SELECT k.cohort_id, f.property_id, f.value, f.number, f.members, p.restrictive, row_number() OVER (PARTITION BY k.cohort_id, f.property_id ORDER BY f.id) AS n
  FROM fixed_constraints AS f JOIN property_types AS p ON p.id = f.property_id
  JOIN holding_selectors AS h ON h.selector_id = f.selector_id
  JOIN cohort_selectors AS k ON k.selector_id = f.selector_id
  JOIN cohorts AS c ON c.id = k.cohort_id AND c.type = f.type
  WHERE f.property_id IN ({ids})`)}, s.together("bound")...)
}

// together sums up several values of one property, the rows of a step: the most
// restrictive number, what all lists hold, what any list holds, and the last value.
func (s *stratum) together(step string) []string {
	replace := strings.NewReplacer("{step}", step, "{each}", s.each("m.members", "x"), "{collect}", s.collect("member"), "{demand}", s.collectSets("members"), "{whole}", wholeFrame)
	part := func(name, query string) string { return s.part(step+"_"+name, replace.Replace(query)) }
	return []string{
		part("count", `SELECT cohort_id, property_id, count(*) AS n FROM {step}{n} GROUP BY cohort_id, property_id`),
		part("tightest", `SELECT * FROM (SELECT m.cohort_id, m.property_id, m.value, m.number,
    row_number() OVER (PARTITION BY cohort_id, property_id ORDER BY CASE WHEN restrictive IN ('false', 'min') THEN number ELSE -number END, n) AS first FROM {step}{n} AS m) AS t WHERE first = 1`),
		part("member", `SELECT m.cohort_id, m.property_id, m.n, x.key AS i, x.value AS member FROM {step}{n} AS m, {each}`),
		part("common", `SELECT * FROM (SELECT cohort_id, property_id, {collect} AS members, row_number() OVER w AS first
    FROM (SELECT m.* FROM {step}_member{n} AS m JOIN {step}_count{n} AS k ON k.cohort_id = m.cohort_id AND k.property_id = m.property_id
      JOIN (SELECT cohort_id, property_id, member, count(DISTINCT n) AS n FROM {step}_member{n} GROUP BY cohort_id, property_id, member) AS e
      ON e.cohort_id = m.cohort_id AND e.property_id = m.property_id AND e.member = m.member AND e.n = k.n
      WHERE m.n = 1) AS m WINDOW w AS (PARTITION BY cohort_id, property_id ORDER BY i {whole})) AS t WHERE first = 1`),
		part("merged", `SELECT * FROM (SELECT cohort_id, property_id, {collect} AS members, row_number() OVER w AS first
    FROM (SELECT m.*, row_number() OVER (PARTITION BY cohort_id, property_id, member ORDER BY n, i) AS once FROM {step}_member{n} AS m) AS m
    WHERE once = 1 OR n = 1 WINDOW w AS (PARTITION BY cohort_id, property_id ORDER BY n, i {whole})) AS t WHERE first = 1`),
		part("demands", `SELECT * FROM (SELECT cohort_id, property_id, {demand} AS sets, row_number() OVER w AS first
    FROM {step}{n} AS m WHERE members IS NOT NULL WINDOW w AS (PARTITION BY cohort_id, property_id ORDER BY n {whole})) AS t WHERE first = 1`),
		part("last", `SELECT * FROM (SELECT m.*, row_number() OVER (PARTITION BY cohort_id, property_id ORDER BY n DESC) AS latest FROM {step}{n} AS m) AS t WHERE latest = 1`),
	}
}
