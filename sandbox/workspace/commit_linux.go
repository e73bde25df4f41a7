package workspace

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"umwelt/diag"
)

const journalSchema = "umwelt.workspace-journal/1"

// journal is written before anything is written aside in the project. It names all that
// may be left there by an apply that was killed. What that apply had still to do is not
// recorded: the next one decides anew, and finds what is done already as agreed.
type journal struct {
	Schema string `json:"schema"`
	Aside  []Name `json:"aside"`
}

// commit carries decisions out.
type commit struct {
	at      *beneath // the workspace directory
	tree    *tree
	project *project
	strict  bool
	left    []Name // aside, from this apply or an earlier one
	steps   []*decision
	aside   map[*decision]string
	placed  map[*decision]*Entry // what a put brought into the project
	touched map[string]bool
	owner   fingerprint // of the project's root
}

// run writes everything aside, looks once more whether the project is as it was, and only
// then begins to change it.
func (c *commit) run(order []*decision) error {
	for _, d := range order {
		if d.action != nothing {
			c.steps = append(c.steps, d)
		}
	}
	if len(c.steps) == 0 {
		return nil
	}
	root, problem := c.project.at(".")
	if problem != "" {
		return errors.New(problem)
	}
	c.owner = root.at
	if err := c.room(); err != nil {
		return err
	}
	if err := c.begin(); err != nil {
		return err
	}
	err := c.stage()
	if err == nil {
		err = c.verify()
	}
	if err == nil {
		err = c.carryOut()
	}
	return errors.Join(err, c.finish())
}

// room refuses an apply for which the project's filesystem has no room.
func (c *commit) room() error {
	var fs unix.Statfs_t
	if err := unix.Fstatfs(c.project.fd, &fs); err != nil {
		return err
	}
	free := int64(fs.Bavail) * fs.Bsize
	for _, d := range c.steps {
		if d.action == put && d.want.kind == KindFile {
			if free -= d.want.at.size; free < 0 {
				return errors.New("the project's filesystem has no room for what would be written")
			}
		}
	}
	return nil
}

// begin gives everything that is written aside its name, and writes the journal.
func (c *commit) begin() error {
	c.aside, c.placed, c.touched = map[*decision]string{}, map[*decision]*Entry{}, map[string]bool{}
	names := slices.Clone(c.left)
	for _, d := range c.steps {
		if d.action != put && d.action != makeDir {
			continue
		}
		// In the same directory, or, where that is still to be made, in the one that it
		// will be made in.
		dir := path.Dir(string(d.Path))
		for {
			if it, _ := c.project.at(dir); it != nil && it.kind == KindDir {
				break
			}
			dir = path.Dir(dir)
		}
		c.aside[d] = join(dir, tempPrefix+rand.Text())
		names = append(names, Name(c.aside[d]))
	}
	if len(names) == 0 {
		return nil
	}
	return writeJournal(c.at, names)
}

// stage writes every new file and link aside, whole and synced.
func (c *commit) stage() error {
	for _, d := range c.steps {
		if d.action != put {
			continue
		}
		e, err := c.write(d)
		if err != nil {
			return fmt.Errorf("nothing was applied: %w", reading(string(d.Path), err))
		}
		c.placed[d] = e
	}
	return nil
}

func (c *commit) write(d *decision) (*Entry, error) {
	e := &Entry{Path: d.Path, Kind: d.want.kind, Present: true}
	if d.want.kind == KindSymlink {
		e.Target = Name(d.want.target)
		if err := c.project.symlink(d.want.target, c.aside[d]); err != nil {
			return nil, err
		}
		return e, c.project.in("chown", c.aside[d], func(dir int, base string) error {
			return c.chown(d, func(uid, gid int) error { return unix.Fchownat(dir, base, uid, gid, unix.AT_SYMLINK_NOFOLLOW) })
		})
	}
	from, err := c.tree.open(string(d.Path))
	if err != nil {
		return nil, err
	}
	defer from.Close()
	if now, err := stamp(from); err != nil || now != d.want.at {
		return nil, errors.Join(err, errChanging)
	}
	to, err := c.project.create(c.aside[d])
	if err != nil {
		return nil, err
	}
	defer to.Close()
	e.Perm = d.want.perm
	if e.Size, e.SHA256, err = copyFile(to, from, c.project.step); err != nil {
		return nil, err
	}
	if d.want.sum != "" && d.want.sum != e.SHA256 {
		return nil, errChanging
	}
	c.project.step()
	if err := c.chown(d, to.Chown); err != nil {
		return nil, err
	}
	c.project.step()
	if err := unix.Fchmod(int(to.Fd()), e.Perm); err != nil {
		return nil, err
	}
	c.project.step()
	return e, to.Sync()
}

// chown keeps the owner and group of what is replaced. What the superuser makes belongs to
// whom the project belongs to.
func (c *commit) chown(d *decision, set func(uid, gid int) error) error {
	switch {
	case d.have != nil:
		return set(int(d.have.at.uid), int(d.have.at.gid))
	case os.Geteuid() == 0:
		return set(int(c.owner.uid), int(c.owner.gid))
	}
	return nil
}

// verify turns decisions about what changed since they were made into conflicts. After
// it, the project is changed.
func (c *commit) verify() error {
	for _, d := range c.steps {
		if !c.still(d) {
			d.end(Conflict, "it was changed in the project meanwhile")
			if c.strict {
				return errors.New("nothing was applied: the project is being changed")
			}
		}
	}
	return nil
}

// still reports whether what stands at a decision's path is what was decided about.
func (c *commit) still(d *decision) bool {
	st, err := c.project.stat(string(d.Path))
	if d.have == nil || d.action == makeDir {
		return true // making something never replaces anything
	}
	if d.action == removeDir || d.action == setPerm {
		return err == nil && kindOf(st.Mode) == KindDir && st.Ino == d.have.at.ino
	}
	return err == nil && d.have.at.still(fingerprintOf(&st))
}

// carryOut changes the project, in an order in which everything has its place: what goes,
// from the deepest up, then new directories from the top down, then files and links, and
// permissions of directories last.
func (c *commit) carryOut() error {
	of := func(want action, steps []*decision) error {
		for _, d := range steps {
			if d.action != want {
				continue
			}
			if err := c.perform(d); err != nil {
				return fmt.Errorf("%s: %w; apply again to finish", diag.Quote(string(d.Path)), cause(err))
			}
		}
		return nil
	}
	deepest := slices.Clone(c.steps)
	slices.Reverse(deepest)
	for _, pass := range []struct {
		action
		steps []*decision
	}{{drop, deepest}, {removeDir, deepest}, {makeDir, c.steps}, {put, c.steps}, {setPerm, deepest}} {
		if err := of(pass.action, pass.steps); err != nil {
			return err
		}
	}
	return nil
}

// perform carries out one decision. Where the project changed under it, the decision
// becomes a conflict.
func (c *commit) perform(d *decision) error {
	at := string(d.Path)
	if !c.still(d) {
		d.end(Conflict, "it was changed in the project meanwhile")
		return nil
	}
	var err error
	switch d.action {
	case drop:
		err = c.project.unlink(at)
	case removeDir:
		err = c.project.rmdir(at)
	case makeDir:
		err = c.makeDir(d)
	case put:
		err = c.project.rename(c.aside[d], at, d.have != nil)
	case setPerm:
		err = c.project.chmod(at, d.want.perm)
	}
	if is(err, unix.EEXIST, unix.ENOTEMPTY, unix.ENOTDIR, unix.EISDIR, unix.ELOOP, unix.ENOENT) {
		d.end(Conflict, "it was changed in the project meanwhile")
		return nil
	}
	c.touched[path.Dir(at)] = true
	if aside := c.aside[d]; aside != "" {
		c.touched[path.Dir(aside)] = true
	}
	return err
}

// makeDir makes a directory aside and gives it its name, so that it never stands there
// with the wrong permissions. Its owner may always use it.
func (c *commit) makeDir(d *decision) error {
	aside, perm := c.aside[d], d.want.perm|0o700
	if err := c.project.mkdir(aside, 0o700); err != nil {
		return err
	}
	err := c.project.in("chown", aside, func(dir int, base string) error {
		return c.chown(d, func(uid, gid int) error { return unix.Fchownat(dir, base, uid, gid, unix.AT_SYMLINK_NOFOLLOW) })
	})
	if err != nil {
		return err
	}
	if err := c.project.chmod(aside, perm); err != nil {
		return err
	}
	return c.project.rename(aside, string(d.Path), false)
}

// finish makes the changes last and takes away what is left aside.
func (c *commit) finish() error {
	var failed error
	for _, dir := range slices.Sorted(maps.Keys(c.touched)) {
		if err := c.project.sync(dir); err != nil && !is(err, unix.ENOENT, unix.ENOTDIR, unix.ELOOP) {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", diag.Quote(dir), cause(err)))
		}
	}
	names := slices.Clone(c.left)
	for _, d := range c.steps {
		if name := c.aside[d]; name != "" {
			names = append(names, Name(name))
		}
	}
	if len(names) == 0 {
		return failed
	}
	var err error
	c.left, err = sweep(c.at, c.project.beneath, names)
	return errors.Join(failed, err)
}

// recoverJournal takes away what a killed apply left aside in the project, and gives the
// names that it could not reach.
func recoverJournal(at, project *beneath) ([]Name, error) {
	f, err := at.open(journalName)
	if is(err, unix.ENOENT) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	var j journal
	if err := json.Unmarshal(text, &j); err != nil || j.Schema != journalSchema {
		return nil, fmt.Errorf("the journal %s of an interrupted apply cannot be understood; see what it names and remove it", journalName)
	}
	return sweep(at, project, j.Aside)
}

// sweep removes what was written aside, and then the journal. What stood in a directory
// that somebody replaced with a link or a file cannot be reached: it stays in the journal,
// so that the next apply tries again.
func sweep(at, project *beneath, names []Name) ([]Name, error) {
	var left []Name
	for _, n := range names {
		name := string(n)
		if !validPath(name) || !ours(path.Base(name)) {
			return nil, fmt.Errorf("the journal names %s, which no apply made", diag.Quote(name))
		}
		err := project.unlink(name)
		if is(err, unix.EISDIR, unix.EPERM) {
			err = project.rmdir(name)
		}
		switch {
		case err == nil, is(err, unix.ENOENT):
		case is(err, unix.ELOOP, unix.ENOTDIR):
			left = append(left, n)
		default:
			return nil, fmt.Errorf("%s is left in the project and could not be removed: %w; apply again", diag.Quote(name), cause(err))
		}
	}
	if left != nil {
		return left, writeJournal(at, left)
	}
	if err := at.unlink(journalName); err != nil {
		return nil, err
	}
	return nil, at.sync(".")
}

func writeJournal(at *beneath, aside []Name) error {
	text, err := plainJSON(journal{journalSchema, aside})
	if err != nil {
		return err
	}
	return writeWhole(at, journalName, append(text, '\n'))
}

// ours reports whether a name is one that an apply makes up.
func ours(base string) bool {
	rest, ok := strings.CutPrefix(base, tempPrefix)
	return ok && len(rest) == 26 && strings.Trim(rest, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}
