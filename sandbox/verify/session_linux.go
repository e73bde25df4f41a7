package verify

import (
	"bufio"
	"bytes"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"umwelt/compilers/confine"
	"umwelt/diag"
	"umwelt/sandbox/verify/probe"
)

// session is one sandbox in which a probe runs.
type session struct {
	program string
	in, out *os.File
	answers *json.Decoder
	asked   bool // the probe has answered once
	stop    func()
	stderr  *tail
	ended   chan error

	interrupted func() bool
}

// start starts a probe in a sandbox.
func (v *verifier) start(c *confine.Confinement) (*session, error) {
	if v.tamper != nil {
		wrong := *c
		v.tamper(&wrong)
		c = &wrong
	}
	inR, inW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, inR.Close(), inW.Close())
	}
	errR, errW, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, inR.Close(), inW.Close(), outR.Close(), outW.Close())
	}
	s := &session{program: v.program, in: inW, out: outR, answers: json.NewDecoder(bufio.NewReaderSize(outR, 1<<16)), stderr: &tail{}, ended: make(chan error, 1)}
	wait, stop, err := v.target.start(v, c, []string{v.program, probe.Argument}, inR, outW, errW)
	inside := []*os.File{inR, outW, errW}
	if err != nil {
		for _, f := range append(inside, inW, outR, errR) {
			f.Close()
		}
		return nil, err
	}
	s.stop = stop
	v.live.Store(s)
	if v.interrupted.Load() {
		stop()
	}
	s.interrupted = v.interrupted.Load
	var read sync.WaitGroup
	read.Go(func() {
		_, _ = s.stderr.readFrom(errR)
		errR.Close()
	})
	go func() {
		err := wait()
		for _, f := range inside {
			f.Close()
		}
		read.Wait()
		s.ended <- err
	}()
	return s, nil
}

// patience is how long one answer may take.
const patience = time.Minute

// ask has the probe try some operations, one after the other.
func (s *session) ask(ops []probe.Op) ([]probe.Result, error) {
	wrote := make(chan error, 1)
	go func() {
		w := bufio.NewWriterSize(s.in, 1<<16)
		e := json.NewEncoder(w)
		for _, op := range ops {
			if err := e.Encode(op); err != nil {
				wrote <- err
				return
			}
		}
		wrote <- w.Flush()
	}()
	results := make([]probe.Result, len(ops))
	for i := range ops {
		if i%64 == 0 {
			_ = s.out.SetReadDeadline(time.Now().Add(patience))
		}
		err := s.answers.Decode(&results[i])
		if err != nil {
			s.stop()
			what := "the probe did not start"
			if s.asked {
				what = fmt.Sprintf("the probe ended at %s %s", ops[i].Do, diag.Quote(string(ops[i].Path)))
			} else if needsLoader(s.program) {
				what += ", maybe since this program is not static (build it with CGO_ENABLED=0)"
			}
			return nil, s.failure(what, err)
		}
		s.asked = true
	}
	return results, <-wrote
}

// needsLoader reports whether a program needs a loader and libraries, which a sandbox may
// not have.
func needsLoader(program string) bool {
	f, err := elf.Open(program)
	if err != nil {
		return false
	}
	defer f.Close()
	return slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP })
}

// failure is an error with what the sandbox said before it ended.
func (s *session) failure(what string, err error) error {
	s.in.Close()
	if end := <-s.ended; end != nil {
		err = end
	}
	s.ended <- nil
	if s.interrupted() {
		return ErrInterrupted
	}
	text := fmt.Sprintf("%s: %v", what, err)
	if said := strings.TrimSpace(s.stderr.String()); said != "" {
		text += ": " + diag.Escape(said)
	}
	return errors.New(text)
}

// close ends the probe and the sandbox, and waits for that.
func (s *session) close() {
	s.in.Close()
	timer := time.AfterFunc(patience, s.stop)
	<-s.ended
	timer.Stop()
	s.out.Close()
}

// tail keeps the last of what is written.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

const tailSize = 2048

func (t *tail) readFrom(f *os.File) (int64, error) {
	block := make([]byte, 4096)
	for {
		n, err := f.Read(block)
		t.mu.Lock()
		t.buf = append(t.buf, block[:n]...)
		t.buf = bytes.Clone(t.buf[max(0, len(t.buf)-tailSize):])
		t.mu.Unlock()
		if err != nil {
			return 0, err
		}
	}
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.buf)
}
