package bwrap

import (
	"strconv"
	"strings"

	"umwelt/compilers/confine"
)

// defaultPath is where programs are looked up where no rule sets a search path.
const defaultPath = "/usr/local/bin:/usr/bin:/bin"

// options is what stands between the program's name and the command. Mounts apply in
// the order of the list, so that every parent comes before its children, and the empty
// directories that stand for hidden ones are sealed once everything in them is mounted.
func options(c *confine.Confinement, workdir string, open, clearEnv bool) []string {
	o := []string{"--unshare-all"}
	if open {
		o = append(o, "--share-net")
	}
	o = append(o, "--die-with-parent", "--new-session", "--cap-drop", "ALL")
	if clearEnv {
		o = append(o, "--clearenv")
	}
	path := c.SearchPath
	if path == "" {
		path = defaultPath
	}
	o = append(o, "--setenv", "PATH", path)
	var seal []string
	for _, s := range c.Layout(workdir) {
		if s.Hides != "" {
			// What is gone cannot be bound, and so is not made anew to be covered.
			o = append(o, "--ro-bind", s.Hides, s.Path)
		}
		switch s.Kind {
		case confine.Bind:
			flag := "--bind"
			if s.ReadOnly {
				flag = "--ro-bind"
			}
			o = append(o, flag, s.Source, s.Path)
		case confine.Cover:
			// A bind is nodev, so that nobody can open what looks like a device.
			o = append(o, "--ro-bind", "/dev/null", s.Path)
		case confine.Tmpfs:
			if s.Perms != "" {
				o = append(o, "--perms", s.Perms)
			}
			if s.Size > 0 {
				o = append(o, "--size", strconv.FormatInt(s.Size, 10))
			}
			o = append(o, "--tmpfs", s.Path)
			if s.ReadOnly {
				seal = append(seal, "--remount-ro", s.Path)
			}
		case confine.Proc:
			o = append(o, "--proc", s.Path)
			// What stands in it speaks of the whole machine to root, and of the helper, which
			// has no filter, to everybody.
			seal = append(seal, "--remount-ro", s.Path)
		case confine.Dev:
			// The directory of devices is no place to keep anything; what it holds for
			// shared memory is a temporary directory like others.
			o = append(o, "--dev", s.Path, "--perms", "1777")
			if limit := c.Limits.Tmpfs; limit != nil {
				o = append(o, "--size", strconv.FormatInt(max(1, *limit), 10))
			}
			o = append(o, "--tmpfs", strings.TrimSuffix(s.Path, "/")+"/shm")
			seal = append(seal, "--remount-ro", s.Path)
		case confine.Link:
			o = append(o, "--symlink", s.Source, s.Path)
		}
	}
	o = append(o, seal...)
	return append(o, "--remount-ro", "/", "--chdir", workdir)
}
