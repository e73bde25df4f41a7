package confine

import (
	"strings"

	"umwelt/diag"
	"umwelt/parser"
	"umwelt/registry"
)

// use is a way of using things that some rule speaks of. It narrows what its objects
// allow: none of them is more than mode.
type use struct {
	mode      Mode
	by        Source
	kind      string // entity type; "" for any
	like      string // beginning of the path; "" for any
	of        string // a path, where it is no selector; "" for any
	selectors []*registry.Selector
	anything  bool // it names no object at all
}

// readUses is every use that a rule speaks of and that narrows anything.
func (r *reader) readUses() []use {
	t := r.typ("use")
	if t == nil {
		return nil
	}
	var out []use
	for _, i := range r.of(t) {
		visible, editable := r.property(i, t, "visible"), r.property(i, t, "editable")
		spoken := set(visible) || set(editable)
		for _, name := range []string{"show", "allow"} {
			spoken = spoken || set(r.property(i, t, name))
		}
		u := use{mode: ReadWrite}
		switch {
		case !spoken:
			continue
		case set(visible) && !visible.Value.Bool():
			u.mode, u.by = Hidden, by(visible)
		case !editable.Value.Bool():
			u.mode, u.by = ReadOnly, by(editable)
		default:
			continue
		}
		u.aim(r, i)
		out = append(out, u)
	}
	return out
}

// aim reads what the use is of.
func (u *use) aim(r *reader, i int) {
	e := &r.world.Entities[i]
	u.kind, _ = e.Attr("of-kind")
	u.like, _ = e.Attr("of-like")
	u.like = strings.TrimPrefix(u.like, "./")
	of, _ := e.Attr("of")
	u.anything = u.kind == "" && u.like == "" && of == ""
	if of == "" {
		return
	}
	parsed, problems := parser.ParseSelectors(&diag.Source{Name: "of", Text: []byte(of)})
	if !problems.HasErrors() {
		bound, more := r.world.Registry.BindSelectors(parsed)
		if !more.HasErrors() {
			for _, s := range bound {
				if !s.Never && s.Taxon != nil {
					u.selectors = append(u.selectors, s)
				}
			}
		}
	}
	// What is no selector of the vocabulary is a path.
	if u.selectors == nil {
		u.of = strings.TrimSuffix(strings.TrimPrefix(of, "./"), "/")
	}
}

// covers reports whether an entity is an object of the use.
func (u *use) covers(r *reader, i int, path string) bool {
	switch {
	case u.anything:
		return false
	case u.kind != "" && !strings.EqualFold(u.kind, r.world.Entities[i].Type.Name),
		!strings.HasPrefix(path, u.like),
		u.of != "" && path != u.of && !below(path, u.of):
		return false
	case u.selectors == nil:
		return true
	}
	for _, s := range u.selectors {
		if r.world.Matches(s, i) {
			return true
		}
	}
	return false
}

// mayCover reports whether a file created later below a directory could be an object.
// Where that depends on the name, it could.
func (u *use) mayCover(r *reader, dir string) bool {
	if u.anything || u.kind != "" && !strings.EqualFold(u.kind, "file") {
		return false
	}
	if !r.mayBegin(dir, u.like, false) || u.of != "" && dir != u.of && !below(dir, u.of) && !r.mayBegin(dir, u.of, true) {
		return false
	}
	if u.selectors == nil {
		return true
	}
	for _, s := range u.selectors {
		if !r.pinned(s) {
			return true
		}
	}
	return false
}

// mayBegin reports whether a path below dir, that leads through no directory which is
// there and so has its own answer, can begin with prefix; or be it or lie below it, where
// prefix is a whole path.
func (r *reader) mayBegin(dir, prefix string, whole bool) bool {
	at := ""
	if dir != "." {
		at = dir + "/"
	}
	switch {
	case !whole && strings.HasPrefix(at, prefix):
		return true
	case !strings.HasPrefix(prefix, at):
		return false
	}
	name, _, deeper := strings.Cut(prefix[len(at):], "/")
	switch {
	case deeper || whole:
		// A directory that is there answers for itself, a file that is there is not new.
		return !r.has("dir", at+name) && (deeper || !r.has("file", at+name))
	}
	return true // some name begins so
}

func (r *reader) has(typ, path string) bool {
	t := r.typ(typ)
	return t != nil && r.world.Find(t, path) >= 0
}

// pinned reports whether a selector fits only one path, which is there already.
func (r *reader) pinned(s *registry.Selector) bool {
	for _, test := range s.Target.Tests {
		exact := test.Kind == registry.TestID || test.Kind == registry.TestAttr && test.Op == "=" && s.Target.Type != nil && test.Attr == s.Target.Type.PathAttr
		if exact && (r.has("file", test.Value) || r.has("dir", test.Value)) {
			return true
		}
	}
	return false
}
