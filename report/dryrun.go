package report

import (
	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/registry"
	"umwelt/world"
)

// DryRunSchema names the document of DryRun.
const DryRunSchema = "umwelt.dry-run/1"

// PolicySchema names the document of Policy.
const PolicySchema = "umwelt.policy/1"

// DryRun is what a resolution says of every entity. onlySet leaves out the properties
// that have their initial value. The caller adds Diagnostics.
func DryRun(r *cascade.Resolution, onlySet bool) *Document {
	return document(r, DryRunSchema, onlySet, false)
}

// Policy is DryRun with what a program needs that knows nothing but the document: the
// world's name and digest, and every entity's attributes and parent.
func Policy(r *cascade.Resolution, version string) *Document {
	d := document(r, PolicySchema, false, true)
	d.Version = version
	d.World = &World{Name: r.World().Name, Root: r.World().Root, Digest: r.World().Digest()}
	return d
}

func document(r *cascade.Resolution, schema string, onlySet, facts bool) *Document {
	d := &Document{Schema: schema}
	for _, i := range r.Context() {
		// The root of the world is always active and goes without saying.
		if e := &r.World().Entities[i]; !e.Type.Root {
			d.Context = append(d.Context, ref(e))
		}
	}
	d.Entities = func(yield func(Entity) bool) {
		for _, i := range r.Order() {
			if !yield(entity(r, int(i), onlySet, facts)) {
				return
			}
		}
	}
	for _, rule := range r.Bound().Rules {
		out := Rule{Selector: rule.Selector.Text, Matched: r.Matched(rule), Idle: !r.Holds(rule)}
		if at := place(rule.At); at != nil {
			out.Place = *at
		}
		d.Rules = append(d.Rules, out)
	}
	return d
}

func entity(r *cascade.Resolution, i int, onlySet, facts bool) Entity {
	e := &r.World().Entities[i]
	out := Entity{Taxon: e.Type.Taxon.Name, Type: e.Type.Name, ID: e.ID, Classes: e.Classes}
	if facts {
		out.Attributes = attributes(e)
		if e.Parent != world.NoParent {
			parent := ref(&r.World().Entities[e.Parent])
			out.Parent = &parent
		}
	}
	for _, p := range e.Type.Properties {
		eff := r.Get(i, p)
		if eff.Origin == cascade.None || onlySet && eff.Origin == cascade.Initial {
			continue
		}
		out.Properties = append(out.Properties, property(p, &eff))
	}
	return out
}

func ref(e *world.Entity) Ref { return Ref{Type: e.Type.Name, ID: e.ID} }

func attributes(e *world.Entity) []Attribute {
	out := make([]Attribute, len(e.Attributes))
	for i, a := range e.Attributes {
		out[i] = Attribute{Name: a.Name, Text: a.Text, List: a.List}
		if t := e.Type.Attribute(a.Name); t != nil && t.Type.Shape != registry.One && a.List == nil {
			out[i].List = []string{}
		}
	}
	return out
}

// property says what an effective value is and why. Of a secret one it says where the
// value came from and nothing of the value.
func property(p *registry.Property, eff *cascade.Effective) Property {
	out := Property{Name: p.Name, Source: eff.Origin.String(), Secret: p.Secret}
	if eff.Winner != nil {
		out.From = place(eff.Winner.Rule.At)
	}
	if eff.Reason != nil && eff.Reason.Fixed != nil {
		out.Fixed = place(eff.Reason.Fixed.At)
	}
	if p.Secret {
		out.Value = Hidden
		return out
	}
	if eff.Value != nil {
		out.Value = eff.Value.Text
		out.Values = members(p, eff.Value)
	}
	out.Sets = eff.Sets
	if eff.Reason != nil {
		out.Because = eff.Reason.Text
		if eff.Resolved != nil && out.Value != eff.Resolved.Text {
			out.Cascade = &eff.Resolved.Text
		}
	}
	return out
}

func place(s diag.Span) *Place {
	if s.Source == nil {
		return nil
	}
	return &Place{File: s.Source.Name, Line: s.Start.Line, Column: s.Start.Column}
}
