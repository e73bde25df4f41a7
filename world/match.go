package world

import (
	"slices"
	"strings"

	"umwelt/registry"
)

// Matches reports whether a selector's target fits entity i and its structure fits the
// ancestors of i. Context qualifiers are not looked at: they are no matter of the entity.
// To test one world many times, use a Matcher, which works out :has once per selector.
func (w *World) Matches(sel *registry.Selector, i int) bool {
	return NewMatcher(w).Matches(sel, i)
}

// Select is every entity that Matches, in order.
func (w *World) Select(sel *registry.Selector) []int {
	m := NewMatcher(w)
	var out []int
	for i := range w.Entities {
		if m.Matches(sel, i) {
			out = append(out, i)
		}
	}
	return out
}

// MatchCompound reports whether every test of a compound fits an entity, which need not
// be in the world.
func (w *World) MatchCompound(c *registry.Compound, e *Entity) bool {
	return NewMatcher(w).Compound(c, e, w.indexOf(e))
}

// indexOf is the index of e where it is one of the world's own, else -1.
func (w *World) indexOf(e *Entity) int {
	if i := w.Find(e.Type, e.ID); i >= 0 && &w.Entities[i] == e {
		return i
	}
	return -1
}

// Matcher tests selectors against one world, which must not change meanwhile. It keeps
// what it worked out about :has and globs, so a Matcher is for one goroutine; see Fork.
type Matcher struct {
	w     *World
	more  []Entity // of a matcher that was extended: what follows the world's own entities
	from  *Matcher // what it knows is known here too; it is only read
	fresh bool     // has more than from, so that what from knows of :has is out of date
	has   map[*registry.Selector]entitySet
	globs map[string]Glob
	free  [][]int32
}

// NewMatcher makes a Matcher.
func NewMatcher(w *World) *Matcher { return &Matcher{w: w} }

// Fork is a Matcher for another goroutine that starts with what m knows. m must not be
// used until all forks are done.
func (m *Matcher) Fork() *Matcher { return &Matcher{w: m.w, more: m.more, from: m} }

// Extend is Fork for a world that holds more entities. Their indices go on from the
// world's own, and they are none that other entities lie in by a group attribute. A parent
// stands before its children. m must not have been extended itself.
func (m *Matcher) Extend(more []Entity) *Matcher {
	return &Matcher{w: m.w, more: more, from: m, fresh: len(more) > 0}
}

// entity is the entity of that index.
func (m *Matcher) entity(i int32) *Entity {
	if n := len(m.w.Entities); int(i) >= n {
		return &m.more[int(i)-n]
	}
	return &m.w.Entities[i]
}

// count is how many entities there are.
func (m *Matcher) count() int { return len(m.w.Entities) + len(m.more) }

// Matches is World.Matches.
func (m *Matcher) Matches(sel *registry.Selector, i int) bool {
	return m.MatchesEntity(sel, m.entity(int32(i)), i)
}

// MatchesEntity is Matches for an entity that need not be in the world; i is then -1.
func (m *Matcher) MatchesEntity(sel *registry.Selector, e *Entity, i int) bool {
	if sel.Never || sel.Taxon != nil && e.Type.Taxon != sel.Taxon {
		return false
	}
	return m.Compound(sel.Target, e, i) && m.structure(sel.Structure, e, nil)
}

// structure reports whether links fit along the ancestors of e. Where leftmost is not
// nil, it gets every entity that the last link can stand on.
//
// The set of entities that the links so far can end on is carried from link to link, so
// that the work grows with links times ancestors and never with their combinations.
func (m *Matcher) structure(links []registry.Link, e *Entity, leftmost *[]int32) bool {
	if len(links) == 0 {
		return true
	}
	here, next, walked := m.buffer(), m.buffer(), m.buffer()
	defer func() { m.free = append(m.free, here, next, walked) }()
	for k, link := range links {
		next, walked = next[:0], walked[:0]
		if k == 0 {
			next, walked = m.above(link, e, next, walked)
		}
		for _, at := range here {
			// What an earlier walk went over has its own ancestors in that walk.
			if !link.Child && slices.Contains(walked, at) && m.entity(at).Type.GroupAttr == "" {
				next = m.groupsAbove(link, m.entity(at), next)
				continue
			}
			next, walked = m.above(link, m.entity(at), next, walked)
		}
		if len(next) == 0 {
			return false
		}
		if leftmost == nil && k == len(links)-1 {
			return true
		}
		here, next = next, here
	}
	*leftmost = append(*leftmost, here...)
	return true
}

// buffer is an empty list for structure, which can be inside itself by way of :is.
func (m *Matcher) buffer() []int32 {
	if n := len(m.free); n > 0 {
		b := m.free[n-1]
		m.free = m.free[:n-1]
		return b[:0]
	}
	return make([]int32, 0, 16)
}

// above adds to next the ancestors of e (or its parent, for a child link) that the link's
// compound fits.
func (m *Matcher) above(link registry.Link, e *Entity, next, walked []int32) (nextOut, walkedOut []int32) {
	for at := e.Parent; at != NoParent; at = m.entity(at).Parent {
		if !link.Child {
			walked = append(walked, at)
		}
		if !slices.Contains(next, at) && m.Compound(link.Compound, m.entity(at), int(at)) {
			next = append(next, at)
		}
		if link.Child {
			return next, walked
		}
	}
	if !link.Child {
		next = m.groupsAbove(link, e, next)
	}
	return next, walked
}

func (m *Matcher) groupsAbove(link registry.Link, e *Entity, next []int32) []int32 {
	it := m.groupsOf(e)
	for g := it.nextGroup(); g != NoParent; g = it.nextGroup() {
		if !slices.Contains(next, g) && m.Compound(link.Compound, &m.w.Entities[g], int(g)) {
			next = append(next, g)
		}
	}
	return next
}

// Compound reports whether every test of c fits e; i is the entity's index, or -1 where
// it is not in the world.
func (m *Matcher) Compound(c *registry.Compound, e *Entity, i int) bool {
	if c.Type != nil && c.Type != e.Type {
		return false
	}
	for k := 0; k < len(c.Tests); k++ {
		t := &c.Tests[k]
		if t.Kind == registry.TestID && t.Classes > 0 && e.Type.Dotted {
			if !fitsID(t.Dotted, e) {
				return false
			}
			k += t.Classes
			continue
		}
		if !m.test(t, e, i) {
			return false
		}
	}
	return true
}

func (m *Matcher) test(t *registry.Test, e *Entity, i int) bool {
	switch t.Kind {
	case registry.TestID:
		return fitsID(t.Value, e)
	case registry.TestClass:
		return e.HasClass(t.Value)
	case registry.TestAttr:
		return fitsAttr(t, e)
	case registry.TestIs:
		return m.any(t.Selectors, e, i)
	case registry.TestNot:
		for _, sel := range t.Selectors {
			// What cannot be decided about the entity excludes it either way.
			if sel.Never || len(sel.Qualifiers) > 0 {
				return false
			}
		}
		return !m.any(t.Selectors, e, i)
	case registry.TestHas:
		if i < 0 {
			return false
		}
		for k, sel := range t.Selectors {
			if m.hasSet(sel, k < len(t.RelativeChild) && t.RelativeChild[k]).has(i) {
				return true
			}
		}
		return false
	case registry.TestGlob:
		path := strings.TrimPrefix(e.Path(), "./")
		return path != "" && m.Glob(t.Value).Match(path)
	case registry.TestPseudo:
		if len(t.Pseudo.Types) > 0 && !slices.Contains(t.Pseudo.Types, e.Type.Name) {
			return false
		}
		return t.Pseudo.Test(e.Fact, t.Value)
	}
	return false
}

func (m *Matcher) any(selectors []*registry.Selector, e *Entity, i int) bool {
	for _, sel := range selectors {
		if len(sel.Qualifiers) == 0 && m.MatchesEntity(sel, e, i) {
			return true
		}
	}
	return false
}

// Glob compiles a pattern once.
func (m *Matcher) Glob(pattern string) Glob {
	for at := m; at != nil; at = at.from {
		if g, ok := at.globs[pattern]; ok {
			return g
		}
	}
	if m.globs == nil {
		m.globs = map[string]Glob{}
	}
	g := CompileGlob(pattern)
	m.globs[pattern] = g
	return g
}

// fitsID reports whether e is called id: that is its id or its name.
func fitsID(id string, e *Entity) bool {
	if e.ID == id {
		return true
	}
	if e.Type.PathAttr != "" {
		id = strings.TrimPrefix(id, "./")
		if e.ID == id {
			return true
		}
	}
	name, ok := e.Fact("name")
	return ok && name == id
}

// Fact is what selectors compare of an attribute: its text, where a path begins without
// "./". An entity that does not carry its name is named by its id, or by the last segment
// of it where the type has a path.
func (e *Entity) Fact(attr string) (string, bool) {
	if text, ok := e.Attr(attr); ok {
		if attr == e.Type.PathAttr {
			text = strings.TrimPrefix(text, "./")
		}
		return text, true
	}
	if attr != "name" {
		return "", false
	}
	if e.Type.PathAttr == "" {
		return e.ID, true
	}
	id := strings.TrimRight(e.ID, "/")
	return id[strings.LastIndexByte(id, '/')+1:], true
}

func fitsAttr(t *registry.Test, e *Entity) bool {
	text, ok := e.Fact(t.Attr)
	if !ok {
		return false
	}
	value := t.Value
	if t.Attr == e.Type.PathAttr && (t.Op == "=" || t.Op == "^=" || t.Op == "|=") {
		value = strings.TrimPrefix(value, "./")
	}
	if t.Op == "~=" {
		return fitsMember(value, text, t.Fold, e.Attribute(t.Attr))
	}
	if t.Fold {
		text = strings.ToLower(text)
	}
	switch t.Op {
	case "":
		return true
	case "=":
		return text == value
	case "^=":
		return value != "" && strings.HasPrefix(text, value)
	case "$=":
		return value != "" && strings.HasSuffix(text, value)
	case "*=":
		return value != "" && strings.Contains(text, value)
	case "|=":
		return strings.HasPrefix(text, value) && (len(text) == len(value) || text[len(value)] == '-')
	}
	return false
}

// fitsMember reports whether value is a member of a list, or a blank-separated word of a
// text.
func fitsMember(value, text string, fold bool, a *Attribute) bool {
	if value == "" {
		return false
	}
	if a != nil && a.List != nil {
		return slices.ContainsFunc(a.List, func(member string) bool {
			return member == value || fold && strings.ToLower(member) == value
		})
	}
	for word := range strings.FieldsSeq(text) {
		if word == value || fold && strings.ToLower(word) == value {
			return true
		}
	}
	return false
}
