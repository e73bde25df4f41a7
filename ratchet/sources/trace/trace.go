// Package trace reads traces of runs of simulated societies: Townlet's and Biomata's. What
// they tell is named in terms of the vocabulary of the taxon simulation.
package trace

import (
	"slices"
	"strconv"
	"strings"

	"umwelt/ratchet"
	"umwelt/ratchet/sources/internal/record"
)

// Town is town://.
var Town = ratchet.Source{
	Name:    "town",
	Summary: "A trace of a run of a town: powers, boards, locks, actions used and denied",
	Example: "town://telemetry.jsonl",
	Read:    reader([]string{"events", "changes"}, town),
}

// Biomata is biomata://.
var Biomata = ratchet.Source{
	Name:    "biomata",
	Summary: "A trace of a run of Biomata, as its replay recorder writes it",
	Example: "biomata://run1.jsonl",
	Read:    reader([]string{"events"}, biomata),
}

// reader reads a trace of objects.
func reader(containers []string, each func(*record.Sink, int64, record.Object, bool) error) ratchet.Reader {
	return func(in ratchet.Input, emit func(ratchet.Observation) error) (ratchet.Tally, error) {
		f, err := record.Open(in.Name)
		if err != nil {
			return ratchet.Tally{}, err
		}
		defer f.Close()
		sink := &record.Sink{File: in.Name, Emit: emit}
		err = record.Walk(f, sink, containers, func(line int64, o record.Object, inner bool) error {
			return each(sink, line, o, inner)
		})
		return sink.Tally, err
	}
}

// rule is what an event means: which member names the entity, of which type it is, what
// was done to it, and what came of it where the event does not say.
type rule struct {
	names   []string
	typ     string
	verb    ratchet.Verb
	outcome ratchet.Outcome // "" where a member has to say it
}

var (
	actions     = []string{"action", "power", "action_id"}
	affordances = []string{"affordance_id", "affordance", "object_id", "lock"}
	boards      = []string{"board", "board_id", "variable"}
	locks       = []string{"lock", "lock_id", "object_id", "affordance_id"}
	variables   = []string{"variable", "var"}
)

// townRules are the events of a town. A power is an action, a board a variable that many
// may write, a lock an affordance that one at a time may use.
var townRules = map[string]rule{
	"action":            {actions, "action", ratchet.Call, ""},
	"action_used":       {actions, "action", ratchet.Call, ratchet.Allowed},
	"action_denied":     {actions, "action", ratchet.Call, ratchet.Denied},
	"action_failed":     {actions, "action", ratchet.Call, ratchet.Failed},
	"power":             {actions, "action", ratchet.Call, ""},
	"power_used":        {actions, "action", ratchet.Call, ratchet.Allowed},
	"power_denied":      {actions, "action", ratchet.Call, ratchet.Denied},
	"affordance_start":  {affordances, "affordance", ratchet.Call, ratchet.Allowed},
	"affordance_finish": {affordances, "affordance", ratchet.Call, ratchet.Allowed},
	"affordance_fail":   {affordances, "affordance", ratchet.Call, ratchet.Failed},
	"affordance_denied": {affordances, "affordance", ratchet.Call, ratchet.Denied},
	"lock":              {locks, "affordance", ratchet.Call, ""},
	"lock_acquired":     {locks, "affordance", ratchet.Call, ratchet.Allowed},
	"lock_released":     {locks, "affordance", ratchet.Call, ratchet.Allowed},
	"lock_busy":         {locks, "affordance", ratchet.Call, ratchet.Failed},
	"lock_denied":       {locks, "affordance", ratchet.Call, ratchet.Denied},
	"board_read":        {boards, "variable", ratchet.Read, ""},
	"board_post":        {boards, "variable", ratchet.Write, ""},
	"board_denied":      {boards, "variable", "", ratchet.Denied}, // operation says which
	"variable_read":     {variables, "variable", ratchet.Read, ""},
	"variable_write":    {variables, "variable", ratchet.Write, ""},
	"variable_denied":   {variables, "variable", "", ratchet.Denied},
}

// townQuiet are events that tell what happened to an agent and not what it did.
var townQuiet = []string{"queue_conflict", "queue_interaction", "rivalry", "relationship", "narration", "shower_power_outage", "price_spike", "agent_exit", "agent_spawn", "tick"}

func town(sink *record.Sink, line int64, o record.Object, inner bool) error {
	if policies, ok := o.Object("policy_snapshot"); ok {
		// What a policy chose may have been refused; only an event says what was done.
		for range policies {
			sink.Miss(ratchet.Unresolved, "a chosen action without an outcome", line)
		}
	}
	kind := o.Text("event", "event_type", "type")
	r, ok := townRules[kind]
	switch {
	case ok:
		return apply(sink, line, o, kind, r)
	case slices.Contains(townQuiet, kind), kind == "" && (inner || o.Has("schema_version", "tick", "policy_snapshot", "queue_metrics", "conflict", "stability", "kpi_history")):
		return nil
	case kind == "":
		sink.Miss(ratchet.Unknown, "an object that is no event", line)
	default:
		sink.Miss(ratchet.Unknown, "event "+kind, line)
	}
	return nil
}

// biomataRules are the events that the replay recorder writes. What a town tells of its
// boards and locks a world of Biomata may tell, too.
var biomataRules = map[string]rule{
	"action_completed": {actions, "action", ratchet.Call, ratchet.Allowed},
	"action_failed":    {actions, "action", ratchet.Call, ratchet.Failed},
	"action_denied":    {actions, "action", ratchet.Call, ratchet.Denied},
	"action_gated":     {actions, "action", ratchet.Call, ratchet.Denied},
	"power_used":       townRules["power_used"],
	"power_denied":     townRules["power_denied"],
	"board_read":       townRules["board_read"],
	"board_post":       townRules["board_post"],
	"board_denied":     townRules["board_denied"],
	"lock_acquired":    townRules["lock_acquired"],
	"lock_released":    townRules["lock_released"],
	"lock_busy":        townRules["lock_busy"],
	"lock_denied":      townRules["lock_denied"],
}

// biomataQuiet are the bounds of ticks, and what an agent thought.
var biomataQuiet = []string{"tick_start", "tick_end", "brain_decided"}

func biomata(sink *record.Sink, line int64, o record.Object, inner bool) error {
	kind := o.Text("type", "event_type", "event")
	r, ok := biomataRules[kind]
	switch {
	case ok:
		if data, found := o.Object("data"); found { // as the service streams it
			for k, v := range data {
				if _, twice := o[k]; !twice {
					o[k] = v
				}
			}
		}
		return apply(sink, line, o, kind, r)
	case slices.Contains(biomataQuiet, kind), kind == "" && inner:
		return nil
	case kind == "":
		sink.Miss(ratchet.Unknown, "an object that is no event", line)
	default:
		sink.Miss(ratchet.Unknown, "event "+kind, line)
	}
	return nil
}

func apply(sink *record.Sink, line int64, o record.Object, kind string, r rule) error {
	id := o.Text(r.names...)
	if id == "" {
		sink.Miss(ratchet.Unresolved, kind+" without a name", line)
		return nil
	}
	verb := r.verb
	if verb == "" {
		switch o.Text("operation", "op") {
		case "read":
			verb = ratchet.Read
		case "write", "post":
			verb = ratchet.Write
		default:
			sink.Miss(ratchet.Unresolved, kind+" without an operation", line)
			return nil
		}
	}
	outcome := said(o)
	switch {
	case r.outcome == "" && outcome == "":
		sink.Miss(ratchet.Unresolved, kind+" without an outcome", line)
		return nil
	case r.outcome != "" && outcome != "" && outcome != r.outcome:
		if r.outcome == ratchet.Allowed || outcome == ratchet.Allowed {
			sink.Miss(ratchet.Broken, kind+" that says two outcomes", line)
			return nil
		}
		outcome = ratchet.Denied // it failed because it was denied
	case outcome == "":
		outcome = r.outcome
	}
	role := o.Text("role")
	if role != "engine" {
		role = "agent"
	}
	return sink.Put(line, observation(r.typ, id, verb, outcome, o, role))
}

// said is the outcome that an event tells, "" where it tells none.
func said(o record.Object) ratchet.Outcome {
	if b, ok := o.Bool("denied"); ok && b {
		return ratchet.Denied
	}
	if b, ok := o.Bool("allowed"); ok {
		if b {
			return ratchet.Allowed
		}
		return ratchet.Denied
	}
	if b, ok := o.Bool("success"); ok {
		if b {
			return ratchet.Allowed
		}
		return ratchet.Failed
	}
	switch strings.ToLower(o.Text("outcome", "result", "status")) {
	case "allowed", "ok", "success", "completed", "granted":
		return ratchet.Allowed
	case "denied", "refused", "forbidden", "gated":
		return ratchet.Denied
	case "failed", "failure", "error", "busy":
		return ratchet.Failed
	}
	return ""
}

func observation(typ, id string, verb ratchet.Verb, outcome ratchet.Outcome, o record.Object, role string) ratchet.Observation {
	x := ratchet.Observation{Taxon: "simulation", Type: typ, ID: id, Verb: verb, Outcome: outcome,
		Context:    ratchet.Attributes("role", role),
		Attributes: ratchet.Attributes("agent", o.Text("agent_id", "agent", "actor"), "target", o.Text("target"), "tick", tick(o))}
	if outcome != ratchet.Allowed {
		x.Reason = record.Clip(o.Text("reason", "error"))
	}
	return x
}

func tick(o record.Object) string {
	if n, ok := o.Int("tick"); ok {
		return strconv.FormatInt(n, 10)
	}
	return ""
}
