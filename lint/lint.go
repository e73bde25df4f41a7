// Package lint finds what is likely to be a mistake in a policy that is right by the
// grammar: rules that never count, answers that hang on an accident of order, grants that
// go further than they seem to.
//
// A detector is one file. Those here know a vocabulary only by what a registry says of it;
// those that know words of one live in packages below. All of them are listed once, in the
// package lint/all.
package lint

import (
	"cmp"
	"slices"

	"umwelt/ast"
	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/registry"
)

// Input is what detectors look at.
type Input struct {
	Views      []*ast.View         // the files that are asked about, without what they import
	Resolution *cascade.Resolution // of exactly those views
	Targets    []Target            // what the policy is to be compiled for
	Baseline   *Baseline           // an earlier answer to compare with; nil for none
}

// Target is an enforcement tool, as far as detectors care.
type Target struct {
	Name     string
	Altitude registry.Altitude // up to which it can enforce anything
}

// Finding is one smell at one place. Its Code is the name of its detector.
type Finding struct {
	diag.Diagnostic
	// Fix are the edits that mend it for certain, in no file twice at one place; nil where
	// somebody has to decide.
	Fix []Edit
	// Silenced is the reason that a comment gives for leaving it as it is; "" for none.
	Silenced string
}

// Detector finds one kind of smell.
type Detector struct {
	Name     string        // lower case words with hyphens between them
	Severity diag.Severity // the gravest that it reports
	Summary  string        // what it finds, in one sentence
	// Find reports what it finds, in any order. It is called once per input.
	Find func(*Facts) []Finding
	// Needs says what Find cannot do without, such as a baseline; "" where it can run.
	Needs func(*Input) string
}

// Run is what the detectors find, but for the disabled ones, by file and place. Findings
// that a comment silences are among them. Comments that silence nothing are reported, too.
func Run(in Input, detectors []Detector, disabled ...string) []Finding {
	return run(newFacts(in), detectors, disabled)
}

func run(f *Facts, detectors []Detector, disabled []string) []Finding {
	known, ran := map[string]bool{}, map[string]bool{}
	var out []Finding
	for _, d := range detectors {
		known[d.Name] = true
		if slices.Contains(disabled, d.Name) || d.Find == nil || d.Needs != nil && d.Needs(&f.Input) != "" {
			continue
		}
		ran[d.Name] = true
		for _, x := range d.Find(f) {
			x.Code = diag.Code(d.Name)
			out = append(out, x)
		}
	}
	unused := silence(f, out, known, ran)
	if known[UnusedIgnore.Name] && !slices.Contains(disabled, UnusedIgnore.Name) {
		out = append(out, unused...)
	}
	slices.SortStableFunc(out, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(a.Span.File(), b.Span.File()),
			cmp.Compare(a.Span.Start.Offset, b.Span.Start.Offset),
			cmp.Compare(a.Code, b.Code),
			cmp.Compare(a.Message, b.Message),
		)
	})
	return out
}
