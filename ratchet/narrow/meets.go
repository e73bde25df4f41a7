package narrow

import (
	"path"
	"slices"

	"umwelt/cascade"
	"umwelt/registry"
	"umwelt/world"
)

// answer is whether a trial meets a requirement, and the declarations that make it so.
type answer struct {
	ok bool
	by []decided
}

// decided is a declaration of a rule that decides.
type decided struct {
	rule *registry.Rule
	decl *registry.Declaration
}

func decidedBy(c *cascade.Candidate) []decided {
	if c == nil {
		return nil
	}
	return []decided{{c.Rule, c.Declaration}}
}

// meets answers a requirement.
func (t *trial) meets(r *requirement) answer {
	switch r.kind {
	case seeFile, changeFile:
		return t.meetsFile(r)
	case newNames:
		return t.meetsNewNames(r.id)
	case seeDir:
		return t.meetsDir(r)
	case allow:
		return t.meetsAllow(r)
	case reach:
		return t.reaches(r.end)
	case spend:
		return t.spends(r)
	}
	return answer{}
}

// effectives is how a file's properties come out, by name.
func (t *trial) file(r *requirement) func(name string) cascade.Effective {
	file := t.known.file
	if i, ok := t.known.fileAt[r.id]; ok {
		return func(name string) cascade.Effective {
			if p := file.Property(name); p != nil {
				return t.res.Get(i, p)
			}
			return cascade.Effective{}
		}
	}
	if r.entity == nil {
		parent := t.known.dirIndex(t.known.holder(r.id))
		r.entity = &world.Entity{Type: file, ID: r.id, Parent: int32(parent),
			Attributes: world.Complete(file, r.id, []world.Attribute{{Name: file.PathAttr, Text: r.id}})}
	}
	all := t.res.ResolveEntity(r.entity)
	return func(name string) cascade.Effective {
		if p := file.Property(name); p != nil {
			return *all[p.Index]
		}
		return cascade.Effective{}
	}
}

func (t *trial) meetsFile(r *requirement) answer {
	if t.known.file == nil {
		return answer{}
	}
	get := t.file(r)
	visible, editable := get("visible"), get("editable")
	a := answer{ok: visible.Value.Bool()}
	if r.kind == changeFile {
		a.ok = a.ok && editable.Value.Bool()
		a.by = decidedBy(editable.Winner)
		if visible.Winner != nil {
			a.by = append(a.by, decidedBy(visible.Winner)...)
		}
		return a
	}
	a.by = decidedBy(visible.Winner)
	if visible.Winner == nil {
		// Seeing follows from being spoken of.
		if a.by = decidedBy(editable.Winner); a.by == nil {
			a.by = decidedBy(get("show").Winner)
		}
	}
	return a
}

// meetsNewNames is whether every new name below a directory may be made and removed.
func (t *trial) meetsNewNames(dir string) answer {
	i := t.known.dirIndex(dir)
	file := t.known.file
	if i < 0 || file == nil {
		return answer{}
	}
	editable, visible := file.Property("editable"), file.Property("visible")
	if editable == nil || visible == nil {
		return answer{}
	}
	e, v := t.res.Future(i, file, editable), t.res.Future(i, file, visible)
	a := answer{ok: e.Tightest(editable).Bool() && v.Tightest(visible).Bool()}
	a.by = append(decidedBy(e.Winner), decidedBy(v.Winner)...)
	if d := t.known.dir; t.world.Entities[i].Type == d {
		for _, name := range []string{"editable", "visible"} {
			if p := d.Property(name); p != nil {
				if own := t.res.Get(i, p); own.Winner != nil && !own.Value.Bool() {
					a.ok = false
				}
			}
		}
	}
	return a
}

// meetsDir is whether a directory appears: by itself, or since something in it does.
func (t *trial) meetsDir(r *requirement) answer {
	if r.id == "." {
		return answer{ok: true}
	}
	d := t.known.dir
	i, known := t.known.dirAt[r.id]
	if d == nil || d.Property("visible") == nil {
		return answer{}
	}
	var own cascade.Effective
	if known {
		own = t.res.Get(i, d.Property("visible"))
	} else {
		ent := &world.Entity{Type: d, ID: r.id, Parent: int32(t.known.dirIndex(t.known.holder(r.id))),
			Attributes: world.Complete(d, r.id, []world.Attribute{{Name: d.PathAttr, Text: r.id}})}
		own = *t.res.ResolveEntity(ent)[d.Property("visible").Index]
	}
	if own.Value.Bool() {
		by := decidedBy(own.Winner)
		if by == nil && known {
			by = decidedBy(t.res.Get(i, d.Property("editable")).Winner)
		}
		return answer{ok: true, by: by}
	}
	if own.Winner != nil && !t.showsBelow(r.id) {
		return answer{}
	}
	at := r.id
	if !known {
		at = t.known.holder(r.id)
	}
	return answer{ok: t.futureSeen(at) || t.showsBelow(r.id)}
}

// futureSeen is whether what is made below a directory later can be seen, so that the
// directory appears with nothing in it.
func (t *trial) futureSeen(dir string) bool {
	i, p := t.known.dirIndex(dir), t.known.file.Property("visible")
	return i >= 0 && p != nil && t.res.Future(i, t.known.file, p).Tightest(p).Bool()
}

// showsBelow is whether a file below a directory appears.
func (t *trial) showsBelow(dir string) bool {
	p := t.known.file.Property("visible")
	from, _ := slices.BinarySearch(t.known.files, dir+"/")
	for _, f := range t.known.files[from:] {
		if !below(f, dir) {
			break
		}
		if t.res.Get(t.known.fileAt[f], p).Value.Bool() {
			return true
		}
	}
	return false
}

// of is the entities of a type.
func (t *trial) of(typ *registry.EntityType) []int {
	if t.byType == nil {
		t.byType = map[*registry.EntityType][]int{}
		for i := range t.world.Entities {
			e := &t.world.Entities[i]
			if e.Type.PathAttr == "" {
				t.byType[e.Type] = append(t.byType[e.Type], i)
			}
		}
	}
	return t.byType[typ]
}

// named is the entities of a type that go by an id, a name or, for a program, a path.
func (t *trial) named(typ *registry.EntityType, id string) []int {
	var out []int
	for _, i := range t.of(typ) {
		e := &t.world.Entities[i]
		name, _ := e.Fact(typ.Key())
		at, _ := e.Attr("path")
		if e.ID == id || name == id || typ.Name == "exec" && (at == id || at == "" && name == path.Base(id)) {
			out = append(out, i)
		}
	}
	return out
}

func (t *trial) meetsAllow(r *requirement) answer {
	typ := typeOf(t.world.Registry, r.typ)
	if typ == nil || typ.Property("allow") == nil {
		return answer{}
	}
	p := typ.Property("allow")
	at := t.named(typ, r.id)
	a := answer{ok: len(at) > 0}
	for _, i := range at {
		v := t.res.Get(i, p)
		a.ok = a.ok && v.Value.Bool()
		t.judge(i, typ, r.calls, &a)
		if v.Winner != nil {
			a.by = append(a.by, decidedBy(v.Winner)...)
			continue
		}
		for _, f := range t.res.Engine().Followed(t.res.Entity(i), p) {
			if q := f.Entity.Type.Property(p.Follows); f.Index >= 0 && q != nil {
				a.by = append(a.by, decidedBy(t.res.Get(f.Index, q).Winner)...)
			}
		}
	}
	return a
}

// judge holds calls against the patterns of an entity.
func (t *trial) judge(i int, typ *registry.EntityType, calls []string, a *answer) {
	get := func(p *registry.Property) *cascade.Effective {
		e := t.res.Get(i, p)
		return &e
	}
	for _, text := range calls {
		v := cascade.Judge(typ, get, registry.ReadCall(text))
		a.ok = a.ok && v.Allowed()
		for _, s := range v.Steps {
			if s.Pattern != "" && s.Holds {
				for _, d := range decidedBy(s.From) {
					if !slices.Contains(a.by, d) {
						a.by = append(a.by, d)
					}
				}
			}
		}
	}
}

// spends is whether a bound leaves what was measured.
func (t *trial) spends(r *requirement) answer {
	typ := typeOf(t.world.Registry, "resource")
	a := answer{ok: true}
	if typ == nil {
		return answer{}
	}
	for _, i := range t.of(typ) {
		for _, name := range []string{r.id, "max-" + r.id} {
			p := typ.Property(name)
			if p == nil {
				continue
			}
			v := t.res.Get(i, p)
			if v.Value != nil && v.Origin != cascade.Initial {
				a.ok = a.ok && v.Value.Num >= r.bound
				a.by = append(a.by, decidedBy(v.Winner)...)
			}
		}
	}
	return a
}
