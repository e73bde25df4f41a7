package verify

import (
	"fmt"
	"time"

	"umwelt/compilers"
	"umwelt/compilers/confine"
	"umwelt/registry"
	"umwelt/sandbox/verify/probe"
)

const enforced = compilers.Enforced

// The most that a limit is tried at: what is larger is tried at this.
const (
	mostMemory = 1 << 30
	mostBytes  = 16 << 20
	mostTime   = int64(time.Second)
	mostCount  = 256
)

// trial is one limit, tried in a sandbox that has only it.
type trial struct {
	name  string // of the property
	limit confine.Limits
	at    string   // the limit, for people
	over  probe.Op // has to fail, or to end the probe
	under probe.Op // has to go well; none where Do is ""
}

// trials are the limits of a policy.
func (v *verifier) trials(l confine.Limits) []trial {
	var out []trial
	capped := func(n *int64, most int64) *int64 {
		if n == nil {
			return nil
		}
		c := max(1, min(*n, most))
		return &c
	}
	add := func(t trial) { out = append(out, t) }
	if n := capped(l.Memory, mostMemory); n != nil {
		add(trial{"memory", confine.Limits{Memory: n}, fmt.Sprintf("%d bytes", *n), probe.Op{Do: "memory", N: *n + *n/4 + 1<<26}, probe.Op{}})
	}
	if n := capped(l.WallTime, mostTime); n != nil {
		add(trial{"wall-time", confine.Limits{WallTime: n}, time.Duration(*n).String(), probe.Op{Do: "sleep", N: int64(10 * time.Second)}, probe.Op{}})
	}
	if n := capped(l.CPUTime, mostTime); n != nil {
		add(trial{"cpu-time", confine.Limits{CPUTime: n}, time.Duration(*n).String(), probe.Op{Do: "burn", N: *n + int64(4*time.Second)}, probe.Op{}})
	}
	if n := capped(l.MaxFDs, 1<<20); n != nil && *n >= 32 {
		c := max(32, min(*n, mostCount))
		add(trial{"max-fds", confine.Limits{MaxFDs: &c}, fmt.Sprint(c), probe.Op{Do: "fds", N: c}, probe.Op{Do: "fds", N: c / 2}})
	}
	if n := capped(l.MaxProcesses, mostCount); n != nil {
		c := max(64, *n)
		add(trial{"max-processes", confine.Limits{MaxProcesses: &c}, fmt.Sprint(c), probe.Op{Do: "processes", N: c + 1}, probe.Op{Do: "processes", N: 2}})
	}
	if n := capped(l.Tmpfs, mostBytes); n != nil {
		add(trial{"tmpfs", confine.Limits{Tmpfs: n}, fmt.Sprintf("%d bytes", *n), probe.Op{Do: "fill", Path: []byte(v.scratch + "/" + fresh), N: *n + 1<<16}, probe.Op{Do: "fill", Path: []byte(v.scratch + "/" + fresh), N: *n / 2}})
	}
	if n := capped(l.Disk, mostBytes); n != nil {
		add(trial{"disk", confine.Limits{Disk: n}, fmt.Sprintf("%d bytes", *n), probe.Op{Do: "fill", Path: []byte(v.scratch + "/" + fresh), N: *n + 1}, probe.Op{Do: "fill", Path: []byte(v.scratch + "/" + fresh), N: *n / 2}})
	}
	return out
}

// tryLimits runs the trials, each in a sandbox of its own. How strict a limit is by what the
// target has declared decides whether passing it is a fault.
func (v *verifier) tryLimits(c *confine.Confinement, t *tally) error {
	if c.Limits.CPU != nil {
		v.remark("a limit on processors was not tried")
	}
	for _, trial := range v.trials(c.Limits) {
		v.doing("trying the limit of " + trial.name)
		t.report.Limits++
		one := *c
		one.Limits = trial.limit
		over, err := v.try(&one, trial, trial.over)
		if err != nil {
			return err
		}
		t.count(trial.over.Do)
		level := v.level(trial.name)
		policy := "no more than " + trial.at
		switch {
		case !over.OK:
		case level == enforced:
			t.find(true, Finding{Do: trial.over.Do, Path: trial.name, Policy: policy, Got: "it went on"})
		default:
			v.remark(fmt.Sprintf("the limit of %s was passed, which the target had declared %s", trial.name, level))
		}
		if trial.under.Do == "" {
			continue
		}
		under, err := v.try(&one, trial, trial.under)
		if err != nil {
			return err
		}
		t.count(trial.under.Do)
		if !under.OK && level == enforced {
			t.find(false, Finding{Do: trial.under.Do, Path: trial.name, Policy: policy, Got: "less than that failed: " + under.Error})
		}
	}
	return nil
}

// try runs one operation in a sandbox. A sandbox that ends over it, or cannot even start
// within the limit, counts as one in which it failed.
func (v *verifier) try(c *confine.Confinement, trial trial, op probe.Op) (probe.Result, error) {
	s, err := v.start(c)
	if err != nil {
		return probe.Result{}, err
	}
	results, err := s.ask([]probe.Op{op})
	if err != nil {
		return probe.Result{Error: err.Error()}, nil
	}
	s.close()
	return results[0], nil
}

// level is how far the target says that it holds a limit.
func (v *verifier) level(name string) compilers.Level {
	level := enforced
	for _, r := range v.report.Coverage.Rules {
		for _, d := range r.Declarations {
			for _, typed := range d.Declaration.Typed {
				if isLimit(typed.Property, name) {
					level = min(level, d.Level)
				}
			}
		}
	}
	return level
}

func isLimit(p *registry.Property, name string) bool {
	return p.Entity.Name == "resource" && (p.Name == name || p.Name == "max-"+name)
}
