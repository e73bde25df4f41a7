package narrow

import (
	"slices"
	"strconv"
	"strings"

	"umwelt/ast"
	"umwelt/registry"
)

// replace puts rules for what a unit was needed for in its place, or says why there can be none.
func (n *narrower) replace(u *unit) {
	var carried []*requirement
	for _, r := range n.reqs {
		if slices.Contains(n.c.judge(r).by, u) {
			carried = append(carried, r)
		}
	}
	sel := parseSelector(u.rules[0].rule.Selector.Text)
	if sel == nil {
		u.whole = "its selector cannot be written anew"
		return
	}
	if slices.ContainsFunc(carried, func(r *requirement) bool { return r.kind == newNames && (u.name == "visible" || n.opens(u, r.id)) }) {
		u.whole = "new names in a directory are seen by it alone"
		return
	}
	if n.followed(u) {
		u.whole = "without it another rule denies what follows it"
		return
	}
	files := n.filePlanFor(u, carried)
	if files != nil && len(files.without)+len(files.unsayable) > 0 {
		u.whole = "rules for just what was needed cannot be written"
		return
	}
	var drafts []draft
	add := func(t *registry.EntityType, tests []ast.Simple, property string, r *rung, plain bool) {
		d := declare(property, "true")
		if decl := u.rules[0].decl; decl.Important {
			d.Flag = "important"
		} else if decl.Locked {
			d.Flag = "locked"
		}
		// A selector that was unfolded from several gives a rule each.
		for _, s := range n.selectorsOf(u) {
			drafts = append(drafts, draft{rule: newRule(n.narrowed(s, t, tests, plain), d), step: r.step, admits: r.admits, origin: originTightened, rung: r})
			if plain {
				break
			}
		}
	}
	plainEverywhere := !n.refine && !n.competes(u)
	rungs := func(list []*rung, t *registry.EntityType, property string) {
		for _, r := range list {
			add(t, r.tests(), property, r, !n.refine && (plainEverywhere || n.alone(t, r)) && contained(u.rules[0].rule.Selector, r))
		}
	}
	if files != nil {
		rungs(files.change, n.t.known.file, "editable")
		rungs(files.see, n.t.known.file, "visible")
		rungs(files.dirs, n.t.known.dir, "visible")
	}
	done, exactly := map[string]bool{}, &rung{step: Exact}
	for _, r := range carried {
		t := typeOf(n.t.world.Registry, r.typ)
		switch r.kind {
		case allow:
			if !done[r.typ+"\x00"+r.id] {
				done[r.typ+"\x00"+r.id] = true
				add(t, []ast.Simple{nameTest(t, r.id)}, "allow", exactly, plainEverywhere || u.rules[0].rule.Selector.Target.Type != t)
			}
		case reach:
			tests := endpointTests(r.end)
			if key := ast.FormatSelector(chain(&ast.Compound{Simples: tests})); !done[key] {
				done[key] = true
				add(t, tests, "allow", exactly, true)
			}
		}
	}
	shown := map[*requirement]bool{}
	for _, r := range carried {
		shown[r] = r.kind == seeDir && n.shownBy(u, r)
	}
	u.state = replaced
	u.instead = drafts
	for _, r := range carried {
		u.carries[r] = r.kind != seeDir || shown[r]
	}
}

func endpointTests(e endpoint) []ast.Simple {
	tests := []ast.Simple{attrTest("host", "=", e.host)}
	if e.port != 0 {
		tests = append(tests, attrTest("port", "=", strconv.Itoa(e.port)))
	}
	if e.protocol != "" {
		tests = append(tests, attrTest("protocol", "=", e.protocol))
	}
	return tests
}

// opens reports whether a unit keeps a directory itself open that another would close.
func (n *narrower) opens(u *unit, dir string) bool {
	d, i := n.t.known.dir, n.t.known.dirIndex(dir)
	if i < 0 || n.t.world.Entities[i].Type != d || d.Property(u.name) == nil {
		return false
	}
	list := n.c.entity(i, d.Property(u.name))
	w := first(list, nil)
	return w != nil && w.unit == u && slices.ContainsFunc(list, func(x choice) bool { return !x.yes })
}

// followed reports whether others follow what a unit allows, and something else would deny
// it to them.
func (n *narrower) followed(u *unit) bool {
	t := typeOf(n.t.world.Registry, "tool")
	if t == nil || t.Property("allow") == nil || t.Property("allow").Through == "" {
		return false
	}
	p := t.Property("allow")
	for _, i := range n.t.of(t) {
		for _, f := range n.t.res.Engine().Followed(n.t.res.Entity(i), p) {
			q := f.Entity.Type.Property(p.Follows)
			if f.Index < 0 || q == nil {
				continue
			}
			list := n.c.entity(f.Index, q)
			if w := first(list, nil); w != nil && w.unit == u && slices.ContainsFunc(list, func(x choice) bool { return !x.yes }) {
				return true
			}
		}
	}
	return false
}

// shownBy reports whether a directory appears since a unit is about it.
func (n *narrower) shownBy(u *unit, r *requirement) bool {
	v := n.c.ownDir(r)
	return v.ok && slices.Contains(v.by, u)
}

// filePlanFor is the ladder's rules for the paths that a unit was needed for, nil for none.
func (n *narrower) filePlanFor(u *unit, carried []*requirement) *filePlan {
	var paths []pathNeed
	var entries []string
	for _, r := range carried {
		p := pathNeed{path: r.id, tally: r.tally, see: true}
		switch r.kind {
		case changeFile:
			if w := first(n.c.file(r)("editable"), r); w != nil && w.unit == u {
				p.change = true
			}
		case seeFile:
		case seeDir:
			// What only lets it appear by its content is not what a rule about it is for.
			if p.dir = true; !n.shownBy(u, r) {
				continue
			}
		case newNames:
			entries = append(entries, r.id)
			continue
		default:
			continue
		}
		paths = append(paths, p)
	}
	if paths == nil && entries == nil {
		return nil
	}
	o := n.in.Options
	if n.exact {
		o.Steps = []Step{Exact, Entries}
	}
	plan := planFor(&o, &n.slack, n.known, n.material.made, paths, entries, n.needed)
	return plan
}

// selectorsOf are the selectors of a unit, each once.
func (n *narrower) selectorsOf(u *unit) []*ast.Selector {
	var out []*ast.Selector
	seen := map[string]bool{}
	for _, d := range u.rules {
		if s := parseSelector(d.rule.Selector.Text); s != nil && !seen[d.rule.Selector.Text] {
			seen[d.rule.Selector.Text] = true
			out = append(out, s)
		}
	}
	return out
}

// narrowed is a selector for part of what another one is for. Plain, its target has the
// new tests alone; else they are a condition that counts nothing, so that the rule fits less
// and stands where it stood.
func (n *narrower) narrowed(s *ast.Selector, t *registry.EntityType, tests []ast.Simple, plain bool) *ast.Selector {
	before, joins := prefixOf(s)
	last := *s.Compounds[len(s.Compounds)-1]
	if plain {
		last = ast.Compound{Type: t.Name, Simples: tests}
		if len(n.t.world.Registry.TypesNamed(t.Name)) > 1 {
			last.Taxon = t.Taxon.Name
		}
	} else if len(tests) > 0 {
		inner := &ast.Compound{Simples: tests}
		if last.Type == "" || last.Type == "*" {
			// The new rule is about one type, and the type counts nothing in here.
			last.Type, inner.Type = "*", t.Name
		}
		where := ast.Simple{Kind: ast.Pseudo, Name: "where", HasArg: true, Selectors: []*ast.Selector{chain(inner)}}
		last.Simples = append(slices.Clone(last.Simples), where)
	}
	return &ast.Selector{Compounds: append(before, &last), Combinators: joins}
}

// competes reports whether anything takes away what a unit gives, so that its precedence
// matters.
func (n *narrower) competes(u *unit) bool {
	for _, v := range n.units {
		if v == u || v.state != alive || v.kind == granting {
			continue
		}
		for _, d := range v.rules {
			for _, tv := range d.decl.Typed {
				same := slices.ContainsFunc(u.rules[0].decl.Typed, func(x registry.TypedValue) bool {
					return x.Property == tv.Property || x.Property.Entity == tv.Property.Entity && slices.Contains([]string{"visible", "editable"}, tv.Property.Name)
				})
				if same && n.t.res.Holds(d.rule) {
					return true
				}
			}
		}
	}
	return false
}

// alone reports whether no rule, in any context, takes anything from the one path that an
// exact rung is for, so that precedence does not matter there.
func (n *narrower) alone(t *registry.EntityType, r *rung) bool {
	i, known := n.t.known.fileAt[r.path]
	if r.step != Exact || !known || t != n.t.known.file {
		return false
	}
	return !slices.ContainsFunc(n.t.res.Rules(i), func(rule *registry.Rule) bool {
		return slices.ContainsFunc(rule.Declarations, func(d *registry.Declaration) bool {
			return (d.Name == "visible" || d.Name == "editable") && kindOf(d) != granting
		})
	})
}

// contained reports whether a rung surely fits only what a selector's target fits.
func contained(sel *registry.Selector, r *rung) bool {
	if r.step == Exact {
		return true // it is one that the selector fitted
	}
	in := r.dir + "/"
	if r.dir == "" {
		in = ""
	}
	for _, test := range sel.Target.Tests {
		switch {
		case test.Kind == registry.TestAttr && test.Attr == "path" && test.Op == "^=" && !test.Fold && strings.HasPrefix(in, test.Value):
		case test.Kind == registry.TestGlob && strings.HasSuffix(test.Value, "/**") && !strings.ContainsAny(strings.TrimSuffix(test.Value, "/**"), `*?[]{}\`) &&
			strings.HasPrefix(in, strings.TrimSuffix(test.Value, "**")):
		default:
			return false
		}
	}
	return len(sel.Structure) == 0 || sel.Structure[0].Compound.Type.Root
}
