//go:build amd64 || arm64

package runner

import (
	"errors"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// streams are the standard streams as they are inside. Terminals, pipes and sockets are
// handed in. Anything else is not: whoever holds a file could open it again by way of
// /proc with other rights, or change its permissions, past the mounts. What it holds goes
// through a pipe instead.
type streams struct {
	inside [3]*os.File
	mine   []*os.File // to close once the sandbox has its own
	output sync.WaitGroup
	lost   [3]error // what kept output from arriving
}

func relay(s *Spec) (*streams, error) {
	st := &streams{}
	for i, f := range []*os.File{s.Stdin, s.Stdout, s.Stderr} {
		if err := st.add(i, f); err != nil {
			st.started()
			return nil, err
		}
	}
	return st, nil
}

// add decides about one stream, nil for none.
func (st *streams) add(i int, f *os.File) error {
	if f != nil {
		as, err := handedIn(f)
		if err != nil {
			return err
		}
		if as {
			st.inside[i] = f
			return nil
		}
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	if i == 0 {
		st.inside[i], st.mine = r, append(st.mine, r)
		go func() {
			if f != nil {
				_, _ = io.Copy(w, f)
			}
			w.Close()
		}()
		return nil
	}
	st.inside[i], st.mine = w, append(st.mine, w)
	st.output.Go(func() {
		to := io.Discard
		if f != nil {
			to = f
		}
		_, st.lost[i] = io.Copy(to, r)
		r.Close()
	})
	return nil
}

// handedIn reports whether a stream goes into the sandbox as it is.
func handedIn(f *os.File) (bool, error) {
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	switch kind := info.Mode().Type(); {
	case kind == os.ModeDir:
		return false, errors.New("a standard stream is a directory, which would be a way out of the sandbox")
	case kind == os.ModeSocket:
		return true, nil
	case kind == os.ModeNamedPipe:
		var fs unix.Statfs_t
		err := unix.Fstatfs(int(f.Fd()), &fs)
		return err == nil && fs.Type == unix.PIPEFS_MAGIC, err
	case kind&os.ModeCharDevice != 0:
		_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
		return err == nil, nil
	}
	return false, nil
}

// started closes the sandbox's ends, which it has by now.
func (st *streams) started() {
	for _, f := range st.mine {
		f.Close()
	}
	st.mine = nil
}

// wait waits until everything that was written has arrived, and says what did not.
func (st *streams) wait(r *Result) {
	st.output.Wait()
	for _, err := range st.lost {
		if err != nil {
			r.Remarks = append(r.Remarks, "output was lost: "+err.Error())
		}
	}
}
