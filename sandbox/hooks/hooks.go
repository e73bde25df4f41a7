// Package hooks runs the commands that a policy wants run around an actor's work.
//
// A hook is a command of the policy's author, run by a shell in the project's root as
// whoever calls Run. It often runs what the actor wrote (a test suite, a build): whoever
// must not let that out calls Run inside a sandbox.
package hooks

import (
	"context"
	"slices"
	"time"

	"umwelt/cascade"
	"umwelt/world"
)

// Hook is one command.
type Hook struct {
	Label   string        // the name that the view gives it; "" for none
	Command string        // for sh -c
	Timeout time.Duration // 0 for no limit
}

// Options steer Run. The zero value has the process's environment and the defaults.
type Options struct {
	Env   []string      // the environment as NAME=value; nil for this process's own
	Grace time.Duration // between SIGTERM and SIGKILL; 0 for 2 s
	Tail  int           // how many bytes of output are kept; 0 for 64 KiB
}

const (
	defaultGrace = 2 * time.Second
	defaultTail  = 64 << 10
)

// Result is what became of one hook.
type Result struct {
	Label    string  `json:"label,omitempty"`
	Command  string  `json:"command"`
	Exit     int     `json:"exit"`             // -1 where it did not exit by itself
	Signal   string  `json:"signal,omitempty"` // that ended it
	Seconds  float64 `json:"seconds"`
	TimedOut bool    `json:"timed-out,omitempty"`
	// Output is the last of standard output and error together, in the order of arrival
	// and safe to print: lines end in a newline, anything else that could steer a
	// terminal is escaped.
	Output  string `json:"output"`
	Dropped int64  `json:"dropped,omitempty"` // bytes of output before Output
	Error   string `json:"error,omitempty"`   // why it could not be run, or not followed to its end
}

// OK reports whether the hook ran and succeeded.
func (r Result) OK() bool { return r.Exit == 0 && !r.TimedOut && r.Error == "" }

// Run runs the hooks in order, every one of them whatever became of those before it, with
// root as working directory. Where ctx ends, the running hook is stopped and the others
// are not run, which their results say.
//
// A hook is over when its shell is. What it leaves running is then killed.
func Run(ctx context.Context, root string, hooks []Hook, o Options) []Result {
	if o.Grace == 0 {
		o.Grace = defaultGrace
	}
	if o.Tail <= 0 {
		o.Tail = defaultTail
	}
	out := make([]Result, 0, len(hooks))
	for _, h := range hooks {
		r := Result{Label: h.Label, Command: h.Command, Exit: -1}
		if ctx.Err() != nil {
			r.Error = "it was not run, because the run was stopped"
		} else {
			o.run(ctx, root, h, &r)
		}
		out = append(out, r)
	}
	return out
}

// FromResolution is the hooks of an event in document order. A hook entity without
// commands has none.
func FromResolution(res *cascade.Resolution, event string) []Hook {
	type line struct {
		Hook
		order int
	}
	var lines []line
	w := res.World()
	for i := range w.Entities {
		e := &w.Entities[i]
		if e.Type.Name != "hook" || !isEvent(e, event) {
			continue
		}
		run, timeout := e.Type.Property("run"), e.Type.Property("timeout")
		if run == nil {
			continue
		}
		limit := time.Duration(0)
		if timeout != nil {
			if v := res.Get(i, timeout).Value; v != nil {
				// No time at all is not the same as no limit.
				limit = max(1, time.Duration(min(v.Num, 1<<62)))
			}
		}
		v := res.Get(i, run)
		if v.Value != nil && (v.Origin == cascade.Fixed || v.Origin == cascade.Derived) {
			lines = append(lines, line{Hook{Command: v.Value.Text, Timeout: limit}, -1})
			continue
		}
		for _, c := range v.From {
			lines = append(lines, line{Hook{c.Declaration.Label, c.Value.Text, limit}, c.Declaration.Order})
		}
	}
	// Two entities of one event (of different phases) may be told of by rules in between
	// each other; one rule may tell both, which then each run it.
	slices.SortStableFunc(lines, func(a, b line) int { return a.order - b.order })
	out := make([]Hook, 0, len(lines))
	for _, l := range lines {
		out = append(out, l.Hook)
	}
	return out
}

func isEvent(e *world.Entity, event string) bool {
	at, ok := e.Attr("event")
	return ok && at == event
}
