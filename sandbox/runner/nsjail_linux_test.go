//go:build amd64 || arm64

package runner

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"umwelt/compilers/confine"
	"umwelt/compilers/nsjail/nsjailtest"
)

// standIn plays nsjail as far as its arguments, its configuration, the environment, the
// working directory, signals and exit statuses go. It makes no sandbox.
func standIn(args []string) int {
	runtime.LockOSThread() // the command dies with the thread that started it
	log := os.NewFile(4, "log")
	unix.CloseOnExec(4)
	failed := func(why string, about ...any) int {
		fmt.Fprintf(log, "[E][2026-11-30T00:00:00+0000][1] main():1 "+why+"\n", about...)
		return 255
	}
	var config string
	var names []string
	for len(args) > 0 && args[0] != "--" {
		if len(args) < 2 {
			return failed("%q has no value", args[0])
		}
		switch args[0] {
		case "--config":
			config = args[1]
		case "--env":
			names = append(names, args[1])
		case "--log_fd":
			if args[1] != "4" {
				return failed("unexpected log")
			}
		default:
			return failed("unknown option %q", args[0])
		}
		args = args[2:]
	}
	text, err := os.ReadFile(config)
	if err != nil {
		return failed("%v", err)
	}
	m := dynamicpb.NewMessage(nsjailtest.Descriptor())
	if err := prototext.Unmarshal(text, m); err != nil {
		return failed("%v", err)
	}
	field := func(name protoreflect.Name) protoreflect.Value { return m.Get(m.Descriptor().Fields().ByName(name)) }
	cwd := string(field("cwd").Bytes())
	if _, err := os.Stat(filepath.Dir(cwd) + "/bin/broken"); err == nil {
		return failed("mount failed\x1b[31m")
	}
	if field("time_limit").Uint() != 0 || field("mode").Enum() != 1 || field("keep_env").Bool() || field("mount").List().Len() == 0 || len(args) < 2 || !filepath.IsAbs(args[1]) {
		return failed("this is not as expected: %q %s", args, text)
	}
	for i := range field("envar").List().Len() {
		names = append(names, string(field("envar").List().Get(i).Bytes()))
	}
	cmd := &exec.Cmd{Path: args[1], Args: args[1:], Env: []string{}, Dir: cwd, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: unix.SIGKILL}
	for _, n := range names {
		if value, ok := os.LookupEnv(n); ok {
			n += "=" + value
		}
		if strings.Contains(n, "=") {
			cmd.Env = append(cmd.Env, n)
		}
	}
	end := make(chan os.Signal, 1)
	signal.Notify(end, unix.SIGTERM)
	if err := cmd.Start(); err != nil {
		return failed("%v", err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case <-end:
		_ = unix.Kill(-cmd.Process.Pid, unix.SIGKILL)
		<-done
		return 128 + int(unix.SIGTERM)
	case <-done:
	}
	status := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		fmt.Fprintf(log, "[I] pid=7 ([STANDALONE MODE]) terminated with signal: %d, (PIDs left: 0)\n", status.Signal())
		return 128 + int(status.Signal())
	}
	fmt.Fprintf(log, "[I] pid=7 ([STANDALONE MODE]) exited with status: %d, (PIDs left: 0)\n", status.ExitStatus())
	return status.ExitStatus()
}

func newNsjailScene(t *testing.T) *scene {
	t.Helper()
	s := newScene(t, way{target: "nsjail"})
	if err := os.Symlink("probe", s.dir+"/bin/nsjail"); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", s.dir+"/bin:"+os.Getenv("PATH"))
	s.c.Env = []confine.Env{{Name: "ALLOWED"}, {Name: "FIXED", Set: true}, {Name: "LEFT", Set: true}}
	s.environ = []string{"ALLOWED=allowed", "FIXED=outside", "LEFT=outside", "SECRET=s3cret"}
	s.values = map[string]string{"FIXED": "inside"}
	return s
}

func TestNsjail(t *testing.T) {
	for _, tt := range []struct {
		name    string
		command string
		limits  confine.Limits
		broken  bool
		exit    int
		output  string
		err     bool
	}{
		{name: "status", command: "exit 7", exit: 7},
		{name: "signal", command: "kill -TERM $$", exit: 143},
		{name: "the command's own 255", command: "exit 255", exit: 255},
		{name: "environment", command: "echo $FIXED $LEFT $SECRET $ALLOWED; test $PWD = $(/bin/pwd) && echo $PATH", output: "inside allowed\n" + defaultPath + "\n"},
		{name: "wall time", command: "sleep 20; sleep 20", limits: confine.Limits{WallTime: ptr(int64(300 * time.Millisecond))}, exit: ExitTimeout},
		{name: "it fails", command: "true", broken: true, err: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newNsjailScene(t)
			s.c.Limits = tt.limits
			if tt.broken {
				if err := os.WriteFile(s.dir+"/bin/broken", nil, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			out, stdout, stderr := s.run(way{target: "nsjail"}, "sh", "-c", tt.command)
			if (out.Error != "") != tt.err || out.Result.Exit != tt.exit || stdout != tt.output {
				t.Errorf("exit status %d (%s), %q, want %d and %q\n%s", out.Result.Exit, out.Error, stdout, tt.exit, tt.output, stderr)
			}
			if tt.broken && !strings.Contains(stderr, `mount failed\x1b[31m`) {
				t.Errorf("standard error is %q", stderr)
			}
			for _, a := range out.Result.Argv {
				if strings.Contains(a, "inside") {
					t.Errorf("a value stands in %q", out.Result.Argv)
				}
			}
			s.nothingRuns()
		})
	}
	s := newNsjailScene(t)
	if out, _, stderr := s.run(way{target: "nsjail"}, "no-such-command"); out.Error != "" || out.Result.Exit != ExitNotFound {
		t.Errorf("exit status %d (%s)\n%s", out.Result.Exit, out.Error, stderr)
	}
}

// A signal ends the command, and the result names the one that was sent.
func TestNsjailIsEnded(t *testing.T) {
	s := newNsjailScene(t)
	d := s.start(way{target: "nsjail"}, "sh", "-c", "echo up > out/ready; sleep 20")
	s.await("out/ready", "up")
	if err := d.cmd.Process.Signal(unix.SIGHUP); err != nil {
		t.Fatal(err)
	}
	out, err := d.wait()
	if err != nil || out.Result.Exit != 129 || out.Result.Signal != 1 {
		t.Errorf("exit status %d (%s) %v\n%s", out.Result.Exit, out.Error, err, d.stderr.String())
	}
	s.nothingRuns()
}

func TestNsjailIsMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	var missing *MissingError
	if err := nsjailTarget.Available(); !errors.As(err, &missing) || !strings.Contains(missing.How, "from its sources") {
		t.Errorf("the error is %v", err)
	}
}
