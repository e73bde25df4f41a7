package delegate

import (
	"slices"
	"strconv"
	"strings"

	"umwelt/cascade"
	"umwelt/registry"
	"umwelt/world"
)

// Statement says what one property is for everything of a type: the value of the narrowest
// entry that something falls under. The first entry falls under none other.
type Statement struct {
	Property *registry.Property
	Entries  []Entry
	Decided  bool // a rule or a fixed constraint decides it somewhere
}

// Entry is one value and what it holds for.
type Entry struct {
	Scope  Scope
	Answer Answer
}

// Answer is a value with the sets that must each be met, if any. A nil Value is none.
// ByName says that the name decides, so that nothing can be said.
type Answer struct {
	Value  *registry.Value
	Sets   [][]string
	ByName bool
}

// Scope is what an entry holds for.
type Scope struct {
	Kind   ScopeKind
	Entity *world.Entity // nil for All
}

// ScopeKind is the kind of a Scope, the wider ones first.
type ScopeKind uint8

// The kinds of scope.
const (
	All   ScopeKind = iota // everything of the type
	Below                  // what lies, or comes to lie, below a directory
	Later                  // what is made later in a directory, or in new ones there
	One                    // the entity
)

// Statements are what a resolution says of everything, in vocabulary order, with the
// fewest entries. A property that nothing has a value for, and one without a direction
// that no rule decides, is left out. Of a type that the world has nothing of, it is said what
// is refused, where a rule speaks of it.
func Statements(r *cascade.Resolution) []Statement {
	w := r.World()
	byType := map[*registry.EntityType][]int{}
	for _, i := range r.Order() {
		t := w.Entities[i].Type
		byType[t] = append(byType[t], int(i))
	}
	var out []Statement
	for _, t := range r.Registry().Types() {
		made := mayBeMade(r.Registry(), t)
		if len(byType[t]) == 0 && !made {
			out = append(out, refusals(r.Bound(), t)...)
			continue
		}
		for _, p := range t.Properties {
			s := newShape(r, p)
			if made {
				s.tree(byType)
			} else {
				s.flat(byType[t])
			}
			if st := s.statement(); st.Decided || p.Restrictive != registry.NoDirection && s.valued() {
				out = append(out, st)
			}
		}
	}
	return out
}

// refusals are what there is to say of a type that rules name and the world has nothing of:
// what does not exist is permitted nothing.
func refusals(b *registry.Bound, t *registry.EntityType) []Statement {
	if !slices.ContainsFunc(b.Rules, func(rule *registry.Rule) bool { return rule.Selector.Target.Type == t && !rule.Selector.Never }) {
		return nil
	}
	var out []Statement
	for _, p := range t.Properties {
		if permission(p) {
			out = append(out, Statement{p, []Entry{{Scope{Kind: All}, Answer{Value: p.RestrictiveBool()}}}, false})
		}
	}
	return out
}

// mayBeMade reports whether more of the type may come to lie below a directory.
func mayBeMade(reg *registry.Registry, t *registry.EntityType) bool {
	return t.PathAttr != "" && slices.ContainsFunc(holders(reg, t), func(u *registry.EntityType) bool { return u.PathAttr != "" })
}

// holders are the types that an entity of the type may lie in.
func holders(reg *registry.Registry, t *registry.EntityType) []*registry.EntityType {
	var out []*registry.EntityType
	for _, name := range t.Parents {
		for _, u := range reg.TypesNamed(name) {
			if u.Taxon == t.Taxon {
				out = append(out, u)
			}
		}
	}
	return out
}

// shape is the places of one property and their answers, as a tree: a place holds for what
// is below it, but for the places further down.
type shape struct {
	r       *cascade.Resolution
	p       *registry.Property
	answers []Answer
	known   map[string]int
	places  []place
	decided bool
}

// place is a node of the tree. A leaf has an answer; what else there is has none of its own.
type place struct {
	scope  Scope
	parent int // -1 for the first
	answer int // index into shape.answers, -1 for none
}

func newShape(r *cascade.Resolution, p *registry.Property) *shape {
	s := &shape{r: r, p: p, known: map[string]int{}, places: []place{{Scope{Kind: All}, -1, -1}}}
	switch { // the first answer is preferred to others that need as many entries
	case permission(p):
		s.answer(Answer{Value: p.RestrictiveBool()})
	case p.Restrictive == registry.NoDirection:
		s.answer(Answer{})
	}
	return s
}

// permission reports whether p is a yes or no with a direction.
func permission(p *registry.Property) bool {
	return p.Type.Kind == registry.Boolean && p.Type.Shape == registry.One && p.Restrictive != registry.NoDirection
}

// answer is the number of an answer; equal ones have one.
func (s *shape) answer(a Answer) int {
	b := strconv.AppendBool(nil, a.ByName)
	if a.Value != nil {
		b = appendText(b, a.Value.Text)
		for _, m := range a.Value.List {
			b = appendText(b, m)
		}
	}
	for _, set := range a.Sets {
		b = append(b, ';')
		for _, m := range set {
			b = appendText(b, m)
		}
	}
	key := string(b)
	i, ok := s.known[key]
	if !ok {
		i = len(s.answers)
		s.known[key] = i
		s.answers = append(s.answers, a)
	}
	return i
}

// appendText adds a text behind its length, so that no two lists of texts come to the same.
func appendText(b []byte, text string) []byte {
	return append(append(strconv.AppendInt(b, int64(len(text)), 10), ':'), text...)
}

func (s *shape) valued() bool {
	return slices.ContainsFunc(s.places, func(pl place) bool { return pl.answer >= 0 && s.answers[pl.answer].Value != nil })
}

// of is the answer for an entity of the world.
func (s *shape) of(i int) int {
	e := s.r.Get(i, s.p)
	s.decided = s.decided || e.Origin == cascade.Cascade || e.Origin == cascade.Fixed || e.Origin == cascade.Derived
	return s.answer(Answer{Value: e.Value, Sets: e.Sets})
}

func (s *shape) add(scope Scope, parent, answer int) int {
	s.places = append(s.places, place{scope, parent, answer})
	return len(s.places) - 1
}

// flat lists entities of a type that have no place.
func (s *shape) flat(entities []int) {
	for _, i := range entities {
		s.add(Scope{One, &s.r.World().Entities[i]}, 0, s.of(i))
	}
}

// tree lists entities where they lie, with what may be made beside them and with what the
// world leaves out, of which nothing is granted.
func (s *shape) tree(byType map[*registry.EntityType][]int) {
	w, t := s.r.World(), s.p.Entity
	at := map[int32]int{world.NoParent: 0} // places of directories by entity
	paths := map[string]int{"": 0}
	var dirs []int
	for _, u := range holders(s.r.Registry(), t) {
		if u.Root {
			continue
		}
		dirs = append(dirs, byType[u]...)
	}
	slices.SortFunc(dirs, func(a, b int) int { return strings.Compare(w.Entities[a].Path(), w.Entities[b].Path()) })
	root := w.RootEntity()
	at[int32(root)] = 0
	s.later(root, 0)
	for _, i := range dirs {
		e := &w.Entities[i]
		parent := s.holder(e, paths)
		at[int32(i)] = s.add(Scope{Below, e}, parent, -1)
		paths[e.Path()] = at[int32(i)]
		s.later(i, at[int32(i)])
	}
	for _, i := range byType[t] {
		e := &w.Entities[i]
		s.add(Scope{One, e}, s.holder(e, paths), s.of(i))
	}
	if !permission(s.p) {
		return
	}
	refused := s.answer(Answer{Value: s.p.RestrictiveBool()})
	for i := range w.Withheld {
		e := &w.Withheld[i]
		if e.Type == t {
			s.add(Scope{One, e}, s.holder(e, paths), refused)
		}
		if slices.Contains(holders(s.r.Registry(), t), e.Type) {
			s.add(Scope{Below, e}, s.holder(e, paths), refused)
		}
	}
}

// holder is the place of the deepest directory whose path leads to an entity.
func (s *shape) holder(e *world.Entity, paths map[string]int) int {
	path := strings.TrimPrefix(e.Path(), "./")
	for path != "" {
		path = path[:max(0, strings.LastIndexByte(path, '/'))]
		if i, ok := paths[path]; ok {
			return i
		}
	}
	return 0
}

// later adds what may be made in a directory. Where not all is known of what lies there
// already, nothing of the rest is granted.
func (s *shape) later(dir, place int) {
	scope := Scope{Kind: Later}
	if dir < 0 {
		if permission(s.p) {
			s.add(scope, place, s.answer(Answer{Value: s.p.RestrictiveBool()}))
		}
		return
	}
	e := &s.r.World().Entities[dir]
	scope.Entity = e
	switch f := s.r.Future(dir, s.p.Entity, s.p); {
	case !e.Listed:
		if permission(s.p) {
			s.add(scope, place, s.answer(Answer{Value: s.p.RestrictiveBool()}))
		}
	case f.Decided():
		s.decided = s.decided || f.Winner != nil
		a := Answer{Value: f.Values[0]}
		if s.p.Comparison == registry.Overlap && a.Value != nil {
			a = Answer{ByName: true} // its sets are not known apart
		}
		s.add(scope, place, s.answer(a))
	default:
		s.decided = true
		s.add(scope, place, s.answer(Answer{ByName: true}))
	}
}
