//go:build !linux || !(amd64 || arm64)

package runner

import (
	"errors"
	"os"
)

type process struct{}

// Targets are the targets that this package can run: none on this system.
func Targets() []Target { return nil }

// Main runs a stage of a sandbox, of which there is none on this system.
func Main() {}

// Run refuses: only Linux on amd64 and arm64 has what holds a command.
func Run(t Target, _ Spec) (Result, error) {
	return Result{}, errors.New(t.Info.Name + " runs on Linux, on amd64 and arm64")
}

// Signals are those that a caller should hand on in Spec.Stop.
func Signals() []os.Signal { return []os.Signal{os.Interrupt} }
