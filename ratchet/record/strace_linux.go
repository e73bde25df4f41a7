package record

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"umwelt/diag"
	"umwelt/ratchet/sources/strace"
)

// Find finds strace and tries whether it may trace. One that lies below root is none:
// whoever may write there would decide what was observed.
func Find(root string) (string, error) {
	path, err := exec.LookPath("strace")
	if err != nil {
		return "", &MissingError{"strace is not installed", "apt-get install strace"}
	}
	real, err := filepath.EvalSymlinks(path)
	if root != "" && (err != nil || below(real, root) || below(path, root)) {
		return "", &MissingError{"the strace on the search path lies in the project", "put the system's directories before the project's in PATH"}
	}
	// It is there for certain, and ends at once.
	trial := exec.Command(path, "-o", os.DevNull, "-f", "-e", "trace=none", path, "-V")
	trial.Env = environment
	if out, err := trial.CombinedOutput(); err != nil {
		return "", refused(out, err)
	}
	return path, nil
}

func below(path, root string) bool {
	path, err := filepath.Abs(path)
	return err != nil || path == root || strings.HasPrefix(path, strings.TrimSuffix(root, "/")+"/")
}

// environment makes strace's messages the same everywhere.
var environment = []string{"LC_ALL=C"}

// refused is what strace says when it may not trace.
func refused(said []byte, err error) error {
	line, _, _ := bytes.Cut(bytes.TrimSpace(said), []byte("\n"))
	what := diag.Escape(string(line))
	if what == "" {
		what = err.Error()
	}
	how := "the kernel or the container that this runs in has to permit ptrace, as docker does with --cap-add SYS_PTRACE"
	text, _ := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope")
	if n, err := strconv.Atoi(string(bytes.TrimSpace(text))); err == nil && n > 1 {
		how = "kernel.yama.ptrace_scope is " + strconv.Itoa(n) + "; sysctl kernel.yama.ptrace_scope=1 permits it"
	}
	return &MissingError{"strace may not trace here: " + what, how}
}

// arguments are strace's: those that its reader wants, and more.
func arguments(log string, more ...string) []string {
	return append(append([]string{"strace"}, strace.Arguments(log)...), more...)
}

var errLost = errors.New("strace ended before what it recorded")
