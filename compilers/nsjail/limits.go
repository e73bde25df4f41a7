package nsjail

import (
	"math"
	"time"

	"umwelt/compilers"
	"umwelt/compilers/confine"
)

const mebibyte = 1 << 20

// limits writes every limit, set or not. Where no rule sets one, nsjail's own default
// must not hold, and the type HARD stands for what the caller itself may use: the type
// INF would ask for more, and fail.
func limits(t *text, l confine.Limits, by string) []compilers.Note {
	t.num("time_limit", orZero(l.WallTime, int64(time.Second)))
	cgroup := by == "cgroup"
	var notes []compilers.Note
	var memory, processes *int64
	if !cgroup {
		memory, processes = l.Memory, l.MaxProcesses
		notes = perProcess(l)
	}
	rlimit(t, "as", memory, mebibyte)
	t.word("rlimit_core_type", "SOFT")
	rlimit(t, "cpu", l.CPUTime, int64(time.Second))
	rlimit(t, "fsize", l.Disk, mebibyte)
	rlimit(t, "nofile", l.MaxFDs, 1)
	rlimit(t, "nproc", processes, 1)
	t.word("rlimit_stack_type", "SOFT")
	t.word("rlimit_memlock_type", "HARD")
	t.word("rlimit_rtprio_type", "SOFT")
	t.word("rlimit_msgqueue_type", "HARD")
	if !cgroup || l.Memory == nil && l.MaxProcesses == nil && l.CPU == nil {
		return notes
	}
	t.flag("detect_cgroupv2", true)
	if l.Memory != nil {
		// 0 would switch the limit off.
		t.num("cgroup_mem_max", max(1, *l.Memory))
	}
	if l.MaxProcesses != nil {
		t.num("cgroup_pids_max", max(1, *l.MaxProcesses))
	}
	if l.CPU != nil {
		t.num("cgroup_cpu_ms_per_sec", max(1, int64(math.Min(*l.CPU*1000, math.MaxUint32))))
	}
	return notes
}

// rlimit writes one limit in the unit that nsjail counts in, rounded down: never more
// than the policy grants.
func rlimit(t *text, name string, limit *int64, unit int64) {
	if limit == nil {
		t.word("rlimit_"+name+"_type", "HARD")
		return
	}
	t.num("rlimit_"+name, *limit/unit)
	t.word("rlimit_"+name+"_type", "VALUE")
}

// orZero is a limit in whole units, at least one since 0 means none, or 0.
func orZero(limit *int64, unit int64) int64 {
	if limit == nil {
		return 0
	}
	return min(max(1, *limit/unit), math.MaxUint32)
}

// perProcess notes what rlimits hold only in part.
func perProcess(l confine.Limits) []compilers.Note {
	var notes []compilers.Note
	for _, s := range l.By {
		switch s.Name {
		case "memory", "max-memory":
			notes = append(notes, note(s.Source, compilers.Partial, "it limits the address space of each process, not their sum"))
		case "max-processes", "max-max-processes":
			notes = append(notes, note(s.Source, compilers.Partial, "the kernel counts the processes of the user, and does not hold root to it"))
		case "cpu", "max-cpu":
			notes = append(notes, note(s.Source, compilers.Dropped, "only a cgroup limits cores; the option limits=cgroup does"))
		}
	}
	return notes
}
