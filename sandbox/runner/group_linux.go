//go:build amd64 || arm64

package runner

import (
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"umwelt/compilers/confine"
)

// group is the control groups of one run. A nil group holds nothing.
type group struct {
	dirs      []string
	held      map[string]bool // by controller
	otherwise string          // what stands for the controllers that do not hold, where that is not this package's own
	processes string          // the file with the limit of processes, "" for none
}

// hierarchy is where the kernel shows the control groups.
const hierarchy = "/sys/fs/cgroup"

// groupLimits is what is written to which file of a controller, in the two versions of
// the kernel's interface.
type groupLimit struct {
	controller       string
	fileV1, valueV1  string
	fileV2, valueV2  string
	beforeV1, swapV2 string // files that may be missing
}

// more is how many processes of this package's own are counted among the command's.
func groupLimits(l confine.Limits, more int) []groupLimit {
	var out []groupLimit
	if l.Memory != nil {
		n := strconv.FormatInt(max(0, *l.Memory), 10)
		out = append(out, groupLimit{"memory", "memory.limit_in_bytes", n, "memory.max", n, "memory.memsw.limit_in_bytes", "memory.swap.max"})
	}
	if l.MaxProcesses != nil {
		n := processLimit(l, more)
		out = append(out, groupLimit{controller: "pids", fileV1: "pids.max", valueV1: n, fileV2: "pids.max", valueV2: n})
	}
	if l.CPU != nil {
		const period = 100000
		quota := max(1000, int64(min(*l.CPU, 65536)*period))
		out = append(out, groupLimit{controller: "cpu", fileV1: "cpu.cfs_quota_us", valueV1: strconv.FormatInt(quota, 10),
			fileV2: "cpu.max", valueV2: fmt.Sprintf("%d %d", quota, period)})
	}
	return out
}

// processLimit is a limit of processes as the kernel reads it. It counts threads.
func processLimit(l confine.Limits, more int) string {
	n := max(0, *l.MaxProcesses)
	return strconv.FormatInt(n+min(int64(more), math.MaxInt64-n), 10)
}

// newGroup puts a process, and all that it will start, into groups that hold the limits,
// as far as this user may make such groups. What cannot be held so is held otherwise.
// More processes than the policy's are this package's own.
func newGroup(pid int, limits confine.Limits, more int) *group {
	g := &group{held: map[string]bool{}}
	wanted := groupLimits(limits, more)
	if len(wanted) == 0 {
		return g
	}
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return g
	}
	name := "umwelt-" + rand.Text()[:16]
	for _, w := range wanted {
		for line := range strings.Lines(string(text)) {
			parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
			if len(parts) != 3 || g.held[w.controller] {
				continue
			}
			for _, list := range strings.Split(parts[1], ",") {
				if list == w.controller {
					g.add(filepath.Join(hierarchy, parts[1], parts[2], name), pid, w, false)
				}
			}
			if parts[1] == "" {
				g.unified(parts[2], name, pid, w)
			}
		}
	}
	return g
}

// unified makes a group beside this process's own one, since a group of the second
// version that has processes cannot have groups with controllers.
func (g *group) unified(own, name string, pid int, w groupLimit) {
	for _, base := range []string{hierarchy, filepath.Join(hierarchy, "unified")} {
		parent := filepath.Join(base, filepath.Dir(own))
		have, err := os.ReadFile(filepath.Join(parent, "cgroup.subtree_control"))
		if err != nil {
			continue
		}
		for _, c := range strings.Fields(string(have)) {
			if c == w.controller {
				g.add(filepath.Join(parent, name), pid, w, true)
				return
			}
		}
	}
}

func (g *group) add(dir string, pid int, w groupLimit, v2 bool) {
	made := os.Mkdir(dir, 0o755)
	if made != nil && !os.IsExist(made) {
		return
	}
	file, value, extra, extraValue := w.fileV1, w.valueV1, w.beforeV1, w.valueV1
	if v2 {
		file, value, extra, extraValue = w.fileV2, w.valueV2, w.swapV2, "0"
	}
	write := func(file, value string) error { return os.WriteFile(filepath.Join(dir, file), []byte(value), 0) }
	err := write(file, value)
	if extra != "" && err == nil {
		// Not every kernel counts swap.
		_ = write(extra, extraValue)
	}
	if err == nil {
		err = write("cgroup.procs", strconv.Itoa(pid))
	}
	if made == nil {
		g.dirs = append(g.dirs, dir)
	}
	g.held[w.controller] = err == nil
	if w.controller == "pids" && err == nil {
		g.processes = filepath.Join(dir, file)
	}
}

// settle leaves the first process of a sandbox no more room than it takes, once the
// command runs: what was left for setting the sandbox up is not for the command. first is
// 0 where the command is the first process.
func (g *group) settle(first int, limits confine.Limits) error {
	switch {
	case g.processes == "":
		return nil
	case first == 0:
		return os.WriteFile(g.processes, []byte(processLimit(limits, 0)), 0)
	}
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", first))
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ESRCH) {
		return nil // the sandbox has ended
	}
	if err != nil {
		return err
	}
	return os.WriteFile(g.processes, []byte(processLimit(limits, len(threads))), 0)
}

// remove removes the groups, which are empty by now.
func (g *group) remove() {
	if g == nil {
		return
	}
	for _, dir := range g.dirs {
		_ = os.Remove(dir)
	}
	g.dirs = nil
}
