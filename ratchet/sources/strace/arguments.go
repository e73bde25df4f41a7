package strace

import (
	"slices"
	"strings"
)

// Arguments are the arguments of strace that record into a log all that this reader takes
// up and little else. What is run follows them, best behind "--". Descriptors carry their
// paths (-y), so that the calls which only move descriptors are left out. Of signals it
// writes those that can end a process: without them it would not write of such an end.
func Arguments(log string) []string {
	var names []string
	for name, s := range specs {
		switch s.op {
		case opNone, opClose, opCloseAll, opDup, opFcntl, opIoctl, opMemory:
		default:
			names = append(names, "?"+name) // "?": a machine may not know it
		}
	}
	slices.Sort(names)
	return []string{"-f", "-y", "-ttt", "-s", "4096", "-e", "signal=!SIGCHLD,SIGCONT,SIGURG,SIGWINCH", "-e", "trace=" + strings.Join(names, ","), "-o", log}
}
