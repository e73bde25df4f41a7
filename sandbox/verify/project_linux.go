package verify

import (
	"golang.org/x/sys/unix"

	"umwelt/compilers/confine"
	"umwelt/sandbox/verify/probe"
)

// fresh is the beginning of the names of what is made on the way.
const fresh = ".umwelt-verify"

const anything = canRead | canWrite | canPass

// checks are what is tried at one place. Scratch is a writable directory of the sandbox's
// own, and around, where there is one, a directory of the project in which files can be
// made. Careful leaves out what would change something if it went well.
func (s *subject) checks(p *place, t *target, scratch string, around *place, careful bool) []check {
	g := &generator{s: s, p: p, t: t, scratch: scratch, around: around, careful: careful}
	switch p.kind {
	case confine.File:
		g.file()
	case confine.Symlink:
		g.link()
	case confine.Special:
		g.special()
	case confine.Dir:
		g.directory()
	}
	return g.out
}

type generator struct {
	s       *subject
	p       *place
	t       *target
	scratch string
	around  *place
	careful bool
	out     []check
}

// want is what has to come of what needs least by the policy, a right by the target and
// some permission bits.
func (g *generator) want(least confine.Mode, right confine.Access, bits uint32) expect {
	switch {
	case g.p.mode < least:
		return deny
	case g.p.has&right == right && g.p.lets(bits):
		return allow
	}
	return either
}

// add adds an operation on the place itself.
func (g *generator) add(want expect, do string, other []byte) {
	g.out = append(g.out, check{op: probe.Op{Do: do, Path: g.s.bytes(g.p.path), New: other}, want: want, path: g.p.path, policy: g.p.policy()})
}

func (g *generator) file() {
	read := g.want(confine.ReadOnly, confine.Read, canRead)
	content, empty, err := g.s.content(g.p.path)
	if err == nil {
		g.add(read, "read", nil)
		c := &g.out[len(g.out)-1]
		c.content, c.empty, c.dev, c.ino = content, empty, uint64(g.p.st.Dev), g.p.st.Ino
	}
	write := g.want(confine.ReadWrite, confine.Write, canWrite)
	g.add(write, "write", nil)
	if g.p.st.Mode&0o111 != 0 {
		g.add(g.want(confine.ReadOnly, confine.Read, canRead|canPass), "exec", nil)
	}
	if g.careful {
		return
	}
	g.add(write, "truncate", nil)
	g.add(write, "append", nil)
	if g.p.mode < confine.ReadWrite {
		g.add(deny, "chmod", nil)
	}
	g.names()
}

func (g *generator) link() {
	want := either
	switch {
	case g.p.out || g.p.mode == confine.Hidden:
		if g.t.links {
			want = deny
		}
	case g.p.has != 0 && (g.t.relinks || g.p.in.has != 0) && g.p.in.lets(canPass):
		want = allow
	}
	g.add(want, "readlink", nil)
	if !g.careful {
		g.names()
	}
}

func (g *generator) special() {
	if g.p.st.Mode&unix.S_IFMT == unix.S_IFIFO {
		g.add(g.want(confine.ReadWrite, confine.Read|confine.Write, canRead|canWrite), "fifo", nil)
	}
	if !g.careful {
		g.names()
	}
}

// names tries to take the name of a file away, or to give it to something else. That needs
// the file and its directory.
func (g *generator) names() {
	want := either
	switch in := g.p.in; {
	case g.p.mode < confine.ReadWrite:
		want = deny
	case g.p.whole && in.mode == confine.ReadWrite && in.has&confine.Change != 0 && in.lets(anything) && g.p.lets(canRead|canWrite):
		want = allow
	}
	beside := g.s.bytes(join(g.p.in.path, fresh+"-aside"))
	aside := beside
	if g.p.in.has&confine.Change == 0 {
		aside = []byte(g.scratch + "/" + fresh + "-aside")
		if g.around != nil {
			aside = g.s.bytes(join(g.around.path, fresh+"-aside"))
		}
	}
	g.add(want, "remove", nil)
	g.add(want, "rename", beside)
	if want == deny || g.p.kind == confine.File {
		g.add(want, "replace", aside)
	}
	if want != deny {
		return
	}
	g.add(deny, "rename", []byte(g.scratch+"/"+fresh+"-moved"))
	if g.around != nil {
		g.add(deny, "rename", g.s.bytes(join(g.around.path, fresh+"-moved")))
	}
	g.add(deny, "exchange", aside)
	g.add(deny, "replace-link", aside)
	if g.p.kind == confine.File {
		g.add(deny, "link", aside)
	}
}

func (g *generator) directory() {
	g.listing()
	for _, name := range g.newNames() {
		g.addNew("create", name, name)
	}
	below := fresh + "-new/" + fresh + "-file"
	g.addNew("create-below", below, below)
	mkdir := g.want(confine.ReadWrite, confine.Change, anything)
	if g.s.usual && g.p.mode < confine.ReadWrite && g.p.has&confine.Change != 0 {
		mkdir = either
	}
	g.out = append(g.out, check{op: probe.Op{Do: "mkdir", Path: g.s.bytes(join(g.p.path, fresh+"-dir"))}, want: mkdir, path: g.p.path, policy: "new files in it: " + g.p.policy()})
	if g.careful || g.p.in == nil {
		return
	}
	want := either
	switch in := g.p.in; {
	case !g.p.free:
		want = deny
	case g.p.whole && in.mode == confine.ReadWrite && in.has&confine.Change != 0 && in.lets(anything) && g.p.lets(anything):
		want = allow
	}
	g.add(want, "rename", g.s.bytes(join(g.p.in.path, fresh+"-moved")))
	if want == deny {
		g.add(deny, "rename", []byte(g.scratch+"/"+fresh+"-moved"))
		if g.around != nil && g.around != g.p && !lies(g.around.path, g.p.path) {
			g.add(deny, "rename", g.s.bytes(join(g.around.path, fresh+"-moved")))
		}
		aside := g.scratch
		if g.p.in.has&confine.Change != 0 {
			aside = g.s.at(g.p.in.path)
		}
		g.add(deny, "exchange", []byte(aside+"/"+fresh+"-aside"))
	}
}

// listing tries to list a directory: nothing that may be seen is missing where it may be
// listed, and nothing hidden is there where the directory is itself hidden.
func (g *generator) listing() {
	c := check{op: probe.Op{Do: "list", Path: g.s.bytes(g.p.path)}, path: g.p.path, policy: g.p.policy()}
	if g.p.mode > confine.Hidden && g.p.has&confine.List != 0 && g.p.lets(canRead|canPass) {
		c.want = allow
	}
	for _, b := range g.p.below {
		switch {
		case b.kind == confine.File && b.mode > confine.Hidden && b.has&confine.Read != 0:
			c.names = append(c.names, b.name())
		case g.p.mode == confine.Hidden && b.kind == confine.File && b.mode == confine.Hidden:
			c.hidden = append(c.hidden, b.name())
		}
	}
	g.out = append(g.out, c)
}

// newNames are the names that new files are tried under: a plain one, and one like each of
// the files that are there.
func (g *generator) newNames() []string {
	names := []string{fresh}
	seen := map[string]bool{}
	for _, b := range g.p.below {
		if ext := b.extension(); b.kind != confine.Dir && ext != "" && !seen[ext] && len(seen) < 4 {
			seen[ext] = true
			names = append(names, "umwelt"+ext)
		}
	}
	return names
}

func (g *generator) addNew(do, name, file string) {
	want := g.s.wantNew(g.p, file, confine.ReadWrite, confine.Change)
	g.out = append(g.out, check{op: probe.Op{Do: do, Path: g.s.bytes(join(g.p.path, name))}, want: want,
		path: join(g.p.path, name), policy: "a new file would be " + g.s.newFile(g.p, file).String()})
}

// lies reports whether a path is a directory or lies below it.
func lies(path, dir string) bool {
	return dir == "." || path == dir || len(path) > len(dir) && path[len(dir)] == '/' && path[:len(dir)] == dir
}
