package sqlite

import (
	"fmt"
	"slices"
	"strings"

	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/registry"
	"umwelt/world"
)

// rules fills what is known of rules and fixed constraints without any world: a fixed
// constraint's selector is numbered after those of the rules.
func (db *database) rules() {
	b := db.res.Bound()
	for i, name := range b.Layers {
		db.add("layers", i, name)
	}
	n := 0
	for _, rule := range b.Rules {
		sel := rule.Selector
		key := specificityKey(sel.Specificity)
		var layer any
		if rule.Layer < len(b.Layers) {
			layer = b.Layers[rule.Layer]
		}
		cells := []any{rule.Index, sel.Text, taxonName(sel.Taxon), layer, rule.Layer, key, db.res.Matched(rule)}
		db.add("selectors", rule.Index, "rule")
		db.add("rules", append(cells, place(rule.At)...)...)
		for _, d := range rule.Declarations {
			rank := rule.Layer
			if d.Important {
				rank = -rank // of important ones, the earlier layer wins
			}
			for _, v := range d.Typed {
				text, number, members := db.value(v.Property, v.Value)
				cells := []any{n, rule.Index, typeName(v.Property.Entity, db.reg), db.id[v.Property], v.Property.Name, text, number, members,
					bit(d.Important), bit(d.Locked), rule.Layer, rank, key, d.Order}
				db.add("declarations", append(cells, place(d.At)...)...)
				n++
			}
		}
	}
	n = 0
	for i := range db.res.World().Fixed {
		f := &db.res.World().Fixed[i]
		db.add("selectors", db.fixedSelector(i), "fixed")
		for _, v := range f.Values {
			text, number, members := db.value(v.Property, v.Value)
			cells := []any{n, db.fixedSelector(i), f.Selector.Text, taxonName(f.Selector.Taxon), typeName(v.Property.Entity, db.reg), db.id[v.Property], v.Property.Name, text, number, members}
			db.add("fixed_constraints", append(cells, place(f.At)...)...)
			n++
		}
	}
	db.qualifiers()
}

func (db *database) fixedSelector(i int) int { return len(db.res.Bound().Rules) + i }

func taxonName(t *registry.Taxon) any {
	if t == nil {
		return nil
	}
	return t.Name
}

// specificityKey is a specificity as a text that sorts like it: the number of axes, then
// ids-classes-types per taxon in axis order, all of fixed width.
func specificityKey(s registry.Specificity) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%03d", s.Axes)
	for _, t := range s.Triples {
		fmt.Fprintf(&b, " %05d-%05d-%05d", t[0], t[1], t[2])
	}
	return b.String()
}

// qualifiers fills the context qualifiers of every selector, and which entities would meet
// each. Qualifiers that test the same share a number.
func (db *database) qualifiers() {
	known := map[string]int{}
	var compounds []*registry.Compound
	selector := func(id int, sel *registry.Selector) {
		for i, q := range sel.Qualifiers {
			m := cascade.Meaning(q)
			n, ok := known[m]
			if !ok {
				n = len(compounds)
				known[m] = n
				compounds = append(compounds, q)
			}
			var taxon, typ any
			if q.Type != nil {
				taxon, typ = q.Type.Taxon.Name, typeName(q.Type, db.reg)
			}
			db.add("cascade_context_qualifiers", id, i, n, taxon, typ, q.Text)
		}
	}
	for _, rule := range db.res.Bound().Rules {
		selector(rule.Index, rule.Selector)
	}
	w := db.res.World()
	for i := range w.Fixed {
		selector(db.fixedSelector(i), w.Fixed[i].Selector)
	}
	if compounds == nil {
		return
	}
	byType := make([][]int, len(db.reg.Types()))
	var every []int
	for n, q := range compounds {
		if q.Type == nil {
			every = append(every, n)
		} else {
			byType[q.Type.Index] = append(byType[q.Type.Index], n)
		}
	}
	m := world.NewMatcher(w)
	for i := range w.Entities {
		e := &w.Entities[i]
		for _, n := range slices.Concat(every, byType[e.Type.Index]) {
			if m.Compound(compounds[n], e, i) {
				db.add("qualifier_matches", i, n)
			}
		}
		if len(db.rows["qualifier_matches"]) > maxRows {
			db.fail("the context qualifiers of this policy fit more than %d times", maxRows)
			return
		}
	}
}

// cohorts fills which selectors fit which entities, and what else their answers depend on.
// Entities that are named and do not exist are cohorts without an entity.
func (db *database) cohorts() {
	e := db.res.Engine()
	w := db.res.World()
	type pending struct {
		id  int
		ent *world.Entity
	}
	var todo []pending
	fill := func(id int, ent *world.Entity, rules []*registry.Rule, fixed []int) {
		db.add("cohorts", id, typeName(ent.Type, db.reg))
		db.locked.add(rules, ent.Type)
		for _, rule := range rules {
			db.add("cohort_selectors", id, rule.Index)
		}
		for _, f := range fixed {
			db.add("cohort_selectors", id, db.fixedSelector(f))
		}
		for _, p := range ent.Type.Properties {
			if p.Gates != "" && p.Attribute != "" {
				db.fact(id, ent, p)
			}
		}
		todo = append(todo, pending{id, ent})
	}
	defer func() {
		if db.locked.lists > maxLocks {
			db.fail("more than %d locks on one list fit the same entity", maxLocks)
		}
	}()
	list := e.Cohorts()
	for i, c := range list {
		fill(i, &w.Entities[c.First], c.Rules, c.Fixed)
	}
	next := len(list)
	for len(todo) > 0 {
		p := todo[0]
		todo = todo[1:]
		for _, prop := range p.ent.Type.Properties {
			target := db.followed(prop)
			if target == nil || prop.Through == "" {
				continue
			}
			for k, f := range e.Followed(p.ent, prop) {
				id, known := 0, true
				if f.Index >= 0 {
					id = e.Cohort(f.Index)
				} else if id, known = db.cohort[absent{f.Entity.Type, f.Entity.ID}]; !known {
					id = next
					next++
					db.cohort[absent{f.Entity.Type, f.Entity.ID}] = id
					rules, fixed := e.Fitting(f.Entity)
					fill(id, f.Entity, rules, fixed)
				}
				db.add("cohort_follows", p.id, db.id[prop], k, id, db.id[target])
			}
		}
	}
}

func (db *database) fact(cohort int, ent *world.Entity, p *registry.Property) {
	m := db.res.Engine().Measure(ent, p)
	if m.Members == nil {
		db.add("cohort_facts", cohort, db.id[p], nil, nil)
		return
	}
	for _, s := range m.Members {
		if !printable(s) {
			db.fail("%s %s: its %s is not UTF-8, so a database cannot compare it", ent.Type.Name, diag.Quote(ent.ID), p.Attribute)
			return
		}
	}
	var number any
	if m.IsNumber {
		number = m.Number
	}
	db.add("cohort_facts", cohort, db.id[p], m.Members, number)
}
