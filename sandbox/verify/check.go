package verify

import (
	"bytes"
	"fmt"
	"slices"
	"sort"

	"umwelt/sandbox/verify/probe"
)

// expect is what a probe has to come to.
type expect uint8

const (
	either expect = iota // the policy allows it, and the target has said that it may not
	deny                 // the policy forbids it
	allow                // the policy allows it, and the target has said so too
)

// check is one operation and what has to come of it.
type check struct {
	op     probe.Op
	want   expect
	path   string // for people
	policy string // what the policy says, for people
	// A read that is forbidden may still open something, as long as it is not this content
	// and not this file; one that is allowed has to give it.
	content []byte
	dev     uint64
	ino     uint64
	empty   bool     // the content is nothing
	names   []string // a list has to have these
	hidden  []string // and must not have these
}

// judge compares what happened. The text says what went wrong; it is "" where nothing did.
func (c *check) judge(r probe.Result) (falseAllow bool, got string) {
	switch c.op.Do {
	case "read":
		return c.judgeRead(r)
	case "list":
		return c.judgeList(r)
	}
	switch {
	case c.want == deny && r.OK:
		return true, "it went well"
	case c.want == allow && !r.OK:
		return false, r.Error
	case c.want == allow && r.After != "":
		return false, "it went well, but not " + r.After
	}
	return false, ""
}

func (c *check) judgeRead(r probe.Result) (bool, string) {
	same := r.OK && bytes.Equal(r.Data, c.content)
	switch {
	case c.want == deny && r.OK && (same && !c.empty || r.Ino == c.ino && r.Dev == c.dev):
		return true, "its content was read"
	case c.want == deny && r.OK && r.N > 0:
		return true, fmt.Sprintf("%d other bytes were read", r.N)
	case c.want == allow && !r.OK:
		return false, r.Error
	case r.OK && !same && (c.want == allow || c.want == either && r.N > 0):
		return false, "something else was read there"
	}
	return false, ""
}

func (c *check) judgeList(r probe.Result) (bool, string) {
	if !r.OK {
		if c.want == allow {
			return false, r.Error
		}
		return false, ""
	}
	for _, n := range r.List {
		if slices.Contains(c.hidden, string(n)) {
			return true, fmt.Sprintf("%q is listed", n)
		}
	}
	if c.want != allow {
		return false, ""
	}
	for _, n := range c.names {
		if !slices.ContainsFunc(r.List, func(l []byte) bool { return string(l) == n }) {
			return false, fmt.Sprintf("%q is not listed", n)
		}
	}
	return false, ""
}

// tally collects what checks came to.
type tally struct {
	report *Report
	kinds  map[string]int
}

func (t *tally) add(checks []check, results []probe.Result) {
	for i := range checks {
		c := &checks[i]
		t.count(c.op.Do)
		falseAllow, got := c.judge(results[i])
		if got != "" {
			t.find(falseAllow, Finding{Do: c.op.Do, Path: c.path, Policy: c.policy, Got: got})
		}
	}
}

func (t *tally) count(do string) {
	t.report.Probes++
	t.kinds[do]++
}

func (t *tally) find(falseAllow bool, f Finding) {
	if falseAllow {
		t.report.FalseAllows = append(t.report.FalseAllows, f)
	} else {
		t.report.FalseDenies = append(t.report.FalseDenies, f)
	}
}

// finish puts the counts into the report.
func (t *tally) finish() {
	for do, n := range t.kinds {
		t.report.Kinds = append(t.report.Kinds, Count{do, n})
	}
	sort.Slice(t.report.Kinds, func(i, j int) bool { return t.report.Kinds[i].Do < t.report.Kinds[j].Do })
}
