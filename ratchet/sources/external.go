package sources

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"umwelt/diag"
	"umwelt/ratchet"
	"umwelt/ratchet/sources/jsonl"
)

// prefix is what the names of outside sources begin with on the path.
const prefix = "umwelt-observe-"

const (
	// patience is how long an outside source may take in all.
	patience = 10 * time.Minute
	// drain is how long what it wrote is still read once it is ended.
	drain = 500 * time.Millisecond
	// soon is when a program has to be over that closed its standard output.
	soon = 5 * time.Second
	// maxChatter bounds what of its standard error is passed on.
	maxChatter = 1 << 16
	// tailLines of its standard error stand in the error for one that failed.
	tailLines = 5
)

// external is the source whose lines a program on the path writes.
func external(name string) (ratchet.Source, error) {
	program := prefix + name
	file, err := exec.LookPath(program)
	if err == nil {
		file, err = filepath.Abs(file)
	}
	if errors.Is(err, exec.ErrDot) {
		return ratchet.Source{}, fmt.Errorf("%s lies where the path leads to the working directory, which is not trusted", diag.Quote(program))
	}
	if err != nil {
		return ratchet.Source{}, fmt.Errorf("%s is not on the path", diag.Quote(program))
	}
	return ratchet.Source{
		Name:    name,
		Summary: "What " + program + " on the path writes",
		Example: name + "://FILE",
		Read: func(in ratchet.Input, emit func(ratchet.Observation) error) (ratchet.Tally, error) {
			return run(file, in, emit, os.Stderr, patience)
		},
	}, nil
}

// run starts the program with what is to be read as its one argument, nothing on its
// standard input, and the directory in which the record began, where it is known, in
// UMWELT_OBSERVE_DIR. It reads observations from its standard output, and passes its
// standard error on to chatter, escaped and bounded. The program and the processes of its
// group are ended when it is done, when emit wants no more, and when it takes too long.
func run(file string, in ratchet.Input, emit func(ratchet.Observation) error, chatter io.Writer, limit time.Duration) (ratchet.Tally, error) {
	name := filepath.Base(file)
	out, outEnd, err := os.Pipe()
	if err != nil {
		return ratchet.Tally{}, err
	}
	defer out.Close()
	errs, errsEnd, err := os.Pipe()
	if err != nil {
		outEnd.Close()
		return ratchet.Tally{}, err
	}
	defer errs.Close()
	cmd := exec.Command(file, in.Name)
	cmd.Stdout, cmd.Stderr = outEnd, errsEnd
	cmd.Env = os.Environ()
	if in.Dir != "" {
		cmd.Env = append(cmd.Env, "UMWELT_OBSERVE_DIR="+in.Dir)
	}
	ownGroup(cmd)
	err = cmd.Start()
	outEnd.Close()
	errsEnd.Close()
	if err != nil {
		return ratchet.Tally{}, err
	}

	heard := make(chan []string, 1)
	go func() { heard <- listen(errs, chatter, name) }()
	late := make(chan struct{})
	timer := time.AfterFunc(limit, func() {
		close(late)
		// It is not waited for before the timer is stopped, so its number is its own.
		endGroup(cmd)
		_ = out.SetReadDeadline(time.Now().Add(drain))
	})
	// It is over when it closes its standard output.
	tally, readErr := jsonl.From(out, in.Name, emit)
	timedOut := !timer.Stop()
	if timedOut {
		<-late
	}
	if readErr != nil {
		endGroup(cmd) // nobody reads what it still writes
	}
	waitErr := wait(cmd)
	_ = errs.SetReadDeadline(time.Now().Add(drain))
	said := <-heard

	switch {
	case timedOut:
		return tally, fmt.Errorf("%s was ended after %s", name, limit)
	case readErr != nil:
		return tally, readErr
	case waitErr != nil:
		tail := strings.Join(said, "; ")
		if tail != "" {
			tail = ": " + tail
		}
		return tally, fmt.Errorf("%s: %w%s", name, waitErr, tail)
	}
	return tally, nil
}

// wait waits for a program that closed its output. One that goes on is ended soon, and so
// is all that it left behind.
func wait(cmd *exec.Cmd) error {
	timer := time.AfterFunc(soon, func() { endGroup(cmd) })
	awaitExit(cmd)
	timer.Stop()
	endGroup(cmd)
	return cmd.Wait()
}

// listen passes lines on, each with the name of who said it, and gives the last ones.
func listen(r io.Reader, w io.Writer, name string) []string {
	var tail []string
	left := maxChatter
	br := bufio.NewReaderSize(r, 1<<12)
	for {
		line, isPrefix, err := br.ReadLine()
		if err != nil {
			return tail
		}
		text := diag.Escape(strings.ToValidUTF8(string(line), "\uFFFD"))
		if isPrefix {
			text += " ..."
			for isPrefix && err == nil {
				_, isPrefix, err = br.ReadLine()
			}
		}
		if left > 0 {
			n, _ := fmt.Fprintf(w, "%s: %s\n", name, text)
			if left -= n; left <= 0 {
				fmt.Fprintf(w, "%s: says more, which is left out\n", name)
			}
		}
		if tail = append(tail, text); len(tail) > tailLines {
			tail = tail[1:]
		}
	}
}
