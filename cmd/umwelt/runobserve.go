package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"umwelt/ratchet"
	"umwelt/ratchet/record"
	"umwelt/sandbox/runner"
	"umwelt/sandbox/workspace"
)

// observed is what --observe collects of a run.
type observed struct {
	*recording
	strace string
	traced *record.Recording // nil where accesses are not recorded
	stand  runner.Stand
	root   string       // the project's, outside
	proxy  bytes.Buffer // what the proxy decided, as lines
}

// observe begins to collect what --observe asks for.
func (f *runFlags) observe(t runner.Target, r *runReport) error {
	context, err := parseContext(f.context)
	if err != nil {
		return err
	}
	o := &observed{root: r.confinement.Root}
	if o.recording, err = newRecording(f.observeTo, context); err != nil {
		return err
	}
	o.place = o.outside
	o.missing = "nothing records them under " + t.Info.Name
	if o.strace, err = record.Find(o.root); err != nil {
		o.missing = err.Error()
	}
	r.observed = o
	return nil
}

// watch lets strace record a sandbox whose command is about to begin. Without strace the
// command runs all the same, and the observations say what they lack.
func (o *observed) watch(stand runner.Stand) (<-chan struct{}, error) {
	if o.strace == "" {
		return nil, nil
	}
	if o.traced != nil {
		// The sandbox of the first try is gone, and nothing of a command was in it.
		_, _ = o.traced.Wait()
		o.traced = nil
	}
	o.stand = stand
	traced, err := record.Attach(o.strace, record.Subject{PID: stand.Leader, Becomes: stand.Becomes, Stages: stand.Stages},
		record.Options{Dir: stand.Root, Emit: o.add})
	if err != nil {
		o.missing = err.Error()
		return nil, nil
	}
	o.traced, o.missing = traced, ""
	return traced.Lost(), nil
}

// outside gives an observation the names that its object has outside: what the sandbox
// shows as the project is the project.
func (o *observed) outside(ob *ratchet.Observation) bool {
	switch ob.Type {
	case "file", "dir", "exec":
		ob.ID = o.name(ob.ID)
		for i := range ob.Attributes {
			if a := &ob.Attributes[i]; a.Name == "from" || a.Name == "to" {
				a.Value = o.name(a.Value)
			}
		}
	case "network":
		// What goes through the proxy, the proxy tells better.
		return o.stand.Proxy == "" || ob.ID != o.stand.Proxy
	}
	return true
}

func (o *observed) name(path string) string {
	if path == o.stand.Root {
		return o.root
	}
	if rest, ok := strings.CutPrefix(path, strings.TrimSuffix(o.stand.Root, "/")+"/"); ok && rest != "" {
		return rest
	}
	return path
}

// finishObserve writes the observations of a run: the command, what it did, what the proxy
// decided, what came of the workspace, and what was measured.
func (r *runReport) finishObserve(std *streams, to string) error {
	o := r.observed
	if o.traced != nil {
		var err error
		if o.tally, err = o.traced.Wait(); err != nil {
			o.tally.Cut(err.Error())
		}
		if !o.traced.Began() && r.result.Exit != runner.ExitCannot && r.result.Exit != runner.ExitNotFound {
			o.tally.Cut("the beginning of the command was not seen")
		}
	}
	o.say(std)
	failed := r.result.Exit == runner.ExitCannot || r.result.Exit == runner.ExitNotFound
	head := []ratchet.Observation{o.command(r.command, r.result.Started, r.result.Exit, failed && o.program == nil)}
	var tail []ratchet.Observation
	for line := range bytes.Lines(o.proxy.Bytes()) {
		ob, err := ratchet.Parse(line)
		if err != nil {
			return fmt.Errorf("the proxy's own line: %w", err)
		}
		tail = append(tail, ob)
	}
	end := r.result.Started.Add(r.result.Duration)
	var correct func(*ratchet.Observation)
	if r.applied != nil {
		refused := map[string]ratchet.Observation{}
		for _, c := range r.applied.Changes {
			if ob, ok := changeLine(c); ok {
				ob.Time = end
				tail = append(tail, ob)
				if ob.Outcome != ratchet.Allowed {
					refused[ob.ID] = ob
				}
			}
		}
		if len(refused) > 0 {
			correct = func(ob *ratchet.Observation) { correctChange(ob, refused) }
		}
	}
	u := r.result.Usage
	tail = append(tail, measures(end, r.result.Duration, u.User+u.System, u.MaxRSS)...)
	return std.writeBy(to, false, func(w io.Writer) error { return o.write(w, head, tail, correct) })
}

// changeLine is what came of a file of the workspace.
func changeLine(c workspace.Change) (ratchet.Observation, bool) {
	o := ratchet.Observation{Taxon: "world", Type: "file", ID: string(c.Path), Verb: ratchet.Write, Outcome: ratchet.Allowed,
		Reason: c.Why, Attributes: ratchet.Attributes("kind", string(c.Kind))}
	switch c.Outcome {
	case workspace.NoOp:
		return o, false
	case workspace.Created:
		o.Verb = ratchet.Create
	case workspace.Deleted:
		o.Verb = ratchet.Delete
	case workspace.Rejected:
		o.Outcome = ratchet.Denied
	case workspace.Conflict:
		o.Outcome = ratchet.Failed
	}
	if c.Kind == workspace.KindDir {
		o.Type = "dir"
	}
	return o, true
}

// correctChange gives a change that was made in the workspace, and that the project did
// not take, the outcome that it had in the end.
func correctChange(o *ratchet.Observation, refused map[string]ratchet.Observation) {
	switch o.Verb {
	case ratchet.Write, ratchet.Create, ratchet.Delete, ratchet.Rename:
		if end, ok := refused[o.ID]; ok && o.Outcome == ratchet.Allowed && (o.Type == "file" || o.Type == "dir") {
			o.Outcome, o.Reason = end.Outcome, end.Reason
		}
	}
}

// forget lets go of what was collected.
func (r *runReport) forget() {
	if r.observed == nil {
		return
	}
	if r.observed.traced != nil {
		_, _ = r.observed.traced.Wait()
	}
	r.observed.close()
}
