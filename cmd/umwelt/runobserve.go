package main

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"

	"umwelt/sandbox/runner"
	"umwelt/sandbox/workspace"
)

// observationJSON is one line of observations, in the form that the proxy writes, too. No
// value of a variable stands in it.
type observationJSON struct {
	Time       string            `json:"time"` // RFC 3339, UTC
	Context    map[string]string `json:"context,omitempty"`
	Taxon      string            `json:"taxon"`
	Type       string            `json:"type"`
	ID         string            `json:"id"`
	Attributes map[string]string `json:"attributes"`
	Verb       string            `json:"verb"`
	Outcome    string            `json:"outcome"` // allowed, denied or failed
	Reason     string            `json:"reason,omitempty"`
}

// observations are the lines of a run: the command, what the proxy decided, what came of
// the workspace, and what was measured.
func (r *runReport) observations() ([]byte, error) {
	list := []observationJSON{r.commandLine()}
	for line := range bytes.Lines(r.observed.Bytes()) {
		var o observationJSON
		if err := json.Unmarshal(line, &o); err != nil {
			return nil, err
		}
		list = append(list, o)
	}
	if r.applied != nil {
		for _, c := range r.applied.Changes {
			if o, ok := r.changeLine(c); ok {
				list = append(list, o)
			}
		}
	}
	list = append(list, r.measureLines()...)
	var out bytes.Buffer
	context := r.contextMap()
	for _, o := range list {
		o.Context = context
		text, err := json.Marshal(o)
		if err != nil {
			return nil, err
		}
		out.Write(append(escapeJSON(text), '\n'))
	}
	return out.Bytes(), nil
}

func (r *runReport) contextMap() map[string]string {
	out := map[string]string{}
	refs, _ := parseContext(r.context) // the policy was loaded with it
	for _, ref := range refs {
		out[ref.Type] = utf8Text(ref.ID)
	}
	return out
}

// observation is a line about an entity of a type, at the run's end.
func (r *runReport) observation(typ, id, verb, outcome string, attributes map[string]string) observationJSON {
	o := observationJSON{Time: stampText(r.result.Started.Add(r.result.Duration)), Taxon: "world", Type: typ, ID: utf8Text(id),
		Attributes: attributes, Verb: verb, Outcome: outcome}
	if t := r.policy.Registry.Type(typ); t != nil {
		o.Taxon = t.Taxon.Name
	}
	return o
}

func stampText(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

func (r *runReport) commandLine() observationJSON {
	outcome := "allowed"
	if r.result.Exit == runner.ExitCannot || r.result.Exit == runner.ExitNotFound {
		outcome = "failed"
	}
	words, _ := json.Marshal(utf8Texts(r.command)) // texts never fail
	o := r.observation("exec", r.command[0], "exec", outcome, map[string]string{"command": string(words), "status": strconv.Itoa(r.result.Exit)})
	o.Time = stampText(r.result.Started)
	return o
}

func (r *runReport) changeLine(c workspace.Change) (observationJSON, bool) {
	verb, outcome := "write", "allowed"
	switch c.Outcome {
	case workspace.NoOp:
		return observationJSON{}, false
	case workspace.Created:
		verb = "create"
	case workspace.Deleted:
		verb = "delete"
	case workspace.Rejected:
		outcome = "denied"
	case workspace.Conflict:
		outcome = "failed"
	}
	typ := "file"
	if c.Kind == workspace.KindDir {
		typ = "dir"
	}
	o := r.observation(typ, string(c.Path), verb, outcome, map[string]string{"kind": string(c.Kind)})
	o.Reason = utf8Text(c.Why)
	return o, true
}

func (r *runReport) measureLines() []observationJSON {
	line := func(name string, value int64, unit string) observationJSON {
		return r.observation("resource", name, "measure", "allowed", map[string]string{"value": strconv.FormatInt(value, 10), "unit": unit})
	}
	u := r.result.Usage
	out := []observationJSON{line("wall-time", r.result.Duration.Milliseconds(), "ms"), line("cpu-time", (u.User + u.System).Milliseconds(), "ms")}
	if u.MaxRSS > 0 {
		out = append(out, line("memory", u.MaxRSS, "bytes"))
	}
	return out
}
