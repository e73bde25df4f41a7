package workspace

import (
	"os"
	"path"
	"slices"
	"strings"

	"umwelt/compilers/confine"
)

// action is what a decision does to the project.
type action uint8

const (
	nothing action = iota
	put            // a file or link, new or in place of the old one
	drop           // a file or link
	makeDir
	removeDir
	setPerm // of a directory
)

// decision is one change, and what is done for it.
type decision struct {
	Change
	action action
	want   *item // what stands in the tree; nil for nothing
	have   *item // what stands in the project; nil for nothing
	agreed bool  // a no-op because the project already is as the actor wants it
}

func (d *decision) end(o Outcome, why string) {
	d.Outcome, d.Why, d.action = o, why, nothing
}

// planner decides what becomes of every entry. It changes nothing.
type planner struct {
	manifest *Manifest
	strategy Strategy
	tree     *tree
	project  *project

	base      map[string]*Entry
	protected map[string]bool // directories that hold what the actor may not change
	leaves    map[string]*decision
	dirs      map[string]*decision
	order     []*decision
	writable  map[string]error
}

func newPlanner(m *Manifest, t *tree, p *project) *planner {
	pl := &planner{
		manifest: m, strategy: m.Strategy, tree: t, project: p, base: map[string]*Entry{}, protected: map[string]bool{},
		leaves: map[string]*decision{}, dirs: map[string]*decision{}, writable: map[string]error{},
	}
	for i := range m.Entries {
		e := &m.Entries[i]
		pl.base[string(e.Path)] = e
		if e.Kind != KindAbsent && e.Mode != confine.ReadWrite {
			for at := string(e.Path); at != "." && !pl.protected[path.Dir(at)]; {
				at = path.Dir(at)
				pl.protected[at] = true
			}
		}
	}
	return pl
}

// decide decides in three passes: files and directories from the top down, then the
// directories that go, deepest first, since one can go only when all in it does, and last
// the files that need such a directory's place.
func (p *planner) decide() error {
	paths := make([]string, 0, len(p.tree.items))
	for at := range p.tree.items {
		paths = append(paths, at)
	}
	for at := range p.base {
		if p.tree.items[at] == nil {
			paths = append(paths, at)
		}
	}
	slices.SortFunc(paths, confine.ComparePaths)
	for _, at := range paths {
		if err := p.path(at); err != nil {
			return err
		}
	}
	for i := len(p.order) - 1; i >= 0; i-- {
		if d := p.order[i]; d.action == removeDir {
			p.checkRemove(d)
		}
	}
	for _, d := range p.order {
		if d.action == put || d.action == makeDir {
			p.checkPlace(d)
		}
	}
	return nil
}

// path decides about one path. What is a directory and what is not are decided apart, so
// that an apply that was killed between the two goes on where it stopped.
func (p *planner) path(at string) error {
	b, w := p.base[at], p.tree.items[at]
	baseDir, treeDir := b != nil && b.Kind == KindDir, w != nil && w.kind == KindDir
	if b != nil && !baseDir && (b.Present || w != nil && !treeDir) || b == nil && !treeDir || baseDir && w != nil && !treeDir {
		if err := p.leaf(at, b, w); err != nil {
			return err
		}
	}
	if baseDir && b.Present || treeDir {
		p.dir(at, b, w)
	}
	return nil
}

func (p *planner) add(at string, kind Kind, in map[string]*decision) *decision {
	d := &decision{Change: Change{Path: Name(at), Kind: kind, Outcome: NoOp}}
	in[at] = d
	p.order = append(p.order, d)
	return d
}

// leaf decides about a file or link.
func (p *planner) leaf(at string, b *Entry, w *item) error {
	if w != nil && w.kind == KindDir {
		w = nil
	}
	if b != nil && b.Kind == KindDir && b.Present {
		b = nil
	}
	kind := KindFile
	switch {
	case w != nil:
		kind = w.kind
	case b != nil:
		kind = b.Kind
	}
	d := p.add(at, kind, p.leaves)
	d.want = w
	if w == nil {
		if why := p.tree.closed(at); why != "" {
			d.end(Rejected, "in a directory above it: "+why)
			return nil
		}
	}
	same, err := p.unchanged(at, b, w)
	if err != nil || same {
		return err
	}
	have, problem := p.project.at(at)
	if have != nil && have.kind == KindDir {
		have = nil
	}
	d.have = have
	if problem == "" {
		if same, err = p.equal(at, w, have); err != nil {
			return err
		}
		if d.agreed = same; same {
			return nil
		}
	}
	if why := p.access(at, false); why != "" {
		d.end(Rejected, why)
		return nil
	}
	if why := p.unfit(at, w); why != "" {
		d.end(Rejected, why)
		return nil
	}
	if problem != "" {
		d.end(Conflict, problem)
		return nil
	}
	why, err := p.drifted(at, b, have)
	if err != nil {
		return err
	}
	if why != "" {
		d.end(Conflict, why)
		return nil
	}
	p.choose(d, b, have)
	return nil
}

// choose settles what is done for a file or link that nothing speaks against.
func (p *planner) choose(d *decision, b *Entry, have *item) {
	switch {
	case d.want == nil:
		d.Outcome, d.action = Deleted, drop
	case have != nil:
		d.Outcome, d.action = Applied, put
	default:
		d.Outcome, d.action = Created, put
	}
	if have != nil && os.Geteuid() != 0 && int(have.at.uid) != os.Geteuid() {
		d.end(Rejected, "it belongs to another user")
		return
	}
	p.checkDir(d)
}

// checkDir turns a decision into a conflict where this user may not write to the
// directory, so that a refusal comes before anything is changed.
func (p *planner) checkDir(d *decision) {
	dir := path.Dir(string(d.Path))
	have, problem := p.project.at(dir)
	if problem != "" || have == nil || have.kind != KindDir {
		return // checkPlace sees to it
	}
	err, known := p.writable[dir]
	if !known {
		err = p.project.mayWrite(dir)
		p.writable[dir] = err
	}
	if err != nil {
		d.end(Conflict, "the project's directory cannot be written to: "+why(err))
	}
}

// unchanged reports whether the tree still holds at a path what was put there.
func (p *planner) unchanged(at string, b *Entry, w *item) (bool, error) {
	switch {
	case b == nil || !b.Present:
		return w == nil, nil
	case w == nil:
		return false, nil
	case b.Linked:
		return w.kind == KindSymlink && w.target == string(p.manifest.Root)+"/"+at, nil
	case b.Kind == KindSymlink:
		return w.kind == KindSymlink && w.target == string(b.Target), nil
	case w.kind != KindFile || w.perm != given(p.strategy, b) || w.special != 0 || w.at.size != b.Size:
		return false, nil
	}
	sum, err := p.tree.hash(at, w)
	return sum == b.SHA256, err
}

// equal reports whether the project already has what stands in the tree.
func (p *planner) equal(at string, w, have *item) (bool, error) {
	switch {
	case w == nil || have == nil:
		return w == nil && have == nil, nil
	case w.kind != have.kind || w.kind == KindSpecial || w.problem != "" || have.problem != "":
		return false, nil
	case w.kind == KindSymlink:
		return w.target == have.target, nil
	case w.perm != have.perm || w.special != 0 || w.at.size != have.at.size:
		return false, nil
	}
	a, err := p.tree.hash(at, w)
	if err != nil || a == "" {
		return false, err
	}
	z, err := p.project.hash(at, have)
	return a == z, err
}

// drifted says how the project is no longer what the workspace was made from, or "".
func (p *planner) drifted(at string, b *Entry, have *item) (string, error) {
	expected := b != nil && b.Kind != KindAbsent
	switch {
	case !expected && have == nil:
		return "", nil
	case !expected && b == nil:
		return "the project has something there that the workspace was not made from", nil
	case !expected:
		return "it was made in the project meanwhile", nil
	case have == nil:
		return "it went away in the project meanwhile", nil
	case have.problem != "":
		return "in the project " + have.problem, nil
	case have.kind != b.Kind,
		b.Kind == KindSymlink && have.target != string(b.Target),
		b.Kind == KindFile && (have.at.size != b.Size || have.perm != b.Perm):
		return "it was changed in the project meanwhile", nil
	case b.Kind == KindSymlink:
		return "", nil
	}
	sum, err := p.project.hash(at, have)
	switch {
	case err != nil:
		return "", err
	case have.problem != "":
		return "in the project " + have.problem, nil
	case sum != b.SHA256:
		return "it was changed in the project meanwhile", nil
	}
	return "", nil
}

// access says why the actor may not change, make or remove what stands at a path, or "".
// A path of its own has its own answer; any other the nearest directory's above it.
func (p *planner) access(at string, dir bool) string {
	b := p.base[at]
	switch {
	case b == nil:
	case b.Kind == KindDir:
		if !b.Present {
			return "the policy hides what stands here"
		}
	case b.Mode == confine.ReadWrite:
		if !dir {
			return ""
		}
	case b.Mode == confine.Hidden && b.Kind == KindAbsent:
		return "the policy does not let anything be made here"
	case b.Mode == confine.Hidden:
		return "the policy hides what stands here"
	default:
		return "the policy protects it"
	}
	for at != "." {
		at = path.Dir(at)
		b := p.base[at]
		switch {
		case b == nil:
		case b.Mode != confine.ReadWrite:
			return "the policy does not let anything be made or removed in this directory"
		case b.Kind == KindDir:
			return ""
		}
	}
	return "the policy does not let anything be made or removed in this directory"
}

// unfit says why something in the tree must not come into the project, or "".
func (p *planner) unfit(at string, w *item) string {
	switch {
	case w == nil:
		return ""
	case w.problem != "":
		return w.problem
	case w.kind == KindSpecial:
		return "it is a FIFO, socket or device"
	case w.kind == KindSymlink:
		if !staysInside(at, w.target) {
			return "the symbolic link could lead out of the project"
		}
		return ""
	case w.special != 0:
		return "it has a set-user-ID, set-group-ID or sticky bit"
	case p.tree.shared(w):
		return "it has another name outside the workspace, so its content may not be the actor's"
	}
	return ""
}

// staysInside reports whether a link leads nowhere but into the project, whatever other
// links there are: it climbs only at its beginning and no further than the root.
func staysInside(at, target string) bool {
	if target == "" || target[0] == '/' {
		return false
	}
	depth, down := strings.Count(at, "/"), false
	for part := range strings.SplitSeq(target, "/") {
		switch part {
		case "..":
			if depth--; down || depth < 0 {
				return false
			}
		case "", ".":
		default:
			down = true
		}
	}
	return true
}
