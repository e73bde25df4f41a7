package record

import (
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"umwelt/ratchet"
	"umwelt/ratchet/sources/strace"
)

// stream reads what strace writes, as it comes.
type stream struct {
	r, w  *os.File
	begun sync.Once
	done  chan struct{}
	tally ratchet.Tally // once done is closed
	err   error
}

// newStream begins to read. The writing end is closed by held, once strace has its own.
// Of what comes before the beginning of the command only what belongs to it is read; a nil
// one passes everything on.
func newStream(o Options, begin *beginning) (*stream, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	// A larger pipe wakes this process less often; not everybody may have one.
	_, _ = unix.FcntlInt(w.Fd(), unix.F_SETPIPE_SZ, 1<<20)
	s := &stream{r: r, w: w, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		in := io.Reader(first{s})
		if o.Log != nil {
			in = io.TeeReader(in, o.Log)
		}
		if begin != nil {
			in = &filtered{from: in, begin: begin}
		}
		s.tally, s.err = strace.ReadFrom(in, ratchet.Input{Dir: o.Dir}, o.Emit)
		// strace, and with it the command, waits for whoever does not read.
		_, _ = io.Copy(io.Discard, r)
		r.Close()
	}()
	return s, nil
}

// held closes the writing end of this process: strace has its own, or never will.
func (s *stream) held() { s.begun.Do(func() { s.w.Close() }) }

// wait waits until everything is read.
func (s *stream) wait() (ratchet.Tally, error) {
	s.held()
	<-s.done
	return s.tally, s.err
}

// first closes the writing end when the first bytes arrive.
type first struct{ s *stream }

// rest is how long the log may gather before it is read. strace writes line by line, and
// would otherwise wake this process for each.
const rest = time.Millisecond

func (f first) Read(p []byte) (int, error) {
	n, err := f.s.r.Read(p)
	if n > 0 {
		f.s.held()
	}
	if n < len(p)/2 && err == nil {
		time.Sleep(rest)
	}
	return n, err
}
