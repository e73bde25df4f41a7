package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
)

// TestInterruptedOutput ends a program by a signal while it writes: the file that was there
// stays, nothing is left beside it, and the program ends by that signal. An ignored signal
// ends nothing.
func TestInterruptedOutput(t *testing.T) {
	const path, which = "UMWELT_TEST_INTERRUPT", "UMWELT_TEST_SIGNAL"
	signals := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "ignored": syscall.SIGHUP}
	if to := os.Getenv(path); to != "" {
		name := os.Getenv(which)
		if name == "ignored" {
			signal.Ignore(signals[name])
		}
		err := writeFile(to, false, func(w io.Writer) error {
			if _, err := io.WriteString(w, "new"); err != nil {
				return err
			}
			if err := syscall.Kill(os.Getpid(), signals[name]); err != nil || name == "ignored" {
				return err
			}
			select {} // until the signal ends it
		})
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	for name, s := range signals {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			to := filepath.Join(dir, "out")
			if err := os.WriteFile(to, []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
			self := exec.Command(os.Args[0], "-test.run=^TestInterruptedOutput$")
			self.Env = append(os.Environ(), path+"="+to, which+"="+name)
			err := self.Run()
			want := "old"
			var exit *exec.ExitError
			switch {
			case name == "ignored":
				want = "new"
				if err != nil {
					t.Errorf("it ended with %v", err)
				}
			case !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != s:
				t.Errorf("it ended with %v", err)
			}
			if text, err := os.ReadFile(to); err != nil || string(text) != want {
				t.Errorf("the file holds %q, %v", text, err)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}
