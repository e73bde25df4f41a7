package narrow

import (
	"cmp"
	"fmt"
	"slices"

	"umwelt/ast"
)

// tighten is the current view with less: what nothing needed is taken away, what is wider
// than what was needed is replaced by rules for just that, and bounds shrink. What restricts
// stays.
func (p *proposer) tighten() (*Proposal, error) {
	base, err := p.base()
	if err != nil {
		return nil, err
	}
	bound, err := p.in.bind(base)
	if err != nil {
		return nil, fmt.Errorf("the current view cannot be bound: %w", err)
	}
	w, err := settle(p.in.World, slices.Concat(bound.Pins(), p.supposed()))
	if err != nil {
		return nil, err
	}
	current, err := p.in.resolve(base, bound, w, knownOf(w))
	if err != nil {
		return nil, err
	}
	p.allowedNow(current)
	p.current = current
	var last error
	// A replacement is written as a person would, and where that turns out to allow more, as
	// the old selector with a condition; at last, one path a rule.
	for attempt := range 3 {
		report := *p.report
		n := &narrower{proposer: p, t: current, refine: attempt > 0, exact: attempt > 1}
		v, meta, err := n.run()
		if err == nil && slices.ContainsFunc(p.reqs, func(r *requirement) bool { return r.kind == seeDir }) {
			err = n.showDirs(v, meta)
		}
		if err == nil {
			var out *Proposal
			if out, err = p.finish(v, meta, current); err == nil {
				return out, nil
			}
		}
		last = err
		*p.report = report
		// The edits were made to the tree of the current view.
		if base, err = p.base(); err != nil {
			return nil, err
		}
		if bound, err = p.in.bind(base); err != nil {
			return nil, err
		}
		if current, err = p.in.resolve(base, bound, w, current.known); err != nil {
			return nil, err
		}
		p.allowedNow(current)
		p.current = current
	}
	return nil, last
}

// base is the current view without the comments of earlier proposals. What is left stands
// where it stood in the text.
func (p *proposer) base() (*ast.View, error) {
	v, err := parse(p.in.View.Source.Name, p.in.View.Source.Text)
	if err != nil {
		return nil, err
	}
	v.Statements = withoutOurs(v.Statements)
	return v, nil
}

// allowedNow leaves out what the current view does not allow, and notes what decides.
func (p *proposer) allowedNow(current *trial) {
	p.reqs = slices.DeleteFunc(p.reqs, func(r *requirement) bool {
		a := current.meets(r)
		r.deciders, r.choices = a.by, nil
		if a.ok {
			return false
		}
		if r.kind == spend {
			p.report.NotAllowed = append(p.report.NotAllowed, Left{Type: r.typ, ID: r.id, Why: "more was measured than the current view allows; the bound stays", Evidence: r.tally.evidence()})
			return true
		}
		l := Left{Type: r.typ, ID: text(r.id), Why: "the current view does not allow it"}
		if r.kind == newNames {
			l.ID = cmp.Or(text(r.id), ".")
			l.Why = "the current view does not let every new name be made and removed in this directory"
		}
		if r.tally != nil {
			l.Verbs, l.Evidence = r.tally.counts(), r.tally.evidence()
		}
		p.report.NotAllowed = append(p.report.NotAllowed, l)
		if r.kind != changeFile || r.tally.runs[see].len() == 0 {
			return true
		}
		// It was also seen, which may be allowed.
		r.kind, r.entity = seeFile, nil
		a = current.meets(r)
		r.deciders = a.by
		return !a.ok
	})
}

// dirsByContent finds the directories that appear since a file that is needed lies in them.
func (n *narrower) dirsByContent() {
	appear := map[string]bool{}
	for p := range n.needed {
		if _, known := n.t.known.fileAt[p]; known {
			for dir := range ancestors(p) {
				appear[dir] = true
			}
		}
	}
	for _, r := range n.reqs {
		r.byContent = r.kind == seeDir && appear[r.id]
	}
}

// showDirs sees to the directories that appear under the current view by what lies in them,
// of which nothing was needed. A rule about such a directory would say more than that view
// does. One about what will lie in it shows it where nothing lies in it; else it is reported.
func (n *narrower) showDirs(v *ast.View, meta map[*ast.Rule]draft) error {
	bare, err := printed(v)
	if err != nil {
		return err
	}
	read, err := parse(v.Source.Name, bare)
	if err != nil {
		return err
	}
	bound, err := n.in.bind(read)
	if err != nil {
		return err
	}
	t, err := n.in.resolve(read, bound, n.t.world, n.t.known)
	if err != nil {
		return err
	}
	first := true
	n.reqs = slices.DeleteFunc(n.reqs, func(r *requirement) bool {
		if r.kind != seeDir || t.meets(r).ok {
			return false
		}
		if n.emptyNow(r.id) && n.t.futureSeen(r.id) && n.in.takes(Subtree) {
			d := draft{rule: newRule(qualified(n.t.world.Registry, n.in.Context, n.t.known.file, []ast.Simple{attrTest("path", "^=", r.id+"/")}), declare("visible", "true")), step: Subtree, origin: originNew}
			d.rule.BlankBefore = first
			first = false
			meta[d.rule] = d
			v.Statements = append(v.Statements, d.rule)
			return false
		}
		why := "it appears only by what lies in it, of which nothing was needed; a rule of yours that makes it visible would show it"
		if _, known := n.t.known.dirAt[r.id]; !known {
			why = "it does not exist now, and would appear only by what could be made in it and was not needed"
		}
		n.report.NotAllowed = append(n.report.NotAllowed, Left{Type: r.typ, ID: text(r.id), Verbs: r.tally.counts(), Why: why, Evidence: r.tally.evidence()})
		return true
	})
	return nil
}

// emptyNow is whether no file lies below a directory of the world.
func (n *narrower) emptyNow(dir string) bool {
	if _, known := n.t.known.dirAt[dir]; !known {
		return false
	}
	at, _ := slices.BinarySearch(n.t.known.files, dir+"/")
	return at == len(n.t.known.files) || !below(n.t.known.files[at], dir)
}
