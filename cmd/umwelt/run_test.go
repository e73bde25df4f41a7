package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"umwelt/cascade"
	"umwelt/diag"
)

func memoryStreams() (*streams, *bytes.Buffer, *bytes.Buffer) {
	var out, err bytes.Buffer
	return &streams{in: strings.NewReader(""), out: &out, err: &err}, &out, &err
}

// panics is an input that makes any command that reads it panic.
type panics struct{}

func (panics) Read([]byte) (int, error) { panic("\x1b[31mno\n") }

func TestNoPanicReachesTheUser(t *testing.T) {
	std, out, errs := memoryStreams()
	std.in = panics{}
	if status := run([]string{"parse", "-"}, std); status != exitUnusable {
		t.Errorf("exit status %d, want %d", status, exitUnusable)
	}
	if out.Len() > 0 {
		t.Errorf("standard output holds %q", out)
	}
	if want := `umwelt: internal error: \x1b[31mno\n`; !strings.HasPrefix(errs.String(), want) {
		t.Errorf("standard error is %q, want it to begin with %q", errs, want)
	}
}

// closed fails every write.
type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, errors.New("it is closed") }

func TestUnwritableOutputIsAnError(t *testing.T) {
	std, _, errs := memoryStreams()
	std.out = closed{}
	if status := run([]string{"version"}, std); status != exitUnusable {
		t.Errorf("exit status %d, want %d", status, exitUnusable)
	}
	if !strings.Contains(errs.String(), "it is closed") {
		t.Errorf("standard error is %q", errs)
	}
}

func TestEveryCommandHasAnExample(t *testing.T) {
	std, _, _ := memoryStreams()
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		if c.Hidden {
			return
		}
		if c.Example == "" || c.Short == "" {
			t.Errorf("%s has no example or no description", c.CommandPath())
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(newRoot(std))
}

func TestContext(t *testing.T) {
	tests := []struct {
		name  string
		flags []string
		want  []cascade.Ref
		bad   int
	}{
		{"none", nil, nil, 0},
		{"one", []string{"mode=review"}, []cascade.Ref{{Type: "mode", ID: "review"}}, 0},
		{"two in a flag", []string{"tool=Bash,mode=review"}, []cascade.Ref{{Type: "tool", ID: "Bash"}, {Type: "mode", ID: "review"}}, 0},
		{"two flags", []string{"tool=Bash", "mode=review"}, []cascade.Ref{{Type: "tool", ID: "Bash"}, {Type: "mode", ID: "review"}}, 0},
		{"equals sign in an id", []string{"env=A=B"}, []cascade.Ref{{Type: "env", ID: "A=B"}}, 0},
		{"comma in an id", []string{`tool=a\,b,mode=c\\d`}, []cascade.Ref{{Type: "tool", ID: "a,b"}, {Type: "mode", ID: `c\d`}}, 0},
		{"other backslash", []string{`tool=a\b`}, []cascade.Ref{{Type: "tool", ID: `a\b`}}, 0},
		{"blank before", []string{"tool=Bash, mode=review"}, []cascade.Ref{{Type: "tool", ID: "Bash"}, {Type: "mode", ID: "review"}}, 0},
		{"every fault", []string{"tool", "=x", "mode=", ""}, nil, 4},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := parseContext(test.flags)
			if len(problemsOf(err)) != test.bad || !slices.Equal(got, test.want) {
				t.Errorf("parseContext(%q) = %v, %v", test.flags, got, err)
			}
		})
	}
}

func TestEscapeJSON(t *testing.T) {
	tests := []struct{ in, want string }{
		{`"plain é 漢"`, `"plain é 漢"`},
		{"\"\u009b31m\"", `"\u009b31m"`},
		{"\"a\u202eb\u2066\"", `"a\u202eb\u2066"`},
		{"\"\x7f\"", `"\u007f"`},
		{"\"\U000e0001é\"", `"\udb40\udc01é"`},
	}
	for _, test := range tests {
		if got := string(escapeJSON([]byte(test.in))); got != test.want {
			t.Errorf("escapeJSON(%q) = %q, want %q", test.in, got, test.want)
		}
	}
	if got := utf8Text("a\xff\xc3"); got != `a\xff\xc3` {
		t.Errorf("utf8Text = %q", got)
	}
}

// TestReferenceIsCurrent holds the committed reference to what the program says now.
func TestReferenceIsCurrent(t *testing.T) {
	for _, page := range []string{"codes", "vocabulary", "commands"} {
		std, out, errs := memoryStreams()
		if status := run([]string{"doc", page}, std); status != exitOK {
			t.Fatalf("doc %s: exit status %d: %s", page, status, errs)
		}
		path := filepath.Join("../../docs/reference", page+".md")
		committed, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(committed, out.Bytes()) {
			t.Errorf("%s is not what umwelt doc %s prints: run make docs", path, page)
		}
	}
}

// TestEveryCodeIsInTheReference keeps the table of codes from losing one: a code that a
// command can print has an explanation.
func TestEveryCodeIsInTheReference(t *testing.T) {
	known := map[diag.Code]bool{}
	for _, c := range diag.Codes {
		if known[c.Code] || c.Meaning == "" {
			t.Errorf("%s is explained twice or not at all", c.Code)
		}
		known[c.Code] = true
	}
	for _, code := range []diag.Code{diag.BadOption, diag.Output, diag.UnknownTarget, diag.UnknownEntity, diag.Unreadable} {
		if !known[code] {
			t.Errorf("%s has no explanation", code)
		}
	}
}
