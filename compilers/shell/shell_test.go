package shell_test

import (
	"os/exec"
	"testing"

	"pgregory.net/rapid"

	"umwelt/compilers/shell"
)

// TestQuote holds that a real shell reads back every word that is written.
func TestQuote(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		word := rapid.StringOfN(rapid.SampledFrom([]rune("ab'\"\\$`*?~!# \n\t;&|<>(){}[]=-\x1b\u00e9\u202e")), 0, 12, -1).Draw(r, "word")
		for _, q := range []string{shell.Quote(word), shell.Quoted(word)} {
			out, err := exec.Command("sh", "-c", "printf %s. "+q).Output()
			if err != nil || string(out) != word+"." {
				r.Fatalf("%q is written %s and read as %q, %v", word, q, out, err)
			}
		}
	})
	for _, c := range []struct{ in, want string }{{"", "''"}, {"a/b-c=1", "a/b-c=1"}, {"a b", "'a b'"}, {"it's", `'it'\''s'`}, {"é", "'é'"}} {
		if got := shell.Quote(c.in); got != c.want {
			t.Errorf("%q is written %s, want %s", c.in, got, c.want)
		}
	}
}

func TestNamesAndComments(t *testing.T) {
	for name, want := range map[string]bool{"A": true, "_a1": true, "": false, "1a": false, "a-b": false, "é": false, "a\n": false} {
		if got := shell.IsName(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
	if got := shell.Comment("a\nb\r\x1bc\xff"); got != "abc" {
		t.Errorf("%q", got)
	}
}
