package workspace

import (
	"os"
	"path"
)

// dir decides about a directory.
func (p *planner) dir(at string, b *Entry, w *item) {
	d := p.add(at, KindDir, p.dirs)
	if w != nil && w.kind == KindDir {
		d.want = w
	}
	have, problem := p.project.at(at)
	if have != nil && have.kind == KindDir {
		d.have = have
	}
	switch known := b != nil && b.Kind == KindDir; {
	case known && !b.Present:
		d.end(Rejected, "the policy hides what stands here")
	case known && d.want != nil:
		p.keepDir(d, b, problem)
	case known:
		p.dropDir(d, b, problem)
	default:
		p.newDir(d, problem)
	}
}

// newDir decides about a directory that the actor made.
func (p *planner) newDir(d *decision, problem string) {
	switch why := p.access(string(d.Path), true); {
	case d.have != nil:
		d.agreed = why == ""
	case why != "":
		d.end(Rejected, why)
	case problem != "":
		d.end(Conflict, problem)
	default:
		d.Outcome, d.action = Created, makeDir
		p.checkDir(d)
	}
}

// keepDir decides about a directory that is still there: its permissions may have changed.
func (p *planner) keepDir(d *decision, b *Entry, problem string) {
	switch {
	case d.want.perm == given(p.strategy, b):
	case d.have != nil && d.have.perm == d.want.perm:
		d.agreed = true
	case b.Mode.String() != "rw":
		d.end(Rejected, "the policy protects its permissions")
	case problem != "":
		d.end(Conflict, problem)
	case d.have == nil:
		d.end(Conflict, "it went away in the project meanwhile")
	case d.have.perm != b.Perm:
		d.end(Conflict, "its permissions were changed in the project meanwhile")
	case os.Geteuid() != 0 && int(d.have.at.uid) != os.Geteuid():
		d.end(Rejected, "it belongs to another user")
	default:
		d.Outcome, d.action = Applied, setPerm
	}
}

// dropDir decides about a directory that the actor removed, but for what is left in it.
func (p *planner) dropDir(d *decision, b *Entry, problem string) {
	at := string(d.Path)
	switch why := p.tree.closed(at); {
	case why != "":
		d.end(Rejected, "in a directory above it: "+why)
	case d.have == nil && problem == "":
		d.agreed = true
	case b.Mode.String() != "rw":
		d.end(Rejected, "the policy does not let anything be removed in this directory")
	case p.protected[at]:
		d.end(Rejected, "it holds what the policy protects")
	case p.access(at, true) != "":
		d.end(Rejected, p.access(at, true))
	case problem != "":
		d.end(Conflict, problem)
	default:
		d.Outcome, d.action = Deleted, removeDir
		p.checkDir(d)
	}
}

// checkRemove refuses to remove a directory in which something stays. What lies deeper is
// decided already.
func (p *planner) checkRemove(d *decision) {
	l := p.project.listing(string(d.Path))
	if l == nil || l.problem != "" {
		d.end(Conflict, "the project's directory cannot be read")
		return
	}
	for name := range l.items {
		at := join(string(d.Path), name)
		leaf, dir := p.leaves[at], p.dirs[at]
		if (leaf == nil || leaf.action != drop) && (dir == nil || dir.action != removeDir) {
			d.end(Conflict, "the project has something in it that stays")
			return
		}
	}
}

// checkPlace refuses what has no place in the project: its directory is not there and is
// not made, or what stands in its place stays. Directories come before what lies in them.
func (p *planner) checkPlace(d *decision) {
	at := string(d.Path)
	parent := path.Dir(at)
	if p.hasDir(parent) {
		switch leaf, dir := p.leaves[at], p.dirs[at]; {
		case d.action == makeDir && p.stands(at) && leaf != nil && leaf.Outcome == Rejected:
			d.end(Rejected, "what stands in its place stays: "+leaf.Why)
		case d.action == makeDir && p.stands(at) && (leaf == nil || leaf.action != drop):
			d.end(Conflict, "what stands in its place in the project stays")
		case d.have == nil && p.taken(at):
			d.end(Conflict, "the filesystem takes it for another file of the project")
		case d.action == put && p.isDir(at) && (dir == nil || dir.action != removeDir):
			d.end(Conflict, "a directory stands there in the project and stays")
			if dir != nil && dir.Outcome == Rejected {
				d.end(Rejected, "the directory in its place stays: "+dir.Why)
			}
		}
		return
	}
	if dir := p.dirs[parent]; dir != nil && dir.Outcome == Rejected {
		d.end(Rejected, "its directory is not made: "+dir.Why)
		return
	}
	d.end(Conflict, "its directory is not in the project")
}

// taken reports whether a filesystem without regard to case has another name there that
// stays.
func (p *planner) taken(at string) bool {
	other := p.project.otherName(at)
	if other == "" {
		return false
	}
	leaf, dir := p.leaves[other], p.dirs[other]
	return (leaf == nil || leaf.action != drop) && (dir == nil || dir.action != removeDir)
}

// hasDir reports whether the project has a directory, or will have it.
func (p *planner) hasDir(at string) bool {
	if d := p.dirs[at]; d != nil && d.action == makeDir {
		return true
	}
	return p.isDir(at)
}

func (p *planner) isDir(at string) bool {
	it, _ := p.project.at(at)
	return it != nil && it.kind == KindDir
}

// stands reports whether something other than a directory stands in the project.
func (p *planner) stands(at string) bool {
	it, problem := p.project.at(at)
	return problem != "" || it != nil && it.kind != KindDir
}
