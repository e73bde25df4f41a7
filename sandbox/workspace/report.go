package workspace

import (
	"fmt"
	"strings"

	"umwelt/diag"
)

// ReportSchema names the form of the report of an apply.
const ReportSchema = "umwelt.workspace-apply/1"

// Outcome is what became of one entry.
type Outcome string

// The outcomes. Only the last three change the project.
const (
	NoOp     Outcome = "no-op"    // unchanged, or the project has it already
	Rejected Outcome = "rejected" // the policy does not let the actor do this
	Conflict Outcome = "conflict" // the project changed meanwhile
	Applied  Outcome = "applied"  // a file, link or directory was changed
	Created  Outcome = "created"
	Deleted  Outcome = "deleted"
)

// Outcomes are all outcomes in the order of reports.
var Outcomes = [...]Outcome{Applied, Created, Deleted, NoOp, Rejected, Conflict}

// Change is one entry's outcome. Where a file gave way to a directory, or the reverse, its
// path has one change of each kind.
type Change struct {
	Path    Name    `json:"path"`
	Kind    Kind    `json:"kind"`
	Outcome Outcome `json:"outcome"`
	Why     string  `json:"why,omitempty"` // one plain clause, safe to print
}

// Report is what an apply decided and did.
type Report struct {
	Schema string `json:"schema"`
	Dir    Name   `json:"workspace"`
	Root   Name   `json:"root"`
	// Applied says that the project is now as the changes say. It is false where Strict
	// held everything back: the changes are then what would have been.
	Applied bool            `json:"applied"`
	Counts  map[Outcome]int `json:"counts"` // every outcome has one
	Changes []Change        `json:"changes"`
	Digest  string          `json:"manifest"` // the digest of the manifest from now on
	// Left are the project's paths where something written aside is left, because somebody
	// replaced a directory meanwhile. The next apply tries again to remove it.
	Left []Name `json:"left,omitempty"`
}

// Clean reports whether nothing was rejected and nothing in conflict.
func (r *Report) Clean() bool { return r.Counts[Rejected]+r.Counts[Conflict] == 0 }

// Changed reports whether the project was changed.
func (r *Report) Changed() bool {
	return r.Applied && r.Counts[Applied]+r.Counts[Created]+r.Counts[Deleted] > 0
}

func (r *Report) count() {
	r.Counts = map[Outcome]int{}
	for _, o := range Outcomes {
		r.Counts[o] = 0
	}
	for _, c := range r.Changes {
		r.Counts[c.Outcome]++
	}
}

// Text is the report for a terminal: a line for each entry that is not a no-op, and the
// counts.
func (r *Report) Text() string {
	var b strings.Builder
	for _, c := range r.Changes {
		if c.Outcome == NoOp {
			continue
		}
		path := diag.Escape(string(c.Path))
		if c.Kind == KindDir {
			path += "/"
		}
		fmt.Fprintf(&b, "%-8s  %s", c.Outcome, path)
		if c.Why != "" {
			b.WriteString(": " + c.Why)
		}
		b.WriteByte('\n')
	}
	for _, n := range r.Left {
		fmt.Fprintf(&b, "left aside, since its directory was replaced: %s\n", diag.Escape(string(n)))
	}
	for i, o := range Outcomes {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%d %s", r.Counts[o], o)
	}
	b.WriteByte('\n')
	return b.String()
}
