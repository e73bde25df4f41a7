package narrow

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"umwelt/ast"
	"umwelt/registry"
)

// draft is a rule of a proposal with what is known of it before it is written.
type draft struct {
	rule   *ast.Rule
	step   Step
	admits int
	origin string
	rung   *rung // where it is about paths
}

// The origins of a rule.
const (
	originNew       = "new"
	originKept      = "kept"
	originTightened = "tightened"
)

// newRule is a rule of one selector.
func newRule(sel *ast.Selector, declarations ...*ast.Declaration) *ast.Rule {
	r := &ast.Rule{Selectors: []*ast.Selector{sel}, Block: &ast.Block{}}
	for _, d := range declarations {
		r.Block.Items = append(r.Block.Items, d)
	}
	return r
}

func declare(property, raw string) *ast.Declaration {
	return &ast.Declaration{Property: property, Raw: raw}
}

// fresh writes the rules that grant what is needed and nothing else.
type fresh struct {
	in       *Input
	known    *known
	reqs     []*requirement
	drafts   []draft
	report   *Report
	sections []int // indices into drafts where a section begins
}

func (f *fresh) add(t *registry.EntityType, tests []ast.Simple, step Step, admits int, declarations ...*ast.Declaration) {
	sel := qualified(f.in.World.Registry, f.in.Context, t, tests)
	f.drafts = append(f.drafts, draft{rule: newRule(sel, declarations...), step: step, admits: admits, origin: originNew})
}

func (f *fresh) section() {
	if n := len(f.drafts); n > 0 && (len(f.sections) == 0 || f.sections[len(f.sections)-1] != n) {
		f.sections = append(f.sections, n)
	}
}

// files writes the rules about the project's paths.
func (f *fresh) files(plan *filePlan) {
	type line struct {
		r        *rung
		t        *registry.EntityType
		property string
	}
	var lines []line
	for _, r := range plan.change {
		lines = append(lines, line{r, f.known.file, "editable"})
	}
	for _, r := range plan.see {
		lines = append(lines, line{r, f.known.file, "visible"})
	}
	for _, r := range plan.dirs {
		lines = append(lines, line{r, f.known.dir, "visible"})
	}
	place := func(l line) string {
		if l.r.step == Exact {
			return l.r.path
		}
		if l.r.dir == "" {
			return ""
		}
		return l.r.dir + "/"
	}
	slices.SortStableFunc(lines, func(a, b line) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a.t.Index, b.t.Index), cmp.Compare(b.r.order(), a.r.order()), a.r.compare(b.r), cmp.Compare(a.property, b.property))
	})
	for _, l := range lines {
		f.add(l.t, l.r.tests(), l.r.step, l.r.admits, declare(l.property, "true"))
	}
}

// endpoints writes a rule per endpoint.
func (f *fresh) endpoints(t *registry.EntityType) {
	seen := map[string]bool{}
	f.section()
	for _, r := range f.reqs {
		if r.kind != reach {
			continue
		}
		tests := endpointTests(r.end)
		if key := fmt.Sprint(r.end); !seen[key] {
			seen[key] = true
			f.add(t, tests, Exact, 0, declare("allow", "true"))
		}
	}
}

// allowances writes a rule per tool, variable or program.
func (f *fresh) allowances(typ string) {
	t := typeOf(f.in.World.Registry, typ)
	if t == nil || t.Property("allow") == nil {
		return
	}
	if typ != "tool" {
		f.section()
	}
	for _, r := range f.reqs {
		if r.kind != allow || r.typ != typ {
			continue
		}
		test := attrTest(t.Key(), "=", r.id)
		if typ == "exec" {
			test = attrTest("path", "=", r.id)
		}
		declarations := []*ast.Declaration{declare("allow", "true")}
		step := Exact
		if len(r.calls) > 0 {
			rungs := callLadder(&f.in.Options, r.calls)
			declarations = append(declarations, declare("allow-pattern", patternList(rungs)))
			if slices.ContainsFunc(rungs, func(c callRung) bool { return c.step == Pattern }) {
				step = Pattern
			}
		}
		f.add(t, []ast.Simple{test}, step, 0, declarations...)
	}
}

// levels writes the highest level of the tools that were called.
func (f *fresh) levels(p *proposer) {
	t := typeOf(f.in.World.Registry, "tool")
	if t == nil || t.Property("max-level") == nil {
		return
	}
	level, ok := p.highestLevel(t)
	if !ok {
		return
	}
	f.section()
	f.add(t, nil, Exact, 0, declare("max-level", strconv.FormatFloat(level, 'f', -1, 64)))
}

// bounds writes what may be used up.
func (f *fresh) bounds() {
	t := typeOf(f.in.World.Registry, "resource")
	if t == nil {
		return
	}
	f.section()
	var list []*ast.Declaration
	for _, p := range t.Properties {
		for _, r := range f.reqs {
			if r.kind == spend && r.id == p.Name {
				list = append(list, declare(p.Name, boundText(p, withHeadroom(r.bound, f.in.Headroom))))
			}
		}
	}
	if list != nil {
		f.add(t, nil, Exact, 0, list...)
	}
}
