//go:build amd64 || arm64

package runner

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"umwelt/compilers/confine"
)

func TestExitStatus(t *testing.T) {
	for _, tt := range []struct {
		name    string
		command []string
		exit    int
		signal  int
	}{
		{"well", []string{"true"}, 0, 0},
		{"one", []string{"false"}, 1, 0},
		{"another", []string{"sh", "-c", "exit 77"}, 77, 0},
		{"a signal", []string{"sh", "-c", "kill -USR1 $$"}, 128 + int(unix.SIGUSR1), int(unix.SIGUSR1)},
		{"killed", []string{"sh", "-c", "kill -KILL $$"}, 128 + int(unix.SIGKILL), int(unix.SIGKILL)},
		{"its child was killed", []string{"sh", "-c", "sh -c 'kill -KILL $$'; exit 3"}, 3, 0},
		{"a name that is not there", []string{"umwelt-no-such-command"}, ExitNotFound, 0},
		{"a path that is not there", []string{"/usr/bin/umwelt-no-such-command"}, ExitNotFound, 0},
		{"a program that is hidden", []string{"./secret/s.txt"}, 0, 0},
		{"no program", []string{"./keep/k.txt"}, ExitCannot, 0},
	} {
		for _, w := range ways(t) {
			t.Run(tt.name+"/"+w.String(), func(t *testing.T) {
				s := newScene(t, w)
				out, _, stderr := s.run(w, tt.command...)
				got := out.Result
				switch {
				case out.Error != "":
					t.Fatalf("%s\n%s", out.Error, stderr)
				case tt.name == "a program that is hidden":
					if got.Exit == 0 {
						t.Error("it ran")
					}
				case got.Exit != tt.exit:
					t.Errorf("exit status %d, want %d (%v)\n%s", got.Exit, tt.exit, got.Remarks, stderr)
				case w.target == "landlock" && got.Signal != tt.signal:
					t.Errorf("signal %d, want %d", got.Signal, tt.signal)
				}
			})
		}
	}
}

func TestEnvironment(t *testing.T) {
	for _, w := range ways(t) {
		t.Run(w.String(), func(t *testing.T) {
			s := newScene(t, w)
			s.environ = []string{"ALLOWED=it's \"so\"\n$HOME", "SECRET=s3cret", "FIXED=outside", "LEFT=outside", "EMPTY="}
			s.c.Env = []confine.Env{{Name: "ABSENT"}, {Name: "ALLOWED"}, {Name: "EMPTY"}, {Name: "FIXED", Set: true}, {Name: "LEFT", Set: true}, {Name: "PATH"}, {Name: "a-b.c"}}
			s.values = map[string]string{"FIXED": "inside"}
			s.c.SearchPath = "/usr/bin:/bin"
			s.environ = append(s.environ, "a-b.c=odd")
			_, stdout, stderr := s.run(w, "env", "-0")
			got := strings.Split(strings.TrimSuffix(stdout, "\x00"), "\x00")
			want := map[string]bool{"PATH=/usr/bin:/bin": true, "PWD=" + s.root: true, "ALLOWED=it's \"so\"\n$HOME": true, "EMPTY=": true, "FIXED=inside": true, "a-b.c=odd": true}
			for _, v := range got {
				if !want[v] {
					t.Errorf("%q should not be there", v)
				}
				delete(want, v)
			}
			for v := range want {
				t.Errorf("%q is missing\n%s", v, stderr)
			}
		})
	}
}

// A value that the policy fixes stands in no list of arguments of the host.
func TestValuesStandInNoArguments(t *testing.T) {
	for _, w := range ways(t) {
		t.Run(w.String(), func(t *testing.T) {
			s := newScene(t, w)
			s.c.Env = []confine.Env{{Name: "TOKEN", Set: true}}
			s.values = map[string]string{"TOKEN": "v4lue-of-the-token"}
			d := s.start(w, "sh", "-c", "echo $TOKEN > out/ready; sleep 5")
			s.await("out/ready", "v4lue-of-the-token")
			lists, err := filepath.Glob("/proc/[0-9]*/cmdline")
			if err != nil {
				t.Fatal(err)
			}
			for _, list := range lists {
				if text, _ := os.ReadFile(list); bytes.Contains(text, []byte("v4lue-of-the-token")) {
					t.Errorf("%s: %q", list, text)
				}
			}
			if err := d.cmd.Process.Signal(unix.SIGTERM); err != nil {
				t.Fatal(err)
			}
			out, err := d.wait()
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(fmt.Sprint(out), "v4lue") {
				t.Error("the value stands in the result")
			}
		})
	}
}

// await waits until a file of the project has a content.
func (s *scene) await(path, content string) {
	s.t.Helper()
	for range 500 {
		if text, _ := os.ReadFile(s.root + "/" + path); strings.TrimSpace(string(text)) == content {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.t.Fatalf("%s never got its content", path)
}

func TestSignalsAreForwarded(t *testing.T) {
	for _, w := range ways(t) {
		for _, tt := range []struct {
			name   string
			script string
			exit   int
		}{
			{"caught", "trap 'echo bye > out/bye; exit 9' INT TERM; echo up > out/ready; while :; do sleep 0.05; done", 9},
			{"not caught", "echo up > out/ready; exec sleep 30", 128 + int(unix.SIGTERM)},
		} {
			t.Run(tt.name+"/"+w.String(), func(t *testing.T) {
				s := newScene(t, w)
				d := s.start(w, "sh", "-c", tt.script)
				s.await("out/ready", "up")
				if err := d.cmd.Process.Signal(unix.SIGTERM); err != nil {
					t.Fatal(err)
				}
				out, err := d.wait()
				if err != nil {
					t.Fatalf("%v\n%s", err, d.stderr.String())
				}
				if out.Error != "" || out.Result.Exit != tt.exit {
					t.Errorf("exit status %d (%s), want %d", out.Result.Exit, out.Error, tt.exit)
				}
				if tt.exit == 9 {
					s.await("out/bye", "bye")
				}
				s.nothingRuns()
			})
		}
	}
}

// The second signal does not wait for a command that ignores the first one.
func TestSecondSignalEnds(t *testing.T) {
	for _, w := range ways(t) {
		t.Run(w.String(), func(t *testing.T) {
			s := newScene(t, w)
			d := s.start(w, "sh", "-c", "trap '' INT TERM; echo up > out/ready; while :; do sleep 0.05; done")
			s.await("out/ready", "up")
			for range 2 {
				if err := d.cmd.Process.Signal(unix.SIGINT); err != nil {
					t.Fatal(err)
				}
				time.Sleep(50 * time.Millisecond)
			}
			out, err := d.wait()
			if err != nil {
				t.Fatal(err)
			}
			if out.Result.Exit != 128+int(unix.SIGINT) && out.Result.Exit != 128+int(unix.SIGKILL) {
				t.Errorf("exit status %d (%s)", out.Result.Exit, out.Error)
			}
			s.nothingRuns()
		})
	}
}

// nothingRuns fails where a process of the sandbox is left, and where a mount is.
func (s *scene) nothingRuns() {
	s.t.Helper()
	var left string
	for range 200 {
		left = s.processes()
		if left == "" {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if left != "" {
		s.t.Errorf("still running: %s", left)
	}
	if mounts, err := os.ReadFile("/proc/self/mountinfo"); err != nil || bytes.Contains(mounts, []byte(s.dir)) {
		s.t.Errorf("a mount is left: %v\n%s", err, mounts)
	}
}

// processes are those whose working directory is the project.
func (s *scene) processes() string {
	var out string
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range dirs {
		cwd, err := os.Readlink(p + "/cwd")
		if err == nil && strings.HasPrefix(cwd, s.root) {
			text, _ := os.ReadFile(p + "/cmdline")
			out += fmt.Sprintf("%s %q\n", p, text)
		}
	}
	return out
}

// Whatever a command leaves behind ends with it, however it hides.
func TestNothingOutlivesTheCommand(t *testing.T) {
	for _, w := range ways(t) {
		t.Run(w.String(), func(t *testing.T) {
			s := newScene(t, w)
			out, _, stderr := s.run(w, "sh", "-c", "(trap '' HUP; sleep 30 &) ; setsid sleep 30 & (setsid sh -c 'sleep 30 & sleep 30' &) ; exit 0")
			if out.Error != "" || out.Result.Exit != 0 {
				t.Errorf("exit status %d (%s)\n%s", out.Result.Exit, out.Error, stderr)
			}
			s.nothingRuns()
		})
	}
}

// A killed runner takes the sandbox with it, and leaves the tree as it was.
func TestKilledRunner(t *testing.T) {
	for _, w := range ways(t) {
		t.Run(w.String(), func(t *testing.T) {
			s := newScene(t, w)
			before := listing(t, s.root)
			d := s.start(w, "sh", "-c", "sleep 30 & echo up > out/f; sleep 30")
			s.await("out/f", "up")
			if err := d.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			if w.bare {
				// Without a process namespace only the command itself is bound to the runner.
				s.endGroup()
			}
			_ = d.cmd.Wait()
			d.result.Close()
			s.nothingRuns()
			if err := os.WriteFile(s.root+"/out/f", []byte("content of f"), 0o666); err != nil {
				t.Fatal(err)
			}
			if after := listing(t, s.root); after != before {
				t.Errorf("the tree is\n%s\nwas\n%s", after, before)
			}
		})
	}
}

// endGroup ends what a killed runner could not, by the group that nobody in it can leave.
func (s *scene) endGroup() {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range dirs {
		if cwd, err := os.Readlink(p + "/cwd"); err == nil && strings.HasPrefix(cwd, s.root) {
			var pid int
			if _, err := fmt.Sscan(filepath.Base(p), &pid); err == nil {
				_ = unix.Kill(pid, unix.SIGKILL)
			}
		}
	}
}

// Two runs at once over one project do not get in each other's way, and leave nothing.
func TestConcurrentRuns(t *testing.T) {
	for _, w := range ways(t) {
		t.Run(w.String(), func(t *testing.T) {
			s := newScene(t, w)
			before := listing(t, s.root)
			var wait sync.WaitGroup
			for range 4 {
				d := s.start(w, "sh", "-c", "cat keep/k.txt && ! cat .env 2>/dev/null && sleep 0.2 && cat keep/k.txt")
				wait.Go(func() {
					out, err := d.wait()
					if err != nil || out.Error != "" || out.Result.Exit != 0 || d.stdout.String() != "content of k.txtcontent of k.txt" {
						t.Errorf("%v %v %q %s", out, err, d.stdout.String(), d.stderr.String())
					}
				})
			}
			wait.Wait()
			if after := listing(t, s.root); after != before {
				t.Errorf("the tree is\n%s\nwas\n%s", after, before)
			}
			s.nothingRuns()
		})
	}
}

// Files as standard streams arrive whole, though they are not handed in.
func TestFilesAsStreams(t *testing.T) {
	for _, w := range ways(t) {
		t.Run(w.String(), func(t *testing.T) {
			s := newScene(t, w)
			text := strings.Repeat("a line of text\n", 100000)
			if err := os.WriteFile(s.dir+"/in", []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			s.stdin = s.open(s.dir + "/in")
			_, stdout, stderr := s.run(w, "cat")
			if stdout != text {
				t.Errorf("%d bytes arrived, want %d\n%s", len(stdout), len(text), stderr)
			}
			if _, err := s.stdin.Seek(0, io.SeekStart); err != nil {
				t.Fatal(err)
			}
			_, stdout, _ = s.run(w, "head", "-n", "1")
			if stdout != "a line of text\n" {
				t.Errorf("%q arrived", stdout)
			}
		})
	}
}

// Output that does not arrive is said to be lost, since the command cannot be told.
func TestOutputIsLost(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	for _, w := range ways(t) {
		s := newScene(t, w)
		spec := Spec{Confinement: s.c, Command: []string{"sh", "-c", "echo x; exit 3"}, Stdout: full, bare: w.bare}
		if w.user {
			continue // this is the same program, whoever runs it
		}
		for _, target := range Targets() {
			if target.Info.Name != w.target {
				continue
			}
			r, err := Run(target, spec)
			if err != nil {
				t.Fatal(err)
			}
			if r.Exit != 3 || !slices.ContainsFunc(r.Remarks, func(m string) bool { return strings.HasPrefix(m, "output was lost: ") }) {
				t.Errorf("%s: exit status %d, remarks %q", w, r.Exit, r.Remarks)
			}
		}
	}
}
