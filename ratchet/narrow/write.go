package narrow

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"umwelt/ast"
	"umwelt/diag"
)

// write puts the comments into a checked proposal and fills in the report's rules.
func (p *proposer) write(t *trial, metas []draft, proofs map[decided][]*tally, current *trial) (*Proposal, error) {
	speaks := p.evidenceOf(t, proofs)
	comments := map[ast.Node]string{}
	for n, e := range speaks {
		comments[n] = e.comment(e.what)
	}
	t.view.Statements = annotate(t.view.Statements, func(n ast.Node) string { return comments[n] })
	head := &ast.Comment{Text: p.head()}
	if len(t.view.Statements) > 0 {
		blank(t.view.Statements[0])
	}
	t.view.Statements = append([]ast.Node{head}, t.view.Statements...)
	text, err := printed(t.view)
	if err != nil {
		return nil, err
	}
	last, err := parse(t.view.Source.Name, text)
	if err != nil {
		return nil, fmt.Errorf("the proposal cannot be read back: %w", err)
	}
	if again, err := printed(last); err != nil || string(again) != string(text) {
		return nil, fmt.Errorf("the proposal does not print as it was read")
	}
	rules, lasts := rulesOf(t.view), rulesOf(last)
	for i, r := range rules {
		if len(declarationsOf(r.Block)) == 0 {
			continue
		}
		e := speaks[r]
		if e == nil {
			continue
		}
		var d draft
		if i < len(metas) {
			d = metas[i]
		}
		rr := RuleReport{Text: ruleText(r), Line: int(lasts[i].At.Start.Line), Step: d.step, Origin: d.origin, Admits: d.admits,
			Verbs: e.total.counts(), Entities: len(e.facts), Runs: e.runs(), Evidence: e.total.evidence()}
		if rr.Origin == "" {
			rr.Origin = originKept
		}
		p.report.Rules = append(p.report.Rules, rr)
	}
	old, now := atRulesOf(t.view), atRulesOf(last)
	for i, a := range old {
		if e := speaks[a]; e != nil {
			p.report.Rules = append(p.report.Rules, RuleReport{Text: "@" + diag.Escape(a.Name+" "+a.Prelude.Raw), Line: int(now[i].At.Start.Line), Origin: originKept,
				Verbs: e.total.counts(), Entities: len(e.facts), Runs: e.runs(), Evidence: e.total.evidence()})
		}
	}
	slices.SortStableFunc(p.report.Rules, func(a, b RuleReport) int { return cmp.Compare(a.Line, b.Line) })
	p.table(t, current)
	return &Proposal{Text: text, Report: *p.report}, nil
}

// atRulesOf are the at-rules of a view in the order of its text.
func atRulesOf(v *ast.View) []*ast.AtRule {
	var out []*ast.AtRule
	ast.Walk(v, func(n ast.Node) bool {
		if a, ok := n.(*ast.AtRule); ok {
			out = append(out, a)
		}
		return true
	})
	return out
}

// spoken is what speaks for a rule, and about what type of thing.
type spoken struct {
	evidence
	what string
}

// evidenceOf gathers the evidence of every rule that grants something, and of sugar as a
// whole. What only restricts has none.
func (p *proposer) evidenceOf(t *trial, proofs map[decided][]*tally) map[ast.Node]*spoken {
	owner := map[string]ast.Node{}
	var walk func(items []ast.Node, sugar ast.Node)
	walk = func(items []ast.Node, sugar ast.Node) {
		for _, n := range items {
			holder := sugar
			switch n := n.(type) {
			case *ast.AtRule:
				if holder == nil && p.sugar(n) {
					holder = n
				}
				if n.Block != nil {
					walk(n.Block.Items, holder)
				}
			case *ast.Rule:
				if holder == nil {
					for _, d := range declarationsOf(n.Block) {
						owner[placeOf(d.At)] = n
					}
				}
				walk(n.Block.Items, holder)
			case *ast.Declaration:
				if holder != nil {
					owner[placeOf(n.At)] = holder
				}
			}
		}
	}
	walk(t.view.Statements, nil)
	out := map[ast.Node]*spoken{}
	for by, tallies := range proofs {
		n := owner[placeOf(by.decl.At)]
		if n == nil || by.decl.At.Source != t.view.Source {
			continue
		}
		e := out[n]
		if e == nil {
			e = &spoken{}
			out[n] = e
		}
		if what := targetName(by); e.what == "" || what < e.what {
			e.what = what
		}
		for _, x := range tallies {
			e.add(x)
		}
	}
	return out
}

func targetName(d decided) string {
	if t := d.rule.Selector.Target.Type; t != nil {
		return t.Name
	}
	return "file"
}

func placeOf(s diag.Span) string { return fmt.Sprint(s.Start.Offset, "-", s.End.Offset) }

// sugar reports whether an at-rule is written out as rules by the vocabulary.
func (p *proposer) sugar(a *ast.AtRule) bool {
	switch name := strings.ToLower(a.Name); name {
	case "layer", "import":
		return false
	default:
		return p.in.World.Registry.Taxon(name) == nil
	}
}

func ruleText(r *ast.Rule) string {
	var b strings.Builder
	b.WriteString(ast.FormatSelectors(r.Selectors))
	b.WriteString(" {")
	for _, d := range declarationsOf(r.Block) {
		raw := d.Raw
		if strings.EqualFold(d.Property, "value") {
			raw = "…" // the value of a variable is never printed
		}
		b.WriteString(" " + d.Property + ": " + raw + ";")
	}
	b.WriteString(" }")
	return diag.Escape(b.String())
}

// head is the comment that a proposal begins with.
func (p *proposer) head() string {
	text := fmt.Sprintf("/* Proposed by umwelt ratchet from %s in %s.", counted(p.kept(), "observation", "observations"), counted(int64(p.report.Runs), "run", "runs"))
	if p.report.Partial {
		text += "\n   A record ends before its end, so the work may need more than this."
	}
	if made := madeText(p.report.Made); made != "" {
		text += "\n   " + made
	}
	return text + " */"
}

// kept is how many observations the proposal rests on.
func (p *proposer) kept() int64 {
	return p.report.Observations - p.report.OtherContext
}

// blank puts a blank line before a node.
func blank(n ast.Node) {
	switch n := n.(type) {
	case *ast.Comment:
		n.BlankBefore = true
	case *ast.Rule:
		n.BlankBefore = true
	case *ast.AtRule:
		n.BlankBefore = true
	}
}

// collected fills in what the report says of what was collected.
func (p *proposer) collected() {
	r, c := p.report, p.c
	r.Runs, r.Observations, r.Facts, r.OtherContext = len(c.runs), c.seen, len(c.facts), c.strayed
	r.Outside = outsides(p.material.outside)
	for kind, n := range c.kinds {
		r.unplaced(kind, n)
	}
	for k, t := range c.refused {
		f := fact{k.typ, k.id, t}
		r.Refused = append(r.Refused, Refusal{Type: plainType(f), ID: text(k.id), Outcome: k.outcome, Reason: text(k.reason), Verbs: t.counts(), Evidence: t.evidence()})
	}
	slices.SortFunc(r.Refused, func(a, b Refusal) int {
		return strings.Compare(string(a.Outcome)+"\x00"+a.Type+"\x00"+a.ID+"\x00"+a.Reason, string(b.Outcome)+"\x00"+b.Type+"\x00"+b.ID+"\x00"+b.Reason)
	})
	if c.fold > foldNothing {
		r.note("there were so many facts that paths outside the project are counted by directory")
	}
	for _, s := range p.in.Sources {
		sr := SourceReport{Source: text(s.Source), Run: s.Run, Records: s.Records, Observations: s.Tally.Observations, Partial: s.Partial, Why: s.Why}
		for _, g := range s.Gaps {
			sr.Gaps = append(sr.Gaps, Gap{g.Kind, text(g.What), g.Count, g.First})
		}
		r.Sources = append(r.Sources, sr)
		r.Partial = r.Partial || s.Partial
	}
	slices.SortStableFunc(r.Sources, func(a, b SourceReport) int {
		return strings.Compare(fmt.Sprintf("%08d", a.Run)+a.Source, fmt.Sprintf("%08d", b.Run)+b.Source)
	})
}
