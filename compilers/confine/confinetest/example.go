package confinetest

import (
	"os"
	"testing"

	"umwelt/cascade"
	"umwelt/compilers/confine"
)

// exampleWorld is a snapshot of the shipped example's project with the mounts of a Debian
// host, written out so that no host decides what a golden file holds.
const exampleWorld = `
meta: { level: full }
name: dev
modes: [implement]
tools: [Bash, Read, Edit, Grep]
env: [CI, HOME, LANG]
entities:
  - { type: world, id: dev, listed: true }
  - { type: dir, id: src, listed: true, attributes: { path: src, name: src } }
  - { type: dir, id: src/auth, listed: true, attributes: { path: src/auth, name: auth } }
  - { type: dir, id: src/common, listed: true, attributes: { path: src/common, name: common } }
  - { type: dir, id: tests, listed: true, attributes: { path: tests, name: tests } }
  - { type: dir, id: tests/auth, listed: true, attributes: { path: tests/auth, name: auth } }
  - { type: file, id: .env, attributes: { path: .env, name: .env } }
  - { type: file, id: README.md, attributes: { path: README.md, name: README.md } }
  - { type: file, id: src/auth/login.py, attributes: { path: src/auth/login.py, name: login.py } }
  - { type: file, id: src/auth/session.py, attributes: { path: src/auth/session.py, name: session.py } }
  - { type: file, id: src/common/util.py, attributes: { path: src/common/util.py, name: util.py } }
  - { type: file, id: tests/auth/test_login.py, attributes: { path: tests/auth/test_login.py, name: test_login.py } }
  - { type: mount, id: /usr, attributes: { path: /usr, source: /usr, readonly: true } }
  - { type: mount, id: /bin, attributes: { path: /bin, source: usr/bin, type: symlink } }
  - { type: mount, id: /lib, attributes: { path: /lib, source: usr/lib, type: symlink } }
  - { type: mount, id: /lib64, attributes: { path: /lib64, source: usr/lib64, type: symlink } }
  - { type: mount, id: /proc, attributes: { path: /proc, type: proc } }
  - { type: mount, id: /dev, attributes: { path: /dev, type: dev } }
  - { type: mount, id: /tmp, attributes: { path: /tmp, type: tmpfs } }
fixed:
  "file[path='.env']": { visible: false }
`

// Example is the shipped example view, or the one in rules, over its project at
// /home/u/project. Dir is the directory of the repository.
func Example(t testing.TB, dir, name string) *cascade.Resolution {
	t.Helper()
	view, err := os.ReadFile(dir + "/examples/auth-fix/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return Resolve(t, string(view), exampleWorld, "/home/u/project")
}

// Hostile is a confinement in which every name means something to somebody.
func Hostile() *confine.Confinement {
	c := &confine.Confinement{Root: "/srv/pro\"ject[1]\t'}", Plan: []confine.Entry{{Path: ".", Mode: confine.ReadOnly, Kind: confine.Dir}}}
	for i, name := range Odd {
		e := confine.Entry{Path: name, Mode: confine.ReadWrite, Kind: confine.File}
		switch i % 4 {
		case 1:
			e.Mode = confine.Hidden
		case 2:
			e.Mode, e.Kind = confine.Hidden, confine.Dir
		}
		c.Plan = append(c.Plan, e)
	}
	c.Env = []confine.Env{{Name: "A\"B"}, {Name: "X=evil"}, {Name: "\xff"}, {Name: "OK"}, {Name: "$(id)"}}
	c.SearchPath = "/bin:$(id)'"
	return c
}
