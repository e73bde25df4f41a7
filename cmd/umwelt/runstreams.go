package main

import (
	"io"
	"os"
	"sync"

	"umwelt/sandbox/runner"
)

// attach gives a run the standard streams. Those that are no files, and so cannot be
// inherited, go through pipes; done waits until what was written has arrived. Where a part
// of the policy came from standard input, the command gets none.
func attach(std *streams, spec *runner.Spec, consumed bool) (done func(), err error) {
	var output sync.WaitGroup
	var mine []*os.File
	done = func() {
		for _, f := range mine {
			f.Close()
		}
		output.Wait()
	}
	write := func(to io.Writer) (*os.File, error) {
		if f, ok := to.(*os.File); ok {
			return f, nil
		}
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		mine = append(mine, w)
		output.Go(func() {
			_, _ = io.Copy(to, r)
			r.Close()
		})
		return w, nil
	}
	if spec.Stdout, err = write(std.out); err != nil {
		return done, err
	}
	if spec.Stderr, err = write(std.err); err != nil {
		return done, err
	}
	if f, ok := std.in.(*os.File); ok && !consumed {
		spec.Stdin = f
		return done, nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return done, err
	}
	mine = append(mine, r)
	go func() {
		if !consumed {
			_, _ = io.Copy(w, std.in)
		}
		w.Close()
	}()
	spec.Stdin = r
	return done, nil
}
