package sqlite

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"unicode"

	"umwelt/cascade"
	"umwelt/compilers"
	"umwelt/diag"
	"umwelt/registry"
	"umwelt/world"
)

// maxRows bounds what derives from a policy by multiplication: ancestors of entities, and
// matches of qualifiers.
const maxRows = 20_000_000

// row is one row: int, float64, string, []string (a policy's list) or nil per column.
type row []any

// database is a resolved policy as plain rows.
type database struct {
	*properties
	res       *cascade.Resolution
	dependent []int // the properties that depend on others, each after those
	rows      map[string][]row
	locked    lockCount
	cohort    map[absent]int // of entities that are named and do not exist
	secrets   int            // how many were given a token
	err       error
}

// absent is an entity that is named and does not exist.
type absent struct {
	typ *registry.EntityType
	id  string
}

// hidden is a secret value as tokens that say nothing of it.
type hidden struct {
	text    string
	members []string
}

// read turns a policy into rows. Errors say why it cannot be had as a database.
func read(in compilers.Input) (*database, error) {
	res := in.Resolution.Complete()
	db := &database{
		properties: newProperties(res.Registry()), res: res, rows: map[string][]row{}, cohort: map[absent]int{},
	}
	var err error
	if db.dependent, err = db.properties.order(); err != nil {
		return nil, err
	}
	if err := db.checkNames(); err != nil {
		return nil, err
	}
	db.vocabulary()
	db.rules()
	db.world()
	db.cohorts()
	db.context()
	db.sources(in)
	db.meta(in)
	return db, db.err
}

func (db *database) add(table string, cells ...any) { db.rows[table] = append(db.rows[table], cells) }

func (db *database) fail(format string, args ...any) {
	if db.err == nil {
		db.err = fmt.Errorf(format, args...)
	}
}

// checkNames refuses names of the vocabulary that cannot be names in a database, and
// secrets that would have to be compared.
func (db *database) checkNames() error {
	name := func(s string) error {
		for _, r := range s {
			if !unicode.IsPrint(r) {
				return fmt.Errorf("the name %s cannot stand in a database", diag.Quote(s))
			}
		}
		if len(s) > 58 { // with a prefix, PostgreSQL takes 63 bytes
			return fmt.Errorf("the name %s is too long for a database", diag.Quote(s))
		}
		return nil
	}
	var errs []error
	for _, t := range db.reg.Types() {
		errs = append(errs, name(typeName(t, db.reg)))
		if len(t.Properties) > 1000 {
			errs = append(errs, fmt.Errorf("the type %s has more than 1000 properties", t.Name))
		}
		for _, p := range t.Properties {
			errs = append(errs, name(p.Name))
			if p.Through != "" && p.Type.Shape == registry.List && p.Restrictive != registry.NoDirection {
				errs = append(errs, fmt.Errorf("the property %s is a list that follows other entities, which a database cannot keep in order; a set can follow", db.name(db.id[p])))
			}
			numeric := p.Comparison == registry.AtMost || p.Comparison == registry.AtLeast
			if p.Secret && (numeric || p.Initial != nil || p.Gates != "" || p.Restrictive != registry.NoDirection) {
				errs = append(errs, fmt.Errorf("the value of %s is never printed, and a database would have to hold it to answer", db.name(db.id[p])))
			}
		}
	}
	return errors.Join(errs...)
}

// value is the cells of a typed value. Those of a secret are tokens.
func (db *database) value(p *registry.Property, v *registry.Value) (text any, number any, members any) {
	if v == nil {
		return nil, nil, nil
	}
	if p.Secret {
		h := db.hide(v)
		if v.List == nil {
			return h.text, 0.0, nil
		}
		return h.text, 0.0, h.members
	}
	if !printable(v.Text) {
		db.fail("a value of %s is not UTF-8, so a database cannot hold it", db.name(db.id[p]))
	}
	if v.List == nil {
		return v.Text, v.Num, nil
	}
	return v.Text, v.Num, v.List
}

// hide gives a secret a token in place of each text. Equal secrets get different ones.
func (db *database) hide(v *registry.Value) hidden {
	token := func() string {
		db.secrets++
		return "secret " + strconv.Itoa(db.secrets)
	}
	if v.List == nil {
		return hidden{text: token()}
	}
	members := make([]string, len(v.List))
	for i := range members {
		members[i] = token()
	}
	list := registry.NewList(registry.List, members)
	return hidden{list.Text, list.List}
}

func (db *database) vocabulary() {
	for i, t := range db.reg.Taxa() {
		db.add("taxa", i, t.Name, t.Axis, jsonTexts(t.Aliases), t.Description)
	}
	for i, t := range db.reg.Types() {
		name := typeName(t, db.reg)
		db.add("entity_types", i, name, t.Taxon.Name, t.Name, t.Description, bit(t.SoleActive), bit(t.Root), bit(t.Named), bit(t.Singleton), bit(t.Dotted),
			orNull(t.PathAttr), orNull(t.GroupAttr), jsonTexts(t.Parents))
		for k, a := range t.Attributes {
			db.add("attribute_types", name, k, a.Name, a.Type.String(), bit(a.Required), a.Description)
		}
	}
	for i, p := range db.all {
		initial, number, members := db.value(p, p.Initial)
		var gates, follows any
		if g := p.Entity.Property(p.Gates); p.Gates != "" && p.Attribute != "" && g != nil {
			gates = db.id[g]
		}
		if q := db.followed(p); q != nil {
			follows = db.id[q]
		}
		db.add("property_types", i, p.Entity.Taxon.Name, typeName(p.Entity, db.reg), p.Index, p.Name, p.Type.String(), p.Type.Kind.String(),
			[...]string{"one", "list", "set"}[p.Type.Shape], p.Comparison.String(), p.Restrictive.String(), p.Altitude.String(), bit(p.Repeatable), bit(p.Secret),
			initial, number, members, orNull(p.Attribute), gates, follows, orNull(p.Through), p.Description)
		var implied []int
		for _, name := range p.ImpliedBy {
			if q := p.Entity.Property(name); q != nil {
				implied = append(implied, db.id[q])
			}
		}
		slices.Sort(implied)
		for _, q := range slices.Compact(implied) {
			db.add("property_implied_by", i, q)
		}
	}
}

func bit(on bool) int {
	if on {
		return 1
	}
	return 0
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// place is the cells of a span.
func place(s diag.Span) []any {
	if s.Source == nil {
		return make([]any, 7)
	}
	return []any{s.Source.Name, int(s.Start.Line), int(s.Start.Column), int(s.Start.Offset), int(s.End.Line), int(s.End.Column), int(s.End.Offset)}
}

// context is what was asked for, as far as it is not what is active anyway.
func (db *database) context() {
	w := db.res.World()
	usual := map[*registry.EntityType][]int{}
	asked := map[*registry.EntityType][]int{}
	for i := range w.Entities {
		if e := &w.Entities[i]; e.Type.SoleActive && e.Provenance.Origin != world.Referenced {
			usual[e.Type] = append(usual[e.Type], i)
		}
	}
	for _, i := range db.res.Context() {
		asked[w.Entities[i].Type] = append(asked[w.Entities[i].Type], i)
	}
	for _, i := range db.res.Context() {
		t := w.Entities[i].Type
		if len(asked[t]) != 1 || len(usual[t]) != 1 || usual[t][0] != i {
			db.add("active_context", typeName(t, db.reg), w.Entities[i].ID)
		}
	}
}

func (db *database) meta(in compilers.Input) {
	w := db.res.World()
	put := func(key, value string) { db.add("world_meta", key, value) }
	put("digest", w.Digest())
	put("entities", strconv.Itoa(len(w.Entities)))
	put("name", w.Name)
	put("root", w.Root)
	put("rules", strconv.Itoa(len(db.res.Bound().Rules)))
	put("schema", Schema)
	put("version", in.Version)
}

// sources are the texts that the policy was made of, and what was found about the world.
func (db *database) sources(in compilers.Input) {
	if in.Sources != nil {
		texts, err := in.Sources()
		if err != nil {
			db.fail("%v", err)
			return
		}
		for i, s := range texts {
			db.add("sources", i, s.Kind, s.Name, string(s.Text))
		}
	}
	for i, d := range db.res.World().Diagnostics {
		db.finding(i, d)
	}
}

// finding keeps what was found about the world as it is shown: with the one line that it
// points at, to which its offsets are then counted, and nothing that must not be shown.
func (db *database) finding(i int, d diag.Diagnostic) {
	var excerpt any
	at := d.Span
	hidden := d.Hidden()
	if text := at.Source; text != nil && int(at.Start.Offset) <= len(text.Text) && !hidden {
		from := bytes.LastIndexByte(text.Text[:at.Start.Offset], '\n') + 1
		to := len(text.Text)
		if n := bytes.IndexByte(text.Text[at.Start.Offset:], '\n'); n >= 0 {
			to = int(at.Start.Offset) + n
		}
		excerpt = string(text.Text[from:to])
		at.Start.Offset -= int32(from)
		at.End.Offset = max(min(at.End.Offset, int32(to))-int32(from), at.Start.Offset)
	} else {
		at.Start.Offset, at.End.Offset = 1, 1 // outside of an empty text
	}
	cells := []any{i, 0, d.Severity.String(), string(d.Code), d.Text(), orNull(d.Hint), bit(hidden), excerpt}
	db.add("diagnostics", append(cells, place(at)...)...)
	for k, r := range d.Related {
		cells := []any{i, k + 1, nil, nil, r.Message, nil, 0, nil}
		db.add("diagnostics", append(cells, place(r.Span)...)...)
	}
}
