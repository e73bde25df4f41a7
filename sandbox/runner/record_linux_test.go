//go:build amd64 || arm64

package runner

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"umwelt/ratchet"
	"umwelt/ratchet/record"
)

// recorded lets strace record a driven run, and gives what writes down what it saw: a line
// for each observation, and a last one that says how whole the record is.
func recorded(spec *Spec, to string) (finish func()) {
	var lines []byte
	var recording *record.Recording
	spec.Watch = func(stand Stand) (<-chan struct{}, error) {
		if recording != nil {
			_, _ = recording.Wait()
		}
		strace, err := record.Find(spec.Confinement.Root)
		if err != nil {
			return nil, err
		}
		recording, err = record.Attach(strace, record.Subject{PID: stand.Leader, Becomes: stand.Becomes, Stages: stand.Stages},
			record.Options{Dir: stand.Root, Emit: func(o ratchet.Observation) (err error) {
				lines, err = ratchet.Append(lines, &o)
				return err
			}})
		if err != nil {
			return nil, err
		}
		return recording.Lost(), nil
	}
	return func() {
		if recording == nil {
			return
		}
		tally, err := recording.Wait()
		lines = fmt.Appendf(lines, "began %v partial %v %q gaps %v error %v\n", recording.Began(), tally.Partial, tally.Why, tally.Gaps, err)
		if err := os.WriteFile(to, lines, 0o600); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
}

func needStrace(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("strace"); err == nil {
		return
	}
	if os.Getenv("UMWELT_REQUIRE_TOOLS") == "1" {
		t.Fatal("strace is not installed: apt-get install strace")
	}
	t.Skip("strace is not installed: apt-get install strace")
}

// recording makes the runs of a scene recorded ones.
func (s *scene) recording() {
	s.record = s.dir + "/bin/record" // which no sandbox can write
	if err := os.Chmod(s.dir+"/bin", 0o777); err != nil {
		s.t.Fatal(err)
	}
}

// wholeRecord is the last line of a record that lacks nothing.
const wholeRecord = `began true partial false "" gaps [] error <nil>`

// observations are what was recorded of the project's own entries: verb, outcome and
// path, in order and once. What was only looked at is left out. last is how whole it is.
func (s *scene) observations() (project []string, last string) {
	s.t.Helper()
	text, err := os.ReadFile(s.record)
	if err != nil {
		s.t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	for _, line := range lines[:len(lines)-1] {
		o, err := ratchet.Parse([]byte(line))
		if err != nil {
			s.t.Fatalf("%v: %s", err, line)
		}
		if path, ok := strings.CutPrefix(o.ID, s.root+"/"); ok && o.Verb != ratchet.Stat {
			project = append(project, fmt.Sprintf("%s %s %s", o.Verb, o.Outcome, path))
		}
	}
	slices.Sort(project)
	return slices.Compact(project), lines[len(lines)-1]
}

// What is recorded of a sandbox is what its command did, and nothing of what made it.
func TestRecord(t *testing.T) {
	needStrace(t)
	const script = `cd out && read x < ../keep/k.txt; echo new > new.txt; mv new.txt newer.txt
(cd sub; : > ../tmp; rm ../tmp; mkdir d; ls d); cat ../src/a.txt ../secret/s.txt; echo no > ../keep/k.txt; sh -c 'cat f' & wait; exit 3`
	for _, w := range ways(t) {
		t.Run(w.String(), func(t *testing.T) {
			s := newScene(t, w)
			s.recording()
			out, stdout, stderr := s.run(w, "sh", "-c", script)
			if out.Error != "" || out.Result.Exit != 3 || stdout != "content of a.txtcontent of f" {
				t.Fatalf("%+v %q\n%s", out, stdout, stderr)
			}
			got, last := s.observations()
			if last != wholeRecord {
				t.Errorf("the record: %s", last)
			}
			refused := func(line string) bool {
				return strings.Contains(line, "keep/k.txt") || strings.Contains(line, "secret/")
			}
			want := []string{"create allowed out/new.txt", "create allowed out/sub/d", "create allowed out/tmp", "delete allowed out/tmp", "list allowed out/sub/d",
				"read allowed out/f", "read allowed src/a.txt", "rename allowed out/new.txt", "rename allowed out/newer.txt"}
			if others := slices.DeleteFunc(slices.Clone(got), refused); !slices.Equal(others, want) {
				t.Errorf("recorded\n%s\nwant\n%s", strings.Join(others, "\n"), strings.Join(want, "\n"))
			}
			if !slices.Contains(got, "read allowed keep/k.txt") {
				t.Error("the file that was read is not there")
			}
			for _, line := range got {
				if refused(line) && line != "read allowed keep/k.txt" && strings.Contains(line, " allowed ") {
					t.Errorf("what the sandbox refused is recorded as %q", line)
				}
			}
			s.nothingRuns()
		})
	}
}

// Inside, there is nothing of what records: no descriptor, and no process that could be
// seen or ended, even by one who knows its number.
func TestRecordGivesNothingAway(t *testing.T) {
	needStrace(t)
	const script = `for fd in 3 4 5 6 7 8 9; do (: >&$fd) 2>/dev/null && echo "open $fd"; done
echo up > out/ready; until read p < out/f; do sleep 0.02; done
kill -KILL $p && echo killed; (: > /proc/$p/fd/3) && echo wrote; cat /proc/$p/comm; sed -n 's/TracerPid:[^0-9]*//p' /proc/self/status; cat keep/k.txt`
	for _, w := range ways(t) {
		t.Run(w.String(), func(t *testing.T) {
			s := newScene(t, w)
			s.recording()
			d := s.start(w, "sh", "-c", script)
			s.await("out/ready", "up")
			if err := os.WriteFile(s.root+"/out/f", fmt.Appendf(nil, "%d\n", s.tracer(d)), 0o666); err != nil {
				t.Fatal(err)
			}
			out, err := d.wait()
			if err != nil || out.Error != "" || out.Result.Exit != 0 {
				t.Fatalf("%v %+v\n%s", err, out, d.stderr.String())
			}
			want := "0\ncontent of k.txt" // the tracer has no number in this namespace
			if w.bare {
				want = "content of k.txt"
			}
			if d.stdout.String() != want {
				t.Errorf("inside: %q, want %q\n%s", d.stdout.String(), want, d.stderr.String())
			}
			if _, last := s.observations(); last != wholeRecord {
				t.Errorf("the record: %s", last)
			}
		})
	}
}

// tracer is the strace of a run that was started.
func (s *scene) tracer(d *driver) int {
	s.t.Helper()
	text, err := exec.Command("pgrep", "-x", "-P", strconv.Itoa(d.cmd.Process.Pid), "strace").Output()
	if err != nil {
		s.t.Fatalf("no strace is there: %v", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		s.t.Fatal(err)
	}
	return pid
}

// The sandbox refuses the same when it is recorded.
func TestRecordedAttacks(t *testing.T) {
	needStrace(t)
	for _, w := range ways(t) {
		t.Run(w.String(), func(t *testing.T) {
			s := newScene(t, w)
			ops := []string{"read .env", "read secret/s.txt", "write keep/k.txt", "ptrace", "mount", "unshare", "bpf"}
			ops = slices.DeleteFunc(ops, func(op string) bool { return operations[strings.Fields(op)[0]] == nil })
			if len(ops) < 4 {
				t.Fatalf("only %q are known", ops)
			}
			plain := s.try(w, ops...)
			s.recording()
			for op, err := range s.try(w, ops...) {
				if err != plain[op] || err == "" {
					t.Errorf("%s: %q when recorded, %q else", op, err, plain[op])
				}
			}
		})
	}
}

// Where strace is killed, the command does not go on without a witness.
func TestKilledRecorder(t *testing.T) {
	needStrace(t)
	for _, w := range ways(t) {
		t.Run(w.String(), func(t *testing.T) {
			s := newScene(t, w)
			s.recording()
			d := s.start(w, "sh", "-c", "echo up > out/ready; sleep 30; echo on > out/ready")
			s.await("out/ready", "up")
			if err := unix.Kill(s.tracer(d), unix.SIGKILL); err != nil {
				t.Fatal(err)
			}
			out, err := d.wait()
			if err != nil {
				t.Fatalf("%v\n%s", err, d.stderr.String())
			}
			if out.Result.Exit != ExitFailed || len(out.Result.Remarks) == 0 {
				t.Errorf("exit status %d (%v), want %d", out.Result.Exit, out.Result.Remarks, ExitFailed)
			}
			if _, last := s.observations(); !strings.Contains(last, "partial true") {
				t.Errorf("the record: %s", last)
			}
			s.nothingRuns()
		})
	}
}

// A killed runner leaves neither a process of the sandbox nor strace.
func TestKilledRecordedRunner(t *testing.T) {
	needStrace(t)
	for _, w := range ways(t) {
		t.Run(w.String(), func(t *testing.T) {
			s := newScene(t, w)
			s.recording()
			d := s.start(w, "sh", "-c", "sleep 30 & echo up > out/ready; sleep 30")
			s.await("out/ready", "up")
			pid := s.tracer(d)
			if err := d.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			if w.bare {
				s.endGroup()
			}
			_ = d.cmd.Wait()
			d.result.Close()
			s.nothingRuns()
			for i := 0; !ended(pid); i++ {
				if i == 1000 {
					t.Fatal("strace is left")
				}
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
}

// strace counts for none of the sandbox's limits, and the time of the run holds.
func TestRecordedLimits(t *testing.T) {
	needStrace(t)
	for _, w := range ways(t) {
		t.Run(w.String(), func(t *testing.T) {
			s := newScene(t, w)
			s.recording()
			n, wall := int64(3), int64(time.Second)
			if w.user || w.bare {
				n = 60 // whatever else the user runs may count
			}
			s.c.Limits.MaxProcesses, s.c.Limits.WallTime = &n, &wall
			out, stdout, stderr := s.run(w, "sh", "-c", "sleep 0.1 & sleep 0.1 & wait; echo well; sleep 30")
			if out.Error != "" || stdout != "well\n" || !out.Result.TimedOut || out.Result.Exit != ExitTimeout {
				t.Errorf("%+v %q\n%s", out, stdout, stderr)
			}
			if _, last := s.observations(); last != wholeRecord {
				t.Errorf("the record: %s", last)
			}
		})
	}
}

// ended is whether a process is no more, or is over and not yet collected: the first process
// of some machines does that seldom.
func ended(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || bytes.Contains(text, []byte(") Z ")) || bytes.Contains(text, []byte(") X "))
}
