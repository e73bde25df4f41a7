package lint

import (
	"fmt"
	"strings"

	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/registry"
)

const specificityEscalation = "specificity-escalation"

// escalated is how many times one property of one entity is turned over by ever more
// specific rules before it is a smell.
const escalated = 3

// SpecificityEscalation finds properties that are turned over and over by ever more
// specific rules, and tests that stand in a selector for their weight alone.
var SpecificityEscalation = Detector{
	Name: specificityEscalation, Severity: diag.Warning,
	Summary: "Ever more specific rules turn one answer over at least three times, or a selector repeats a test to weigh more.",
	Find: func(f *Facts) []Finding {
		out := f.repeatedTests()
		seen := map[life]bool{}
		for i, contests := range f.Contests {
			for _, contest := range contests {
				if !single(contest.Property) || !directed(contest.Property) {
					continue
				}
				chain := turns(contest.Candidates)
				top := contest.Candidates[0]
				if len(chain) <= escalated || seen[life{top.Declaration.Order, contest.Property}] {
					continue
				}
				seen[life{top.Declaration.Order, contest.Property}] = true
				var also []diag.Related
				var values []string
				for k := len(chain) - 1; k >= 0; k-- {
					values = append(values, Shown(contest.Property, chain[k].Value))
					if k > 0 {
						also = append(also, diag.Related{Span: chain[k].Declaration.At, Message: said(contest.Property, chain[k].Value)})
					}
				}
				out = append(out, finding(diag.Warning, top.Declaration.At,
					fmt.Sprintf("%s of %s is turned over %d times by ever more specific rules: %s", contest.Property.Name, f.entity(f.Cohorts[i].First), len(chain)-1, strings.Join(values, ", then ")),
					"say it in layers, or with :not(), so that each rule is about its own things",
					also...))
			}
		}
		return out
	},
}

// turns are the candidates at which the answer changes, where each wins over the next by
// specificity.
func turns(list []*cascade.Candidate) []*cascade.Candidate {
	out := list[:1:1]
	for _, c := range list[1:] {
		last := out[len(out)-1]
		if _, why := cascade.Ahead(last, c); why != cascade.LowerSpecificity {
			break
		}
		if !c.Value.Equal(last.Value) {
			out = append(out, c)
		}
	}
	return out
}

// repeatedTests are the tests that a compound selector holds twice.
func (f *Facts) repeatedTests() []Finding {
	var out []Finding
	seen := map[diag.Pos]bool{}
	check := func(c *registry.Compound) {
		for i := range c.Tests {
			for k := range c.Tests[:i] {
				if sameTest(&c.Tests[i], &c.Tests[k]) && !seen[c.At.Start] {
					seen[c.At.Start] = true
					out = append(out, finding(diag.Warning, c.At,
						fmt.Sprintf("%s says the same twice, which only makes it more specific", c.Text),
						"say it once, and order rules by layers where one has to win"))
				}
			}
		}
	}
	for _, rule := range f.Bound.Rules {
		check(rule.Selector.Target)
		for _, link := range rule.Selector.Structure {
			check(link.Compound)
		}
		for _, q := range rule.Selector.Qualifiers {
			check(q)
		}
	}
	return out
}
