package verify

import (
	"errors"
	"fmt"
	"os"

	"umwelt/compilers/confine"
	"umwelt/sandbox/verify/probe"
)

// later is the beginning of the names of what the host makes while the sandbox runs.
const later = "umwelt-later"

// laterContent is what such a file holds.
var laterContent = []byte("made outside while the sandbox ran\n")

// laterFile is one of them.
type laterFile struct {
	dir  *place
	name string // below the directory
}

// tryLater makes files and directories in the project from outside, moves some of them, and
// compares what the sandbox can do with them.
func (v *verifier) tryLater(s *session, sub *subject, dirs []*place, t *tally) (err error) {
	var files []laterFile
	var made []string // outermost first
	defer func() {
		for i := len(made) - 1; i >= 0; i-- {
			err = errors.Join(err, os.Remove(made[i]))
		}
	}()
	write := func(path string) error {
		if err := os.WriteFile(path, laterContent, 0o644); err != nil {
			return err
		}
		made = append(made, path)
		return nil
	}
	for _, d := range dirs {
		if !d.lets(anything) {
			continue
		}
		at := sub.at(d.path) + "/"
		// A file; a directory with a file; and one that is moved after it was made.
		if err := write(at + later); err != nil {
			return err
		}
		for _, name := range []string{later + ".d", later + ".old"} {
			if err := os.Mkdir(at+name, 0o755); err != nil {
				return err
			}
			made = append(made, at+name)
			if name == later+".old" {
				break
			}
			if err := write(at + name + "/file"); err != nil {
				return err
			}
		}
		if err := os.Rename(at+later+".old", at+later+".new"); err != nil {
			return err
		}
		made[len(made)-1] = at + later + ".new"
		if err := write(at + later + ".new/file"); err != nil {
			return err
		}
		for _, name := range []string{later, later + ".d/file", later + ".new/file"} {
			files = append(files, laterFile{d, name})
		}
	}
	var checks []check
	for _, f := range files {
		checks = append(checks, sub.laterChecks(f)...)
	}
	return v.run(s, checks, t)
}

func (s *subject) laterChecks(f laterFile) []check {
	path := join(f.dir.path, f.name)
	policy := "a file made later would be " + s.newFile(f.dir, f.name).String()
	add := func(want expect, do string, other []byte) check {
		return check{op: probe.Op{Do: do, Path: s.bytes(path), New: other}, want: want, path: path, policy: policy}
	}
	read := add(s.wantNew(f.dir, f.name, confine.ReadOnly, confine.Read), "read", nil)
	read.content = probe.Digest(laterContent)
	write := s.wantNew(f.dir, f.name, confine.ReadWrite, confine.Write)
	change := s.wantNew(f.dir, f.name, confine.ReadWrite, confine.Change)
	return []check{
		read, add(write, "write", nil), add(write, "append", nil), add(change, "remove", nil), add(change, "rename", s.bytes(path+"-moved")),
		{op: probe.Op{Do: "create", Path: s.bytes(path + "-beside")}, want: s.wantNew(f.dir, f.name+"-beside", confine.ReadWrite, confine.Change),
			path: path + "-beside", policy: fmt.Sprintf("a new file would be %s", s.newFile(f.dir, f.name+"-beside"))},
	}
}
