package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"umwelt/diag"
	"umwelt/sandbox/hooks"
	"umwelt/sandbox/runner"
)

// The events of hooks.
const (
	beforeCall  = "before-call"
	afterChange = "after-change"
	onFailure   = "on-failure"
	onTimeout   = "on-timeout"
)

// hookResult is what became of one hook, with its event.
type hookResult struct {
	Event string `json:"event"`
	hooks.Result
}

// events are those that follow a run.
func (r *runReport) events(changed bool) []string {
	var out []string
	if changed {
		out = append(out, afterChange)
	}
	switch {
	case r.result.TimedOut:
		out = append(out, onTimeout)
	case r.result.Exit != 0:
		out = append(out, onFailure)
	}
	return out
}

// runHooks runs the hooks of an event, and reports whether all of them went well. What
// they run may be what the actor wrote, so they run within the same bounds as it, unless
// the caller trusts it.
func (f *runFlags) runHooks(std *streams, t runner.Target, r *runReport, event string) bool {
	list := hooks.FromResolution(r.policy.Resolution, event)
	if len(list) == 0 || f.hooks == "off" {
		return true
	}
	var results []hooks.Result
	if f.hooks == "outside" {
		results = hooks.Run(context.Background(), r.confinement.Root, list, hooks.Options{})
	} else {
		for _, h := range list {
			results = append(results, insideHook(t, r, h))
		}
	}
	well := true
	for i, result := range results {
		r.hooks = append(r.hooks, hookResult{event, result})
		fmt.Fprintf(std.err, "umwelt: hook %s: %s\n", event, hookText(list[i], result))
		if !result.OK() {
			well = false
			for line := range strings.Lines(lastLines(result.Output)) {
				fmt.Fprintf(std.err, "umwelt:   %s\n", strings.TrimSuffix(line, "\n"))
			}
		}
	}
	return well
}

func hookText(h hooks.Hook, r hooks.Result) string {
	name := diag.Quote(h.Command)
	if h.Label != "" {
		name = diag.Escape(h.Label) + " (" + name + ")"
	}
	switch {
	case r.TimedOut:
		return name + " was ended: its time was over"
	case r.Error != "":
		return name + ": " + diag.Escape(r.Error)
	case r.Exit != 0:
		return fmt.Sprintf("%s ended with status %d", name, r.Exit)
	}
	return name + " went well"
}

// shownLines is how many lines of a failed hook's output are shown.
const shownLines = 20

func lastLines(text string) string {
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-shownLines):], "")
}

// insideHook runs a hook as a run of its own, with nothing on its standard input.
func insideHook(t runner.Target, r *runReport, h hooks.Hook) hooks.Result {
	out := hooks.Result{Label: h.Label, Command: h.Command, Exit: -1}
	bounds := *r.confinement
	if h.Timeout > 0 {
		limit := int64(h.Timeout)
		bounds.Limits.WallTime = &limit
	}
	read, write, err := os.Pipe()
	if err != nil {
		out.Error = err.Error()
		return out
	}
	tail := make(chan struct{})
	kept := &lastBytes{limit: hookTail}
	go func() {
		_, _ = kept.readFrom(read)
		close(tail)
	}()
	result, err := runner.Run(t, runner.Spec{Confinement: &bounds, Values: runner.Values(r.policy.Resolution), Environ: os.Environ(),
		Command: []string{"sh", "-c", h.Command}, Set: r.set, Stdout: write, Stderr: write, Stop: r.stop})
	write.Close()
	<-tail
	read.Close()
	out.Seconds = result.Duration.Round(time.Millisecond).Seconds()
	out.Output, out.Dropped = kept.text(), kept.dropped
	out.TimedOut = result.TimedOut
	switch {
	case err != nil:
		out.Error = err.Error()
	case result.Signal != 0:
		out.Signal = syscall.Signal(result.Signal).String()
	case !result.TimedOut:
		out.Exit = result.Exit
	}
	return out
}

// hookTail is how many bytes of a hook's output are kept.
const hookTail = 64 << 10

// lastBytes keeps the end of what it reads.
type lastBytes struct {
	limit   int
	kept    []byte
	dropped int64
}

func (l *lastBytes) readFrom(f *os.File) (int64, error) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := f.Read(buffer)
		l.kept = append(l.kept, buffer[:n]...)
		if over := len(l.kept) - l.limit; over > 0 {
			l.dropped += int64(over)
			l.kept = append(l.kept[:0], l.kept[over:]...)
		}
		if err != nil {
			return l.dropped, err
		}
	}
}

// text is what was kept, safe to print.
func (l *lastBytes) text() string {
	lines := strings.Split(strings.ToValidUTF8(string(l.kept), "\uFFFD"), "\n")
	for i, line := range lines {
		lines[i] = diag.Escape(line)
	}
	return strings.Join(lines, "\n")
}
