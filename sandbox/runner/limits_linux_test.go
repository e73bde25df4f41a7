//go:build amd64 || arm64

package runner

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"umwelt/compilers/confine"
)

// Every limit, exceeded on purpose.
func TestLimits(t *testing.T) {
	n := func(n int64) *int64 { return &n }
	half := 0.5
	for _, tt := range []struct {
		name    string
		limits  confine.Limits
		command string
		// over says whether the result is that of a command that was held.
		over func(r Result, output string) bool
	}{
		{"memory", confine.Limits{Memory: n(64 << 20)}, "head -c 300000000 /dev/zero | tail | wc -c",
			func(r Result, output string) bool {
				return r.Exit != 0 || !strings.Contains(output, "300000000")
			}},
		{"wall-time", confine.Limits{WallTime: n(int64(300 * time.Millisecond))}, "trap '' TERM INT; sleep 20 & sleep 20",
			func(r Result, _ string) bool {
				return r.TimedOut && r.Exit == ExitTimeout && r.Duration < 5*time.Second
			}},
		{"cpu-time", confine.Limits{CPUTime: n(int64(time.Second))}, "while :; do :; done",
			func(r Result, _ string) bool {
				return r.Exit == 128+int(unix.SIGKILL) || r.Exit == 128+int(unix.SIGXCPU)
			}},
		{"max-fds", confine.Limits{MaxFDs: n(32)}, "for i in 10 20 30; do eval \"exec $i</dev/null\" || exit 1; done; exec 40</dev/null",
			func(r Result, _ string) bool { return r.Exit != 0 }},
		{"max-processes", confine.Limits{MaxProcesses: n(8)}, "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 3 & done; echo all",
			func(r Result, output string) bool {
				return !strings.Contains(output, "all")
			}},
		{"tmpfs", confine.Limits{Tmpfs: n(1 << 20)}, "head -c 3000000 /dev/zero > /tmp/big && echo all",
			func(_ Result, output string) bool { return !strings.Contains(output, "all") }},
		{"tmpfs in shared memory", confine.Limits{Tmpfs: n(1 << 20)}, "head -c 3000000 /dev/zero > /dev/shm/big && echo all",
			func(_ Result, output string) bool { return !strings.Contains(output, "all") }},
		{"tmpfs among the devices", confine.Limits{Tmpfs: n(1 << 20)}, "head -c 3000000 /dev/zero > /dev/big && echo all",
			func(_ Result, output string) bool { return !strings.Contains(output, "all") }},
		{"disk", confine.Limits{Disk: n(100000)}, "head -c 300000 /dev/zero > out/big && echo all",
			func(_ Result, output string) bool { return !strings.Contains(output, "all") }},
		{"cpu", confine.Limits{CPU: &half}, "nproc",
			func(_ Result, output string) bool { return strings.TrimSpace(output) == "1" }},
	} {
		for _, w := range ways(t) {
			t.Run(tt.name+"/"+w.String(), func(t *testing.T) {
				s := newScene(t, w)
				s.c.Limits = tt.limits
				d := s.start(w, "sh", "-c", tt.command)
				out, err := d.wait()
				if err != nil || out.Error != "" {
					t.Fatalf("%v %s\n%s", err, out.Error, d.stderr.String())
				}
				if len(out.Result.Limits) != 1 || out.Result.Limits[0].Name != strings.Fields(tt.name)[0] {
					t.Fatalf("the limits held are %v", out.Result.Limits)
				}
				limit := out.Result.Limits[0]
				if !limit.Strict && limit.Name == "max-processes" && !w.user && os.Geteuid() == 0 {
					return // the kernel does not hold root to it, and the report says so
				}
				if !tt.over(out.Result, d.stdout.String()) {
					t.Errorf("%v was not held: exit status %d after %s, %q\n%s", limit, out.Result.Exit, out.Result.Duration, d.stdout.String(), d.stderr.String())
				}
				// Tests of other packages run at the same time and have control groups, too; theirs
				// go when their runs end.
				left, _ := filepath.Glob(hierarchy + "/*/umwelt-*")
				for i := 0; len(left) > 0; i++ {
					left = slices.DeleteFunc(left, func(group string) bool {
						_, err := os.Stat(group)
						return err != nil
					})
					if len(left) > 0 && i == 1200 {
						t.Fatalf("control groups are left: %v", left)
					}
					time.Sleep(50 * time.Millisecond)
				}
			})
		}
	}
}

// As many processes as the policy says can be there, and not one more, whatever this
// package needs for itself. Under Landlock its first process may have made another thread
// after its threads were counted, so that there is one less.
func TestProcessesToTheLastOne(t *testing.T) {
	// Each subshell is one process until it is sleep, and so is the shell.
	const command = "for i in 1 2 3 4 5 6 7 8; do sleep 2 & echo $i; done; :"
	for _, w := range ways(t) {
		for _, limit := range []int64{2, 6} {
			s := newScene(t, w)
			s.c.Limits = confine.Limits{MaxProcesses: &limit}
			d := s.start(w, "sh", "-c", command)
			out, err := d.wait()
			if err != nil || out.Error != "" {
				t.Fatalf("%s: %v %s\n%s", w, err, out.Error, d.stderr.String())
			}
			if len(out.Result.Limits) != 1 || !out.Result.Limits[0].Strict {
				continue // the kernel counts what else the user runs
			}
			if got := strings.Count(d.stdout.String(), "\n"); int64(got) >= limit || int64(got) < limit-1 && (w.target != "landlock" || int64(got) < limit-2) {
				t.Errorf("%s: %d processes beside the shell of a limit of %d\n%s", w, got, limit, d.stderr.String())
			}
		}
	}
}

// Without limits there is none, not even one of a tool's own.
func TestNoLimits(t *testing.T) {
	for _, w := range ways(t) {
		s := newScene(t, w)
		out, stdout, _ := s.run(w, "sh", "-c", "ulimit -t; ulimit -f; ulimit -v")
		if out.Result.Limits != nil || stdout != "unlimited\nunlimited\nunlimited\n" {
			t.Errorf("%s: %v %q", w, out.Result.Limits, stdout)
		}
	}
}
