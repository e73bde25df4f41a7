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

// calls are the system calls that are traced: all that name a file, start a program or a
// process, change where relative names lead, or reach the network. A question mark lets
// strace do without those that an architecture has not.
var calls = []string{
	"%file", "?clone", "?clone2", "?clone3", "?fork", "?vfork",
	"socket", "connect", "bind", "?sendto", "?sendmsg", "?sendmmsg",
	"?close", "?close_range", "?dup", "?dup2", "?dup3", "?fcntl", "?fcntl64", "?fchdir", "?setns", "?unshare", "?memfd_create",
	"?open_by_handle_at", "?pidfd_getfd", "?io_uring_setup",
	"?getdents", "?getdents64", "?ftruncate", "?ftruncate64", "?fchmod", "?fchown", "?fchown32", "?fsetxattr", "?fremovexattr",
}

// argumentBytes bounds each text that strace writes of a command's arguments. Names of
// files are never cut.
const argumentBytes = 4096

// signals are those that strace writes of: all that can end a process. Without one, strace
// would not write of the process's end, either.
const signals = "!SIGCHLD,SIGCONT,SIGURG,SIGWINCH"

// arguments are strace's, but for what it traces and where it writes.
func arguments(more ...string) []string {
	return append([]string{"strace", "-f", "-y", "-ttt", "-s", strconv.Itoa(argumentBytes), "-e", "signal=" + signals, "-e", "trace=" + strings.Join(calls, ",")}, more...)
}

var errLost = errors.New("strace ended before what it recorded")
