package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"

	"umwelt/diag"
	"umwelt/policytest"
)

// testReport is what became of all test files.
type testReport struct {
	files   []fileReport
	parts   []coveredPart  // of all views, each once
	covered map[string]int // index into parts
	read    []string       // the files that were read
}

// fileReport is what became of one test file. Where its list holds an error it is
// unusable.
type fileReport struct {
	path   string
	list   diag.List
	result *policytest.Result
}

// coveredPart is a rule, or one restriction of it. Noticed says that some case of some file
// misses it.
type coveredPart struct {
	policytest.Part
	restriction bool
}

// cover joins the coverage of one file with that of others: a view may be tested by several.
func (r *testReport) cover(c *policytest.Coverage) {
	if c == nil {
		return
	}
	for i, list := range [][]policytest.Part{c.Rules, c.Restrictions} {
		for _, p := range list {
			key := fmt.Sprint(i, p.At(), p.Rules[0].Selector.Text)
			at, known := r.covered[key]
			if !known {
				at = len(r.parts)
				r.covered[key] = at
				r.parts = append(r.parts, coveredPart{p, i == 1})
			}
			r.parts[at].Noticed = r.parts[at].Noticed || p.Noticed
		}
	}
}

// counts are the cases that passed and failed, and the files that are unusable.
func (r *testReport) counts() (passed, failed, unusable int) {
	for _, f := range r.files {
		switch {
		case f.list.HasErrors():
			unusable++
		case f.result != nil:
			n := f.result.Failed()
			passed, failed = passed+len(f.result.Cases)-n, failed+n
		}
	}
	return passed, failed, unusable
}

// deliver writes the report and gives the exit status as an error.
func (f *testFlags) deliver(std *streams, r *testReport) error {
	var err error
	switch f.format {
	case "json":
		err = std.writeJSON(f.output, testDocumentOf(r, f.coverage))
	case "junit":
		err = std.write(f.output, r.junit())
	case "tap":
		err = std.write(f.output, r.tap())
	default:
		err = std.write(f.output, []byte(r.text(f.coverage)))
	}
	if err != nil {
		return err
	}
	var list diag.List
	for _, file := range r.files {
		list = append(list, file.list...)
	}
	_, failed, unusable := r.counts()
	switch {
	case unusable > 0:
		return &problemsError{list}
	case failed > 0:
		std.render(list)
		return findingsError{}
	}
	std.render(list)
	return nil
}

// text is the report for people: what failed in full, the rest in a line.
func (r *testReport) text(coverage bool) string {
	var b strings.Builder
	for _, f := range r.files {
		switch {
		case f.list.HasErrors():
			fmt.Fprintf(&b, "unusable  %s\n", diag.Escape(f.path))
			continue
		case f.result.Failed() > 0:
			fmt.Fprintf(&b, "FAIL      %s\n", diag.Escape(f.path))
		default:
			fmt.Fprintf(&b, "ok        %s  %s\n", diag.Escape(f.path), plural(len(f.result.Cases), "case"))
		}
		for _, c := range f.result.Cases {
			if len(c.Failures) == 0 {
				continue
			}
			fmt.Fprintf(&b, "  %s: %s\n", c.At, diag.Escape(c.Name))
			for _, x := range c.Failures {
				for _, line := range failureLines(&x) {
					fmt.Fprintf(&b, "    %s\n", line)
				}
			}
		}
	}
	if coverage {
		r.coverageText(&b)
	}
	passed, failed, unusable := r.counts()
	fmt.Fprintf(&b, "%d passed, %d failed", passed, failed)
	if unusable > 0 {
		fmt.Fprintf(&b, ", %s unusable", plural(unusable, "file"))
	}
	b.WriteByte('\n')
	return b.String()
}

func (r *testReport) coverageText(b *strings.Builder) {
	for i, what := range []string{"rule", "restriction"} {
		n, noticed := 0, 0
		var missed strings.Builder
		for _, p := range r.parts {
			if p.restriction != (i == 1) {
				continue
			}
			n++
			if p.Noticed {
				noticed++
				continue
			}
			fmt.Fprintf(&missed, "  %s  %s\n", p.At(), partText(&p.Part))
		}
		switch {
		case n == 0:
		case n == noticed:
			fmt.Fprintf(b, "coverage: some case notices the loss of each of %s\n", plural(n, what))
		default:
			fmt.Fprintf(b, "coverage: some case notices the loss of %d of %s, and none that of\n%s", noticed, plural(n, what), missed.String())
		}
	}
}

// partText is a rule's selector, with the one declaration that is meant.
func partText(p *policytest.Part) string {
	texts := make([]string, len(p.Rules))
	for i, rule := range p.Rules {
		texts[i] = diag.Escape(rule.Selector.Text)
	}
	text := strings.Join(texts, ", ")
	if p.Declaration != nil {
		text += " { " + p.Declaration.Name + ": " + diag.Escape(declaredText(p.Declaration)) + " }"
	}
	return text
}

// failureLines say what was wanted, what came instead, and why.
func failureLines(f *policytest.Failure) []string {
	if f.Entity == nil {
		return []string{f.At.String() + ": " + diag.Escape(f.Message)}
	}
	if f.Call != nil {
		out := []string{fmt.Sprintf("%s: %s: call %s: want %s, got %s", f.At, refOf(f.Entity), diag.Quote(*f.Call), f.Want, f.Got)}
		for _, reason := range failureReasons(f) {
			out = append(out, "    because "+reason)
		}
		return out
	}
	out := []string{fmt.Sprintf("%s: %s: want %s: %s, got %s", f.At, refOf(f.Entity), f.Property.Name, diag.Escape(f.Want), diag.Escape(f.Got))}
	for _, reason := range failureReasons(f) {
		out = append(out, "    because "+reason)
	}
	return out
}

// failureReasons are what the answer rests on, one line each.
func failureReasons(f *policytest.Failure) []string {
	var out []string
	if f.Call != nil {
		if out = append(out, diag.Escape(f.Message)); f.Property == nil {
			return []string{"nothing asks anything of it"}
		}
	}
	e := &f.Proof.Effective
	if e.Reason != nil && !f.Property.Secret {
		out = append(out, diag.Escape(e.Reason.Text))
	}
	for _, c := range e.From {
		out = append(out, fmt.Sprintf("%s %s { %s: %s }", c.Declaration.At, diag.Escape(c.Rule.Selector.Text), f.Property.Name, diag.Escape(policytest.Shown(f.Property, c.Value))))
	}
	if out == nil {
		out = append(out, "no rule sets it")
	}
	return out
}

// junit is the report as JUnit XML. It holds no times, so that equal runs give equal bytes.
func (r *testReport) junit() []byte {
	type failure struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
	type testcase struct {
		Class   string   `xml:"classname,attr"`
		Name    string   `xml:"name,attr"`
		Failure *failure `xml:"failure"`
		Error   *failure `xml:"error"`
	}
	type suite struct {
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Errors   int        `xml:"errors,attr"`
		Cases    []testcase `xml:"testcase"`
	}
	doc := struct {
		XMLName  xml.Name `xml:"testsuites"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Errors   int      `xml:"errors,attr"`
		Suites   []suite  `xml:"testsuite"`
	}{}
	for _, f := range r.files {
		name := diag.Escape(f.path)
		s := suite{Name: name}
		if f.list.HasErrors() {
			s.Tests, s.Errors = 1, 1
			err := f.list.Err().Error()
			s.Cases = []testcase{{Class: name, Name: "the file", Error: &failure{Message: diag.Escape(err), Text: diag.Escape(err)}}}
		} else {
			for _, c := range f.result.Cases {
				t := testcase{Class: name, Name: diag.Escape(c.Name)}
				if len(c.Failures) > 0 {
					s.Failures++
					var lines []string
					for _, x := range c.Failures {
						lines = append(lines, failureLines(&x)...)
					}
					t.Failure = &failure{Message: lines[0], Text: strings.Join(lines, "\n")}
				}
				s.Cases = append(s.Cases, t)
			}
			s.Tests = len(s.Cases)
		}
		doc.Tests, doc.Failures, doc.Errors = doc.Tests+s.Tests, doc.Failures+s.Failures, doc.Errors+s.Errors
		doc.Suites = append(doc.Suites, s)
	}
	var b bytes.Buffer
	b.WriteString(xml.Header)
	e := xml.NewEncoder(&b)
	e.Indent("", "  ")
	must(e.Encode(doc)) // plain data always encodes
	b.WriteByte('\n')
	return b.Bytes()
}

// tap is the report in the Test Anything Protocol, in the version that most programs read.
func (r *testReport) tap() []byte {
	var lines []string
	add := func(ok bool, name string, why []string) {
		word := "ok"
		if !ok {
			word = "not ok"
		}
		n := strings.NewReplacer(`\`, `\\`, "#", `\#`).Replace(diag.Escape(name))
		line := fmt.Sprintf("%s %d - %s", word, len(lines)+1, n)
		if !ok {
			line += "\n  ---\n  message: |"
			for _, w := range why {
				line += "\n    " + w
			}
			line += "\n  ..."
		}
		lines = append(lines, line)
	}
	for _, f := range r.files {
		if f.list.HasErrors() {
			add(false, f.path, []string{diag.Escape(f.list.Err().Error())})
			continue
		}
		for _, c := range f.result.Cases {
			var why []string
			for _, x := range c.Failures {
				why = append(why, failureLines(&x)...)
			}
			add(len(c.Failures) == 0, f.path+": "+c.Name, why)
		}
	}
	return []byte(fmt.Sprintf("TAP version 13\n1..%d\n", len(lines)) + strings.Join(append(lines, ""), "\n"))
}
