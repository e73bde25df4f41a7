package hooks_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"umwelt/sandbox/hooks"
)

func run(t *testing.T, command string, timeout time.Duration, o hooks.Options) hooks.Result {
	t.Helper()
	if o.Grace == 0 {
		o.Grace = 100 * time.Millisecond
	}
	return hooks.Run(t.Context(), t.TempDir(), []hooks.Hook{{Label: "l", Command: command, Timeout: timeout}}, o)[0]
}

func TestResults(t *testing.T) {
	const soon = 300 * time.Millisecond
	for _, tt := range []struct {
		name, command string
		timeout       time.Duration
		exit          int
		signal        string
		late          bool
		output        string
	}{
		{"success", "echo out; echo err >&2", 0, 0, "", false, "out\nerr\n"},
		{"failure", "echo no; exit 7", 0, 7, "", false, "no\n"},
		{"shell syntax", `for i in 1 2; do printf '%s\n' "$i"; done | tac`, 0, 0, "", false, "2\n1\n"},
		{"in the root", `[ -z "$(ls -A)" ] && touch made && ls`, 0, 0, "", false, "made\n"},
		{"nothing to read", "cat; echo end", 5 * time.Second, 0, "", false, "end\n"},
		{"unknown program", "exec /no/such/program 2>/dev/null", 0, 127, "", false, ""},
		{"killed by itself", "kill -9 $$", 0, -1, "SIGKILL", false, ""},
		{"too long", "echo begin; sleep 60; echo end", soon, -1, "SIGTERM", true, "begin\n"},
		{"too long, but orderly", "trap 'echo stopped; exit 3' TERM; echo begin; sleep 60 & wait", soon, 3, "", true, "begin\nstopped\n"},
		{"too long, and deaf", "trap '' TERM; echo begin; while :; do sleep 0.02; done", soon, -1, "SIGKILL", true, "begin\n"},
		{"steering the terminal", `printf 'a\033[31m\tb\r\nc\377\000d\n'`, 0, 0, "", false, "a\\x1b[31m\tb\nc\\xff\\x00d\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := run(t, tt.command, tt.timeout, hooks.Options{})
			if r.Label != "l" || r.Command != tt.command || r.Exit != tt.exit || r.Signal != tt.signal || r.TimedOut != tt.late || r.Output != tt.output || r.Error != "" {
				t.Errorf("got %+v", r)
			}
			if r.OK() != (tt.exit == 0 && !tt.late) || r.Seconds <= 0 || r.Seconds > 20 || escapes(r.Output) {
				t.Errorf("got %+v", r)
			}
		})
	}
}

// alive reports whether a process runs whose number a hook wrote to a file.
func alive(t *testing.T, file string) bool {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid <= 1 {
		t.Fatalf("no number: %q", text)
	}
	for range 50 {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return false
		}
		time.Sleep(10 * time.Millisecond)
	}
	_ = unix.Kill(pid, unix.SIGKILL)
	return true
}

// TestNothingOutlivesAHook: neither its group, nor what left it, whether the hook took too
// long or ended by itself.
func TestNothingOutlivesAHook(t *testing.T) {
	const deaf = `sh -c 'trap "" TERM HUP; echo $$ > pid.new; mv pid.new pid; while :; do sleep 0.05; done'`
	for _, tt := range []struct{ name, command string }{
		{"a child", deaf + " & wait"},
		{"a grandchild", "sh -c '" + strings.ReplaceAll(deaf, "'", `'\''`) + " & wait' & wait"},
		{"a session of its own", "setsid " + deaf + " & wait"},
		{"a daemon", "(setsid " + deaf + " >/dev/null 2>&1 &); sleep 60"},
		{"left behind", deaf + " & while [ ! -e pid ]; do sleep 0.01; done"},
		{"left behind in a session of its own", "setsid " + deaf + " & while [ ! -e pid ]; do sleep 0.01; done"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			start := time.Now()
			timeout := 1500 * time.Millisecond
			if strings.HasPrefix(tt.name, "left") {
				timeout = 30 * time.Second
			}
			r := hooks.Run(t.Context(), root, []hooks.Hook{{Command: tt.command, Timeout: timeout}}, hooks.Options{Grace: 100 * time.Millisecond})[0]
			if late := !strings.HasPrefix(tt.name, "left"); r.TimedOut != late || time.Since(start) > 20*time.Second {
				t.Errorf("after %v: %+v", time.Since(start), r)
			}
			if alive(t, filepath.Join(root, "pid")) {
				t.Error("a process is left")
			}
		})
	}
}

func TestEveryHookRunsInOrder(t *testing.T) {
	root := t.TempDir()
	list := []hooks.Hook{{Command: "echo 1 >> log; exit 1"}, {Command: "echo 2 >> log; kill -9 $$"}, {Command: "echo 3 >> log; sleep 60", Timeout: 200 * time.Millisecond}, {Command: "echo 4 >> log"}}
	out := hooks.Run(t.Context(), root, list, hooks.Options{Grace: 100 * time.Millisecond})
	log, err := os.ReadFile(filepath.Join(root, "log"))
	if err != nil || string(log) != "1\n2\n3\n4\n" {
		t.Errorf("log %q, %v", log, err)
	}
	if len(out) != 4 || out[0].OK() || out[1].OK() || out[2].OK() || !out[3].OK() {
		t.Errorf("got %+v", out)
	}
}

func TestStoppedRun(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	out := hooks.Run(ctx, t.TempDir(), []hooks.Hook{{Command: "sleep 60"}, {Command: "touch second"}}, hooks.Options{Grace: 100 * time.Millisecond})
	if len(out) != 2 || out[0].Error == "" || out[0].TimedOut || out[0].Signal != "SIGTERM" || out[1].Error == "" || out[1].Exit != -1 || out[1].OK() {
		t.Errorf("got %+v", out)
	}
}

func TestNoRoot(t *testing.T) {
	out := hooks.Run(t.Context(), filepath.Join(t.TempDir(), "no"), []hooks.Hook{{Command: "true"}}, hooks.Options{})
	if out[0].Error == "" || out[0].OK() {
		t.Errorf("got %+v", out)
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("UMWELT_TEST_OUTER", "outer")
	if r := run(t, `echo "$UMWELT_TEST_OUTER"`, 0, hooks.Options{}); r.Output != "outer\n" {
		t.Errorf("got %q", r.Output)
	}
	if r := run(t, `echo "$UMWELT_TEST_OUTER$INNER"`, 0, hooks.Options{Env: []string{"INNER=inner"}}); r.Output != "inner\n" {
		t.Errorf("got %q", r.Output)
	}
}

// TestOutputIsBounded: the end is kept, at a whole character, and what came before is
// counted.
func TestOutputIsBounded(t *testing.T) {
	for _, tt := range []struct {
		command string
		tail    int
		output  string
		dropped int64
	}{
		{"printf 0123456789", 10, "0123456789", 0},
		{"printf 0123456789a", 10, "123456789a", 1},
		{"printf 0123456789; printf abcdefghijklmno", 10, "fghijklmno", 15},
		{"printf 'ééé'", 3, "é", 4},
		{"printf 'x\\377\\377\\377'", 3, `\xff\xff\xff`, 1},
	} {
		r := run(t, tt.command, 0, hooks.Options{Tail: tt.tail})
		if r.Output != tt.output || r.Dropped != tt.dropped {
			t.Errorf("%s: got %q after %d", tt.command, r.Output, r.Dropped)
		}
	}
	r := run(t, "head -c 300000000 /dev/zero | tr '\\0' x; echo; echo end", time.Minute, hooks.Options{})
	if !r.OK() || len(r.Output) != 64<<10 || !strings.HasSuffix(r.Output, "x\nend\n") || r.Dropped != 300000000+5-64<<10 {
		t.Errorf("%d bytes after %d: %+v", len(r.Output), r.Dropped, r.Error)
	}
}
