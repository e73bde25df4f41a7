package narrow

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"umwelt/ast"
	"umwelt/compilers/confine"
	"umwelt/diag"
	"umwelt/registry"
)

// Propose makes a view of what was collected: the current one tightened, or a fresh one that
// allows nothing else. An error means that there is no proposal that keeps its promises, or
// that the input is not sound itself.
//
// What is proposed is tightened again until nothing changes any more, so that whoever asks
// again with the proposal as the current view gets it back.
func Propose(in Input, c *Collector) (*Proposal, error) {
	if c.overflow > 0 {
		return nil, fmt.Errorf("more than %d distinct facts were observed, with all paths outside the project folded", c.options.MaxFacts)
	}
	if in.World == nil {
		return nil, errors.New("there is no world to propose a view for")
	}
	if in.View != nil && in.View.Source == nil {
		return nil, errors.New("the current view has no text")
	}
	name := "proposal.umw"
	if in.View != nil {
		name = in.View.Source.Name // what it imports is found from there
	}
	var made []string
	var err error
	if in.World, made, err = given(in.World, c); err != nil {
		return nil, err
	}
	in.made = made
	out, _, err := once(in, c)
	settled := map[string]bool{} // texts of which something was left out again
	for range maxRounds {
		if err != nil {
			return nil, err
		}
		again := in
		if again.View, err = parse(name, out.Text); err != nil {
			return nil, err
		}
		next, p, err := once(again, c)
		if err != nil {
			return nil, err
		}
		same := string(next.Text) == string(out.Text)
		if same && !settled[string(next.Text)] {
			settled[string(next.Text)] = true
			if less := p.prune(); less != nil {
				next.Text, next.Report, same = less, *p.report, false
			}
		}
		next.Report.follow(&out.Report, in.View == nil)
		if out = next; same {
			return out, nil
		}
	}
	return nil, fmt.Errorf("after %d rounds the proposal still becomes tighter", maxRounds)
}

// maxRounds bounds how often a proposal is tightened again. Each round takes something away.
const maxRounds = 12 + maxPruned

// follow adds what an earlier round found. What was taken from a fresh view again is no
// matter of anybody's.
func (r *Report) follow(first *Report, fresh bool) {
	r.Fresh = fresh
	for i := range r.Rules {
		for k := range first.Rules {
			if a, b := &r.Rules[i], &first.Rules[k]; a.Text == b.Text {
				a.Step, a.Origin, a.Admits = b.Step, b.Origin, b.Admits
			}
		}
	}
	if fresh {
		r.Removed, r.Kept, r.NotAllowed = nil, nil, nil
	} else {
		r.Removed = slices.Concat(first.Removed, r.Removed)
	}
	later := slices.DeleteFunc(r.NotAllowed, func(x Left) bool {
		return slices.ContainsFunc(first.NotAllowed, func(y Left) bool { return x.Type == y.Type && x.ID == y.ID })
	})
	r.NotAllowed = slices.Concat(first.NotAllowed, later)
	r.Unexpressed = first.Unexpressed
	for _, n := range first.Notes {
		r.note(n)
	}
	for i := range r.Table {
		r.Table[i].Before = ""
	}
	for _, row := range first.Table {
		k := slices.IndexFunc(r.Table, func(x Row) bool { return x.What == row.What })
		if k < 0 {
			r.Table = append(r.Table, Row{What: row.What, Before: row.Before})
		} else {
			r.Table[k].Before = row.Before
		}
	}
	r.Check.Entities = max(r.Check.Entities, first.Check.Entities)
}

// once is one round.
func once(in Input, c *Collector) (*Proposal, *proposer, error) {
	p := &proposer{in: &in, c: c, known: knownOf(in.World), report: &Report{Schema: Schema, Fresh: in.View == nil, Made: in.made}}
	p.material = c.material(&in.Options, p.known)
	p.report.LeftOut, p.report.Unexpressed = p.material.leftOut, p.material.gone
	p.reqs = requirements(&in, p.known, p.material, p.report)
	p.collected()
	if t := typeOf(in.World.Registry, "tool"); t != nil {
		for _, r := range p.reqs {
			if r.kind == allow && r.typ == t.Name {
				r.calls = p.calls(t, r)
			}
		}
	}
	p.disagreements()
	p.missing()
	make := p.fresh
	if in.View != nil {
		make = p.tighten
	}
	out, err := make()
	return out, p, err
}

// proposer carries what the parts of Propose share.
type proposer struct {
	in       *Input
	c        *Collector
	known    *known
	material *material
	reqs     []*requirement
	report   *Report
	slack    int
	current  *trial  // the current view
	doubtful []*unit // see prune
}

// fresh is a view of nothing but what is needed.
func (p *proposer) fresh() (*Proposal, error) {
	p.slack = p.in.Slack
	plan := planFiles(&p.in.Options, &p.slack, p.known, p.material.made, p.material.paths)
	p.without(plan)
	f := &fresh{in: p.in, known: p.known, reqs: p.reqs, report: p.report}
	if p.known.file != nil && p.known.dir != nil {
		f.files(plan)
	}
	if t := typeOf(p.in.World.Registry, "network"); t != nil {
		f.endpoints(t)
	}
	for _, typ := range p.allowTypes() {
		if typ == "tool" {
			f.section()
			f.levels(p)
		}
		f.allowances(typ)
	}
	f.bounds()
	v := &ast.View{Source: &diag.Source{Name: "proposal.umw"}}
	meta := map[*ast.Rule]draft{}
	for i, d := range f.drafts {
		d.rule.BlankBefore = slices.Contains(f.sections, i)
		meta[d.rule] = d
		v.Statements = append(v.Statements, d.rule)
	}
	return p.finish(v, meta, nil)
}

// allowTypes are the types of which something is to be allowed, in the order of the
// vocabulary.
func (p *proposer) allowTypes() []string {
	var out []string
	for _, t := range p.in.World.Registry.Types() {
		if slices.ContainsFunc(p.reqs, func(r *requirement) bool { return r.kind == allow && r.typ == t.Name }) && !slices.Contains(out, t.Name) {
			out = append(out, t.Name)
		}
	}
	return out
}

// without reports what no rule can open, and takes it out of what is required.
func (p *proposer) without(plan *filePlan) {
	drop := func(kind func(kind) bool, id, why string) {
		p.reqs = slices.DeleteFunc(p.reqs, func(r *requirement) bool {
			if r.id != id || !kind(r.kind) {
				return false
			}
			l := Left{Type: r.typ, ID: cmp.Or(text(id), "."), Why: why}
			if r.tally != nil {
				l.Verbs, l.Evidence = r.tally.counts(), r.tally.evidence()
			}
			p.report.Unexpressed = append(p.report.Unexpressed, l)
			return true
		})
	}
	for _, dir := range plan.without {
		why := "new names in it take a rule for all that lies below it, and too much lies there that was not changed"
		if !p.in.takes(Entries) {
			why = "new names in it take a rule for all that lies below it, and that step is switched off"
		}
		drop(func(k kind) bool { return k == newNames }, dir, why)
	}
	for _, path := range plan.unsayable {
		drop(func(k kind) bool { return k == seeFile || k == changeFile || k == seeDir }, path, "its name is not UTF-8, which a view is written in")
	}
}

// finish checks a proposed view, puts the evidence in and prints it. current is what it must
// not be wider than, nil for a fresh one.
func (p *proposer) finish(v *ast.View, meta map[*ast.Rule]draft, current *trial) (*Proposal, error) {
	var metas []draft
	for _, r := range rulesOf(v) {
		metas = append(metas, meta[r])
	}
	bare, err := printed(v)
	if err != nil {
		return nil, err
	}
	name := "proposal.umw"
	if p.in.View != nil {
		name = p.in.View.Source.Name // what it imports is found from there
	}
	read, err := parse(name, bare)
	if err != nil {
		return nil, fmt.Errorf("the proposal cannot be read back: %w", err)
	}
	bound, err := p.in.bind(read)
	if err != nil {
		return nil, fmt.Errorf("the proposal cannot be bound: %w", err)
	}
	t, err := p.try(read, bound, current)
	if err != nil {
		return nil, err
	}
	proofs, err := p.check(t, current)
	if err != nil {
		return nil, err
	}
	p.report.Made = slices.DeleteFunc(slices.Clone(p.report.Made), func(dir string) bool {
		return t.meetsNewNames(t.known.holder(dir)).ok // it can be made again
	})
	return p.write(t, metas, proofs, current)
}

// try resolves a view over the world of the current one, or over one of its own.
func (p *proposer) try(v *ast.View, b *registry.Bound, current *trial) (*trial, error) {
	if current != nil {
		return p.in.resolve(v, b, current.world, current.known)
	}
	w, err := settle(p.in.World, slices.Concat(b.Pins(), p.supposed()))
	if err != nil {
		return nil, err
	}
	return p.in.resolve(v, b, w, knownOf(w))
}

// supposed is what was observed of what a view may name, so that it exists where policies
// are compared.
func (p *proposer) supposed() []registry.Entity {
	var out []registry.Entity
	for _, r := range p.reqs {
		if t := typeOf(p.in.World.Registry, r.typ); r.kind == allow && t != nil {
			e := registry.Entity{Type: r.typ, ID: r.id, Attributes: map[string]string{t.Key(): r.id}}
			out = append(out, e)
		}
		if t := typeOf(p.in.World.Registry, "network"); r.kind == reach && t != nil {
			e := registry.Entity{Type: r.typ, Attributes: map[string]string{}}
			var joined []string
			for _, test := range endpointTests(r.end) {
				e.Attributes[test.Name] = test.Value
				joined = append(joined, test.Value)
			}
			e.ID = strings.Join(joined, " ")
			out = append(out, e)
		}
		if t := typeOf(p.in.World.Registry, "resource"); r.kind == spend && t != nil {
			out = append(out, registry.Entity{Type: t.Name, ID: t.Name})
		}
	}
	return out
}

// missing reports what the proposal names and a world file does not have, so that the rule
// is without effect until it does.
func (p *proposer) missing() {
	if !p.in.WorldFile {
		return
	}
	t := &trial{world: p.in.World, known: p.known}
	for _, r := range p.reqs {
		typ := typeOf(p.in.World.Registry, r.typ)
		var there bool
		switch r.kind {
		case allow:
			there = len(t.named(typ, r.id)) > 0
		case reach:
			there = slices.ContainsFunc(t.of(typ), func(i int) bool {
				host, _ := p.in.World.Entities[i].Attr("host")
				cidr, _ := p.in.World.Entities[i].Attr("cidr")
				return host != "" && sameHost(host, r.end.host) || host == "" && (cidr == "" || holds(confine.Endpoint{CIDR: cidr}, r.end))
			})
		default:
			continue
		}
		if !there {
			p.report.Missing = append(p.report.Missing, Left{Type: r.typ, ID: text(r.id), Verbs: r.tally.counts(), Why: "the world file does not have it, so the rule has no effect until it does", Evidence: r.tally.evidence()})
		}
	}
}
