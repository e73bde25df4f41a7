package main

import (
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"

	"umwelt/diag"
	"umwelt/ratchet"
	"umwelt/ratchet/narrow"
)

// ratchetSummary is what standard error says of a proposal: the table of before and after,
// and every kind of thing that a person should look at, with its count.
func ratchetSummary(r *narrow.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "umwelt: %s in %s came to %s\n", plural(int(r.Observations), "observation"), plural(r.Runs, "run"), plural(len(r.Rules), "rule"))
	b.WriteString(ratchetTable(r.Table))
	for _, s := range r.Sources {
		for _, g := range s.Gaps {
			fmt.Fprintf(&b, "umwelt: %s: %s %s: %s%s\n", diag.Escape(s.Source), plural(int(g.Count), "record"), g.Kind, diag.Escape(cmp.Or(g.What, "other reasons")), firstPlace(g.First))
		}
		if s.Partial {
			fmt.Fprintf(&b, "umwelt: %s is partial: %s\n", diag.Escape(s.Source), diag.Escape(s.Why))
		}
	}
	denied, _, failed := refusals(r)
	for _, c := range []struct {
		n    int
		what string
	}{
		{len(r.Removed), "left away, since nothing needed it"},
		{len(denied), "denied, and not granted"},
		{len(failed), "tried in the project and failed, and not granted"},
		{len(r.NotAllowed), "observed, and not allowed by the current view"},
		{len(r.LeftOut), "needed by too few runs, and left out"},
		{len(r.Unexpressed), "observed, and not for any rule to grant"},
		{len(r.Disagreement), "said differently by the sources; the looser is kept"},
	} {
		if c.n > 0 {
			fmt.Fprintf(&b, "  %s: %d (see --report)\n", c.what, c.n)
		}
	}
	for _, rule := range r.Rules {
		if rule.Step == narrow.Entries {
			fmt.Fprintf(&b, "umwelt: line %d lets every new name in, since no mount can tell new names apart: %s\n", rule.Line, diag.Escape(clipped(rule.Text)))
		}
	}
	if len(r.Made) > 0 {
		fmt.Fprintf(&b, "umwelt: make first, where they are not there: %s\n", clipped(quoteFirst(r.Made)))
	}
	for _, o := range r.Outside {
		if o.Wrote {
			fmt.Fprintf(&b, "umwelt: outside the project, %s: written at %s; %s\n", o.Group, quoteFirst(o.First), o.Advice)
		}
	}
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "umwelt: %s\n", diag.Escape(note))
	}
	return b.String()
}

// clipped is a rule's text, cut where it is too long for one line.
func clipped(text string) string {
	if runes := []rune(text); len(runes) > 100 {
		return string(runes[:100]) + "…"
	}
	return text
}

func ratchetTable(rows []narrow.Row) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	before := false
	for _, row := range rows {
		before = before || row.Before != ""
	}
	for _, row := range rows {
		if before {
			fmt.Fprintf(w, "  %s\t%s\t→ %s\n", diag.Escape(row.What), diag.Escape(row.Before), diag.Escape(row.After))
		} else {
			fmt.Fprintf(w, "  %s\t%s\n", diag.Escape(row.What), diag.Escape(row.After))
		}
	}
	w.Flush()
	return b.String()
}

func firstPlace(list []ratchet.Place) string {
	if len(list) == 0 {
		return ""
	}
	return " (first at " + placeText(list[0]) + ")"
}

func placeText(p ratchet.Place) string {
	if p.Line == 0 {
		return diag.Escape(p.File)
	}
	return fmt.Sprintf("%s:%d", diag.Escape(p.File), p.Line)
}

func quoteFirst(list []string) string {
	var out []string
	for _, s := range list {
		out = append(out, diag.Quote(s))
	}
	return strings.Join(out, ", ")
}

// ratchetText is the whole report as text.
func ratchetText(r *narrow.Report) string {
	var b strings.Builder
	section := func(title string, n int) bool {
		if n > 0 {
			fmt.Fprintf(&b, "\n%s\n", title)
		}
		return n > 0
	}
	fmt.Fprintf(&b, "%s in %s, %s\n\n", plural(int(r.Observations), "observation"), plural(r.Runs, "run"), plural(r.Facts, "distinct fact"))
	b.WriteString(ratchetTable(r.Table))
	if section("Rules", len(r.Rules)) {
		for _, rule := range r.Rules {
			fmt.Fprintf(&b, "  line %d, %s: %s\n", rule.Line, rule.Origin, diag.Escape(rule.Text))
			if rule.Step != "" {
				fmt.Fprintf(&b, "    step %s; known entities that it admits and that were not observed: %d\n", rule.Step, rule.Admits)
			}
			if len(rule.Verbs) > 0 {
				fmt.Fprintf(&b, "    %s of %s in %s%s\n", countsText(rule.Verbs), plural(rule.Entities, "entity"), plural(rule.Runs, "run"), evidenceText(rule.Evidence))
			}
		}
	}
	for _, list := range []struct {
		title string
		of    []narrow.Unused
	}{{"Left away: nothing needed it", r.Removed}, {"Kept without evidence", r.Kept}} {
		if section(list.title, len(list.of)) {
			for _, u := range list.of {
				fmt.Fprintf(&b, "  %s: %s%s\n", diag.Escape(u.At), diag.Escape(u.Text), because(u.Why))
			}
		}
	}
	denied, elsewhere, failed := refusals(r)
	for _, list := range []struct {
		title string
		of    []narrow.Refusal
	}{{"Denied: not granted", denied}, {"Tried in the project, and failed: not granted", failed}} {
		if section(list.title, len(list.of)) {
			for _, d := range list.of {
				fmt.Fprintf(&b, "  %s %s: %s%s%s\n", diag.Escape(d.Type), diag.Quote(d.ID), countsText(d.Verbs), because(d.Reason), evidenceText(d.Evidence))
			}
		}
	}
	if elsewhere > 0 {
		fmt.Fprintf(&b, "\nTried outside the project, and failed, as looking along a search path does: %d\n", elsewhere)
	}
	for _, list := range []struct {
		title string
		of    []narrow.Left
	}{
		{"Observed, and not allowed by the current view", r.NotAllowed}, {"Observed, and no rule can grant it", r.Unexpressed},
		{"Needed by too few runs", r.LeftOut}, {"Granted, and not in the world", r.Missing},
	} {
		if section(list.title, len(list.of)) {
			for _, l := range list.of {
				fmt.Fprintf(&b, "  %s %s: %s%s%s\n", diag.Escape(l.Type), diag.Quote(l.ID), countsText(l.Verbs), because(l.Why), evidenceText(l.Evidence))
			}
		}
	}
	if section("Outside the project", len(r.Outside)) {
		for _, o := range r.Outside {
			fmt.Fprintf(&b, "  %s: %s, %s; %s\n    %s\n", o.Group, plural(o.Paths, "path"), countsText(o.Verbs), o.Advice, quoteFirst(o.First))
		}
	}
	if section("Made by the work, and taken as given", len(r.Made)) {
		for _, dir := range r.Made {
			fmt.Fprintf(&b, "  %s\n", diag.Quote(dir))
		}
	}
	if section("Programs", len(r.Programs)) {
		for _, p := range r.Programs {
			fmt.Fprintf(&b, "  %s: %d, such as %s\n", p.Group, p.Count, quoteFirst(p.First))
		}
	}
	if section("Sources that do not say the same", len(r.Disagreement)) {
		for _, d := range r.Disagreement {
			fmt.Fprintf(&b, "  %s of %s %s: %s; %s is taken\n", diag.Escape(d.Of), diag.Escape(d.Type), diag.Quote(d.ID), countsText(d.Said), diag.Escape(d.Taken))
		}
	}
	if section("Not placed", len(r.Unplaced)) {
		for _, c := range r.Unplaced {
			fmt.Fprintf(&b, "  %s: %d\n", diag.Escape(c.Name), c.Count)
		}
	}
	if section("Sources", len(r.Sources)) {
		for _, s := range r.Sources {
			fmt.Fprintf(&b, "  run %d, %s: %s, %s\n", s.Run+1, diag.Escape(s.Source), plural(int(s.Records), "record"), plural(int(s.Observations), "observation"))
			for _, g := range s.Gaps {
				fmt.Fprintf(&b, "    %s: %s, %d%s\n", g.Kind, diag.Escape(cmp.Or(g.What, "other reasons")), g.Count, evidenceText(g.First))
			}
			if s.Partial {
				fmt.Fprintf(&b, "    partial: %s\n", diag.Escape(s.Why))
			}
		}
	}
	if section("Notes", len(r.Notes)) {
		for _, note := range r.Notes {
			fmt.Fprintf(&b, "  %s\n", diag.Escape(note))
		}
	}
	return b.String()
}

// refusals are what was denied, how many attempts failed outside the project, and what failed
// in it: a program that looks for a file in many places is nothing to look at.
func refusals(r *narrow.Report) (denied []narrow.Refusal, elsewhere int, failed []narrow.Refusal) {
	for _, d := range r.Refused {
		switch {
		case d.Outcome == ratchet.Denied:
			denied = append(denied, d)
		case strings.HasPrefix(d.ID, "/"):
			elsewhere++
		default:
			failed = append(failed, d)
		}
	}
	return denied, elsewhere, failed
}

func countsText(list []narrow.Count) string {
	var out []string
	for _, c := range list {
		out = append(out, fmt.Sprintf("%d × %s", c.Count, diag.Escape(c.Name)))
	}
	return strings.Join(out, ", ")
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return " (" + diag.Escape(why) + ")"
}

func evidenceText(list []ratchet.Place) string {
	if len(list) == 0 {
		return ""
	}
	var out []string
	for _, p := range list {
		out = append(out, placeText(p))
	}
	return ", at " + strings.Join(out, ", ")
}
