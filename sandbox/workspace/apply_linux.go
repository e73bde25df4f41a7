package workspace

import (
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"umwelt/compilers/confine"
	"umwelt/diag"
)

// ApplyOptions steer Apply.
type ApplyOptions struct {
	// Strict applies nothing where anything is rejected or in conflict.
	Strict bool
	// Digest, where it is not empty, is the digest that the manifest must have. Whoever
	// kept the one that Build returned need not trust the workspace's own record.
	Digest string

	step func() // called before every system call that changes something; nil for nothing
}

// maxManifest bounds the manifest that is read, in bytes.
const maxManifest = 4 << 30

// Apply brings what the actor did in a workspace's tree into the project, as far as the
// policy allows it and the project did not change meanwhile. It decides about everything
// before it writes anything. Each file is then replaced at once: after a crash at any
// point each is the old one or the new one, and applying again finishes the work.
//
// An error says that the work could not be done or finished; the report is nil where
// nothing was decided. Outcomes are no errors. The actor should have stopped: where the
// tree changes while it is read, nothing is applied.
func Apply(dir string, o ApplyOptions) (*Report, error) {
	if o.step == nil {
		o.step = func() {}
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	at, err := openBeneath(dir, o.step)
	if err != nil {
		return nil, fmt.Errorf("the workspace %s cannot be opened: %w", diag.Quote(dir), cause(err))
	}
	defer at.close()
	if err := unix.Flock(at.fd, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, fmt.Errorf("another apply of %s is running", diag.Quote(dir))
	}
	// Closing is not enough where a child that was just forked still has the descriptor.
	defer unix.Flock(at.fd, unix.LOCK_UN)
	m, err := readManifest(at)
	if err != nil {
		return nil, fmt.Errorf("%s is no usable workspace: %w", diag.Quote(dir), err)
	}
	if o.Digest != "" && o.Digest != m.Digest {
		return nil, fmt.Errorf("the manifest of %s is not the expected one: its digest is %s", diag.Quote(dir), m.Digest)
	}
	given, err := at.sub(TreeName)
	if err != nil {
		return nil, fmt.Errorf("the tree of %s cannot be opened: %s", diag.Quote(dir), why(err))
	}
	defer given.close()
	if m.Strategy == Overlay {
		if err := checkOverlay(dir, at, given); err != nil {
			return nil, err
		}
	}
	real, err := openBeneath(string(m.Root), o.step)
	if err != nil {
		return nil, fmt.Errorf("the project %s cannot be opened: %w", diag.Quote(string(m.Root)), cause(err))
	}
	defer real.close()
	left, err := recoverJournal(at, real)
	if err != nil {
		return nil, err
	}
	t, err := scan(given)
	if err != nil {
		return nil, fmt.Errorf("the tree cannot be read: %w", err)
	}
	files := &project{beneath: real, dirs: map[string]*listing{}}
	c := &commit{at: at, tree: t, project: files, strict: o.Strict, left: left}
	return c.reconcile(m, &Report{Schema: ReportSchema, Dir: Name(dir), Root: m.Root, Digest: m.Digest})
}

func readManifest(at *beneath) (*Manifest, error) {
	f, err := at.open(ManifestName)
	if err != nil {
		return nil, errors.New("its manifest cannot be read: " + why(err))
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxManifest))
	if err != nil {
		return nil, err
	}
	m, err := decode(text)
	if err != nil {
		return nil, fmt.Errorf("its manifest is damaged: %w", err)
	}
	return m, nil
}

// reconcile decides, carries out and records.
func (c *commit) reconcile(m *Manifest, r *Report) (*Report, error) {
	p := newPlanner(m, c.tree, c.project)
	if err := p.decide(); err != nil {
		return nil, err
	}
	r.Left = c.left
	r.tell(p.order)
	if c.strict && !r.Clean() {
		return r, nil
	}
	err := c.run(p.order)
	r.Left = c.left
	r.tell(p.order)
	if err != nil {
		return r, err
	}
	r.Applied = true
	if m.renew(p, c) {
		if err := m.write(c.at); err != nil {
			return r, fmt.Errorf("everything is applied, but the manifest could not be renewed: %w; apply again", err)
		}
	}
	r.Digest = m.Digest
	return r, nil
}

func (r *Report) tell(order []*decision) {
	r.Changes = make([]Change, 0, len(order))
	for _, d := range order {
		r.Changes = append(r.Changes, d.Change)
	}
	r.count()
}

// renew makes the manifest say what the project and the tree now agree on, so that the
// actor can go on in the same workspace. It reports whether anything is new.
func (m *Manifest) renew(p *planner, c *commit) bool {
	entries := map[string]Entry{}
	for _, e := range m.Entries {
		entries[string(e.Path)] = e
	}
	changed := false
	for _, d := range p.order {
		at := string(d.Path)
		old, known := entries[at]
		e := Entry{Path: d.Path, Mode: confine.ReadWrite, Kind: d.Kind, Present: true}
		switch done := d.action != nothing || d.agreed; {
		case !done, known && old.Mode != confine.ReadWrite && old.Kind != KindDir:
			continue
		case d.Kind == KindDir && d.want == nil:
			stands, _ := p.project.at(at)
			if known && old.Kind == KindDir && !(d.agreed && (stands != nil || !p.isDir(path.Dir(at)))) {
				delete(entries, at)
				changed = true
			}
			continue
		case d.Kind == KindDir:
			e.Perm = d.want.perm
			if known && old.Kind == KindDir {
				e.Mode = old.Mode
			}
		case d.want == nil:
			// Where its directory is away, perhaps for a moment, the deletion is still due.
			if known && old.Kind == KindDir || d.agreed && !p.isDir(path.Dir(at)) {
				continue
			}
			e.Kind, e.Present = KindAbsent, false
		case c.placed[d] != nil:
			e = *c.placed[d]
			e.Mode = confine.ReadWrite
		default:
			if p.access(at, false) != "" {
				continue
			}
			e.Perm, e.Size, e.SHA256, e.Target = d.want.perm, d.want.at.size, d.want.sum, Name(d.want.target)
			if d.Kind == KindSymlink {
				e.Perm, e.Size = 0, 0
			}
		}
		changed = changed || !known || old != e
		entries[at] = e
	}
	if !changed {
		return false
	}
	m.Entries = m.Entries[:0]
	for _, e := range entries {
		m.Entries = append(m.Entries, e)
	}
	slices.SortFunc(m.Entries, func(a, b Entry) int {
		switch {
		case a.Path == ".":
			return -1
		case b.Path == ".":
			return 1
		}
		return confine.ComparePaths(string(a.Path), string(b.Path))
	})
	return true
}
