package bwrap

import (
	"bytes"
	"encoding/json"
	"strings"

	"umwelt/compilers/confine"
	"umwelt/compilers/shell"
)

// program is the parts of which the forms with a wrapper are made.
type program struct {
	options   []string
	limits    []string // commands that hold limits, outermost first
	pass, set []string // names of variables
}

// givenPrefix goes before the name of a variable whose value the policy fixes: that is
// where the script looks for the value. Its own name would pass on the value from outside
// where nobody supplied the fixed one.
const givenPrefix = "UMWELT_ENV_"

// scrub is the command line that empties the environment but for what may pass. It is
// shell text where variables pass, since nothing else hands on a variable by its name
// alone.
func (p program) scrub() string {
	var b strings.Builder
	b.WriteString(`env -i PATH="$PATH"`)
	for _, n := range p.pass {
		if n != "PATH" {
			b.WriteString(` ${` + n + `+"` + n + `=$` + n + `"}`)
		}
	}
	for _, n := range p.set {
		b.WriteString(` ${` + givenPrefix + n + `+"` + n + `=$` + givenPrefix + n + `"}`)
	}
	return b.String()
}

// json is {schema, argv, env, set, wrapper}. The command to run goes after argv, and
// wrapper before it.
func (p program) json() []byte {
	doc := struct {
		Schema  string         `json:"schema"`
		Argv    []confine.Text `json:"argv"`
		Env     []confine.Text `json:"env"`
		Set     []confine.Text `json:"set"`
		Wrapper []confine.Text `json:"wrapper"`
	}{
		Schema:  "umwelt.bwrap/1",
		Argv:    confine.Texts(append(append([]string{"bwrap"}, p.options...), "--")),
		Env:     confine.Texts(p.pass),
		Set:     confine.Texts(p.set),
		Wrapper: confine.Texts(append([]string{"sh", "-c", "exec " + p.scrub() + ` "$@"`, "sh"}, p.limits...)),
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	// Texts marshal without errors.
	_ = e.Encode(doc)
	return b.Bytes()
}

// script runs its arguments inside, or a shell where there are none.
func (p program) script(version string) []byte {
	var b strings.Builder
	b.WriteString("#!/bin/sh\n# Made by " + strings.TrimSpace("umwelt "+shell.Comment(version)) + " for bwrap: runs its arguments in the sandbox, or a shell.\n")
	if len(p.set) > 0 {
		b.WriteString("# Values that the policy fixes are read from " + givenPrefix + "NAME.\n")
	}
	b.WriteString(gather)
	for _, line := range flagLines(p.options) {
		b.WriteString("o " + quoteAll(line) + "\n")
	}
	b.WriteString("exec 4>&-\nexec " + p.scrub() + " \\\n")
	if len(p.limits) > 0 {
		b.WriteString("  " + quoteAll(p.limits) + " \\\n")
	}
	b.WriteString("  bwrap --args 3 -- \"$@\"\n")
	return []byte(b.String())
}

// gather begins the collection of options, of which there may be more than the kernel
// takes on one command line. They go through a file and not a pipe: with a part of them
// bubblewrap would start, too, and show more. The file has no name while it has content.
const gather = `[ "$#" -gt 0 ] || set -- /bin/sh
umwelt_options=$(mktemp) || exit 125
exec 3<"$umwelt_options" 4>"$umwelt_options" || exit 125
rm -f -- "$umwelt_options"
unset umwelt_options
o() { printf '%s\0' "$@" >&4 || exit 125; }
`

// flagLines splits options into one group a flag. Every flag of the list is known, and a
// path is absolute, so that only the text of a symlink can look like a flag.
func flagLines(options []string) [][]string {
	operands := map[string]int{"--cap-drop": 1, "--setenv": 2, "--bind": 2, "--ro-bind": 2, "--perms": 1, "--size": 1, "--tmpfs": 1,
		"--proc": 1, "--dev": 1, "--symlink": 2, "--remount-ro": 1, "--chdir": 1}
	var lines [][]string
	for i := 0; i < len(options); {
		n := 1 + operands[options[i]]
		lines = append(lines, options[i:i+n])
		i += n
	}
	return lines
}

func quoteAll(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = shell.Quote(w)
	}
	return strings.Join(out, " ")
}
