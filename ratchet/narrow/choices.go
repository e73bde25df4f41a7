package narrow

import (
	"slices"

	"umwelt/cascade"
	"umwelt/registry"
)

// choice is one candidate for a property: a unit and whether it gives the permission.
type choice struct {
	unit *unit
	yes  bool
}

// choices knows the candidates of properties in order of precedence.
type choices struct {
	t      *trial
	all    []*unit
	units  map[*registry.Declaration]*unit
	cohort map[cohortKey][]choice
}

type cohortKey struct {
	cohort   int
	property *registry.Property
}

func newChoices(t *trial, units []*unit) *choices {
	c := &choices{t: t, all: units, units: map[*registry.Declaration]*unit{}, cohort: map[cohortKey][]choice{}}
	for _, u := range units {
		for _, r := range u.rules {
			c.units[r.decl] = u
		}
	}
	return c
}

func (c *choices) of(proof cascade.Proof) []choice {
	var out []choice
	add := func(x *cascade.Candidate) {
		out = append(out, choice{c.units[x.Declaration], x.Value.Equal(proof.Property.PermissiveBool())})
	}
	if w := proof.Effective.Winner; w != nil {
		add(w)
	}
	for _, l := range proof.Losers {
		if l.Why != cascade.ContextNotHeld && l.Why != cascade.LockedOut {
			add(l.Candidate)
		}
	}
	return out
}

// entity is the candidates for a property of an entity of the world.
func (c *choices) entity(i int, p *registry.Property) []choice {
	if p == nil {
		return nil
	}
	key := cohortKey{c.t.res.Engine().Cohort(i), p}
	list, ok := c.cohort[key]
	if !ok {
		list = c.of(c.t.res.Explain(i, p))
		c.cohort[key] = list
	}
	return list
}

// first is the first candidate that still stands. What was replaced stands for the
// requirements that its replacement carries.
func first(list []choice, r *requirement) *choice {
	for k := range list {
		u := list[k].unit
		if u == nil || u.state == alive || u.state == replaced && r != nil && u.carries[r] {
			return &list[k]
		}
	}
	return nil
}

// verdict is whether a requirement is met as units stand, and by which.
type verdict struct {
	ok bool
	by []*unit
}

func (v *verdict) add(c *choice) {
	if c.unit != nil && !slices.Contains(v.by, c.unit) {
		v.by = append(v.by, c.unit)
	}
}

// judge answers a requirement as units stand.
func (c *choices) judge(r *requirement) verdict {
	switch r.kind {
	case seeFile, changeFile:
		get := c.file(r)
		return sight(get("visible"), get("editable"), get("show"), r)
	case seeDir:
		return c.judgeDir(r)
	case allow:
		return c.judgeAllow(r)
	}
	// What decides is known, and not what would decide in its place.
	v := verdict{ok: true}
	if r.kind == newNames {
		return c.judgeNewNames(r)
	}
	for _, d := range r.deciders {
		if u := c.units[d.decl]; u != nil {
			v.add(&choice{unit: u})
			v.ok = v.ok && (u.state == alive || u.carries[r])
		}
	}
	if r.kind == reach && !v.ok {
		// One endpoint that holds it is enough.
		v.ok = slices.ContainsFunc(r.deciders, func(d decided) bool {
			u := c.units[d.decl]
			return u == nil || u.state == alive || u.carries[r]
		})
	}
	return v
}

// judgeNewNames: what decides whether new names may be changed has to stay. That they are
// seen follows from it, unless something hides them.
func (c *choices) judgeNewNames(r *requirement) verdict {
	v := verdict{ok: true}
	hides := slices.ContainsFunc(c.all, func(u *unit) bool { return u.state == alive && u.holds && u.name == "visible" && u.kind != granting })
	for _, d := range r.deciders {
		u := c.units[d.decl]
		switch {
		case u == nil:
		case u.state == alive || u.state == replaced && u.carries[r]:
			v.add(&choice{unit: u})
		case d.decl.Name == "visible" && !hides:
		default:
			v.ok = false
		}
	}
	// A directory that is closed itself stays closed to new names.
	d := c.t.known.dir
	i := c.t.known.dirIndex(r.id)
	if i < 0 || c.t.world.Entities[i].Type != d {
		return v
	}
	for _, name := range []string{"editable", "visible"} {
		list := c.entity(i, d.Property(name))
		w := first(list, r)
		switch {
		case w == nil:
		case !w.yes:
			v.ok = false
		case slices.ContainsFunc(list, func(x choice) bool { return !x.yes && (x.unit == nil || x.unit.state == alive) }):
			v.add(w)
		}
	}
	return v
}

// sight is whether a path is seen and, where r asks for it, may be changed.
func sight(visible, editable, show []choice, r *requirement) verdict {
	var v verdict
	change := first(editable, r)
	switch w := first(visible, r); {
	case w != nil:
		v.ok = w.yes
		v.add(w)
	case change != nil:
		v.ok = true
		v.add(change)
	default:
		if s := first(show, r); s != nil {
			v.ok = true
			v.add(s)
		}
	}
	if r.kind == changeFile {
		if v.ok = v.ok && change != nil && change.yes; change != nil {
			v.add(change)
		}
	}
	return v
}

// file is the candidates of a file's properties by name.
func (c *choices) file(r *requirement) func(string) []choice {
	file := c.t.known.file
	if i, ok := c.t.known.fileAt[r.id]; ok {
		return func(name string) []choice { return c.entity(i, file.Property(name)) }
	}
	if r.choices == nil {
		c.t.file(r) // makes r.entity
		r.choices = map[string][]choice{}
		for _, name := range []string{"visible", "editable", "show"} {
			if p := file.Property(name); p != nil {
				r.choices[name] = c.of(c.t.res.ExplainEntity(r.entity, p))
			}
		}
	}
	return func(name string) []choice { return r.choices[name] }
}

// ownDir is whether a directory appears by a rule about it.
func (c *choices) ownDir(r *requirement) verdict {
	d := c.t.known.dir
	if i, ok := c.t.known.dirAt[r.id]; ok && d != nil && c.t.world.Entities[i].Type == d {
		return sight(c.entity(i, d.Property("visible")), c.entity(i, d.Property("editable")), c.entity(i, d.Property("show")), r)
	}
	return verdict{}
}

func (c *choices) judgeDir(r *requirement) verdict {
	v := c.ownDir(r)
	if v.ok {
		return v
	}
	// It also appears where a file in it does, and what is needed always does.
	if r.byContent || c.shownAnyway(r.id) {
		return verdict{ok: true}
	}
	return c.judgeFuture(r)
}

// shownAnyway is whether a file below a directory is shown by what is not edited.
func (c *choices) shownAnyway(dir string) bool {
	stays := func(u *unit) bool { return u.stuck != "" }
	if !slices.ContainsFunc(c.all, func(u *unit) bool { return u.holds && u.name == "show" || stays(u) && u.kind == granting }) {
		return false
	}
	file := c.t.known.file
	from, _ := slices.BinarySearch(c.t.known.files, dir+"/")
	for _, f := range c.t.known.files[from:] {
		if !below(f, dir) {
			break
		}
		i := c.t.known.fileAt[f]
		v := sight(c.entity(i, file.Property("visible")), c.entity(i, file.Property("editable")), c.entity(i, file.Property("show")), &requirement{})
		if v.ok && !slices.ContainsFunc(v.by, func(u *unit) bool { return !stays(u) }) {
			return true
		}
	}
	return false
}

// judgeFuture is whether a directory appears since what is made in it later can be seen.
func (c *choices) judgeFuture(r *requirement) verdict {
	file := c.t.known.file
	i, known := c.t.known.dirAt[r.id]
	if !known {
		i = c.t.known.dirIndex(c.t.known.holder(r.id))
	}
	visible, editable := file.Property("visible"), file.Property("editable")
	if i < 0 || visible == nil || editable == nil {
		return verdict{}
	}
	f := c.t.res.Future(i, file, visible)
	if !f.Tightest(visible).Bool() {
		return verdict{}
	}
	// Where what says so goes, being spoken of otherwise is enough.
	deciders := []*cascade.Candidate{f.Winner, c.t.res.FutureUsual(i, file, editable).Winner}
	if show := file.Property("show"); show != nil {
		deciders = append(deciders, c.t.res.FutureUsual(i, file, show).Winner)
	}
	for _, w := range deciders {
		if w == nil {
			continue
		}
		switch u := c.units[w.Declaration]; {
		case u == nil:
			return verdict{ok: true}
		case u.state == alive:
			return verdict{ok: true, by: []*unit{u}}
		case u.state == replaced && slices.ContainsFunc(u.instead, func(d draft) bool { return d.rung != nil && d.rung.holdsAll(r.id) }):
			return verdict{ok: true}
		}
	}
	return verdict{}
}

func (c *choices) judgeAllow(r *requirement) verdict {
	typ := typeOf(c.t.world.Registry, r.typ)
	p := typ.Property("allow")
	v := verdict{ok: true}
	for _, i := range c.t.named(typ, r.id) {
		own := first(c.entity(i, p), r)
		if own != nil {
			v.ok = v.ok && own.yes
			v.add(own)
		}
		follows := own != nil
		for _, f := range c.t.res.Engine().Followed(c.t.res.Entity(i), p) {
			q := f.Entity.Type.Property(p.Follows)
			if f.Index < 0 || q == nil {
				continue
			}
			list := c.entity(f.Index, q)
			w := first(list, r)
			switch {
			case w == nil:
			case !w.yes:
				v.ok = false // what it follows denies it, whatever its own rules say
			case own == nil || slices.ContainsFunc(list, func(x choice) bool { return !x.yes && (x.unit == nil || x.unit.state == alive) }):
				follows = true
				v.add(w)
			}
		}
		v.ok = v.ok && follows
	}
	return v
}
