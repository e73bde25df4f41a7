package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"
)

// mostWatched bounds how many files are watched.
const mostWatched = 2000

// everySecond ticks for as long as the program runs.
func everySecond() <-chan time.Time { return time.NewTicker(time.Second).C }

// fileStamp is what tells that a file has changed.
type fileStamp struct {
	size int64
	time time.Time
}

// watchFiles runs the tests, and again at every tick before which a file that they read, or
// the list of test files, has changed. It ends with the context, or when ticks is closed.
func (f *testFlags) watchFiles(ctx context.Context, std *streams, paths []string, ticks <-chan time.Time) error {
	var before map[string]fileStamp
	var watched []string
	for {
		files, err := findTests(paths)
		if err != nil {
			std.render(problemsOf(err))
		}
		now := fileStamps(append(slices.Clone(files), watched...))
		if before == nil || stampsDiffer(before, now) {
			if before != nil {
				fmt.Fprintf(std.err, "umwelt: a file has changed\n")
			}
			// What was read before stays watched: it may have gone, and come back.
			watched = union(f.once(std, paths), watched)
			// What the run has read counts as it was before the run, or else as it is now.
			after := fileStamps(watched)
			for path := range after {
				if s, ok := now[path]; ok {
					after[path] = s
				}
			}
			before = after
		}
		select {
		case <-ctx.Done():
			return nil
		case _, open := <-ticks:
			if !open {
				return nil
			}
		}
	}
}

// union is all paths of both lists, in order, as far as they may be watched.
func union(a, b []string) []string {
	out := slices.Concat(a, b)
	slices.Sort(out)
	out = slices.Compact(out)
	return out[:min(len(out), mostWatched)]
}

// once runs the tests and reports, whatever comes of it, and gives the files that were
// read.
func (f *testFlags) once(std *streams, paths []string) []string {
	report, err := f.run(std, paths)
	if err == nil {
		err = f.deliver(std, report)
	}
	if list := problemsOf(err); list != nil {
		std.render(list)
	}
	if report == nil {
		return nil
	}
	return union(report.read, nil)
}

func fileStamps(paths []string) map[string]fileStamp {
	out := map[string]fileStamp{}
	for _, path := range paths {
		s := fileStamp{size: -1}
		if info, err := os.Stat(path); err == nil {
			s = fileStamp{info.Size(), info.ModTime()}
		}
		out[path] = s
	}
	return out
}

func stampsDiffer(before, now map[string]fileStamp) bool {
	if len(before) != len(now) {
		return true
	}
	for path, s := range now {
		if old, ok := before[path]; !ok || old.size != s.size || !old.time.Equal(s.time) {
			return true
		}
	}
	return false
}
