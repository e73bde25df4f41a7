//go:build !linux

package workspace

import (
	"errors"

	"umwelt/compilers/confine"
)

// ApplyOptions steer Apply.
type ApplyOptions struct {
	Strict bool
	Digest string
}

var errUnsupported = errors.New("workspaces need Linux, whose system calls keep every access beneath the project")

// Build fails: there is no way here to keep every access beneath the project.
func Build(*confine.Node, Options) (*Built, error) { return nil, errUnsupported }

// Apply fails as Build does.
func Apply(string, ApplyOptions) (*Report, error) { return nil, errUnsupported }

// Remove fails as Build does.
func Remove(string) error { return errUnsupported }
