// Package detect reads events of tools as ratchet-detect and the tools beside it keep them:
// one object an event, with the tool's name, its input and whether it succeeded.
package detect

import (
	"errors"
	"slices"
	"strings"

	"umwelt/ratchet"
	"umwelt/ratchet/sources/internal/record"
)

// Source is ratchet-detect://.
var Source = ratchet.Source{
	Name:    "ratchet-detect",
	Summary: "Tool events that ratchet-detect exports, as JSON; - is the standard input",
	Example: "ratchet-detect://events.jsonl",
	Read:    read,
}

var errReport = errors.New("this is the report of ratchet-detect, which counts what was done and does not name it; read the transcripts it was made from with claude://FILE, or export the events")

func read(in ratchet.Input, emit func(ratchet.Observation) error) (ratchet.Tally, error) {
	f, err := record.Open(in.Name)
	if err != nil {
		return ratchet.Tally{}, err
	}
	defer f.Close()
	sink := &record.Sink{File: in.Name, Emit: emit}
	err = record.Walk(f, sink, []string{"events", "tool_calls"}, func(line int64, o record.Object, inner bool) error {
		if o.Has("repeated_bash", "tool_gaps", "channel_mix") {
			return errReport
		}
		if inner {
			return nil
		}
		return event(in, sink, line, o)
	})
	return sink.Tally, err
}

// files are the tools whose file_path names the file that they read or write.
var files = map[string]ratchet.Verb{
	"Read": ratchet.Read, "NotebookRead": ratchet.Read,
	"Write": ratchet.Write, "Edit": ratchet.Write, "MultiEdit": ratchet.Write, "NotebookEdit": ratchet.Write,
}

// quiet are events about the session and not about a tool.
var quiet = []string{"mode_change", "mode_switch", "session_start", "session_end", "suggestion", "coach", "observation"}

func event(in ratchet.Input, sink *record.Sink, line int64, o record.Object) error {
	kind := o.Text("event_type", "event")
	name := o.Text("tool_name", "tool")
	if name == "" {
		if !slices.Contains(quiet, kind) {
			sink.Miss(ratchet.Unknown, "an event without a tool", line)
		}
		return nil
	}
	t := ratchet.Observation{Time: o.Time("timestamp", "created_at", "time"), Taxon: "capability", Type: "tool", ID: name, Verb: ratchet.Call}
	if mode := o.Text("mode"); mode != "" {
		t.Context = ratchet.Attributes("mode", mode)
	}
	var ok bool
	if t.Outcome, t.Reason, ok = outcome(o, kind); !ok {
		sink.Miss(ratchet.Unresolved, "a call without its result", line)
		return nil
	}
	input, _ := o.Object("tool_input", "input")
	call, whole := record.Said(o.Text("bash_command", "command"))
	if call == "" && whole {
		arguments := o.Text("tool_input", "input")
		if arguments == "" {
			arguments = string(o["tool_input"]) + string(o["input"])
		}
		call, whole = record.Asked(arguments)
	}
	if !whole {
		sink.Miss(ratchet.Truncated, "the text of a call, which is too long", line)
	}
	file := o.Text("file_path")
	if file == "" {
		file = input.Text("file_path", "notebook_path")
	}
	if call == "" && whole {
		call = file
	}
	t.Attributes = ratchet.Attributes("call", call)
	if err := sink.Put(line, t); err != nil {
		return err
	}
	verb, reads := files[name]
	if !reads || file == "" {
		return nil
	}
	dir := o.Text("cwd")
	if dir == "" {
		dir = in.Dir
	}
	id, ok := record.Absolute(dir, file)
	if !ok {
		sink.Miss(ratchet.Unresolved, "a path relative to an unknown directory", line)
		return nil
	}
	t.Taxon, t.Type, t.ID, t.Verb, t.Attributes = "world", "file", id, verb, nil
	return sink.Put(line, t)
}

// outcome is what came of a call: success, is_error or a category of failure says it, or
// the kind of the event. That a hook or a permission stood in the way is a denial.
func outcome(o record.Object, kind string) (ratchet.Outcome, string, bool) {
	category := strings.ToLower(o.Text("category", "failure_category"))
	switch {
	case category == "permission_denied" || category == "hook_blocked":
		return ratchet.Denied, category, true
	case kind == "denied" || kind == "blocked" || kind == "tool_denied" || kind == "tool_blocked":
		return ratchet.Denied, kind, true
	}
	if b, ok := o.Bool("success"); ok {
		if b {
			return ratchet.Allowed, "", true
		}
		return ratchet.Failed, record.Clip(category), true
	}
	if b, ok := o.Bool("is_error"); ok {
		if !b {
			return ratchet.Allowed, "", true
		}
		return ratchet.Failed, record.Clip(category), true
	}
	return "", "", false
}
