package narrow

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"umwelt/registry"
	"umwelt/world"
)

// levelOf is the computation level of an entity in the world.
func levelOf(e *world.Entity) (float64, bool) {
	text, ok := e.Attr("level")
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil
}

// commandLevel is the lowest level of tools that start programs.
const commandLevel = 7

// commandNames are tools that take commands, where the world says nothing of them.
var commandNames = strings.Fields("bash sh shell zsh powershell cmd terminal execute run_command run_shell_command local_shell exec_command run_terminal_cmd execute_command")

// takesCommands reports whether what is asked of a tool is a command. What is asked of other
// tools (a path, an address) has rules of its own.
func takesCommands(e *world.Entity, name string) bool {
	if e != nil {
		if level, ok := levelOf(e); ok && level >= commandLevel || e.HasClass("shell") {
			return true
		}
	}
	return slices.Contains(commandNames, strings.ToLower(name))
}

// tool is the world's entity of a tool, or nil.
func (in *Input) tool(t *registry.EntityType, name string) *world.Entity {
	if i := in.World.Find(t, name); i >= 0 {
		return &in.World.Entities[i]
	}
	for i := range in.World.Entities {
		if e := &in.World.Entities[i]; e.Type == t {
			if n, ok := e.Fact("name"); ok && n == name {
				return e
			}
		}
	}
	return nil
}

// highestLevel is the level that a bound has to leave: the highest of the tools that were
// called. ok is false where that of one is not known.
func (p *proposer) highestLevel(t *registry.EntityType) (level float64, ok bool) {
	none := true
	for _, r := range p.reqs {
		if r.kind != allow || r.typ != t.Name {
			continue
		}
		e := p.in.tool(t, r.id)
		if e == nil {
			return 0, false
		}
		n, known := levelOf(e)
		if !known {
			return 0, false
		}
		none = false
		level = max(level, n, p.saidLevel(r))
	}
	return level, !none
}

// saidLevel is the highest level that observations say of a tool, -1 for none.
func (p *proposer) saidLevel(r *requirement) float64 {
	level := -1.0
	if r.tally.more == nil {
		return level
	}
	for text := range r.tally.more.levels {
		if n, err := strconv.ParseFloat(text, 64); err == nil && n >= 0 && n <= 8 {
			level = max(level, n)
		}
	}
	return level
}

// disagreements are the tools of which the sources, or the world, say different levels.
func (p *proposer) disagreements() {
	t := typeOf(p.in.World.Registry, "tool")
	if t == nil {
		return
	}
	for _, r := range p.reqs {
		if r.kind != allow || r.typ != t.Name || r.tally.more == nil {
			continue
		}
		var said []Count
		for _, text := range slices.SortedFunc(maps.Keys(r.tally.more.levels), cmp.Compare) {
			said = append(said, Count{"level " + text + " by observations", r.tally.more.levels[text]})
		}
		taken := p.saidLevel(r)
		if e := p.in.tool(t, r.id); e != nil {
			if n, ok := levelOf(e); ok && (len(said) > 1 || len(said) == 1 && n != taken) {
				said = append(said, Count{"level " + strconv.FormatFloat(n, 'f', -1, 64) + " by the world", 1})
				taken = max(taken, n)
			}
		}
		if len(said) > 1 {
			p.report.Disagreement = append(p.report.Disagreement, Disagreement{Type: r.typ, ID: text(r.id), Of: "level", Said: said, Taken: strconv.FormatFloat(taken, 'f', -1, 64)})
		}
	}
}

// redacted is what sources write for a secret.
const redacted = "REDACTED"

// calls are the calls of a command tool that its patterns have to admit, nil where it takes
// no commands or what was asked is not always known.
func (p *proposer) calls(t *registry.EntityType, r *requirement) []string {
	d := r.tally.more
	if d == nil || t.Property("allow-pattern") == nil || !takesCommands(p.in.tool(t, r.id), r.id) {
		return nil
	}
	var out []string
	name := text(r.id)
	for _, text := range slices.Sorted(maps.Keys(d.calls)) {
		c := d.calls[text]
		if strings.Contains(text, redacted) {
			p.report.note("calls of the tool " + name + " held secrets, for which " + redacted + " stands in the patterns: those admit no call that holds the secret")
		}
		switch {
		case !p.in.atLeast(c.runs.len()):
			p.report.LeftOut = append(p.report.LeftOut, Left{Type: r.typ, ID: r.id + ": " + text, Runs: c.runs.len(), Why: "this call was made by fewer runs than asked for"})
		case !sayableCall(text):
			p.report.Unexpressed = append(p.report.Unexpressed, Left{Type: r.typ, ID: r.id, Runs: c.runs.len(), Why: "a call is not UTF-8, which a view is written in"})
		default:
			out = append(out, text)
		}
	}
	if d.silent > 0 {
		p.report.note("what was asked of the tool " + r.id + " is not always known, so no patterns are proposed for its calls")
		return nil
	}
	return out
}
