package strace

import (
	"bytes"
	"io"

	"umwelt/ratchet"
)

// ReadFrom reads a log as it is written, to its end. It emits late what may yet be counted
// together, as Read does.
func ReadFrom(from io.Reader, in ratchet.Input, emit func(ratchet.Observation) error) (ratchet.Tally, error) {
	return newReader(in.Dir, emit).single(from, in.Name)
}

var (
	outsideMark = []byte(" in strace's PID NS */")
	noteMark    = []byte(" /* ")
)

// outside is the number by which strace knows the process that a call returned, where the
// caller knows it by another. strace notes it with --decode-pids=pidns.
func outside(rest []byte) (pid int64, found bool) {
	rest, found = bytes.CutSuffix(bytes.TrimRight(rest, " "), outsideMark)
	if !found {
		return 0, false
	}
	if rest, found = bytes.CutPrefix(rest, noteMark); !found {
		return 0, false
	}
	pid, rest, found = number(rest)
	return pid, found && len(rest) == 0
}
