package diag_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"umwelt/diag"
)

func TestEscape(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"plain näme", "plain näme"},
		{"a\nb\tc\rd", `a\nb\tc\rd`},
		{"\x1b[31mred", `\x1b[31mred`},
		{"bad\xff\xfe", `bad\xff\xfe`},
		{"rtl\u202eoverride", `rtl\u{202e}override`},
		{"nul\x00", `nul\x00`},
		{"c1\u009b", `c1\u{009b}`},
		{"\ufffd is a real rune", "\ufffd is a real rune"},
	} {
		if got := diag.Escape(c.in); got != c.want {
			t.Errorf("%q: got %q, want %q", c.in, got, c.want)
		}
	}
	if got := diag.Quote("a\"b\\c\n"); got != `"a\"b\\c\n"` {
		t.Errorf("got %s", got)
	}
}

func TestSuggest(t *testing.T) {
	names := []string{"editable", "visible", "show", "allow"}
	for word, want := range map[string]string{
		"editabel": "editable", "EDITABLE": "editable", "vsible": "visible", "alow": "allow", "shwo": "show",
		"network": "", "": "", strings.Repeat("x", 1000): "",
	} {
		if got := diag.Suggest(word, names); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
}

func span(src *diag.Source, from, to int) diag.Span {
	pos := func(i int) diag.Pos {
		before := string(src.Text[:i])
		line := strings.Count(before, "\n") + 1
		col := utf8.RuneCountInString(before[strings.LastIndex(before, "\n")+1:]) + 1
		return diag.Pos{Offset: int32(i), Line: int32(line), Column: int32(col)}
	}
	return diag.Span{Source: src, Start: pos(from), End: pos(to)}
}

func TestRender(t *testing.T) {
	src := &diag.Source{Name: "v.umw", Text: []byte("one\n  fïle { bad: 1; }\r\nthree")}
	at := strings.Index(string(src.Text), "bad")
	var l diag.List
	d := l.Errorf(diag.UnknownProperty, span(src, at, at+3), "no property %s", "bad")
	d.Hint = "did you mean \"good\"?"
	d.Related = []diag.Related{{Span: span(src, 0, 3), Message: "see here"}}
	var b strings.Builder
	if err := diag.RenderAll(&b, l, false); err != nil {
		t.Fatal(err)
	}
	want := `v.umw:2:10: error[unknown-property]: no property bad
    2 |   fïle { bad: 1; }
      |          ^^^
  hint: did you mean "good"?
  v.umw:1:1: see here
`
	if b.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", b.String(), want)
	}
}

// TestRenderIsSafe renders diagnostics about hostile text: nothing that steers a
// terminal may come out, and a long line must not come out whole.
func TestRenderIsSafe(t *testing.T) {
	long := strings.Repeat("ü", 5000)
	src := &diag.Source{Name: "x\x1b]0;title\x07.umw", Text: []byte("\x1b[2J" + long + "\xff\x9b")}
	for _, at := range []int{0, 4, 2000, len(src.Text) - 1, len(src.Text)} {
		var b strings.Builder
		l := diag.List{{Severity: diag.Error, Code: diag.Syntax, Span: span(src, at, len(src.Text)), Message: "m\x1b[0m", Hint: "h\n"}}
		if err := diag.RenderAll(&b, l, false); err != nil {
			t.Fatal(err)
		}
		if regexp.MustCompile("[\x00-\x09\x0b-\x1f\x7f]|\u009b").MatchString(b.String()) || b.Len() > 2500 {
			t.Errorf("at %d: %d bytes: %q", at, b.Len(), b.String())
		}
	}
}

func TestListErr(t *testing.T) {
	var l diag.List
	l.Warnf(diag.Syntax, diag.Span{}, "only a warning")
	if l.Err() != nil || l.HasErrors() {
		t.Error("a warning is no error")
	}
	if l.Strict().Err() == nil {
		t.Error("under strict a warning is an error")
	}
	l.Errorf(diag.BadValue, diag.Span{}, "first")
	l.Errorf(diag.BadValue, diag.Span{}, "second")
	var d diag.Diagnostic
	if err := l.Err(); !errors.As(err, &d) || d.Message != "first" || !strings.Contains(err.Error(), "1 more") {
		t.Errorf("got %v", err)
	}
}

func TestCodesAreExplainedOnce(t *testing.T) {
	seen := map[diag.Code]bool{}
	for _, c := range diag.Codes {
		if seen[c.Code] || c.Meaning == "" {
			t.Errorf("code %s", c.Code)
		}
		seen[c.Code] = true
	}
}

// TestHiddenLines holds that neither the line nor what a message quotes from it is shown
// where the diagnostic or its source says so.
func TestHiddenLines(t *testing.T) {
	src := &diag.Source{Name: "v.umw", Text: []byte("open\nhush: s3cr3t\n"), Private: func(text []byte, from, to int) bool {
		return strings.HasPrefix(string(text[from:to]), "hush")
	}}
	for _, c := range []struct {
		d    diag.Diagnostic
		want string
	}{
		{diag.Diagnostic{Severity: diag.Error, Code: diag.Syntax, Span: span(src, 0, 4), Message: `found "open"`},
			"v.umw:1:1: error[syntax]: found \"open\"\n    1 | open\n      | ^^^^\n"},
		{diag.Diagnostic{Severity: diag.Error, Code: diag.Syntax, Span: span(src, 11, 17), Message: `found "s3cr3t"`},
			"v.umw:2:7: error[syntax]: The text does not follow the grammar. The statement is skipped and the rest is still read\n    2 | (not shown: a value that is never printed may stand here)\n"},
		{diag.Diagnostic{Severity: diag.Error, Code: diag.Unterminated, Span: span(src, 11, 17), Message: "never closed"},
			"v.umw:2:7: error[unterminated]: never closed\n    2 | (not shown: a value that is never printed may stand here)\n"},
		{diag.Diagnostic{Severity: diag.Warning, Code: diag.UnknownProperty, Span: span(src, 0, 4), Message: `no "open"`, Private: true},
			"v.umw:1:1: warning[unknown-property]: no \"open\"\n    1 | (not shown: a value that is never printed may stand here)\n"},
		{diag.Diagnostic{Severity: diag.Error, Code: diag.BadValue, Message: `s3cr3t is no number`, Private: true},
			"error[bad-value]: The value does not fit the property's or attribute's type or range\n"},
	} {
		var b strings.Builder
		if err := diag.Render(&b, c.d, false); err != nil {
			t.Fatal(err)
		}
		if b.String() != c.want {
			t.Errorf("got:\n%s\nwant:\n%s", b.String(), c.want)
		}
		if strings.Contains(c.d.Error(), "s3cr3t") {
			t.Errorf("as an error: %s", c.d.Error())
		}
	}
}

// TestLongLines holds that a line which is too long to be looked at is not shown where it
// may be private, that no more than its neighbourhood is asked about, and that it is shown
// where nothing is private.
func TestLongLines(t *testing.T) {
	const long = 1 << 20
	text := []byte(strings.Repeat("a", long) + "bad" + strings.Repeat("a", long) + "\nbad\n")
	asked := 0
	private := func(_ []byte, from, to int) bool {
		asked += to - from
		return false
	}
	for _, c := range []struct {
		name    string
		private func([]byte, int, int) bool
		at      int
		hidden  bool
	}{
		{"long", private, long, true},
		{"short behind it", private, 2*long + 4, false},
		{"long and public", nil, long, false},
	} {
		d := diag.Diagnostic{Code: diag.Syntax, Message: "m", Span: span(&diag.Source{Name: "v", Text: text, Private: c.private}, c.at, c.at+3)}
		var b strings.Builder
		if err := diag.Render(&b, d, false); err != nil {
			t.Fatal(err)
		}
		if d.Hidden() != c.hidden || strings.Contains(b.String(), "bad") == c.hidden || b.Len() > 1000 {
			t.Errorf("%s: hidden %v:\n%s", c.name, d.Hidden(), b.String())
		}
	}
	if asked > 100 {
		t.Errorf("%d bytes were asked about", asked)
	}
}
