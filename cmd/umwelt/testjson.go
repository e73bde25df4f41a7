package main

import "umwelt/policytest"

// testDocument is what became of test files, in JSON.
type testDocument struct {
	Schema   string        `json:"schema"`
	Passed   int           `json:"passed"` // cases
	Failed   int           `json:"failed"` // cases
	Unusable int           `json:"unusable"`
	Files    []testFile    `json:"files"`
	Coverage *testCoverage `json:"coverage,omitempty"`
}

type testFile struct {
	File        string       `json:"file"`
	Cases       []testCase   `json:"cases"`
	Diagnostics []diagnostic `json:"diagnostics"`
}

type testCase struct {
	Name string `json:"name"`
	*place
	Checks   int           `json:"checks"` // answers that were compared
	Passed   bool          `json:"passed"`
	Failures []testFailure `json:"failures"`
}

// testFailure is one answer that is not the wanted one, or a selector that fits nothing.
type testFailure struct {
	*place
	Entity   *entityRef `json:"entity,omitempty"`
	Property string     `json:"property,omitempty"`
	Call     *string    `json:"call,omitempty"` // property then is the one that decides
	Want     string     `json:"want,omitempty"`
	Got      string     `json:"got,omitempty"`
	Message  string     `json:"message,omitempty"`
	Because  []string   `json:"because,omitempty"`
}

// testCoverage says which parts some case would miss.
type testCoverage struct {
	Rules        []testPart `json:"rules"`
	Restrictions []testPart `json:"restrictions"`
}

type testPart struct {
	*place
	Selector string `json:"selector"`
	Property string `json:"property,omitempty"`
	Noticed  bool   `json:"noticed"`
}

func testDocumentOf(r *testReport, coverage bool) testDocument {
	doc := testDocument{Schema: "umwelt.test/1", Files: []testFile{}}
	doc.Passed, doc.Failed, doc.Unusable = r.counts()
	for _, f := range r.files {
		j := testFile{File: utf8Text(f.path), Cases: []testCase{}, Diagnostics: diagnostics(f.list)}
		if f.result != nil && !f.list.HasErrors() {
			for _, c := range f.result.Cases {
				j.Cases = append(j.Cases, testCaseOf(&c))
			}
		}
		doc.Files = append(doc.Files, j)
	}
	if coverage {
		doc.Coverage = &testCoverage{Rules: []testPart{}, Restrictions: []testPart{}}
		for _, p := range r.parts {
			j := testPart{place: placeOf(p.At()), Selector: utf8Text(p.Rules[0].Selector.Text), Noticed: p.Noticed}
			if p.restriction {
				j.Property = p.Declaration.Name
				doc.Coverage.Restrictions = append(doc.Coverage.Restrictions, j)
			} else {
				doc.Coverage.Rules = append(doc.Coverage.Rules, j)
			}
		}
	}
	return doc
}

func testCaseOf(c *policytest.CaseResult) testCase {
	out := testCase{Name: c.Name, place: placeOf(c.At), Checks: c.Checks, Passed: len(c.Failures) == 0, Failures: []testFailure{}}
	for _, x := range c.Failures {
		j := testFailure{place: placeOf(x.At), Message: utf8Text(x.Message)}
		if x.Entity != nil {
			ref := refOf(x.Entity)
			j.Entity, j.Want, j.Got, j.Because = &ref, utf8Text(x.Want), utf8Text(x.Got), failureReasons(&x)
			if x.Property != nil {
				j.Property = x.Property.Name
			}
			if x.Call != nil {
				call := utf8Text(*x.Call)
				j.Call, j.Message = &call, ""
			}
		}
		out.Failures = append(out.Failures, j)
	}
	return out
}
