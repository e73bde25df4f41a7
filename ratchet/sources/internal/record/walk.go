package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"umwelt/ratchet"
)

// maxDepth is how deep lists and containers may lie in each other.
const maxDepth = 32

// chunk is how much is read at once: the line of a record is found by counting the ends
// of lines in what was read ahead.
const chunk = 1 << 14

// maxBlank is how much of nothing may stand between two values. The decoder looks at all
// of it again each time it reads on.
const maxBlank = 1 << 20

var (
	errTooLarge = errors.New("one value is larger than 16 MB")
	errBlank    = errors.New("more than 1 MB of blanks")
	errTooDeep  = errors.New("lists lie too deep in each other")
	errNoObject = errors.New("a value that is no object")
)

// Walk reads JSON of any length: objects one after the other, one a line or over many,
// and lists of them. An object's members that containers names are walked into, and are
// not in what each gets; each gets every other object whole, with the line it begins on,
// after all that lies in its containers. inner says that it had a container.
//
// A broken line of a file of lines is counted and skipped. Anywhere else what is broken
// ends the reading, and the sink's tally says so.
func Walk(r io.Reader, sink *Sink, containers []string, each func(line int64, o Object, inner bool) error) error {
	w := &walker{in: &meter{r: r}, sink: sink, containers: containers, each: each}
	w.d = json.NewDecoder(w.in)
	for {
		w.in.left, w.kept = ratchet.MaxLine, 0
		start := w.line()
		err := w.value(0)
		switch {
		case err == nil:
		case errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !w.began:
			return nil
		case w.failed != nil:
			return w.failed
		case w.in.err != nil && !slices.Contains([]error{io.EOF, errTooLarge, errBlank}, w.in.err):
			return w.in.err
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			sink.Miss(ratchet.Truncated, "", w.line())
			sink.Tally.Cut("the file ends inside a value")
			return nil
		case errors.Is(err, errNoObject):
			sink.Miss(ratchet.Broken, err.Error(), w.line())
		default:
			if !w.nextLine(start, err) {
				sink.Miss(ratchet.Broken, reason(err), w.line())
				sink.Tally.Cut(fmt.Sprintf("nothing is read after line %d, which is no JSON", w.line()))
				return nil
			}
		}
		w.began = false
	}
}

func reason(err error) string {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return "no JSON"
	}
	return err.Error()
}

// meter counts the lines that were read, and bounds how much one value may take.
type meter struct {
	r     io.Reader
	lines int64
	left  int
	blank int // bytes of blanks since the last other byte, counted by whole reads
	err   error
}

func (m *meter) Read(p []byte) (int, error) {
	if m.left <= 0 {
		m.err = errTooLarge
		return 0, errTooLarge
	}
	if m.blank > maxBlank {
		m.err = errBlank
		return 0, errBlank
	}
	n, err := m.r.Read(p[:min(len(p), chunk)])
	m.lines += int64(bytes.Count(p[:n], []byte("\n")))
	m.left -= n
	if m.blank += n; len(bytes.TrimLeft(p[:n], " \t\r\n")) > 0 {
		m.blank = 0
	}
	if err != nil {
		m.err = err
	}
	return n, err
}

type walker struct {
	in         *meter
	d          *json.Decoder
	sink       *Sink
	containers []string
	each       func(int64, Object, bool) error
	kept       int   // bytes of the members of every object that is open
	began      bool  // the value's first token was read
	failed     error // what each returned
}

// line is the line of the last token.
func (w *walker) line() int64 {
	var ahead lineCount
	_, _ = io.Copy(&ahead, w.d.Buffered()) // memory never fails
	return 1 + w.in.lines - int64(ahead)
}

// lineCount counts the ends of lines that are written to it.
type lineCount int64

func (c *lineCount) Write(p []byte) (int, error) {
	*c += lineCount(bytes.Count(p, []byte("\n")))
	return len(p), nil
}

// nextLine goes on behind the line that a broken value began on, where the value did not
// go beyond it: then the file is one of lines.
func (w *walker) nextLine(start int64, err error) bool {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) && !errors.Is(err, errTooDeep) {
		return false
	}
	rest, _ := io.ReadAll(w.d.Buffered()) // memory never fails
	// The decoder stays at the beginning of what it could not read.
	at := w.line()
	if at > start+1 {
		return false
	}
	w.sink.Miss(ratchet.Broken, reason(err), at)
	end := bytes.IndexByte(rest, '\n')
	for end < 0 {
		w.in.left = ratchet.MaxLine
		rest = make([]byte, chunk)
		n, err := w.in.Read(rest)
		rest = rest[:n]
		end = bytes.IndexByte(rest, '\n')
		if err != nil && end < 0 {
			w.sink.Tally.Cut("its last line has no end")
			rest = nil
			break
		}
	}
	if end >= 0 {
		rest = bytes.Clone(rest[end+1:])
	}
	// What is read again is counted again.
	w.in = &meter{r: io.MultiReader(bytes.NewReader(rest), w.in.r), lines: w.in.lines - int64(bytes.Count(rest, []byte("\n")))}
	w.d = json.NewDecoder(w.in)
	return true
}

// value reads a value where objects stand.
func (w *walker) value(depth int) error {
	t, err := w.d.Token()
	if err != nil {
		return err
	}
	w.began = true
	if depth > maxDepth {
		return errTooDeep
	}
	w.in.left = ratchet.MaxLine
	switch t {
	case json.Delim('['):
		for w.d.More() {
			if err := w.value(depth + 1); errors.Is(err, errNoObject) {
				w.sink.Miss(ratchet.Broken, err.Error(), w.line())
			} else if err != nil {
				return err
			}
		}
		_, err := w.d.Token()
		return err
	case json.Delim('{'):
		return w.object(depth)
	}
	return errNoObject
}

func (w *walker) object(depth int) error {
	line := w.line()
	o, inner, twice, size := Object{}, false, false, 0
	for w.d.More() {
		t, err := w.d.Token()
		if err != nil {
			return err
		}
		name, _ := t.(string)
		if slices.Contains(w.containers, name) {
			inner = true
			if err := w.value(depth + 1); err != nil && !errors.Is(err, errNoObject) {
				return err
			}
			continue
		}
		var raw json.RawMessage
		if err := w.d.Decode(&raw); err != nil {
			return err
		}
		size += len(name) + len(raw)
		if w.kept += len(name) + len(raw); w.kept > ratchet.MaxLine {
			return errTooLarge
		}
		if _, ok := o[name]; ok {
			twice = true
		}
		o[name] = raw
	}
	if _, err := w.d.Token(); err != nil {
		return err
	}
	w.kept -= size
	w.in.left = ratchet.MaxLine
	w.sink.Tally.Records++
	if twice {
		w.sink.Miss(ratchet.Broken, "a name stands twice in an object", line)
		return nil
	}
	if err := w.each(line, o, inner); err != nil {
		w.failed = err
		return err
	}
	return nil
}
