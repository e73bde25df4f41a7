package record

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// task is what the kernel says of a process.
type task struct {
	pid, parent, tracer int
	name                string
}

// processes is where the kernel says what it knows of each process.
const processes = "/proc/[0-9]*/status"

// tasks are the processes or threads that a pattern of such places names.
func tasks(pattern string) []task {
	files, _ := filepath.Glob(pattern)
	var out []task
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			continue // it is gone
		}
		var t task
		t.pid, _ = strconv.Atoi(filepath.Base(filepath.Dir(f)))
		for line := range strings.Lines(string(text)) {
			name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":\t")
			switch name {
			case "Name":
				t.name = value
			case "PPid":
				t.parent, _ = strconv.Atoi(value)
			case "TracerPid":
				t.tracer, _ = strconv.Atoi(value)
			}
		}
		out = append(out, t)
	}
	return out
}

// tracers are the processes that trace for this one: it adopted them, since those that
// started them have become the commands.
func tracers(all []task) map[int]bool {
	out := map[int]bool{}
	for _, t := range all {
		if t.parent == os.Getpid() && t.name == "strace" {
			out[t.pid] = true
		}
	}
	return out
}

// endLeft ends whatever is still traced for this process.
func endLeft() {
	all := tasks(processes)
	own := tracers(all)
	for _, t := range all {
		if own[t.tracer] {
			_ = unix.Kill(t.pid, unix.SIGKILL)
		}
	}
}

// collect waits for the strace that wrote the log, which is over, and reports whether it
// ended by itself, which it does when nothing is left to trace.
func collect() (clean bool) {
	clean = true
	for pid := range tracers(tasks(processes)) {
		var how syscall.WaitStatus
		_, err := syscall.Wait4(pid, &how, 0, nil)
		for errors.Is(err, syscall.EINTR) {
			_, err = syscall.Wait4(pid, &how, 0, nil)
		}
		clean = clean && (err != nil || how == 0)
	}
	return clean
}
