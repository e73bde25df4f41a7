// Package record holds what the readers of other tools' records share: opening them,
// walking JSON of any length, naming paths, and keeping secrets out.
package record

import (
	"fmt"
	"io"
	"net"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"

	"umwelt/diag"
	"umwelt/ratchet"
)

// Open opens a file of records; "-" is the standard input. The caller closes it.
func Open(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(os.Stdin), nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || info.IsDir() {
		f.Close()
		if err == nil {
			err = fmt.Errorf("%s is a directory", diag.Quote(name))
		}
		return nil, err
	}
	return f, nil
}

// Absolute is a path as seen from a directory: absolute, with no "." or ".." and no
// doubled slash in it. It is false where the path is relative and nobody knows the
// directory. ".." is taken as the text says it, not through symbolic links.
func Absolute(dir, name string) (string, bool) {
	if name == "" || strings.ContainsRune(name, 0) {
		return "", false
	}
	if path.IsAbs(name) {
		return path.Clean(name), true
	}
	if !path.IsAbs(dir) {
		return "", false
	}
	return path.Join(dir, name), true
}

// hosts are names and addresses of hosts; a name in other letters is written in these.
var hosts = regexp.MustCompile(`^[A-Za-z0-9._:%-]+$`)

// Endpoint is the id of a network endpoint. It is false where the host is missing or no
// name or address, or the port is none.
func Endpoint(host string, port int64) (string, bool) {
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if !hosts.MatchString(host) || port < 1 || port > 65535 {
		return "", false
	}
	return net.JoinHostPort(strings.ToLower(host), strconv.FormatInt(port, 10)), true
}

// Clip bounds a text that stands in a report: its first line, and no more than some 200
// bytes of it.
func Clip(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	if len(s) > 200 {
		s = strings.ToValidUTF8(s[:200], "")
	}
	return s
}

// Sink hands observations on and counts them.
type Sink struct {
	File  string
	Tally ratchet.Tally
	Emit  func(ratchet.Observation) error
}

// Put hands one observation on, with the line it was read on. One that has no id is
// counted as unresolved.
func (s *Sink) Put(line int64, o ratchet.Observation) error {
	if o.ID == "" || strings.ContainsRune(o.ID, 0) {
		s.Miss(ratchet.Unresolved, o.Type+" without a name", line)
		return nil
	}
	o.At = ratchet.Place{File: s.File, Line: line}
	s.Tally.Observations++
	return s.Emit(o)
}

// Miss counts a record that gave nothing. What is bounded, for it may come of the record.
func (s *Sink) Miss(kind ratchet.GapKind, what string, line int64) {
	s.Tally.Miss(kind, Clip(what), ratchet.Place{File: s.File, Line: line})
}
