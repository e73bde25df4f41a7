package policytest

import (
	"slices"

	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/registry"
)

// Coverage says which parts of a view some case would miss. Each part is taken out in
// turn, and the cases that pass are asked again: where all still pass, nobody noticed.
type Coverage struct {
	Rules        []Part // every rule, in order
	Restrictions []Part // every declaration that takes something away, in order
}

// Part is a rule, or one declaration of it. What sugar or nesting makes of one written
// selector is one part.
type Part struct {
	Rules       []*registry.Rule      // at least one
	Declaration *registry.Declaration // of the first rule; nil for the whole of it
	Noticed     bool
}

// At is where the part stands.
func (p *Part) At() diag.Span {
	if p.Declaration != nil && p.Declaration.At.IsValid() {
		return p.Declaration.At
	}
	return p.Rules[0].At
}

// Noticed counts the parts whose loss some case notices.
func Noticed(parts []Part) int {
	n := 0
	for _, p := range parts {
		if p.Noticed {
			n++
		}
	}
	return n
}

// Cover runs a file's cases and finds which parts of its view they would miss. progress is
// told before each rule is taken out; it may be nil. A file with unusable cases has no
// coverage.
func Cover(f *File, s Subject, progress func(done, all int)) (*Result, *Coverage, diag.List) {
	r := newRun(f, s)
	result := r.all()
	if r.HasErrors() {
		return result, nil, r.List
	}
	out := &Coverage{}
	written := map[diag.Span]int{}
	for _, rule := range s.Engine.Bound().Rules {
		if i, ok := written[rule.At]; ok && rule.At.IsValid() {
			out.Rules[i].Rules = append(out.Rules[i].Rules, rule)
			continue
		}
		written[rule.At] = len(out.Rules)
		out.Rules = append(out.Rules, Part{Rules: []*registry.Rule{rule}})
	}
	touched := r.touched()
	misses := func(p *Part) bool {
		return slices.ContainsFunc(p.Rules, func(rule *registry.Rule) bool { return touched[rule] }) && r.notices(p)
	}
	for i := range out.Rules {
		if progress != nil {
			progress(i, len(out.Rules))
		}
		whole := &out.Rules[i]
		whole.Noticed = misses(whole)
		for _, d := range whole.Rules[0].Declarations {
			if !d.Restricts() {
				continue
			}
			p := Part{Rules: whole.Rules, Declaration: d, Noticed: whole.Noticed}
			if len(whole.Rules[0].Declarations) > 1 {
				p.Noticed = misses(&p)
			}
			out.Restrictions = append(out.Restrictions, p)
		}
	}
	return result, out, r.List
}

// touched are the rules that fit anything a passed case asks about, or what that follows.
// Without any other, every answer stays what it is.
func (r *run) touched() map[*registry.Rule]bool {
	out := map[*registry.Rule]bool{}
	e := r.subject.Engine
	cohorts := e.Cohorts()
	seen := map[*registry.EntityType]map[string]bool{}
	var visit func(t Target, depth int)
	visit = func(t Target, depth int) {
		if seen[t.Entity.Type] == nil {
			seen[t.Entity.Type] = map[string]bool{}
		}
		if seen[t.Entity.Type][t.Entity.ID] || depth > 8 {
			return
		}
		seen[t.Entity.Type][t.Entity.ID] = true
		var rules []*registry.Rule
		if t.Index >= 0 {
			rules = cohorts[e.Cohort(t.Index)].Rules
		} else {
			rules, _ = e.Fitting(t.Entity)
		}
		for _, rule := range rules {
			out[rule] = true
		}
		for _, p := range t.Entity.Type.Properties {
			for _, f := range e.Followed(t.Entity, p) {
				visit(Target{f.Entity, f.Index}, depth+1)
			}
		}
	}
	for _, a := range r.passed {
		visit(a.target, 0)
	}
	return out
}

// notices reports whether some case that passes fails without the part.
func (r *run) notices(p *Part) bool {
	full := r.subject.Engine.Bound()
	less := *full
	less.Rules = slices.Clone(full.Rules)
	for _, whole := range p.Rules {
		rule := *whole
		rule.Declarations = nil
		for _, d := range whole.Declarations {
			if p.Declaration != nil && d.Order != p.Declaration.Order {
				rule.Declarations = append(rule.Declarations, d)
			}
		}
		less.Rules[rule.Index] = &rule
	}
	e := cascade.New(r.subject.Engine.World(), &less)
	resolved := make([]*cascade.Resolution, len(r.contexts))
	for _, a := range r.passed {
		if resolved[a.context] == nil {
			res, list := e.Resolve(r.refs[a.context])
			if list.HasErrors() {
				return true
			}
			resolved[a.context] = res
		}
		if !a.passes(resolved[a.context]) {
			return true
		}
	}
	return false
}
