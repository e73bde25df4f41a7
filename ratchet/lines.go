package ratchet

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"umwelt/diag"
)

// line is an observation as it is written: one JSON object.
type line struct {
	Time       string            `json:"time,omitempty"` // RFC 3339, UTC
	Context    map[string]string `json:"context,omitempty"`
	Taxon      string            `json:"taxon,omitempty"`
	Type       string            `json:"type"`
	ID         string            `json:"id"`
	IDBytes    string            `json:"id_bytes,omitempty"` // base64, where the id is not UTF-8
	Attributes map[string]string `json:"attributes,omitempty"`
	Verb       Verb              `json:"verb"`
	Outcome    Outcome           `json:"outcome"`
	Reason     string            `json:"reason,omitempty"`
	Count      int64             `json:"count,omitempty"`
	File       string            `json:"file,omitempty"` // where it was read before, if anywhere
	Line       int64             `json:"line,omitempty"`
}

// Append adds the observation to dst as one line, in printable ASCII, so that nothing in
// it moves the cursor of a terminal.
func Append(dst []byte, o *Observation) ([]byte, error) {
	l := line{Taxon: o.Taxon, Type: o.Type, ID: o.ID, Verb: o.Verb, Outcome: o.Outcome, Reason: valid(o.Reason),
		Context: pairs(o.Context), Attributes: pairs(o.Attributes), File: valid(o.At.File), Line: o.At.Line}
	if o.Count > 1 {
		l.Count = o.Count
	}
	if !o.Time.IsZero() {
		l.Time = o.Time.UTC().Format(time.RFC3339Nano)
	}
	if !utf8.ValidString(o.ID) {
		l.ID, l.IDBytes = valid(o.ID), base64.StdEncoding.EncodeToString([]byte(o.ID))
	}
	text, err := json.Marshal(l)
	if err != nil {
		return dst, err
	}
	return append(diag.AppendASCII(dst, text), '\n'), nil
}

func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func pairs(list []Attribute) map[string]string {
	if len(list) == 0 {
		return nil
	}
	out := make(map[string]string, len(list))
	for _, a := range list {
		out[valid(a.Name)] = valid(a.Value)
	}
	return out
}

// Parse reads one line. It does not fill in At where the line has no place of its own.
func Parse(text []byte) (Observation, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	var l line
	if err := d.Decode(&l); err != nil {
		return Observation{}, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Observation{}, errors.New("something stands after the object")
	}
	if err := checkNames(text); err != nil {
		return Observation{}, err
	}
	o := Observation{Taxon: l.Taxon, Type: l.Type, ID: l.ID, Verb: l.Verb, Outcome: l.Outcome, Reason: l.Reason, Count: l.Count,
		Context: attributes(l.Context), Attributes: attributes(l.Attributes), At: Place{l.File, l.Line}}
	if l.Time != "" {
		t, err := time.Parse(time.RFC3339Nano, l.Time)
		if err != nil {
			return Observation{}, fmt.Errorf("time: %s is not of RFC 3339", diag.Quote(l.Time))
		}
		o.Time = t
	}
	if l.IDBytes != "" {
		id, err := base64.StdEncoding.DecodeString(l.IDBytes)
		if err != nil {
			return Observation{}, errors.New("id_bytes: not base64")
		}
		o.ID = string(id)
	}
	return o, o.check()
}

func (o *Observation) check() error {
	switch {
	case o.Type == "":
		return errors.New("type: missing")
	case o.ID == "":
		return errors.New("id: missing")
	case strings.ContainsRune(o.ID, 0):
		return errors.New("id: holds a NUL byte")
	case !slices.Contains(Verbs(), o.Verb):
		return fmt.Errorf("verb: there is no %s", diag.Quote(string(o.Verb)))
	case o.Outcome != Allowed && o.Outcome != Denied && o.Outcome != Failed:
		return fmt.Errorf("outcome: there is no %s", diag.Quote(string(o.Outcome)))
	case o.Count < 0:
		return errors.New("count: below zero")
	}
	return nil
}

func attributes(m map[string]string) []Attribute {
	if len(m) == 0 {
		return nil
	}
	list := make([]string, 0, 2*len(m))
	for name, value := range m {
		list = append(list, name, value)
	}
	return Attributes(list...)
}

// MaxLine bounds a line of observations, and of every other record of lines.
const MaxLine = 16 << 20

// Lines reads records of lines: each line without its end, with its number from 1. A line
// that is longer than MaxLine is nil. The bytes are good until the next call.
func Lines(r io.Reader, each func(number int64, text []byte) error) (whole bool, err error) {
	br := bufio.NewReaderSize(r, 1<<18)
	var long []byte
	for number := int64(1); ; number++ {
		text, err := br.ReadSlice('\n')
		tooLong := false
		if errors.Is(err, bufio.ErrBufferFull) {
			long = append(long[:0], text...)
			for errors.Is(err, bufio.ErrBufferFull) {
				text, err = br.ReadSlice('\n')
				if len(long)+len(text) > MaxLine {
					tooLong = true
					long = long[:0]
				}
				if !tooLong {
					long = append(long, text...)
				}
			}
			text = long
		}
		switch {
		case err == nil:
			text = bytes.TrimSuffix(text, []byte("\n"))
			if tooLong {
				text = nil
			} else if text == nil {
				text = []byte{}
			}
			if err := each(number, text); err != nil {
				return false, err
			}
		case errors.Is(err, io.EOF):
			if len(text) == 0 && !tooLong {
				return true, nil
			}
			if tooLong {
				text = nil
			}
			return false, each(number, text)
		default:
			return false, err
		}
	}
}
