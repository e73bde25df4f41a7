// Package blq reads what blq, the Build Log Query, exports of its runs as JSON: the command,
// what it used up, and the files and endpoints that blq sandbox profile saw.
package blq

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"

	"umwelt/diag"
	"umwelt/ratchet"
	"umwelt/ratchet/shell"
	"umwelt/ratchet/sources/internal/record"
)

// Source is blq://.
var Source = ratchet.Source{
	Name:    "blq",
	Summary: "Runs that blq exports as JSON, by the file or by the run's name",
	Example: "blq://run-1234",
	Read:    read,
}

// run is how blq names runs: by number, also with the command's name before it.
var run = regexp.MustCompile(`^(?:run-|[A-Za-z0-9_.-]+:)?[0-9]+$`)

func read(in ratchet.Input, emit func(ratchet.Observation) error) (ratchet.Tally, error) {
	name, err := find(in.Name)
	if err != nil {
		return ratchet.Tally{}, err
	}
	f, err := record.Open(name)
	if err != nil {
		return ratchet.Tally{}, err
	}
	defer f.Close()
	start, err := peek(f)
	if err != nil {
		return ratchet.Tally{}, err
	}
	if err := database(name, start); err != nil {
		return ratchet.Tally{}, err
	}
	sink := &record.Sink{File: name, Emit: emit}
	err = record.Walk(io.MultiReader(bytes.NewReader(start), f), sink, []string{"runs", "invocations", "attempts", "history"}, func(line int64, o record.Object, inner bool) error {
		return object(in, sink, line, o, inner)
	})
	return sink.Tally, err
}

// find is the file that a name means: a path, or the export of a run in the working
// directory, named as the run is.
func find(name string) (string, error) {
	_, err := os.Stat(name)
	if err == nil || name == "-" || !errors.Is(err, os.ErrNotExist) || !run.MatchString(name) {
		return name, nil
	}
	for _, suffix := range []string{".json", ".jsonl"} {
		if _, err := os.Stat(name + suffix); err == nil {
			return name + suffix, nil
		}
	}
	number := name[strings.LastIndexAny(name, "-:")+1:]
	return "", fmt.Errorf("%s is no file, and there is no export %s.json of that run; write one with:\n  %s", diag.Quote(name), diag.Escape(name), export(".bird/blq.duckdb", " WHERE run_serial = "+number, name+".json"))
}

// export is the command that writes runs as lines of JSON. The paths are those of the
// argument, quoted for the shell and for SQL.
func export(db, where, to string) string {
	sql := "COPY (SELECT * FROM blq_load_runs()" + where + ") TO '" + strings.ReplaceAll(to, "'", "''") + "' (FORMAT json)"
	return "duckdb -readonly " + quote(db) + " " + quote(sql)
}

func quote(s string) string {
	return "'" + strings.ReplaceAll(diag.Escape(s), "'", `'\''`) + "'"
}

func peek(r io.Reader) ([]byte, error) {
	start := make([]byte, 16)
	n, err := io.ReadFull(r, start)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return start[:n], err
}

// database refuses files of databases by their first bytes, and says what to do.
func database(name string, start []byte) error {
	switch {
	case len(start) >= 12 && string(start[8:12]) == "DUCK":
		return fmt.Errorf("%s is a DuckDB database, which is not read; write its runs as JSON with:\n  %s\nand name runs.json", diag.Quote(name), export(name, "", "runs.json"))
	case bytes.HasPrefix(start, []byte("SQLite format 3\x00")):
		return fmt.Errorf("%s is an SQLite database, which is not read; write its runs as JSON, one object a run", diag.Quote(name))
	case bytes.HasPrefix(start, []byte("PAR1")):
		return fmt.Errorf("%s is a Parquet file, which is not read; write it as JSON with:\n  duckdb %s", diag.Quote(name),
			quote("COPY (SELECT * FROM '"+strings.ReplaceAll(name, "'", "''")+"') TO 'runs.json' (FORMAT json)"))
	}
	return nil
}

// object is a run, a profile, or what holds them.
func object(in ratchet.Input, sink *record.Sink, line int64, o record.Object, inner bool) error {
	known := inner
	if command := o.Text("cmd", "command"); command != "" {
		known = true
		if err := ran(sink, line, o, command); err != nil {
			return err
		}
	}
	for _, profile := range []record.Object{o, nested(o, "profile"), nested(o, "extension_data", "profile"), nested(o, "extension_data", "sandbox_profile")} {
		if profile.Has("files_read", "files_written", "network_connections", "executables") {
			known = true
			if err := profiled(in, sink, line, o, profile); err != nil {
				return err
			}
		}
	}
	if o.Has("severity", "fingerprint", "ref_file", "attempt_id", "content_hash") {
		known = true // a diagnostic, an outcome alone or an output, which name nothing that was used
	}
	if !known {
		sink.Miss(ratchet.Unknown, "an object that is no run", line)
	}
	return nil
}

func nested(o record.Object, names ...string) record.Object {
	for _, n := range names {
		o, _ = o.Object(n)
	}
	return o
}

// ran gives the command of a run and what it used up. blq hands commands to a shell; where
// the text is more than one program and its words, the shell was run, and the programs that
// it surely ran.
func ran(sink *record.Sink, line int64, o record.Object, command string) error {
	commands, problem := shell.Split(command)
	words := []string{"sh", "-c", command}
	if plain, ok := static(commands); ok && problem == "" {
		words, commands = plain, nil
	}
	if problem != "" {
		sink.Miss(ratchet.Unresolved, "a command line that cannot be taken apart", line)
	}
	x := ratchet.Observation{Time: o.Time("timestamp", "started_at"), Taxon: "world", Type: "exec", ID: words[0], Verb: ratchet.Exec, Outcome: ratchet.Allowed}
	exit, ended := o.Int("exit_code")
	switch {
	case exit == 126 || exit == 127:
		x.Outcome, x.Reason = ratchet.Failed, "it could not be run"
	case !ended && o.Has("exit_code") || !ended && !o.Has("completed_at", "duration_ms", "duration_sec", "status"):
		sink.Miss(ratchet.Truncated, "a run that has not ended", line)
		sink.Tally.Cut("a run has not ended")
	}
	status := ""
	if ended {
		status = strconv.FormatInt(exit, 10)
	}
	source := o.Text("source_name")
	x.Attributes = ratchet.Attributes("command", record.Command(words), "status", status, "run", source)
	if err := sink.Put(line, x); err != nil {
		return err
	}
	for i := range commands {
		c := &commands[i]
		if c.Kind == shell.Builtin || c.Kind == shell.Function || c.Kind == shell.Nothing {
			continue // the shell itself does it
		}
		sure := c.Runs == shell.Always || c.Runs == shell.OnSuccess && ended && exit == 0
		if c.Program() == "" || !sure || exit == 126 || exit == 127 {
			sink.Miss(ratchet.Unresolved, "a command that may not have run", line)
			continue
		}
		inner := x
		inner.ID, inner.Outcome, inner.Reason = c.Program(), ratchet.Allowed, ""
		text := ""
		if words, ok := static(commands[i : i+1]); ok {
			text = record.Command(words)
		}
		inner.Attributes = ratchet.Attributes("command", text, "run", source)
		if err := sink.Put(line, inner); err != nil {
			return err
		}
	}
	metrics := nested(o, "extension_data", "metrics")
	if metrics == nil {
		metrics = nested(o, "metrics")
	}
	milliseconds, ok := o.Int("duration_ms")
	if !ok {
		milliseconds, ok = seconds(o["duration_sec"])
	}
	for _, m := range []struct {
		name, unit string
		value      int64
		ok         bool
	}{
		{"wall-time", "ms", milliseconds, ok},
		measure("memory", "bytes", metrics, "memory_peak_bytes", 1),
		measure("cpu-time", "ms", metrics, "cpu_usage_usec", 1000),
	} {
		if !m.ok || m.value < 0 {
			continue
		}
		err := sink.Put(line, ratchet.Observation{Time: x.Time, Taxon: "world", Type: "resource", ID: m.name, Verb: ratchet.Measure, Outcome: ratchet.Allowed,
			Attributes: ratchet.Attributes("value", strconv.FormatInt(m.value, 10), "unit", m.unit)})
		if err != nil {
			return err
		}
	}
	return nil
}

// static are the words of a single program that the text tells in full, and that is all
// that the shell does.
func static(commands []shell.Command) ([]string, bool) {
	if len(commands) != 1 || commands[0].Kind != shell.Program || len(commands[0].Redirects) > 0 {
		return nil, false
	}
	var words []string
	for _, w := range commands[0].Words {
		if w.Dynamic {
			return nil, false
		}
		words = append(words, w.Text)
	}
	return words, len(commands[0].Assigns) == 0
}

// measure is a number of the metrics, divided and rounded up.
func measure(name, unit string, metrics record.Object, key string, by int64) (m struct {
	name, unit string
	value      int64
	ok         bool
}) {
	n, ok := metrics.Int(key)
	m.name, m.unit, m.value, m.ok = name, unit, n/by, ok
	if n%by > 0 {
		m.value++
	}
	return m
}

// seconds is a number of seconds as whole milliseconds, rounded up.
func seconds(raw json.RawMessage) (int64, bool) {
	s, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || s < 0 || s > 1e9 {
		return 0, false
	}
	ms := int64(s * 1000)
	if float64(ms) < s*1000 {
		ms++
	}
	return ms, true
}

// profiled gives what blq sandbox profile saw: it lists only what succeeded.
func profiled(in ratchet.Input, sink *record.Sink, line int64, o, profile record.Object) error {
	dir := o.Text("cwd")
	if dir == "" {
		dir = in.Dir
	}
	at := o.Time("timestamp", "started_at")
	for _, list := range []struct {
		key, typ string
		verb     ratchet.Verb
	}{
		{"files_read", "file", ratchet.Read},
		{"files_written", "file", ratchet.Write},
		{"executables", "exec", ratchet.Exec},
	} {
		raws, ok := profile.List(list.key)
		if !ok && profile.Has(list.key) {
			sink.Miss(ratchet.Broken, list.key, line)
		}
		for _, raw := range raws {
			id, ok := record.Absolute(dir, record.Object{"v": raw}.Text("v"))
			if !ok {
				sink.Miss(ratchet.Unresolved, list.key+": a path relative to an unknown directory", line)
				continue
			}
			if err := sink.Put(line, ratchet.Observation{Time: at, Taxon: "world", Type: list.typ, ID: id, Verb: list.verb, Outcome: ratchet.Allowed}); err != nil {
				return err
			}
		}
	}
	raws, ok := profile.List("network_connections")
	if !ok && profile.Has("network_connections") {
		sink.Miss(ratchet.Broken, "network_connections", line)
	}
	for _, raw := range raws {
		c, _ := record.ParseObject(raw)
		port, _ := c.Int("port")
		id, ok := record.Endpoint(c.Text("address"), port)
		if !ok {
			sink.Miss(ratchet.Unresolved, "a connection without an address or a port", line)
			continue
		}
		err := sink.Put(line, ratchet.Observation{Time: at, Taxon: "world", Type: "network", ID: id, Verb: ratchet.Connect, Outcome: ratchet.Allowed,
			Attributes: ratchet.Attributes("host", strings.ToLower(c.Text("address")), "port", strconv.FormatInt(port, 10), "address", strings.ToLower(c.Text("address")))})
		if err != nil {
			return err
		}
	}
	return nil
}
