package registry

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func admits(pattern, call string) bool { return ReadCallPattern(pattern).Admits(ReadCall(call)) }

func refuses(pattern, call string) bool { return ReadCallPattern(pattern).Refuses(ReadCall(call)) }

func TestAdmits(t *testing.T) {
	for _, tt := range []struct {
		pattern, call string
		want          bool
	}{
		{"git *", "git log", true},
		{"git *", "git log --oneline -n 5", true},
		{"git *", "git ", true},
		{"git *", "git", false}, // the blank is part of the pattern
		{"git*", "git", true},
		{"git *", "gitx", false},
		{"git *", "Git log", false},
		{"git *", "git\tlog", false},
		{"git log *", "git  log x", false},
		{"git *", " git log", false},
		{"git *", "git log && curl x", false},
		{"git *", "git log; curl x", false},
		{"git *", "git log & curl x", false},
		{"git *", "git log | sh", false},
		{"git *", "git log\ncurl x", false},
		{"git *", "git log\rcurl x", false},
		{"git *", "git log\\\ncurl", false},
		{"git *", "git log $(curl x)", false},
		{"git *", `git log "$(curl x)"`, false},
		{"git *", "git log `curl x`", false},
		{"git *", "git log > /etc/passwd", false},
		{"git *", "git log < x", false},
		{"git *", "git diff <(curl x)", false},
		{"git *", "git log =(curl x)", false},
		{"git *", "git log \x1b[2J", false},
		{"git *", "git log \u0085x", false},
		{"git *", "git log \x00", false},
		{"git *", "git () (curl x)", false},
		{"git *", `git commit -m "fix (it)"`, true},
		{"git *", `git commit -m 'fix (it)'`, true},
		{"git *", `git commit -m "fix; it"`, false}, // quotes are no shelter to what parts commands
		{"git *", `git commit -m \"(curl x)`, false},
		{"git *", `git commit -m $'a\' (curl x)'`, false},
		{"git *", `git commit -m 'a\' '(curl x)'`, false}, // to fish the quote is open here
		{"git *", `git log $HOME`, true},
		{"git log && *", "git log && git push", true},
		{"git log && *", "git log && git push && curl x", false},
		{"* | head", "git log | head", true},
		{"* | head", "git log | curl | head", false},
		{"*;*", "a;b", true},
		{"*;*", "a;b;c", false},
		{"echo $(date *)", "echo $(date -u)", true},
		{"echo $*", "echo $(date)", false},
		{`echo "$*"`, `echo "$(date)"`, false},
		{"a*b*c", "axbxbxc", true},
		{"a*b*c", "axbx", false},
		{"*ab", "aab", true},
		{"a*a", "a", false},
		{"*", "", true},
		{"", "", true},
		{"", "x", false},
		{`ls \*`, "ls *", true},
		{`ls \*`, "ls a", false},
		{`a\\*`, `a\b`, true},
		{`a\b`, `ab`, true},
		{`a\`, `a\`, true},
		{"src/*", "src/../etc/passwd", true}, // a text, not a path
	} {
		if got := admits(tt.pattern, tt.call); got != tt.want {
			t.Errorf("%q admits %q: %v", tt.pattern, tt.call, got)
		}
	}
	if c := ReadCall(strings.Repeat("a", MaxCall+1)); ReadCallPattern("*").Admits(c) || ReadCallPattern(strings.Repeat("a", MaxCall+1)).Admits(c) || !c.Unclear() || !c.TooLong() {
		t.Error("a call that is too long is admitted")
	}
}

func TestRefuses(t *testing.T) {
	for _, tt := range []struct {
		pattern, call string
		want          bool
	}{
		{"rm *", "rm -rf /", true},
		{"rm *", "rm", true},
		{"rm *", "RM -rf /", true},
		{"rm *", "rm\t-rf /", true},
		{"rm *", "  rm -rf /", true},
		{"rm *", "rmdir x", false},
		{"rm *", "git rm x", false},
		{"rm *", "ls && rm x", true},
		{"rm *", "ls&&rm x", true},
		{"rm *", "ls; rm x", true},
		{"rm *", "ls | rm x", true},
		{"rm *", "ls\nrm x", true},
		{"rm *", "echo $(rm x)", true},
		{"rm *", "echo `rm x`", true},
		{"rm *", `echo "$(rm x)"`, true},
		{"rm *", "(rm x)", true},
		{"rm *", "{ rm x; }", true},
		{"rm *", "A=1 rm x", true},
		{"rm *", `A="x y" B+=2 rm x`, true},
		{"rm *", "env A=1 rm x", true},
		{"rm *", "sudo -u bob rm x", true},
		{"rm *", "timeout 5 rm x", true},
		{"rm *", "find . -exec rm {} +", true},
		{"rm *", "ls | xargs rm", true},
		{"rm *", "bash -c 'rm x'", true},
		{"rm *", `r\m x`, true},
		{"rm *", `"rm" x`, true},
		{"rm *", "/bin/rm x", true},
		{"rm *", "sudo /bin/rm x", true},
		{"rm *", "if true; then rm x; fi", true},
		{"rm *", "python -c 'os.system(\"rm x\")'", true},
		{"rm x", "rm x # note", true},
		{"rm x", "rm x 2>/dev/null", true},
		{"rm x", "rm x >/dev/null", true},
		{"rm x", "rm x2>/dev/null", false},
		{"rm -rf *", "rm  -rf  /", true},
		{"rm -rf *", "rm \\\n -rf /", true},
		{"git push *", "git push", true},
		{"git push *", "git log && git push origin", true},
		{"*--force*", "git push --force", true},
		{"*curl*sh*", "curl x | sh", true},
		{"curl * | sh", "ls; curl x | sh; ls", true},
		{`*"*`, "ls x", false}, // a quote is not taken out of a pattern that is nothing else
		{`*"*`, `ls "x"`, true},
		{`git commit -m "*"`, `git commit -m 'x'`, true},
		{`ls \*`, "ls *", true},
		{`ls \*`, "ls a", false},
		{"", "", true},
		{"", "ls", false},
		{"rm *", "echo rm x", false},
	} {
		if got := refuses(tt.pattern, tt.call); got != tt.want {
			t.Errorf("%q refuses %q: %v", tt.pattern, tt.call, got)
		}
	}
}

func TestUnclear(t *testing.T) {
	for call, want := range map[string]bool{
		"ls": false, "$X -rf /": true, "ls; $X": true, `"$X" a`: true, "${X} a": true, "$(which rm) x": true, "`which rm` x": true,
		"echo $X": false, "echo ${X} $Y": false, "echo $(date) $Y": false, "echo `date` $Y": false, "echo x > $LOG": false, "ls 2>&1 $X": false,
		"$HOME/bin/x": false, "env A=1 $X": true, "timeout 5 $X": true, "A=$X ls": false, "foo$": false, `bash -c "$X"`: true, "for x in $list; do ls $x; done": false,
	} {
		if got := ReadCall(call).Unclear(); got != want {
			t.Errorf("%q is unclear: %v", call, got)
		}
	}
}

// TestOverlap holds every pattern of up to three of these letters against every other,
// decided by every text of up to six.
func TestOverlap(t *testing.T) {
	var patterns, texts []string
	var grow func(s, letters string, most int, out *[]string)
	grow = func(s, letters string, most int, out *[]string) {
		*out = append(*out, s)
		if len(s) < most {
			for _, c := range letters {
				grow(s+string(c), letters, most, out)
			}
		}
	}
	grow("", "ab*", 3, &patterns)
	grow("", "abz", 6, &texts) // z stands for anything else
	calls := make([]*Call, len(texts))
	for i, text := range texts {
		calls[i] = ReadCall(text)
	}
	for _, a := range patterns {
		for _, b := range patterns {
			allow, deny := ReadCallPattern(a), ReadCallPattern(b)
			inside, meet := true, false
			for _, c := range calls {
				if allow.Admits(c) {
					inside = inside && deny.Refuses(c)
					meet = meet || deny.Refuses(c)
				}
			}
			if got := deny.Covers(allow); got != inside {
				t.Fatalf("%q covers %q: %v", b, a, got)
			}
			if got := deny.Crosses(allow); got != meet {
				t.Fatalf("%q crosses %q: %v", b, a, got)
			}
		}
	}
	long := ReadCallPattern(strings.Repeat("*a", 400))
	if !long.Covers(long) || ReadCallPattern("*").Covers(long) || ReadCallPattern("*").Crosses(long) {
		t.Error("patterns that are too long are only equal or not")
	}
	for _, tt := range []struct {
		deny, allow string
		want        bool
	}{
		{"rm *", "ls; rm *", true}, {"rm *", "env * rm x", false}, {"rm *", "*/rm x", false}, {"rm *", "/bin/rm *", true}, {"rm *", "RM x", true}, {"git push *", "git push", true},
	} {
		if got := ReadCallPattern(tt.deny).Covers(ReadCallPattern(tt.allow)); got != tt.want {
			t.Errorf("%q covers %q: %v", tt.deny, tt.allow, got)
		}
	}
}

// pieces make texts in which everything that matters to a matcher comes up often.
var pieces = []string{"git", "log", "rm", "a", "b", " ", "  ", "\t", ";", "&", "&&", "|", "\n", "\r", "$(", ")", "(", "`", "<", ">", "<(", "'", `"`, `\`, "$", "=", "#", "{", "}", "é", "\xff", "\x00", "X=1", "env", "sudo", "/", "2", "*"}

func drawText(t *rapid.T, name string) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 10).Draw(t, name), "")
}

// separators are what could part a command from another one.
const separators = ";&|\n\r`<>\x00"

// TestAdmitsAgainstNaive compares with a matcher that tries everything, and holds that no
// pattern without a separator admits a call with one.
func TestAdmitsAgainstNaive(t *testing.T) {
	var naive func(literals []string, text string, open bool) bool
	naive = func(literals []string, text string, open bool) bool {
		// open: a star stands before what is left. The barriers are those of the whole text.
		if strings.HasPrefix(text, literals[0]) && (len(literals) == 1 && text == literals[0] || len(literals) > 1 && naive(literals[1:], text[len(literals[0]):], true)) {
			return true
		}
		return open && text != "" && strings.IndexByte(separators, text[0]) < 0 && naive(literals, text[1:], true)
	}
	rapid.Check(t, func(t *rapid.T) {
		pattern, call := drawText(t, "pattern"), drawText(t, "call")
		if rapid.Bool().Draw(t, "like the call") {
			call = strings.ReplaceAll(pattern, "*", drawText(t, "star"))
		}
		p, c := ReadCallPattern(pattern), ReadCall(call)
		got := p.Admits(c)
		if got && !naive(p.literals, call, false) {
			t.Fatalf("%q admits %q, which does not fit it", pattern, call)
		}
		// Parentheses and control characters apart, both must agree.
		if !got && naive(p.literals, call, false) && !strings.ContainsAny(call, "(\t") {
			t.Fatalf("%q does not admit %q", pattern, call)
		}
		if got && !strings.ContainsAny(pattern, separators) && (strings.ContainsAny(call, separators) || strings.Contains(call, "$(") && !strings.Contains(pattern, "$(")) {
			t.Fatalf("%q admits %q, which could hold another command", pattern, call)
		}
		if got && !p.Refuses(c) {
			t.Fatalf("%q admits %q and does not refuse it", pattern, call)
		}
	})
}

// TestCoversHolds holds that a call which a covered pattern admits is refused.
func TestCoversHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawText(t, "allow"), drawText(t, "deny")
		if rapid.Bool().Draw(t, "alike") {
			b = a + b
		}
		allow, deny := ReadCallPattern(a), ReadCallPattern(b)
		if !deny.Covers(allow) {
			return
		}
		text := allow.literals[0]
		for _, literal := range allow.literals[1:] {
			text += drawText(t, "star") + literal
		}
		if c := ReadCall(text); allow.Admits(c) && !deny.Refuses(c) {
			t.Fatalf("%q is said to refuse all that %q admits, but not %q", b, a, text)
		}
	})
}

func FuzzCallPattern(f *testing.F) {
	for _, s := range [][2]string{{"git *", "git log && curl x"}, {"* | head", "git log | head"}, {`ls \*`, `ls "$(x)"`}, {"rm *", "A=1 env /bin/rm 'x'"}, {"*a*b*c", "\xffabc`"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, pattern, call string) {
		p, c := ReadCallPattern(pattern), ReadCall(call)
		admitted := p.Admits(c)
		if admitted && !p.Refuses(c) {
			t.Errorf("%q admits %q and does not refuse it", pattern, call)
		}
		if admitted && !strings.ContainsAny(pattern, separators) && strings.ContainsAny(call, separators) {
			t.Errorf("%q admits %q", pattern, call)
		}
		if ReadCallPattern("*").Admits(c) != (OneCommand(call) && !c.TooLong()) {
			t.Errorf("* and OneCommand differ about %q", call)
		}
		if p.Covers(p) && admitted && !p.Refuses(c) {
			t.Errorf("%q covers itself", pattern)
		}
	})
}

// TestTime holds a call of a megabyte, made to be slow, against a thousand patterns.
func TestTime(t *testing.T) {
	for _, unit := range []string{"a", ";", "a ", "sudo ", "$(", "'", " ", "{}"} {
		call := strings.Repeat(unit, 1<<20/len(unit))
		start := time.Now()
		c := ReadCall(call)
		for i := range 1000 {
			p := ReadCallPattern([]string{"*a*a*a*a*a*a*b", "a*a*a*a;*b", "*;*;*;*x", "sudo *sudo*x"}[i%4])
			p.Admits(c)
			if i%10 == 0 {
				p.Refuses(c)
			}
		}
		if d := time.Since(start); d > 20*time.Second {
			t.Errorf("%q: %v", unit, d)
		}
	}
}

// BenchmarkCallPattern holds a command against a pattern, beside a regular expression that
// spans what "*" may.
func BenchmarkCallPattern(b *testing.B) {
	const text = "pytest tests/auth/test_login.py -x --maxfail=3 -k 'login and not slow' --durations=10"
	p := ReadCallPattern("pytest tests/* -k * --durations=*")
	re := regexp.MustCompile("^pytest tests/[^;&|`<>\\x00-\\x1f\\x7f(]* -k [^;&|`<>\\x00-\\x1f\\x7f(]* --durations=[^;&|`<>\\x00-\\x1f\\x7f(]*$")
	if !p.Admits(ReadCall(text)) || !re.MatchString(text) {
		b.Fatal("it fits")
	}
	b.Run("admits", func(b *testing.B) {
		c := ReadCall(text)
		for b.Loop() {
			p.Admits(c)
		}
	})
	b.Run("refuses", func(b *testing.B) {
		c := ReadCall(text)
		for b.Loop() {
			p.Refuses(c)
		}
	})
	b.Run("read and admits", func(b *testing.B) {
		for b.Loop() {
			p.Admits(ReadCall(text))
		}
	})
	b.Run("regexp", func(b *testing.B) {
		for b.Loop() {
			re.MatchString(text)
		}
	})
}
