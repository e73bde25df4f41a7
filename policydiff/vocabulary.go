package policydiff

import (
	"fmt"
	"slices"
	"strings"

	"umwelt/diag"
	"umwelt/registry"
)

// SameVocabulary reports whether two registries mean the same by the same words, so that a
// view bound to one can be bound to the other. Sugar and pseudo-classes are Go functions
// and are not compared: both registries must come from the same program.
func SameVocabulary(a, b *registry.Registry) bool { return vocabularyKey(a) == vocabularyKey(b) }

func vocabularyKey(r *registry.Registry) string {
	var b strings.Builder
	for _, t := range r.Taxa() {
		fmt.Fprintf(&b, "taxon %q %q %d\n", t.Name, t.Aliases, t.Axis)
	}
	for _, t := range r.Types() {
		fmt.Fprintf(&b, "type %q %q %q %v %q %q %v %v %v %v %q\n", t.Taxon.Name, t.Name, t.Parents, t.Dotted, t.PathAttr, t.GroupAttr,
			t.SoleActive, t.Root, t.Named, t.Singleton, t.Keys)
		for _, a := range t.Attributes {
			fmt.Fprintf(&b, "attribute %q %s %v\n", a.Name, a.Type, a.Required)
		}
		for _, p := range t.Properties {
			fmt.Fprintf(&b, "property %q %s %s %s %s %v %v %q %q %q %q %q %q %s\n", p.Name, p.Type, p.Comparison, p.Restrictive, p.Altitude,
				p.Repeatable, p.Secret, p.Attribute, p.Gates, p.Follows, p.FollowsType, p.Through, p.ImpliedBy, listKey(p.Initial))
		}
	}
	for _, s := range r.Shorthands() {
		fmt.Fprintf(&b, "shorthand %q %q %q\n", s.Key, s.Entity, s.Form)
	}
	for _, u := range r.Units() {
		fmt.Fprintf(&b, "unit %q %q %v\n", u.Name, u.Kind, u.Factor)
	}
	return b.String()
}

// Alone says what keeps a view, bound as b to a registry that knows more words than its own,
// from meaning there what it means alone. It is "" where nothing does. A type or property
// that the view does not know must neither have a value by itself nor be set by its rules,
// and a word that is unknown alone must not be known there.
func Alone(own *registry.Registry, alone, b *registry.Bound) string {
	if x, y := faultsKey(alone.Diagnostics), faultsKey(b.Diagnostics); x != y {
		return "it uses words that it does not define"
	}
	for _, t := range b.Registry.Types() {
		known := typeLike(own, t)
		for _, p := range t.Properties {
			if known != nil && known.Property(p.Name) != nil {
				continue
			}
			name := t.Name + "." + p.Name
			if speaks(p) {
				return name + ", which it does not define, has a value where no rule speaks"
			}
			if slices.ContainsFunc(b.Rules, func(r *registry.Rule) bool {
				return slices.ContainsFunc(r.Declarations, func(d *registry.Declaration) bool { return slices.ContainsFunc(d.Typed, of(p)) })
			}) {
				return "its rules would set " + name + ", which it does not define"
			}
		}
	}
	return ""
}

func typeLike(reg *registry.Registry, t *registry.EntityType) *registry.EntityType {
	for _, u := range reg.TypesNamed(t.Name) {
		if u.Taxon.Name == t.Taxon.Name {
			return u
		}
	}
	return nil
}

// speaks reports whether a property has a value without any rule, other than the one that
// refuses and touches no other property.
func speaks(p *registry.Property) bool {
	if p.Follows != "" || len(p.ImpliedBy) > 0 {
		return true
	}
	refuses := p.Type.Kind == registry.Boolean && p.Type.Shape == registry.One && p.Restrictive != registry.NoDirection &&
		p.Gates == "" && p.Initial.Equal(p.RestrictiveBool())
	return p.Initial != nil && !refuses
}

// faultsKey is equal where the same was found at the same places.
func faultsKey(list diag.List) string {
	var b strings.Builder
	for _, d := range list {
		fmt.Fprintf(&b, "%s %s\n", d.Code, d.Span)
	}
	return b.String()
}
