package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"umwelt/cascade"
	"umwelt/diag"
	"umwelt/ratchet"
)

// recording collects the observation lines of a run. They wait in a file without a name,
// since what stands first is known last; whoever ends this process leaves nothing behind.
type recording struct {
	context []ratchet.Attribute
	// place changes an observation to the names of the project, or drops it; nil for none.
	place func(*ratchet.Observation) bool
	log   string // the file that the raw log is kept in, if any

	file    *os.File
	lines   *bufio.Writer
	line    []byte
	program *ratchet.Observation // the command's own beginning, where it was seen
	tally   ratchet.Tally
	missing string // why accesses are not recorded
}

// newRecording begins one that will be written to a file.
func newRecording(to string, context []cascade.Ref) (*recording, error) {
	dir := filepath.Dir(to)
	if info, err := os.Stat(to); to == "-" || err == nil && !info.Mode().IsRegular() {
		dir = ""
	}
	f, err := os.CreateTemp(dir, ".umwelt-")
	if err == nil {
		err = os.Remove(f.Name())
	}
	if err != nil {
		return nil, problem(diag.Output, "", "%s cannot be written: %v", diag.Quote(to), cause(err))
	}
	r := &recording{file: f, lines: bufio.NewWriterSize(f, 1<<18)}
	for _, ref := range context {
		r.context = append(r.context, ratchet.Attribute{Name: ref.Type, Value: ref.ID})
	}
	return r, nil
}

// add takes what was observed of the command, in order.
func (r *recording) add(o ratchet.Observation) error {
	o.At.File = r.log
	if r.log == "" {
		o.At = ratchet.Place{}
	}
	if r.place != nil && !r.place(&o) {
		return nil
	}
	if r.program == nil && o.Verb == ratchet.Exec && o.Outcome == ratchet.Allowed {
		r.program = &o
		return nil
	}
	o.Context = r.context
	line, err := ratchet.Append(r.line[:0], &o)
	if err != nil {
		return err
	}
	r.line = line
	_, err = r.lines.Write(line)
	return err
}

// command is the line of the command itself.
func (r *recording) command(argv []string, started time.Time, exit int, failed bool) ratchet.Observation {
	words, _ := json.Marshal(utf8Texts(argv)) // texts never fail
	accesses, why, missed := "recorded", "", ""
	if r.tally.Partial {
		accesses, why = "partial", r.tally.Why
	}
	if r.missing != "" {
		accesses, why = "not recorded", r.missing
	}
	if n := r.tally.Missed(); n > 0 {
		missed = strconv.FormatInt(n, 10)
	}
	o := ratchet.Observation{Time: started, Taxon: "world", Type: "exec", ID: argv[0], Verb: ratchet.Exec, Outcome: ratchet.Allowed}
	process, command := "", string(words)
	if r.program != nil {
		o.ID, o.At, process = r.program.ID, r.program.At, r.program.Attribute("process")
		if seen := r.program.Attribute("command"); seen != "" {
			command = seen // in the form of every other command that was seen
		}
	}
	if failed {
		o.Outcome = ratchet.Failed
	}
	o.Attributes = ratchet.Attributes("command", command, "status", strconv.Itoa(exit), "process", process,
		"accesses", accesses, "why", why, "missed", missed)
	return o
}

// measure is a line of what was measured at the end.
func measure(at time.Time, name string, value int64, unit string) ratchet.Observation {
	return ratchet.Observation{Time: at, Taxon: "world", Type: "resource", ID: name, Verb: ratchet.Measure, Outcome: ratchet.Allowed,
		Attributes: ratchet.Attributes("value", strconv.FormatInt(value, 10), "unit", unit)}
}

// measures are what is known of a command's use of resources.
func measures(end time.Time, wall, cpu time.Duration, rss int64) []ratchet.Observation {
	out := []ratchet.Observation{measure(end, "wall-time", wall.Milliseconds(), "ms"), measure(end, "cpu-time", cpu.Milliseconds(), "ms")}
	if rss > 0 {
		m := measure(end, "memory", rss, "bytes")
		// A limit of address space counts what is reserved, too, which is far more.
		m.Attributes = append([]ratchet.Attribute{{Name: "of", Value: "resident"}}, m.Attributes...)
		out = append(out, m)
	}
	return out
}

// write writes all lines: first those of head, then what was recorded, then those of tail.
// correct changes what was recorded by what is known in the end; nil changes nothing.
func (r *recording) write(to io.Writer, head, tail []ratchet.Observation, correct func(*ratchet.Observation)) error {
	if err := r.lines.Flush(); err != nil {
		return err
	}
	if _, err := r.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	out := bufio.NewWriterSize(to, 1<<18)
	if err := r.appendTo(out, head); err != nil {
		return err
	}
	if correct == nil {
		if _, err := io.Copy(out, r.file); err != nil {
			return err
		}
	} else if _, err := ratchet.Lines(r.file, func(_ int64, text []byte) error {
		o, err := ratchet.Parse(text)
		if err != nil {
			return err
		}
		correct(&o)
		return r.appendTo(out, []ratchet.Observation{o})
	}); err != nil {
		return err
	}
	if err := r.appendTo(out, tail); err != nil {
		return err
	}
	return out.Flush()
}

func (r *recording) appendTo(out *bufio.Writer, list []ratchet.Observation) error {
	for _, o := range list {
		o.Context = r.context
		line, err := ratchet.Append(nil, &o)
		if err != nil {
			return err
		}
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// close forgets the lines.
func (r *recording) close() { r.file.Close() }

// say says what the recording does not hold.
func (r *recording) say(std *streams) {
	switch {
	case r.missing != "":
		fmt.Fprintf(std.err, "umwelt: what the command read, wrote and ran is not among the observations: %s\n", diag.Escape(r.missing))
	case r.tally.Partial:
		fmt.Fprintf(std.err, "umwelt: the observations are partial: %s\n", diag.Escape(r.tally.Why))
	}
	const few = 5
	var list []string
	for i, g := range r.tally.Gaps {
		if i == few {
			list = append(list, fmt.Sprintf("%d other reasons", len(r.tally.Gaps)-few))
			break
		}
		list = append(list, strings.TrimSpace(fmt.Sprintf("%s %s", g.Kind, g.What))+fmt.Sprintf(" (%d)", g.Count))
	}
	if len(list) > 0 {
		fmt.Fprintf(std.err, "umwelt: not every record could be read: %s\n", diag.Escape(strings.Join(list, ", ")))
	}
}
