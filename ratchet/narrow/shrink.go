package narrow

import (
	"slices"
	"strconv"

	"umwelt/ast"
	"umwelt/registry"
)

// shrinkBound lowers a bound to what was measured, with headroom. A bound that nothing
// measured stays.
func (n *narrower) shrinkBound(u *unit) {
	lowest, first := "", true
	for _, d := range u.rules {
		for _, v := range d.decl.Typed {
			raw, ok := n.boundFor(d.rule, v)
			if !ok || !first && raw != lowest {
				u.stuck = "nothing was measured of what it bounds"
				return
			}
			lowest, first = raw, false
		}
	}
	u.raw = lowest
}

// boundFor is what a bound shrinks to; "" where it stays.
func (n *narrower) boundFor(r *registry.Rule, v registry.TypedValue) (raw string, ok bool) {
	p := v.Property
	if p.Attribute != "" {
		level, known := n.levelFor(r, p)
		if !known {
			return "", false
		}
		if level < v.Value.Num {
			return strconv.FormatFloat(level, 'f', -1, 64), true
		}
		return "", true
	}
	for _, req := range n.reqs {
		if req.kind != spend || req.id != p.Name && "max-"+req.id != p.Name || p.Entity.Name != "resource" {
			continue
		}
		raw := boundText(p, withHeadroom(req.bound, n.in.Headroom))
		typed, problem := n.in.World.Registry.TypeText(p.Type, raw)
		if problem == "" && typed.Num < v.Value.Num && typed.Num >= req.bound {
			return raw, true
		}
		return "", true
	}
	return "", false
}

// levelFor is the highest level among the tools that were called and that a rule is about.
func (n *narrower) levelFor(r *registry.Rule, p *registry.Property) (float64, bool) {
	level, found := 0.0, false
	for _, req := range n.reqs {
		if req.kind != allow || req.typ != p.Entity.Name {
			continue
		}
		for _, i := range n.t.named(p.Entity, req.id) {
			if !slices.Contains(n.t.res.Rules(i), r) {
				continue
			}
			own, ok := levelOf(n.t.res.Entity(i))
			if !ok {
				return 0, false
			}
			found = true
			level = max(level, own, n.saidLevel(req))
		}
	}
	return level, found
}

// shrinkPatterns takes out the patterns that fitted no call. Where what was asked is not
// known, or none would be left, they stay: without any pattern every call would be allowed.
func (n *narrower) shrinkPatterns(u *unit) {
	if len(u.rules) == 0 || len(u.rules[0].decl.Typed) == 0 {
		return
	}
	list := u.rules[0].decl.Typed[0].Value.List
	used := make([]bool, len(list))
	any := false
	for _, req := range n.reqs {
		t := typeOf(n.t.world.Registry, req.typ)
		if req.kind != allow || t == nil {
			continue
		}
		about := false
		for _, i := range n.t.named(t, req.id) {
			for _, d := range u.rules {
				about = about || slices.Contains(n.t.res.Rules(i), d.rule)
			}
		}
		if !about {
			continue
		}
		if len(req.calls) == 0 {
			u.stuck = "what was asked is not known of every call"
			return
		}
		for k, text := range list {
			p := registry.ReadCallPattern(text)
			if !used[k] && slices.ContainsFunc(req.calls, func(c string) bool { return p.Admits(registry.ReadCall(c)) }) {
				used[k], any = true, true
			}
		}
	}
	if !any || !slices.Contains(used, false) {
		return
	}
	var kept []callRung
	for k, text := range list {
		if used[k] {
			kept = append(kept, callRung{pattern: text})
		}
	}
	u.raw = patternList(kept)
}

// added are rules for what the current view does not bound at all: what may be asked of a
// tool that takes commands, and what may be used up. They only restrict.
func (n *narrower) added() []draft {
	var out []draft
	reg := n.t.world.Registry
	for _, r := range n.reqs {
		if r.kind != allow || len(r.calls) == 0 {
			continue
		}
		t := typeOf(reg, r.typ)
		p := t.Property("allow-pattern")
		if p == nil || slices.ContainsFunc(n.t.named(t, r.id), func(i int) bool { return n.t.res.Get(i, p).Value != nil }) {
			continue
		}
		sel := qualified(reg, n.in.Context, t, []ast.Simple{nameTest(t, r.id)})
		rungs := callLadder(&n.in.Options, r.calls)
		step := Exact
		if slices.ContainsFunc(rungs, func(c callRung) bool { return c.step == Pattern }) {
			step = Pattern
		}
		out = append(out, draft{rule: newRule(sel, declare(p.Name, patternList(rungs))), step: step, origin: originNew})
	}
	t := typeOf(reg, "resource")
	if t == nil {
		return out
	}
	var list []*ast.Declaration
	for _, p := range t.Properties {
		for _, r := range n.reqs {
			bound := slices.ContainsFunc(n.t.of(t), func(i int) bool { return n.t.res.Get(i, p).Value != nil })
			if r.kind == spend && r.id == p.Name && !bound {
				list = append(list, declare(p.Name, boundText(p, withHeadroom(r.bound, n.in.Headroom))))
			}
		}
	}
	if list != nil {
		out = append(out, draft{rule: newRule(qualified(reg, n.in.Context, t, nil), list...), step: Exact, origin: originNew})
	}
	return out
}
