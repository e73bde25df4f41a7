package verify

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"umwelt/compilers/confine"
	"umwelt/sandbox/verify/probe"
)

// mostReplaced is how many protected files are replaced from outside.
const mostReplaced = 16

// tryReplaced replaces protected files from outside, as an editor does that writes a new
// file and renames it over the old one. The kernel then takes a mount over the old file
// away, in every sandbox, so that a target made of mounts cannot hold. That is known and
// said as a remark; where a target is made of something else, it is a fault.
func (v *verifier) tryReplaced(s *session, sub *subject, chosen []*place, t *tally) error {
	var files []*place
	for _, p := range chosen {
		protected := p.in != nil && p.kind == confine.File && p.mode < p.in.mode
		if protected && p.in.lets(anything) && len(files) < mostReplaced {
			files = append(files, p)
		}
	}
	var checks []check
	for _, p := range files {
		aside := filepath.Join(v.dir, "replacement")
		if err := os.WriteFile(aside, laterContent, 0o644); err != nil {
			return err
		}
		if err := os.Rename(aside, sub.at(p.path)); err != nil {
			return err
		}
		var st unix.Stat_t
		if err := unix.Lstat(sub.at(p.path), &st); err != nil {
			return err
		}
		if p.mode < confine.ReadOnly {
			checks = append(checks, check{op: probe.Op{Do: "read", Path: sub.bytes(p.path)}, want: deny, path: p.path, policy: p.policy(),
				content: probe.Digest(laterContent), dev: uint64(st.Dev), ino: st.Ino})
		}
		checks = append(checks, check{op: probe.Op{Do: "write", Path: sub.bytes(p.path)}, want: deny, path: p.path, policy: p.policy()})
	}
	if !v.target.mounts {
		return v.run(s, checks, t)
	}
	alone := &tally{report: &Report{}, kinds: map[string]int{}}
	if err := v.run(s, checks, alone); err != nil {
		return err
	}
	if lost := alone.report.FalseAllows; len(lost) > 0 {
		v.remark(fmt.Sprintf("a file that is protected by a mount is not once something outside renames another file over it while the sandbox runs: %s %s went well after that", lost[0].Do, display(lost[0].Path)))
	}
	return nil
}
