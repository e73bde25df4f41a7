package registry_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"umwelt/ratchet/shell"
	"umwelt/registry"
)

// TestAdmitsOneCommand holds that a shell reads a single command, without redirections and
// substitutions, in whatever a pattern of one admits.
func TestAdmitsOneCommand(t *testing.T) {
	pieces := []string{"log", "x", " ", " ", "  ", "'", `"`, `\`, "$", "(", ")", "{", "}", "#", "=", "a=(", "()", "f()", "$(", "${", "$((", "))", "!", "~", "[", "]", "*", "?", "@(", "+(", "if", "then", "do", "time", "function", "-", "\\'", `\"`, "$'", `$"`, "é", "\\(", ";", "&", "\n", "<(", "`"}
	allow := registry.ReadCallPattern("git *")
	read := 0
	rapid.Check(t, func(t *rapid.T) {
		call := "git " + strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12).Draw(t, "pieces"), "")
		if !allow.Admits(registry.ReadCall(call)) {
			return
		}
		commands, problem := shell.Split(call)
		if problem != "" {
			return // a shell runs none of it
		}
		read++
		if len(commands) != 1 || len(commands[0].Words) == 0 || commands[0].Words[0].Text != "git" || len(commands[0].Redirects) > 0 {
			t.Fatalf("%q is admitted, and is %+v to a shell", call, commands)
		}
	})
	if read < 5 {
		t.Errorf("a shell could read only %d of the calls", read)
	}
}

// TestRefusesWhatAShellRuns holds that a denial of a program refuses every call in which a
// shell runs it under its own name.
func TestRefusesWhatAShellRuns(t *testing.T) {
	pieces := []string{"rm", "rm x", " ", " ", "; ", " && ", " || ", " | ", " & ", "\n", "$(", ")", "`", "'", `"`, "(", "{ ", "; }", "if ", "; then ", "; fi", "while ", "; do ", "; done", "A=1 ", `A="b c" `, "env ", "sudo -u x ", "xargs ", "sh -c ", "bash -lc '", "timeout 5 ", "nohup ", "time ", "! ", "eval ", "ls ", "echo ", "f() { ", "cat <<E\n", "\nE\n", "> f ", "2>&1 ", "/bin/", `\`, "case x in x) ", " ;; esac", "<(", "trap '", "' EXIT", "find . -exec ", "command ", "exec "}
	deny := registry.ReadCallPattern("rm *")
	ran := 0
	rapid.Check(t, func(t *rapid.T) {
		call := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 8).Draw(t, "pieces"), "")
		commands, _ := shell.Split(call)
		for _, c := range commands {
			if c.Kind != shell.Program || c.Program() != "rm" && c.Program() != "/bin/rm" {
				continue
			}
			ran++
			if r := registry.ReadCall(call); !deny.Refuses(r) && !r.Unclear() {
				t.Fatalf("%q is not refused, and a shell runs %+v", call, c)
			}
		}
	})
	if ran < 5 {
		t.Errorf("a shell ran it only %d times", ran)
	}
}
