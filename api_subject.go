package umwelt

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/parser"
	"umwelt/registry"
	"umwelt/world"
)

// Ref names an entity: a type and an id, or in a context also a name. A type that two taxa
// register is written "taxon|type".
type Ref = cascade.Ref

// Subject is an entity that questions are about. It may be used with every policy that
// extends the one it comes from, or that is it in another context.
type Subject struct {
	Entity *world.Entity // must not be written to
	Index  int           // -1 where it does not exist
}

// Exists reports whether the entity is one of the world's.
func (s Subject) Exists() bool { return s.Index >= 0 }

// QuestionError is a question that cannot be answered as it stands: it names something
// that nobody knows, or asks for what cannot be.
type QuestionError struct {
	Problems diag.List
}

func (e *QuestionError) Error() string { return e.Problems.Err().Error() }

func question(code diag.Code, hint, format string, args ...any) error {
	return &QuestionError{diag.List{{Severity: diag.Error, Code: code, Message: fmt.Sprintf(format, args...), Hint: hint}}}
}

// usable is the error of a policy that answers nothing.
func (p *Policy) usable() error {
	if err := p.Err(); err != nil {
		return err
	}
	if p.Resolution == nil {
		return question(diag.Invalid, "", "the policy was parsed and not loaded, so it answers nothing")
	}
	return nil
}

// Find is the entity of a type and id. One of a type that has a path need not exist: it is
// then answered as if it were made, with no class and nothing known but its path, unless the
// world leaves that path out.
func (p *Policy) Find(typ, id string) (Subject, error) {
	if err := p.usable(); err != nil {
		return Subject{}, err
	}
	t, err := p.typeNamed(typ)
	if err != nil {
		return Subject{}, err
	}
	if i := p.Resolution.Find(t, id); i >= 0 {
		return Subject{p.Resolution.Entity(i), i}, nil
	}
	if t.PathAttr != "" {
		return p.suppose(t, id)
	}
	return Subject{}, question(diag.UnknownEntity, p.nearMatches(t, id), "there is no %s %s in this world", t.Name, diag.Quote(id))
}

func (p *Policy) typeNamed(name string) (*registry.EntityType, error) {
	taxon, bare, qualified := strings.Cut(name, "|")
	if !qualified {
		taxon, bare = "", name
	}
	var fits []*registry.EntityType
	var candidates []string
	for _, t := range p.Registry.TypesNamed(bare) {
		if !qualified || p.Registry.Taxon(taxon) == t.Taxon {
			fits = append(fits, t)
			candidates = append(candidates, t.Taxon.Name+"|"+t.Name)
		}
	}
	switch len(fits) {
	case 1:
		return fits[0], nil
	case 0:
		var names []string
		for _, t := range p.Registry.Types() {
			names = append(names, t.Name)
		}
		return nil, question(diag.UnknownType, diag.DidYouMean(bare, names), "no vocabulary registers the entity type %s", diag.Quote(name))
	}
	return nil, question(diag.AmbiguousType, "", "the entity type %s could be %s", diag.Quote(name), strings.Join(candidates, " or "))
}

// Select is the entities that a selector fits, in vocabulary order and then by id. A
// selector that fits none is an error, unless all that it says is a path that nothing stands
// at: see Find. It looks at the whole world, so ask for one entity by Find.
func (p *Policy) Select(selector string) ([]Subject, error) {
	if err := p.usable(); err != nil {
		return nil, err
	}
	selectors, err := p.readSelector(selector)
	if err != nil {
		return nil, err
	}
	r := p.Resolution.Complete()
	fits := world.NewBits(r.Len())
	for _, sel := range selectors {
		for _, i := range r.World().Select(sel) {
			fits.Add(i)
		}
	}
	var out []Subject
	for _, i := range r.Order() {
		if fits.Has(int(i)) {
			out = append(out, Subject{r.Entity(int(i)), int(i)})
		}
	}
	if out != nil {
		return out, nil
	}
	if len(selectors) == 1 {
		sel := selectors[0]
		t, id := sel.Target.Type, called(sel.Target)
		if t != nil && t.PathAttr != "" && len(sel.Structure) == 0 && len(sel.Target.Tests) == 1 && id != "" {
			s, err := p.suppose(t, id)
			return []Subject{s}, err
		}
	}
	hint := ""
	for _, sel := range selectors {
		hint = cmp.Or(hint, p.nearMatches(sel.Target.Type, called(sel.Target)))
	}
	return nil, question(diag.UnknownEntity, hint, "nothing in this world fits %s", diag.Quote(selector))
}

// readSelector reads a selector strictly: a word that no vocabulary knows would make it
// fit nothing, which is not what was asked.
func (p *Policy) readSelector(text string) ([]*registry.Selector, error) {
	parsed, list := parser.ParseSelectors(&diag.Source{Name: "selector", Text: []byte(text)})
	if list.HasErrors() {
		return nil, &QuestionError{list}
	}
	bound, list := p.Registry.BindSelectors(parsed)
	if list = list.Strict(); list.HasErrors() {
		return nil, &QuestionError{list}
	}
	return bound, nil
}

// called is what a compound calls an entity by its id, name or path, or "".
func called(c *registry.Compound) string {
	for _, t := range c.Tests {
		switch {
		case t.Kind == registry.TestID && t.Dotted != "":
			return t.Dotted
		case t.Kind == registry.TestID,
			t.Kind == registry.TestAttr && t.Op == "=" && (t.Attr == "name" || c.Type != nil && t.Attr == c.Type.PathAttr):
			return t.Value
		}
	}
	return ""
}

// suppose is an entity to be made at a path below the root.
func (p *Policy) suppose(t *registry.EntityType, id string) (Subject, error) {
	name := strings.TrimPrefix(id, "./")
	if name == "" || path.IsAbs(name) || path.Clean(name) != name || name == "." || name == ".." || strings.HasPrefix(name, "../") || strings.ContainsRune(name, 0) {
		return Subject{}, question(diag.UnknownEntity, "a path is relative to the root, clean, and below it", "%s is in no world: it is no path that something could be made at", diag.Quote(id))
	}
	for _, i := range p.byPath().at(p.Resolution, name) {
		if e := p.Resolution.Entity(int(i)); e.Type == t {
			return Subject{e, int(i)}, nil
		}
	}
	if left := p.byPath().withheld(name); left != nil {
		return Subject{}, question(diag.UnknownEntity, "what is not in the world cannot be granted", "the world leaves out %s %s", left.Type.Name, diag.Quote(left.Path()))
	}
	return Subject{&world.Entity{
		Type: t, ID: name, Parent: p.holder(t, name),
		Attributes: world.Complete(t, name, []world.Attribute{{Name: t.PathAttr, Text: name}}),
	}, -1}, nil
}

// holder is the entity that a path would lie in: the nearest of a parent type whose path
// is a part of it, else the root.
func (p *Policy) holder(t *registry.EntityType, name string) int32 {
	return p.holderAmong(t, name, nil)
}

// holderAmong is holder where others are added to the entities that there are.
func (p *Policy) holderAmong(t *registry.EntityType, name string, added []world.Entity) int32 {
	holds := func(e *world.Entity) bool {
		return e.Type.Taxon == t.Taxon && slices.Contains(t.Parents, e.Type.Name)
	}
	for dir := path.Dir(name); dir != "." && dir != "/"; dir = path.Dir(dir) {
		for _, i := range p.byPath().at(p.Resolution, dir) {
			if holds(p.Resolution.Entity(int(i))) {
				return i
			}
		}
		for i := range added {
			if holds(&added[i]) && clean(added[i].Path()) == dir {
				return int32(p.Resolution.Len() + i)
			}
		}
	}
	w := p.byPath().of.World()
	if root := w.RootEntity(); root >= 0 && w.Entities[root].Type.Taxon == t.Taxon {
		return int32(root)
	}
	return world.NoParent
}

// pathIndex finds entities by path. It is made on first use, for the policy that others
// extend, and shared by them.
type pathIndex struct {
	of    *cascade.Resolution
	once  sync.Once
	paths map[string][]int32
}

// byPath is the index of a policy, also of one that was put together by hand.
func (p *Policy) byPath() *pathIndex {
	if p.paths != nil {
		return p.paths
	}
	return &pathIndex{of: p.Resolution.Complete()}
}

// at are the entities of r, which extends x.of, at a path.
func (x *pathIndex) at(r *cascade.Resolution, name string) []int32 {
	x.once.Do(func() {
		x.paths = map[string][]int32{}
		for i := range x.of.Len() {
			if text := x.of.Entity(i).Path(); text != "" {
				x.paths[clean(text)] = append(x.paths[clean(text)], int32(i))
			}
		}
	})
	out := x.paths[name]
	for i := x.of.Len(); i < r.Len(); i++ {
		if text := r.Entity(i).Path(); text != "" && clean(text) == name {
			out = append(slices.Clip(out), int32(i))
		}
	}
	return out
}

func clean(text string) string { return strings.TrimPrefix(strings.TrimSuffix(text, "/"), "./") }

// withheld is what the world leaves out at a path or above it; nil for nothing.
func (x *pathIndex) withheld(name string) *world.Entity {
	list := x.of.World().Withheld
	for ; name != "." && name != "/"; name = path.Dir(name) {
		k, ok := slices.BinarySearchFunc(list, name, func(e world.Entity, name string) int { return strings.Compare(clean(e.Path()), name) })
		if ok {
			return &list[k]
		}
	}
	return nil
}

// nearMatches is a hint at what was probably meant by an id of a type, or of any where
// that is nil.
func (p *Policy) nearMatches(t *registry.EntityType, wanted string) string {
	const most = 5
	var ids, alike []string
	for i := range p.Resolution.Len() {
		e := p.Resolution.Entity(i)
		if t != nil && e.Type != t {
			continue
		}
		ids = append(ids, e.ID)
		if wanted != "" && path.Base(e.ID) == path.Base(wanted) && len(alike) < most {
			alike = append(alike, diag.Quote(e.ID))
		}
	}
	switch h := diag.DidYouMean(wanted, ids); {
	case h != "":
		return h
	case len(alike) > 0:
		return "there is " + strings.Join(alike, ", ")
	case t == nil:
		return "see what there is with umwelt materialize --level outline"
	case len(ids) == 0:
		return "this world has no " + t.Name
	}
	few := make([]string, 0, most)
	for _, id := range ids[:min(most, len(ids))] {
		few = append(few, diag.Quote(id))
	}
	if len(ids) > most {
		return fmt.Sprintf("there is %s and %d more", strings.Join(few, ", "), len(ids)-most)
	}
	return "there is " + strings.Join(few, ", ")
}
