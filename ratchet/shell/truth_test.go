package shell

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// stub notes where it was run and with what, and fails if it is told to.
const stub = `#!/bin/sh
line="$PWD	${0##*/}"
for w do line="$line $w"; done
printf '%s\n' "$line" >>"$LOG"
case " $FAIL " in *" ${0##*/} "*) exit 1;; esac
`

// TestAgainstBash runs texts in Bash, with programs that note that they ran, each set of
// them failing in turn, and holds what Split says of them to what was noted.
func TestAgainstBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		if os.Getenv("UMWELT_REQUIRE_TOOLS") == "1" {
			t.Fatal("bash is missing")
		}
		t.Skip("bash is missing")
	}
	bin := t.TempDir()
	for _, name := range []string{"pa", "pb", "pc"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(stub), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range []string{
		"pa && pb; pc", "pa || pb && pc", "pa; pb; pc", "pa | pb | pc", "! pa && pb", "{ pa; pb; } && pc", "(pa && pb) || pc",
		"if pa; then pb; else pc; fi", "if pa; then pb; elif pc; then pa x; fi", "while pa && false; do pb; done; pc", "for i in 1 2; do pa $i; done && pb",
		"cd x && pa; pb", "cd nowhere && pa; pb", "cd x || exit 1; pa", "cd nowhere || exit 1; pa", "cd nowhere || exit; pa; pb", "set -e; cd x; pa; pb; pc", "set -e; pa; cd y; pb",
		"(cd x && pa); pb", "cd x | pa; pb", "cd x && cd ../y && pa && pb", "pa $(pb) \"$(cd x && pc)\"", "pa ${NONE:-$(pb)} ${HOME:-$(pc)}", "cat <<E\n$(pa)\nE\npb",
		"cat <<'E'\n$(pa)\nE\npb", "bash <<'E'\npa && pb\nE\npc", "sh -c 'pa; pb' && pc", "env A=1 pa && pb", "env -u A pa x", "timeout -s KILL 5 pa; pb", "nice -n 3 pa 'x y'", "nohup pa && pb",
		"echo x | xargs pa; pb", "find . -name none -exec pa {} \\; ; pb", "find x -exec pa {} + && pb", "f() { pa; cd x; }; f; pb", "f() { pa; }; pb", "eval 'pa && pb'; pc", "command pa && exec pb; pc",
		"trap 'pa' EXIT; pb", "exit 1; pa", "pa || exit 3; pb", "pa || exit 0; pb", "case a in a) pa;; *) pb;; esac", "A=$(pa) && pb", "A=$(pa) pb", "export A=$(pa); pb", "[[ -n $(pa) || -z $(pb) ]]; pc",
		"time pa && pb", "pa & wait; pb", "{ cd x && pa; } && pb", "{ cd x; pa; }; pb", "cd x && pa || pb", "cd nowhere || cd y && pa", "pa <<< $(pb)", "diff <(pa) <(pb); pc", "[ -d x ] && cd x && pa && pb",
		"if cd x; then pa; fi; pb", "if cd nowhere; then pa; else pb; fi; pc", "until pa || true; do pb; done", "set -e; pa || true; pb", "set -e; pa && pb; pc", "set -e; (pa; pb); pc", "set +e; pa; pb", "set -e; { sh -c 'pa && pb'; pc; } && true", "set -e; { cd nowhere; pa; } && pb", "f() { cd x; }; g() { f; }; g; pa", "f() { exit 0; }; f; pa", "f() { return 1; }; f; pa", "echo cd x > s; . ./s; pa", "set -e; ! pa; pb", "pa; return 2>/dev/null; pb",
	} {
		cmds, problem := Split(text)
		if problem != "" {
			t.Errorf("%s: %s", text, problem)
		}
		for _, failing := range []string{"", "pa", "pb", "pc", "pa pb", "pa pb pc"} {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range []string{"x", "y"} {
				if err := os.Mkdir(filepath.Join(dir, d), 0o777); err != nil {
					t.Fatal(err)
				}
			}
			log := filepath.Join(t.TempDir(), "log")
			c := exec.Command(bash, "-c", text)
			c.Dir = dir
			c.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "LOG=" + log, "FAIL=" + failing, "HOME=" + dir}
			status := c.Run()
			noted, _ := os.ReadFile(log)
			check(t, text, failing, dir, cmds, strings.Split(strings.TrimSpace(string(noted)), "\n"), status == nil)
		}
	}
}

// check holds every program that was noted to a command that may be it, and every command
// that surely ran to one that was noted.
func check(t *testing.T, text, failing, dir string, cmds []Command, noted []string, success bool) {
	t.Helper()
	fits := func(c Command, entry string) bool {
		cwd, call, _ := strings.Cut(entry, "\t")
		if c.Dir.Known && filepath.Join(dir, c.Dir.Path) != cwd {
			return false
		}
		var words []string
		for _, w := range c.Words {
			if w.Dynamic {
				return strings.HasPrefix(call+" ", strings.Join(words, " ")+" ")
			}
			words = append(words, w.Text)
		}
		if c.Via == "xargs" || c.Via == "find" {
			return strings.HasPrefix(call+" ", strings.Join(words, " ")+" ")
		}
		return call == strings.Join(words, " ")
	}
	for _, entry := range noted {
		if entry != "" && !slices.ContainsFunc(cmds, func(c Command) bool { return c.Kind == Program && fits(c, entry) }) {
			t.Errorf("%s (failing: %s): Bash ran %q, and Split says nothing of it", text, failing, entry)
		}
	}
	for _, c := range cmds {
		sure := c.Runs == Always || c.Runs == OnSuccess && success
		if !sure || !strings.HasPrefix(c.Program(), "p") || len(c.Program()) != 2 {
			continue
		}
		if !slices.ContainsFunc(noted, func(entry string) bool { return fits(c, entry) }) {
			t.Errorf("%s (failing: %s): %s is sure, and Bash ran %q", text, failing, line(c), noted)
		}
	}
}
