package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"umwelt/diag"
)

// streams are the standard streams of one run, and what may be written to them.
type streams struct {
	in       io.Reader
	out, err io.Writer
	// outColour and errColour say that the stream is a terminal that wants colour.
	outColour, errColour bool
	// live says that standard error is a terminal, so that progress may be shown on it.
	live bool

	// reads are the words of the command line, and the files they led to, that -o must not name.
	reads []string

	// held are the places that outputs go to, where those were settled before.
	held map[string]*outputPlace

	progress *progress
}

// osStreams are the process's own streams.
func osStreams() *streams {
	s := &streams{in: os.Stdin, out: os.Stdout, err: os.Stderr, live: term.IsTerminal(int(os.Stderr.Fd()))}
	if os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" {
		s.errColour = s.live
		s.outColour = term.IsTerminal(int(os.Stdout.Fd()))
	}
	return s
}

// render writes diagnostics to standard error.
func (s *streams) render(list diag.List) {
	s.stopProgress()
	// Standard error is the last place to complain to, so a failure to write is let be.
	_ = diag.RenderAll(s.err, list, s.errColour)
}

// print writes a result to standard output, whole or with an error.
func (s *streams) print(text []byte) error {
	s.stopProgress()
	if _, err := s.out.Write(text); err != nil {
		return problem(diag.Output, "", "standard output cannot be written: %v", err)
	}
	return nil
}

// progress is the line that shows on a terminal while something takes long.
type progress struct {
	mu      sync.Mutex
	stopped bool
	shown   bool
	timer   *time.Timer
}

// patience is how long a step may take before it is spoken of.
const patience = time.Second

// doing shows, after a second and only on a terminal, what is being done, until
// something else is written.
func (s *streams) doing(what string) {
	s.stopProgress()
	if !s.live {
		return
	}
	p := &progress{}
	start := time.Now()
	var tick func()
	tick = func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.stopped {
			return
		}
		fmt.Fprintf(s.err, "\r\x1b[K%s … %ds", diag.Escape(what), int(time.Since(start)/time.Second))
		p.shown = true
		p.timer = time.AfterFunc(patience, tick)
	}
	p.mu.Lock()
	p.timer = time.AfterFunc(patience, tick)
	p.mu.Unlock()
	s.progress = p
}

// stopProgress takes the progress line away. It does nothing where there is none.
func (s *streams) stopProgress() {
	p := s.progress
	if p == nil {
		return
	}
	s.progress = nil
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
	p.timer.Stop()
	if p.shown {
		fmt.Fprint(s.err, "\r\x1b[K")
	}
}
