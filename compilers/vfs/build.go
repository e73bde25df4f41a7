package vfs

import (
	"slices"
	"strconv"

	"umwelt/cascade"
	"umwelt/compilers"
	"umwelt/diag"
	"umwelt/registry"
	"umwelt/simulation/roster"
	"umwelt/world"
)

// builder gathers a roster from a world and what is resolved about it.
type builder struct {
	world     *world.World
	effective func(entity int, p *registry.Property) cascade.Effective
	list      *diag.List
	roster    *roster.Roster
	notes     []compilers.Note

	variable, profile, extent *registry.EntityType
	properties                map[string]*registry.Property // of variables, by name
}

// newBuilder finds the vocabulary's types; nil where the policy is about something else.
func newBuilder(w *world.World, effective func(int, *registry.Property) cascade.Effective, list *diag.List) *builder {
	b := &builder{world: w, effective: effective, list: list, properties: map[string]*registry.Property{}}
	b.roster = &roster.Roster{Version: roster.Version, ItemProfiles: []string{}}
	for _, t := range w.Registry.Types() {
		if t.Taxon.Name != taxon {
			continue
		}
		switch t.Name {
		case "variable":
			b.variable = t
		case "item-profile":
			b.profile = t
		case "extent":
			b.extent = t
		}
	}
	missing := b.variable == nil || b.profile == nil || b.extent == nil
	for _, name := range []string{"readable-by", "writable-by", "exposed-to", "normalize"} {
		if missing {
			break
		}
		b.properties[name] = b.variable.Property(name)
		missing = b.properties[name] == nil
	}
	if missing {
		list.Errorf(diag.Invalid, diag.Span{}, "a roster needs the simulation vocabulary, and this policy was loaded without it")
		return nil
	}
	return b
}

// build fills the roster, in the order in which the world declares things.
func (b *builder) build() {
	extents := map[string]diag.Span{}
	for i := range b.world.Entities {
		e := &b.world.Entities[i]
		switch e.Type {
		case b.profile:
			name := e.ID
			if s := text(e, "name"); s != "" {
				name = s
			}
			b.roster.ItemProfiles = append(b.roster.ItemProfiles, name)
		case b.extent:
			b.addExtent(e, extents)
		}
	}
	b.profilePlaces()
	for i := range b.world.Entities {
		if b.world.Entities[i].Type == b.variable {
			b.addVariable(i)
		}
	}
}

// profilePlaces points complaints about the list of profiles at its first entity.
func (b *builder) profilePlaces() {
	for i := range b.world.Entities {
		if e := &b.world.Entities[i]; e.Type == b.profile {
			b.roster.At.Key = map[string]diag.Span{"item_profiles": e.Provenance.At}
			return
		}
	}
}

func (b *builder) addExtent(e *world.Entity, seen map[string]diag.Span) {
	at := e.Provenance.At
	kind := text(e, "kind")
	rows, err := strconv.ParseInt(text(e, "count"), 10, 64)
	if first, ok := seen[kind]; ok {
		d := b.list.Errorf(diag.Duplicate, at, "two extents count the scope %s", diag.Quote(kind))
		d.Related = []diag.Related{{Span: first, Message: "first here"}}
		return
	}
	seen[kind] = at
	if err != nil || rows < 1 {
		b.list.Errorf(diag.Invalid, at, "the extent %s needs a count of at least 1", diag.Quote(e.ID))
		return
	}
	if !b.roster.Extents.SetExtent(kind, rows) {
		b.list.Errorf(diag.Invalid, at, "the scope %s takes no extent", diag.Quote(kind))
	}
}

// addVariable declares one variable: its facts from the world, its access from the policy.
func (b *builder) addVariable(i int) {
	e := &b.world.Entities[i]
	d, ok := facts(e, b.list)
	d.ReadableBy = b.roles(&d, i, "readable-by", "readable_by")
	d.WritableBy = b.roles(&d, i, "writable-by", "writable_by")
	d.ExposedTo = b.roles(&d, i, "exposed-to", "exposed_to")
	ok = b.normalize(&d, i) && ok
	if ok {
		b.roster.Declarations = append(b.roster.Declarations, d)
	}
}

// normalize sets how a shown variable is scaled. Where a rule shows and scales a variable
// and a stronger one hides it, the scale goes with the sight, and a note says so; a scale
// that no rule meant for showing anything stays, for the check to refuse.
func (b *builder) normalize(d *roster.Declaration, i int) bool {
	e := &b.world.Entities[i]
	eff := b.effective(i, b.properties["normalize"])
	d.At.Key["normalization"] = place(e, eff)
	if eff.Value == nil {
		return true
	}
	n, err := normalization(eff.Value.List)
	if err != nil {
		r := b.list.Errorf(diag.BadValue, place(e, eff), "variable %s: %s cannot be the normalization", diag.Quote(d.ID), diag.Quote(eff.Value.Text))
		r.Hint = err.Error()
		r.Related = related(e, eff)
		return false
	}
	if n != nil && len(d.ExposedTo) == 0 && eff.Winner != nil && b.shows(eff.Winner.Rule) {
		b.notes = append(b.notes, compilers.Note{
			Rule: eff.Winner.Rule, Declaration: eff.Winner.Declaration, Level: compilers.Partial,
			Why: "variable " + diag.Quote(d.ID) + " is hidden by another rule, so there is nothing to scale",
		})
		return true
	}
	d.Normalization = n
	return true
}

// shows reports whether a rule itself exposes what it matches.
func (b *builder) shows(r *registry.Rule) bool {
	exposed := false
	for _, d := range r.Declarations {
		for _, t := range d.Typed {
			if t.Property == b.properties["exposed-to"] {
				exposed = len(t.Value.List) > 0
			}
		}
	}
	return exposed
}

// roles are the roles that a property resolved to, engine first.
func (b *builder) roles(d *roster.Declaration, i int, property, key string) []string {
	eff := b.effective(i, b.properties[property])
	d.At.Key[key] = place(&b.world.Entities[i], eff)
	out := []string{}
	if eff.Value != nil {
		out = append(out, eff.Value.List...)
	}
	slices.Sort(out)
	slices.Reverse(out) // "engine" before "agent"
	return out
}

// place is where an effective value was decided: the winning declaration, the fixed
// constraint that clamped it, or else the entity.
func place(e *world.Entity, eff cascade.Effective) diag.Span {
	switch {
	case eff.Origin == cascade.Fixed && eff.Reason != nil && eff.Reason.Fixed != nil:
		return eff.Reason.Fixed.At
	case eff.Winner != nil && eff.Winner.Declaration != nil:
		return eff.Winner.Declaration.At
	}
	return e.Provenance.At
}

// related points at the entity beside the declaration that decided.
func related(e *world.Entity, eff cascade.Effective) []diag.Related {
	if place(e, eff) == e.Provenance.At || !e.Provenance.At.IsValid() {
		return nil
	}
	return []diag.Related{{Span: e.Provenance.At, Message: "the variable stands here"}}
}
