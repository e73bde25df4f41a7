//go:build !linux

package record

import (
	"errors"

	"umwelt/ratchet"
)

var errLinux = errors.New("recording needs Linux, on which strace runs")

// Find refuses: there is no strace on this system.
func Find(string) (string, error) {
	return "", &MissingError{"what a command does cannot be recorded on this system", "recording needs Linux"}
}

// Run refuses: only Linux has what records a command.
func Run(string, Command, Options) (Result, error) { return Result{}, errLinux }

// Recording is nothing on this system.
type Recording struct{}

// Attach refuses, too.
func Attach(string, Subject, Options) (*Recording, error) { return nil, errLinux }

// Lost is never closed.
func (*Recording) Lost() <-chan struct{} { return nil }

// Began reports that no command was seen.
func (*Recording) Began() bool { return false }

// Wait has nothing to wait for.
func (*Recording) Wait() (ratchet.Tally, error) { return ratchet.Tally{}, errLinux }
