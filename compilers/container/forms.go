package container

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"umwelt/compilers/shell"
)

// givenPrefix goes before the name of a variable whose value the policy fixes: that is
// where the wrapper looks for the value. Its own name would pass on the value from outside
// where nobody supplied the fixed one.
const givenPrefix = "UMWELT_ENV_"

// runner is shell text that runs "$@", which is argv and the command, with what the tool
// has no flag for: fixed values of variables, and where it has none, the time limit. Where
// neither is needed it is one word.
func (r *container) runner() string {
	var b strings.Builder
	for _, n := range r.set {
		b.WriteString(`if [ "${` + givenPrefix + n + `+set}" ]; then export ` + n + `="$` + givenPrefix + n + `"; else unset ` + n + "; fi\n")
	}
	if !r.aside() {
		b.WriteString(`exec "$@"`)
		return b.String()
	}
	// Whoever ends the client leaves the container running, so it is removed by its id. The
	// client runs in the background so that the shell hears signals at once.
	b.WriteString(`p=
end() { [ -z "$p" ] || kill "$p" 2>/dev/null; [ ! -s "$d/id" ] || ` + r.tool.Name + ` rm --force "$(cat "$d/id")" >/dev/null 2>&1; rm -rf "$d"; }
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
shift 2
exec 3<&0
`)
	if r.wall > 0 {
		b.WriteString("timeout --kill-after=5 " + strconv.FormatFloat(r.wall.Seconds(), 'f', -1, 64) + " ")
	}
	b.WriteString(r.tool.Name + ` run --sig-proxy=false --cidfile "$d/id" "$@" <&3 3<&- &
p=$!
wait "$p"
s=$?
p=
exit "$s"`)
	return b.String()
}

// aside reports whether the one who runs the text needs a directory of its own.
func (r *container) aside() bool {
	return !r.tool.Timeout && r.wall > 0 || r.makesCover()
}

func (r *container) makesCover() bool { return r.covered && r.madeCover }

// makeAside makes that directory. Its name is plain, so that it can stand in a mount.
const makeAside = `d=$(mktemp -d /tmp/umwelt.XXXXXXXXXX) || exit 125`

// json is {schema, argv, env, set, wrapper}. The command to run goes after argv, and
// wrapper before it.
func (r *container) json() []byte {
	doc := struct {
		Schema  string   `json:"schema"`
		Argv    []string `json:"argv"`
		Env     []string `json:"env"`
		Set     []string `json:"set"`
		Wrapper []string `json:"wrapper"`
	}{
		Schema: "umwelt." + r.tool.Name + "/1", Argv: r.argv(),
		Env: append([]string{}, r.pass...), Set: append([]string{}, r.set...), Wrapper: []string{},
	}
	if text := r.runner(); text != `exec "$@"` {
		if r.aside() {
			text = makeAside + "\n" + text
		}
		doc.Wrapper = []string{"sh", "-c", text, "sh"}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	// Strings marshal without errors.
	_ = e.Encode(doc)
	return b.Bytes()
}

// script runs its arguments inside, or a shell where there are none.
func (r *container) script(version string) []byte {
	var b strings.Builder
	b.WriteString("#!/bin/sh\n# Made by " + strings.TrimSpace("umwelt "+shell.Comment(version)) + " for " + r.tool.Name + ": runs its arguments in a container, or a shell.\n")
	if len(r.set) > 0 {
		b.WriteString("# Values that the policy fixes are read from " + givenPrefix + "NAME.\n")
	}
	b.WriteString("[ \"$#\" -gt 0 ] || set -- /bin/sh\n")
	if r.aside() {
		b.WriteString(makeAside + "\n")
	}
	if r.makesCover() {
		b.WriteString(": > \"$d/cover\" && chmod 0 \"$d/cover\" || exit 125\n")
	}
	b.WriteString("set --")
	groups := r.groups()
	last := len(groups) - 1
	for i, g := range groups {
		if i == last && r.user == "" {
			b.WriteString(" \\\n  --user \"$(id -u):$(id -g)\"")
		}
		b.WriteString(" \\\n  " + r.quoteAll(g))
	}
	b.WriteString(" \\\n  \"$@\"\n" + r.runner() + "\n")
	return []byte(b.String())
}

// madeHere stands for the script's own cover in argv. No path has an empty name in it.
const madeHere = "//cover//"

func (r *container) quoteAll(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = shell.Quote(w)
		if strings.Contains(w, madeHere) {
			out[i] = strings.ReplaceAll(shell.Quoted(w), madeHere, `'"$d"'/cover`)
		}
	}
	return strings.Join(out, " ")
}
