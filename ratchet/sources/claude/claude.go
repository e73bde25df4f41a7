// Package claude reads session transcripts of Claude Code: the JSON lines that it keeps
// below ~/.claude/projects, those of its sub-agents, and what claude -p --output-format
// stream-json prints.
//
// Every tool call whose result is in the record is an observation; what a call did to files,
// programs and hosts is taken from what was asked, and never from what came back. What
// cannot be told is counted.
package claude

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"umwelt/diag"
	"umwelt/ratchet"
	"umwelt/ratchet/sources/internal/record"
)

// Source is claude://.
var Source = ratchet.Source{
	Name:    "claude",
	Summary: "Session transcripts of Claude Code: a file of JSON lines, a directory of them, or - for the standard input",
	Example: "claude://session.jsonl",
	Read:    read,
}

// mostFiles bounds the transcripts that are read of one directory.
const mostFiles = 100_000

func read(in ratchet.Input, emit func(ratchet.Observation) error) (ratchet.Tally, error) {
	s := newSession(in.Dir, emit)
	info, err := os.Stat(in.Name)
	switch {
	case in.Name == "-" || err != nil || !info.IsDir():
		if err := s.file(in.Name); err != nil {
			return s.sink.Tally, err
		}
	default:
		files, err := transcripts(in.Name)
		if err != nil {
			return s.sink.Tally, err
		}
		for _, name := range files {
			if err := s.file(name); err != nil {
				return s.sink.Tally, err
			}
		}
	}
	if s.sink.Tally.Records > 0 && s.entries == 0 {
		return s.sink.Tally, fmt.Errorf("%s is no transcript of Claude Code: none of its lines is an entry of one", diag.Quote(in.Name))
	}
	s.end()
	s.sink.Tally.Shows = []string{"tool"}
	return s.sink.Tally, nil
}

// From reads one transcript. The directory is that of Input.
func From(r io.Reader, name, dir string, emit func(ratchet.Observation) error) (ratchet.Tally, error) {
	s := newSession(dir, emit)
	if err := s.read(r, name); err != nil {
		return s.sink.Tally, err
	}
	s.end()
	s.sink.Tally.Shows = []string{"tool"}
	return s.sink.Tally, nil
}

// transcripts are the files below a directory that are named like one, in order. Links are
// not followed.
func transcripts(dir string) ([]string, error) {
	var out []string
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.Type().IsRegular() && strings.HasSuffix(name, ".jsonl") && d.Name() != "history.jsonl" && d.Name() != "journal.jsonl":
			if out = append(out, name); len(out) > mostFiles {
				return errors.New("it holds too many transcripts")
			}
		}
		return nil
	})
	if err == nil && out == nil {
		err = fmt.Errorf("%s holds no transcript: no file in it ends in .jsonl", diag.Quote(dir))
	}
	return out, err
}

func (s *session) file(name string) error {
	f, err := record.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return s.read(f, name)
}

// read takes the lines of one file in. The directory that a stream began in holds for that
// file only.
func (s *session) read(r io.Reader, name string) error {
	s.sink.File, s.dir = name, s.given
	whole, err := ratchet.Lines(r, func(number int64, text []byte) error {
		switch {
		case text == nil:
			s.sink.Tally.Records++
			s.sink.Miss(ratchet.Broken, "a line of more than 16 MB", number)
			s.sink.Tally.Cut("a line is too long, and with it what it says")
			return nil
		case len(bytes.TrimSpace(text)) == 0:
			return nil
		}
		s.sink.Tally.Records++
		entry, ok := record.ParseObject(text)
		if !ok {
			s.sink.Miss(ratchet.Broken, "a line that is no JSON object", number)
			return nil
		}
		return s.entry(number, entry)
	})
	if err == nil && !whole {
		s.sink.Tally.Cut("the last line has no end")
	}
	return err
}
