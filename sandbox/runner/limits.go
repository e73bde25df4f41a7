package runner

import (
	"fmt"
	"strconv"
	"time"

	"umwelt/compilers/confine"
)

// rlimit is one resource limit of a process. The numbers are the kernel's.
type rlimit struct {
	Resource int
	Value    uint64
}

// The numbers of resource limits, the same on every architecture that is supported.
const (
	rlimitCPU    = 0
	rlimitFSize  = 1
	rlimitCore   = 4
	rlimitNProc  = 6
	rlimitNoFile = 7
	rlimitAS     = 9
)

// rlimits are the limits that each process of the sandbox gets.
func rlimits(l confine.Limits) []rlimit {
	// A core file would be written, or handed to a program of the host, without a rule
	// that says so.
	out := []rlimit{{rlimitCore, 0}}
	add := func(resource int, n *int64, unit int64) {
		if n != nil {
			out = append(out, rlimit{resource, uint64(max(0, *n) / unit)})
		}
	}
	add(rlimitAS, l.Memory, 1)
	if l.CPUTime != nil {
		seconds := max(1, *l.CPUTime/int64(time.Second))
		out = append(out, rlimit{rlimitCPU, uint64(seconds)})
	}
	add(rlimitNoFile, l.MaxFDs, 1)
	add(rlimitNProc, l.MaxProcesses, 1)
	add(rlimitFSize, l.Disk, 1)
	return out
}

// held says how each limit is held. Groups are the controllers that hold the sandbox as a
// whole. Otherwise says what stands for those that do not, where that is not what this
// package sets by itself.
func held(l confine.Limits, groups map[string]bool, otherwise string) []Held {
	var out []Held
	number := func(name string, n *int64, unit, how string, strict bool) {
		if n != nil {
			out = append(out, Held{name, strconv.FormatInt(*n, 10) + unit, how, strict})
		}
	}
	both := func(name string, n *int64, unit, controller, alone string) {
		switch {
		case groups[controller]:
			number(name, n, unit, "control group", true)
		case otherwise != "":
			number(name, n, unit, otherwise, false)
		default:
			number(name, n, unit, alone, false)
		}
	}
	both("memory", l.Memory, " bytes", "memory", "address space of each process")
	if l.WallTime != nil {
		out = append(out, Held{"wall-time", time.Duration(*l.WallTime).String(), "the runner ends the sandbox", true})
	}
	if l.CPUTime != nil {
		out = append(out, Held{"cpu-time", time.Duration(*l.CPUTime).String(), "processor time of each process, in whole seconds", false})
	}
	number("max-fds", l.MaxFDs, "", "open files of each process", true)
	both("max-processes", l.MaxProcesses, "", "pids", "processes of the user; root is not held to it")
	number("tmpfs", l.Tmpfs, " bytes", "size of each temporary directory", true)
	if l.CPU != nil {
		how, strict := fmt.Sprintf("bound to %d processors", cores(*l.CPU)), *l.CPU >= 1 && *l.CPU == float64(cores(*l.CPU))
		switch {
		case groups["cpu"]:
			how, strict = "control group", true
		case otherwise != "":
			how, strict = otherwise, false
		}
		out = append(out, Held{"cpu", strconv.FormatFloat(*l.CPU, 'f', -1, 64), how, strict})
	}
	number("disk", l.Disk, " bytes", "size of each written file", false)
	return out
}

// cores is how many whole processors a limit leaves, at least one.
func cores(limit float64) int {
	return max(1, int(min(limit, 65536)))
}
