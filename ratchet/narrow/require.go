package narrow

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"umwelt/ratchet"
)

// requirements are the permissions that what was kept needs, in a fixed order, and what no
// rule can say.
func requirements(in *Input, k *known, m *material, report *Report) []*requirement {
	var out []*requirement
	entries := map[string][]*tally{}
	if k.file != nil && k.dir != nil {
		for i := range m.paths {
			p := &m.paths[i]
			kind := seeFile
			switch {
			case p.dir:
				kind = seeDir
			case p.change:
				kind = changeFile
			}
			if p.path != "." {
				out = append(out, &requirement{kind: kind, typ: plainPath(p), id: p.path, tally: p.tally})
			}
			switch {
			case p.entry && p.path != ".":
				entries[k.holder(p.path)] = append(entries[k.holder(p.path)], p.tally)
			case p.dir && p.change && !p.entry:
				entries[k.holder(p.path+"/x")] = append(entries[k.holder(p.path+"/x")], p.tally)
			}
		}
	} else {
		for _, p := range m.paths {
			report.unplaced("file", p.tally.total())
		}
	}
	for dir, came := range entries {
		out = append(out, &requirement{kind: newNames, typ: "dir", id: dir, came: came})
	}
	for _, typ := range slices.Sorted(maps.Keys(m.byType)) {
		for _, f := range m.byType[typ] {
			if r := requirementOf(in, f, report); r != nil {
				out = append(out, r)
			}
		}
	}
	out = append(out, programs(in, m, report)...)
	slices.SortFunc(out, func(a, b *requirement) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.typ, b.typ), cmp.Compare(a.id, b.id))
	})
	return mergeBounds(out)
}

func plainPath(p *pathNeed) string {
	if p.dir {
		return "dir"
	}
	return "file"
}

// mergeBounds keeps, of several measures of one resource, the largest.
func mergeBounds(reqs []*requirement) []*requirement {
	var out []*requirement
	for _, r := range reqs {
		if n := len(out); r.kind == spend && n > 0 && out[n-1].kind == spend && out[n-1].id == r.id {
			out[n-1].bound = max(out[n-1].bound, r.bound)
			both := &tally{}
			both.merge(out[n-1].tally)
			both.merge(r.tally)
			out[n-1].tally = both
			continue
		}
		out = append(out, r)
	}
	return out
}

// requirementOf is what a fact that is about no path of the project needs, or nil.
func requirementOf(in *Input, f fact, report *Report) *requirement {
	reg := in.World.Registry
	connects := f.verbs[verbIndex("connect")] > 0
	switch t := typeOf(reg, f.typ); {
	case f.typ == "exec":
		return nil // see programs
	case f.typ == "network" && t != nil:
		if !connects {
			report.Unexpressed = append(report.Unexpressed, f.left("waiting for connections is nothing that a view grants", f.runs[use].len()))
			return nil
		}
		end, ok := endpointOf(f)
		if !ok {
			report.Unexpressed = append(report.Unexpressed, f.left("it is no endpoint with a host and a port that a view can name", f.runs[use].len()))
			return nil
		}
		return &requirement{kind: reach, typ: f.typ, id: f.id, tally: f.tally, end: end}
	case f.verbs[verbIndex("measure")] > 0:
		if r := typeOf(reg, "resource"); r != nil {
			if p, amount, ok := measured(r, f); ok {
				if typed, problem := reg.TypeText(p.Type, boundText(p, withHeadroom(amount, in.Headroom))); problem != "" || typed.Num < amount {
					report.Unexpressed = append(report.Unexpressed, f.left("it is more than a bound can say", f.runs[use].len()))
					return nil
				}
				return &requirement{kind: spend, typ: "resource", id: p.Name, tally: f.tally, bound: amount}
			}
			if f.more != nil && f.more.resident {
				report.note("no bound is made of what the largest process held in memory: where there is no control group, a limit bounds address space, of which a process takes more")
				return nil
			}
		}
		report.unplaced("measure of "+text(f.id), f.total())
		return nil
	case t != nil && t.PathAttr == "" && t.Property("allow") != nil:
		if strings.ContainsRune(f.id, 0) || text(f.id) != f.id {
			report.Unexpressed = append(report.Unexpressed, f.left("its name is not UTF-8, which a view is written in", f.runs[use].len()))
			return nil
		}
		return &requirement{kind: allow, typ: f.typ, id: f.id, tally: f.tally}
	}
	report.unplaced(f.typ, f.total())
	return nil
}

// unplaced counts observations of what the vocabulary has no permission for.
func (r *Report) unplaced(what string, n int64) {
	for i := range r.Unplaced {
		if r.Unplaced[i].Name == what {
			r.Unplaced[i].Count += n
			return
		}
	}
	r.Unplaced = append(r.Unplaced, Count{what, n})
	slices.SortFunc(r.Unplaced, func(a, b Count) int { return cmp.Compare(a.Name, b.Name) })
}

// programs are requirements for the programs that the world lists; the others are
// governed by nothing, and only reported.
func programs(in *Input, m *material, report *Report) []*requirement {
	t := typeOf(in.World.Registry, "exec")
	listed := map[string]bool{}
	if t != nil {
		for i := range in.World.Entities {
			if e := &in.World.Entities[i]; e.Type == t {
				at, _ := e.Attr("path")
				listed[at] = true
			}
		}
	}
	var out []*requirement
	byGroup := map[Group]*Programs{}
	for _, f := range m.byType["exec"] {
		if listed[f.id] {
			out = append(out, &requirement{kind: allow, typ: "exec", id: f.id, tally: f.tally})
			continue
		}
		g := groupOf(f.id)
		if byGroup[g] == nil {
			byGroup[g] = &Programs{Group: g}
		}
		p := byGroup[g]
		if p.Count++; len(p.First) < 5 {
			p.First = append(p.First, text(f.id))
		}
	}
	for _, p := range byGroup {
		report.Programs = append(report.Programs, *p)
	}
	slices.SortFunc(report.Programs, func(a, b Programs) int { return cmp.Compare(a.Group, b.Group) })
	return out
}

// outsides folds paths outside the project into their groups.
func outsides(facts []fact) []Outside {
	byGroup := map[Group]*Outside{}
	totals := map[Group]*tally{}
	for _, f := range facts {
		g := groupOf(f.id)
		o := byGroup[g]
		if o == nil {
			o = &Outside{Group: g}
			byGroup[g], totals[g] = o, &tally{}
		}
		if o.Paths++; len(o.First) < 5 {
			o.First = append(o.First, text(f.id))
		}
		totals[g].merge(f.tally)
	}
	var out []Outside
	for g, o := range byGroup {
		for _, v := range []string{"write", "create", "delete", "rename"} {
			o.Wrote = o.Wrote || totals[g].verbs[slices.IndexFunc(verbs, func(x ratchet.Verb) bool { return string(x) == v })] > 0
		}
		o.Verbs, o.Advice = totals[g].counts(), advice(g, o.Wrote)
		out = append(out, *o)
	}
	slices.SortFunc(out, func(a, b Outside) int { return cmp.Compare(a.Group, b.Group) })
	return out
}
