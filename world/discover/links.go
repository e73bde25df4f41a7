package discover

import (
	"os"
	"path/filepath"
	"strings"
)

// maxHops is how many links one path may go through, as in the kernel.
const maxHops = 40

// bounds decides where symbolic links lead.
type bounds struct {
	base string // the root as given
	real string // the root with its own links resolved
}

func boundsOf(base string) bounds {
	b := bounds{base: base, real: base}
	if real, err := filepath.EvalSymlinks(base); err == nil {
		b.real = real
	}
	return b
}

// escapes reports whether a link at dir (below the root; "" for the root), whose text is
// target, leads out of the root: by its own text or through other links. A link that leads
// nowhere or in a circle does not.
func (b bounds) escapes(dir, target string) bool {
	var at []string
	if dir != "" {
		at = strings.Split(dir, "/")
	}
	rest, ok := b.enter(&at, target)
	if !ok {
		return true
	}
	for hops := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			if len(at) == 0 {
				return true
			}
			at = at[:len(at)-1]
			continue
		}
		at = append(at, name)
		link, err := os.Readlink(filepath.Join(b.real, filepath.Join(at...)))
		if err != nil {
			continue // no link, or not there
		}
		if hops++; hops > maxHops {
			return false
		}
		at = at[:len(at)-1]
		more, ok := b.enter(&at, link)
		if !ok {
			return true
		}
		rest = append(more, rest...)
		if len(rest) > 1<<16 {
			return true // nothing sane is this long
		}
	}
	return false
}

// enter splits a link's text into what is to be walked. An absolute one starts over at the
// root, where it lies below it; ok is false where it does not.
func (b bounds) enter(at *[]string, target string) (rest []string, ok bool) {
	if !strings.HasPrefix(target, "/") {
		return strings.Split(target, "/"), true
	}
	for _, root := range []string{b.base, b.real} {
		if target == root {
			*at = (*at)[:0]
			return nil, true
		}
		if below, ok := strings.CutPrefix(target, strings.TrimSuffix(root, "/")+"/"); ok {
			*at = (*at)[:0]
			return strings.Split(below, "/"), true
		}
	}
	return nil, false
}
