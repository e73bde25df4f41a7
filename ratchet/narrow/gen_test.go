package narrow

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"umwelt/ratchet"
)

// gen draws small worlds, observations and current views.
type gen struct{ t *rapid.T }

func (g gen) of(list ...string) string { return rapid.SampledFrom(list).Draw(g.t, "of") }
func (g gen) n(max int) int            { return rapid.IntRange(0, max).Draw(g.t, "n") }
func (g gen) chance(percent int) bool  { return rapid.IntRange(0, 99).Draw(g.t, "chance") < percent }

func (g gen) path() string {
	dir := g.of(append([]string{""}, dirNames...)...)
	name := g.of(fileNames...)
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

func (g gen) world() string {
	var paths []string
	for range g.n(14) {
		paths = append(paths, g.path())
	}
	for _, d := range dirNames {
		if g.chance(50) {
			paths = append(paths, d+"/")
		}
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	more := []string{"{ type: kit, id: k }", "{ type: env, id: CI }", "{ type: env, id: HOME }"}
	for _, tool := range []string{"Bash", "Read", "Edit"} {
		kit := ""
		if g.chance(40) {
			kit = ", kit: k"
		}
		more = append(more, fmt.Sprintf("{ type: tool, id: %s, attributes: { level: %d%s } }", tool, g.n(8), kit))
	}
	return snapshot(paths, more...)
}

func (g gen) observation(line int) ratchet.Observation {
	o := ratchet.Observation{Outcome: ratchet.Allowed, At: ratchet.Place{File: g.of("a.log", "b.log"), Line: int64(line + 1)}}
	var attrs []string
	switch g.n(11) {
	default:
		o.Type, o.ID = "file", g.path()
		o.Verb = ratchet.Verb(g.of("read", "read", "read", "stat", "write", "create", "delete", "rename", "exec"))
		if o.Verb == ratchet.Create && g.chance(30) {
			attrs = append(attrs, "existed", "unknown")
		}
		if g.chance(30) {
			o.ID = "/project/" + o.ID
		}
		if g.chance(10) {
			o.ID += fmt.Sprintf("-%06x", 0xa1b2c3+g.n(3)*7919)
		}
	case 0:
		o.Type, o.ID, o.Verb = "dir", g.of(dirNames...), ratchet.Verb(g.of("list", "stat", "create", "delete"))
	case 1:
		o.Type, o.ID, o.Verb = "tool", g.of("Bash", "Read", "Edit"), ratchet.Call
		if o.ID == "Bash" || g.chance(50) {
			attrs = append(attrs, "call", g.of("git log -1", "git log -2", "git status", "git log && curl x", "ls a", "ls *", "echo $(id)", "a | b"))
		}
	case 2:
		o.Type, o.ID, o.Verb = "network", g.of("api.github.com:443", "10.0.0.1:80", "[::1]:22", "x.org:443"), ratchet.Connect
		if g.chance(50) {
			attrs = append(attrs, "protocol", "tcp")
		}
	case 3:
		o.Type, o.ID, o.Verb = "env", g.of("CI", "HOME"), ratchet.Env
	case 4:
		o.Type, o.Verb = "resource", ratchet.Measure
		o.ID = g.of("memory", "wall-time", "max-fds")
		attrs = append(attrs, "value", fmt.Sprint(1+g.n(3)*98765))
	case 5:
		o.Type, o.ID, o.Verb = "file", g.of("/usr/lib/x", "/tmp/y", "/etc/passwd"), ratchet.Verb(g.of("read", "write"))
	}
	o.Attributes = ratchet.Attributes(attrs...)
	if g.chance(10) {
		o.Outcome = ratchet.Denied
	}
	return o
}

func (g gen) runs() [][]ratchet.Observation {
	runs := make([][]ratchet.Observation, 1+g.n(2))
	for i := range runs {
		for k := range g.n(12) {
			runs[i] = append(runs[i], g.observation(k))
		}
	}
	return runs
}

func (g gen) view() string {
	var b strings.Builder
	for i := range g.n(7) {
		sel := g.of(`file`, `file`, `*`, `file[path^="src/"]`, `file[path^="out/"]`, `file:glob("src/**")`, `file:glob("**/*.py")`, `file[name$=".md"]`, `file[path="Makefile"]`,
			`file#".env"`, `dir#src file`, `file[path^="docs/"], file[path="docs"]`, `dir`, `dir[path="docs"]`, `tool`, `tool#Bash`, `tool[name="Read"], tool[name="Edit"]`, `kit#k`,
			`env`, `env[name="CI"]`, `network`, `network[host="api.github.com"]`, `network[host="*.org"]`, `resource`, `tool[name="Bash"]`, `file:not([name=".env"])`)
		decl := g.of(`visible: true`, `visible: true`, `editable: true`, `editable: true`, `editable: false`, `visible: false`, `show: outline`)
		switch word := strings.FieldsFunc(sel, func(r rune) bool { return strings.ContainsRune("#[ ,:", r) })[0]; word {
		case "tool":
			decl = g.of(`allow: true`, `allow: true`, `allow: false`, `max-level: 8`, `max-level: 3`, `allow-pattern: "git *", "ls *"`, `deny-pattern: "curl *"`)
		case "kit", "env":
			decl = g.of(`allow: true`, `allow: false`)
		case "network":
			decl = g.of(`allow: true`, `allow: true`, `allow: false`, `deny: "x.org"`)
		case "resource":
			decl = g.of(`memory: 1GB`, `wall-time: 10m`, `max-memory: 2GB`, `max-fds: 1000000`)
		}
		if g.chance(10) {
			decl += " !important"
		}
		rule := sel + " { " + decl + "; }"
		switch {
		case g.chance(20) && !strings.Contains(sel, ","):
			rule = g.of("mode#implement ", "mode#review ") + rule
		case g.chance(10):
			rule = "@layer l" + g.of("1", "2") + " { " + rule + " }"
		case g.chance(10):
			rule = g.of(`@source("src") { * { visible: true; } }`, `@source("docs") { * { editable: false; } }`, `@tools { allow: Read, Bash; deny: Edit; }`, `@env { allow: CI, HOME; }`, `@network { allow: api.github.com, x.org; }`)
		}
		if g.chance(20) {
			rule = fmt.Sprintf("/* note %d */\n%s", i, rule)
		}
		b.WriteString(rule + "\n")
	}
	return b.String()
}

func (g gen) options() Options {
	o := Options{Root: "/project", Headroom: 0.2, Slack: g.n(2) * g.n(1)}
	if g.chance(20) {
		o.MinRuns = 2
	}
	if g.chance(20) {
		for _, s := range Steps() {
			if g.chance(70) {
				o.Steps = append(o.Steps, s)
			}
		}
	}
	if g.chance(50) {
		o.Context = refs("mode", g.of("implement", "review"))
	}
	return o
}

// shuffled is the same observations in another order.
func shuffled(t *rapid.T, runs [][]ratchet.Observation) [][]ratchet.Observation {
	r := rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed")))
	out := make([][]ratchet.Observation, len(runs))
	for i := range runs {
		out[i] = slices.Clone(runs[i])
		r.Shuffle(len(out[i]), func(a, b int) { out[i][a], out[i][b] = out[i][b], out[i][a] })
	}
	return out
}
