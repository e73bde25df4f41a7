package hooks

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// group is a hook's processes: those of its process group, and those that left it but
// carry the hook's mark in their environment. A process that leaves the group and clears
// its environment is not found.
type group struct {
	leader int
	token  string
}

// signal sends a signal to all of them and gives the number of those outside the group.
func (g *group) signal(s unix.Signal) int {
	_ = unix.Kill(-g.leader, s) // it fails where they are gone already
	names, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0
	}
	found := 0
	for _, name := range names {
		if pid, err := strconv.Atoi(filepath.Base(name)); err == nil && g.stray(pid, s) {
			found++
		}
	}
	return found
}

// kill kills until nobody is left. Each round finds only what a process made before it
// died, so there are few.
func (g *group) kill() {
	for range 100 {
		if g.signal(unix.SIGKILL) == 0 {
			return
		}
	}
}

// stray sends a signal to a process that is the hook's and not of its group. The process
// is held by a descriptor, so that no other can take its number meanwhile.
func (g *group) stray(pid int, s unix.Signal) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	// What has ended but was not reaped has no environment any more.
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil || !slices.ContainsFunc(bytes.Split(env, []byte{0}), func(v []byte) bool { return string(v) == g.token }) {
		return false
	}
	if pgid, err := unix.Getpgid(pid); err != nil || pgid == g.leader {
		return false
	}
	return unix.PidfdSendSignal(fd, s, nil, 0) == nil
}
