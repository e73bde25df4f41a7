package shell

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// line is a command in one line: words in brackets, one that is dynamic behind "~".
func line(c Command) string {
	word := func(w Word) string {
		if w.Dynamic {
			return "~" + w.Text
		}
		return w.Text
	}
	var out []string
	for _, a := range c.Assigns {
		out = append(out, a.Name+"="+word(a.Value))
	}
	var words []string
	for _, w := range c.Words {
		words = append(words, word(w))
	}
	out = append(out, "["+strings.Join(words, "|")+"]")
	for _, r := range c.Redirects {
		mode := map[[2]bool]string{{true, false}: "<", {false, true}: ">", {true, true}: "<>"}[[2]bool{r.Read, r.Write}]
		out = append(out, mode+word(r.Path))
	}
	if c.Kind != Program && c.Kind != Nothing {
		out = append(out, string(c.Kind))
	}
	if c.Runs != Always {
		out = append(out, string(c.Runs))
	}
	switch {
	case !c.Dir.Known:
		out = append(out, "in ?")
	case c.Dir.Path != "":
		out = append(out, "in "+c.Dir.Path)
	}
	if c.Via != "" {
		out = append(out, "via "+c.Via)
	}
	for _, f := range []struct {
		is   bool
		name string
	}{{c.Substitution, "subst"}, {c.Pipe, "pipe"}, {c.Background, "bg"}, {c.HereDoc, "doc"}} {
		if f.is {
			out = append(out, f.name)
		}
	}
	return strings.Join(out, " ")
}

func TestSplit(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", ``},
		{"git log", `[git|log]`},
		{"git log && curl x", "[git|log]\n[curl|x] on success"},
		{"a; b", "[a]\n[b]"},
		{"a && b; c", "[a]\n[b] maybe\n[c]"},
		{"a || b", "[a]\n[b] maybe"},
		{"a && b || c", "[a]\n[b] maybe\n[c] maybe"},
		{"a && b && c", "[a]\n[b] on success\n[c] on success"},
		{"! a && b", "[a]\n[b] on success"},
		{"a | b | c", "[a] pipe\n[b] pipe\n[c] pipe"},
		{"a & b", "[a] bg\n[b]"},
		{"a 'b c' \"d e\" f\\ g $'h'", `[a|b c|d e|f g|h]`},
		{`a "$X" $Y *.go ~/x {b,c} {} a[1] $'\x41' "x\"y" 'x\y' "x\y"`, `[a|~"$X"|~$Y|~*.go|~~/x|~{b,c}|{}|~a[1]|~$'\x41'|x"y|x\y|x\y]`},
		{"A=1 B=$X a", `A=1 B=~$X [a]`},
		{"A=1", `A=1 []`},
		{"echo x > out.txt 2>&1 < in >> log 2> err &> all <> both >| clob", `[echo|x] >out.txt <in >log >err >all <>both >clob builtin`},
		{"> out", `[] >out`},
		{"{ a; b; } > out", "[] >out\n[a]\n[b]"},
		{"a > $X", `[a] >~$X`},
		{"a $(b) `c` \"$(d e)\"", "[b] subst\n[c] subst\n[d|e] subst\n[a|~$(b)|~`c`|~\"$(d e)\"]"},
		{"a ${X:-$(b)} $(( $(c) + 1 ))", "[b] maybe subst\n[c] subst\n[a|~${X:-$(b)}|~$(( $(c) + 1 ))]"},
		{"A=$(b) c", "[b] subst\nA=~$(b) [c]"},
		{"diff <(a) >(b)", "[a] subst bg\n[b] subst bg\n[diff|~<(a)|~>(b)]"},
		{"cat <<EOF\nx $(a)\nEOF", "[a] subst doc\n[cat]"},
		{"cat <<'EOF'\nx $(a)\nEOF", "[cat]"},
		{"bash <<'EOF'\na && b\nEOF", "[bash]\n[a] doc\n[b] on success doc"},
		{"sh <<< 'a b'", "[sh]\n[a|b] doc"},
		{"env FOO=1 BAR=$Y cmd a", "[env|FOO=1|~BAR=$Y|cmd|a]\nFOO=1 BAR=~$Y [cmd|a] via env"},
		{"env FOO=1 BAR=2 cmd a", "[env|FOO=1|BAR=2|cmd|a]\nFOO=1 BAR=2 [cmd|a] via env"},
		{"env -u X -i FOO=1 cmd", "[env|-u|X|-i|FOO=1|cmd]\nFOO=1 [cmd] via env"},
		{"env -C /tmp cmd", "[env|-C|/tmp|cmd]\n[cmd] in ? via env"},
		{"sudo -u bob -E cmd x", "[sudo|-u|bob|-E|cmd|x]\n[cmd|x] on success via sudo"},
		{"time cmd x", "[cmd|x]"},
		{"/usr/bin/time -v cmd", "[/usr/bin/time|-v|cmd]\n[cmd] via time"},
		{"timeout -s KILL 5 cmd x", "[timeout|-s|KILL|5|cmd|x]\n[cmd|x] via timeout"},
		{"timeout --signal=KILL 5 nice -n 5 cmd", "[timeout|--signal=KILL|5|nice|-n|5|cmd]\n[nice|-n|5|cmd] via timeout\n[cmd] via nice"},
		{"nohup cmd &", "[nohup|cmd] bg\n[cmd] via nohup bg"},
		{"ls | xargs -n 1 rm -f", "[ls] pipe\n[xargs|-n|1|rm|-f] pipe\n[rm|-f] maybe via xargs pipe"},
		{"sh -c 'a; b c'", "[sh|-c|a; b c]\n[a]\n[b|c]"},
		{"bash -lc 'cd x && a' arg", "[bash|-lc|cd x && a|arg]\n[cd|x] builtin\n[a] on success in x"},
		{"bash script.sh -c x", "[bash|script.sh|-c|x]"},
		{`find . -name '*.o' -exec rm -f {} \; -execdir ls +`, "[find|.|-name|*.o|-exec|rm|-f|{}|;|-execdir|ls|+]\n[rm|-f|~{}] maybe via find\n[ls] maybe in ? via find"},
		{"command -p ls; command -v ls; exec ls", "[command|-p|ls] builtin\n[ls] via command\n[command|-v|ls] builtin\n[exec|ls] builtin\n[ls] via exec"},
		{"eval 'a && b'", "[eval|a && b] builtin\n[a]\n[b] on success"},
		{"cd x && a; b", "[cd|x] builtin\n[a] maybe in x\n[b] in ?"},
		{"cd x; a", "[cd|x] builtin\n[a] in ?"},
		{"cd x || exit 1; a", "[cd|x] builtin\n[exit|1] builtin maybe\n[a] on success in x"},
		{"cd x || exit; a", "[cd|x] builtin\n[exit] builtin maybe\n[a] maybe in x"},
		{"set -e; cd x; a", "[set|-e] builtin\n[cd|x] builtin on success\n[a] on success in x"},
		{"set -euo pipefail\na\nb", "[set|-euo|pipefail] builtin\n[a] on success\n[b] on success"},
		{"(cd x && a); b", "[cd|x] builtin\n[a] maybe in x\n[b]"},
		{"cd x | a; b", "[cd|x] builtin pipe\n[a] pipe\n[b]"},
		{"cd $X && a", "[cd|~$X] builtin\n[a] on success in ?"},
		{"cd && a", "[cd] builtin\n[a] on success in ?"},
		{"cd - && a", "[cd|-] builtin\n[a] on success in ?"},
		{"cd /a/../b && cd c/. && x", "[cd|/a/../b] builtin\n[cd|c/.] builtin on success in /b\n[x] on success in /b/c"},
		{"cd a && cd .. && x", "[cd|a] builtin\n[cd|..] builtin on success in a\n[x] on success"},
		{"pushd x && a", "[pushd|x] builtin\n[a] on success in ?"},
		{"if a; then b; elif c; then d; else e; fi; f", "[a]\n[b] maybe\n[c] maybe\n[d] maybe\n[e] maybe\n[f]"},
		{"if cd x; then a; fi; b", "[cd|x] builtin\n[a] maybe in x\n[b] in ?"},
		{"for i in $(a) b; do c $i; cd d; done; e", "[a] subst\n[c|~$i] maybe in ?\n[cd|d] builtin maybe in ?\n[e] in ?"},
		{"while a; do b; done", "[a]\n[b] maybe"},
		{"case $X in a) b;; esac", "[b] maybe"},
		{"f() { a; cd x; }; f; b", "[a] maybe in ?\n[cd|x] builtin maybe in ?\n[f] function\n[b] in ?"},
		{"export A=$(b) C; local x", "[b] subst\nA=~$(b) [export|C] builtin\n[local|x] builtin"},
		{"[[ -f x && $(a) ]]", "[a] maybe subst"},
		{"$X a; \"$Y\"", "[~$X|a] unclear\n[~\"$Y\"] unclear"},
		{"trap 'rm x' EXIT; a", "[trap|rm x|EXIT] builtin\n[rm|x] maybe in ?\n[a]"},
		{"exit 0; a", "[exit|0] builtin\n[a] maybe"},
		{"coproc a", "[a] bg"},
		{"git commit -m \"a; rm b\"", `[git|commit|-m|a; rm b]`},
		{"cmd # comment; rm x", `[cmd]`},
		{"a \\\n b", `[a|b]`},
		{"su -c 'rm x'", `[su|-c|rm x]`},
	} {
		got, problem := Split(tt.text)
		var lines []string
		for _, c := range got {
			lines = append(lines, line(c))
		}
		if out := strings.Join(lines, "\n"); out != tt.want || problem != "" {
			t.Errorf("%s\ngot  %s\nwant %s\n%s", tt.text, out, tt.want, problem)
		}
	}
}

func TestSplitSaysWhatItCannot(t *testing.T) {
	for text, want := range map[string]string{
		"a 'b":                                  "cannot be read as a shell does",
		"a && ":                                 "cannot be read as a shell does",
		"if a":                                  "cannot be read as a shell does",
		"a \x00":                                "NUL byte",
		"eval $X":                               "eval runs what is known only once it runs",
		"bash -c \"$X\"":                        "bash runs what is known only once it runs",
		"bash -c 'a'\"$X\"":                     "bash runs what is known only once it runs",
		"sh <<EOF\n$X\nEOF":                     "sh runs what is known only once it runs",
		"env -S 'a b'":                          "env -S",
		strings.Repeat("(", 30_000):             "opens more than",
		strings.Repeat("a;", maxCommands) + "a": "more than 10000 commands",
		strings.Repeat("a", maxText+1):          "longer than",
		strings.Repeat("( ", 300) + "a" + strings.Repeat(" )", 300): "nested deeper",
		"sh -c '(a'": "cannot be read",
	} {
		_, problem := Split(text)
		if !strings.Contains(problem, want) {
			t.Errorf("%.40q: %q, not %q", text, problem, want)
		}
	}
}

// TestDeep holds that nothing that is nested as deeply as is read ends the program.
func TestDeep(t *testing.T) {
	for _, unit := range []string{"(", "$(", "{ ", "${a:-", "$((", "((", "`", "if ", "while ", "! ", "a=(", "[[ (", "[[ ! ", "$((-", "$((~", "case x in a) ", "f() ", "<(", "\"$(", "time ", "coproc ", "a|", "a&&", "${a[", "sh -c \"", "eval ", "env ", "a <<x\n"} {
		start := time.Now()
		Split(strings.Repeat(unit, maxOpen/2))
		Split("echo " + strings.Repeat(unit, maxOpen/2))
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("%q: %v", unit, d)
		}
	}
	for _, unit := range []string{"env ", "nice ", "sudo ", "command "} {
		if got, problem := Split(strings.Repeat(unit, 1000) + "x"); problem == "" || len(got) > maxNesting+1 {
			t.Errorf("%q: %d, %q", unit, len(got), problem)
		}
	}
}

func FuzzSplit(f *testing.F) {
	for _, s := range []string{"git log && curl x", "A=1 env B=2 sudo -u x sh -c 'a | b > c' <<EOF\n$(d)\nEOF", "for i in {1..3}; do cd $i || exit 1; done", "f() { a; }; f `b` <(c)", "find . -exec rm {} \\; | xargs -0 rm", "case $x in a|b) c;; esac", "[[ a =~ (b|c) ]] && ((x++))"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, problem := Split(text)
		b, again := Split(text)
		if fmt.Sprint(a, problem) != fmt.Sprint(b, again) {
			t.Error("two answers differ")
		}
		for _, c := range a {
			if (len(c.Words) == 0) != (c.Kind == Nothing) {
				t.Errorf("%+v", c)
			}
			if !c.Dir.Known && c.Dir.Path != "" {
				t.Errorf("%+v", c)
			}
		}
	})
}
