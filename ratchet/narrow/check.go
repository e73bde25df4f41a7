package narrow

import (
	"fmt"

	"umwelt/diag"
)

// check holds a proposal to its promises, and finds what each declaration of it is there for.
func (p *proposer) check(t, current *trial) (map[decided][]*tally, error) {
	proofs := map[decided][]*tally{}
	p.report.Check.Needs = len(p.reqs)
	for _, r := range p.reqs {
		a := t.meets(r)
		if !a.ok {
			return nil, fmt.Errorf("the proposal would not allow %s %s, which was observed", r.typ, diag.Quote(r.id))
		}
		for _, by := range a.by {
			if by.decl != nil {
				proofs[by] = append(append(proofs[by], r.came...), r.tally)
			}
		}
		if r.kind == newNames && t.tree != nil {
			dir := r.id
			if dir == "" {
				dir = "."
			}
			if t.tree[dir].String() != "rw" {
				p.report.Check.Unmounted++
				p.report.note("no mount can let names come and go in " + diag.Quote(dir) + ", though the rules allow it: the world does not list all that lies there, or a symbolic link in it is protected")
			}
		}
	}
	p.report.Check.Sound = true
	p.report.Check.Monotone = true
	if current != nil {
		if err := p.noWider(t, current); err != nil {
			return nil, err
		}
	}
	return proofs, nil
}

func (r *Report) note(text string) {
	for _, n := range r.Notes {
		if n == text {
			return
		}
	}
	r.Notes = append(r.Notes, text)
}
