// Package jsonl reads the tool's own lines of observations: what umwelt observe and umwelt
// run --observe write, and what an outside source writes to its standard output.
package jsonl

import (
	"bytes"
	"io"
	"path"
	"strings"

	"umwelt/ratchet"
	"umwelt/ratchet/sources/internal/record"
	"umwelt/ratchet/sources/strace"
)

// Source is jsonl://.
var Source = ratchet.Source{
	Name:    "jsonl",
	Summary: "The tool's own lines of observations, one JSON object a line; - is the standard input",
	Example: "jsonl://events.jsonl",
	Read:    read,
}

func read(in ratchet.Input, emit func(ratchet.Observation) error) (ratchet.Tally, error) {
	f, err := record.Open(in.Name)
	if err != nil {
		return ratchet.Tally{}, err
	}
	defer f.Close()
	return From(f, in.Name, emit)
}

// From reads lines of observations. The place of one that does not tell its own is the
// line of the named file. A line that is no observation is counted and skipped, also one
// with a key that this version does not know: what the key takes away is not known. Blank
// lines are nothing.
func From(r io.Reader, name string, emit func(ratchet.Observation) error) (ratchet.Tally, error) {
	sink := record.Sink{File: name, Emit: emit}
	whole, err := ratchet.Lines(r, func(number int64, text []byte) error {
		if text != nil && len(bytes.TrimSpace(text)) == 0 {
			return nil
		}
		sink.Tally.Records++
		if text == nil {
			sink.Miss(ratchet.Broken, "a line of more than 16 MB", number)
			return nil
		}
		o, err := ratchet.Parse(text)
		if err == nil {
			err = placed(&o)
		}
		if err != nil {
			sink.Miss(ratchet.Broken, record.Clip(err.Error()), number)
			return nil
		}
		if o.At == (ratchet.Place{}) {
			o.At = ratchet.Place{File: name, Line: number}
		}
		// What recorded a run says so on the line of its command where it did not see all.
		if accesses := o.Attribute("accesses"); o.Verb == ratchet.Exec && accesses == "recorded" {
			sink.Tally.Shows = strace.Shows()
		} else if o.Verb == ratchet.Exec && accesses != "" {
			sink.Tally.Cut(record.Clip("what the command did is " + accesses + ": " + o.Attribute("why")))
		}
		sink.Tally.Observations++
		return emit(o)
	})
	if err == nil && !whole {
		sink.Tally.Cut("the last line has no end")
	}
	return sink.Tally, err
}

type unplaced string

func (u unplaced) Error() string { return string(u) }

// placed reports a path that could be read as another one: with "." or ".." in it or a
// doubled slash.
func placed(o *ratchet.Observation) error {
	if o.Type != "file" && o.Type != "dir" {
		return nil
	}
	if path.Clean(o.ID) != strings.TrimSuffix(o.ID, "/") && o.ID != "/" {
		return unplaced(`id: a path with ".", ".." or a doubled slash in it`)
	}
	if o.ID == ".." || strings.HasPrefix(o.ID, "../") {
		return unplaced("id: a path that leads out of the project")
	}
	o.ID = path.Clean(o.ID)
	return nil
}
