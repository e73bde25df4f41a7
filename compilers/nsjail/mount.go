package nsjail

import (
	"strconv"
	"strings"

	"umwelt/compilers/confine"
)

// devices are the nodes of a minimal /dev, and links what programs expect beside them.
var (
	devices = []string{"full", "null", "random", "tty", "urandom", "zero"}
	links   = [][2]string{{"fd", "/proc/self/fd"}, {"stderr", "/proc/self/fd/2"}, {"stdin", "/proc/self/fd/0"}, {"stdout", "/proc/self/fd/1"}}
)

// mount writes the mounts of one step. nsjail makes all of them first and takes the right
// to write away afterwards, in the same order, so that what stands in a read-only tmpfs
// can still be made.
func mount(t *text, s confine.Step) {
	switch s.Kind {
	case confine.Bind:
		bind(t, s.Source, s.Path, !s.ReadOnly, false)
	case confine.Cover:
		// nodev keeps everybody from opening what looks like a device.
		bind(t, "/dev/null", s.Path, false, true)
	case confine.Tmpfs:
		tmpfs(t, s)
	case confine.Proc:
		t.message("mount", func() {
			t.str("dst", s.Path)
			t.str("fstype", "proc")
			t.flag("rw", false)
		})
	case confine.Dev:
		tmpfs(t, confine.Step{Path: s.Path, ReadOnly: true, Perms: "0755"})
		for _, d := range devices {
			// A device can be written all the same; its permissions cannot be changed.
			bind(t, "/dev/"+d, s.Path+"/"+d, false, false)
		}
		for _, l := range links {
			symlink(t, l[1], s.Path+"/"+l[0])
		}
	case confine.Link:
		symlink(t, s.Source, s.Path)
	}
}

func bind(t *text, source, path string, rw, nodev bool) {
	t.message("mount", func() {
		t.str("src", source)
		t.str("dst", path)
		t.flag("is_bind", true)
		t.flag("rw", rw)
		if nodev {
			t.flag("nodev", true)
		}
	})
}

func tmpfs(t *text, s confine.Step) {
	var options []string
	if s.Perms != "" {
		options = append(options, "mode="+s.Perms)
	}
	if s.Size > 0 {
		options = append(options, "size="+strconv.FormatInt(s.Size, 10))
	}
	t.message("mount", func() {
		t.str("dst", s.Path)
		t.str("fstype", "tmpfs")
		if options != nil {
			t.str("options", strings.Join(options, ","))
		}
		t.flag("rw", !s.ReadOnly)
	})
}

func symlink(t *text, target, path string) {
	t.message("mount", func() {
		t.str("src", target)
		t.str("dst", path)
		t.flag("is_symlink", true)
	})
}
