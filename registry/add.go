package registry

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"umwelt/diag"
)

// AddTaxon registers a taxon. A name or alias that is taken is an error that names both
// places.
func (r *Registry) AddTaxon(t Taxon) error {
	if t.Name == "" || t.Description == "" {
		return problem(t.At, diag.BadVocabulary, "a taxon needs a name and a description")
	}
	for _, name := range append([]string{t.Name}, t.Aliases...) {
		if old := r.Taxon(name); old != nil {
			return twice(t.At, old.At, "taxon %s is registered twice", name)
		}
	}
	taxon := &t
	r.taxa = append(r.taxa, taxon)
	slices.SortStableFunc(r.taxa, func(a, b *Taxon) int { return cmp.Compare(a.Axis, b.Axis) })
	for i, x := range r.taxa {
		x.Index = i
	}
	for _, name := range append([]string{t.Name}, t.Aliases...) {
		r.taxonNamed[strings.ToLower(name)] = taxon
	}
	r.sortTypes()
	return nil
}

// AddType registers an entity type in the taxon it names; its attributes and properties
// are added afterwards. One taxon registers a name once.
func (r *Registry) AddType(t EntityType) error {
	switch {
	case t.Name == "" || t.Description == "":
		return problem(t.At, diag.BadVocabulary, "an entity type needs a name and a description")
	case t.Taxon == nil:
		return problem(t.At, diag.BadVocabulary, "entity type %s names no taxon", t.Name)
	}
	for _, old := range r.TypesNamed(t.Name) {
		if old.Taxon == t.Taxon {
			return twice(t.At, old.At, "entity type %s is registered twice in taxon %s", t.Name, t.Taxon.Name)
		}
	}
	t.Attributes, t.Properties = nil, nil
	r.types = append(r.types, &t)
	key := strings.ToLower(t.Name)
	r.typesNamed[key] = append(r.typesNamed[key], &t)
	r.sortTypes()
	return nil
}

func (r *Registry) sortTypes() {
	slices.SortStableFunc(r.types, func(a, b *EntityType) int { return cmp.Compare(a.Taxon.Index, b.Taxon.Index) })
	for i, t := range r.types {
		t.Index = i
	}
}

// AddAttribute adds an attribute to the entity type a.Entity.
func (r *Registry) AddAttribute(a Attribute) error {
	if old := a.Entity.Attribute(a.Name); old != nil {
		return twice(a.At, old.At, "attribute %s.%s is registered twice", a.Entity.Name, a.Name)
	}
	a.Entity.Attributes = append(a.Entity.Attributes, &a)
	return nil
}

// AddProperty adds a property to the entity type p.Entity. References to other
// attributes and properties are checked by Check, once everything is registered.
func (r *Registry) AddProperty(p Property) error {
	if p.Description == "" {
		return problem(p.At, diag.BadVocabulary, "property %s.%s needs a description", p.Entity.Name, p.Name)
	}
	if old := p.Entity.Property(p.Name); old != nil {
		return twice(p.At, old.At, "property %s.%s is registered twice", p.Entity.Name, p.Name)
	}
	p.Index = len(p.Entity.Properties)
	p.Entity.Properties = append(p.Entity.Properties, &p)
	return nil
}

// AddShorthand registers a world-file key.
func (r *Registry) AddShorthand(s Shorthand) error {
	if old := r.shorthand[s.Key]; old != nil {
		return twice(s.At, old.At, "shorthand %s is registered twice", s.Key)
	}
	r.shorthand[s.Key] = &s
	r.shorthands = append(r.shorthands, &s)
	return nil
}

// AddUnit registers a unit of numbers. A unit that is taken is an error.
func (r *Registry) AddUnit(u Unit) error {
	key := strings.ToLower(u.Name)
	if old := r.unitNamed[key]; old != nil {
		return twice(u.At, old.At, "unit %s is registered twice", u.Name)
	}
	r.unitNamed[key] = &u
	r.units = append(r.units, &u)
	return nil
}

// AddSugar registers an at-rule that is rewritten to ordinary rules.
func (r *Registry) AddSugar(s Sugar) error {
	key := strings.ToLower(s.Name)
	if r.sugar[key] != nil {
		return fmt.Errorf("sugar @%s is registered twice", s.Name)
	}
	r.sugar[key] = &s
	return nil
}

// AddPseudo registers a pseudo-class. The names of the language's own are taken.
func (r *Registry) AddPseudo(p PseudoClass) error {
	key := strings.ToLower(p.Name)
	if r.pseudos[key] != nil || slices.Contains(corePseudos, key) {
		return fmt.Errorf("pseudo-class :%s is registered twice", p.Name)
	}
	r.pseudos[key] = &p
	return nil
}

var corePseudos = []string{"not", "is", "where", "has", "glob"}

// Check reports references that lead nowhere: parents, path attributes, and what
// properties compare with, gate, follow or are implied by.
func (r *Registry) Check() diag.List {
	var l diag.List
	for _, t := range r.types {
		for _, parent := range t.Parents {
			if len(r.TypesNamed(parent)) == 0 {
				l.Errorf(diag.BadVocabulary, t.At, "entity type %s has the unknown parent type %s", t.Name, parent)
			}
		}
		for _, a := range append([]string{t.PathAttr, t.GroupAttr}, t.Keys...) {
			if a != "" && t.Attribute(a) == nil {
				l.Errorf(diag.BadVocabulary, t.At, "entity type %s has no attribute %s", t.Name, a)
			}
		}
		for _, p := range t.Properties {
			r.checkProperty(&l, t, p)
		}
	}
	for _, s := range r.shorthands {
		if len(r.TypesNamed(s.Entity)) == 0 {
			l.Errorf(diag.BadVocabulary, s.At, "shorthand %s stands for the unknown entity type %s", s.Key, s.Entity)
		}
	}
	return l
}

func (r *Registry) checkProperty(l *diag.List, t *EntityType, p *Property) {
	bad := func(format string, args ...any) {
		l.Errorf(diag.BadVocabulary, p.At, "property %s.%s %s", t.Name, p.Name, fmt.Sprintf(format, args...))
	}
	if p.Attribute != "" && t.Attribute(p.Attribute) == nil {
		bad("compares with the unknown attribute %s", p.Attribute)
	}
	if p.Gates != "" {
		gated := t.Property(p.Gates)
		switch {
		case p.Attribute == "":
			bad("gates %s but names no attribute to compare", p.Gates)
		case gated == nil:
			bad("gates the unknown property %s", p.Gates)
		case gated.Type.Kind != Boolean || gated.Type.Shape != One || gated.Restrictive == NoDirection:
			bad("gates %s, which is not a boolean with a restrictive direction", p.Gates)
		}
	}
	if p.Comparison == Pattern && p.Type.Shape == One && !p.Repeatable {
		bad("has patterns, and is neither a list nor a set of them")
	}
	if p.Through != "" && t.Attribute(p.Through) == nil {
		bad("follows through the unknown attribute %s", p.Through)
	}
	if p.Follows != "" {
		from := t
		if p.FollowsType != "" {
			if from = r.Type(p.FollowsType); from == nil {
				bad("follows the unknown entity type %s", p.FollowsType)
				return
			}
		}
		switch q := from.Property(p.Follows); {
		case q == nil:
			bad("follows the unknown property %s", p.Follows)
		case q == p || (q.Follows != "" && q.FollowsType == "" && from == t && q.Follows == p.Name):
			bad("follows itself")
		case q.Type.Kind != p.Type.Kind || q.Type.Shape != p.Type.Shape:
			bad("follows %s, which has another type", p.Follows)
		}
	}
	for _, name := range p.ImpliedBy {
		if t.Property(name) == nil {
			bad("is implied by the unknown property %s", name)
		}
	}
	if len(p.ImpliedBy) > 0 && (p.Type.Kind != Boolean || p.Restrictive == NoDirection) {
		bad("is implied, so it must be a boolean with a restrictive direction")
	}
}

func problem(at diag.Span, code diag.Code, format string, args ...any) error {
	return diag.Diagnostic{Severity: diag.Error, Code: code, Span: at, Message: fmt.Sprintf(format, args...)}
}

func twice(at, old diag.Span, format string, args ...any) error {
	d := diag.Diagnostic{Severity: diag.Error, Code: diag.Duplicate, Span: at, Message: fmt.Sprintf(format, args...)}
	if old.IsValid() {
		d.Related = []diag.Related{{Span: old, Message: "first registered here"}}
	}
	return d
}
