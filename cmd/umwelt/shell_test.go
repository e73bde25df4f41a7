package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// need skips where a program or file is missing, or fails where tools are required.
func need(t *testing.T, what, install string, ok bool) {
	t.Helper()
	if ok {
		return
	}
	if os.Getenv("UMWELT_REQUIRE_TOOLS") == "1" {
		t.Fatalf("%s is missing: apt-get install %s", what, install)
	}
	t.Skipf("%s is missing: apt-get install %s", what, install)
}

func have(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

// shellDir is a directory with files to complete, and a PATH that begins with this
// program as umwelt.
func shellDir(t *testing.T) (dir string, env []string) {
	t.Helper()
	dir = t.TempDir()
	bin := filepath.Join(dir, "bin")
	exe, err := exec.LookPath("umwelt") // testscript puts it there
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(bin, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(exe, filepath.Join(bin, "umwelt")); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"policy.umw": "tool { allow: true }\n", "policy.world.yml": "tools: [Bash]\nmodes: [review]\n", "readme.txt": "",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir, append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_DATA_HOME="+dir)
}

var completions = []struct {
	line string // what was typed; the cursor stands at its end
	want []string
	not  []string
}{
	{"umwelt comp", []string{"compile", "completion"}, []string{"check"}},
	{"umwelt compile policy.umw --target b", []string{"bwrap"}, []string{"nsjail"}},
	{"umwelt compile policy.umw --target bwrap --set f", []string{"form="}, nil},
	{"umwelt compile p", []string{"policy.umw"}, []string{"policy.world.yml", "readme.txt"}},
	{"umwelt materialize --level f", []string{"full"}, []string{"summary"}},
}

func TestBashCompletion(t *testing.T) {
	const library = "/usr/share/bash-completion/bash_completion"
	_, err := os.Stat(library)
	need(t, "bash with bash-completion", "bash bash-completion", have("bash") && err == nil)
	dir, env := shellDir(t)
	for _, test := range completions {
		script := fmt.Sprintf(`source %s && source <(umwelt completion bash)
words=(%s)
COMP_LINE=%q COMP_POINT=${#COMP_LINE}
COMP_WORDS=("${words[@]}") COMP_CWORD=$((${#words[@]} - 1)) COMP_TYPE=9
__start_umwelt
printf '%%s\n' "${COMPREPLY[@]}"`, library, test.line, test.line)
		checkCompletions(t, dir, env, test.line, test.want, test.not, "bash", "--norc", "-c", script)
	}
}

func TestFishCompletion(t *testing.T) {
	need(t, "fish", "fish", have("fish"))
	dir, env := shellDir(t)
	for _, test := range completions {
		// fish has no filter of its own for kinds of file, so it may offer others too.
		var not []string
		if !strings.HasSuffix(test.line, " p") {
			not = test.not
		}
		checkCompletions(t, dir, env, test.line, test.want, not, "fish", "--no-config", "-c", "umwelt completion fish | source; complete -C "+fmt.Sprintf("%q", test.line))
	}
}

// TestZshCompletion drives a real zsh in a pseudo-terminal of its own module zpty, since
// the completion system of zsh works only in an interactive shell.
func TestZshCompletion(t *testing.T) {
	need(t, "zsh", "zsh", have("zsh"))
	dir, env := shellDir(t)
	for _, test := range completions {
		script := fmt.Sprintf(`zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z 'PS1=; autoload -Uz compinit && compinit -u -D; source <(umwelt completion zsh); compdef _umwelt umwelt'
zpty -w z 'zstyle ":completion:*" list-colors ""; LISTMAX=1000; setopt noautomenu nolistbeep; print READY-NOW'
text=; while [[ $text != *READY-NOW*READY-NOW* ]]; do zpty -r z line || break; text+=$line; done
zpty -w -n z %q$'\t\t'
text=
for i in {1..200}; do
	while zpty -r -t z more; do text+=$more; done
	[[ %s ]] && break
	sleep 0.05
done
print -r -- $text
zpty -d z`, test.line, "$text == *"+strings.Join(test.want, "* && $text == *")+"*")
		checkCompletions(t, dir, env, test.line, test.want, nil, "zsh", "-f", "-c", script)
	}
}

func checkCompletions(t *testing.T, dir string, env []string, line string, want, not []string, name string, args ...string) {
	t.Helper()
	c := exec.Command(name, args...)
	c.Dir, c.Env = dir, env
	out, err := c.CombinedOutput()
	if err != nil {
		t.Errorf("%s: %q: %v\n%s", name, line, err, out)
		return
	}
	for _, w := range want {
		if !strings.Contains(string(out), w) {
			t.Errorf("%s: %q does not offer %q:\n%q", name, line, w, out)
		}
	}
	for _, w := range not {
		if strings.Contains(string(out), w) {
			t.Errorf("%s: %q offers %q:\n%q", name, line, w, out)
		}
	}
}
