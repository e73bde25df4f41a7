package lint

import (
	"fmt"
	"slices"
	"strings"

	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/registry"
)

const driftName = "drift"

// Drift finds answers that are others than those of a baseline.
var Drift = Detector{
	Name: driftName, Severity: diag.Error,
	Summary: "An answer is another one than in the baseline; one that lets more through is an error.",
	Needs: func(in *Input) string {
		if in.Baseline == nil {
			return "a baseline"
		}
		return ""
	},
	Find: func(f *Facts) []Finding {
		d := drift{f: f, groups: map[driftKey]int{}}
		d.contexts()
		d.answers()
		return d.findings()
	},
}

type drift struct {
	f      *Facts
	groups map[driftKey]int
	list   []driftGroup
	out    []Finding
}

// driftKey is what changes have in common that are reported together.
type driftKey struct {
	property *registry.Property
	winner   *cascade.Candidate
	was, is  string
	kind     string
}

type driftGroup struct {
	driftKey
	example, count int
}

// contexts reports where the baseline was resolved in another context, which changes
// answers without anything having drifted.
func (d *drift) contexts() {
	now := map[string][]string{}
	for _, i := range d.f.Resolution.Context() {
		// The only root is active in every context, and the document leaves it out.
		if e := &d.f.World.Entities[i]; !e.Type.Root {
			now[e.Type.Name] = append(now[e.Type.Name], e.ID)
		}
	}
	var types []string
	for t := range now {
		types = append(types, t)
	}
	for t := range d.f.Baseline.Context {
		if now[t] == nil {
			types = append(types, t)
		}
	}
	slices.Sort(types)
	for _, t := range types {
		was := slices.Clone(d.f.Baseline.Context[t])
		if typ := d.f.Registry.Type(t); typ != nil && typ.Root {
			continue
		}
		is := now[t]
		slices.Sort(was)
		slices.Sort(is)
		if !slices.Equal(was, is) {
			d.out = append(d.out, finding(diag.Warning, d.start(),
				fmt.Sprintf("%s was resolved while %s was active, and this while %s is", d.f.Baseline.Name, active(t, was), active(t, is)), "resolve both in the same context"))
		}
	}
}

func active(t string, ids []string) string {
	if len(ids) == 0 {
		return "no " + t
	}
	quoted := make([]string, len(ids))
	for i, id := range ids {
		quoted[i] = diag.Quote(id)
	}
	return t + " " + strings.Join(quoted, ", ")
}

// start is the beginning of the first view, where what has no other place is reported.
func (d *drift) start() diag.Span {
	if len(d.f.Views) == 0 {
		return diag.Span{}
	}
	first := diag.Pos{Line: 1, Column: 1}
	return diag.Span{Source: d.f.Views[0].Source, Start: first, End: first}
}

func (d *drift) answers() {
	for _, n := range d.f.Resolution.Order() {
		i := int(n)
		e := &d.f.World.Entities[i]
		entity := BaselineEntity{e.Type.Name, e.ID}
		known := d.f.Baseline.Entities[entity]
		// What merely follows another property is said only where nothing else is.
		said, follows := false, []driftGroup(nil)
		for _, p := range e.Type.Properties {
			is := d.f.Resolution.Get(i, p)
			was, had := d.f.Baseline.Values[BaselineKey{entity, p.Name}]
			switch {
			case p.Secret || was.Secret, !had && is.Value == nil, had && is.Value != nil && was.Text == is.Value.Text:
			case !known && !permits(p, is):
			case is.Origin == cascade.Derived && is.Winner == nil:
				follows = append(follows, driftGroup{d.key(p, is, was, had, known), i, 1})
			default:
				d.add(driftGroup{d.key(p, is, was, had, known), i, 1})
				said = true
			}
		}
		for _, g := range follows {
			if !said {
				d.add(g)
			}
		}
	}
}

// permits reports whether a value of something that is new lets anything through.
func permits(p *registry.Property, e cascade.Effective) bool {
	if e.Value == nil || e.Origin == cascade.Initial {
		return false
	}
	return boolean(p) && !e.Value.Equal(p.RestrictiveBool())
}

// boolean reports whether a property says yes or no, and which of the two is tighter.
func boolean(p *registry.Property) bool {
	return p.Restrictive == registry.False || p.Restrictive == registry.True
}

// key says what kind of change there is.
func (d *drift) key(p *registry.Property, is cascade.Effective, was BaselineValue, had, known bool) driftKey {
	key := driftKey{property: p, winner: is.Winner, was: was.Text, is: Shown(p, is.Value), kind: "changed"}
	switch old := typed(d.f.Registry, p, was); {
	case !known:
		key.kind, key.was = "new", "not there"
	case !directed(p):
	case !had:
		// A bound, a denial or a list to choose from that was not there tightens.
		key.kind, key.was = "narrowed", "not set"
		if boolean(p) && !is.Value.Equal(p.RestrictiveBool()) {
			key.kind = "widened"
		}
	case is.Value == nil:
		key.kind = "widened"
		if boolean(p) {
			key.kind = "changed"
		}
	case old == nil:
	case !p.AsTight(is.Value, old):
		key.kind = "widened"
	default:
		key.kind = "narrowed"
	}
	if had && was.Text == "" {
		key.was = "none"
	}
	return key
}

func (d *drift) add(g driftGroup) {
	if at, ok := d.groups[g.driftKey]; ok {
		d.list[at].count++
		return
	}
	d.groups[g.driftKey] = len(d.list)
	d.list = append(d.list, g)
}

// typed is an earlier value as one of the property's type, or nil where it no longer fits.
func typed(reg *registry.Registry, p *registry.Property, was BaselineValue) *registry.Value {
	if p.Type.Shape != registry.One || p.Repeatable {
		if was.List == nil {
			return nil
		}
		return registry.NewList(p.Type.Shape, was.List)
	}
	v, problem := reg.TypeText(p.Type, was.Text)
	if problem != "" {
		return nil
	}
	return v
}

func (d *drift) findings() []Finding {
	for _, g := range d.list {
		s := diag.Warning
		if g.kind == "widened" || g.kind == "new" {
			s = diag.Error
		}
		at := d.start()
		if g.winner != nil {
			at = g.winner.Declaration.At
		}
		text := fmt.Sprintf("%s of %s has %s since %s: %s, now %s", g.property.Name, d.f.entities(g.example, g.count), g.kind, d.f.Baseline.Name, g.was, g.is)
		if g.kind == "new" {
			text = fmt.Sprintf("%s is new since %s, and its %s is %s", d.f.entities(g.example, g.count), d.f.Baseline.Name, g.property.Name, g.is)
		}
		d.out = append(d.out, finding(s, at, text, "if it is meant, write the baseline anew"))
	}
	return d.out
}
