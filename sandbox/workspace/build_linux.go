package workspace

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"umwelt/compilers/confine"
	"umwelt/diag"
)

// Build makes a workspace of what a tree of modes shows, see confine.Tree. The workspace
// appears whole or not at all.
func Build(policy *confine.Node, o Options) (*Built, error) {
	if !slices.Contains(Strategies(), string(o.Strategy)) {
		return nil, fmt.Errorf("there is no strategy %s", diag.Quote(string(o.Strategy)))
	}
	dir, err := place(o.Root, o.Dir)
	if err != nil {
		return nil, err
	}
	o.Dir = dir
	real, err := openBeneath(o.Root, func() {})
	if err != nil {
		return nil, fmt.Errorf("the project %s cannot be opened: %w", diag.Quote(o.Root), cause(err))
	}
	defer real.close()
	aside := filepath.Join(filepath.Dir(dir), tempPrefix+rand.Text())
	if err := os.Mkdir(aside, 0o700); err != nil {
		return nil, fmt.Errorf("a workspace cannot be made in %s: %w", diag.Quote(filepath.Dir(dir)), cause(err))
	}
	b := &builder{o: o, real: real, appears: map[*confine.Node]bool{}}
	b.out = &Built{Dir: dir, Manifest: &Manifest{Schema: Schema, Root: Name(o.Root), Strategy: o.Strategy}}
	err = b.fill(policy, aside)
	if err == nil {
		err = publish(b.out.Manifest, aside, dir)
	}
	if err != nil {
		return nil, errors.Join(err, removeAll(aside))
	}
	if o.Strategy == Overlay {
		if err := mountOverlay(dir); err != nil {
			return nil, errors.Join(err, removeAll(dir))
		}
	}
	return b.out, nil
}

// place is where a workspace may be made: not in the project, which it would grow into,
// nor round it.
func place(root, dir string) (string, error) {
	if !filepath.IsAbs(root) || filepath.Clean(root) != root || root == "/" {
		return "", fmt.Errorf("the project root %s is no clean absolute path below /", diag.Quote(root))
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	parent, err := filepath.EvalSymlinks(filepath.Dir(dir))
	if err != nil {
		return "", fmt.Errorf("the directory for the workspace cannot be used: %w", err)
	}
	project, err := filepath.EvalSymlinks(root)
	if err != nil {
		return "", fmt.Errorf("the project cannot be used: %w", err)
	}
	at := filepath.Join(parent, filepath.Base(dir))
	if contains(project, at) || contains(at, project) {
		return "", fmt.Errorf("the workspace %s and the project %s may not lie in one another", diag.Quote(dir), diag.Quote(root))
	}
	switch names, err := os.ReadDir(at); {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return "", fmt.Errorf("%s is in the way: %w", diag.Quote(dir), cause(err))
	case len(names) > 0:
		return "", fmt.Errorf("%s is there already and is not empty", diag.Quote(dir))
	}
	return at, nil
}

// join is the path of a name in a directory, which is "." for the root.
func join(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}

func contains(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// builder fills a workspace.
type builder struct {
	o       Options
	real    *beneath
	tree    *beneath // where files are put: the tree, or the lower directory of an overlay
	out     *Built
	appears map[*confine.Node]bool
	seen    int
}

func (b *builder) fill(policy *confine.Node, aside string) error {
	into := TreeName
	for _, name := range []string{TreeName, lowerName, upperName, workName} {
		if name != TreeName && b.o.Strategy != Overlay {
			continue
		}
		if err := os.Mkdir(filepath.Join(aside, name), 0o700); err != nil {
			return err
		}
	}
	if b.o.Strategy == Overlay {
		into = lowerName
	}
	tree, err := openBeneath(filepath.Join(aside, into), func() {})
	if err != nil {
		return err
	}
	defer tree.close()
	b.tree = tree
	b.look(policy)
	b.appears[policy] = true
	if err := b.dir(policy, ".", false); err != nil {
		return err
	}
	if b.o.Strategy == Overlay {
		// The merged directory has the permissions of the upper one.
		if err := os.Chmod(filepath.Join(aside, upperName), os.FileMode(given(b.o.Strategy, &b.out.Manifest.Entries[0]))); err != nil {
			return err
		}
	}
	// Data that is lost in a power failure would look like the actor's own change.
	return unix.Syncfs(tree.fd)
}

// look finds the directories that appear: those that may be seen, that may hold files to
// be made, or that hold something which appears.
func (b *builder) look(n *confine.Node) bool {
	appears := n.Mode != confine.Hidden || n.Kind == confine.Dir && n.Shown
	for _, c := range n.Children {
		appears = b.look(c) || appears
	}
	if appears && n.Kind == confine.Dir {
		b.appears[n] = true
	}
	return appears
}

// given is the permission bits of an entry in the tree.
func given(s Strategy, e *Entry) uint32 {
	if e.Mode == confine.ReadWrite || s == Overlay && e.Kind == KindFile {
		return e.Perm
	}
	return e.Perm &^ 0o222
}

// dir records a directory and what lies in it. Where gone is set, something on the way to
// it is not what the world said, so nothing in it is shown.
func (b *builder) dir(n *confine.Node, path string, gone bool) error {
	at := len(b.out.Manifest.Entries)
	e := Entry{Path: Name(path), Kind: KindDir, Mode: n.Mode}
	if gone || !b.appears[n] {
		e.Mode = confine.Hidden
		gone = true
	} else {
		st, err := b.real.stat(path)
		switch {
		case is(err, unix.ENOENT) && path != ".":
			e.Kind = KindAbsent
		case err != nil:
			b.skip(&e, why(err))
			gone = true
		case st.Mode&unix.S_IFMT != unix.S_IFDIR:
			e.Kind = kindOf(st.Mode)
			b.skip(&e, "it is no longer a directory")
			gone = true
		default:
			e.Present, e.Perm = true, st.Mode&0o777
		}
	}
	if e.Present && path != "." {
		if err := b.tree.mkdir(path, 0o700); err != nil {
			return err
		}
	}
	b.out.Manifest.Entries = append(b.out.Manifest.Entries, e)
	for _, c := range n.Children {
		if b.seen++; b.seen > maxEntries {
			return fmt.Errorf("the project cannot be a workspace: %w", errTooMany)
		}
		child := join(path, c.Name)
		var err error
		if c.Kind == confine.Dir {
			err = b.dir(c, child, gone)
		} else {
			err = b.leaf(c, child, gone)
		}
		if err != nil {
			return err
		}
	}
	if !e.Present {
		return nil
	}
	return b.tree.chmod(path, given(b.o.Strategy, &b.out.Manifest.Entries[at]))
}

func (b *builder) leaf(n *confine.Node, path string, gone bool) error {
	e := Entry{Path: Name(path), Kind: KindFile, Mode: n.Mode}
	switch n.Kind {
	case confine.Symlink:
		e.Kind = KindSymlink
	case confine.Special:
		e.Kind = KindSpecial
	}
	if gone {
		e.Mode = confine.Hidden
	}
	var err error
	if e.Mode != confine.Hidden {
		err = b.show(n, &e)
	} else if _, there := b.real.stat(path); is(there, unix.ENOENT, unix.ENOTDIR) {
		e.Kind = KindAbsent
	}
	b.out.Manifest.Entries = append(b.out.Manifest.Entries, e)
	return err
}

// show puts a file or link into the tree, or says why not.
func (b *builder) show(n *confine.Node, e *Entry) error {
	path := string(e.Path)
	st, err := b.real.stat(path)
	switch kind := kindOf(st.Mode); {
	case is(err, unix.ENOENT, unix.ENOTDIR):
		e.Kind = KindAbsent
		return nil
	case err != nil:
		b.skip(e, why(err))
		return nil
	case kind != e.Kind:
		e.Kind = kind
		b.skip(e, "it is not what the world says it is")
		return nil
	case kind == KindSpecial:
		b.skip(e, "a FIFO, socket or device cannot be copied")
		return nil
	case kind == KindSymlink:
		return b.showLink(n, e)
	}
	e.Perm = st.Mode & 0o777
	if b.o.Strategy == Overlay {
		return b.showLower(e, &st)
	}
	from, err := b.real.open(path)
	if err != nil {
		b.skip(e, why(err))
		return nil
	}
	defer from.Close()
	if b.o.Strategy == Link && e.Mode == confine.ReadOnly {
		if b.o.Confined || b.cannotWrite(path, &st) {
			if e.Size, e.SHA256, err = sizeAndHash(from); err != nil {
				return reading(path, err)
			}
			e.Present, e.Linked = true, true
			return b.tree.symlink(string(b.out.Manifest.Root)+"/"+path, path)
		}
		b.out.Copied++
	}
	to, err := b.tree.create(path)
	if err != nil {
		return err
	}
	defer to.Close()
	if e.Size, e.SHA256, err = copyFile(to, from, b.tree.step); err != nil {
		return reading(path, err)
	}
	e.Present = true
	return unix.Fchmod(int(to.Fd()), given(b.o.Strategy, e))
}

func sizeAndHash(f *os.File) (int64, string, error) {
	before, err := stamp(f)
	if err != nil {
		return 0, "", err
	}
	sum, err := hashFile(f, before.size)
	return before.size, sum, err
}

func (b *builder) showLink(n *confine.Node, e *Entry) error {
	target, err := b.real.readlink(string(e.Path))
	switch {
	case err != nil:
		b.skip(e, why(err))
	case n.Escapes || target != n.Target:
		b.skip(e, "the symbolic link leads out of the root, or is not the one that was discovered")
	case strings.HasPrefix(target, "/"):
		b.skip(e, "the symbolic link is absolute, so it would lead from the workspace back into the project")
	default:
		e.Present, e.Target = true, Name(target)
		return b.tree.symlink(target, string(e.Path))
	}
	return nil
}

// cannotWrite reports whether this user neither may write to a file nor may take leave to.
func (b *builder) cannotWrite(path string, st *unix.Stat_t) bool {
	if uid := os.Geteuid(); uid == 0 || uint32(uid) == st.Uid {
		return false
	}
	err := b.real.in("access", path, func(dir int, base string) error {
		return unix.Faccessat(dir, base, unix.W_OK, unix.AT_EACCESS)
	})
	return is(err, unix.EACCES, unix.EROFS, unix.EPERM)
}

// skip keeps a path out of the tree and out of reach.
func (b *builder) skip(e *Entry, why string) {
	e.Mode = confine.Hidden
	b.out.Skipped = append(b.out.Skipped, Skipped{string(e.Path), why})
}

func kindOf(mode uint32) Kind {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return KindFile
	case unix.S_IFDIR:
		return KindDir
	case unix.S_IFLNK:
		return KindSymlink
	}
	return KindSpecial
}

// why says what an error means for a path.
func why(err error) string {
	if is(err, unix.ELOOP, unix.ENOTDIR) {
		return "a symbolic link stands on the way to it"
	}
	return cause(err).Error()
}

// cause takes the operation and the path off a file error.
func cause(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

func reading(path string, err error) error {
	return fmt.Errorf("%s: %w", diag.Quote(path), cause(err))
}

// publish writes the manifest and gives a finished workspace its name.
func publish(m *Manifest, aside, dir string) error {
	at, err := openBeneath(aside, func() {})
	if err != nil {
		return err
	}
	defer at.close()
	if err := m.write(at); err != nil {
		return err
	}
	if err := os.Rename(aside, dir); err != nil {
		return fmt.Errorf("the workspace cannot be made at %s: %w", diag.Quote(dir), err)
	}
	parent, err := openBeneath(filepath.Dir(dir), func() {})
	if err != nil {
		return err
	}
	defer parent.close()
	return parent.sync(".")
}

// write replaces the manifest of a workspace, whole or not at all.
func (m *Manifest) write(dir *beneath) error {
	text, err := m.encode()
	if err != nil {
		return err
	}
	return writeWhole(dir, ManifestName, append(text, '\n'))
}

// writeWhole writes a file of the workspace directory aside, syncs and renames it.
func writeWhole(dir *beneath, name string, text []byte) error {
	aside := name + ".new"
	if err := dir.unlink(aside); err != nil && !is(err, unix.ENOENT) {
		return err
	}
	f, err := dir.create(aside)
	if err != nil {
		return err
	}
	defer f.Close()
	dir.step()
	if _, err := f.Write(text); err != nil {
		return err
	}
	dir.step()
	if err := f.Sync(); err != nil {
		return err
	}
	if err := dir.rename(aside, name, true); err != nil {
		return err
	}
	return dir.sync(".")
}
