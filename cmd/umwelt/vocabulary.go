package main

import (
	"fmt"
	"strings"

	"umwelt/diag"
	"umwelt/registry"
)

// vocabularyInspection is a vocabulary, or a part of it, in JSON.
type vocabularyInspection struct {
	Schema     string          `json:"schema"`
	Taxa       []taxonJSON     `json:"taxa"`
	Shorthands []shorthandJSON `json:"shorthands,omitempty"`
	Units      []unitJSON      `json:"units,omitempty"`
}

type taxonJSON struct {
	Name        string       `json:"name"`
	Aliases     []string     `json:"aliases,omitempty"`
	Axis        int          `json:"axis"`
	Description string       `json:"description"`
	Entities    []entityJSON `json:"entities"`
}

type entityJSON struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parents     []string        `json:"parents,omitempty"`
	Dotted      bool            `json:"dotted-ids,omitempty"`
	Path        string          `json:"path,omitempty"`
	SoleActive  bool            `json:"sole-active,omitempty"`
	Root        bool            `json:"root,omitempty"`
	Attributes  []attributeJSON `json:"attributes"`
	Properties  []propertyJSON  `json:"properties"`
}

type attributeJSON struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Required    bool   `json:"required,omitempty"`
	Description string `json:"description,omitempty"`
}

type propertyJSON struct {
	Name        string  `json:"name"`
	Type        string  `json:"type"`
	Initial     *string `json:"initial,omitempty"`
	Comparison  string  `json:"comparison"`
	Restrictive string  `json:"restrictive"`
	Altitude    string  `json:"altitude"`
	Repeatable  bool    `json:"repeatable,omitempty"`
	Secret      bool    `json:"secret,omitempty"`
	Gates       string  `json:"gates,omitempty"`
	Description string  `json:"description"`
}

type shorthandJSON struct {
	Key    string `json:"key"`
	Entity string `json:"entity"`
	Form   string `json:"form"`
}

type unitJSON struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
}

// vocabularyDocument describes types; where whole, with what belongs to no type.
func vocabularyDocument(reg *registry.Registry, types []*registry.EntityType, whole bool) vocabularyInspection {
	doc := vocabularyInspection{Schema: "umwelt.vocabulary/1", Taxa: []taxonJSON{}}
	for _, taxon := range reg.Taxa() {
		t := taxonJSON{taxon.Name, taxon.Aliases, taxon.Axis, taxon.Description, []entityJSON{}}
		for _, e := range types {
			if e.Taxon == taxon {
				t.Entities = append(t.Entities, entityOf(e))
			}
		}
		if whole || len(t.Entities) > 0 {
			doc.Taxa = append(doc.Taxa, t)
		}
	}
	if whole {
		for _, s := range reg.Shorthands() {
			doc.Shorthands = append(doc.Shorthands, shorthandJSON{s.Key, s.Entity, s.Form})
		}
		for _, u := range reg.Units() {
			doc.Units = append(doc.Units, unitJSON{u.Name, u.Kind})
		}
	}
	return doc
}

func entityOf(e *registry.EntityType) entityJSON {
	out := entityJSON{
		Name: e.Name, Description: e.Description, Parents: e.Parents, Dotted: e.Dotted, Path: e.PathAttr,
		SoleActive: e.SoleActive, Root: e.Root, Attributes: []attributeJSON{}, Properties: []propertyJSON{},
	}
	for _, a := range e.Attributes {
		out.Attributes = append(out.Attributes, attributeJSON{a.Name, a.Type.String(), a.Required, a.Description})
	}
	for _, p := range e.Properties {
		j := propertyJSON{
			Name: p.Name, Type: p.Type.String(), Comparison: p.Comparison.String(), Restrictive: p.Restrictive.String(),
			Altitude: p.Altitude.String(), Repeatable: p.Repeatable, Secret: p.Secret, Gates: p.Gates, Description: p.Description,
		}
		if p.Initial != nil {
			j.Initial = &p.Initial.Text
		}
		out.Properties = append(out.Properties, j)
	}
	return out
}

// text is the vocabulary for a terminal: every type on a line, or, in detail, with its
// attributes and properties.
func (d vocabularyInspection) text(detail bool) string {
	var b strings.Builder
	for i, t := range d.Taxa {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s", diag.Escape(t.Name))
		if len(t.Aliases) > 0 {
			fmt.Fprintf(&b, " (%s)", diag.Escape(strings.Join(t.Aliases, ", ")))
		}
		fmt.Fprintf(&b, ": %s\n", diag.Escape(t.Description))
		for _, e := range t.Entities {
			e.write(&b, detail)
		}
	}
	for _, s := range d.Shorthands {
		fmt.Fprintf(&b, "\nworld file key %s: %s of %s", diag.Escape(s.Key), diag.Escape(s.Form), diag.Escape(s.Entity))
	}
	if len(d.Shorthands) > 0 {
		b.WriteByte('\n')
	}
	return b.String()
}

func (e entityJSON) write(b *strings.Builder, detail bool) {
	fmt.Fprintf(b, "\n  %s: %s\n", diag.Escape(e.Name), diag.Escape(e.Description))
	if detail && len(e.Parents) > 0 {
		fmt.Fprintf(b, "    parent: %s\n", diag.Escape(strings.Join(e.Parents, " or ")))
	}
	for _, a := range e.Attributes {
		required := ""
		if a.Required {
			required = ", required"
		}
		fmt.Fprintf(b, "    [%s]  %s%s\n", diag.Escape(a.Name), a.Type, required)
		if detail && a.Description != "" {
			fmt.Fprintf(b, "        %s\n", diag.Escape(a.Description))
		}
	}
	for _, p := range e.Properties {
		fmt.Fprintf(b, "    %s:  %s\n", diag.Escape(p.Name), strings.Join(p.facts(), ", "))
		if detail {
			fmt.Fprintf(b, "        %s\n", diag.Escape(p.Description))
		}
	}
}

// facts are what is to know of a property beside its name and description.
func (p propertyJSON) facts() []string {
	facts := []string{diag.Escape(p.Type)}
	if p.Initial != nil {
		facts = append(facts, "initial "+diag.Escape(*p.Initial))
	}
	if p.Comparison != registry.Exact.String() {
		facts = append(facts, "combines by "+p.Comparison)
	}
	if p.Restrictive != registry.NoDirection.String() {
		facts = append(facts, "restrictive "+p.Restrictive)
	}
	facts = append(facts, p.Altitude)
	if p.Repeatable {
		facts = append(facts, "repeatable")
	}
	if p.Secret {
		facts = append(facts, "secret")
	}
	if p.Gates != "" {
		facts = append(facts, "gates "+diag.Escape(p.Gates))
	}
	return facts
}
