package main

import (
	"os"
	"os/signal"
	"syscall"
)

// removeWhenStopped removes a file where a signal ends the program before done is called,
// which takes the file back into the caller's hands. A signal that is ignored stays ignored.
func removeWhenStopped(path string) (done func()) {
	var ends []os.Signal
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			ends = append(ends, s)
		}
	}
	if ends == nil {
		return func() {}
	}
	came, over := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(came, ends...)
	go func() {
		select {
		case s := <-came:
			os.Remove(path)
			signal.Reset(s)
			if self, err := os.FindProcess(os.Getpid()); err != nil || self.Signal(s) != nil {
				os.Exit(exitUnusable)
			}
		case <-over:
		}
	}()
	return func() {
		signal.Stop(came)
		close(over)
	}
}
