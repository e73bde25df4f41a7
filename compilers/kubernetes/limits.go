package kubernetes

import (
	"fmt"
	"math"
	"strconv"

	"umwelt/compilers"
	"umwelt/compilers/confine"
	"umwelt/diag"
)

// limits are resource limits in Kubernetes' terms.
type limits struct {
	resources object // of resources.limits
	deadline  int64  // seconds; 0 for none
	by        []confine.Limit
	notes     []compilers.Note
	problems  diag.List
}

func readLimits(l confine.Limits) limits {
	out := limits{by: l.By}
	size := func(key string, n *int64) {
		if n == nil {
			return
		}
		if *n <= 0 {
			out.problems.Errorf(diag.Invalid, diag.Span{}, "kubernetes: a limit of %d bytes of %s would be read as no limit", *n, key)
			return
		}
		out.resources = append(out.resources, field{key, bytesQuantity(*n)})
	}
	if l.CPU != nil {
		if milli, ok := out.millicores(*l.CPU); ok {
			out.resources = append(out.resources, field{"cpu", strconv.FormatInt(milli, 10) + "m"})
		}
	}
	size("memory", l.Memory)
	size("ephemeral-storage", l.Disk)
	if l.WallTime != nil {
		out.deadline = seconds(*l.WallTime)
		if *l.WallTime != out.deadline*1e9 {
			out.note("wall-time", "the wall time is %d s: Kubernetes counts whole seconds, from 1 to %d", out.deadline, math.MaxInt32)
		}
	}
	return out
}

// millicores rounds down, so that the limit only tightens, but not to nothing, which
// would be read as no limit.
func (out *limits) millicores(cores float64) (int64, bool) {
	switch {
	case math.IsNaN(cores) || cores <= 0:
		out.problems.Errorf(diag.Invalid, diag.Span{}, "kubernetes: a limit of %v cores would be read as no limit", cores)
		return 0, false
	case cores < 0.001:
		out.note("cpu", "the limit is 1m: Kubernetes counts thousandths of a core")
		return 1, true
	case cores > 1e9:
		return 1e12, true
	}
	// A decimal such as 0.29 times 1000 can fall just short of its whole number.
	milli := math.Floor(math.Nextafter(cores*1000, math.Inf(1)))
	if math.Abs(cores*1000-milli) > 1e-6 {
		out.note("cpu", "the limit is %dm: Kubernetes counts thousandths of a core", int64(milli))
	}
	return int64(milli), true
}

// note lowers the declarations of one limit, or speaks of the whole text where none is
// known.
func (out *limits) note(limit, format string, args ...any) {
	found := false
	for _, by := range out.by {
		if by.Name == limit || by.Name == "max-"+limit {
			out.notes = append(out.notes, compilers.Note{Rule: by.Rule, Declaration: by.Declaration, Level: compilers.Partial, Why: fmt.Sprintf(format, args...)})
			found = true
		}
	}
	if !found {
		out.notes = append(out.notes, compilers.Note{Level: compilers.Partial, Why: fmt.Sprintf(format, args...)})
	}
}

// seconds rounds nanoseconds up to whole seconds that a pod's deadline may have.
func seconds(ns int64) int64 {
	s := ns / 1e9
	if ns%1e9 > 0 {
		s++
	}
	return min(max(s, 1), math.MaxInt32)
}

// bytesQuantity is a number of bytes as a quantity, exactly. The small suffix "m", which
// means thousandths, is never used.
func bytesQuantity(n int64) string {
	if n%(1<<20) == 0 {
		return strconv.FormatInt(n>>20, 10) + "Mi"
	}
	return strconv.FormatInt(n, 10)
}
