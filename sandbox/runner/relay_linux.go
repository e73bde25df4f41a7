//go:build amd64 || arm64

package runner

import (
	"errors"
	"io"
	"os"
	"sync"
)

// streams are the standard streams as they are inside. A file is not handed in: whoever
// holds it could open it again by way of /proc with other rights, past the mounts. Its
// content goes through a pipe instead.
type streams struct {
	inside [3]*os.File
	mine   []*os.File // to close once the sandbox has its own
	output sync.WaitGroup
}

func relay(s *Spec) (*streams, error) {
	st := &streams{}
	for i, f := range []*os.File{s.Stdin, s.Stdout, s.Stderr} {
		if f == nil {
			null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
			if err != nil {
				return nil, err
			}
			st.inside[i], st.mine = null, append(st.mine, null)
			continue
		}
		info, err := f.Stat()
		switch {
		case err != nil:
			return nil, err
		case info.IsDir():
			return nil, errors.New("a standard stream is a directory, which would be a way out of the sandbox")
		case !info.Mode().IsRegular():
			st.inside[i] = f
			continue
		}
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		if i == 0 {
			st.inside[i], st.mine = r, append(st.mine, r)
			go func() {
				_, _ = io.Copy(w, f)
				w.Close()
			}()
			continue
		}
		st.inside[i], st.mine = w, append(st.mine, w)
		st.output.Go(func() {
			_, _ = io.Copy(f, r)
			r.Close()
		})
	}
	return st, nil
}

// started closes the sandbox's ends, which it has by now.
func (st *streams) started() {
	for _, f := range st.mine {
		f.Close()
	}
}

// wait waits until everything that was written has arrived.
func (st *streams) wait() { st.output.Wait() }
