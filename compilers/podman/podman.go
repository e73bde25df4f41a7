// Package podman writes the command line of podman, for the version that Debian 12 carries
// and every later one.
package podman

import "umwelt/compilers/container"

// Tool is podman's own of what container tools have in common.
//
// Its proxy variables and its temporary directories would come into the container unasked,
// so they are turned off. Its own user 0 is the caller, with root or without.
var Tool = container.Tool{
	Name:  "podman",
	Title: "podman, which runs containers with or without root",
	Image: "docker.io/library/debian:stable-slim",
	User:  "0:0",
	Flags: []string{"--read-only-tmpfs=false", "--http-proxy=false", "--unsetenv-all", "--image-volume=ignore", "--no-hosts"},
	// A "--ulimit" replaces this default of its own, without which the runtime tries a number
	// that the kernel may refuse.
	Processes: "nproc=32768:32768",
	Runtime:   true,
	NoDev:     true,
	CopyUp:    true,
	Timeout:   true,
}

// Compiler is the target.
var Compiler = Tool.Compiler()
