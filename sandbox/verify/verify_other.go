//go:build !linux

package verify

import (
	"errors"

	"umwelt/cascade"
)

// Targets are the targets that can be verified: none on this system.
func Targets() []string { return nil }

// Run refuses: only Linux has what is to be verified.
func Run(Options, *cascade.Resolution) (*Report, error) {
	return nil, errors.New("sandboxes are verified on Linux")
}
