package policytest_test

import (
	"strings"
	"testing"

	"umwelt/diag"
	"umwelt/policytest"
)

func TestParseSaysWhatIsWrong(t *testing.T) {
	const good = "view: a.umw\ncases:\n  - name: one\n    expect: { file: { visible: true } }\n"
	for _, tt := range []struct{ name, text, want string }{
		{"good", good, ``},
		{"empty", ``, `t:1:1: error[yaml]: the test file is empty`},
		{"a list", "- a\n", `t:1:1: error[yaml]: a test file is a map of keys, not a list`},
		{"an unknown key", strings.Replace(good, "view:", "veiw:", 1), `t:1:1: error[unknown-key]: a test file has no key "veiw" (did you mean "view"?)`},
		{"no view", strings.Replace(good, "view: a.umw\n", "", 1), `t:1:1: error[bad-value]: a test file needs the key view (view: policy.umw)`},
		{"no cases", "view: a.umw\n", `t:1:1: error[bad-value]: a test file needs the key cases`},
		{"no case", "view: a.umw\ncases: []\n", `t:2:8: error[bad-value]: cases is a list of at least one case`},
		{"a case without a name", "view: a\ncases:\n  - expect: { file: { visible: true } }\n", `t:3:5: error[bad-value]: a case needs the key name`},
		{"a case that expects nothing", "view: a\ncases:\n  - name: n\n", `t:3:11: error[bad-value]: the case "n" expects nothing (give it expect, allowed, denied or calls)`},
		{"two of one name", good + "  - name: one\n    denied: { allow: tool }\n", `t:5:11: error[duplicate]: two cases are called "one"`},
		{"a key twice", "view: a\nview: b\ncases: []\n", `t:2:1: error[duplicate]: the key "view" stands twice`},
		{"an unknown key of a case", good + "    expct: 1\n", `t:5:5: error[unknown-key]: a case has no key "expct" (did you mean "expect"?)`},
		{"a verdict that is none", "view: a\ncases:\n  - name: n\n    calls: { tool: { alowed: x } }\n", `t:4:22: error[unknown-key]: calls are allowed or denied, not "alowed" (did you mean "allowed"?)`},
		{"calls of nothing", "view: a\ncases:\n  - name: n\n    calls: { tool: ls }\n", `t:4:20: error[bad-value]: "tool" is a map with at least one key`},
		{"an absolute path", strings.Replace(good, "a.umw", "/etc/passwd", 1), `t:1:7: error[bad-path]: "/etc/passwd" is absolute; paths are relative to the test file`},
		{"a tag", strings.Replace(good, "a.umw", "!!binary YQ==", 1), `t:1:7: error[yaml]: the tag "!!binary" is not accepted: every value is read as the text it is`},
		{"an alias", "view: &a x\nroot: *a\ncases: []\n", `t:1:7: error[yaml]: anchors and aliases are not accepted`},
		{"a merge key", "view: x\ncases:\n  - <<: { name: n }\n", `t:3:5: error[yaml]: merge keys are not accepted`},
		{"no YAML", "view: [a\n", `error[yaml]: this is not YAML`},
		{"two documents", good + "---\nview: b\n", `error[yaml]: this is not YAML: a test file is one document`},
		{"a NUL", "view: a\x00\n", `t:1:8: error[encoding]: a NUL byte cannot stand in a test file`},
		{"no UTF-8", "view: \xff\n", `t:1:7: error[encoding]: the text is not UTF-8`},
		{"deep", "view: " + strings.Repeat("[", 40) + strings.Repeat("]", 40) + "\n", `error[too-deep]: values are nested deeper than 16`},
		{"a map for a value", strings.Replace(good, "visible: true", "visible: { a: b }", 1), `t:4:32: error[bad-value]: a value is a text or a list, not a map`},
		{"a world among others", "{view: a, world: {tools: [x]}, cases: []}\n", `error[yaml]: a world in a test file stands on lines of its own`},
		{"a hostile name", strings.Replace(good, "view:", "\"vi\\x1b[2Jew\":", 1), `a test file has no key "vi\x1b[2Jew"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, list := policytest.Parse(&diag.Source{Name: "t", Text: []byte(tt.text)})
			first := ""
			if len(list) > 0 {
				first = list[0].Error()
			}
			if !strings.Contains(first, tt.want) || tt.want == "" && first != "" {
				t.Errorf("got  %s\nwant %s", first, tt.want)
			}
		})
	}
}

// TestInlineWorldKeepsItsPlaces holds every line of an inline world to where it stands in
// the file.
func TestInlineWorldKeepsItsPlaces(t *testing.T) {
	const text = "view: ä.umw\nworld:   # what exists\n  tools: [Bash]\n  modes: [ü]\n# between\ncases: [{ name: n, denied: { allow: tool } }]\n"
	f, list := policytest.Parse(&diag.Source{Name: "t", Text: []byte(text)})
	if list.HasErrors() {
		t.Fatal(list.Err())
	}
	in, out := strings.Split(text, "\n"), strings.Split(string(f.Inline.Text), "\n")
	for i := 2; i < 4; i++ {
		if in[i] != out[i] {
			t.Errorf("line %d is %q, not %q", i+1, out[i], in[i])
		}
	}
	if s := strings.TrimSpace(strings.Join(out[:2], "")); s != "" {
		t.Errorf("%q is left before the world", s)
	}
	if strings.Contains(string(f.Inline.Text), "cases") {
		t.Error("what follows the world is left in it")
	}
}

func FuzzParse(f *testing.F) {
	f.Add("view: a.umw\nworld:\n  tools: [Bash]\ncontext: { mode: [a, b], tool: ~ }\ncases:\n  - name: one\n    context: { mode: ~ }\n    expect: { file: { visible: true, x: [[a], [b]] } }\n    allowed: { allow: [tool] }\n")
	f.Add("{view: a, world: {tools: [x]}, cases: []}")
	f.Add("? [a]\n: &x !!str b\n<<: *x\n")
	f.Fuzz(func(t *testing.T, text string) {
		src := &diag.Source{Name: "t", Text: []byte(text)}
		file, list := policytest.Parse(src)
		for _, d := range list {
			if int(d.Span.Start.Offset) > len(text) || d.Span.Start.Line < 1 {
				t.Errorf("%v is outside the text", d)
			}
		}
		if !list.HasErrors() && (len(file.Views) == 0 || len(file.Cases) == 0) {
			t.Error("nothing is tested and nothing is wrong")
		}
	})
}
