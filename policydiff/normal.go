package policydiff

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"umwelt/registry"
)

// Verdict says whether two views give the same answers whatever exists.
type Verdict uint8

// The verdicts.
const (
	Undecided  Verdict = iota // nothing differs in this world, and no proof for all was found
	Equivalent                // no world and no context tells them apart
	Different                 // this world tells them apart
)

func (v Verdict) String() string { return [...]string{"undecided", "equivalent", "different"}[v] }

// Equivalence is a verdict over all worlds. Why is one plain sentence without a final
// stop.
type Equivalence struct {
	Verdict Verdict
	Why     string
}

// equivalence is the verdict where groups differ. drifted says that the pairs' worlds do not
// hold the same, and noSecrets that secrets were not compared.
func equivalence(pairs []Pair, groups []Group, drifted, noSecrets bool) Equivalence {
	if len(groups) > 0 {
		if drifted && decide(pairs[0].Old.Bound(), pairs[0].New.Bound(), noSecrets).Verdict == Equivalent {
			return Equivalence{Different, "the rules are equivalent in every world, and what exists is not the same any more"}
		}
		return Equivalence{Different, "the differences of this world tell the views apart"}
	}
	if len(pairs) == 0 {
		return Equivalence{Undecided, "nothing was compared"}
	}
	return decide(pairs[0].Old.Bound(), pairs[0].New.Bound(), noSecrets)
}

// Decide says whether two views bound to one registry can be shown to give the same answers
// in every world and context. It reads the rules alone and knows no world, so it never says
// Different. The argument is sound and not complete: it drops what can never win, orders
// what may stand in any order, and compares what is left, property by property.
func Decide(a, b *registry.Bound) Equivalence { return decide(a, b, false) }

// decide is Decide, where secrets are left out if noSecrets is set.
func decide(a, b *registry.Bound, noSecrets bool) Equivalence {
	if !maps.Equal(pinned(a), pinned(b)) {
		return Equivalence{Undecided, "the views name different entities, and naming one can bring it into a world"}
	}
	differs := differing(a, b)
	for _, t := range a.Registry.Types() {
		for _, p := range t.Properties {
			if differs[p] && !(noSecrets && p.Secret) {
				return Equivalence{Undecided, "their rules about " + t.Name + "." + p.Name + " differ in a way that some other world might show"}
			}
		}
	}
	if noSecrets && (setsSecrets(a) || setsSecrets(b)) {
		return Equivalence{Undecided, "all but the secrets is equivalent, and those were not compared"}
	}
	return Equivalence{Equivalent, "the same rules compete for every property, up to an order that cannot matter and rules that can never win"}
}

// setsSecrets reports whether a rule sets a property that is never printed.
func setsSecrets(b *registry.Bound) bool {
	return slices.ContainsFunc(b.Rules, func(r *registry.Rule) bool {
		return slices.ContainsFunc(r.Declarations, func(d *registry.Declaration) bool {
			return slices.ContainsFunc(d.Typed, func(t registry.TypedValue) bool { return t.Property.Secret })
		})
	})
}

// differing are the properties of which it cannot be shown that the rules of both views
// make the same of them for every entity in every context.
func differing(a, b *registry.Bound) map[*registry.Property]bool {
	na, nb := candidatesOf(a), candidatesOf(b)
	out := map[*registry.Property]bool{}
	for _, t := range a.Registry.Types() {
		for _, p := range t.Properties {
			x, y := na[p], nb[p]
			same := slices.Equal(inSequence(x), inSequence(y)) ||
				max(len(x), len(y)) <= mostContenders && slices.Equal(normal(p, x), normal(p, y))
			out[p] = !same
		}
	}
	return out
}

// mostContenders bounds the search for a proof, whose time grows with the square of the
// declarations of one property.
const mostContenders = 4000

// pinned are the entities that a view brings into being or names.
func pinned(b *registry.Bound) map[string]bool {
	out := map[string]bool{}
	for i, list := range [][]registry.Entity{b.Pins(), b.Entities} {
		for _, e := range list {
			var k strings.Builder
			k.WriteString(strconv.Itoa(i) + strconv.Quote(e.Type) + strconv.Quote(e.ID))
			for _, name := range slices.Sorted(maps.Keys(e.Attributes)) {
				k.WriteString(strconv.Quote(name) + strconv.Quote(e.Attributes[name]))
			}
			out[k.String()] = true
		}
	}
	return out
}

// contender is a declaration of one property as far as its answers can depend on it.
type contender struct {
	rule  *registry.Rule
	decl  *registry.Declaration
	value *registry.Value
	conds []string // sorted: all must hold for it to apply
	equal [][2]string
}

// candidatesOf sorts the declarations of a view by property, in order of precedence.
func candidatesOf(b *registry.Bound) map[*registry.Property][]contender {
	out := map[*registry.Property][]contender{}
	for _, r := range b.Rules {
		if r.Selector.Never {
			continue
		}
		for _, d := range r.Declarations {
			for _, t := range d.Typed {
				if r.Selector.Taxon != nil && r.Selector.Taxon != t.Property.Entity.Taxon {
					continue // no entity of the type is in that taxon
				}
				c := contender{rule: r, decl: d, value: t.Value}
				c.conditions(t.Property.Entity)
				out[t.Property] = append(out[t.Property], c)
			}
		}
	}
	for _, list := range out {
		slices.SortStableFunc(list, before)
	}
	return out
}

// before is the precedence of the cascade, the strongest first.
func before(a, b contender) int {
	if x, y := a.decl.Important, b.decl.Important; x != y {
		return compareBool(y, x)
	}
	layer := cmp.Compare(b.rule.Layer, a.rule.Layer)
	if a.decl.Important {
		layer = -layer
	}
	return cmp.Or(layer, b.rule.Selector.Specificity.Compare(a.rule.Selector.Specificity),
		cmp.Compare(b.decl.Order, a.decl.Order), cmp.Compare(b.rule.Index, a.rule.Index))
}

// conditions takes a selector apart into conditions on an entity of type t, so that one
// contender applies wherever another does if its conditions are among the other's.
func (c *contender) conditions(t *registry.EntityType) {
	sel := c.rule.Selector
	c.conds = testKeys(sel.Target.Tests)
	if sel.Target.Type == nil && slices.ContainsFunc(sel.Target.Tests, func(t registry.Test) bool { return t.Classes > 0 }) {
		var tests []registry.Test
		for i := 0; i < len(sel.Target.Tests); i++ {
			test := sel.Target.Tests[i]
			if n := test.Classes; n > 0 && t.Dotted {
				test.Value, i = test.Dotted, i+n
			}
			test.Dotted, test.Classes = "", 0
			tests = append(tests, test)
		}
		c.conds = testKeys(tests)
	}
	for _, test := range sel.Target.Tests {
		if test.Kind == registry.TestAttr && test.Op == "=" && !test.Fold {
			c.equal = append(c.equal, [2]string{test.Attr, strings.TrimPrefix(test.Value, "./")})
		}
	}
	if len(sel.Structure) > 0 {
		c.conds = append(c.conds, "in "+structureKey(sel.Structure))
	}
	for _, q := range qualifierKeys(sel) {
		c.conds = append(c.conds, "while "+q)
	}
	slices.Sort(c.conds)
}

// covers reports whether c applies wherever d does.
func (c *contender) covers(d *contender) bool {
	if len(c.conds) > len(d.conds) {
		return false
	}
	for _, x := range c.conds {
		if _, ok := slices.BinarySearch(d.conds, x); !ok {
			return false
		}
	}
	return true
}

// disjoint reports whether no entity fits both.
func (c *contender) disjoint(d *contender) bool {
	for _, x := range c.equal {
		for _, y := range d.equal {
			if x[0] == y[0] && x[1] != y[1] {
				return true
			}
		}
	}
	return false
}

func (c *contender) key() string {
	return strings.Join(c.conds, " & ") + " → " + listKey(c.value)
}

// normal is the same for two lists of contenders only where they give the same answers:
// the same value, set or not set alike, for every entity in every context.
func normal(p *registry.Property, list []contender) []string {
	locked := slices.ContainsFunc(list, func(c contender) bool { return c.decl.Locked })
	switch {
	case locked, p.Repeatable, p.Comparison == registry.Overlap, p.Comparison == registry.Pattern,
		p.Comparison == registry.In && p.Type.Shape != registry.Set:
		return inSequence(list)
	case p.Comparison == registry.AtMost:
		return strongest(list, func(c, d *contender) bool { return c.value.Num <= d.value.Num })
	case p.Comparison == registry.AtLeast:
		return strongest(list, func(c, d *contender) bool { return c.value.Num >= d.value.Num })
	case p.Comparison == registry.In:
		return strongest(list, func(c, d *contender) bool {
			return !slices.ContainsFunc(c.value.List, func(x string) bool { return !slices.Contains(d.value.List, x) })
		})
	}
	return commuted(reduced(list))
}

// inSequence keeps everything that can show: the order, the flags, which declarations are
// one, and how layers follow one another.
func inSequence(list []contender) []string {
	var layers, orders []int
	for _, c := range list {
		layers, orders = append(layers, c.rule.Layer), append(orders, c.decl.Order)
	}
	for _, x := range []*[]int{&layers, &orders} {
		slices.Sort(*x)
		*x = slices.Compact(*x)
	}
	out := make([]string, len(list))
	for i, c := range list {
		layer, _ := slices.BinarySearch(layers, c.rule.Layer)
		order, _ := slices.BinarySearch(orders, c.decl.Order)
		out[i] = c.key() + " " + strconv.Itoa(layer) + " " + strconv.Itoa(order) + " " + strconv.FormatBool(c.decl.Important) + " " + strconv.FormatBool(c.decl.Locked)
	}
	return out
}

// strongest leaves out every contender beside which another, at least as binding, always
// applies. The order of the rest does not matter.
func strongest(list []contender, binds func(c, d *contender) bool) []string {
	var out []string
	for i := range list {
		beaten := false
		for k := range list {
			if k == i || beaten {
				continue
			}
			c, d := &list[k], &list[i]
			beaten = c.covers(d) && binds(c, d) && !(d.covers(c) && binds(d, c) && k > i)
		}
		if !beaten {
			out = append(out, list[i].key())
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// reduced leaves out what can never win, and what would give way to an equal value anyway.
func reduced(list []contender) []contender {
	var out []contender
	for i := range list {
		if !slices.ContainsFunc(out, func(c contender) bool { return c.covers(&list[i]) }) {
			out = append(out, list[i])
		}
	}
	for i := len(out) - 1; i >= 0; i-- {
		for k := i + 1; k < len(out); k++ {
			same := out[i].value.Equal(out[k].value)
			if same && out[k].covers(&out[i]) {
				out = slices.Delete(out, i, i+1)
				break
			}
			if !same && !out[i].disjoint(&out[k]) {
				break
			}
		}
	}
	return out
}

// commuted writes contenders in the first of all the orders that neighbours which give the
// same value, or never apply together, may be swapped into.
func commuted(list []contender) []string {
	n := len(list)
	keys := make([]string, n)
	waits := make([]int, n) // how many earlier ones it must stay behind
	behind := make([][]int32, n)
	for i := range list {
		keys[i] = list[i].key()
		for k := range i {
			if !list[i].value.Equal(list[k].value) && !list[i].disjoint(&list[k]) {
				waits[i]++
				behind[k] = append(behind[k], int32(i))
			}
		}
	}
	var ready, out []string
	at := map[string]int{}
	for i := range list {
		at[keys[i]] = i
		if waits[i] == 0 {
			ready = append(ready, keys[i])
		}
	}
	slices.Sort(ready)
	for len(ready) > 0 {
		next := ready[0]
		ready = ready[1:]
		out = append(out, next)
		for _, k := range behind[at[next]] {
			if waits[k]--; waits[k] == 0 {
				i, _ := slices.BinarySearch(ready, keys[k])
				ready = slices.Insert(ready, i, keys[k])
			}
		}
	}
	return out
}
