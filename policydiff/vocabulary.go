package policydiff

import (
	"fmt"
	"strings"

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
