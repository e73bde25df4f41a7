package record

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"umwelt/ratchet"
)

// straceOf finds strace. Where it is missing, that is said, and is a failure where
// tools are required.
func straceOf(t testing.TB) string {
	t.Helper()
	path, err := Find("")
	switch {
	case err == nil:
		return path
	case os.Getenv("UMWELT_REQUIRE_TOOLS") == "1":
		t.Fatal(err)
	default:
		t.Skip(err)
	}
	return ""
}

// take runs a command in a directory and gives what was observed of it.
func take(t *testing.T, dir string, c Command, o Options) (Result, []ratchet.Observation, error) {
	t.Helper()
	t.Chdir(dir)
	var list []ratchet.Observation
	o.Dir = dir
	o.Emit = func(ob ratchet.Observation) error {
		list = append(list, ob)
		return nil
	}
	r, err := Run(straceOf(t), c, o)
	return r, list, err
}

func TestRunStatus(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/plain", []byte("no program\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		argv []string
		exit int
		ran  bool
	}{
		{"well", []string{"true"}, 0, true},
		{"another", []string{"sh", "-c", "exit 77"}, 77, true},
		{"a signal", []string{"sh", "-c", "kill -USR1 $$"}, 128 + int(unix.SIGUSR1), true},
		{"killed", []string{"sh", "-c", "kill -KILL $$"}, 128 + int(unix.SIGKILL), true},
		{"its child was killed", []string{"sh", "-c", "sh -c 'kill -KILL $$'; exit 3"}, 3, true},
		{"words that look like options", []string{"echo", "-o", "x"}, 0, true},
		{"no such command", []string{"umwelt-no-such-command"}, exitNotFound, false},
		{"no such path", []string{"./none"}, exitNotFound, false},
		{"may not be run", []string{"/etc/hostname"}, exitCannot, false},
		{"no program", []string{"./plain"}, exitCannot, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, list, err := take(t, dir, Command{Argv: tt.argv}, Options{})
			if err != nil || r.Exit != tt.exit || (r.Program != "") != tt.ran {
				t.Fatalf("exit status %d, program %q, error %v, want %d", r.Exit, r.Program, err, tt.exit)
			}
			if !tt.ran {
				return
			}
			if r.Tally.Partial || len(r.Tally.Gaps) > 0 || r.Wall <= 0 || r.MaxRSS <= 0 {
				t.Errorf("%+v", r)
			}
			if first := list[0]; first.Verb != ratchet.Exec || first.Outcome != ratchet.Allowed || first.Attribute("command") == "" {
				t.Errorf("the first observation is %+v", first)
			}
		})
	}
	for _, task := range tasks(processes) {
		if task.parent == os.Getpid() && task.name == "strace" {
			t.Errorf("strace is left: %+v", task)
		}
	}
}

// What is observed below a directory is what was done there: no more and no less.
func TestRunTruth(t *testing.T) {
	const script = `
echo 1 > made; mv made moved; mkdir -p d/e; : > d/e/f; rm d/e/f; rmdir d/e; ls d > list
cat given > /dev/null; (cd sub && cat ./deep ../given > /dev/null); echo more >> given
ln -s given link; cat link > /dev/null; cat none 2> /dev/null; mkdir d 2> /dev/null; sh ./tool; wait
`
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"given": "g", "sub/deep": "d", "tool": "cat sub/deep > /dev/null &\n"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var log bytes.Buffer
	r, list, err := take(t, dir, Command{Argv: []string{"sh", "-c", script}}, Options{Log: &log})
	if err != nil || r.Tally.Partial || len(r.Tally.Gaps) > 0 {
		t.Fatalf("%+v %v", r, err)
	}
	var got []string
	for _, o := range list {
		if path, ok := strings.CutPrefix(o.ID, dir+"/"); ok && o.Verb != ratchet.Stat {
			got = append(got, fmt.Sprintf("%s %s %s", o.Verb, o.Outcome, path))
		}
	}
	slices.Sort(got)
	got = slices.Compact(got)
	want := []string{
		"create allowed d", "create allowed d/e", "create allowed d/e/f", "create allowed link", "create allowed list", "create allowed made",
		"create failed d", "delete allowed d/e", "delete allowed d/e/f", "list allowed d", "read allowed given", "read allowed sub/deep", "read allowed tool",
		"read failed none", "rename allowed made", "rename allowed moved", "write allowed given",
	}
	// A link counts by itself, too, where it was followed.
	got = slices.DeleteFunc(got, func(s string) bool { return s == "read allowed link" })
	if !slices.Equal(got, want) {
		t.Errorf("observed\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if int64(bytes.Count(log.Bytes(), []byte("\n"))) != r.Tally.Records {
		t.Errorf("the log has %d lines, and %d were read", bytes.Count(log.Bytes(), []byte("\n")), r.Tally.Records)
	}
}

// The command has its own streams and nothing else, and is the child of this process.
func TestRunHandsNothingIn(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	inherited, err := exec.Command("sh", "-c", "ls /proc/self/fd; ls /proc/$$/fd").Output()
	if err != nil {
		t.Fatal(err)
	}
	result, _, err := take(t, t.TempDir(), Command{Argv: []string{"sh", "-c", "ls /proc/self/fd; ls /proc/$$/fd; echo $PPID"}, Stdin: in, Stdout: w, Stderr: w}, Options{})
	w.Close()
	text, _ := io.ReadAll(r)
	if want := fmt.Sprintf("%s%d\n", inherited, os.Getpid()); err != nil || result.Exit != 0 || string(text) != want {
		t.Errorf("%q (%v), want %q", text, err, want)
	}
}

// await waits until a file is there.
func await(t *testing.T, path string) {
	t.Helper()
	for range 1000 {
		if _, err := os.Stat(path); err == nil {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Errorf("%s never appeared", path)
}

func TestRunForwardsSignals(t *testing.T) {
	dir := t.TempDir()
	stop := make(chan os.Signal, 1)
	go func() {
		await(t, dir+"/up")
		stop <- unix.SIGTERM
	}()
	r, _, err := take(t, dir, Command{Argv: []string{"sh", "-c", "trap 'exit 9' TERM; : > up; while :; do sleep 0.05; done"}, Stop: stop}, Options{})
	if err != nil || r.Exit != 9 || r.Tally.Partial {
		t.Errorf("exit status %d (%v), %+v", r.Exit, err, r.Tally)
	}
}

// What a command leaves behind is recorded to its end, and ends with the next signal.
func TestRunWaitsForWhatIsLeft(t *testing.T) {
	dir := t.TempDir()
	lingers := make(chan struct{})
	stop := make(chan os.Signal, 1)
	go func() {
		<-lingers
		stop <- unix.SIGINT
	}()
	r, list, err := take(t, dir, Command{Argv: []string{"sh", "-c", "(sleep 0.2; : > late; exec sleep 60) & exit 4"}, Stop: stop, Lingering: func() { close(lingers) }}, Options{})
	if err != nil || r.Exit != 4 || r.Wall > 10*time.Second {
		t.Errorf("exit status %d after %v (%v)", r.Exit, r.Wall, err)
	}
	if !slices.ContainsFunc(list, func(o ratchet.Observation) bool { return o.ID == dir+"/late" && o.Verb == ratchet.Create }) {
		t.Error("what it did late was not recorded")
	}
}

// A command whose strace was killed is ended, and the result says so.
func TestRunLosesItsRecorder(t *testing.T) {
	dir := t.TempDir()
	go func() {
		await(t, dir+"/up")
		for pid := range tracers(tasks(processes)) {
			_ = unix.Kill(pid, syscall.SIGKILL)
		}
	}()
	r, _, err := take(t, dir, Command{Argv: []string{"sh", "-c", ": > up; sleep 60; : > on"}}, Options{})
	if !errors.Is(err, errLost) || !r.Tally.Partial {
		t.Errorf("%+v, error %v", r, err)
	}
	if _, err := os.Stat(dir + "/on"); err == nil {
		t.Error("the command went on")
	}
}

// An error of whoever takes the observations does not hold the command up.
func TestRunWithBrokenReceiver(t *testing.T) {
	full := errors.New("no space left")
	r, err := Run(straceOf(t), Command{Argv: []string{"sh", "-c", "i=0; while [ $i -lt 300 ]; do : > /dev/null; cat /dev/null; i=$((i+1)); done; exit 5"}},
		Options{Dir: "/", Emit: func(ratchet.Observation) error { return full }})
	if !errors.Is(err, full) || r.Exit != 5 {
		t.Errorf("exit status %d, error %v", r.Exit, err)
	}
}

func TestRefused(t *testing.T) {
	err := refused([]byte("strace: test_ptrace_get_syscall_info: PTRACE_TRACEME: Operation not permitted\nmore\n"), errors.New("exit status 1"))
	var missing *MissingError
	if !errors.As(err, &missing) || !strings.Contains(err.Error(), "PTRACE_TRACEME: Operation not permitted (") {
		t.Errorf("%v", err)
	}
}

// A strace that lies in the project is not taken.
func TestFindLeavesTheProjectAlone(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink("/bin/true", dir+"/strace"); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	var missing *MissingError
	if path, err := Find(dir); !errors.As(err, &missing) {
		t.Errorf("%q %v", path, err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := Find(""); !errors.As(err, &missing) || !strings.Contains(err.Error(), "apt-get install strace") {
		t.Errorf("%v", err)
	}
}
