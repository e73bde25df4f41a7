// Package peers measures decisions beside other policy engines, on the same generated
// policy, and holds all of them to the same answers first.
package peers

import (
	"fmt"
	"math/rand/v2"
	"path"
	"strings"
)

// file is one file of a project, with what rules may ask about it.
type file struct {
	path   string
	dirs   []string // that it lies in, the nearest first
	ext    string
	secret bool
}

// rule lets files be changed, or forbids it. A file may be changed where some rule lets it
// and none forbids it: what all the engines can say without more.
type rule struct {
	forbid bool
	path   string // this file alone, or
	dir    string // all below this directory,
	ext    string // with this extension, "" for any,
	secret bool   // that are secret
}

// policy is a project and its rules.
type policy struct {
	files []file
	rules []rule
	order []int // the files, shuffled: what is asked
}

var extensions = []string{"go", "py", "md", "json"}

// newPolicy makes a tree with directories of twenty files, three deep, and rules of every
// kind about places in it. The same sizes give the same policy.
func newPolicy(files, rules int) *policy {
	p := &policy{}
	for n := range files {
		dir := fmt.Sprintf("pkg%d/part%d/unit%d", n/2000, n/200%10, n/20%10)
		f := file{path: fmt.Sprintf("%s/file%d.%s", dir, n%20, extensions[n%4]), ext: extensions[n%4], secret: n%20 == 7}
		for ; dir != "."; dir = path.Dir(dir) {
			f.dirs = append(f.dirs, dir)
		}
		p.files = append(p.files, f)
	}
	r := rand.New(rand.NewPCG(1, uint64(rules)))
	for i := range rules {
		f := p.files[r.IntN(files)]
		out := rule{forbid: r.IntN(4) == 0}
		switch i % 4 {
		case 0:
			out.path = f.path
		case 1:
			out.dir = f.dirs[0]
		case 2:
			out.dir, out.ext = f.dirs[r.IntN(2)], f.ext
		case 3:
			out.dir, out.secret, out.forbid = f.dirs[r.IntN(2)], true, true
		}
		p.rules = append(p.rules, out)
	}
	p.order = r.Perm(files)
	return p
}

// decide is what the rules say, one after the other: the naive form.
func (p *policy) decide(i int) bool {
	f, allowed := &p.files[i], false
	for k := range p.rules {
		if r := &p.rules[k]; r.fits(f) {
			if r.forbid {
				return false
			}
			allowed = true
		}
	}
	return allowed
}

func (r *rule) fits(f *file) bool {
	switch {
	case r.path != "":
		return r.path == f.path
	case r.secret && !f.secret, r.ext != "" && r.ext != f.ext:
		return false
	}
	return strings.HasPrefix(f.path, r.dir) && f.path[len(r.dir)] == '/'
}
