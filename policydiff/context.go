package policydiff

import (
	"cmp"
	"slices"
	"strings"

	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/registry"
	"umwelt/world"
)

// mostOptions bounds how many ways of being active are told apart for one type.
const mostOptions = 256

// option is one way in which entities of a type can be active: none named, one, or several
// at once. Verdict says which of the qualifiers then hold.
type option struct {
	refs    []cascade.Ref
	verdict string // a byte per qualifier
}

// contexts are what can be active, one context for each combination of qualifiers that can
// hold together, those that name the fewest entities first. left is how many more there
// are.
func (c *comparison) contexts(qualifiers []*registry.Compound) (out [][]cascade.Ref, left int, list diag.List) {
	byType := map[*registry.EntityType][]*registry.Compound{}
	seen := map[string]bool{}
	for _, q := range qualifiers {
		if key := compoundKey(q); q.Type != nil && !seen[key] {
			seen[key] = true
			byType[q.Type] = append(byType[q.Type], q)
		}
	}
	given := c.options.Context
	var options [][]option
	for _, t := range c.new.bound.Registry.Types() {
		named := slices.ContainsFunc(given, func(r cascade.Ref) bool { return names(c.new.bound.Registry, r, t) })
		if byType[t] == nil || named {
			continue
		}
		of, more, l := c.optionsOf(t, byType[t])
		if l.HasErrors() {
			return nil, 0, l
		}
		left += more
		options = append(options, of)
	}
	total := 1
	for _, of := range options {
		if total *= len(of); total > 1<<30 {
			total = 1 << 30
			break
		}
	}
	most := cmp.Or(c.options.MaxContexts, DefaultContexts)
	combine(options, most, func(refs []cascade.Ref) { out = append(out, append(slices.Clone(given), refs...)) })
	return out, left + total - len(out), nil
}

// combine yields combinations of one option of each list, by the number of entities they
// name, and most of them at most.
func combine(options [][]option, most int, yield func([]cascade.Ref)) {
	heaviest := make([]int, len(options)+1) // what the lists from here on can name at most
	for i := len(options) - 1; i >= 0; i-- {
		for _, o := range options[i] {
			heaviest[i] = max(heaviest[i], len(o.refs))
		}
		heaviest[i] += heaviest[i+1]
	}
	n := 0
	var refs []cascade.Ref
	var walk func(i, weight int)
	walk = func(i, weight int) {
		if n >= most || weight > heaviest[i] {
			return
		}
		if i == len(options) {
			n++
			yield(refs)
			return
		}
		for _, o := range options[i] {
			if len(o.refs) <= weight {
				before := len(refs)
				refs = append(refs, o.refs...)
				walk(i+1, weight-len(o.refs))
				refs = refs[:before]
			}
		}
	}
	for weight := 0; weight <= heaviest[0] && n < most; weight++ {
		walk(0, weight)
	}
}

// known leaves out of refs what only the other side's world has: there it cannot have been
// active. What neither has stays, and is an error.
func (c *comparison) known(s, other *side, refs []cascade.Ref) []cascade.Ref {
	if s.world == other.world {
		return refs
	}
	return slices.DeleteFunc(slices.Clone(refs), func(r cascade.Ref) bool { return !s.has(r) && other.has(r) })
}

// has reports whether a reference names an entity of the world, by id or by name.
func (s *side) has(r cascade.Ref) bool {
	known, asked := s.refs[r]
	if !asked {
		_, list := s.engine.Resolve([]cascade.Ref{r})
		known = !list.HasErrors()
		s.refs[r] = known
	}
	return known
}

// optionsOf are the ways in which entities of a type can be active that the qualifiers tell
// apart. One that a world does not have leaves it as if it were not named.
func (c *comparison) optionsOf(t *registry.EntityType, qualifiers []*registry.Compound) (out []option, left int, list diag.List) {
	old, list := newHolding(c.old.world, c.old.bound.Registry, qualifiers)
	if list.HasErrors() {
		return nil, 0, list
	}
	now := old
	if c.new.world != c.old.world {
		if now, list = newHolding(c.new.world, c.new.bound.Registry, qualifiers); list.HasErrors() {
			return nil, 0, list
		}
	}
	name := t.Name
	if len(c.new.bound.Registry.TypesNamed(name)) > 1 {
		name = t.Taxon.Name + "|" + name
	}
	seen := map[string]bool{}
	add := func(refs []cascade.Ref, verdict string) {
		switch {
		case seen[verdict]:
		case len(out) >= mostOptions:
			seen[verdict] = true
			left++
		default:
			seen[verdict] = true
			out = append(out, option{refs, verdict})
		}
	}
	add(nil, old.byDefault(t)+now.byDefault(t))
	for _, p := range c.pairs {
		if p.entity.Type == t {
			add([]cascade.Ref{{Type: name, ID: p.entity.ID}}, old.whileNamed(int(p.old), t)+now.whileNamed(int(p.new), t))
		}
	}
	// Several at once: what any of them meets holds.
	singles := slices.Clone(out[1:])
	for i := 1; i < len(out) && left == 0; i++ {
		for _, s := range singles {
			if len(out[i].refs) == 0 || slices.Contains(out[i].refs, s.refs[0]) {
				continue
			}
			add(append(slices.Clone(out[i].refs), s.refs...), either(out[i].verdict, s.verdict))
		}
	}
	return out, left, nil
}

func either(a, b string) string {
	out := []byte(a)
	for i := range out {
		out[i] = max(out[i], b[i])
	}
	return string(out)
}

// holding says which qualifiers each entity of a world meets. It is worked out by the same
// index that rules are matched with.
type holding struct {
	r *cascade.Resolution
	n int
}

func newHolding(w *world.World, reg *registry.Registry, qualifiers []*registry.Compound) (holding, diag.List) {
	b := &registry.Bound{Registry: reg}
	for i, q := range qualifiers {
		b.Rules = append(b.Rules, &registry.Rule{Index: i, Layer: registry.Unlayered, Selector: &registry.Selector{Taxon: q.Type.Taxon, Target: q}})
	}
	r, list := cascade.New(w, b).Resolve(nil)
	return holding{r, len(qualifiers)}, list
}

func (h holding) of(entity int) string {
	out := []byte(strings.Repeat("0", h.n))
	for _, r := range h.r.Rules(entity) {
		out[r.Index] = '1'
	}
	return string(out)
}

// whileNamed is what is met while an entity is named, which the world lacks where it is -1.
func (h holding) whileNamed(entity int, t *registry.EntityType) string {
	if entity < 0 {
		return h.byDefault(t)
	}
	return h.of(entity)
}

// byDefault is what is met where nothing of the type is named.
func (h holding) byDefault(t *registry.EntityType) string {
	out := strings.Repeat("0", h.n)
	for _, i := range h.r.Context() {
		if h.r.World().Entities[i].Type == t {
			out = either(out, h.of(i))
		}
	}
	return out
}

// names reports whether a reference names an entity of the type.
func names(reg *registry.Registry, r cascade.Ref, t *registry.EntityType) bool {
	taxon, name, qualified := strings.Cut(r.Type, "|")
	if !qualified {
		return strings.EqualFold(r.Type, t.Name)
	}
	return strings.EqualFold(name, t.Name) && reg.Taxon(taxon) == t.Taxon
}
