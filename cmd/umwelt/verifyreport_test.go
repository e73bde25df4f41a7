package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"umwelt/sandbox/verify"
)

// What names hold is shown, and obeyed by nobody; long lists are counted.
func TestVerifyReports(t *testing.T) {
	r := &verify.Report{Target: "bwrap", Version: "1\xff", Paths: 2, Of: 9, Variables: 1, Probes: 3, Kinds: []verify.Count{{Do: "read", N: 3}}, Remarks: []string{"a\x1b[31mb"}}
	r.FalseAllows = []verify.Finding{{Do: "read", Path: "a\x1b[31m\xff\nfalse deny: x", Policy: "hidden, by v.umw:1", Got: "its content was read"}}
	for i := range mostFindings + 7 {
		r.FalseDenies = append(r.FalseDenies, verify.Finding{Do: "write", Path: fmt.Sprint(i), Policy: "rw", Got: "no"})
	}
	text := string(verifyText(r))
	if strings.Contains(text, "\x1b") || strings.Count(text, "\n") != 1+mostFindings+1+1+3 {
		t.Errorf("%q", text)
	}
	for _, want := range []string{`false allow: read "a\x1b[31m\xff\nfalse deny: x": its content was read (hidden, by v.umw:1)` + "\n", "false deny: and 7 more\n", "2 of 9 paths, 1 variable, 0 endpoints and 0 limits\n", "3 probes: 3 read\n", "1 false allow, 57 false denies\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in %q", want, text)
		}
	}
	doc, err := json.Marshal(verifyDocument(r))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"schema":"umwelt.verify/1"`, `"version":"1\\xff"`, `"path":"a\u001b[31m\\xff\nfalse deny: x"`, `"declared":[]`} {
		if !strings.Contains(string(doc), want) {
			t.Errorf("%s is missing in %s", want, doc)
		}
	}
}
