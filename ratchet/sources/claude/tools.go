package claude

import (
	"net/url"
	"path"
	"regexp"
	"strconv"
	"strings"

	"umwelt/ratchet"
	"umwelt/ratchet/shell"
	"umwelt/ratchet/sources/internal/record"
)

// input is what of a tool call's input counts. Contents that are written are not in it.
type input struct {
	call    string // the one text that patterns are held against
	path    string // of a tool that is about a file or directory
	where   bool   // path is the directory itself where none was named
	command string
	url     string
	behind  bool // the command is left running
}

// about says what a tool is about: the names of the input that tell the call, of which the
// first one counts, and what the tool does to the path among them.
type about struct {
	call []string
	path []string
	verb ratchet.Verb
	dir  bool // the path is a directory's
}

// tools are those that ship with Claude Code and touch something that a policy bounds.
var tools = map[string]about{
	"Bash":         {call: []string{"command"}},
	"Read":         {call: []string{"file_path"}, path: []string{"file_path"}, verb: ratchet.Read},
	"NotebookRead": {call: []string{"notebook_path"}, path: []string{"notebook_path"}, verb: ratchet.Read},
	"Write":        {call: []string{"file_path"}, path: []string{"file_path"}, verb: ratchet.Write},
	"Edit":         {call: []string{"file_path"}, path: []string{"file_path"}, verb: ratchet.Write},
	"MultiEdit":    {call: []string{"file_path"}, path: []string{"file_path"}, verb: ratchet.Write},
	"NotebookEdit": {call: []string{"notebook_path"}, path: []string{"notebook_path"}, verb: ratchet.Write},
	"LS":           {call: []string{"path"}, path: []string{"path"}, verb: ratchet.List, dir: true},
	"Glob":         {call: []string{"pattern"}, path: []string{"path"}, verb: ratchet.List, dir: true},
	"Grep":         {call: []string{"pattern"}, path: []string{"path"}, verb: ratchet.Read},
	"WebFetch":     {call: []string{"url"}},
	"WebSearch":    {call: []string{"query"}},
	"Task":         {call: []string{"subagent_type", "description"}},
	"Agent":        {call: []string{"subagent_type", "description"}},
	"Skill":        {call: []string{"skill", "command"}},
	"SlashCommand": {call: []string{"command"}},
	"BashOutput":   {call: []string{"bash_id"}},
	"TaskOutput":   {call: []string{"task_id"}},
	"KillShell":    {call: []string{"shell_id"}},
	"TodoWrite":    {},
}

// usual are the names under which a tool that is not known may say what it is asked.
var usual = []string{"command", "file_path", "notebook_path", "path", "url", "uri", "pattern", "query"}

func readInput(tool string, in record.Object) input {
	var out input
	a, ok := tools[tool]
	if !ok {
		out.call = in.Text(usual...)
		return out
	}
	out.call, out.path = in.Text(a.call...), in.Text(a.path...)
	out.where = a.path != nil && out.path == "" && (tool == "Glob" || tool == "Grep")
	switch tool {
	case "Bash":
		out.command = out.call
		out.behind, _ = in.Bool("run_in_background")
	case "WebFetch":
		out.url = out.call
	}
	return out
}

// kitOf is the server of an MCP tool, whose name is mcp__server__tool; "" for others.
func kitOf(tool string) string {
	rest, ok := strings.CutPrefix(tool, "mcp__")
	server, name, named := strings.Cut(rest, "__")
	if !ok || !named || server == "" || name == "" {
		return ""
	}
	return server
}

// tell hands on what a call was and did.
func (s *session) tell(c *call, r result) error {
	defer func(file string) { s.sink.File = file }(s.sink.File)
	s.sink.File = c.place.File
	text := record.Redact(c.text)
	if c.input.command != "" {
		text = record.Script(c.text)
	}
	o := ratchet.Observation{
		Time: c.time, Type: "tool", ID: strings.ToValidUTF8(c.tool, "\uFFFD"), Verb: ratchet.Call, Outcome: r.outcome, Reason: r.reason,
		Context: c.context(""), Attributes: ratchet.Attributes("call", text, "kit", kitOf(c.tool), "agent", c.agent, "status", statusOf(c, r)),
	}
	if err := s.sink.Put(c.place.Line, o); err != nil {
		return err
	}
	if c.long {
		s.sink.Miss(ratchet.Truncated, "the text of a call, which is too long", c.place.Line)
	}
	if a := tools[c.tool]; a.call != nil && a.path == nil && c.text == "" && !c.long {
		s.sink.Miss(ratchet.Unresolved, "what "+c.tool+" was asked", c.place.Line)
	}
	if err := s.onFile(c, r); err != nil {
		return err
	}
	if err := s.onHost(c, r); err != nil {
		return err
	}
	return s.onCommand(c, r)
}

// statusOf is the exit status of a command, where it is another one than 0.
func statusOf(c *call, r result) string {
	if c.input.command == "" || r.status == "0" {
		return ""
	}
	return r.status
}

// context is who acted: the model, and for what a tool did the tool.
func (c *call) context(tool string) []ratchet.Attribute {
	model := c.model
	if strings.HasPrefix(model, "<") {
		model = "" // no model said it
	}
	return ratchet.Attributes("inferencer", model, "tool", tool)
}

// done is an observation of something that a call did.
func (c *call) done(typ, id string, verb ratchet.Verb, r result, attributes ...string) ratchet.Observation {
	return ratchet.Observation{
		Time: c.time, Type: typ, ID: id, Verb: verb, Outcome: r.outcome, Reason: r.reason,
		Context: c.context(c.tool), Attributes: ratchet.Attributes(append(attributes, "agent", c.agent)...),
	}
}

// windows is how an absolute path begins there, where nothing is said of the slashes in it.
var windows = regexp.MustCompile(`^([A-Za-z]:[\\/]|\\\\)`)

// place is a path as the process saw it.
func place(dir, name string) (string, bool) {
	if strings.HasPrefix(name, "~") || windows.MatchString(name) || windows.MatchString(dir) {
		return "", false
	}
	return record.Absolute(dir, name)
}

func (s *session) onFile(c *call, r result) error {
	a := tools[c.tool]
	if a.path == nil || c.long {
		return nil
	}
	name, typ := c.input.path, "file"
	if c.input.where {
		name = "."
	}
	if a.dir || c.input.where {
		typ = "dir"
	}
	id, ok := place(c.dir, name)
	if !ok {
		s.sink.Miss(ratchet.Unresolved, "the path of "+c.tool, c.place.Line)
		return nil
	}
	verb := a.verb
	if c.tool == "Write" && r.created {
		verb = ratchet.Create
	}
	if c.tool == "Grep" && r.outcome == ratchet.Allowed {
		s.sink.Miss(ratchet.Unresolved, "the files that Grep looked into", c.place.Line)
	}
	return s.sink.Put(c.place.Line, c.done(typ, id, verb, r))
}

func (s *session) onHost(c *call, r result) error {
	if c.input.url == "" {
		return nil
	}
	u, err := url.Parse(c.input.url)
	port := int64(0)
	if err == nil {
		port = map[string]int64{"http": 80, "https": 443}[strings.ToLower(u.Scheme)]
		if given, err := strconv.ParseInt(u.Port(), 10, 64); err == nil && port != 0 {
			port = given
		}
	}
	if err != nil || port == 0 {
		s.sink.Miss(ratchet.Unresolved, "the address of "+c.tool, c.place.Line)
		return nil
	}
	id, ok := record.Endpoint(u.Hostname(), port)
	if !ok {
		s.sink.Miss(ratchet.Unresolved, "the address of "+c.tool, c.place.Line)
		return nil
	}
	host := strings.ToLower(u.Hostname())
	return s.sink.Put(c.place.Line, c.done("network", id, ratchet.Connect, r, "host", host, "port", strconv.FormatInt(port, 10), "protocol", "tcp"))
}

// onCommand takes a command apart. What the shell may not have come to is counted, and of a
// command that was not run nothing else is said.
func (s *session) onCommand(c *call, r result) error {
	if c.input.command == "" || c.long {
		return nil
	}
	commands, problem := shell.Split(c.input.command)
	moved := false
	for _, cmd := range commands {
		moved = moved || !cmd.Apart && cmd.Kind != shell.Program && cmd.Kind != shell.Nothing && (strings.Contains(" cd pushd popd . source ", " "+cmd.Program()+" ") || cmd.Kind == shell.Function)
	}
	if (moved || problem != "") && !c.said && r.outcome != ratchet.Denied {
		s.dir = "" // the next command may start elsewhere, and the record does not say where
	}
	if r.outcome != ratchet.Allowed {
		if r.outcome == ratchet.Failed {
			s.sink.Miss(ratchet.Unresolved, "what a command that failed had done by then", c.place.Line)
		}
		return nil
	}
	if problem != "" {
		s.sink.Miss(ratchet.Unresolved, "a command line that cannot be taken apart", c.place.Line)
	}
	r.started = r.started || c.input.behind
	for i := range commands {
		if err := s.command(c, r, &commands[i]); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) command(c *call, r result, cmd *shell.Command) error {
	miss := func(what string) { s.sink.Miss(ratchet.Unresolved, what, c.place.Line) }
	missing := r.status == "126" || r.status == "127" // some command in it could not be run
	switch {
	case cmd.Runs == shell.Maybe, cmd.Runs == shell.OnSuccess && (r.status != "0" || r.started), missing:
		miss("a command that may not have run")
		return nil
	}
	dir := ""
	if cmd.Dir.Known {
		dir = c.dir
		if cmd.Dir.Path != "" {
			dir, _ = record.Absolute(c.dir, cmd.Dir.Path)
		}
	}
	for _, f := range cmd.Redirects {
		id, ok := "", false
		if !f.Path.Dynamic {
			id, ok = place(dir, f.Path.Text)
		}
		if !ok {
			miss("the path of a redirection")
			continue
		}
		for _, v := range []struct {
			is   bool
			verb ratchet.Verb
		}{{f.Read, ratchet.Read}, {f.Write, ratchet.Write}} {
			if v.is {
				if err := s.sink.Put(c.place.Line, c.done("file", id, v.verb, result{outcome: ratchet.Allowed})); err != nil {
					return err
				}
			}
		}
	}
	switch cmd.Kind {
	case shell.Unclear:
		miss("a program that only the shell knows")
	case shell.Program:
		id := cmd.Program()
		if strings.Contains(id, "/") {
			var ok bool
			if id, ok = place(dir, id); !ok {
				miss("the path of a program")
				return nil
			}
		}
		words := make([]string, len(cmd.Words))
		for i, w := range cmd.Words {
			words[i] = w.Text
		}
		return s.sink.Put(c.place.Line, c.done("exec", id, ratchet.Exec, result{outcome: ratchet.Allowed}, "command", record.Command(words), "name", path.Base(id), "via", cmd.Via))
	}
	return nil
}
