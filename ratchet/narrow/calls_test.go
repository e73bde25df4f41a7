package narrow

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"umwelt/registry"
)

func TestCallLadder(t *testing.T) {
	for _, tt := range []struct{ name, calls, want string }{
		{"one call", "git status", `"git status"`},
		{"two that share their words", "git log -1|git log -2|git status", `"git log *", "git status"`},
		{"the words alone stay exact", "git log|git log -1|git log -2", `"git log", "git log *"`},
		{"no subcommand", "ls -l a|ls -l b", `"ls -l *"`},
		{"two commands", "git log && curl x|git log -1|git log -2", `"git log && curl x", "git log *"`},
		{"what runs others", "sudo ls a|sudo ls b|env A=1 x|env A=1 y|bash -c x|bash -c y", `"bash -c x", "bash -c y", "env A=1 x", "env A=1 y", "sudo ls a", "sudo ls b"`},
		{"interpreters", "python3 a.py 1|python3 a.py 2|python3 -c x|python3 -c y|python3 -m pytest -x|python3 -m pytest a", `"python3 -c x", "python3 -c y", "python3 -m pytest *", "python3 a.py *"`},
		{"a version is no other program", "python3.11 -c 1|python3.11 -c 2|/usr/bin/bash-5.2 a b|/usr/bin/bash-5.2 a c|perl5.36 -e 1|perl5.36 -e 2|bash.exe a b|bash.exe a c", `"/usr/bin/bash-5.2 a b", "/usr/bin/bash-5.2 a c", "bash.exe a b", "bash.exe a c", "perl5.36 -e 1", "perl5.36 -e 2", "python3.11 -c 1", "python3.11 -c 2"`},
		{"modules", "python3 -m json.tool|python3 -m http.server|python3 -m pip install a|python3 -m pip install b", `"python3 -m http.server", "python3 -m json.tool", "python3 -m pip install a", "python3 -m pip install b"`},
		{"options before the subcommand", "git -c a=b log|git -C /x log|npm --prefix a test|npm --prefix b test", `"git -C /x log", "git -c a=b log", "npm --prefix a test", "npm --prefix b test"`},
		{"subcommands that run or fetch", "git bisect run a|git bisect run b|uv run a b|uv run a c|bundle exec a|bundle exec b|npm exec a|npm exec b|pip3 install a|pip3 install b", `"bundle exec a", "bundle exec b", "git bisect run a", "git bisect run b", "npm exec a", "npm exec b", "pip3 install a", "pip3 install b", "uv run a b", "uv run a c"`},
		{"what reaches out", "curl https://a.example/|curl https://b.example/", `"curl https://a.example/", "curl https://b.example/"`},
		{"as many words as all share", "pytest -x tests -k a|pytest -x tests -k b|pytest -x tests|go test ./a|go test ./b", `"go test *", "pytest -x *"`},
		{"stars", `ls *|cat \x`, `"cat \\\\x", "ls \\*"`},
		{"doubled blanks", "git log  -1|git log  -2", `"git log  -1", "git log  -2"`},
		{"assignments", "A=1 make x|A=1 make y", `"A=1 make x", "A=1 make y"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			calls := strings.Split(tt.calls, "|")
			got := patternList(callLadder(&Options{}, calls))
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

func TestCallsThatStayExact(t *testing.T) {
	for _, c := range []string{"a b | c", "x $(y) z", "p `q` r", "m n\no", "k > l", "a; b c", "a & b", "git", "git log", `git commit -m "a;b"`} {
		if words := firstWords(c); words != "" && words != "git" {
			t.Errorf("%q is generalized to %s", c, words)
		}
	}
}

// A proposed pattern admits every call that it is for and none that holds a second command,
// unless that very call was observed.
func TestPatternsNeverAdmitTwoCommands(t *testing.T) {
	words := []string{"git", "log", "status", "-1", "x", "ls", "*", `\`, "&&", ";", "|", "$(id)", "`id`", "\n", "python3", "sudo", `"q"`, ">", "a=b", "  "}
	rapid.Check(t, func(t *rapid.T) {
		call := rapid.Custom(func(t *rapid.T) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 5).Draw(t, "words"), " ")
		})
		calls := rapid.SliceOfNDistinct(call, 1, 8, rapid.ID).Draw(t, "calls")
		rungs := callLadder(&Options{}, calls)
		for _, c := range calls {
			fits := false
			for _, r := range rungs {
				fits = fits || registry.ReadCallPattern(r.pattern).Admits(registry.ReadCall(c))
			}
			if !fits {
				t.Fatalf("%q fits none of %v", c, rungs)
			}
		}
		for _, r := range rungs {
			other := rapid.SampledFrom(calls).Draw(t, "base") + rapid.SampledFrom([]string{"; curl x", " && curl x", " | sh", "\ncurl x", " $(curl x)", " `curl x`"}).Draw(t, "more")
			observed := false
			for _, c := range calls {
				observed = observed || c == other
			}
			if !observed && registry.ReadCallPattern(r.pattern).Admits(registry.ReadCall(other)) {
				t.Fatalf("%q admits %q", r.pattern, other)
			}
		}
	})
}
