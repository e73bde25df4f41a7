package kubernetes

import (
	"fmt"
	"strings"

	"umwelt/compilers"
	"umwelt/compilers/confine"
	"umwelt/diag"
)

// envPattern is what every version of Kubernetes takes as a variable's name and as a key
// of a Secret.
var envPattern = pattern(`^[A-Za-z_][-._A-Za-z0-9]{0,252}$`)

// environment is the env list. Values never stand in the text: they come from a Secret
// that the reader keeps. A variable whose value the policy fixes must be there, any other
// may be missing.
func environment(vars []confine.Env, searchPath, secret string) (env list, names []string, notes []compilers.Note) {
	seen := map[string]bool{}
	if searchPath != "" {
		seen["PATH"] = true
		env = append(env, object{{"name", "PATH"}, {"value", literal(searchPath)}})
	}
	for _, v := range vars {
		if seen[v.Name] {
			continue
		}
		seen[v.Name] = true
		if !envPattern().MatchString(v.Name) {
			notes = append(notes, compilers.Note{Rule: v.By.Rule, Declaration: v.By.Declaration, Level: compilers.Dropped,
				Why: fmt.Sprintf("the environment variable %s does not pass: Kubernetes takes no such name", diag.Quote(v.Name))})
			continue
		}
		names = append(names, v.Name)
		env = append(env, object{
			{"name", v.Name},
			{"valueFrom", object{{"secretKeyRef", object{
				{"name", secret},
				{"key", v.Name},
				{"optional", !v.Set},
			}}}},
		})
	}
	return env, names, notes
}

// literal keeps Kubernetes from expanding $(NAME) in a value or command.
func literal(s string) string { return strings.ReplaceAll(s, "$", "$$") }
