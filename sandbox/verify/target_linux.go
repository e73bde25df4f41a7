package verify

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"umwelt/cascade"
	"umwelt/compilers"
	"umwelt/compilers/confine"
	"umwelt/compilers/container"
	"umwelt/compilers/docker"
	"umwelt/compilers/landlock"
	"umwelt/compilers/podman"
	"umwelt/sandbox/runner"
)

// target is a way of running a confinement, and what it has declared about it.
type target struct {
	info      compilers.Info
	available func() error
	version   func() string
	// coverage is how far the target says that it carries a policy.
	coverage func(v *verifier, res *cascade.Resolution, c *confine.Confinement) compilers.Coverage
	// start starts a command. wait gives its end, and an error where that was no good one.
	start func(v *verifier, c *confine.Confinement, command []string, in, out, errs *os.File) (wait func() error, stop func(), err error)
	// rights are what the target declares at each path.
	rights func(*confine.Confinement) rights
	// links says that it keeps the texts of hidden links hidden; relinks that it makes the
	// links in a directory that is made anew.
	links, relinks bool
	// mounts says that what it holds, it holds by mounts.
	mounts bool
	// ports says that it can open single ports.
	ports bool
	// open says that an open network is the host's own, loopback included.
	open bool
}

// Targets are the names of the targets that can be verified.
func Targets() []string {
	var out []string
	for _, t := range targets() {
		out = append(out, t.info.Name)
	}
	return out
}

func targets() []target {
	var out []target
	for _, r := range runner.Targets() {
		t := ofRunner(r)
		for _, tool := range []container.Tool{podman.Tool, docker.Tool} {
			if tool.Name == r.Info.Name {
				t = inContainers(t, tool)
			}
		}
		out = append(out, t)
	}
	return out
}

// ofRunner is a target of the runner, the way umwelt run uses it.
func ofRunner(t runner.Target) target {
	out := target{
		info: t.Info, available: t.Available, version: t.Version, rights: ofMounts, mounts: true, links: true, relinks: true, open: true,
		coverage: func(_ *verifier, res *cascade.Resolution, c *confine.Confinement) compilers.Coverage {
			return runner.Assess(t, res, c, nil).Coverage
		},
		start: func(v *verifier, c *confine.Confinement, command []string, in, out, errs *os.File) (func() error, func(), error) {
			stop := make(chan os.Signal)
			spec := runner.Spec{Confinement: c, Values: v.values, Environ: v.environ, Command: command, Set: v.Set, Stdin: in, Stdout: out, Stderr: errs, Stop: stop}
			ended := make(chan error, 1)
			go func() {
				result, err := runner.Run(t, spec)
				if err == nil && result.Exit != 0 {
					err = fmt.Errorf("exit status %d", result.Exit)
					for _, r := range result.Remarks {
						err = fmt.Errorf("%w: %s", err, r)
					}
				}
				ended <- err
			}()
			return func() error { return <-ended }, sync.OnceFunc(func() { close(stop) }), nil
		},
	}
	if t.Info.Name == landlock.Info.Name {
		out.rights, out.mounts, out.links, out.ports = ofLandlock, false, false, true
	}
	return out
}

// rights give the access that a target declares at a path of the project.
type rights func(path string, n *confine.Node) confine.Access

// all is what may be done in a directory that may be changed.
const all = confine.Read | confine.Write | confine.List | confine.Change

// ofMounts are the rights of a target that mounts the plan as it is.
func ofMounts(*confine.Confinement) rights {
	return func(_ string, n *confine.Node) confine.Access {
		switch n.Mode {
		case confine.ReadWrite:
			return all
		case confine.ReadOnly:
			return confine.Read | confine.List
		}
		return 0
	}
}

// ofLandlock are the rights of a rule set: those of a path and of all directories above it.
func ofLandlock(c *confine.Confinement) rights {
	set, _ := landlock.Rules(c)
	at := map[string]confine.Access{}
	for _, r := range set.Rules {
		if !r.Project {
			continue
		}
		for name, right := range map[string]confine.Access{"read_file": confine.Read, "write_file": confine.Write, "read_dir": confine.List, "make_reg": confine.Change} {
			if slices.Contains(r.Access, name) {
				at[string(r.Path)] |= right
			}
		}
	}
	return func(path string, n *confine.Node) confine.Access {
		full := c.Root
		if path != "." {
			full += "/" + path
		}
		var a confine.Access
		for {
			a |= at[full]
			if full == c.Root {
				return a & ofKind(n.Kind)
			}
			full = full[:strings.LastIndexByte(full, '/')]
		}
	}
}

// ofKind are the rights that mean anything for a kind of path.
func ofKind(k confine.Kind) confine.Access {
	if k == confine.Dir {
		return all
	}
	return confine.Read | confine.Write
}
