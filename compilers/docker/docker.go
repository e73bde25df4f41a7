// Package docker writes the command line of docker, or a compose file, for Docker Engine
// 20.10 and every later one.
package docker

import "umwelt/compilers/container"

// Tool is docker's own of what container tools have in common. Its containers run as the
// image says, so that the script names the caller's own user.
var Tool = container.Tool{
	Name:    "docker",
	Title:   "docker, whose daemon runs containers",
	Image:   "debian:stable-slim",
	Compose: true,
}

// Compiler is the target.
var Compiler = Tool.Compiler()
