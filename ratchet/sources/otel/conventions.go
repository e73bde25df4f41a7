package otel

import (
	"net/url"
	"strconv"
	"strings"

	"umwelt/ratchet"
	"umwelt/ratchet/sources/internal/record"
)

// The names of attributes, in the order in which they are believed. Each line is of one
// convention: GenAI and MCP, OpenInference, Traceloop, the AI SDK.
var (
	toolNames = []string{"gen_ai.tool.name", "tool.name", "traceloop.entity.name", "ai.toolCall.name"}
	toolCalls = []string{"gen_ai.tool.call.arguments", "input.value", "traceloop.entity.input", "ai.toolCall.args", "tool.parameters"}
)

// observe gives what a span tells. Several may hold: a tool can be a command.
func (s *span) observe(sink *record.Sink, line int64) error {
	if s.broken {
		sink.Miss(ratchet.Broken, "a span whose attributes are not of the form", line)
		return nil
	}
	if s.cut {
		sink.Miss(ratchet.Truncated, "a span that attributes were left out of", line)
	}
	known := false
	for _, part := range []func(*record.Sink, int64) (bool, error){s.tool, s.process, s.endpoint} {
		ok, err := part(sink, line)
		if err != nil {
			return err
		}
		known = known || ok
	}
	if !known && !s.silent() {
		sink.Miss(ratchet.Unknown, "a span of no known convention", line)
	}
	return nil
}

// silent reports a span that stands for the agent's own thinking, or for what called it.
func (s *span) silent() bool {
	return s.server || s.text("gen_ai.operation.name", "openinference.span.kind", "traceloop.span.kind", "ai.operationId", "mcp.method.name") != ""
}

// put hands one observation on, with what every observation of the span has.
func (s *span) put(sink *record.Sink, line int64, o ratchet.Observation, attributes ...string) error {
	o.Time = s.time
	attributes = append(attributes, "agent", record.Clip(s.text("gen_ai.agent.name", "agent.name")), "process", record.Clip(s.text("process.pid")))
	o.Attributes = ratchet.Attributes(attributes...)
	return sink.Put(line, o)
}

// outcome is what came of a span: that it failed is known, and never that it was refused.
func (s *span) outcome() (ratchet.Outcome, string) {
	if s.failed {
		return ratchet.Failed, s.reason
	}
	return ratchet.Allowed, ""
}

// isTool reports a span of a tool call.
func (s *span) isTool() bool {
	operation := s.text("gen_ai.operation.name")
	switch {
	case operation != "":
		return operation == "execute_tool"
	case s.text("mcp.method.name") != "":
		return s.text("mcp.method.name") == "tools/call"
	case s.text("openinference.span.kind") != "":
		return strings.EqualFold(s.text("openinference.span.kind"), "tool")
	case s.text("traceloop.span.kind") != "":
		return s.text("traceloop.span.kind") == "tool"
	}
	return s.text("gen_ai.tool.name", "ai.toolCall.name") != ""
}

func (s *span) tool(sink *record.Sink, line int64) (bool, error) {
	if !s.isTool() {
		if m := s.text("mcp.method.name"); m == "resources/read" || m == "prompts/get" {
			sink.Miss(ratchet.Unknown, "MCP "+m, line)
			return true, nil
		}
		return false, nil
	}
	name := s.text(toolNames...)
	if name == "" {
		sink.Miss(ratchet.Unresolved, "a tool without a name", line)
		return true, nil
	}
	o := ratchet.Observation{Taxon: "capability", Type: "tool", ID: name, Verb: ratchet.Call}
	o.Outcome, o.Reason = s.outcome()
	call, ok := record.Asked(s.text(toolCalls...))
	if !ok {
		sink.Miss(ratchet.Truncated, "the text of a call, which is too long", line)
	}
	return true, s.put(sink, line, o, "call", call)
}

// process is a span of a command that was run. The attributes of a resource tell the
// program that is watched, and are not looked at.
func (s *span) process(sink *record.Sink, line int64) (bool, error) {
	words := s.attributes["process.command_args"].list
	name := s.text("process.executable.path", "process.executable.name", "process.command")
	if name == "" && len(words) > 0 {
		name = words[0]
	}
	if name == "" {
		if s.text("process.command_line") == "" {
			return false, nil
		}
		sink.Miss(ratchet.Unresolved, "a command line without its words", line)
		return true, nil
	}
	o := ratchet.Observation{Taxon: "world", Type: "exec", ID: name, Verb: ratchet.Exec}
	code := s.text("process.exit.code", "process.exit_code")
	o.Outcome = ratchet.Allowed
	switch {
	case code == "126" || code == "127":
		o.Outcome, o.Reason = ratchet.Failed, "it could not be run"
	case code == "":
		o.Outcome, o.Reason = s.outcome()
	}
	command := ""
	if len(words) > 0 {
		command = record.Command(words)
	}
	return true, s.put(sink, line, o, "command", command, "status", record.Clip(code))
}

// endpoint is a span of a call to somebody else: of HTTP, of a database, of anything that
// tells the server's address.
func (s *span) endpoint(sink *record.Sink, line int64) (bool, error) {
	full := s.text("url.full", "http.url")
	host, port := s.text("server.address", "net.peer.name"), s.text("server.port", "net.peer.port")
	scheme := ""
	if !s.client && (full == "" || s.server) {
		return false, nil
	}
	if full != "" {
		u, err := url.Parse(full)
		if err != nil || u.Hostname() == "" {
			sink.Miss(ratchet.Unresolved, "an address that cannot be read", line)
			return true, nil
		}
		scheme = strings.ToLower(u.Scheme)
		host, port = u.Hostname(), u.Port()
		if port == "" {
			port = map[string]string{"http": "80", "ws": "80", "https": "443", "wss": "443"}[scheme]
		}
	}
	if host == "" {
		return false, nil
	}
	number, err := strconv.ParseInt(port, 10, 32)
	id, ok := record.Endpoint(host, number)
	if err != nil || !ok {
		sink.Miss(ratchet.Unresolved, "an endpoint without a host or a port", line)
		return true, nil
	}
	o := ratchet.Observation{Taxon: "world", Type: "network", ID: id, Verb: ratchet.Connect}
	o.Outcome, o.Reason = s.outcome()
	// An answer, be it an error, came over a connection.
	if s.text("http.response.status_code", "http.status_code") != "" {
		o.Outcome, o.Reason = ratchet.Allowed, ""
	}
	return true, s.put(sink, line, o, "host", strings.ToLower(host), "port", port, "protocol", scheme, "address", record.Clip(s.text("network.peer.address", "net.sock.peer.addr")))
}
