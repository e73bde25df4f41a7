package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"umwelt/diag"
)

// showLower gives a file a second name in the lower directory of an overlay, which is
// never written to: the kernel copies a file before the first write.
func (b *builder) showLower(e *Entry, st *unix.Stat_t) error {
	path := string(e.Path)
	from, err := b.real.open(path)
	if err != nil {
		b.skip(e, why(err))
		return nil
	}
	defer from.Close()
	if e.Size, e.SHA256, err = sizeAndHash(from); err != nil {
		return reading(path, err)
	}
	err = b.real.in("link", path, func(source int, name string) error {
		return b.tree.in("link", path, func(target int, _ string) error {
			return unix.Linkat(source, name, target, name, 0)
		})
	})
	if is(err, unix.EXDEV, unix.EMLINK, unix.EPERM) {
		return fmt.Errorf("%s cannot be linked for an overlay: %w; use --strategy copy, or put the workspace on the project's filesystem", diag.Quote(path), cause(err))
	}
	if err != nil {
		return err
	}
	linked, err := b.tree.stat(path)
	if err != nil || linked.Ino != st.Ino || linked.Dev != st.Dev {
		return reading(path, errChanging)
	}
	e.Present = true
	return nil
}

// overlayOptions are what mount takes for a workspace.
func overlayOptions(dir string) (string, error) {
	if strings.ContainsAny(dir, `:,\"`) {
		return "", fmt.Errorf("an overlay cannot be mounted at %s because of its name; use --strategy copy", diag.Quote(dir))
	}
	join := func(name string) string { return filepath.Join(dir, name) }
	return "lowerdir=" + join(lowerName) + ",upperdir=" + join(upperName) + ",workdir=" + join(workName), nil
}

func mountOverlay(dir string) error {
	options, err := overlayOptions(dir)
	if err != nil {
		return err
	}
	err = unix.Mount("overlay", filepath.Join(dir, TreeName), "overlay", unix.MS_NOSUID|unix.MS_NODEV, options)
	if err != nil {
		return fmt.Errorf("this user cannot mount an overlay here: %w; use --strategy copy", err)
	}
	return nil
}

// checkOverlay refuses an overlay that is not mounted: its tree would look as if the actor
// had deleted everything.
func checkOverlay(dir string, at, tree *beneath) error {
	var fs unix.Statfs_t
	if err := unix.Fstatfs(tree.fd, &fs); err != nil {
		return err
	}
	inner, err := tree.stat(".")
	if err != nil {
		return err
	}
	outer, err := at.stat(".")
	if err != nil {
		return err
	}
	if fs.Type == unix.OVERLAYFS_SUPER_MAGIC && inner.Dev != outer.Dev {
		return nil
	}
	options, err := overlayOptions(dir)
	if err != nil {
		return err
	}
	return fmt.Errorf("its overlay is not mounted; mount it again with: mount -t overlay overlay -o %s %s", diag.Escape(options), diag.Escape(filepath.Join(dir, TreeName)))
}

// Remove unmounts and removes a workspace. A directory that is none is left alone.
func Remove(dir string) error {
	if _, err := os.Lstat(filepath.Join(dir, ManifestName)); err != nil {
		return fmt.Errorf("%s is no workspace: %w", diag.Quote(dir), cause(err))
	}
	for {
		err := unix.Unmount(filepath.Join(dir, TreeName), unix.UMOUNT_NOFOLLOW)
		if is(err, unix.EINVAL, unix.EPERM) { // nothing is mounted, or nothing by this user
			break
		}
		if err != nil {
			return fmt.Errorf("%s cannot be unmounted: %w", diag.Quote(dir), err)
		}
	}
	return removeAll(dir)
}

// removeAll removes a directory of this user's, also where the directories in it may not
// be written to.
func removeAll(dir string) error {
	at, err := openBeneath(dir, func() {})
	if err != nil {
		return err
	}
	open(at, ".")
	at.close()
	return os.RemoveAll(dir)
}

// open lets this user remove what lies in a directory. What it cannot reach, removing
// reports.
func open(at *beneath, dir string) {
	_ = at.chmod(dir, 0o700)
	_ = at.each(dir, func(name string, st *unix.Stat_t) error {
		if st.Mode&unix.S_IFMT == unix.S_IFDIR {
			open(at, join(dir, name))
		}
		return nil
	})
}
