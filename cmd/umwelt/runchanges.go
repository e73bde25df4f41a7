package main

import (
	"io/fs"
	"path/filepath"

	"umwelt/compilers/confine"
)

// stamp tells whether a file changed. The time of its last change of status is the
// kernel's, and nobody who only owns the file can set it back.
type stamp struct {
	mode   fs.FileMode
	size   int64
	status int64
	inode  uint64
}

// stamps are those of everything that may be changed from inside.
func stamps(c *confine.Confinement) map[string]stamp {
	out := map[string]stamp{}
	for _, e := range c.Plan {
		if e.Mode != confine.ReadWrite {
			continue
		}
		_ = filepath.WalkDir(filepath.Join(c.Root, e.Path), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil // it cannot be looked at, so nothing is known of it before or after
			}
			if info, err := d.Info(); err == nil {
				out[path] = stampOf(info)
			}
			return nil
		})
	}
	return out
}

// changed reports whether two sets of stamps differ in a file, or in which files there are.
func changed(before, after map[string]stamp) bool {
	if len(before) != len(after) {
		return true
	}
	for path, s := range after {
		old, ok := before[path]
		if !ok || old != s && !(old.mode.IsDir() && s.mode.IsDir() && old.inode == s.inode) {
			return true
		}
	}
	return false
}
